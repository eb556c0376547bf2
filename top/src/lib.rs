//! `memlog top`: a live view of logs that grow, in the terminal.
//!
//! * `reader`: a thread that reads the logs and makes views of them
//! * `view`: what is shown, as values; it knows no terminal
//! * `app`: what the user looks at, and what keys do
//! * `draw`: an app as cells
//! * `terminal`: the user's terminal, given back as it was
//! * `batch`: frames as plain text
//!
//! It has no figures of its own: `memlog_pages::live` sums up. It writes no file.
#![forbid(unsafe_code)]

mod app;
mod batch;
mod draw;
mod reader;
mod terminal;
#[cfg(test)]
mod tests;
mod view;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use memlog_pages::live::{Target, target};
use memlog_pages::{Advice, SymbolFiles, process};

/// Show in the terminal who holds the memory of a program while it runs.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// The number of a process that is recorded, a log, or a folder of logs
    #[arg(value_name = "PID|FILE|FOLDER")]
    target: PathBuf,
    /// Seconds from one look to the next
    #[arg(short, long, value_name = "SECONDS", default_value = "1", value_parser = seconds)]
    delay: f64,
    /// Print frames as plain text, one after the other
    #[arg(short, long)]
    batch: bool,
    /// How many frames --batch prints [default: until the program ends]
    #[arg(short = 'n', long, value_name = "N", requires = "batch")]
    frames: Option<u64>,
    /// How many lines a frame of --batch has at most
    #[arg(long, value_name = "N", default_value = "40", requires = "batch")]
    lines: u16,
    #[command(flatten)]
    symbol_files: SymbolFiles,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.1..=3600.0).contains(number));
    number.ok_or_else(|| "give seconds from 0.1 to 3600".into())
}

/// Looks until the user or the program ends it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let target = match target(&args.target)? {
        Target::Process(pid) => Target::Log(process::log_of(pid)?),
        target => target,
    };
    if let Target::Log(path) = &target
        && let Err(error) = path.metadata()
    {
        return Err(Advice::error(
            format!("cannot read the log {}: {error}", memlog_pages::shown(path)),
            "give the .memlog file, the PID of a process that is recorded, or a folder of logs",
        ));
    }
    let delay = Duration::from_secs_f64(args.delay);
    let has_terminal = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    match args.batch || !has_terminal {
        true => batch::run(
            args,
            target,
            delay,
            if args.batch { args.frames } else { Some(1) },
        ),
        false => terminal::run(args, target, delay),
    }
}
