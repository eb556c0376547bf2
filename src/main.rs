//! memlog, the one command: `memlog PROGRAM ARGS` records, `memlog FILE.memlog` reports,
//! and every other thing it does is a subcommand with a file of its own here or, where it
//! shows a log, in `memlog_pages`. No analysis lives here, and no platform word.
#![deny(unsafe_code)]

mod advice;
mod artefacts;
mod attach;
mod check;
mod cli;
mod ctl;
mod diff;
mod dot;
mod ends;
mod export;
mod flamegraph;
mod folder;
mod follow;
mod gather;
mod html;
mod import;
mod ldflags;
mod manual;
mod named;
mod os;
mod output;
mod pack;
mod peers;
mod ranks;
mod record;
mod recorder;
mod replay;
mod report;
mod script;
mod stream;
mod strip;
mod timeline;
mod verbs;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use memlog_pages::blocks::ask;
use memlog_pages::blocks::table::{Groups, Which};
use memlog_pages::{dump, info, postmortem, stats, summary, tree};

use cli::{Cli, Command};

fn main() -> ExitCode {
    run(std::env::args_os().collect()).unwrap_or_else(|error| advice::tell(&error))
}

fn run(line: Vec<OsString>) -> anyhow::Result<ExitCode> {
    if line.first().is_some_and(|name| dot::is_name(name.as_ref())) {
        let cli = cli::understood(line, memlog2dot::Cli::try_parse_from)?;
        return dot::run(&cli.args);
    }
    match cli::parse(line)?.command {
        Command::Record(args) => record::run(args),
        Command::Attach(args) => attach::run(&args),
        Command::Detach(args) => attach::detach(&args),
        Command::Ctl(args) => ctl::run(&args),
        Command::Summary(args) => summary::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Tree(args) => tree::run(&args),
        Command::Table(args) => ask(&Groups::of(args, Which::All)),
        Command::Leaks(args) => ask(&args.prepared()?),
        Command::Diff(args) => diff::run(&args),
        Command::Ranks(args) => ranks::run(&args),
        Command::Temporary(args) => ask(&Groups::of(args, Which::Temporary)),
        Command::Histogram(args) => ask(&args),
        Command::Timeline(args) => timeline::run(&args),
        Command::Chains(args) => ask(&args),
        Command::Threads(args) => ask(&args),
        Command::Function(args) => ask(&args),
        Command::Annotate(args) => ask(&args),
        Command::Fragmentation(args) => ask(&args),
        Command::Maps(args) => ask(&args),
        Command::Rss(args) => ask(&args),
        Command::Where(args) => ask(&args),
        Command::Script(args) => script::run(&args),
        Command::Postmortem(args) => postmortem::run(&args),
        Command::Top(args) => memlog_top::run(&args),
        Command::Follow(args) => follow::run(&args),
        Command::Server(args) => memlog_web::run(&args, memlog2dot::open_file),
        Command::Html(args) => html::run(&args),
        Command::Dot(args) => dot::run(&args),
        Command::Flamegraph(args) => flamegraph::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Dump(args) => dump::run(args),
        Command::Info(args) => info::run(args),
        Command::Stats(args) => stats::run(args),
        Command::Pack(args) => pack::run(&args),
        Command::Extract(args) => pack::extract(&args),
        Command::Strip(args) => strip::run(&args),
        Command::Stream(args) => stream::run(&args),
        Command::Gather(args) => gather::run(&args),
        Command::Ldflags(args) => ldflags::run(args),
        Command::Artefacts(args) => artefacts::run(args),
        Command::Manual(args) => manual::run(args, &Cli::command()),
        Command::Other(words) => {
            let verb: &[&str] = match words.first() {
                Some(first) if record::is_log(first.as_ref()) => &["memlog", "report"],
                _ => &["memlog", "record", "--"],
            };
            if verb.contains(&"record") {
                record::refuse_mistaken(&words)?;
            }
            run(verb.iter().map(OsString::from).chain(words).collect())
        }
    }
}
