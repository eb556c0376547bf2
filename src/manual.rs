//! `memlog manual DIR`: the manual pages and the shells' completions, made from
//! the command line that this very binary understands, for installing them.

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command, CommandFactory, ValueHint};
use clap_complete::aot::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use memlog_pages::{Advice, shown};

/// What `memlog manual` is asked.
#[derive(clap::Args)]
pub struct Args {
    /// Folder to write into, as share is laid out; made if need be
    dir: PathBuf,
}

/// Where each shell looks for what completes a command, below share: what is
/// before and behind its name.
const COMPLETIONS: [(Shell, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions/", ""),
    (Shell::Zsh, "zsh/site-functions/_", ""),
    (Shell::Fish, "fish/vendor_completions.d/", ".fish"),
];

/// The names of 2015: the one command, which looks at how it was started.
const OLDS: [&str; 2] = ["memlog2dot", "memlog_analyze"];

/// When the words of the pages were last looked through: the day of the build
/// would make the same sources give other bytes.
const DATE: &str = "2026-11-23";

/// What the command is, for its page.
const DESCRIPTION: &str = "\
memlog runs a program, or is linked into it, and writes every allocation and release with its whole \
call stack into a log. From a log it tells who held the memory at the moment when the process was \
biggest, at the end, or at any other time. What is not in the heap, and what memlog needs itself, is \
told apart.";

/// What memlog2dot is, for its page.
const OLD_DESCRIPTION: &str = "\
It is memlog-dot(1) by the name that it had in 2015, with the same options. Of several logs it takes \
the one with the highest peak of resident memory.";

/// The moments that have names, for the shells.
const MOMENTS: [&str; 4] = ["rss-peak", "heap-peak", "start", "end"];

const ENVIRONMENT: [(&str, &str); 27] = [
    (
        "MEMLOG_OUTPUT",
        "The log's name: %h host, %p process, %e program, %t start in seconds, %n attempt, \
         %r rank, %j job; or a folder.",
    ),
    (
        "MEMLOG_DIR",
        "The folder of logs, instead of the current one; made if only its last part is missing.",
    ),
    (
        "MEMLOG_MAX_LOG",
        "A size such as 2G at which a log stops growing; below 256 KiB means 256 KiB.",
    ),
    (
        "MEMLOG_MAX_LOGS_TOTAL",
        "A size that all logs of a run may take on the disk together; of `memlog record` alone.",
    ),
    (
        "MEMLOG_FLIGHT_RECORDER",
        "A size such as 64M that the events of a log may take, or 1 for 64M: then the oldest are \
         folded into what is live and overwritten.",
    ),
    (
        "MEMLOG_CULL",
        "A time such as 10ms, or 1 for 10ms: blocks that live less are in the sums by size and \
         stack, and their events are not in the log.",
    ),
    (
        "MEMLOG_FREE_STACKS",
        "1: releases carry their stack as well.",
    ),
    (
        "MEMLOG_RSS_DETAIL",
        "off, auto or always: how often it is read what is resident in which mapping, for \
         `memlog rss`.",
    ),
    (
        "MEMLOG_FINE_TIME",
        "1: each event has a time of its own, in steps of 10 ns.",
    ),
    (
        "MEMLOG_KEEP_ENVIRONMENT",
        "1: the log has the variables that the program began with, which may be secret.",
    ),
    (
        "MEMLOG_FOLLOW_EXEC",
        "0: programs that this one executes are not recorded.",
    ),
    (
        "MEMLOG_ONLY",
        "Names or paths of programs, with colons between them: only these record, others pass it on.",
    ),
    (
        "MEMLOG_RANKS",
        "0,17-20: only these ranks of a parallel job record.",
    ),
    (
        "MEMLOG_RANK",
        "The rank, where neither the MPI nor the batch system tells it.",
    ),
    (
        "MEMLOG_SINK",
        "written: the log goes out by writes, not by a shared mapping.",
    ),
    ("MEMLOG_OFF", "1: record nothing."),
    (
        "MEMLOG_SYSROOT",
        "The folder below which the files of the machine that ran the program lie as they lay \
         there; --sysroot counts more.",
    ),
    (
        "MEMLOG_DEBUG_SYMBOLS",
        "Folders and files to look in for programs, libraries and their debug files, separated by \
         colons, after those of --debug-symbols; what is not there is passed over.",
    ),
    (
        "MEMLOG_DEBUGINFOD",
        "1: ask the servers of $DEBUGINFOD_URLS for debug files, as --debuginfod does, if there is \
         debuginfod-find.",
    ),
    (
        "MEMLOG_PAGER",
        "The pager of what is longer than the screen, and its arguments; empty or cat: none.",
    ),
    (
        "PAGER",
        "The same where MEMLOG_PAGER is not set; where neither is, less.",
    ),
    (
        "BROWSER",
        "What --open of memlog dot and flamegraph starts, with the file's path; where it is not set, \
         xdg-open.",
    ),
    (
        "LC_ALL, LC_PAPER, LANG",
        "The first that is set says on what memlog dot prints: letter in the USA and Canada, else A4.",
    ),
    ("LESS", "Options of less, as ever; FRX where it is not set."),
    (
        "COLUMNS",
        "How wide pages are where output is no terminal; where it is not set, as wide as they need.",
    ),
    (
        "NO_COLOR",
        "Anything: no colours, on a terminal either; --color counts more.",
    ),
    (
        "CLICOLOR_FORCE",
        "Anything but 0: colours also where output is no terminal; NO_COLOR and --color count more.",
    ),
];

const FILES: [(&str, &str); 5] = [
    (
        "[JOBID.]HOST.PID.memlog",
        "A log, readable by its owner alone and never written over: if the name is taken the \
         next is HOST.PID.2.memlog. memlog record --force replaces one.",
    ),
    (
        "FILE.dot, FILE.txt, FILE.ps, FILE.pdf, FILE.svg",
        "What memlog dot makes of the log FILE.",
    ),
    (
        "FILE.flame.html, FILE.flame.svg",
        "What memlog flamegraph makes of it: a page, or a picture.",
    ),
    (
        "FILE.replay",
        "What memlog export replay makes of it: its calls, for memlog replay.",
    ),
    (
        "FILE.pb.gz, callgrind.out.FILE, FILE.speedscope.json ...",
        "What memlog export makes of it, named as the tool of each form looks for it.",
    ),
];

const EXIT_STATUS: [(&str, &str); 4] = [
    (
        "memlog record",
        "That of the program; 128 + N if it was killed by signal N.",
    ),
    (
        "memlog summary, report, tree, flamegraph, export, and what asks about blocks",
        "130 if Ctrl-C ended the reading of the log: the page is of the part that was read.",
    ),
    (
        "memlog check",
        "0 if all limits held; 1 if one did not, or the program failed; 2 if nothing could be checked.",
    ),
    (
        "everything else",
        "0 if it was done; 2 if not, with the reason on standard error.",
    ),
];

/// Writes man/man1 and the completions of the command line `whole`.
pub fn run(args: Args, whole: &Command) -> anyhow::Result<ExitCode> {
    for (name, content) in pages(whole)?.into_iter().chain(completions(whole)) {
        let path = args.dir.join(name);
        let written = match path.parent() {
            Some(folder) => fs::create_dir_all(folder),
            None => Ok(()),
        };
        written
            .and_then(|()| fs::write(&path, content))
            .map_err(|error| {
                let sentence = format!("{} cannot be written: {error}", shown(&path));
                Advice::error(sentence, "give a folder where you may write")
            })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The command line without what is hidden in it.
fn memlog(whole: &Command) -> Command {
    let visible = whole.get_subcommands().filter(|sub| !sub.is_hide_set());
    let visible: Vec<Command> = visible.map(without_hidden).collect();
    without_hidden(whole)
        .override_usage(whole.get_overridden_usage().cloned().unwrap_or_default())
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .subcommands(visible)
}

/// A command with the arguments that a help text would show.
fn without_hidden(command: &Command) -> Command {
    let visible = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let visible = visible.map(|arg| match arg.is_trailing_var_arg_set() {
        true => arg.clone().value_hint(ValueHint::CommandWithArguments),
        false => with_aliases(arg),
    });
    let visible: Vec<clap::Arg> = visible.collect();
    let is_there = |id| visible.iter().any(|arg| arg.get_id() == id);
    let required = command.get_groups().filter(|group| group.is_required_set());
    let required = required.filter(|group| group.get_args().all(is_there));
    let required: Vec<clap::ArgGroup> = required.cloned().collect();
    let mut copy = Command::new(command.get_name().to_owned())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(visible)
        .groups(required)
        .disable_help_flag(command.is_disable_help_flag_set());
    if let Some(after) = command.get_after_help() {
        copy = copy.after_help(after.clone());
    }
    copy
}

/// An option whose help tells its other names, which a page would leave out.
fn with_aliases(arg: &clap::Arg) -> clap::Arg {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    match arg.get_visible_aliases() {
        Some(names) if !names.is_empty() => arg
            .clone()
            .help(format!("{help}; also --{}", names.join(", --"))),
        _ => arg.clone(),
    }
}

type File = (PathBuf, Vec<u8>);

fn pages(whole: &Command) -> std::io::Result<Vec<File>> {
    let mut memlog = memlog(whole);
    memlog.build();
    let drawer = without_hidden(&memlog2dot::Cli::command());
    let subs: Vec<Command> = memlog.get_subcommands().cloned().collect();
    let all: Vec<String> = subs.iter().chain([&drawer]).map(page_name).collect();
    let mut files = vec![page(memlog, &all)?, page(drawer, &["memlog".into()])?];
    for sub in subs {
        files.push(page(sub, &["memlog".into()])?);
    }
    Ok(files)
}

fn page_name(command: &Command) -> String {
    let name = command.get_display_name();
    name.unwrap_or(command.get_name()).to_owned()
}

/// A page as `Man::render` makes it, with the sections that it cannot know.
fn page(command: Command, others: &[String]) -> std::io::Result<File> {
    let name = page_name(&command);
    let after = command.get_after_help().map(ToString::to_string);
    let about = command.get_about().map(ToString::to_string);
    let about = about.unwrap_or_default();
    let has_subcommands = command.has_subcommands();
    let synopsis = synopsis(&command);
    let man = Man::new(command)
        .date(DATE)
        .source(concat!("memlog ", env!("CARGO_PKG_VERSION")))
        .manual("User Commands");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    let after = after.unwrap_or_default();
    let mut own = Roff::new();
    match has_subcommands {
        true => man.render_synopsis_section(&mut text)?,
        false => own.extend([synopsis]),
    }
    own.extend([description(&about, &name, &after)]);
    own.to_writer(&mut text)?;
    man.render_options_section(&mut text)?;
    let mut own = Roff::new();
    paragraphs(&mut own, &after);
    if has_subcommands {
        man.render_subcommands_section(&mut text)?;
        list(&mut own, "ENVIRONMENT", &ENVIRONMENT);
        list(&mut own, "FILES", &FILES);
        list(&mut own, "EXIT STATUS", &EXIT_STATUS);
    }
    see_also(&mut own, others);
    own.to_writer(&mut text)?;
    Ok((Path::new("man/man1").join(format!("{name}.1")), text))
}

/// Options with the names of what they take, then what is given without one.
fn synopsis(command: &Command) -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["SYNOPSIS"]);
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let (plain, options): (Vec<&Arg>, Vec<&Arg>) =
        command.get_arguments().partition(|arg| arg.is_positional());
    let mut words = vec![bold(name)];
    for arg in options {
        words.push(roman(" ["));
        words.extend(option(arg));
        let may_come_again = matches!(arg.get_action(), ArgAction::Append);
        words.push(roman(if may_come_again { "]..." } else { "]" }));
    }
    for arg in plain {
        let is_many = arg
            .get_num_args()
            .is_some_and(|range| range.max_values() > 1);
        let many = if is_many { "..." } else { "" };
        let (open, close) = match arg.is_required_set() {
            true => ("", many.to_owned()),
            false => ("[", format!("]{many}")),
        };
        words.extend([roman(" "), roman(open), italic(value(arg)), roman(close)]);
    }
    page.text(words);
    page
}

/// `-t|--threshold PCT`
fn option(arg: &Arg) -> Vec<Inline> {
    let short = arg.get_short().map(|letter| format!("-{letter}"));
    let long = arg.get_long().map(|name| format!("--{name}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let mut words = vec![bold(names.join("|"))];
    if !arg.get_action().takes_values() {
        return words;
    }
    let is_optional = arg
        .get_num_args()
        .is_some_and(|range| range.min_values() == 0);
    words.extend(match (arg.is_require_equals_set(), is_optional) {
        (true, true) => [roman("[="), italic(value(arg)), roman("]")],
        _ => [roman(" "), italic(value(arg)), roman("")],
    });
    words
}

/// What stands for a value.
fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(|name| name.as_str()).collect();
    names.join(" ")
}

/// What a command is for in a sentence, and in more of them: what its help says
/// before its first heading.
fn description(about: &str, name: &str, after: &str) -> Roff {
    let mut page = Roff::new();
    page.control("SH", ["DESCRIPTION"]);
    let first = match about.ends_with(['.', '?']) {
        true => about.to_owned(),
        false => format!("{about}."),
    };
    let text = match name {
        "memlog" => DESCRIPTION.to_owned(),
        "memlog2dot" => format!("{first} {OLD_DESCRIPTION}"),
        _ => {
            let lines = after.lines().take_while(|line| !line.ends_with(':'));
            let more: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
            format!("{first} {}", more.join(" "))
        }
    };
    page.text([roman(text)]);
    page
}

/// Lines stay lines, and one that ends in a colon is a heading.
fn paragraphs(page: &mut Roff, text: &str) {
    let mut is_open = false;
    for line in text.lines() {
        let heading = line.strip_suffix(':').filter(|_| !line.starts_with(' '));
        if let Some(words) = heading {
            if is_open {
                page.control("fi", []);
            }
            page.control("SH", [words.to_uppercase().as_str()]);
            page.control("nf", []);
            is_open = true;
        } else if is_open && !line.is_empty() {
            page.text([roman(line)]);
        }
    }
    if is_open {
        page.control("fi", []);
    }
}

fn list(page: &mut Roff, heading: &str, items: &[(&str, &str)]) {
    page.control("SH", [heading]);
    for (term, words) in items {
        page.control("TP", []);
        page.text([bold(*term)]);
        page.text([roman(*words)]);
    }
}

fn see_also(page: &mut Roff, names: &[String]) {
    page.control("SH", ["SEE ALSO"]);
    for (index, name) in names.iter().enumerate() {
        let after = if index + 1 == names.len() { "" } else { "," };
        page.text([bold(name), roman(format!("(1){after}"))]);
    }
}

/// Of the command, and of its old names.
fn completions(whole: &Command) -> impl Iterator<Item = File> {
    let olds = OLDS.map(|name| (name, without_hidden(&memlog2dot::Cli::command())));
    let commands = [("memlog", memlog(whole))].into_iter().chain(olds);
    commands.flat_map(|(name, command)| {
        let mut command = with_moments(command.mut_subcommands(with_moments));
        COMPLETIONS.map(|(shell, before, behind)| {
            let mut text = Vec::new();
            generate(shell, &mut command, name, &mut text);
            (format!("{before}{name}{behind}").into(), text)
        })
    })
}

/// Of what --at takes a shell can offer the moments that have names, and no files.
fn with_moments(command: Command) -> Command {
    command.mut_args(|arg| match value(&arg).as_str() {
        "MOMENT" => arg.value_parser(PossibleValuesParser::new(MOMENTS)),
        _ => arg,
    })
}
