//! The figures of a log by name, as `memlog stats` and every page in JSON have them.

use memlog_analysis::Name;
use memlog_format::counter::ALL;
use memlog_format::meta::Key;
use memlog_read::{Findings, Log};
use serde_json::{Map, Value, json};

use crate::facts::{Imported, command_words, threads_at_once, without_unknown};
use crate::heading::{
    cut_figures, failed_figures, holders, past_us, scope_figures, switched, thread_figures,
};
use crate::open::{Analysis, Family};
use crate::words::clean;

/// The version of the keys below; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-stats-1";

/// All figures by name.
pub fn figures(family: &Family, analysis: &Analysis) -> Map<String, Value> {
    let log = family.own();
    let parts = [
        object(json!({ "schema": SCHEMA })),
        identity(log),
        traffic(log, analysis),
        peaks(log, analysis),
        failed_figures(log, analysis.tally.failures(), analysis.part.is_none()),
        quality(family, analysis),
        coverage(log, analysis),
    ];
    let mut figures = parts.into_iter().flatten().collect();
    without_unknown(log, &mut figures);
    figures
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn text(log: &Log, key: Key) -> Value {
    log.text(key).map(clean).into()
}

/// What a log is of.
pub fn identity(log: &Log) -> Map<String, Value> {
    let mut identity = object(json!({
        "made_as": text(log, Key::LogPath),
        "executable": text(log, Key::Executable),
        "command_line": command_words(log),
        "host": text(log, Key::Host),
        "job": text(log, Key::Job),
        "rank": text(log, Key::Rank),
        "rank_parent_pid": log.rank_parent(),
        "pid": log.start().map(|start| start.pid),
        "parent_pid": log.parent_pid(),
        "start_unix_ns": log.start().map(|start| start.wall_ns),
        "ended": log.end().is_some(),
    }));
    if let Some(imported) = Imported::of(log) {
        identity.insert("imported".into(), imported.figures());
    }
    identity
}

fn traffic(log: &Log, analysis: &Analysis) -> Map<String, Value> {
    let summary = &analysis.summary;
    let (totals, mapped) = (&summary.totals, &summary.mapped);
    object(json!({
        "duration_seconds": log.seconds(summary.end_tick),
        "allocations": totals.allocations,
        "releases": totals.releases,
        "temporary_allocations": totals.temporary,
        "total_bytes": totals.bytes,
        "usable_total_bytes": totals.usable_bytes,
        "end_live_bytes": summary.end_live.bytes,
        "end_live_blocks": summary.end_live.blocks,
        "usable_end_live_bytes": summary.end_usable_bytes,
        "threads": summary.threads,
        "threads_at_once": threads_at_once(log, summary.threads),
        "thread_names": analysis.tally.threads().list().iter().map(|thread| json!({
            "tid": thread.tid,
            "name": clean(&thread.name),
            "since_seconds": log.seconds(thread.since_tick),
            "renamed": thread.renamed,
        })).collect::<Vec<_>>(),
        "distinct_stacks": summary.distinct_stacks,
        "switches": switched::figures(log, analysis),
        "inherited_blocks": totals.inherited_blocks,
        "inherited_bytes": totals.inherited_bytes,
        "inherited_released_blocks": totals.inherited_released,
        "mapped_calls": mapped.calls,
        "mapped_total_bytes": mapped.total_bytes,
        "mapped_peak_bytes": mapped.peak_bytes,
        "mapped_end_bytes": mapped.live_bytes,
        "mapped_backing_calls": mapped.backing_calls,
        "mapped_backing_end_bytes": mapped.backing_bytes,
    }))
}

fn peaks(log: &Log, analysis: &Analysis) -> Map<String, Value> {
    let summary = &analysis.summary;
    let (heap, rss) = (&summary.heap_peak, &summary.rss_peak);
    let bracket = &rss.bracket;
    // What was lost may have been live then, or released.
    let is_whole = !summary.is_lossy() && !summary.is_peak_unread();
    let unseen = summary.resident().filter(|_| is_whole);
    let unseen = unseen.map(|resident| resident.parts.unseen);
    object(json!({
        "heap_peak_bytes": heap.bytes,
        "heap_peak_blocks": heap.blocks,
        "heap_peak_seconds": log.seconds(heap.tick),
        "heap_peak_error_bytes": heap.error_bytes,
        "usable_heap_peak_bytes": heap.usable_bytes,
        "rss_peak_bytes": summary.rss_peak_bytes,
        "rss_peak_seconds": log.seconds(rss.tick),
        "rss_peak_live_bytes": rss.live_bytes,
        "rss_peak_live_blocks": rss.live_blocks,
        "rss_peak_live_by_thread": thread_figures(analysis),
        "rss_peak_live_by_scope": scope_figures(analysis),
        "usable_rss_peak_live_bytes": rss.live_usable_bytes,
        "rss_peak_mapped_bytes": summary.rss_peak_mapped_bytes,
        "rss_peak_unseen_bytes": unseen,
        "own_rss_bytes": summary.own_rss_bytes,
        "cpu_seconds": summary.cpu_us.map(|us| us as f64 / 1e6),
        "flight_recorder": summary.window.map(|window| json!({
            "bound_bytes": window.bound_bytes,
            "window_from_seconds": log.seconds(window.horizon_tick),
            "folded_chunks": window.folded_chunks,
            "folded_rss_peak_bytes": window.folded_rss.kb.saturating_mul(1024),
            "folded_rss_peak_seconds": log.seconds(window.folded_rss_tick),
            "folded_heap_peak_bytes": window.folded_peak_bytes,
            "folded_heap_peak_seconds": log.seconds(window.folded_peak_tick),
            "rss_peak_is_before": window.is_rss_peak_before,
            "heap_peak_is_before": window.is_heap_peak_before,
        })),
        "stripped": log.left_out().map(|stripped| json!({
            "below_seconds": stripped.below_ns.map(|ns| ns as f64 / 1e9),
            "while_recording": stripped.by_recorder,
            "blocks": summary.totals.passed.blocks,
            "bytes": summary.totals.passed.bytes,
        })),
        "rss_readings": summary.rss_readings,
        "rss_unread_since_seconds": summary.unread.map(|unread| log.seconds(unread.since_tick)),
        "rss_peak_reading_bytes": rss.level.kb.saturating_mul(1024),
        "rss_peak_bracket": {
            "from_seconds": log.seconds(bracket.from_tick),
            "to_seconds": log.seconds(bracket.to_tick),
            "events": bracket.events,
            "low_heap_bytes": is_whole.then_some(bracket.low_heap_bytes),
            "high_heap_bytes": is_whole.then_some(bracket.high_heap_bytes),
        },
    }))
}

fn coverage(log: &Log, analysis: &Analysis) -> Map<String, Value> {
    let past = past_us(log).into_iter();
    let past = past.map(|(reason, name)| json!({ "name": name, "reason": reason }));
    object(json!({
        "coverage": analysis.coverage.map(|coverage| json!({
            "rss_growth_bytes": coverage.growth_bytes,
            "explained_bytes": coverage.explained_bytes(),
            "heap_bytes": coverage.heap_bytes,
            "mapped_bytes": coverage.mapped_bytes,
            "reserved_bytes": analysis.reserved_bytes,
            "percent": coverage.percent(),
            "is_low": coverage.is_low(),
            "holders": holders(log, analysis),
        })),
        "unrecorded_libraries": past.collect::<Vec<_>>(),
    }))
}

fn quality(family: &Family, analysis: &Analysis) -> Map<String, Value> {
    let log = family.own();
    let (summary, findings) = (&analysis.summary, &analysis.findings);
    let anomalies = &summary.anomalies;
    let reasons = summary.cut_stacks.reasons();
    let reasons: Map<_, _> = reasons
        .map(|(name, count)| (name.into(), count.into()))
        .collect();
    object(json!({
        "lost_events": summary.lost_events,
        "cut_stacks": summary.cut_stacks.cut(),
        "cut_stacks_by_reason": reasons,
        "cut_stacks_by_module": cut_figures(analysis),
        "stackless_allocations": summary.cut_stacks.none(),
        "allocations_of_live_addresses": anomalies.alive_twice,
        "unknown_releases": {
            "twice": anomalies.released_twice,
            "before_start": anomalies.released_from_before,
            "of_parent": anomalies.released_of_parent,
        },
        "order_gaps": findings.order_gaps,
        "order_breaks": findings.order_breaks,
        "findings": found_wrong(family, findings),
        "findings_count": findings.count(),
        "counters": counters(log),
    }))
}

/// A place of a stack.
pub fn place(name: &Name) -> Value {
    json!({
        "function": name.function,
        "location": name.location,
        "module": name.module,
    })
}

/// What the reader found wrong, in sentences.
pub fn found_wrong(family: &Family, findings: &Findings) -> Vec<String> {
    let sentences = findings.list().iter().map(ToString::to_string);
    let sentences = sentences.chain(family.missing_parent.map(str::to_owned));
    sentences.collect()
}

/// What the recorder counted.
pub fn counters(log: &Log) -> Map<String, Value> {
    let counters = ALL.iter();
    let counters = counters.map(|&(counter, name)| (name.into(), log.counter(counter).into()));
    counters.collect()
}
