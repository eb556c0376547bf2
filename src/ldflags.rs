//! `memlog ldflags`: what to add to a link line so that a program records itself.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_pages::{Advice, out, shown};

use crate::named::{self, EXAMPLE, Function, Functions, elf, known};
use crate::recorder::{self, ARCHIVE, SHARED};

/// What `memlog ldflags` is asked.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    kind: Kind,
    /// With --static, for C++ programs whose operator new does not end in malloc: hook the operators too
    #[arg(long, requires = "statically")]
    cxx_operators: bool,
    /// Record the blocks of a known allocator's function of this name too. May be given several times
    #[arg(long, value_name = "NAME", value_parser = known_function)]
    wrap: Vec<Function>,
    /// The same of any function, with the meaning of its arguments, and of who takes its blocks back. May be given several times
    #[arg(long, value_name = "GET(size)=PUT(ptr)", value_parser = named::parse)]
    alloc_func: Vec<Functions>,
    /// Where to write the object that both need [default: a private folder]
    #[arg(long, value_name = "FILE")]
    object: Option<PathBuf>,
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
    let mut functions = args.wrap;
    functions.extend(args.alloc_func.into_iter().flatten());
    let mut out = out();
    if !functions.is_empty() {
        writeln!(out, "{}", named_flags(&functions, args.object.as_deref())?)?;
    }
    writeln!(out, "{}", flags.trim_end())?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the object with the stubs; the flags that link it.
///
/// Nobody but the object asks for the real ones, which may lie in an archive
/// that stands before it: they are asked for from the start.
fn named_flags(functions: &[Function], object: Option<&Path>) -> anyhow::Result<String> {
    if let Some(why) = elf::refused() {
        return Err(Advice::error(why, "leave --wrap and --alloc-func out"));
    }
    let functions = named::once(functions)?;
    let bytes = elf::object(&functions);
    let object = match object {
        None => recorder::generated_file("memlog_named.o", &bytes, false)?,
        Some(path) => {
            let path = std::path::absolute(path)?;
            recorder::replace(&path, &bytes).map_err(|error| {
                let wrong = format!("{} cannot be written: {error}", shown(&path));
                Advice::error(wrong, "give a file in a folder where you may write")
            })?;
            path
        }
    };
    let mut flags = String::new();
    for function in &functions {
        let name = recorder::linkable(Path::new(&function.name))?;
        flags.push_str(&format!("-Wl,--wrap,{name} -Wl,-u,{name} "));
    }
    flags.push_str(recorder::linkable(&object)?);
    Ok(flags)
}

fn known_function(name: &str) -> Result<Function, String> {
    known::find(name).ok_or_else(|| match known::has_door(name) {
        true => format!("{name} is hooked anyway"),
        false => format!(
            "memlog does not know what the arguments of {name} mean: say so with --alloc-func, \
             as in --alloc-func {EXAMPLE}"
        ),
    })
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
