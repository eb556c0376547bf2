//! `memlog replay`, as it is shown: what each allocator made of a program's calls.
//!
//! Figures are medians of the runs. What is said of an allocator is said only where the
//! difference is larger than what the program's own allocator is off by, and than what the
//! runs differ by among themselves.

use std::collections::BTreeMap;

use memlog_format::operations::MAX_THREADS;
use serde_json::{Value, json};

use crate::events::{GLIBC, Recorded, UNKNOWN};
use crate::page::heading::Heading;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::page::{Page, Part};
use crate::screen::{Look, Screen};
use crate::shown::printed;
use crate::words::{Sizes, counted, grouped, lasted, percentage};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-replay-1";

/// All that was found out.
pub struct Replayed {
    /// The program.
    pub recorded: Recorded,
    /// Each allocator, the program's own first.
    pub rows: Vec<Row>,
    /// Whether the first is the program's own.
    pub has_own: bool,
    /// No more than this was touched at a time.
    pub limit_bytes: u64,
    /// Allocators that are not on this machine, each with how to get it.
    pub absent: Vec<(String, String)>,
}

/// An allocator, with settings.
pub struct Row {
    /// As it was asked for.
    pub name: String,
    /// What was loaded.
    pub library: String,
    /// Variables of the environment.
    pub settings: Vec<(String, String)>,
    /// What the replayer takes without the calls, under the same C library.
    pub own: Run,
    /// Each run.
    pub runs: Vec<Run>,
    /// Why there is none.
    pub failed: Option<String>,
}

/// What a run took, by the names that the replayer prints.
#[derive(Clone, Debug, Default)]
pub struct Run(pub BTreeMap<String, u64>);

impl Run {
    fn of(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    /// What is resident at the end: of a run without calls, what the replayer takes.
    pub fn end_bytes(&self) -> u64 {
        self.of("rss_end_bytes")
    }
}

/// What is told of an allocator.
struct Figures {
    peak: u64,
    /// Between the largest and the smallest.
    spread: u64,
    end: u64,
    live: u64,
    cpu_ns: u64,
    cpu_spread_ns: u64,
    faults: u64,
    failed: u64,
    untouched: u64,
}

impl Replayed {
    fn figures(&self, row: &Row) -> Figures {
        let all = |of: &dyn Fn(&Run) -> u64| {
            let mut all: Vec<u64> = row.runs.iter().map(of).collect();
            all.sort_unstable();
            all
        };
        let own = row.own.end_bytes();
        let mid = |all: &[u64]| all.get(all.len() / 2).copied().unwrap_or(0);
        let spread = |all: &[u64]| match all {
            [first, .., last] => last - first,
            _ => 0,
        };
        let of = |name: &'static str| mid(&all(&|run| run.of(name)));
        let peaks = all(&|run| run.of("rss_peak_bytes").saturating_sub(own));
        let cpu = all(&|run| run.of("cpu_ns").saturating_sub(row.own.of("cpu_ns")));
        Figures {
            peak: mid(&peaks),
            spread: spread(&peaks),
            end: of("rss_end_bytes").saturating_sub(own),
            live: of("live_bytes_at_rss_peak"),
            cpu_ns: mid(&cpu),
            cpu_spread_ns: spread(&cpu),
            faults: of("faults").saturating_sub(row.own.of("faults")),
            failed: of("failed_calls"),
            untouched: of("untouched_bytes"),
        }
    }

    /// The program's own allocator, where that was had.
    fn base(&self) -> Option<(&Row, Figures)> {
        let first = self.rows.first()?;
        let is_it = self.has_own && first.failed.is_none();
        is_it.then(|| (first, self.figures(first)))
    }

    /// By how much the replay of the program's own allocator is off.
    fn error(&self) -> Option<u64> {
        let head = &self.recorded.head;
        let (_, base) = self.base()?;
        // Of what the program mapped itself nobody knows how much was resident.
        let least = head.growth_bytes.saturating_sub(head.mapped_bytes);
        (head.growth_bytes > 0).then(|| match base.peak {
            peak if peak < least => least - peak,
            peak => peak.saturating_sub(head.growth_bytes),
        })
    }

    /// What can be said of an allocator beside the program's own.
    fn verdict(&self, row: &Row) -> Option<Verdict> {
        let (_, base) = self.base()?;
        let figures = self.figures(row);
        let noise = base.spread.saturating_add(figures.spread);
        let grain = noise.max(self.error()?);
        let difference = base.peak.abs_diff(figures.peak);
        let whole = base.peak.max(self.recorded.head.peak_bytes);
        Some(Verdict {
            is_less: figures.peak < base.peak,
            bytes: difference,
            grain,
            percent: percentage(difference, whole),
            whole,
        })
    }
}

struct Verdict {
    is_less: bool,
    bytes: u64,
    /// Less than this is not told apart.
    grain: u64,
    /// Of all that the program had.
    percent: f64,
    /// That, in bytes.
    whole: u64,
}

impl Verdict {
    fn is_told(&self) -> bool {
        self.bytes > self.grain
    }

    fn word(&self) -> &'static str {
        match (self.is_told(), self.is_less) {
            (false, _) => "same",
            (true, true) => "less",
            (true, false) => "more",
        }
    }
}

/// Shows it.
pub fn show(replayed: &Replayed, look: &Look, is_json: bool) -> std::io::Result<()> {
    let screen = Screen::new(look);
    let page = match is_json {
        true => Page {
            figures: json_of(replayed),
            ..Page::default()
        },
        false => Page {
            heading: heading(replayed, screen.sizes),
            notes: replayed.recorded.notes.clone(),
            parts: vec![Part::Rows(rows(replayed, screen.sizes))],
            ..Page::default()
        },
    };
    screen.show(&printed(&page, is_json, &screen), None)
}

/// What was replayed.
fn heading(replayed: &Replayed, sizes: Sizes) -> Heading {
    let head = &replayed.recorded.head;
    let mut heading = Heading {
        indent: 11,
        ..Heading::default()
    };
    let calls = counted(head.operations, "call");
    let threads = counted(head.program_threads, "thread");
    let program = replayed.recorded.executable.clone();
    heading.line("program", vec![program, format!("{calls} of {threads}")]);
    let (peak, end) = (
        sizes.of(head.heap_peak_bytes),
        sizes.of(head.end_live_bytes),
    );
    heading.line(
        "heap",
        vec![format!("{peak} at its peak"), format!("{end} at the end")],
    );
    heading
}

fn rows(replayed: &Replayed, sizes: Sizes) -> Rows {
    let cells = replayed.rows.iter().filter(|row| row.failed.is_none());
    let cells = cells.map(|row| {
        let figures = replayed.figures(row);
        let waste = figures.peak.saturating_sub(figures.live);
        vec![
            sizes.of(figures.peak),
            sizes.of(figures.end),
            sizes.of(figures.live),
            format!("{:.1}%", percentage(waste, figures.peak)),
            lasted(figures.cpu_ns as f64 / 1e9),
            grouped(figures.faults),
            row.name.clone(),
        ]
    });
    let runs = replayed.rows.iter().map(|row| row.runs.len()).max();
    let runs = counted(runs.unwrap_or(0) as u64, "time");
    let title = format!("replayed {runs} under each allocator:");
    Rows {
        title,
        last: Last::Text,
        columns: titles(&[
            "peak RSS",
            "at the end",
            "live at peak",
            "not live",
            "CPU",
            "faults",
            "allocator",
        ]),
        gives_way: vec!["faults", "live at peak"],
        rows: cells.collect(),
        rest: sentences(replayed, sizes)
            .into_iter()
            .map(Rest::from)
            .collect(),
    }
}

/// What the figures mean, and what they lack.
fn sentences(replayed: &Replayed, sizes: Sizes) -> Vec<String> {
    let mut said = vec![String::new()];
    let failed = replayed.rows.iter();
    said.extend(failed.filter_map(|row| Some(format!("{}: {}", row.name, row.failed.as_ref()?))));
    said.extend(recorded(replayed, sizes));
    let others = replayed.rows.iter().skip(usize::from(replayed.has_own));
    let others = others.filter(|row| row.failed.is_none());
    said.extend(others.filter_map(|row| judged(&row.name, &replayed.verdict(row)?, sizes)));
    said.push(String::new());
    said.extend(limits(replayed, sizes));
    let absent = replayed.absent.iter();
    said.extend(absent.map(|(name, hint)| format!("not found: {name} ({hint})")));
    said
}

fn judged(name: &str, verdict: &Verdict, sizes: Sizes) -> Option<String> {
    let (bytes, percent) = (sizes.of(verdict.bytes), verdict.percent);
    let (grain, whole) = (sizes.of(verdict.grain), sizes.of(verdict.whole));
    Some(match verdict.word() {
        "less" => format!(
            "Under {name} the program would take about {bytes} less at its peak \
             (-{percent:.0} % of {whole})."
        ),
        "more" => format!(
            "Under {name} the program would take about {bytes} more at its peak \
             (+{percent:.0} % of {whole})."
        ),
        _ => format!(
            "Under {name} no difference is seen: {bytes}, and the replay is off by {grain}."
        ),
    })
}

/// How far the replay is from what was recorded.
fn recorded(replayed: &Replayed, sizes: Sizes) -> Vec<String> {
    let head = &replayed.recorded.head;
    let Some((row, base)) = replayed.base() else {
        let name = replayed.recorded.allocator.as_deref();
        let why = match name.unwrap_or(GLIBC) {
            UNKNOWN => "Which allocator the program had is not known".to_owned(),
            name => format!("The program had {name}, which was not replayed"),
        };
        return vec![format!("{why}: nothing is told of differences.")];
    };
    if head.growth_bytes == 0 {
        return vec![
            "By how much the program grew is not recorded: nothing is told of differences.".into(),
        ];
    }
    let mapped = match head.mapped_bytes {
        0 => String::new(),
        bytes => format!(", of which it may have mapped {} itself", sizes.of(bytes)),
    };
    let (growth, peak) = (sizes.of(head.growth_bytes), sizes.of(base.peak));
    let error = replayed.error().unwrap_or(0);
    let mut said = vec![format!(
        "Recorded: {growth} grown up to the peak{mapped}. Replayed under {}: {peak}, off by {} \
         ({:.1} %).",
        row.name,
        sizes.of(error),
        percentage(error, head.growth_bytes),
    )];
    let distance = distance(row).filter(|_| head.mapped_bytes == 0);
    if let Some((readings, apart, percent)) = distance {
        said.push(format!(
            "Over {} it was {} away from what was recorded on average, {percent:.1} % of that.",
            counted(readings, "reading"),
            sizes.of(apart),
        ));
    }
    said
}

/// On the average of all readings: how many, how far, and how much that is of them.
fn distance(row: &Row) -> Option<(u64, u64, f64)> {
    let run = row.runs.first()?;
    let [readings, recorded, apart] =
        ["compared_readings", "recorded_kb", "apart_kb"].map(|name| run.of(name));
    let mean = apart.saturating_mul(1024).checked_div(readings)?;
    Some((readings, mean, percentage(apart, recorded)))
}

fn limits(replayed: &Replayed, sizes: Sizes) -> Vec<String> {
    let head = &replayed.recorded.head;
    let mut said = vec![
        "Each page of a block is touched when it comes, except of large blocks of zeros.".to_owned(),
        "Threads take turns in the log's order. CPU is of the calls and of touching, not of waiting."
            .to_owned(),
    ];
    let rows = replayed.rows.iter().map(|row| replayed.figures(row));
    let (untouched, failed) = rows.fold((0, 0), |(untouched, failed), row| {
        (
            u64::max(untouched, row.untouched),
            u64::max(failed, row.failed),
        )
    });
    if untouched > 0 {
        said.push(format!(
            "{} were not touched: no more than {} is at a time.",
            sizes.of(untouched),
            sizes.of(replayed.limit_bytes)
        ));
    }
    if failed > 0 {
        let calls = counted(failed, "call");
        said.push(format!(
            "{calls} got no memory here that did in the program."
        ));
    }
    if head.program_threads > head.threads {
        let (threads, places) = (grouped(head.program_threads), grouped(head.threads));
        let shared = match head.threads >= MAX_THREADS {
            true => format!("; of more than {MAX_THREADS} at a time several share one"),
            false => String::new(),
        };
        said.push(format!(
            "{threads} threads are replayed by {places}: one that ends leaves its place to the \
             next{shared}."
        ));
    }
    let strange = [
        (
            head.unknown_releases,
            "of blocks that were not seen to come are left out",
        ),
        (
            head.unseen_releases,
            "that were not seen are made up when the address comes again",
        ),
    ];
    let strange = strange.into_iter().filter(|(count, _)| *count > 0);
    said.extend(strange.map(|(count, what)| format!("{} {what}.", counted(count, "release"))));
    said
}

fn json_of(replayed: &Replayed) -> serde_json::Map<String, Value> {
    let head = &replayed.recorded.head;
    let error = replayed.error();
    Page::keyed([
        ("schema", SCHEMA.into()),
        ("executable", replayed.recorded.executable.as_str().into()),
        (
            "operations",
            json!({
                "calls": head.operations,
                "allocations": head.allocations,
                "releases": head.releases,
                "threads": head.program_threads,
                "replay_threads": head.threads,
                "heap_peak_bytes": head.heap_peak_bytes,
                "end_live_bytes": head.end_live_bytes,
                "unknown_releases": head.unknown_releases,
                "unseen_releases": head.unseen_releases,
            }),
        ),
        (
            "recorded",
            json!({
                "allocator": replayed.recorded.allocator,
                "rss_peak_bytes": Some(head.peak_bytes).filter(|&bytes| bytes > 0),
                "rss_growth_bytes": Some(head.growth_bytes).filter(|&bytes| bytes > 0),
                "mapped_bytes": head.mapped_bytes,
            }),
        ),
        ("error_bytes", error.into()),
        ("touch_limit_bytes", replayed.limit_bytes.into()),
        (
            "allocators",
            replayed
                .rows
                .iter()
                .enumerate()
                .map(|(at, row)| json_row(replayed, at, row))
                .collect(),
        ),
        (
            "not_found",
            replayed
                .absent
                .iter()
                .map(|(name, hint)| json!({ "name": name, "hint": hint }))
                .collect(),
        ),
        ("notes", replayed.recorded.notes.clone().into()),
    ])
}

fn json_row(replayed: &Replayed, at: usize, row: &Row) -> Value {
    let figures = row.failed.is_none().then(|| replayed.figures(row));
    let of = |take: fn(&Figures) -> u64| figures.as_ref().map(take);
    let seconds = |take| of(take).map(|ns| ns as f64 / 1e9);
    let is_recorded = at == 0 && replayed.has_own;
    let verdict = (!is_recorded && row.failed.is_none()).then(|| replayed.verdict(row));
    let verdict = verdict.flatten().map(|verdict| {
        json!({
            "is": verdict.word(),
            "bytes": verdict.bytes,
            "percent": verdict.percent,
            "grain_bytes": verdict.grain,
        })
    });
    let settings = row.settings.iter();
    let settings: serde_json::Map<_, _> = settings
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    json!({
        "name": row.name,
        "library": row.library,
        "settings": settings,
        "is_recorded": is_recorded,
        "failed": row.failed,
        "rss_peak_bytes": of(|all| all.peak),
        "rss_peak_spread_bytes": of(|all| all.spread),
        "rss_end_bytes": of(|all| all.end),
        "live_bytes_at_rss_peak": of(|all| all.live),
        "not_live_bytes": of(|all| all.peak.saturating_sub(all.live)),
        "cpu_seconds": seconds(|all| all.cpu_ns),
        "cpu_spread_seconds": seconds(|all| all.cpu_spread_ns),
        "faults": of(|all| all.faults),
        "failed_calls": of(|all| all.failed),
        "untouched_bytes": of(|all| all.untouched),
        "own_rss_bytes": row.own.end_bytes(),
        "own_cpu_seconds": row.own.of("cpu_ns") as f64 / 1e9,
        "verdict": verdict,
        "runs": row.runs.iter().map(|run| &run.0).collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests;
