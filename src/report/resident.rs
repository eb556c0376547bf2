//! The peak of resident memory, in words: when it was and what it was made of.

use memlog_analysis::{Summary, Unread};
use memlog_format::counter::Counter;
use memlog_read::Log;

use super::window;
use crate::open::{Analysis, counted};
use crate::words::{Sizes, lasted};

/// What is shorter is no time to speak of.
const LEAST_SECONDS: f64 = 0.000_05;

/// How high it was, when, and how well that is known; and what it was made of.
pub fn peak(log: &Log, analysis: &Analysis, sizes: Sizes) -> (Vec<String>, Vec<String>) {
    let summary = &analysis.summary;
    let (peak, bracket) = (&summary.rss_peak, &summary.rss_peak.bracket);
    if summary.rss_peak_bytes == 0 {
        let text = "not known; the largest heap is taken for it";
        let counted = counted_by_kernel(log, 0, sizes);
        return (
            [text.into()].into_iter().chain(counted).collect(),
            Vec::new(),
        );
    }
    if let Some(parts) = window::rss_peak(log, summary, sizes) {
        return (parts, Vec::new());
    }
    let stopped = summary.unread.map(|unread| stopped(log, &unread));
    if let Some(stopped) = stopped.clone().filter(|_| summary.is_peak_unread()) {
        let read = format!("{} or more", sizes.of(summary.rss_peak_bytes));
        let taken = "the largest heap is taken for it".into();
        return (vec![read, stopped, taken], Vec::new());
    }
    let bytes = sizes.of(summary.rss_peak_bytes);
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
        0 => "exact: no event between two readings".into(),
        _ if apart < LEAST_SECONDS => format!("within {events} between two readings"),
        _ => format!("±{} ({events} between two readings)", lasted(apart)),
    });
    when.extend(counted_by_kernel(log, summary.rss_peak_bytes, sizes));
    let mapped_bytes = analysis.rss_peak_mapped_bytes;
    (when, made_of(summary, mapped_bytes, sizes))
}

/// What the kernel counted of a killed program, where that is more than was read.
/// The count is of all that the program waited for as well, and at first that of
/// who started it.
fn counted_by_kernel(log: &Log, read_bytes: u64, sizes: Sizes) -> Option<String> {
    let counted_kb = log.death()?.maxrss_kb;
    let bytes = counted_kb.saturating_mul(1024);
    let is_own = counted_kb > log.counter(Counter::MaxRssFloorKb);
    // Both are a little behind, each in its own way.
    let is_more = bytes > read_bytes.saturating_add(read_bytes / 100);
    (is_own && is_more).then(|| {
        let size = sizes.of(bytes);
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
fn made_of(summary: &Summary, mapped_bytes: u64, sizes: Sizes) -> Vec<String> {
    const UNSEEN: &str = "not seen by hooks (freed but kept, stacks, code)";
    let (live, own) = (summary.rss_peak.live_bytes, summary.own_rss_bytes);
    let whole = summary.rss_peak_bytes;
    let own_part = format!("{} memlog's own", sizes.of(own));
    let others = whole.saturating_sub(own);
    let Some(rest) = others.checked_sub(live) else {
        let absent = sizes.of(live - others);
        return vec![
            format!("at most {} live heap", sizes.of(others)),
            own_part,
            format!(
                "{} were live: {absent} or more of it not resident",
                sizes.of(live)
            ),
        ];
    };
    if summary.is_lossy() {
        return vec![
            format!("{} live heap of what was recorded", sizes.of(live)),
            own_part,
            format!("{} in lost events", sizes.of(rest)),
            format!("or {UNSEEN}"),
        ];
    }
    let is_much = |bytes: u64| bytes >= whole.div_ceil(100);
    let low = summary.rss_peak.bracket.low_heap_bytes;
    let is_range = summary.rss_peak.bracket.events > 0 && is_much(live.saturating_sub(low));
    let mut parts = vec![match is_range {
        true => format!("{} to {} live heap", sizes.of(low), sizes.of(live)),
        false => format!("{} live heap", sizes.of(live)),
    }];
    let rounding = summary.rss_peak.live_usable_bytes.saturating_sub(live);
    let mut rest = rest;
    if is_much(rounding) {
        let rounding = rounding.min(rest);
        rest -= rounding;
        parts.push(format!("{} rounded up by malloc", sizes.of(rounding)));
    }
    let before = before_recording(summary).min(rest);
    let mapped = mapped_bytes.min(rest - before);
    if mapped > 0 {
        let mapped = sizes.of(mapped);
        parts.push(format!("at most {mapped} mapped by the program itself"));
    }
    if before > 0 {
        let before = sizes.of(before);
        parts.push(format!("{before} from before recording (code, libraries)"));
    }
    parts.push(own_part);
    // The others are the most that they can be.
    let least = if mapped > 0 || is_range {
        "at least "
    } else {
        ""
    };
    let rest = rest - mapped - before;
    if rest > 0 {
        parts.push(format!("{least}{} {UNSEEN}", sizes.of(rest)));
    }
    let kept = kept(summary).min(rest);
    if is_much(kept) {
        let kept = sizes.of(kept);
        parts.push(format!("up to {kept} of that freed, but kept by malloc"));
    }
    parts
}

/// What was resident when recording began: nothing had been recorded then.
fn before_recording(summary: &Summary) -> u64 {
    let first = summary.first_reading.filter(|first| first.tick == 0);
    first.map_or(0, |first| {
        let kb = first.kb.saturating_sub(first.own_kb);
        kb.saturating_mul(1024)
            .saturating_sub(first.live_usable_bytes.max(first.live_bytes))
    })
}

/// What the heap had given back since it was largest, which malloc may keep.
fn kept(summary: &Summary) -> u64 {
    let (highest, then) = (&summary.heap_peak, &summary.rss_peak);
    match highest.tick < then.tick {
        true => {
            let given = highest.usable_bytes.max(highest.bytes);
            given.saturating_sub(then.live_usable_bytes.max(then.live_bytes))
        }
        false => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_analysis::FirstReading;

    fn made_of(summary: &Summary, mapped_bytes: u64) -> Vec<String> {
        super::made_of(summary, mapped_bytes, Sizes::Exact)
    }

    fn peak(bytes: u64) -> Summary {
        let mut summary = Summary {
            rss_peak_bytes: bytes,
            own_rss_bytes: 100,
            ..Summary::default()
        };
        summary.rss_peak.live_bytes = 300;
        summary
    }

    const UNSEEN: &str = "not seen by hooks (freed but kept, stacks, code)";

    #[test]
    fn mapped_memory_is_told_from_what_was_not_seen() {
        let mut summary = peak(1000);
        assert_eq!(made_of(&summary, 0)[2], format!("600B {UNSEEN}"));
        let parts = [
            "300B live heap",
            "at most 500B mapped by the program itself",
            "100B memlog's own",
        ];
        assert_eq!(made_of(&summary, 500)[..3], parts);
        let least = format!("at least 100B {UNSEEN}");
        assert_eq!(made_of(&summary, 500)[3], least);
        let mapped = "at most 600B mapped by the program itself";
        assert_eq!(made_of(&summary, 5000)[1], mapped);
        assert_eq!(made_of(&summary, 5000).len(), 3, "nothing is left");
        summary.lost_events = 7;
        let live = "300B live heap of what was recorded";
        assert_eq!(made_of(&summary, 500)[0], live);
        assert_eq!(made_of(&summary, 500)[2], "600B in lost events");
        summary.lost_events = 0;
        summary.rss_peak.live_bytes = 1900;
        assert_eq!(
            made_of(&summary, 5000),
            [
                "at most 900B live heap",
                "100B memlog's own",
                "1,900B were live: 1,000B or more of it not resident"
            ]
        );
    }

    /// What is not seen is the least of what it can be where the heap is the
    /// most: the parts are parts of one whole. A range of less than a hundredth
    /// of it is none.
    #[test]
    fn bounds_are_bounds_of_all_parts() {
        let mut summary = peak(1000);
        summary.rss_peak.bracket.events = 9;
        summary.rss_peak.bracket.low_heap_bytes = 200;
        let parts = made_of(&summary, 0);
        assert_eq!(parts[0], "200B to 300B live heap");
        assert!(parts[2].starts_with("at least 600B not seen by hooks"));
        summary.rss_peak.bracket.low_heap_bytes = 291;
        let parts = made_of(&summary, 0);
        assert_eq!(parts[0], "300B live heap");
        assert!(parts[2].starts_with("600B not seen by hooks"));
    }

    /// What the log knows of the rest: what malloc rounded up, what was there
    /// before, what it may have kept.
    #[test]
    fn what_was_not_seen_is_split() {
        let mut summary = peak(10_240);
        summary.rss_peak.live_usable_bytes = 420;
        summary.first_reading = Some(FirstReading {
            kb: 3,
            own_kb: 1,
            live_usable_bytes: 48,
            ..FirstReading::default()
        });
        summary.heap_peak.tick = 4;
        summary.heap_peak.usable_bytes = 2000;
        summary.rss_peak.tick = 9;
        let expected = [
            "300B live heap",
            "120B rounded up by malloc",
            "2,000B from before recording (code, libraries)",
            "100B memlog's own",
            &format!("7,720B {UNSEEN}"),
            "up to 1,580B of that freed, but kept by malloc",
        ];
        assert_eq!(made_of(&summary, 0), expected);
        summary.rss_peak.tick = 4;
        assert_eq!(made_of(&summary, 0), expected[..5]);
        // What is not told stays in the rest.
        summary.rss_peak.live_usable_bytes = 310;
        let rest = format!("7,840B {UNSEEN}");
        assert_eq!(made_of(&summary, 0).last(), Some(&rest));
    }
}
