//! `memlog ranks`: printed, or written into a file to be merged with others.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_pages::blocks::ranks::{Args, answer, run as print};
use memlog_pages::shown;
use memlog2dot::OneFile;

const ELSEWHERE: &str = "give another name: memlog ranks LOGS -o FILE.ranks";

/// Prints it or writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(path) = &args.output else {
        return print(args);
    };
    // For its owner alone, as logs are: it is of many.
    let file = OneFile::prepare(path, Path::new(""), ELSEWHERE)?;
    let (bytes, told) = answer(args)?;
    file.write(&bytes)?;
    // Who hears it may go away: the file is what was asked for.
    let _ = writeln!(io::stdout().lock(), "Creating {}: {told}", shown(path));
    Ok(ExitCode::SUCCESS)
}
