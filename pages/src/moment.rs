//! The moment that a user names by a time.

use memlog_export::When;
use memlog_read::Log;

use crate::open::Analysis;
use crate::words::Advice;

/// Times are shown to the millisecond: the end as it is shown is still in the
/// log.
const SHOWN_SECONDS: f64 = 0.001;

/// A time after the log's end is a slip, as of seconds for milliseconds: what
/// was live then nobody knows. Of a log that was not read to its end the part
/// that was is shown.
pub fn check(when: When, log: &Log, analysis: &Analysis) -> anyhow::Result<()> {
    let When::Seconds(seconds) = when else {
        return Ok(());
    };
    if let Some(window) = analysis.summary.window
        && seconds < log.seconds(window.horizon_tick)
    {
        let (from, to) = (window.horizon_tick, analysis.summary.end_tick);
        let (from, to) = (log.seconds(from), log.seconds(to));
        return Err(Advice::error(
            format!("--at {seconds} s is before {from:.3} s: older events are overwritten"),
            format!("give a time from {from:.3} to {to:.3}"),
        ));
    }
    let end = log.seconds(analysis.summary.end_tick);
    if seconds < end + SHOWN_SECONDS || analysis.part.is_some() {
        return Ok(());
    }
    let (what, hint) = match log.end() {
        Some(_) => ("the program ended", "the end"),
        None => ("the log's last event came", "the last event"),
    };
    Err(Advice::error(
        format!("--at {seconds} s is after {what} at {end:.3} s"),
        format!("give a time from 0 to {end:.3}, or --at end for {hint}"),
    ))
}
