//! Logs as the files of a data set, in a folder that others write to at the same time.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_export::dataset::{self, Batch, File, Process};
use memlog_pages::flamegraph::{Drawn, flame};
use memlog_pages::{Advice, choose, shown, tell_note};
use memlog2dot::OneFile;

use super::Args;
use crate::output::Output;

/// Where they go if nothing else is said.
pub const FOLDER: &str = "memlog-dataset";
/// Rows of sites from which on files are written, and others begun.
const MOST_ROWS: usize = 1 << 20;
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
        private: None,
        files: 0,
    };
    let (mut exit, mut wrong) = (ExitCode::SUCCESS, None);
    for file in &args.files {
        let log = choose(file, |line: &str| output.say(line));
        let drawn = log.and_then(|log| Ok((flame(&args.wanted(&log))?, log)));
        let (drawn, log) = match drawn {
            Ok(drawn) => drawn,
            Err(error) if args.files.len() == 1 => return Err(error),
            // The others are written; the exit says that one is missing.
            Err(error) => {
                match wrong {
                    None => wrong = Some(error),
                    Some(_) => tell_note(&format!("{error:#}, too")),
                }
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
    /// Of the logs in it the one that fewest may read: what is written is no more open.
    private: Option<(u32, PathBuf)>,
    files: usize,
}

impl Writing<'_> {
    fn add(&mut self, drawn: &Drawn, log: &Path) -> anyhow::Result<()> {
        with(drawn, log, |process| self.batch.add(process));
        let found = log.metadata();
        let mode = found.map_or(0, |found| found.permissions().mode() & 0o777);
        if self.private.as_ref().is_none_or(|(least, _)| mode < *least) {
            self.private = Some((mode, log.to_owned()));
        }
        match self.batch.rows() < MOST_ROWS {
            true => Ok(()),
            false => self.write(),
        }
    }

    fn write(&mut self) -> anyhow::Result<()> {
        let files = std::mem::take(&mut self.batch).files()?;
        let log = self.private.take().map(|(_, log)| log).unwrap_or_default();
        for file in &files {
            let path = below(self.folder, file)?;
            OneFile::prepare(&path, &log, ELSEWHERE)?.write(&file.bytes)?;
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
