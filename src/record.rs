//! `memlog record`: runs a program with the recorder in it, stays out of its
//! way, and says afterwards what was recorded and what to do next.
//!
//! * [`allocator`]: whether C++'s operators have to be hooked as well
//! * [`program`]: finds the program, and what would keep it from being recorded
//! * [`environment`]: variables that would not be understood
//! * [`codes`]: what stands for a host or a process in their names
//! * [`output`]: where the logs will be, and which are there afterwards
//! * [`log`]: what each of these says of itself
//! * [`functions`]: those of other names that are to be recorded
//! * [`epilogue`]: what it adds to the log of a program that was killed
//! * [`replace`]: what `--force` takes away before
//! * [`sanitizer`]: a library that will not have the recorder before it
//! * [`skip`]: logs that say too little to be kept
//! * [`summary`]: what is said at the end
//! * [`total`]: the bound of all logs together
//! * [`under`]: gdb and perf, which start the program instead

mod allocator;
mod codes;
mod environment;
mod epilogue;
mod functions;
mod log;
mod mistaken;
mod output;
mod program;
pub mod replace;
mod sanitizer;
mod skip;
mod summary;
mod total;
mod trim;
mod under;
mod window;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

use anyhow::Context;
use memlog_pages::strip::nanoseconds;
use memlog_pages::{Advice, form_of, has_magic, is_packed, shown};

use crate::named::{self, Functions};
use crate::{os, recorder};
use epilogue::OomKills;
pub use log::Log;
pub use mistaken::check as refuse_mistaken;
use output::Plan;
use program::Program;
use total::Total;
use under::Under;
use window::Window;

/// What `memlog record` is asked.
#[derive(clap::Args)]
pub struct Args {
    /// Name of the log, or a folder, which logs/ makes; %h host, %p process, %e program, %t time, %n number, %r rank, %j job
    #[arg(short, long, value_name = "PATTERN")]
    output: Option<OsString>,
    /// Replace the log that lies under the name given, if nobody writes to it any more, and no other file; a name with a % code has none to replace
    #[arg(long)]
    force: bool,
    /// Stop growing a log at this size, such as 500M or 2G; below 256K means 256K
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    max_log: Option<u64>,
    /// Stop growing logs, and making them, when those of all processes together take this size on the disk
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    max_logs_total: Option<u64>,
    /// Say in the log when less than PCT percent of a memory limit is left (control groups, RLIMIT_AS and _DATA, the machine); with ,stop end the program then
    #[arg(long, value_name = "PCT[,stop]", value_parser = guard_of)]
    oom_guard: Option<String>,
    /// Bound the events in a log: when they have taken this much (64M if no size is given) the oldest are folded into what is live and overwritten
    #[arg(long, value_name = "SIZE", value_parser = bytes_of, num_args = 0..=1, require_equals = true, default_missing_value = "64M")]
    flight_recorder: Option<u64>,
    /// Leave blocks out that live less than this, such as 10ms: they are in the sums by size and stack, and their events are not. A server's log gets several times smaller, one of blocks that stay hardly; `memlog strip` does it afterwards
    #[arg(long, value_name = "TIME", value_parser = culled_of, conflicts_with = "flight_recorder")]
    cull: Option<u64>,
    /// Keep the stack of each release too
    #[arg(long)]
    free_stacks: bool,
    /// How often it is read what is resident in which mapping, for `memlog rss`: auto spends one percent of the processor time [default: auto]
    #[arg(long, value_name = "off|auto|always", value_parser = ["off", "auto", "always"], hide_possible_values = true)]
    rss_detail: Option<String>,
    /// Give each event a time of its own, in steps of 10 ns, instead of steps of some ms; an event then takes longer and a byte or two more
    #[arg(long, conflicts_with = "flight_recorder")]
    fine_time: bool,
    /// Keep the environment that the program begins with in the log; `memlog info` shows it. It may have secrets
    #[arg(long)]
    keep_environment: bool,
    /// Hook operator new and delete in any case: for scripts whose programs load an allocator with its own
    #[arg(long)]
    cxx_operators: bool,
    /// Record the blocks of another allocator too: a function that gives blocks, the meaning of its arguments, and who takes them back, or the name of one that memlog knows. What it gets from malloc is then its own affair. May be given several times
    #[arg(long, value_name = "GET(size)=PUT(ptr)", value_parser = named::parse)]
    alloc_func: Vec<Functions>,
    /// Whether programs that this one executes are recorded [default: yes]
    #[arg(long, value_name = "yes|no", value_parser = ["yes", "no"], hide_possible_values = true)]
    follow_exec: Option<String>,
    /// Record only programs of this name, or of this path; others pass the request on. May be given several times
    #[arg(long, value_name = "PROGRAM", value_parser = program_of)]
    only: Vec<String>,
    /// Remove the logs of processes that ended with fewer events, when the program has ended; never the program's own, or a killed one's
    #[arg(long, value_name = "EVENTS", value_parser = clap::value_parser!(u64).range(1..))]
    skip_below: Option<u64>,
    #[command(flatten)]
    window: Window,
    /// Start gdb with the program, which runs with the recorder whenever gdb starts it; gdb without
    #[arg(long, visible_alias = "debug", conflicts_with = "perf")]
    gdb: bool,
    /// Start the program by `perf record -g`, into perf.data; the samples have the recorder's part too
    #[arg(long, visible_alias = "profile")]
    perf: bool,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROG"
    )]
    command: Vec<OsString>,
}

/// How long blocks live that are left out.
fn culled_of(text: &str) -> Result<u64, String> {
    match nanoseconds(text) {
        Ok(0) => Err("it is longer than nothing".into()),
        done => done,
    }
}

/// What lives from one step of the clock to the next may have lived longer than that.
fn check_threshold(ns: u64, is_fine: bool) -> anyhow::Result<()> {
    const STEP_NS: u64 = 1_000_000;
    match ns < STEP_NS && !is_fine {
        false => Ok(()),
        true => Err(Advice::error(
            "the log's clock has steps of 1 ms, which are longer than the threshold",
            "give a longer one to --cull, or record with --fine-time",
        )),
    }
}

/// Whether a word of the command line names a log rather than a program.
pub fn is_log(word: &Path) -> bool {
    word.extension() == Some(OsStr::new("memlog"))
        || has_magic(word)
        || is_packed(word)
        || form_of(word).is_some()
}

/// Whether a word is the name of a program.
pub fn is_program(word: &OsStr) -> bool {
    program::search(word).is_ok()
}

/// A program that was run.
pub struct Ran {
    /// How it ended.
    pub status: ExitStatus,
    /// Its logs and those of its children, oldest first.
    pub logs: Vec<RanLog>,
    /// Its own process.
    pub pid: u32,
}

/// A log of a run.
pub struct RanLog {
    /// Where it is.
    pub path: PathBuf,
    /// Whose it is.
    pub pid: u32,
}

/// Runs the program and exits as it did.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(exit_code(record(args, summary::Tells::All)?.status))
}

/// Runs a program whose logs are made in this folder, and says no more than why there is
/// none.
pub fn quietly(command: &[OsString], folder: &Path) -> anyhow::Result<Ran> {
    // As clap makes them, with what is usual.
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }
    let options = [
        "record".as_ref(),
        "-o".as_ref(),
        folder.as_os_str(),
        "--".as_ref(),
    ];
    let words = options
        .into_iter()
        .chain(command.iter().map(OsString::as_os_str));
    let line = <Line as clap::Parser>::try_parse_from(words)?;
    record(line.args, summary::Tells::WhyNone)
}

fn record(args: Args, tells: summary::Tells) -> anyhow::Result<Ran> {
    let (name, words) = args.command.split_first().context("no program was named")?;
    if name.as_bytes().starts_with(b"-") {
        return Err(Advice::error(
            format!("unknown option {}", shown(name)),
            "see `memlog help record`; a program of that name is given by its path",
        ));
    }
    environment::check(|variable| match variable {
        "MEMLOG_MAX_LOG" => args.max_log.is_some(),
        "MEMLOG_MAX_LOGS_TOTAL" => args.max_logs_total.is_some(),
        "MEMLOG_OOM_GUARD" => args.oom_guard.is_some(),
        "MEMLOG_FLIGHT_RECORDER" => args.flight_recorder.is_some(),
        "MEMLOG_CULL" => args.cull.is_some(),
        "MEMLOG_FREE_STACKS" => args.free_stacks,
        "MEMLOG_RSS_DETAIL" => args.rss_detail.is_some(),
        "MEMLOG_FINE_TIME" => args.fine_time,
        "MEMLOG_KEEP_ENVIRONMENT" => args.keep_environment,
        "MEMLOG_FOLLOW_EXEC" => args.follow_exec.is_some(),
        "MEMLOG_ONLY" => !args.only.is_empty(),
        variable => args.window.has(variable),
    })?;
    let under = match (args.gdb, args.perf) {
        (true, _) => Some(Under::Gdb),
        (_, true) => Some(Under::Perf),
        _ => None,
    };
    if let Some(under) = under {
        under.check()?;
    }
    let program = Program::find(name, args.flight_recorder.is_some())?;
    let objects = program.objects();
    sanitizer::refuse_if_first(name, &objects)?;
    let mut plan = Plan::new(args.output.as_deref())?;
    for remark in program.unchecked().into_iter().chain(plan.remark()) {
        say(&remark);
    }
    let folder = recorder::preloadable()?;
    let mut ours = vec![folder.join(recorder::SHARED.name)];
    if args.cxx_operators || program.loads_own_operators(&objects) {
        ours.push(folder.join(recorder::OPERATORS.name));
    }
    let functions = functions::Wanted::new(&args.alloc_func, program.image(), &objects)?;
    ours.extend(functions.library()?);

    let mut command = program.command(words);
    let preloaded = preload_list(&ours, std::env::var_os("LD_PRELOAD"));
    command.env("LD_PRELOAD", preloaded);
    plan.set(&mut command);
    if let Some(choice) = args.follow_exec {
        command.env(
            "MEMLOG_FOLLOW_EXEC",
            if choice == "yes" { "1" } else { "0" },
        );
    }
    if let Some(bytes) = args.max_log {
        command.env("MEMLOG_MAX_LOG", bytes.to_string());
    }
    if let Some(guard) = args.oom_guard {
        command.env("MEMLOG_OOM_GUARD", guard);
    }
    if let Some(bytes) = args.flight_recorder {
        command.env("MEMLOG_FLIGHT_RECORDER", format!("{bytes}B"));
    }
    if let Some(ns) = args.cull {
        check_threshold(ns, args.fine_time)?;
        // Bytehound's variable may say otherwise, and goes behind this.
        let (seconds, rest) = (ns / 1_000_000_000, ns % 1_000_000_000);
        command.env("MEMLOG_CULL", format!("{seconds}.{rest:09}s"));
    }
    if args.free_stacks {
        command.env("MEMLOG_FREE_STACKS", "1");
    }
    if let Some(detail) = args.rss_detail {
        command.env("MEMLOG_RSS_DETAIL", detail);
    }
    if args.keep_environment {
        command.env("MEMLOG_KEEP_ENVIRONMENT", "1");
    }
    if args.fine_time {
        command.env("MEMLOG_FINE_TIME", "1");
    }
    args.window.set(&mut command);
    if !args.only.is_empty() {
        command.env("MEMLOG_ONLY", args.only.join(":"));
    }

    let kills = OomKills::begin();
    let run = epilogue::run_name();
    command.env("MEMLOG_RUN", &run);
    let total = Total::of_run(args.max_logs_total, plan.folder(), &run)?;
    if let Some(total) = &total {
        total.set(&mut command);
    }
    // Last, so that the old log stays where nothing is recorded.
    if args.force {
        plan.replace()?;
        if let Some(sentence) = plan.stays() {
            say(&sentence);
        }
    }
    let (child, status, last_name) = match under {
        None => run_to_end(command, name)?,
        Some(under) => {
            let ended = run_to_end(under.start(&command), OsStr::new(under.name()))?;
            (plan.first_of(&run).unwrap_or(ended.0), ended.1, None)
        }
    };
    let outcome = summary::RunOutcome {
        child,
        status,
        last_name,
        run: &run,
        oom_kills: kills.so_far(),
        only: &args.only,
        skip_below: args.skip_below,
        total: total.as_ref(),
        functions: &functions,
    };
    let logs = summary::finish(name, &outcome, &plan, tells).into_iter();
    Ok(Ran {
        status,
        logs: logs
            .map(|log| RanLog {
                path: log.path,
                pid: log.pid,
            })
            .collect(),
        pid: child,
    })
}

fn say(remark: &str) {
    // Where stderr is gone nobody can be told.
    let _ = writeln!(std::io::stderr().lock(), "memlog: note: {remark}");
}

/// Its number, how it ended, and what the kernel called its last image.
fn run_to_end(
    mut command: Command,
    name: &OsStr,
) -> anyhow::Result<(u32, ExitStatus, Option<String>)> {
    os::pass_signals_on();
    let mut child = command.arg0(name).spawn().map_err(|error| {
        let hint = "run it without memlog: if that works, tell the authors of memlog";
        Advice::error(format!("{} cannot be started: {error}", shown(name)), hint)
    })?;
    os::wait_for_end(child.id());
    let last_name = std::fs::read_to_string(format!("/proc/{}/comm", child.id()));
    let last_name = last_name.map(|name| name.trim_end_matches('\n').to_owned());
    Ok((child.id(), child.wait()?, last_name.ok()))
}

/// As a shell does: a death of signal N is 128 + N.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(code.to_le_bytes()[0])
}

/// Ours first, so that an allocator or another recorder preloaded by the user
/// is what ours calls; a second memlog would only count the same again.
fn preload_list(ours: &[PathBuf], existing: Option<OsString>) -> OsString {
    let is_memlog = |other: &[u8]| {
        let name = Path::new(OsStr::from_bytes(other)).file_name();
        [
            recorder::SHARED.name,
            recorder::OPERATORS.name,
            recorder::NAMED,
        ]
        .map(|file| Some(OsStr::new(file)))
        .contains(&name)
    };
    let existing = existing.unwrap_or_default();
    let others = existing.as_bytes().split(|byte| b" :".contains(byte));
    let others = others.filter(|other| !other.is_empty() && !is_memlog(other));
    let ours = ours.iter().map(|path| path.as_os_str().as_bytes());
    OsString::from_vec(ours.chain(others).collect::<Vec<_>>().join(&b':'))
}

/// As the recorder takes it.
fn guard_of(text: &str) -> Result<String, String> {
    let percent = text.strip_suffix(",stop").unwrap_or(text);
    let percent = percent.strip_suffix('%').unwrap_or(percent);
    match percent.parse::<u8>() {
        Ok(1..100) if !percent.starts_with('+') => Ok(text.to_owned()),
        _ => Err("expected a percentage from 1 to 99, or one and ,stop, such as 5,stop".into()),
    }
}

/// As the recorder takes it: colons stand between several.
fn program_of(text: &str) -> Result<String, String> {
    match text.is_empty() || text.contains(':') {
        false => Ok(text.to_owned()),
        true => Err("expected a program's name or path, without a colon".into()),
    }
}

/// What a size looks like.
const SIZE: &str = "expected a number of bytes such as 1000000, 500K, 500M or 2GiB";

pub fn bytes_of(text: &str) -> Result<u64, String> {
    let wrong = || SIZE.to_owned();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" | "B" => 0,
        "K" | "KB" | "KIB" => 10,
        "M" | "MB" | "MIB" => 20,
        "G" | "GB" | "GIB" => 30,
        "T" | "TB" | "TIB" => 40,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes_of("12"), Ok(12));
        assert_eq!(bytes_of("3k"), Ok(3 << 10));
        assert_eq!(bytes_of("2GiB"), Ok(2 << 30));
        for wrong in ["", "G", "-1", "1.5G", "3X", "99999999T"] {
            assert!(bytes_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn guards_are_percentages() {
        for right in ["5", "5%", "99,stop", "10%,stop"] {
            assert_eq!(guard_of(right).as_deref(), Ok(right));
        }
        for wrong in ["", "0", "100", "+5", "5,", "5,die", "stop", "-5", "1.5"] {
            assert!(guard_of(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ours_is_preloaded_first_and_once() {
        let ours = ["/x/libmemlog.so".into()];
        let list = |existing: &str| preload_list(&ours, Some(existing.into()));
        assert_eq!(list(""), "/x/libmemlog.so");
        assert_eq!(
            list("/y/libjemalloc.so /old/libmemlog.so:/old/libmemlog_new.so z.so"),
            "/x/libmemlog.so:/y/libjemalloc.so:z.so"
        );
    }
}
