//! What a reader has to know besides the figures, in sentences.

use memlog_format::counter::Counter;
use memlog_format::meta::Key;
use memlog_read::Log;

use super::coverage::{holders, told_past_us};
use super::{cuts, switched};
use crate::facts::{Bounds, Imported, fate, gap_of, left_out, may_lack, note};
use crate::open::{Analysis, Family};
use crate::words::counted;

/// All of them.
pub fn notes(family: &Family, analysis: &Analysis) -> Vec<String> {
    let holders = holders(family.own(), analysis);
    sentences(family, analysis, holders)
}

/// What matters to who asks about blocks: nothing of memory that no call asked for.
pub fn notes_on_blocks(family: &Family, analysis: &Analysis) -> Vec<String> {
    let mut notes = sentences(family, analysis, Vec::new());
    notes.extend(stripped(family.own(), analysis));
    notes
}

fn sentences(family: &Family, analysis: &Analysis, holders: Vec<String>) -> Vec<String> {
    let sentences = [
        recorders_notes(family.own()),
        told_past_us(family.own()),
        holders,
        switched::sentences(family.own(), analysis),
        Vec::from_iter(empty(family.own(), analysis)),
        Vec::from_iter(losses(family.own())),
        Vec::from_iter(lacking(family.own()).map(str::to_owned)),
        cuts::sentences(family.own(), analysis),
        anomalies(family.own(), analysis),
        Vec::from_iter(family.missing_parent.map(str::to_owned)),
        Vec::from_iter(analysis.findings.list().iter().map(ToString::to_string)),
    ];
    sentences.into_iter().flatten().collect()
}

/// What is not known of blocks whose events were left out.
fn stripped(log: &Log, analysis: &Analysis) -> Option<String> {
    let stripped = log.left_out()?;
    let blocks = counted(analysis.summary.totals.passed.blocks, "block");
    let which = left_out(stripped);
    let how = match stripped.by_recorder {
        true => "culled",
        false => "stripped",
    };
    Some(format!(
        "the log is {how}: {blocks} {which} are in the sums only; when they were live is not \
         known, but for the peaks"
    ))
}

/// What the recorder had to say, each sentence once.
fn recorders_notes(log: &Log) -> Vec<String> {
    let mut notes = Vec::new();
    for text in log.texts(Key::Note) {
        let note = note(text);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// Why a log may have no allocation.
fn empty(log: &Log, analysis: &Analysis) -> Option<String> {
    let summary = &analysis.summary;
    if analysis.part.is_some()
        || summary.totals.allocations > 0
        || summary.lost_events > 0
        || damage(analysis).is_some()
        || lacking(log).is_some()
    {
        return None;
    }
    if Imported::of(log).is_some() {
        return Some("the imported file has no allocation".into());
    }
    if switched::never_on(log, analysis) {
        return Some(
            "no allocation was recorded: recording was never switched on (`memlog ctl PID start`, \
             memlog_start, or record --after)"
                .into(),
        );
    }
    Some(match log.text(Key::Note) {
        Some(_) => "no allocation was recorded; the notes above may say why".into(),
        None => "no allocation was recorded: the program made none or ended before, it has a \
                 malloc of its own, or it was linked with -lmemlog after -lc, or statically \
                 without the flags of `memlog ldflags --static`"
            .into(),
    })
}

/// What lost events mean for the figures.
fn losses(log: &Log) -> Option<String> {
    let no_room = log.counter(Counter::LostNoRoom);
    let refused = log.counter(Counter::LogRefused);
    let bounds = Bounds::of(log.texts(Key::Setting)).refused(refused);
    (no_room > 0).then(|| {
        let fate = fate(Counter::LostNoRoom, bounds);
        let events = counted(no_room, "event");
        format!("{events} {fate}; the figures are of what came before")
    })
}

/// What to say where nobody knows what was lost.
pub fn lacking(log: &Log) -> Option<&'static str> {
    may_lack(log.end().is_some(), log.texts(Key::Setting))
}

fn anomalies(log: &Log, analysis: &Analysis) -> Vec<String> {
    let anomalies = &analysis.summary.anomalies;
    let from_before = match switched::was_off(log, analysis) {
        true if switched::was_attached(analysis) => {
            "of inherited blocks, allocated before memlog attached or while recording was off"
        }
        true => "of blocks that were allocated while recording was off",
        false => {
            "of blocks whose allocation was not seen (allocated before the recorder started or \
             through a function that is not wrapped)"
        }
    };
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
        (anomalies.released_from_before, "release", from_before),
        (
            analysis.findings.order_breaks,
            "order number",
            "in contradiction to others",
        ),
    ];
    let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
    let sentences = counts.map(|(count, thing, what)| format!("{} {what}", counted(count, thing)));
    sentences.collect()
}

/// Why what was recorded may be less than there was.
pub fn gap(family: &Family, analysis: &Analysis) -> Option<String> {
    let lost = Some(analysis.summary.lost_events).filter(|&lost| lost > 0);
    let lost = lost.map(|lost| format!("{} lost", counted(lost, "event")));
    let lost = lost.or_else(|| damage(analysis));
    let lost = lost.or_else(|| lacking(family.own()).map(str::to_owned));
    let lost = lost.or_else(|| family.missing_parent.map(str::to_owned));
    let lost = lost.or_else(|| gap_of(family.own()).map(str::to_owned));
    let lost = lost.or_else(|| told_past_us(family.own()).into_iter().next());
    lost.or_else(|| unseen(family.own(), analysis))
}

/// Why there may have been allocations though none was recorded.
fn unseen(log: &Log, analysis: &Analysis) -> Option<String> {
    // Who was forked and then asked for nothing was seen nevertheless.
    let sentence = empty(log, analysis).filter(|_| log.parent_pid().is_none())?;
    let notes = recorders_notes(log);
    Some(match notes.is_empty() {
        true => sentence,
        false => format!("no allocation was recorded: {}", notes.join("; ")),
    })
}

/// What shows that the file is not as it was written. A cut between two chunks
/// is no finding, but takes tables away.
pub fn damage(analysis: &Analysis) -> Option<String> {
    let findings = analysis.damages();
    let mut reasons = analysis.summary.cut_stacks.reasons();
    if findings > 0 {
        let findings = counted(findings, "finding");
        return Some(format!("the log is damaged: {findings}, see memlog info"));
    }
    let is_lacking = reasons.any(|(name, _)| name == "stack not in the log");
    is_lacking.then(|| "the log is cut short or damaged: it lacks stacks".into())
}
