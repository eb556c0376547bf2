//! Logs as the files of a data set, in a folder that others write to at the same time.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_export::dataset::{self, Batch, File, Process};
use memlog_pages::flamegraph::{Drawn, flame};
use memlog_pages::{Advice, Once, choose, each_process_once, shown, tell_note};
use memlog2dot::OneFile;

use super::Args;
use crate::output::Output;

/// Where they go if nothing else is said.
pub const FOLDER: &str = "memlog-dataset";
/// Rows of sites from which on files are written, and others begun.
const MOST_ROWS: usize = 1 << 20;
/// The mode of a file that everybody may read.
const OPEN: u32 = 0o666;
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
    let mut writing = Writing {
        folder: &folder,
        batch: Batch::default(),
        mode: OPEN,
        files: 0,
    };
    let (mut exit, mut wrong) = (ExitCode::SUCCESS, None);
    let mut failed = |error: anyhow::Error| {
        // The others are written; the exit says that one is missing.
        match wrong {
            _ if args.files.len() == 1 => return Err(error),
            None => wrong = Some(error),
            Some(_) => tell_note(&format!("{error:#}, too")),
        }
        Ok(())
    };
    let mut logs = Vec::new();
    for file in &args.files {
        match choose(file, |line: &str| output.say(line)) {
            Ok(log) => logs.push(log),
            Err(error) => failed(error)?,
        }
    }
    // Sums of a process that is there twice would be wrong.
    let Once { chosen, left_out } = each_process_once(&logs);
    for (path, other) in left_out {
        let (path, other) = (shown(&path), shown(&other));
        tell_note(&format!(
            "{path} is left out: it is of the same process as {other}"
        ));
    }
    for log in chosen {
        let drawn = match flame(&args.wanted(&log)) {
            Ok(drawn) => drawn,
            Err(error) => {
                failed(error)?;
                continue;
            }
        };
        drawn.leave_interrupt();
        if drawn.is_part {
            exit = drawn.exit;
            // Of many logs the whole ones are written.
            if args.files.len() > 1 {
                break;
            }
        }
        writing.add(&drawn, &log)?;
    }
    writing.write()?;
    output.say(&format!(
        "Creating {} files in {}",
        writing.files,
        shown(&folder)
    ));
    wrong.map_or(Ok(exit), Err)
}

/// A data set that is being written.
struct Writing<'a> {
    folder: &'a Path,
    batch: Batch,
    /// Who may read all of the logs in it: nobody else may read what is written.
    mode: u32,
    files: usize,
}

impl Writing<'_> {
    fn add(&mut self, drawn: &Drawn, log: &Path) -> anyhow::Result<()> {
        with(drawn, log, |process| self.batch.add(process));
        let found = log.metadata();
        self.mode &= found.map_or(0, |found| found.permissions().mode());
        match self.batch.rows() < MOST_ROWS {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let files = std::mem::take(&mut self.batch).files()?;
        let mode = std::mem::replace(&mut self.mode, OPEN);
        for file in &files {
            let path = below(self.folder, file)?;
            OneFile::with_mode(&path, mode, ELSEWHERE)?.write(&file.bytes)?;
        }
        self.files += files.len();
        Ok(())
    }
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
