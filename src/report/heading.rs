//! What stands above the tree: both peaks, how well they are known, and what
//! is missing.

use std::io::{Result, Write};

use memlog_analysis::Summary;
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::open::{Analysis, Family, clean, grouped};

pub fn print(out: &mut impl Write, family: &Family, analysis: &Analysis) -> Result<()> {
    let (log, summary) = (family.own(), &analysis.summary);
    program(out, log, summary)?;
    rss_peak(out, log, summary)?;
    heap_peak(out, log, summary)?;
    mapped(out, summary)?;
    events(out, summary)?;
    stacks(out, summary)?;
    warnings(out, family, analysis)
}

fn program(out: &mut impl Write, log: &Log, summary: &Summary) -> Result<()> {
    let name = log.text(Key::Executable).map(clean);
    let name = name.unwrap_or_else(|| "unknown program".into());
    write!(out, "program:   {name}")?;
    if let Some(start) = log.start() {
        write!(out, ", process {}", start.pid)?;
    }
    if let Some(host) = log.text(Key::Host) {
        write!(out, " on {}", clean(host))?;
    }
    let seconds = log.seconds(summary.end_tick);
    let threads = match summary.threads {
        1 => "1 thread".to_owned(),
        count => format!("{} threads", grouped(count)),
    };
    let ended = match log.end() {
        Some(_) => "",
        None => ", no end in the log",
    };
    writeln!(out, ", {seconds:.3} s, {threads}{ended}")
}

fn rss_peak(out: &mut impl Write, log: &Log, summary: &Summary) -> Result<()> {
    let peak = &summary.rss_peak;
    let bracket = &peak.bracket;
    if summary.rss_peak_bytes == 0 {
        return writeln!(
            out,
            "RSS peak:  not known; the largest heap is taken for it"
        );
    }
    writeln!(
        out,
        "RSS peak:  {}B at {:.3} s, between the readings at {:.3} s and {:.3} s \
         ({} events, heap {}B to {}B)",
        grouped(summary.rss_peak_bytes),
        log.seconds(peak.tick),
        log.seconds(bracket.from_tick),
        log.seconds(bracket.to_tick),
        grouped(bracket.events),
        grouped(bracket.low_heap_bytes),
        grouped(bracket.high_heap_bytes),
    )?;
    let seen = peak.live_bytes.saturating_add(summary.own_rss_bytes);
    let parts = format!(
        "{}B live heap, {}B memlog's own",
        grouped(peak.live_bytes),
        grouped(summary.own_rss_bytes)
    );
    match summary.rss_peak_bytes.checked_sub(seen) {
        Some(rest) => {
            let rest = grouped(rest);
            writeln!(out, "           {parts}, {rest}B not seen by hooks")
        }
        None => {
            let over = grouped(seen - summary.rss_peak_bytes);
            writeln!(out, "           {parts}, {over}B of it not resident")
        }
    }
}

fn heap_peak(out: &mut impl Write, log: &Log, summary: &Summary) -> Result<()> {
    let peak = &summary.heap_peak;
    write!(
        out,
        "heap peak: {}B in {} blocks at {:.3} s",
        grouped(peak.bytes),
        grouped(peak.blocks),
        log.seconds(peak.tick)
    )?;
    match peak.error_bytes {
        0 => writeln!(out),
        bytes => writeln!(out, ", at most {}B off between threads", grouped(bytes)),
    }
}

/// What the program mapped itself is resident and in no heap.
fn mapped(out: &mut impl Write, summary: &Summary) -> Result<()> {
    let mapped = &summary.mapped;
    if mapped.calls == 0 {
        return Ok(());
    }
    writeln!(
        out,
        "mapped:    at most {}B at a time by {} calls of the program's own, not in the heap",
        grouped(mapped.peak_bytes),
        grouped(mapped.calls)
    )
}

fn events(out: &mut impl Write, summary: &Summary) -> Result<()> {
    let totals = &summary.totals;
    write!(
        out,
        "events:    {} allocations of {}B, {} releases; ",
        grouped(totals.allocations),
        grouped(totals.bytes),
        grouped(totals.releases)
    )?;
    if totals.inherited_blocks > 0 {
        let (blocks, bytes) = (totals.inherited_blocks, totals.inherited_bytes);
        let (blocks, bytes) = (grouped(blocks), grouped(bytes));
        write!(out, "{blocks} blocks of {bytes}B inherited by fork; ")?;
    }
    match summary.lost_events {
        0 => writeln!(out, "none lost"),
        lost => writeln!(out, "{} LOST", grouped(lost)),
    }
}

fn stacks(out: &mut impl Write, summary: &Summary) -> Result<()> {
    let cut = &summary.cut_stacks;
    write!(
        out,
        "stacks:    {} different",
        grouped(summary.distinct_stacks)
    )?;
    if cut.none() > 0 {
        write!(out, ", {} allocations without one", grouped(cut.none()))?;
    }
    if cut.cut() == 0 {
        return writeln!(out, ", none cut");
    }
    let reasons = cut.reasons();
    let reasons = reasons.map(|(name, count)| format!("{} {name}", grouped(count)));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    writeln!(
        out,
        ", {} allocations with a cut one: {reasons}",
        grouped(cut.cut())
    )
}

fn warnings(out: &mut impl Write, family: &Family, analysis: &Analysis) -> Result<()> {
    let anomalies = &analysis.summary.anomalies;
    let counted = [
        (
            anomalies.alive_twice,
            "allocations at an address that was live",
        ),
        (anomalies.released_twice, "releases of a block twice"),
        (
            anomalies.released_of_parent,
            "releases of blocks of the parent process",
        ),
        (
            anomalies.released_from_before,
            "releases of blocks of before the start",
        ),
        (
            analysis.findings.order_breaks,
            "order numbers that contradict others",
        ),
    ];
    for (count, what) in counted {
        if count > 0 {
            writeln!(out, "note: {} {what}", grouped(count))?;
        }
    }
    if let Some(sentence) = family.missing_parent {
        writeln!(out, "note: {sentence}")?;
    }
    for finding in analysis.findings.list() {
        writeln!(out, "note: {finding}")?;
    }
    Ok(())
}
