//! The ranks of a job as a page: how far they are from each other, and who held what.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use memlog_answers::{By, End, Outlier, Process, Ranks, Site, SiteKey, Spread};
use serde_json::{Value, json};

use super::inputs::NO_JOB;
use super::{Args, SCHEMA, Side};
use crate::figures::place;
use crate::moment::At;
use crate::names::symbol_words;
use crate::page::heading::Heading;
use crate::page::others::Next;
use crate::page::rows::{Last, Rows, titles};
use crate::page::{OnNames, Page, Part};
use crate::words::{Sizes, counted, grouped};

/// Where what the lines say begins.
pub const INDENT: usize = 11;
/// More outliers are counted.
const OUTLIERS: usize = 5;
/// More ranks of a list are counted.
const LISTED: usize = 8;

/// All that there is to say of them.
pub fn page(args: &Args, side: &Side, sizes: Sizes) -> Page {
    let ranks = &side.taken.ranks;
    let mut heading = Heading {
        indent: INDENT,
        ..Heading::default()
    };
    heading.line("job", job(side));
    tell_missing(&mut heading, side);
    let peaks = [
        ("RSS peak", ranks.spread(|process| process.rss_peak_bytes)),
        ("heap peak", ranks.spread(|process| process.heap_peak_bytes)),
    ];
    for (name, spread) in peaks {
        heading.line(name, told(spread, ranks.processes().len() as u64, sizes));
    }
    tell_unread(&mut heading, side);
    tell_outliers(&mut heading, ranks, sizes);
    tell_node(&mut heading, ranks, sizes);
    let sorted = sorted(ranks);
    let remarks: Vec<String> = ranks.notes.iter().cloned().collect();
    let mut parts = vec![Part::Rows(rows(args, side, &sorted, sizes))];
    parts.extend(next(args, ranks).map(Part::Next));
    Page {
        figures: figures(args, side, &sorted),
        heading,
        on_names: OnNames {
            remarks,
            ..OnNames::default()
        },
        parts,
        ..Page::default()
    }
}

/// Which job, and how many ranks of it.
pub fn job(side: &Side) -> Vec<String> {
    let ranks = &side.taken.ranks;
    let job = match side.taken.job.as_str() {
        NO_JOB => "outside a job".to_owned(),
        job => job.to_owned(),
    };
    let mut parts = vec![job];
    let count = counted(ranks.processes().len() as u64, "rank");
    let nodes = counted(ranks.nodes().len() as u64, "node");
    parts.push(format!("{count} on {nodes}"));
    if side.of_other_jobs > 0 {
        let others = counted(side.of_other_jobs, "log");
        parts.push(format!("{others} of other jobs not counted"));
    }
    parts
}

/// What is not there, or not whole.
pub fn tell_missing(heading: &mut Heading, side: &Side) {
    let ranks = &side.taken.ranks;
    let missing = ranks.missing();
    if !missing.is_empty() {
        heading.alarm("missing", vec![format!("no log of {}", listed(&missing))]);
    }
    let those = |is_it: &dyn Fn(&Process) -> bool| {
        let those = ranks.processes().iter().filter(|process| is_it(process));
        joined(those.map(|one| one.rank))
    };
    let killed = those(&|process| process.end == End::None);
    let running = those(&|process| process.end == End::Runs);
    let lossy = those(&|process| process.lost_events > 0);
    for (name, those, what) in [
        (
            "no end",
            killed,
            "killed, or executed another program; counted as far as the log goes",
        ),
        ("running", running, "counted as far as the log goes now"),
        (
            "lost",
            lossy,
            "events are missing, so figures may be too low",
        ),
    ] {
        if !those.is_empty() {
            heading.alarm(name, vec![format!("{}: {what}", listed(&those))]);
        }
    }
    let damaged = those(&|process| process.finding.is_some());
    let first = ranks.processes().iter().find_map(|one| one.finding.clone());
    if let Some(finding) = first {
        heading.alarm("finding", vec![format!("{}: {finding}", listed(&damaged))]);
    }
    for (why, files) in ranks.left_out() {
        let (count, first, says) = (counted(files.count, "file"), &files.first, &files.says);
        let first = match files.count {
            1 => format!("{first}: {says}"),
            _ => format!("the first is {first}: {says}"),
        };
        heading.alarm("left out", vec![format!("{count}, {why}; {first}")]);
    }
}

/// Neighbours as one, of ranks in their order.
fn joined(ranks: impl Iterator<Item = u64>) -> Vec<RangeInclusive<u64>> {
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some(last) if last.end().checked_add(1) == Some(rank) => *last = *last.start()..=rank,
            _ => ranges.push(rank..=rank),
        }
    }
    ranges
}

/// `ranks 3, 7-9 and 12 more`.
fn listed(ranks: &[RangeInclusive<u64>]) -> String {
    let count = |range: &RangeInclusive<u64>| (range.end() - range.start()).saturating_add(1);
    let sum = |ranges: &[RangeInclusive<u64>]| {
        let counts = ranges.iter().map(count);
        counts.fold(0_u64, u64::saturating_add)
    };
    let shown = &ranks[..ranks.len().min(LISTED)];
    let words = shown
        .iter()
        .map(|range| match range.start() == range.end() {
            true => range.start().to_string(),
            false => format!("{}-{}", range.start(), range.end()),
        });
    let words = words.collect::<Vec<_>>().join(", ");
    let name = if sum(ranks) == 1 { "rank" } else { "ranks" };
    match sum(&ranks[shown.len()..]) {
        0 => format!("{name} {words}"),
        more => format!("{name} {words} and {} more", grouped(more)),
    }
}

/// How far ranks are from each other in a figure.
fn told(spread: Option<Spread>, all: u64, sizes: Sizes) -> Vec<String> {
    let Some(spread) = spread else {
        return vec!["no log tells it".to_owned()];
    };
    let of =
        |name: &str, (bytes, rank): (u64, u64)| format!("{name} {} (rank {rank})", sizes.of(bytes));
    let mut parts = vec![
        of("least", spread.least),
        of("median", spread.median),
        of("most", spread.most),
        format!(
            "{:.2} times the mean of {}",
            spread.imbalance(),
            sizes.of(spread.mean() as u64)
        ),
    ];
    parts.extend((spread.ranks < all).then(|| known(spread.ranks, all)));
    parts
}

/// What there is to say where some logs do not tell a figure.
pub fn known(ranks: u64, all: u64) -> String {
    format!("known for {} of {}", grouped(ranks), counted(all, "rank"))
}

/// Of whom resident memory is not known, and what is taken for its peak then.
pub fn tell_unread(heading: &mut Heading, side: &Side) {
    let ranks = &side.taken.ranks;
    let unread = ranks.processes().iter();
    let unread = unread.filter(|process| process.rss_peak_bytes.is_none());
    let unread = joined(unread.map(|process| process.rank));
    if unread.is_empty() {
        return;
    }
    let mut parts = vec![format!("not read in {}", listed(&unread))];
    if side.taken.settings.at == At::RSS_PEAK.to_string() {
        parts.push("what is live at the largest heap counts there".to_owned());
    }
    heading.alarm("RSS", parts);
}

fn tell_outliers(heading: &mut Heading, ranks: &Ranks, sizes: Sizes) {
    let outliers = ranks.outliers();
    let spread = ranks.spread(|process| process.rss_peak_bytes);
    let Some(spread) = spread else {
        return heading.line("outliers", vec!["no log tells an RSS peak".to_owned()]);
    };
    let rule = match spread.ranks == ranks.processes().len() as u64 {
        true => "an RSS peak more than a fifth above the mean of all ranks",
        false => "an RSS peak more than a fifth above the mean of those that are known",
    };
    if outliers.is_empty() {
        return heading.line("outliers", vec![format!("no rank has {rule}")]);
    }
    let has = if outliers.len() == 1 { "has" } else { "have" };
    let count = counted(outliers.len() as u64, "rank");
    heading.line("outliers", vec![format!("{count} {has} {rule}")]);
    for outlier in outliers.iter().take(OUTLIERS) {
        let process = outlier.process;
        let parts = vec![
            format!(
                "rank {} on {}: {}",
                process.rank,
                process.node,
                sizes.of(outlier.rss_peak_bytes)
            ),
            format!("{} % of the mean", outlier.percent),
            process.log.clone(),
        ];
        heading.line("", parts);
    }
    let more = outliers.len().saturating_sub(OUTLIERS) as u64;
    if more > 0 {
        heading.line(
            "",
            vec![format!("and {} more; --json has all", grouped(more))],
        );
    }
}

/// The node that may have needed most.
fn tell_node(heading: &mut Heading, ranks: &Ranks, sizes: Sizes) {
    let nodes = ranks.nodes();
    let most = nodes
        .iter()
        .max_by_key(|(name, node)| (node.rss_peaks_bytes, Reverse(**name)));
    let Some((name, node)) = most.filter(|_| nodes.len() > 1) else {
        return;
    };
    let Some(peaks_bytes) = node.rss_peaks_bytes else {
        return;
    };
    let is_whole = node.rss_known_ranks == node.ranks;
    let bound = if is_whole { "at most " } else { "" };
    let mut parts = vec![format!(
        "{name} {bound}{}: the RSS peaks of its {} added up",
        sizes.of(peaks_bytes),
        counted(node.rss_known_ranks, "rank")
    )];
    parts.extend((!is_whole).then(|| known(node.rss_known_ranks, node.ranks)));
    heading.line("nodes", parts);
}

/// What ranks held most first, of equals by what tells them apart.
fn sorted(ranks: &Ranks) -> Vec<(&SiteKey, &Site)> {
    let mut sorted: Vec<_> = ranks.sites().collect();
    sorted.sort_by_key(|(_, site)| Reverse(site.bytes));
    sorted
}

fn rows(args: &Args, side: &Side, sorted: &[(&SiteKey, &Site)], sizes: Sizes) -> Rows {
    let (ranks, settings) = (&side.taken.ranks, &side.taken.settings);
    let (total_bytes, total_blocks) = ranks.total();
    let (_, shown) = args.shown(sorted.len());
    let cells = |(key, site): &(&SiteKey, &Site)| {
        vec![
            match total_bytes {
                0 => String::new(),
                all => format!("{:.1}%", 100.0 * site.bytes as f64 / all as f64),
            },
            sizes.of(site.bytes),
            sizes.of(ranks.least(site)),
            sizes.of(ranks.mean(site)),
            sizes.of(site.most),
            site.most_rank.to_string(),
            grouped(site.ranks),
            key.1.clone(),
        ]
    };
    let by = settings.by.word();
    let columns = [
        "share", "bytes", "least", "mean", "most", "of rank", "ranks", by,
    ];
    Rows {
        title: format!(
            "{}{} {}, of all ranks, {}:",
            sizes.of(total_bytes),
            total_blocks.map_or_else(String::new, |blocks| {
                format!(" in {}", counted(blocks, "block"))
            }),
            live(side),
            "with the least, mean and most of a rank"
        ),
        last: Last::of(settings.by),
        columns: titles(&columns),
        gives_way: vec!["share", "ranks", "least", "mean"],
        rows: sorted[..shown].iter().map(cells).collect(),
        rest: super::super::listed::rest(args.top.unwrap_or(super::USUAL), sorted.len())
            .into_iter()
            .collect(),
    }
}

/// Which blocks are meant.
pub fn live(side: &Side) -> String {
    let settings = &side.taken.settings;
    let filter = settings.filter.as_ref();
    let filter = filter.map(|filter| format!(" where {filter}"));
    format!("live at {}{}", settings.at, filter.unwrap_or_default())
}

/// Where to look next: into the rank that was biggest.
fn next(args: &Args, ranks: &Ranks) -> Option<Next> {
    let most = ranks.spread(|process| process.rss_peak_bytes)?.most.1;
    let process = ranks.processes().iter().find(|one| one.rank == most)?;
    Some(Next {
        list: vec![("report", "who called, in the rank with the highest peak")],
        options: symbol_words(&args.symbol_files),
        file: PathBuf::from(&process.log),
    })
}

fn figures(
    args: &Args,
    side: &Side,
    sorted: &[(&SiteKey, &Site)],
) -> serde_json::Map<String, Value> {
    let (ranks, settings) = (&side.taken.ranks, &side.taken.settings);
    let (total_bytes, total_blocks) = ranks.total();
    let (shown, _) = args.shown(sorted.len());
    let rows = sorted[..shown].iter();
    let rows = rows.map(|(key, site)| json_of(ranks, settings.by, key, site));
    let mut figures = json_of_side(side);
    figures.extend(Page::keyed([
        ("schema", SCHEMA.into()),
        ("by", settings.by.word().into()),
        ("at", settings.at.as_str().into()),
        ("where", settings.filter.clone().into()),
        ("bytes", total_bytes.into()),
        ("blocks", total_blocks.into()),
        ("rows", rows.collect()),
        ("notes", json!(ranks.notes)),
    ]));
    figures
}

/// What is said of a job, without its rows.
pub fn json_of_side(side: &Side) -> serde_json::Map<String, Value> {
    let ranks = &side.taken.ranks;
    let processes = || ranks.processes().iter();
    let those = |is_it: &dyn Fn(&&Process) -> bool| {
        let those = processes().filter(is_it);
        those.map(|one| one.rank).collect::<Vec<_>>()
    };
    let nodes = ranks.nodes().into_iter().map(|(name, node)| {
        json!({
            "node": name,
            "ranks": node.ranks,
            "rss_known_ranks": node.rss_known_ranks,
            "rss_peaks_bytes": node.rss_peaks_bytes,
            "highest_bytes": node.highest_bytes,
        })
    });
    let left_out = ranks.left_out().iter().map(|(why, files)| {
        json!({"why": why, "files": files.count, "first": files.first, "says": files.says})
    });
    let missing = ranks.missing().into_iter();
    let missing = missing.map(|range| json!([range.start(), range.end()]));
    let outliers = ranks.outliers();
    Page::keyed([
        ("job", side.taken.job.as_str().into()),
        ("ranks", ranks.processes().len().into()),
        ("nodes", nodes.collect()),
        ("left_out", left_out.collect()),
        ("logs_of_other_jobs", side.of_other_jobs.into()),
        ("missing_ranks", missing.collect()),
        (
            "ranks_without_end",
            those(&|one| one.end == End::None).into(),
        ),
        ("running_ranks", those(&|one| one.end == End::Runs).into()),
        (
            "ranks_with_losses",
            those(&|one| one.lost_events > 0).into(),
        ),
        (
            "ranks_with_findings",
            those(&|one| one.finding.is_some()).into(),
        ),
        (
            "ranks_without_rss",
            those(&|one| one.rss_peak_bytes.is_none()).into(),
        ),
        (
            "rss_peak",
            json_of_spread(ranks.spread(|process| process.rss_peak_bytes)),
        ),
        (
            "heap_peak",
            json_of_spread(ranks.spread(|process| process.heap_peak_bytes)),
        ),
        ("outliers", outliers.iter().map(json_of_outlier).collect()),
    ])
}

fn json_of_spread(spread: Option<Spread>) -> Value {
    let spread = spread.map(|spread| {
        json!({
            "ranks": spread.ranks,
            "least_bytes": spread.least.0,
            "least_rank": spread.least.1,
            "median_bytes": spread.median.0,
            "median_rank": spread.median.1,
            "most_bytes": spread.most.0,
            "most_rank": spread.most.1,
            "sum_bytes": spread.sum,
            "mean_bytes": spread.mean() as u64,
            "imbalance": spread.imbalance(),
        })
    });
    spread.into()
}

fn json_of_outlier(outlier: &Outlier) -> Value {
    json!({
        "rank": outlier.process.rank,
        "node": outlier.process.node,
        "rss_peak_bytes": outlier.rss_peak_bytes,
        "percent_of_mean": outlier.percent,
        "log": outlier.process.log,
    })
}

fn json_of(ranks: &Ranks, by: By, key: &SiteKey, site: &Site) -> Value {
    let is_stack = by == By::Stack;
    let frames = site.frames.iter().map(|name| place(name));
    json!({
        "name": key.1,
        "stack_id": is_stack.then_some(key.0),
        "stack": is_stack.then(|| frames.collect::<Vec<_>>()),
        "ranks": site.ranks,
        "bytes": site.bytes,
        "blocks": site.blocks,
        "least_bytes": ranks.least(site),
        "mean_bytes": ranks.mean(site),
        "most_bytes": site.most,
        "most_rank": site.most_rank,
    })
}
