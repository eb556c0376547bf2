//! The moments that a user asks for: one by a time, or many.

pub mod snapshots;

use memlog_export::When;
use memlog_read::Log;

use crate::open::Analysis;
use crate::words::Advice;
use snapshots::Pace;

/// Times are shown to the millisecond: the end as it is shown is still in the
/// log.
const SHOWN_SECONDS: f64 = 0.001;

/// What a reading has to look for.
#[derive(Clone, Copy, Default)]
pub struct Moments {
    /// One that is named.
    pub at: Option<When>,
    /// Many.
    pub snapshots: Option<Pace>,
}

impl From<Option<When>> for Moments {
    fn from(at: Option<When>) -> Self {
        Self {
            at,
            snapshots: None,
        }
    }
}

/// What a log has of time.
pub struct Span {
    /// Since when there are events; from the start unless older ones are overwritten.
    pub from_seconds: Option<f64>,
    /// When it ends.
    pub end_seconds: f64,
    /// Whether it says so itself.
    pub has_end: bool,
    /// Whether it was not read to its end.
    pub is_part: bool,
}

impl Span {
    /// That of a log that was read.
    pub fn of(log: &Log, analysis: &Analysis) -> Self {
        let summary = &analysis.summary;
        let from = summary.window.map(|window| window.horizon_tick);
        Self {
            from_seconds: from.map(|tick| log.seconds(tick)),
            end_seconds: log.seconds(summary.end_tick),
            has_end: log.end().is_some(),
            is_part: analysis.part.is_some(),
        }
    }
}

/// A time after the log's end is a slip, as of seconds for milliseconds: what
/// was live then nobody knows. Of a log that was not read to its end the part
/// that was is shown.
pub fn check(when: When, span: &Span) -> anyhow::Result<()> {
    let When::Seconds(seconds) = when else {
        return Ok(());
    };
    let end = span.end_seconds;
    if let Some(from) = span.from_seconds.filter(|from| seconds < *from) {
        return Err(Advice::error(
            format!("--at {seconds} s is before {from:.3} s: older events are overwritten"),
            format!("give a time from {from:.3} to {end:.3}"),
        ));
    }
    if seconds < end + SHOWN_SECONDS || span.is_part {
        return Ok(());
    }
    let (what, hint) = match span.has_end {
        true => ("the program ended", "the end"),
        false => ("the log's last event came", "the last event"),
    };
    Err(Advice::error(
        format!("--at {seconds} s is after {what} at {end:.3} s"),
        format!("give a time from 0 to {end:.3}, or --at end for {hint}"),
    ))
}
