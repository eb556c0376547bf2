//! A log as the files of a data set, in a folder that others write to at the same time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_export::dataset::{self, File, Process, files};
use memlog_pages::flamegraph::{Drawn, flame};
use memlog_pages::{Advice, choose, shown};
use memlog2dot::OneFile;

use super::Args;
use crate::output::Output;

/// Where they go if nothing else is said.
pub const FOLDER: &str = "memlog-dataset";
const ELSEWHERE: &str = "give another folder: memlog export parquet FILE -o DIR";

/// Writes them. Each file comes under its name when it is whole.
pub fn write(args: &Args, output: &Output) -> anyhow::Result<ExitCode> {
    if output.is_stdout() {
        return Err(Advice::error(
            "a data set is a folder of files, and -o - is one file",
            ELSEWHERE,
        ));
    }
    let folder = args.output.clone().unwrap_or_else(|| FOLDER.into());
    let log = choose(&args.file, |line: &str| output.say(line))?;
    let drawn = flame(&args.wanted(&log))?;
    let files = with(&drawn, &log, files)?;
    drawn.leave_interrupt();
    for file in &files {
        let path = below(&folder, file)?;
        OneFile::prepare(&path, &log, ELSEWHERE)?.write(&file.bytes)?;
    }
    output.say(&format!(
        "Creating {} files in {}",
        files.len(),
        shown(&folder)
    ));
    Ok(drawn.exit)
}

/// Its path; the folders on the way are made, and others may be making them too.
fn below(folder: &Path, file: &File) -> anyhow::Result<PathBuf> {
    let path = folder.join(&file.path);
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent).map_err(|error| {
        Advice::error(
            format!("cannot make the folder {}: {error}", shown(parent)),
            ELSEWHERE,
        )
    })?;
    Ok(path)
}

/// The statements that make the same tables.
pub fn sql(drawn: &Drawn, log: &Path) -> String {
    with(drawn, log, dataset::sql)
}

fn with<T>(drawn: &Drawn, log: &Path, form: impl FnOnce(&Process) -> T) -> T {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    form(&Process {
        figures: &drawn.figures,
        flame: &drawn.flame,
        timeline: &drawn.timeline,
        log: &name,
    })
}
