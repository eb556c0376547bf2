//! `memlog ldflags`: what to add to a link line so that a program records itself.

use crate::advice::Advice;
use crate::open::shown;
use crate::recorder::{self, ARCHIVE, SHARED};
use crate::screen::out;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What `memlog ldflags` is asked.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    kind: Kind,
    /// With --static, for C++ programs whose operator new does not end in malloc: hook the operators too
    #[arg(long, requires = "statically")]
    cxx_operators: bool,
    /// Folder that holds the recorder's files [default: the installed one, or a private copy]
    #[arg(long, value_name = "DIR")]
    lib: Option<PathBuf>,
}

/// How the program is linked.
#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Kind {
    /// Flags for a static or static-pie program
    #[arg(long = "static")]
    statically: bool,
    /// Flags for a program that uses shared libraries
    #[arg(long)]
    dynamic: bool,
}

/// Prints the flags.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let needed = if args.kind.statically {
        ARCHIVE.name
    } else {
        SHARED.name
    };
    let folder = match args.lib {
        Some(folder) => given(&folder, needed)?,
        None => recorder::library_folder()?,
    };
    let flags = match args.kind.statically {
        true if args.cxx_operators => recorder::cxx_link_flags(&folder)?,
        true => recorder::link_flags(&folder)?,
        false => dynamic_flags(recorder::linkable(&folder)?),
    };
    let mut out = out();
    writeln!(out, "{}", flags.trim_end())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// No program names a symbol of the recorder, so a linker that is told
/// --as-needed, as many are by default, would drop it again.
pub fn dynamic_flags(folder: &str) -> String {
    format!(
        "-Wl,--push-state,--no-as-needed -L{folder} -lmemlog -Wl,--pop-state -Wl,-rpath,{folder}"
    )
}

fn given(folder: &Path, needed: &str) -> anyhow::Result<PathBuf> {
    let folder = std::path::absolute(folder)?;
    if folder.join(needed).is_file() {
        return Ok(folder);
    }
    Err(Advice::error(
        format!("{} holds no {needed}", shown(&folder)),
        "leave --lib out to use the copy that memlog carries",
    ))
}

#[cfg(test)]
mod tests {
    #[test]
    fn dynamic_flags_survive_as_needed() {
        let flags = super::dynamic_flags("/opt/lib");
        let place = |part: &str| flags.find(part).expect(part);
        assert!(place("--no-as-needed") < place("-lmemlog"));
        assert!(place("-lmemlog") < place("--pop-state"));
        assert!(flags.contains("-rpath,/opt/lib"));
    }
}
