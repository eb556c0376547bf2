//! `memlog pack` and `memlog extract`: the one file that a log goes elsewhere in, and back.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memlog_pack::Hidden;
use memlog_pages::pack::{extract as unpack, pack, packed_name};
use memlog_pages::{Advice, SymbolFiles, choose, counted, shown, sized, tell_note};
use memlog2dot::OneFile;

use crate::output::{Output, new_log};
use crate::record::replace;

/// Put a log and all its names into one file, to be read on any machine
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Write it there; - is standard output [default: FILE with .tar.zst behind its name, or
    /// log.tar.zst with --anonymize, in the current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// What is left out of what the log tells of its user
    #[arg(long, value_name = "HOW", default_value = "none", value_enum)]
    anonymize: How,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

/// How much is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    /// Nothing
    None,
    /// Folders of paths, the host, users, the environment
    Partial,
    /// The same, and names of functions, files, libraries and threads, arguments, the job, notes
    Full,
}

/// Take the logs out of a packed file
#[derive(clap::Args)]
pub struct ExtractArgs {
    /// The packed file
    file: PathBuf,
    /// Write them into this folder, which is made if it is not there
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// Replace logs of the same names that are there
    #[arg(long)]
    force: bool,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

const ELSEWHERE: &str = "give another name: memlog pack FILE -o OUT";
const OTHER_FOLDER: &str = "give another folder: memlog extract FILE -o DIR";

/// Packs a log.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: ELSEWHERE,
    };
    let hidden = match args.anonymize {
        How::None => Hidden::Nothing,
        How::Partial => Hidden::Partial,
        How::Full => Hidden::Full,
    };
    let log = choose(&args.file, |line: &str| output.say(line))?;
    let mut packed = None;
    // Names of logs have hosts in them.
    let named = |log: &str| match hidden {
        Hidden::Nothing => packed_name(log),
        _ => packed_name("log"),
    };
    let (exit, path) = output.write(&log, named, |out| {
        packed = Some(pack(&log, &args.symbol_files, hidden, out)?);
        Ok(ExitCode::SUCCESS)
    })?;
    if let Some(packed) = packed {
        packed.remarks.iter().for_each(|remark| tell_note(remark));
        let places = counted(packed.places, "place");
        let logs = counted(packed.logs as u64, "log");
        let bytes = path.and_then(|path| path.metadata().ok());
        let bytes = bytes.map_or(String::new(), |file| format!(", {}", sized(file.len())));
        output.say(&format!("{logs}, {places} of code{bytes}"));
    }
    Ok(exit)
}

/// Unpacks one.
pub fn extract(args: &ExtractArgs) -> anyhow::Result<ExitCode> {
    let output = Output {
        path: None,
        is_quiet: args.quiet,
        elsewhere: OTHER_FOLDER,
    };
    std::fs::create_dir_all(&args.output).map_err(|error| {
        Advice::error(
            format!("cannot make the folder {}: {error}", shown(&args.output)),
            OTHER_FOLDER,
        )
    })?;
    // What could not be written is told as it is, and not as damage of what was read.
    let unwritten = RefCell::new(None);
    let unpacked = unpack(&args.file, &args.output, |name, content| {
        let name = OsStr::from_bytes(name);
        // In the current folder a name is enough.
        let path = match args.output.as_path() {
            folder if folder == Path::new(".") => PathBuf::from(name),
            folder => folder.join(name),
        };
        put(&path, args, content).map_err(|error| {
            unwritten.replace(Some(error));
            io::Error::other("not written")
        })?;
        output.say(&format!("Creating {}", shown(&path)));
        Ok(())
    });
    match unwritten.into_inner() {
        Some(error) => Err(error),
        None => unpacked.map(|()| ExitCode::SUCCESS),
    }
}

fn put(path: &Path, args: &ExtractArgs, content: &mut dyn io::Read) -> anyhow::Result<()> {
    let packed = &args.file;
    let file = OneFile::prepare(path, packed, OTHER_FOLDER)?;
    let file = new_log(
        file,
        path,
        args.force.then_some(replace::check),
        OTHER_FOLDER,
    )?;
    file.write_by(|out| {
        io::copy(content, out).map_err(|error| {
            let hint = "pack the log again, or copy the packed file again";
            Advice::error(format!("cannot unpack {}: {error}", shown(packed)), hint)
        })?;
        Ok(())
    })
}
