//! `memlog strip`: logs without the events of blocks that lived shortly.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_pages::strip::{Left, nanoseconds, strip};
use memlog_pages::{Advice, choose, counted, each_once, grouped, shown, sized, tell_note};

use crate::output::Output;
use crate::record::replace;

/// Make a smaller log: without the events of blocks that lived shortly
#[derive(clap::Args)]
pub struct Args {
    /// The log; or several, or folders and quoted patterns: all logs in them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Blocks that lived as long, or longer, stay: 10ms, 1.5s [default: all that were freed go]
    #[arg(short, long, value_name = "TIME", value_parser = nanoseconds)]
    threshold: Option<u64>,
    /// Write it there; - is standard output. Of several logs: into this folder, which is made
    /// if it is not there, each under its name [default: FILE with the ending
    /// .stripped.memlog, in the current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace a log of that name that is there
    #[arg(long)]
    force: bool,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

const ELSEWHERE: &str = "give another name: memlog strip FILE -o OUT.memlog";
const FOLDER: &str = "give a folder for them: memlog strip FILE... -o DIR";

/// Strips them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let is_one = matches!(args.files.as_slice(), [file] if !file.is_dir());
    let mut output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: if is_one { ELSEWHERE } else { FOLDER },
    };
    let logs = match args.files.as_slice() {
        [file] if is_one => vec![choose(file, |line: &str| output.say(line))?],
        files => each_once(files)?,
    };
    if !is_one {
        let Some(folder) = args.output.as_deref().filter(|_| !output.is_stdout()) else {
            let sentence = format!("{} are stripped at once", counted(logs.len() as u64, "log"));
            return Err(Advice::error(sentence, FOLDER));
        };
        std::fs::create_dir_all(folder).map_err(|error| {
            let sentence = format!("cannot make the folder {}: {error}", shown(folder));
            Advice::error(sentence, FOLDER)
        })?;
        output.path = Some(folder);
    }
    let forced = args
        .force
        .then_some(replace::check as fn(&Path) -> anyhow::Result<()>);
    let named = |log: &str| match is_one {
        true => format!(
            "{}.stripped.memlog",
            log.strip_suffix(".memlog").unwrap_or(log)
        ),
        false => log.to_owned(),
    };
    // It is told before any log is read.
    for log in &logs {
        refuse_itself(&output, log, named, &logs)?;
        output.check_log(log, named, forced)?;
    }
    strip(
        &logs,
        args.threshold,
        |log, write| {
            let before = log.metadata().map_or(0, |found| found.len());
            let (_, path) = output.write_log(log, named, forced, |out| {
                write(out)?;
                Ok(ExitCode::SUCCESS)
            })?;
            if let Some(after) = path.and_then(|path| path.metadata().ok()) {
                let (before, after) = (sized(before), sized(after.len()));
                output.say(&format!("{before} before, {after} now"));
            }
            Ok(())
        },
        |left: &Left| {
            let gone = counted(left.blocks, "block");
            let (bytes, stay) = (sized(left.bytes), grouped(left.stay));
            output.say(&format!(
                "{gone} of {bytes} are sums by size and stack now, the events of {stay} are there"
            ));
            left.remark.iter().for_each(|remark| tell_note(remark));
        },
    )?;
    Ok(ExitCode::SUCCESS)
}

/// What was left out cannot be had back.
fn refuse_itself(
    output: &Output,
    log: &Path,
    named: impl Fn(&str) -> String,
    logs: &[PathBuf],
) -> anyhow::Result<()> {
    let Some(path) = output.would_write(log, named)? else {
        return Ok(());
    };
    let same = |log: &PathBuf| {
        let (one, other) = (path.canonicalize(), log.canonicalize());
        one.is_ok_and(|one| other.is_ok_and(|other| one == other))
    };
    match logs.iter().any(same) {
        false => Ok(()),
        true => Err(Advice::error(
            format!("{} is a log that is to be stripped", shown(&path)),
            output.elsewhere,
        )),
    }
}
