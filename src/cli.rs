//! The command line as a whole: all commands by what they are for, with
//! examples of each.

use std::ffi::OsString;
use std::fmt::Write;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use memlog_pages::blocks::{
    annotate, chains, fragmentation, function, histogram, locate, table, threads, timeline,
};
use memlog_pages::{clean, dump, info, one_more, postmortem, report, shown, stats, summary, tree};

use crate::verbs::{PURPOSES, nearest};
use crate::{artefacts, dot, flamegraph, ldflags, manual, peers, record};

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
    #[command(after_help = RECORD)]
    Record(record::Args),
    /// Say on one screen what there is to know first
    #[command(after_help = SUMMARY)]
    Summary(summary::Args),
    /// Say who held the memory, and who called them
    #[command(after_help = REPORT)]
    Report(report::Args),
    /// Show who held the memory as one tree, from either end
    #[command(after_help = TREE)]
    Tree(tree::Args),
    /// Put blocks together by function, line, size, thread ...
    #[command(after_help = TABLE)]
    Table(table::Args),
    /// Say who asked for what was never freed
    #[command(after_help = LEAKS)]
    Leaks(table::Args),
    /// Say who makes blocks that are freed at once
    #[command(after_help = TEMPORARY)]
    Temporary(table::Args),
    /// Count blocks by their sizes or lifetimes
    #[command(after_help = HISTOGRAM)]
    Histogram(histogram::Args),
    /// Show the heap and resident memory over time
    #[command(after_help = TIMELINE)]
    Timeline(timeline::Args),
    /// Show blocks that were grown by realloc, each as one object
    #[command(after_help = CHAINS)]
    Chains(chains::Args),
    /// Say which thread allocated, and which freed
    #[command(after_help = THREADS)]
    Threads(threads::Args),
    /// Say who called a function, and what it called
    #[command(after_help = FUNCTION)]
    Function(function::Args),
    /// Show a source file with what was allocated in its lines
    #[command(after_help = ANNOTATE)]
    Annotate(annotate::Args),
    /// Say which blocks hold pages that are nearly empty
    #[command(after_help = FRAGMENTATION)]
    Fragmentation(fragmentation::Args),
    /// Say who allocated an address, and who freed it
    #[command(after_help = WHERE)]
    Where(locate::Args),
    /// Say how a program died, and what its memory was doing
    #[command(after_help = POSTMORTEM)]
    Postmortem(postmortem::Args),
    /// Draw who held the memory: call graph and text, as memlog2dot
    #[command(after_help = DOT)]
    Dot(memlog2dot::Args),
    /// Draw every stack as a tower of its functions: a page to click in, or a picture
    #[command(after_help = FLAMEGRAPH)]
    Flamegraph(flamegraph::Args),
    /// Print every event of a log
    #[command(after_help = DUMP)]
    Dump(dump::Args),
    /// Say what a log is of, and what it lacks
    #[command(after_help = INFO)]
    Info(info::Args),
    /// Print the figures of a log
    #[command(after_help = STATS)]
    Stats(stats::Args),
    /// Print the flags that link the recorder into a program
    #[command(after_help = LDFLAGS)]
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

const FIRST_STEPS: &str = "\
First steps:
  memlog record ./program args      record it; the log's name is said at the end
  memlog summary HOST.PID.memlog    then see what held its memory";

const RECORD: &str = "\
The program runs with its own input, output and exit status, and a recorder that is preloaded writes \
every allocation and its stack into a log. Each process that it starts has a log of its own. At the \
end memlog says where the log is, what it lacks, and what to do next.

Examples:
  memlog record ./program args       the log is HOST.PID.memlog in this folder
  memlog record -o logs/ make -j4    a log for each process, in logs/
  memlog record -o %e.memlog --max-log 2G ./server
  memlog record --alloc-func 'pool_get(size)=pool_put(ptr)' ./program";

const SUMMARY: &str = "\
It shows the peaks of resident memory and of the heap, what the first consists of, how both went over \
time, and the places that held most, that mapped most and that allocated most often. A place is a function and line that called the allocator; report and tree say who called it.

Examples:
  memlog summary vm.5912.memlog
  memlog summary --json vm.5912.memlog | jq '.held[0]'
  memlog summary --debug-symbols build/ vm.5912.memlog    it ran on another machine";

const REPORT: &str = "\
The roots of a tree are the functions that called the allocator, their children are the callers: \
behind <- those by which all of it came, on lines of their own those by which a part came. A line has \
its share, bytes and blocks. Without an option it is of the moment of the largest resident set, as the \
kernel counts it.

Examples:
  memlog report --show-leaks vm.5912.memlog    what was not released
  memlog report --mapped vm.5912.memlog        what the program mapped itself
  memlog report --at 1.5s -t 0.1 -i 'parse|lex' vm.5912.memlog
  memlog report --sysroot rootfs/ vm.5912.memlog    with the files of another machine";

const TREE: &str = "\
From the bottom up it is the tree of `memlog report`. From the top down it begins at main, and each \
function has all that was allocated below it; behind -> stand callees by which all of it came.

Examples:
  memlog tree --top-down vm.5912.memlog    from main down to who allocated
  memlog tree --at end --top-down --exclude-module libc vm.5912.memlog
  memlog tree --json vm.5912.memlog | jq '.nodes[0]'
  memlog tree --debug-symbols build/ vm.5912.memlog    it ran on another machine";

const TABLE: &str = "\
It counts all blocks of the run, each once; --at counts those that were live at a moment, --where \
those for which an expression holds. A block belongs to the function that asked for it. The column \
`with callees` has the same with what the functions that it called asked for.

Examples:
  memlog table vm.5912.memlog                      by function, all blocks of the run
  memlog table --at rss-peak --by line vm.5912.memlog
  memlog table --where 'size >= 1MiB' --by thread --sort blocks vm.5912.memlog
  memlog table --json --by type vm.5912.memlog | jq '.rows[0]'";

const LEAKS: &str = "\
A block that was never freed may still have been of use: much of a program's memory is left to the \
kernel at the end on purpose.

Examples:
  memlog leaks vm.5912.memlog
  memlog leaks --by stack --top 5 vm.5912.memlog
  memlog leaks --where 'born < 50%' vm.5912.memlog    held since the first half of the run";

const TEMPORARY: &str = "\
A temporary block is freed before its thread asks for another: often it need not have come at all.

Examples:
  memlog temporary vm.5912.memlog
  memlog temporary --by stack --sort blocks vm.5912.memlog
  memlog table --where 'lifetime < 10ms' vm.5912.memlog    by time instead";

const HISTOGRAM: &str = "\
Each class is twice as wide as the one before. Lifetimes are known in steps of the log's tick, which \
memlog info tells.

Examples:
  memlog histogram size vm.5912.memlog
  memlog histogram lifetime --where 'size >= 1MiB' vm.5912.memlog";

const TIMELINE: &str = "\
The heap is what was asked for and not yet freed. Resident memory is what the kernel said last, which \
on some systems is the most so far. A line stands for a stretch of time, and is the largest heap in it; \
the peaks have lines of their own.

Examples:
  memlog timeline vm.5912.memlog
  memlog timeline --where 'function ~ \"parse\"' vm.5912.memlog
  memlog timeline --json vm.5912.memlog | jq '.points | max_by(.heap_bytes)'";

const CHAINS: &str = "\
The blocks that realloc made of each other are one chain. What it outgrew may have been copied: to \
reserve the last size at first saves that. A row has the chains whose last block it asked for.

Examples:
  memlog chains vm.5912.memlog
  memlog chains --by line vm.5912.memlog
  memlog chains --where 'chain-length >= 10' vm.5912.memlog";

const THREADS: &str = "\
What one thread allocates and another frees often waits for a lock of the allocator.

Examples:
  memlog threads vm.5912.memlog
  memlog threads --at rss-peak vm.5912.memlog";

const FUNCTION: &str = "\
The share is of all that was allocated in and below the function. A function that calls itself counts \
once.

Examples:
  memlog function parse_headers vm.5912.memlog
  memlog function 'cache_.*' --at rss-peak vm.5912.memlog";

const ANNOTATE: &str = "\
The source is read where the debug information says that it is. Callees of a line are all functions \
that were called from it.

Examples:
  memlog annotate vm.5912.memlog server.c
  memlog annotate vm.5912.memlog server.c:parse_headers --at rss-peak
  memlog annotate --json vm.5912.memlog server.c | jq '.files[0].rows[0]'";

const FRAGMENTATION: &str = "\
An allocator gives a page back to the kernel only when no block is left in it. Without --at it is of \
the RSS peak.

Examples:
  memlog fragmentation vm.5912.memlog
  memlog fragmentation --at end --by line vm.5912.memlog";

const WHERE: &str = "\
The address may be within a block. Other blocks may have had it before: it says how many, and tells \
the last ten in full.

Examples:
  memlog where vm.5912.memlog 0x7f3a5c000b20
  memlog where --json vm.5912.memlog 0x7f3a5c000b20 | jq '.rows[-1].stack'";

const DOT: &str = "\
A box of the call graph is a function with what was allocated in and below it, an arrow a call with \
what came by it; the blue box is what the program mapped itself, which is no heap. The text has \
every place. Without an option it is of the moment of the largest resident set.

Examples:
  memlog dot vm.5912.memlog                 vm.5912.memlog.dot, .txt, .ps, .pdf and .svg here
  memlog dot --leaks vm.5912.memlog pics    what was not released, drawn into pics/
  memlog dot 'logs/*.memlog'                the log of the highest RSS peak
  memlog dot --debug-symbols build/ vm.5912.memlog    it ran on another machine";

const FLAMEGRAPH: &str = "\
A function stands on its caller and is as wide as what was allocated in and below it. The page needs \
a browser and nothing else: it has every moment and what was allocated in the whole run, and compares \
two of them; click to zoom, search by a regular expression, and look from the other end, at who called \
the functions that allocate. The picture has one of them, and needs no script.

Examples:
  memlog flamegraph vm.5912.memlog                 vm.5912.memlog.flame.html here
  memlog flamegraph --leaks -o leaks.svg vm.5912.memlog
  memlog flamegraph --by temporary --reverse --open vm.5912.memlog
  memlog flamegraph --debug-symbols build/ vm.5912.memlog    it ran on another machine";

const POSTMORTEM: &str = "\
How it died is told by the log, by `memlog record` if that had started it, and by the kernel's log \
where that may be read.

Examples:
  memlog postmortem vm.5912.memlog
  memlog postmortem --last 60 vm.5912.memlog    what grew in the last minute
  memlog postmortem --json vm.5912.memlog | jq .death";

const DUMP: &str = "\
All threads are merged; events on one address stand in their true order. A realloc is an F: and an \
M: line.

Lines:
  M: SIZE ADDRESS<tab>SECONDS RSS_PEAK_KB THREAD BRK_KB MMAP_KB{<tab>FRAME}    it came
  F: ADDRESS<tab>the same five columns    it went; with frames if recorded with --free-stacks
  MAP: and UNMAP: are like M: and F:, if asked for by --ledger
  FAILED: SIZE FUNCTION CALLS ERRNO<tab>as M:, if asked for by --failed    it got no memory
  THREAD: NAME<tab>as F:, if asked for by --threads    its name from here on

Columns:
  SIZE         bytes asked for
  ADDRESS      where the block or the mapping begins
  SECONDS      since recording began, in steps of the log's tick, which memlog info tells
  RSS_PEAK_KB  the most that was resident up to the last reading before this line, which may be some
               time ago; 0 before the first. What is resident at the line is not known
  THREAD       the kernel's number of the thread; from 2147483648 on one of memlog's
  BRK_KB       how far brk and sbrk have moved the end of the data segment, by calls that memlog
               sees: not by those within the C library, as of glibc's malloc
  MMAP_KB      what mmap and mremap hold by calls that memlog sees, touched or not
  CALLS ERRNO  this call and others of its stack that have no line of their own; its errno, 0 if not
               known
  FRAME        FILE (SYMBOL+0xOFFSET) [0xADDRESS (0xADDRESS within FILE)], innermost first; ? for a
               symbol that is not known or not asked for

Examples:
  memlog dump vm.5912.memlog | grep '^M: 4096 '
  memlog dump --no-symbols --ledger vm.5912.memlog > events.txt
  memlog dump --debug-symbols build/ vm.5912.memlog > events.txt";

const INFO: &str = "\
It tells of the program, its host, settings, threads and libraries, how it ended, what the recorder \
counted, and what is missing or damaged. With --list there is a line of each log. doc/STATS.md says \
what the keys of --json mean.

Examples:
  memlog info vm.5912.memlog
  memlog info vm.5912.memlog | grep '^ended'
  memlog info --list logs/ *.memlog    a line of each, ranks and their children
  memlog info --list --json logs/ | jq -r '.logs | max_by(.rss_peak_bytes) | .file'";

const STATS: &str = "\
A figure stands on a line, or all of them in one JSON object. doc/STATS.md says what each of them \
means; keys are only ever added to a schema.

Examples:
  memlog stats vm.5912.memlog
  memlog stats --json vm.5912.memlog | jq .rss_peak_bytes";

const LDFLAGS: &str = "\
A program that is linked with them writes a log whenever it runs, without `memlog record` and without \
LD_PRELOAD. Static programs can be recorded in this way only.

Examples:
  cc -o program *.o $(memlog ldflags --dynamic)
  cc -static -o program *.o $(memlog ldflags --static)
  cc -o program *.o $(memlog ldflags --dynamic --alloc-func 'pool_get(size)=pool_put(ptr)')";

/// What a command line asks for.
pub fn parse(line: Vec<OsString>) -> anyhow::Result<Cli> {
    let command = with_purposes(Cli::command());
    let cli = understood(line.clone(), |line| {
        let matches = command.clone().try_get_matches_from(line)?;
        Cli::from_arg_matches(&matches)
    });
    cli.map_err(|error| one_too_many(&line, &error).unwrap_or_else(|| error.into()))
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

/// Commands that take one log; info does so itself, for --list takes many.
const READERS: [&str; 15] = [
    "summary",
    "report",
    "tree",
    "flamegraph",
    "dump",
    "stats",
    "postmortem",
    "table",
    "leaks",
    "temporary",
    "histogram",
    "timeline",
    "chains",
    "threads",
    "fragmentation",
];

/// A pattern that was not quoted gives many names.
fn one_too_many(line: &[OsString], error: &clap::Error) -> Option<anyhow::Error> {
    let verb = line.get(1).and_then(|word| word.to_str());
    let verb = verb.filter(|verb| READERS.contains(verb))?;
    if error.kind() != ErrorKind::UnknownArgument {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    // A word that is an option, or one that a reader would take for it.
    if word.starts_with('-') {
        return None;
    }
    Some(one_more(verb, &clean(word.as_bytes())))
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
                format_args!("  {literal}{name:<11}{literal:#} {about}\n"),
            );
        }
    }
    text.push_str("\n{options}\n\n");
    put(
        &mut text,
        format_args!("{FIRST_STEPS}\n\nOf one command: memlog help COMMAND\n"),
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

    /// In the help and in the documentation.
    #[test]
    fn each_column_of_a_dump_is_explained() {
        let (_, rest) = DUMP.split_once("\nLines:\n").expect("lines");
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
