//! What stands above the tree: both peaks, how well they are known, and what
//! is missing.

use std::io::{Result, Write};

use memlog_analysis::Summary;
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::open::{Analysis, Family, clean, counted, grouped};

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
    let threads = counted(summary.threads, "thread");
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
         ({}, heap {}B to {}B)",
        grouped(summary.rss_peak_bytes),
        log.seconds(peak.tick),
        log.seconds(bracket.from_tick),
        log.seconds(bracket.to_tick),
        counted(bracket.events, "event"),
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
        "heap peak: {}B in {} at {:.3} s",
        grouped(peak.bytes),
        counted(peak.blocks, "block"),
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
        "mapped:    at most {}B at a time by {} of the program's own, not in the heap",
        grouped(mapped.peak_bytes),
        counted(mapped.calls, "call")
    )
}

fn events(out: &mut impl Write, summary: &Summary) -> Result<()> {
    let totals = &summary.totals;
    write!(
        out,
        "events:    {} of {}B, {}; ",
        counted(totals.allocations, "allocation"),
        grouped(totals.bytes),
        counted(totals.releases, "release")
    )?;
    if totals.inherited_blocks > 0 {
        let blocks = counted(totals.inherited_blocks, "block");
        let bytes = grouped(totals.inherited_bytes);
        write!(out, "{blocks} of {bytes}B inherited by fork; ")?;
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
        write!(out, ", {} without one", counted(cut.none(), "allocation"))?;
    }
    if cut.cut() == 0 {
        return writeln!(out, ", none cut");
    }
    let reasons = cut.reasons();
    let reasons = reasons.map(|(name, count)| format!("{} {name}", grouped(count)));
    let reasons = reasons.collect::<Vec<_>>().join(", ");
    writeln!(
        out,
        ", {} with a cut one: {reasons}",
        counted(cut.cut(), "allocation")
    )
}

fn warnings(out: &mut impl Write, family: &Family, analysis: &Analysis) -> Result<()> {
    let anomalies = &analysis.summary.anomalies;
    let counts = [
        (
            anomalies.alive_twice,
            "allocation",
            "at an address that was live",
        ),
        (
            anomalies.released_twice,
            "release",
            "of a block that was released before",
        ),
        (
            anomalies.released_of_parent,
            "release",
            "of a block of the parent process",
        ),
        (
            anomalies.released_from_before,
            "release",
            "of a block of before the start",
        ),
        (
            analysis.findings.order_breaks,
            "order number",
            "in contradiction to others",
        ),
    ];
    for (count, thing, what) in counts {
        if count > 0 {
            writeln!(out, "note: {} {what}", counted(count, thing))?;
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
