//! `memlog artefacts DIR`: the embedded recorder as files, for installing it,
//! and what build systems find it by.
//!
//! * [`builders`]: pkg-config's and CMake's files

mod builders;

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_pages::{Advice, shown};

use crate::recorder::{self, ARCHIVE, OBJECT, OPERATORS, SHARED};

/// What `memlog artefacts` is asked.
#[derive(clap::Args)]
pub struct Args {
    /// Folder to write into; made if need be
    dir: PathBuf,
    /// Folder that the files will be used in, if they are to be moved there
    #[arg(long, value_name = "DIR")]
    libdir: Option<PathBuf>,
}

/// Writes libmemlog.so, libmemlog_new.so, memlog_s.a, memlog_s.o,
/// memlog_s_ld_cmds, memlog_s_cxx_ld_cmds, and the files of build systems below pkgconfig and cmake.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let folder = std::path::absolute(&args.dir)?;
    let libdir = std::path::absolute(args.libdir.unwrap_or_else(|| folder.clone()))?;
    let flags = recorder::link_flags(&libdir)?;
    let cxx_flags = recorder::cxx_link_flags(&libdir)?;
    std::fs::create_dir_all(&folder).map_err(|error| refused(&folder, "made", &error))?;
    let files =
        [SHARED, OPERATORS, ARCHIVE, OBJECT].map(|artefact| (artefact.name, artefact.bytes));
    for (name, bytes) in files.into_iter().chain([
        ("memlog_s_ld_cmds", flags.as_bytes()),
        ("memlog_s_cxx_ld_cmds", cxx_flags.as_bytes()),
    ]) {
        write(&folder.join(name), bytes)?;
    }
    for (name, text) in builders::files() {
        write(&folder.join(name), text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let above = path.parent().unwrap_or(path);
    std::fs::create_dir_all(above).map_err(|error| refused(above, "made", &error))?;
    recorder::replace(path, bytes).map_err(|error| refused(path, "written", &error))
}

fn refused(path: &Path, done: &str, error: &io::Error) -> anyhow::Error {
    Advice::error(
        format!("{} cannot be {done}: {error}", shown(path)),
        "give a folder where you may write",
    )
}
