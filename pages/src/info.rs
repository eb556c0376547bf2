//! `memlog info`: what a log is of, and what it lacks.
//!
//! * [`sections`]: its modules, counters and findings
//! * [`figures`]: the same for programs
//! * [`mallopts`]: what the program told its allocator
//! * [`list`]: all logs of a folder, a line each
//! * [`little`]: those that did little, together

mod figures;
mod list;
mod little;
mod mallopts;
mod sections;

pub use list::row;
pub use mallopts::name_of as mallopt_name;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_analysis::{Failures, StackTable, Threads};
use memlog_format::counter::Counter;
use memlog_format::meta::{Key, Start};
use memlog_read::{Findings, Kind, Log};

use crate::choose::{chosen, one_more};
use crate::facts::{Imported, command_line, ends_off, is_running, left_out, note, threads_at_once};
use crate::heading::{cut_sentences, failed_parts, lacking};
use crate::names::{Labels, NameStore, Names, SymbolFiles, machine as machine_of, symbol_options};
use crate::open::{Analysis, Family, Files, Watch, extent_of};
use crate::page::others::Records;
use crate::page::{Page, Part};
use crate::screen::lines;
use crate::shown::print;
use crate::words::{clean, counted, grouped, shown, signal};
use figures::figures;
use mallopts::Mallopt;
use sections::{counters, findings, modules};

/// Say what a log is of, and what it lacks.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak; with --list any number of all these
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// All logs that are named or lie in the folders instead, a line each: ranks, their children, and images before an exec
    #[arg(long)]
    list: bool,
    /// With --list: a line also of each of many processes that had fewer than 100 events
    #[arg(long, requires = "list")]
    all: bool,
    /// Print it as JSON, schema memlog-info-1, with --list memlog-list-1
    #[arg(long)]
    json: bool,
}

/// Shows what the log says about itself.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if args.list {
        return list::show(&args.files, args.all, args.json);
    }
    let [file] = args.files.as_slice() else {
        let more = args
            .files
            .get(1)
            .map(PathBuf::as_path)
            .unwrap_or(Path::new(""));
        return Err(one_more("info", &shown(more)));
    };
    let file = chosen(file)?;
    let watch = Watch::begin();
    let files = Files::load(&file, &watch)?;
    let family = files.family()?;
    let events = Events::read(&family, &file, &watch)?;
    watch.end();
    let page = match args.json {
        true => Page {
            figures: figures(&family, &file, &events)?,
            ..Page::default()
        },
        false => Page {
            parts: records(&family, &file, events)?,
            ..Page::default()
        },
    };
    print(&page, args.json)?;
    Ok(ExitCode::SUCCESS)
}

fn records(family: &Family, file: &Path, events: Events) -> anyhow::Result<Vec<Part>> {
    let log = family.own();
    let mut records = Records::named(18);
    identity(&mut records, log);
    ending(&mut records, family);
    quiet(&mut records, log);
    threads(&mut records, log, &events.threads);
    size(&mut records, log);
    ahead(&mut records, file)?;
    remarks(&mut records, log);
    mallopts::add(&mut records, &Mallopt::all(log, file)?);
    if !events.failed.is_empty() {
        records.add("failed", events.failed.join(", "));
    }
    for sentence in events.cuts {
        records.add("stacks", sentence);
    }
    let parts = [
        records,
        modules(log),
        counters(log),
        findings(log, &events.findings),
    ];
    Ok(parts.map(Part::Records).into())
}

/// What is known when all events were read.
struct Events {
    findings: Findings,
    threads: Threads,
    /// Why stacks were cut.
    cuts: Vec<String>,
    /// What there is to say of calls that got no memory.
    failed: Vec<String>,
    failures: Failures,
}

impl Events {
    fn read(family: &Family, file: &Path, watch: &Watch) -> anyhow::Result<Self> {
        let log = family.own();
        let has_failed = log.counter(Counter::AllocationsFailed) > 0;
        if !log.has_cut_stacks() && !has_failed {
            return Ok(Self::without_heap(log, watch));
        }
        let analysis = family.analyse(None, watch);
        Ok(Self {
            threads: analysis.tally.threads().clone(),
            cuts: cut_sentences(log, &analysis),
            failed: failed(log, file, &analysis)?,
            failures: analysis.tally.failures().clone(),
            findings: analysis.findings,
        })
    }

    /// Going through all that was allocated takes twice as long.
    fn without_heap(log: &Log, watch: &Watch) -> Self {
        let mut events = watch.events(log);
        let mut threads = Threads::default();
        while let Some(item) = events.next()
            && watch.goes_on(&events)
        {
            if let Kind::Thread { tid, name } = item.kind {
                threads.take(item.tick, tid, name);
            }
        }
        let mut findings = log.findings().clone();
        findings.append(events.findings());
        Self {
            findings,
            threads,
            cuts: Vec::new(),
            failed: Vec::new(),
            failures: Failures::default(),
        }
    }
}

fn failed(log: &Log, file: &Path, analysis: &Analysis) -> anyhow::Result<Vec<String>> {
    named(log, file, analysis.tally.stacks(), |labels| {
        failed_parts(log, analysis, labels)
    })
}

/// What is told of stacks by the names of their places.
fn named<T>(
    log: &Log,
    file: &Path,
    stacks: &StackTable,
    tell: impl FnOnce(&mut Labels) -> T,
) -> anyhow::Result<T> {
    let options = symbol_options(&SymbolFiles::default())?;
    let store = NameStore::default();
    let names = Names::new(&store, &options, log, file);
    Ok(tell(&mut Labels::new(names, stacks)))
}

fn identity(records: &mut Records, log: &Log) {
    let texts = [
        ("program", Key::Executable),
        ("host", Key::Host),
        ("job", Key::Job),
        ("rank", Key::Rank),
        ("working directory", Key::WorkingDirectory),
        ("recorder", Key::Recorder),
        ("log made as", Key::LogPath),
    ];
    if let Some(words) = log.text(Key::CommandLine) {
        records.add("command line", command_line(words));
    }
    for (name, key) in texts {
        if let Some(text) = log.text(key) {
            let inherited = log.rank_parent().filter(|_| key == Key::Rank);
            let inherited = inherited.map_or(String::new(), |parent| {
                format!(", as a child of process {parent}, which has it too")
            });
            records.add(name, clean(text) + &inherited);
        }
    }
    packed(records, log);
    if let Some(stripped) = log.left_out() {
        let which = left_out(stripped);
        let (name, of) = match stripped.by_recorder {
            true => ("culled", "most blocks"),
            false => ("stripped", "blocks"),
        };
        records.add(name, format!("of {of} {which} it has sums only"));
    }
    if let Some(imported) = Imported::of(log) {
        let from = format!("from a {} file, {}", imported.tool, imported.file);
        records.add("imported", from);
        for line in lines(&imported.unknown().join(", ")) {
            records.add("", line);
        }
        return;
    }
    let Some(start) = log.start() else {
        return;
    };
    // Blue Gene's kernel tells no parent, and a pid namespace hides it.
    let process = match start.parent_pid {
        0 => start.pid.to_string(),
        parent => format!("{}, started by {parent}", start.pid),
    };
    records.add("process", process);
    records.add("started", utc(start.wall_ns));
    records.add("machine", machine(start));
    let tick = format!("{} ns", grouped(start.tick_ns));
    records.add("tick", tick);
    let usable = if start.has_usable { "yes" } else { "no" };
    records.add("usable sizes", usable);
}

/// What was put into the log for other machines, and what was left out for others' eyes.
fn packed(records: &mut Records, log: &Log) {
    if log.text(Key::Packed).is_some() {
        let kept = log.kept();
        let places = counted(kept.places.len() as u64, "place");
        let files = counted(kept.files.len() as u64, "file");
        records.add(
            "packed",
            format!("with the names of {places} in {files} of code"),
        );
    }
    match log.text(Key::Anonymized) {
        Some(b"full") => records.add("anonymized", "names, paths, arguments and notes left out"),
        Some(_) => records.add(
            "anonymized",
            "folders, host, users and environment left out",
        ),
        None => {}
    }
}

fn machine(start: &Start) -> String {
    let pages = grouped(start.page_bytes.into());
    format!("{}, pages of {pages} bytes", machine_of(start))
}

/// Nanoseconds since 1970 as a date.
fn utc(wall_ns: u64) -> String {
    let seconds = wall_ns / 1_000_000_000;
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}.{:03} UTC",
        time / 3600,
        time / 60 % 60,
        time % 60,
        wall_ns / 1_000_000 % 1000
    )
}

/// The date of a number of days since 1970, by going through the years.
fn civil(mut days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

fn ending(records: &mut Records, family: &Family) {
    let log = family.own();
    let ended = match log.end() {
        Some(end) if end.how == 0 => format!(
            "in a way that is not known, after {:.3} s",
            log.seconds(end.tick)
        ),
        Some(end) => {
            let how = match end.how {
                1 => "by its exit handlers",
                2 => "by _exit",
                _ => "in a way this memlog does not know",
            };
            format!("{how}, after {:.3} s", log.seconds(end.tick))
        }
        None if log.death().is_some() => log.death().map_or(String::new(), |death| {
            format!("killed by signal {}", signal(death.signal))
        }),
        None if Imported::of(log).is_some() => {
            "not known: the imported file does not tell it".into()
        }
        None if is_running(log) => "not yet: still running".into(),
        None if ends_off(log) => "not known: recording was off then".into(),
        None => "no end in the log: still running, killed, or exec'd another program".into(),
    };
    records.add("ended", ended);
    let Some(pid) = log.parent_pid() else {
        return;
    };
    // The child's log names none where the parent had no file yet.
    let name = match family.parent {
        Some(path) => Some(shown(path).to_string()),
        None => log.text(Key::ParentLog).map(clean),
    };
    let name = name.map_or(String::new(), |name| format!(", log {name}"));
    records.add("forked from", format!("process {pid}{name}"));
    if let Some(sentence) = family.missing_parent {
        records.add("", sentence);
    }
}

/// Since when a filter kept the recorder from system calls.
fn quiet(records: &mut Records, log: &Log) {
    let Some(tick) = log.counter(Counter::QuietSince).checked_sub(1) else {
        return;
    };
    let text = format!(
        "came at {:.3} s: readings of resident memory stopped, and the end is not told",
        log.seconds(tick)
    );
    records.add("seccomp filter", text);
}

/// How many, and by which names they went last.
fn threads(records: &mut Records, log: &Log, threads: &Threads) {
    const MOST_NAMED: usize = 8;
    let list = threads.list();
    let count = list.len() as u64;
    let at_once = grouped(threads_at_once(log, count));
    let named = list.iter().take(MOST_NAMED).map(|thread| {
        let name = match thread.name.as_slice() {
            [] => "without a name".into(),
            name => clean(name),
        };
        format!("{} {name}", thread.tid)
    });
    let named = named.collect::<Vec<_>>().join(", ");
    let more = match list.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {} more", grouped(more as u64)),
    };
    let text = format!(
        "{}, at most {at_once} at a time: {named}{more}",
        grouped(count)
    );
    if count > 0 {
        records.add("threads", text);
    }
}

fn size(records: &mut Records, log: &Log) {
    let size = log.size();
    let text = format!(
        "{} bytes, {} bytes of events, in {} and {}",
        grouped(size.file_bytes as u64),
        grouped(size.event_bytes),
        counted(size.chunks as u64, "chunk"),
        counted(size.streams as u64, "stream")
    );
    records.add("size", text);
}

/// Of a log that is still written, or was not cut when its program ended.
fn ahead(records: &mut Records, file: &Path) -> std::io::Result<()> {
    let extent = File::open(file).and_then(|file| extent_of(&file))?;
    if !extent.is_ahead() {
        return Ok(());
    }
    let seems = grouped(extent.seeming_bytes);
    let text = format!("the file seems to be {seems} bytes long; the rest takes no room");
    records.add("", text);
    Ok(())
}

fn remarks(records: &mut Records, log: &Log) {
    for text in log.texts(Key::Setting) {
        records.add("setting", clean(text));
    }
    for text in log.texts(Key::Named) {
        records.add("recorded too", clean(text));
    }
    for text in log.texts(Key::Variable) {
        records.add("variable", clean(text));
    }
    for text in log.texts(Key::Note) {
        records.add("note", note(text));
    }
    if let Some(sentence) = lacking(log) {
        records.add("note", sentence);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_right() {
        assert_eq!(utc(0), "1970-01-01 00:00:00.000 UTC");
        assert_eq!(utc(951_782_400_000_000_000), "2000-02-29 00:00:00.000 UTC");
        assert_eq!(
            utc(1_700_000_000_123_000_000),
            "2023-11-14 22:13:20.123 UTC"
        );
    }

    #[test]
    fn words_are_quoted_where_needed() {
        assert_eq!(command_line(b"a\0b c\0it's\0\0"), "a 'b c' 'it'\\''s' ''");
    }
}
