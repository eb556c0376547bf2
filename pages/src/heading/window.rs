//! What the heading says of a log that overwrote its oldest events.

use memlog_analysis::{FlightWindow, Summary};
use memlog_read::Log;

use crate::words::{Sizes, span};

/// Which part of the recording there is event by event.
pub fn line(log: &Log, summary: &Summary) -> Option<Vec<String>> {
    let window = summary.window.as_ref()?;
    let whole = log.seconds(summary.end_tick);
    let lasts = log.seconds(summary.end_tick.saturating_sub(window.horizon_tick));
    Some(vec![
        format!("the last {} of {}", span(lasts), span(whole)),
        "older events are folded into the live set".into(),
    ])
}

/// The RSS peak, where it lies among the events that were overwritten.
pub fn rss_peak(log: &Log, summary: &Summary, sizes: Sizes) -> Option<Vec<String>> {
    let window = before(summary)?;
    let bytes = sizes.of(summary.rss_peak_bytes);
    let at = log.seconds(window.folded_rss_tick);
    let own = sizes.of(summary.own_rss_bytes);
    Some(vec![
        format!("{bytes} at {at:.3} s"),
        format!("{own} of it memlog's own"),
        "what was live then is overwritten; the largest heap since stands for it".into(),
    ])
}

/// The largest heap, where it lies among the events that were overwritten: what
/// comes before the largest since.
pub fn heap_peak(log: &Log, summary: &Summary, sizes: Sizes) -> Option<Vec<String>> {
    let window = summary.window.as_ref()?;
    let at = log.seconds(window.folded_peak_tick);
    let bytes = sizes.of(window.folded_peak_bytes);
    window.is_heap_peak_before.then(|| {
        vec![
            format!("about {bytes} at {at:.3} s"),
            "what was live then is overwritten".into(),
        ]
    })
}

/// What goes behind the largest heap of a window that has it.
pub fn is_of_all(summary: &Summary) -> Option<String> {
    let window = summary.window.as_ref()?;
    let is_here = !window.is_heap_peak_before;
    is_here.then(|| "the largest of all, as far as can be told".into())
}

fn before(summary: &Summary) -> Option<&FlightWindow> {
    let window = summary.window.as_ref()?;
    window.is_rss_peak_before.then_some(window)
}
