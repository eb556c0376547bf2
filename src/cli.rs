//! The command line as a whole: all commands by what they are for, with
//! examples of each.

mod after;

use std::ffi::OsString;
use std::fmt::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use memlog_pages::blocks::{
    annotate, chains, diff, fragmentation, function, histogram, leaks, locate, maps, ranks, rss,
    table, threads, timeline,
};
use memlog_pages::{clean, dump, info, one_more, postmortem, report, shown, stats, summary, tree};

use crate::verbs::{PURPOSES, nearest};
use crate::{
    artefacts, attach, check, ctl, dot, export, flamegraph, follow, gather, html, import, ldflags,
    manual, pack, peers, record, replay, script, stream, strip,
};

/// Why is it using so much memory? Records and explains every allocation of a program.
#[derive(Parser)]
#[command(
    version,
    override_usage = "memlog COMMAND [OPTIONS] ...
       memlog PROGRAM ARGS        records it, as `memlog record` does
       memlog FILE.memlog         reports on it, as `memlog report` does"
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Run a program and record its allocations
    #[command(after_help = after::RECORD)]
    Record(record::Args),
    /// Record a program that runs already
    #[command(after_help = after::ATTACH)]
    Attach(attach::Args),
    /// End the recording that attach began, and leave the program alone
    #[command(after_help = after::DETACH)]
    Detach(attach::DetachArgs),
    /// Ask the recorder in a running program to start, stop or mark
    #[command(after_help = after::CTL)]
    Ctl(ctl::Args),
    /// Say on one screen what there is to know first
    #[command(after_help = after::SUMMARY)]
    Summary(summary::Args),
    /// Say who held the memory, and who called them
    #[command(after_help = after::REPORT)]
    Report(report::Args),
    /// Show who held the memory as one tree, from either end
    #[command(after_help = after::TREE)]
    Tree(tree::Args),
    /// Put blocks together by function, line, size, thread ...
    #[command(after_help = after::TABLE)]
    Table(table::Args),
    /// Say who asked for what was never freed
    #[command(after_help = after::LEAKS)]
    Leaks(leaks::Args),
    /// Say what grew from one log to another, or between two moments
    #[command(after_help = after::DIFF)]
    Diff(diff::Args),
    /// Say what the ranks of a job held, all together, and which of them held more
    #[command(after_help = after::RANKS)]
    Ranks(ranks::Args),
    /// Say who makes blocks that are freed at once
    #[command(after_help = after::TEMPORARY)]
    Temporary(table::Args),
    /// Count blocks by their sizes or lifetimes
    #[command(after_help = after::HISTOGRAM)]
    Histogram(histogram::Args),
    /// Show the heap and resident memory over time
    #[command(after_help = after::TIMELINE)]
    Timeline(timeline::Args),
    /// Show blocks that were grown by realloc, each as one object
    #[command(after_help = after::CHAINS)]
    Chains(chains::Args),
    /// Say which thread allocated, and which freed
    #[command(after_help = after::THREADS)]
    Threads(threads::Args),
    /// Say who called a function, and what it called
    #[command(after_help = after::FUNCTION)]
    Function(function::Args),
    /// Show a source file with what was allocated in its lines
    #[command(after_help = after::ANNOTATE)]
    Annotate(annotate::Args),
    /// Say which blocks hold pages that are nearly empty
    #[command(after_help = after::FRAGMENTATION)]
    Fragmentation(fragmentation::Args),
    /// Say who mapped memory with mmap, mremap and brk
    #[command(after_help = after::MAPS)]
    Maps(maps::Args),
    /// Say what each resident byte is for: blocks, what malloc keeps, stacks, code, files
    #[command(after_help = after::RSS)]
    Rss(rss::Args),
    /// Say who allocated an address, and who freed it
    #[command(after_help = after::WHERE)]
    Where(locate::Args),
    /// Run a script that asks a log: lists, groups, graphs, by bytehound's words
    #[command(after_help = after::SCRIPT)]
    Script(script::Args),
    /// Say how a program died, and what its memory was doing
    #[command(after_help = after::POSTMORTEM)]
    Postmortem(postmortem::Args),
    /// Show in the terminal who holds the memory of a program while it runs
    #[command(after_help = after::TOP)]
    Top(memlog_top::Args),
    /// Write what a program allocates, again and again while it runs
    #[command(after_help = after::FOLLOW)]
    Follow(follow::Args),
    /// Show logs in a browser: when memory grew, who held it, and whatever you ask next
    #[command(after_help = after::SERVER)]
    Server(memlog_web::Args),
    /// Write the page of a log into one file, to be mailed or kept
    #[command(after_help = after::HTML)]
    Html(html::Args),
    /// Draw who held the memory: call graph and text, as memlog2dot
    #[command(after_help = after::DOT)]
    Dot(memlog2dot::Args),
    /// Draw every stack as a tower of its functions: a page to click in, or a picture
    #[command(after_help = after::FLAMEGRAPH)]
    Flamegraph(flamegraph::Args),
    /// Write the stacks of a log for another tool: pprof, speedscope, KCachegrind ...
    #[command(after_help = after::EXPORT)]
    Export(export::Args),
    /// Make a log of the file of another tool: heaptrack, memlog of 2015 ...
    #[command(after_help = after::IMPORT)]
    Import(import::Args),
    /// Fail where memory is above its limits, or above what it was
    #[command(after_help = after::CHECK)]
    Check(check::Args),
    /// Execute the calls of a log under other allocators: what would it take there?
    #[command(after_help = after::REPLAY)]
    Replay(replay::Args),
    /// Print every event of a log
    #[command(after_help = after::DUMP)]
    Dump(dump::Args),
    /// Say what a log is of, and what it lacks
    #[command(after_help = after::INFO)]
    Info(info::Args),
    /// Print the figures of a log
    #[command(after_help = after::STATS)]
    Stats(stats::Args),
    /// Put a log and all its names into one file, to be read on any machine
    #[command(after_help = after::PACK)]
    Pack(pack::Args),
    /// Take the logs out of a packed file
    #[command(after_help = after::EXTRACT)]
    Extract(pack::ExtractArgs),
    /// Make a smaller log: without the events of blocks that lived shortly
    #[command(after_help = after::STRIP)]
    Strip(strip::Args),
    /// Send logs to memlog gather on another machine, while they grow
    #[command(after_help = after::STREAM)]
    Stream(stream::Args),
    /// Write the logs that memlog stream sends from other machines
    #[command(after_help = after::GATHER)]
    Gather(gather::Args),
    /// Print the flags that link the recorder into a program
    #[command(after_help = after::LDFLAGS)]
    Ldflags(ldflags::Args),
    /// Write the recorder's files into a folder
    #[command(hide = true)]
    Artefacts(artefacts::Args),
    /// Write the manual pages and completions into a folder
    #[command(hide = true)]
    Manual(manual::Args),
    /// A program to record, or a log to report on
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

/// What a command line asks for.
pub fn parse(line: Vec<OsString>) -> anyhow::Result<Cli> {
    let line = with_form(line);
    let command = with_purposes(Cli::command());
    let cli = understood(line.clone(), |line| {
        let matches = command.clone().try_get_matches_from(line)?;
        Cli::from_arg_matches(&matches)
    });
    cli.map_err(|error| one_too_many(&command, &line, &error).unwrap_or_else(|| error.into()))
}

/// bytehound has a command for each form: `export-heaptrack`.
fn with_form(mut line: Vec<OsString>) -> Vec<OsString> {
    let verb = line.get(1).and_then(|verb| verb.to_str());
    let form = verb.and_then(|verb| verb.strip_prefix("export-"));
    if let Some(form) = form
        .filter(|form| export::is_form(form))
        .map(OsString::from)
    {
        line.splice(1..2, ["export".into(), form]);
    }
    line
}

/// Parses a line. What is wrong with it is said of its words as they may be
/// shown: they may be names of files, which a shell puts in place of a pattern.
pub fn understood<T>(
    line: Vec<OsString>,
    parse: impl Fn(Vec<OsString>) -> Result<T, clap::Error>,
) -> Result<T, clap::Error> {
    let harmless: Vec<OsString> = line.iter().map(|word| shown(word).into()).collect();
    parse(line).map_err(|error| parse(harmless).err().unwrap_or(error))
}

/// Whether the last that a command takes is a log, and one only.
fn ends_with_log(command: &clap::Command) -> bool {
    let last = command.get_positionals().last();
    last.is_some_and(|last| last.get_id() == "file")
}

/// A pattern that was not quoted gives many names.
fn one_too_many(
    command: &clap::Command,
    line: &[OsString],
    error: &clap::Error,
) -> Option<anyhow::Error> {
    let command = command.find_subcommand(line.get(1)?)?;
    if error.kind() != ErrorKind::UnknownArgument || !ends_with_log(command) {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    // A word that is an option, or one that a reader would take for it.
    if word.starts_with('-') {
        return None;
    }
    Some(one_more(command.get_name(), &clean(word.as_bytes())))
}

/// Where the help for a line is that was not understood.
pub fn help_for(mut line: impl Iterator<Item = OsString>, error: &clap::Error) -> String {
    let started_as = line.next().unwrap_or_default();
    if dot::is_name(started_as.as_ref()) {
        return "see `memlog2dot --help`".into();
    }
    let given = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(word)) => Some(word.as_str()),
        _ => None,
    };
    if let Some(hint) = given.and_then(peers::hint) {
        return hint.into();
    }
    if let Some(command) = given.and_then(nearest) {
        return format!("did you mean `memlog help {command}`?");
    }
    let names = PURPOSES.iter().flat_map(|(_, names)| *names);
    let verb = line.next().unwrap_or_default();
    match names.copied().find(|name| verb == *name) {
        Some(verb) => format!("see `memlog {verb} --help`"),
        None => "see `memlog --help`".into(),
    }
}

/// The list of commands in the order of the purposes.
fn with_purposes(command: clap::Command) -> clap::Command {
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let names = PURPOSES.iter().flat_map(|(_, names)| *names);
    let width = names.map(|name| name.len()).max().unwrap_or_default();
    let mut text = String::from("{about}\n\n{usage-heading} {usage}\n");
    for (purpose, names) in PURPOSES {
        put(&mut text, format_args!("\n{header}{purpose}:{header:#}\n"));
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            put(
                &mut text,
                format_args!("  {literal}{name:<width$}{literal:#}  {about}\n"),
            );
        }
    }
    text.push_str("\n{options}\n\n");
    put(
        &mut text,
        format_args!(
            "{}\n\nOf one command: memlog help COMMAND\n",
            after::FIRST_STEPS
        ),
    );
    command.help_template(text)
}

fn put(text: &mut String, words: std::fmt::Arguments) {
    // A String takes everything.
    let _ = text.write_fmt(words);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_purpose_and_examples() {
        let command = Cli::command();
        let listed: Vec<_> = PURPOSES
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        for sub in visible {
            let name = sub.get_name();
            let times = listed.iter().filter(|other| **other == name).count();
            assert_eq!(times, 1, "{name}");
            let after = sub.get_after_help().map(ToString::to_string);
            let after = after.unwrap_or_default();
            let (_, examples) = after.split_once("Examples:\n").expect(name);
            let count = examples
                .lines()
                .filter(|line| line.contains("memlog"))
                .count();
            assert!((2..=4).contains(&count), "{name}: {count} examples");
        }
    }

    /// Of all that end with a log: report and info take many and refuse them
    /// themselves, what others have behind it is no log. What top and follow are given need
    /// be none.
    #[test]
    fn one_log_too_many_is_told() {
        let others = [
            "record", "ldflags", "report", "dot", "info", "annotate", "where", "check", "diff",
            "ranks", "export", "strip", "script", "server", "stream", "gather", "ctl", "top",
            "attach", "detach", "follow",
        ];
        let command = Cli::command();
        let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        let names = visible.map(clap::Command::get_name);
        for verb in names.filter(|name| !others.contains(name)) {
            let sub = command.find_subcommand(verb).expect(verb);
            let words = sub.get_positionals().map(|arg| {
                let values = arg.get_possible_values();
                values
                    .first()
                    .map_or("a.memlog".into(), |value| value.get_name().to_owned())
            });
            let words = ["memlog".into(), verb.into()].into_iter().chain(words);
            let words = words.chain(["b.memlog".into()]).map(OsString::from);
            let error = parse(words.collect()).err().expect(verb).to_string();
            assert_eq!(
                error,
                format!("{verb} takes one log, and b.memlog is one more")
            );
        }
    }

    #[test]
    fn names_of_bytehounds_exports_are_forms() {
        let parsed = |words: &[&str]| {
            let line = words.iter().map(OsString::from).collect();
            parse(line).expect("words").command
        };
        let export = parsed(&["memlog", "export-heaptrack", "-o", "out", "x.memlog"]);
        assert!(matches!(export, Command::Export(_)));
        // A program may be called so.
        let other = parsed(&["memlog", "export-all", "x"]);
        assert!(matches!(other, Command::Other(_)));
    }

    /// In the help and in the documentation.
    #[test]
    fn each_column_of_a_dump_is_explained() {
        let (_, rest) = after::DUMP.split_once("\nLines:\n").expect("lines");
        let (lines, rest) = rest.split_once("\nColumns:\n").expect("columns");
        let (columns, _) = rest.split_once("\nExamples:\n").expect("examples");
        let doc = include_str!("../doc/RECORDING.md");
        let words = lines.lines().filter_map(|line| line.split_once(": "));
        let words = words.flat_map(|(_, words)| words.split([' ', '<', '>', '{', '}', ',', ':']));
        let is_column = |word: &&str| {
            word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_')
        };
        let words: Vec<&str> = words.filter(is_column).collect();
        assert!(words.contains(&"MMAP_KB"), "{words:?}");
        for word in words {
            let told = |line: &str| {
                line.split("  ")
                    .any(|part| part.split(' ').any(|w| w == word))
            };
            // Names of functions and threads explain themselves.
            let is_plain = ["FUNCTION", "NAME", "UNMAP"].contains(&word);
            assert!(is_plain || columns.lines().any(told), "{word}");
            assert!(is_plain || doc.contains(&format!("`{word}`")), "{word}");
        }
    }

    /// An example that is not understood would be none.
    #[test]
    fn examples_are_understood() {
        for sub in Cli::command().get_subcommands() {
            let after = sub.get_after_help().map(ToString::to_string);
            for line in after.iter().flat_map(|after| after.lines()) {
                let Some(line) = line.strip_prefix("  memlog ") else {
                    continue;
                };
                let line = line.split("   ").next().unwrap_or(line);
                let line = line.split(" | ").next().unwrap_or(line);
                let line = line.split(" > ").next().unwrap_or(line);
                // What is quoted is one word.
                let parts = line.split('\'').enumerate();
                let words = parts.flat_map(|(index, part)| match index % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                });
                let words = std::iter::once("memlog").chain(words).map(OsString::from);
                if let Err(error) = parse(words.collect()) {
                    panic!("{line}: {error}");
                }
            }
        }
    }
}
