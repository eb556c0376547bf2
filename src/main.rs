//! memlog, the one command: `memlog PROGRAM ARGS` records, `memlog FILE.memlog`
//! reports, and every other thing it does is a subcommand with a file of its
//! own here. No analysis lives in this package, and no platform word.
#![deny(unsafe_code)]

mod advice;
mod artefacts;
mod dump;
mod info;
mod ldflags;
mod names;
mod open;
mod os;
mod record;
mod recorder;
mod report;
mod stats;

use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// Why is it using so much memory? Records and explains every allocation of a program.
#[derive(Parser)]
#[command(
    version,
    override_usage = "memlog COMMAND [OPTIONS] ...
       memlog PROGRAM ARGS        records it, as `memlog record` does
       memlog FILE.memlog         reports on it, as `memlog report` does"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a program and record its allocations
    Record(record::Args),
    /// Say who held the memory
    Report(report::Args),
    /// Print every event of a log
    Dump(dump::Args),
    /// Say what a log is of, and what it lacks
    Info(info::Args),
    /// Print the figures of a log
    Stats(stats::Args),
    /// Print the flags that link the recorder into a program
    Ldflags(ldflags::Args),
    /// Write the recorder's files into a folder
    #[command(hide = true)]
    Artefacts(artefacts::Args),
    /// A program to record, or a log to report on
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

fn main() -> ExitCode {
    run(std::env::args_os().collect()).unwrap_or_else(|error| advice::tell(&error))
}

fn run(line: Vec<OsString>) -> anyhow::Result<ExitCode> {
    match Cli::try_parse_from(line)?.command {
        Command::Record(args) => record::run(args),
        Command::Report(args) => report::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Info(args) => info::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Ldflags(args) => ldflags::run(args),
        Command::Artefacts(args) => artefacts::run(args),
        Command::Other(words) => {
            let verb: &[&str] = match words.first() {
                Some(first) if record::is_log(first.as_ref()) => &["memlog", "report"],
                _ => &["memlog", "record", "--"],
            };
            run(verb.iter().map(OsString::from).chain(words).collect())
        }
    }
}
