//! `memlog html`: the page of `memlog server` as one file that can be mailed.

use std::path::PathBuf;
use std::process::ExitCode;

use memlog_pages::{INTERRUPTED, SymbolFiles, choose};
use memlog2dot::open_file;

use crate::output::Output;

const ELSEWHERE: &str = "give another name: memlog html FILE -o OUT.html";

/// Write the page of a log into one file
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Write it there; - is standard output [default: FILE.html in the current folder]
    #[arg(short, long, value_name = "OUT.html")]
    output: Option<PathBuf>,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    /// Open it, by $BROWSER or xdg-open
    #[arg(long)]
    open: bool,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

/// Writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: ELSEWHERE,
    };
    output.check_open(args.open)?;
    let log = choose(&args.file, |line: &str| output.say(line))?;
    let named = |log: &str| format!("{log}.html");
    let (exit, path) = output.write(&log, named, |out| {
        let report = memlog_web::report(&log, &args.symbol_files)?;
        out.write_all(report.html.as_bytes())?;
        Ok(match report.is_part {
            true => ExitCode::from(INTERRUPTED),
            false => ExitCode::SUCCESS,
        })
    })?;
    if let Some(path) = path.filter(|_| args.open) {
        open_file(&path);
    }
    Ok(exit)
}
