//! The peak of resident memory, in words: when it was and what it was made of.

use memlog_analysis::{Summary, Unread};
use memlog_format::counter::Counter;
use memlog_read::Log;

use super::heading::both_ways;
use super::window;
use crate::open::{Analysis, counted, grouped};
use crate::words::{lasted, sized};

/// What is shorter is no time to speak of.
const LEAST_SECONDS: f64 = 0.000_05;

/// How high it was, when, and how well that is known; and what it was made of.
pub fn peak(log: &Log, analysis: &Analysis) -> (Vec<String>, Vec<String>) {
    let summary = &analysis.summary;
    let (peak, bracket) = (&summary.rss_peak, &summary.rss_peak.bracket);
    if summary.rss_peak_bytes == 0 {
        let text = "not known; the largest heap is taken for it";
        let counted = counted_by_kernel(log, 0);
        return (
            [text.into()].into_iter().chain(counted).collect(),
            Vec::new(),
        );
    }
    if let Some(parts) = window::rss_peak(log, summary) {
        return (parts, Vec::new());
    }
    let stopped = summary.unread.map(|unread| stopped(log, &unread));
    if let Some(stopped) = stopped.clone().filter(|_| summary.is_peak_unread()) {
        let read = format!("{} or more", both_ways(summary.rss_peak_bytes));
        let taken = "the largest heap is taken for it".into();
        return (vec![read, stopped, taken], Vec::new());
    }
    let bytes = both_ways(summary.rss_peak_bytes);
    let mut when = vec![format!("{bytes} at {:.3} s", log.seconds(peak.tick))];
    let events = counted(bracket.events, "event");
    let apart = log.seconds(bracket.to_tick.saturating_sub(bracket.from_tick));
    when.push(match bracket.events {
        _ if stopped.is_some() => stopped.unwrap_or_default(),
        _ if summary.is_lossy() => "or later, among the lost events".into(),
        // Who was killed was not read at the end.
        0 if log.end().is_none() => {
            "or later: what came after the last reading is not known".into()
        }
        0 => "known exactly: nothing happened between two readings".into(),
        _ if apart < LEAST_SECONDS => format!("known to within {events} between two readings"),
        _ => format!(
            "known to within {} or {events} between two readings",
            lasted(apart)
        ),
    });
    when.extend(counted_by_kernel(log, summary.rss_peak_bytes));
    (when, made_of(summary, analysis.rss_peak_mapped_bytes))
}

/// What the kernel counted of a killed program, where that is more than was read.
/// The count is of all that the program waited for as well, and at first that of
/// who started it.
fn counted_by_kernel(log: &Log, read_bytes: u64) -> Option<String> {
    let counted_kb = log.death()?.maxrss_kb;
    let bytes = counted_kb.saturating_mul(1024);
    let is_own = counted_kb > log.counter(Counter::MaxRssFloorKb);
    // Both are a little behind, each in its own way.
    let is_more = bytes > read_bytes.saturating_add(read_bytes / 100);
    (is_own && is_more).then(|| {
        let size = sized(bytes);
        format!("the kernel counted up to {size} in it or a child")
    })
}

/// Why nobody knows what resident memory was at last.
pub fn stopped(log: &Log, unread: &Unread) -> String {
    let at = log.seconds(unread.since_tick);
    format!(
        "readings of resident memory stopped at {at:.3} s: a seccomp filter came, and the peak \
         may lie later"
    )
}

/// What the resident memory consists of: parts of the whole. What was mapped or
/// live need not have been touched, so those parts are known only from above.
fn made_of(summary: &Summary, mapped_bytes: u64) -> Vec<String> {
    const UNSEEN: &str = "not seen by hooks (code, stacks, slack)";
    let (live, own) = (summary.rss_peak.live_bytes, summary.own_rss_bytes);
    let bracket = &summary.rss_peak.bracket;
    let own_part = format!("{}B memlog's own", grouped(own));
    let others = summary.rss_peak_bytes.saturating_sub(own);
    let Some(rest) = others.checked_sub(live) else {
        let absent = grouped(live - others);
        return vec![
            format!("{}B live heap at most", grouped(others)),
            own_part,
            format!(
                "{}B were live: {absent}B or more of it not resident",
                grouped(live)
            ),
        ];
    };
    let (live_text, rest_text) = (grouped(live), grouped(rest));
    if summary.is_lossy() {
        return vec![
            format!("{live_text}B live heap of what was recorded"),
            own_part,
            format!("{rest_text}B in lost events"),
            format!("or {UNSEEN}"),
        ];
    }
    let (heap, least) = match bracket.low_heap_bytes < live && bracket.events > 0 {
        true => {
            let low = grouped(bracket.low_heap_bytes);
            let heap = format!("{live_text}B live heap at most, {low}B at least");
            (heap, "at least ")
        }
        false => (format!("{live_text}B live heap"), ""),
    };
    let mut parts = vec![heap, own_part];
    if mapped_bytes == 0 {
        parts.push(format!("{least}{rest_text}B {UNSEEN}"));
        return parts;
    }
    let most = grouped(mapped_bytes.min(rest));
    parts.push(format!(
        "{least}{rest_text}B others: at most {most}B mapped by the program itself"
    ));
    parts.push(format!("the rest {UNSEEN}"));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapped_memory_is_told_from_what_was_not_seen() {
        let mut summary = Summary {
            rss_peak_bytes: 1000,
            own_rss_bytes: 100,
            ..Summary::default()
        };
        summary.rss_peak.live_bytes = 300;
        assert!(made_of(&summary, 0)[2].starts_with("600B not seen by hooks ("));
        let others = "600B others: at most 500B mapped by the program itself";
        assert_eq!(made_of(&summary, 500)[2], others);
        let others = "600B others: at most 600B mapped by the program itself";
        assert_eq!(made_of(&summary, 5000)[2], others);
        summary.lost_events = 7;
        let live = "300B live heap of what was recorded";
        assert_eq!(made_of(&summary, 500)[0], live);
        assert_eq!(made_of(&summary, 500)[2], "600B in lost events");
        summary.lost_events = 0;
        summary.rss_peak.live_bytes = 1900;
        assert_eq!(
            made_of(&summary, 5000),
            [
                "900B live heap at most",
                "100B memlog's own",
                "1,900B were live: 1,000B or more of it not resident"
            ]
        );
    }

    /// What is not seen is the least of what it can be where the heap is the
    /// most: the parts are parts of one whole.
    #[test]
    fn bounds_are_bounds_of_all_parts() {
        let mut summary = Summary {
            rss_peak_bytes: 1000,
            own_rss_bytes: 100,
            ..Summary::default()
        };
        summary.rss_peak.live_bytes = 300;
        summary.rss_peak.bracket.events = 9;
        summary.rss_peak.bracket.low_heap_bytes = 200;
        let parts = made_of(&summary, 0);
        assert_eq!(parts[0], "300B live heap at most, 200B at least");
        assert!(parts[2].starts_with("at least 600B not seen by hooks"));
    }
}
