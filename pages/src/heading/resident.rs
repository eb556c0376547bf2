//! The peak of resident memory, in words: when it was and what it was made of.

use memlog_analysis::{Later, Parts, Precision, Resident, Summary, Unread, Why};
use memlog_format::counter::Counter;
use memlog_format::meta::Lack;
use memlog_read::Log;

use super::switched::was_attached;
use super::{unseen, window};
use crate::facts::{Imported, is_unknown};
use crate::open::Analysis;
use crate::words::{Sizes, counted, lasted};

/// Memory that grows for longer without an event was touched, not allocated.
const LONG_SECONDS: f64 = 0.05;
/// Less that is not seen by hooks is no question.
const UNSEEN_LEAST: u64 = 8 << 20;
/// What is shorter is no time to speak of.
const LEAST_SECONDS: f64 = 0.000_05;

/// How high it was, when, and how well that is known; and what it was made of.
pub fn peak(log: &Log, analysis: &Analysis, sizes: Sizes) -> (Vec<String>, Vec<String>) {
    let summary = &analysis.summary;
    let bytes = sizes.of(summary.rss_peak_bytes);
    if summary.rss_peak_bytes == 0 {
        let has_peak = !is_unknown(log, Lack::Peak) && !is_unknown(log, Lack::Live);
        let text = match has_peak {
            true => "not known; the largest heap is taken for it",
            false => "not known",
        };
        let counted = counted_by_kernel(log, 0, sizes);
        return (
            [text.into()].into_iter().chain(counted).collect(),
            Vec::new(),
        );
    }
    if let Some(parts) = window::rss_peak(log, summary, sizes) {
        return (parts, Vec::new());
    }
    let Some(resident) = summary.resident() else {
        let mut parts = vec![format!("{bytes} or more")];
        parts.extend(summary.unread.map(|unread| stopped(log, &unread)));
        parts.extend(counted_by_kernel(log, summary.rss_peak_bytes, sizes));
        parts.push("the largest heap is taken for it".into());
        return (parts, Vec::new());
    };
    let mut when = vec![format!("{bytes} {}", moment(log, summary, &resident))];
    when.extend(certainty(log, summary, &resident, sizes));
    when.extend(counted_by_kernel(log, summary.rss_peak_bytes, sizes));
    let seen = match Imported::of(log) {
        Some(_) => Seen::ByAnother,
        None if was_attached(analysis) => Seen::Later,
        None => Seen::FromStart,
    };
    let mut parts = made_of(summary, &resident.parts, seen, sizes);
    let much = UNSEEN_LEAST.max(summary.rss_peak_bytes / 10);
    let largest = unseen::largest(log, &analysis.tally, sizes, much);
    let is_much = resident.parts.unseen > much && !log.censuses().is_empty();
    match (largest, is_much) {
        (Some(largest), _) => parts.push(format!("{largest} (see `memlog rss`)")),
        (None, true) => parts.push("`memlog rss` says what that is".into()),
        (None, false) => {}
    }
    (when, parts)
}

/// When it was: a span where memory was touched without a call.
fn moment(log: &Log, summary: &Summary, resident: &Resident) -> String {
    let bracket = &summary.rss_peak.bracket;
    let [from, to] = [bracket.from_tick, bracket.to_tick].map(|tick| log.seconds(tick));
    match resident.precision {
        Precision::Exact if to - from >= LONG_SECONDS => format!("between {from:.3} and {to:.3} s"),
        _ => format!("at {:.3} s", log.seconds(summary.rss_peak.tick)),
    }
}

/// How well the moment is known.
fn certainty(log: &Log, summary: &Summary, resident: &Resident, sizes: Sizes) -> Vec<String> {
    let place = match resident.precision {
        Precision::Exact => match log.counter(Counter::CulledBytes) {
            0 => "exact: no event between two readings".to_owned(),
            bytes => format!(
                "exact but for {} of blocks that were left out",
                sizes.of(bytes)
            ),
        },
        Precision::Near { below_bytes } => {
            format!("the largest heap within {} of it", sizes.of(below_bytes))
        }
        Precision::Within { events, ticks } => {
            let (events, apart) = (counted(events, "event"), log.seconds(ticks));
            match apart < LEAST_SECONDS {
                true => format!("within {events} between two readings"),
                false => format!("±{} ({events} between two readings)", lasted(apart)),
            }
        }
    };
    let later = match (resident.later, summary.unread) {
        (Some(Later::Filter), Some(unread)) => stopped(log, &unread),
        (Some(Later::Lost), _) => "or later, among the lost events".into(),
        (Some(_), _) => "or later: what came after the last reading is not known".into(),
        (None, _) => return vec![place],
    };
    match (resident.later, resident.precision) {
        (Some(Later::NoEnd), Precision::Near { .. } | Precision::Within { .. }) => {
            vec![place, later]
        }
        _ => vec![later],
    }
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
    match unread.why {
        Why::Filter => format!(
            "readings of resident memory stopped at {at:.3} s: a seccomp filter came, and the \
             peak may lie later"
        ),
        Why::NoEnd => format!("not read since {at:.3} s, with a larger heap"),
    }
}

/// By whom its readings are, and since when.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    FromStart,
    /// Memlog attached to it: malloc had memory already, and hands it out again.
    Later,
    /// Of another tool.
    ByAnother,
}

/// What the resident memory consists of: parts of the whole.
fn made_of(summary: &Summary, parts: &Parts, seen: Seen, sizes: Sizes) -> Vec<String> {
    let is_imported = seen == Seen::ByAnother;
    // Another tool's readings have its own memory in them.
    let (own, unseen) = match is_imported {
        true => (
            None,
            "not seen by hooks (freed but kept, stacks, code, the recorder's own)",
        ),
        false => (
            Some(format!("{} memlog's own", sizes.of(parts.own))),
            "not seen by hooks (freed but kept, stacks, code)",
        ),
    };
    let heap = sizes.of(parts.heap);
    let most = if parts.is_crowded { "at most " } else { "" };
    let live = sizes.of(summary.rss_peak.live_bytes);
    let absent = sizes.of(parts.absent);
    let absent = (parts.absent > 0 && seen != Seen::Later)
        .then(|| format!("{live} were live: {absent} or more of it not resident"));
    if parts.is_lossy {
        let recorded = format!("{most}{heap} live heap of what was recorded");
        let mut told = vec![recorded];
        told.extend(own);
        match absent {
            Some(absent) => told.push(absent),
            None => told.extend([
                format!("{} in lost events", sizes.of(parts.unseen)),
                format!("or {unseen}"),
            ]),
        }
        return told;
    }
    let mut told = vec![match parts.low_heap {
        Some(low) if !parts.is_crowded => format!("{} to {heap} live heap", sizes.of(low)),
        _ => format!("{most}{heap} live heap"),
    }];
    if parts.rounded > 0 {
        let rounded = sizes.of(parts.rounded);
        let as_glibc = if is_imported {
            ", as glibc has them"
        } else {
            ""
        };
        told.push(format!(
            "{most}{rounded} malloc's own (rounding, block headers{as_glibc})"
        ));
    }
    if parts.mapped > 0 {
        let mapped = sizes.of(parts.mapped);
        told.push(format!("at most {mapped} mapped by the program itself"));
    }
    if parts.before > 0 {
        let before = sizes.of(parts.before);
        let what = match seen {
            Seen::Later => "code, libraries, memory that malloc had, in which new blocks may lie",
            Seen::FromStart | Seen::ByAnother => "code, libraries",
        };
        told.push(format!("{before} from before recording ({what})"));
    }
    told.extend(own);
    if parts.unseen > 0 {
        let least = if parts.is_least() { "at least " } else { "" };
        told.push(format!("{least}{} {unseen}", sizes.of(parts.unseen)));
    }
    if parts.freed > 0 {
        let freed = sizes.of(parts.freed);
        told.push(format!("up to {freed} of that freed, but kept by malloc"));
    }
    told.extend(absent);
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(parts: &Parts, live_bytes: u64) -> Vec<String> {
        let mut summary = Summary::default();
        summary.rss_peak.live_bytes = live_bytes;
        made_of(&summary, parts, Seen::FromStart, Sizes::Exact)
    }

    const PARTS: Parts = Parts {
        heap: 300,
        absent: 0,
        low_heap: None,
        rounded: 120,
        mapped: 0,
        before: 2000,
        own: 100,
        unseen: 7720,
        freed: 1580,
        is_crowded: false,
        is_lossy: false,
    };

    #[test]
    fn each_part_that_there_is_is_told() {
        let expected = [
            "300B live heap",
            "120B malloc's own (rounding, block headers)",
            "2,000B from before recording (code, libraries)",
            "100B memlog's own",
            "7,720B not seen by hooks (freed but kept, stacks, code)",
            "up to 1,580B of that freed, but kept by malloc",
        ];
        assert_eq!(of(&PARTS, 300), expected);
        let own = Parts {
            heap: 300,
            own: 100,
            ..Parts::default()
        };
        assert_eq!(of(&own, 300), ["300B live heap", "100B memlog's own"]);
    }

    #[test]
    fn bounds_are_told_as_bounds() {
        let mut parts = Parts {
            low_heap: Some(200),
            mapped: 500,
            ..PARTS
        };
        let told = of(&parts, 300);
        assert_eq!(told[0], "200B to 300B live heap");
        assert_eq!(told[2], "at most 500B mapped by the program itself");
        assert!(told[5].starts_with("at least 7,720B not seen by hooks"));
        parts.is_crowded = true;
        parts.absent = 40;
        let told = of(&parts, 340);
        assert_eq!(told[0], "at most 300B live heap");
        assert_eq!(
            told[1],
            "at most 120B malloc's own (rounding, block headers)"
        );
        let absent = "340B were live: 40B or more of it not resident";
        assert_eq!(told.last().map(String::as_str), Some(absent));
        // They may lie in memory of before, which is resident.
        let mut summary = Summary::default();
        summary.rss_peak.live_bytes = 340;
        let told = made_of(&summary, &parts, Seen::Later, Sizes::Exact).join("; ");
        assert!(!told.contains("not resident"), "{told}");
        assert!(told.contains("in which new blocks may lie"), "{told}");
    }

    #[test]
    fn what_was_lost_may_be_anything() {
        let parts = Parts {
            heap: 300,
            own: 100,
            unseen: 600,
            is_lossy: true,
            ..Parts::default()
        };
        let told = of(&parts, 300);
        assert_eq!(told[0], "300B live heap of what was recorded");
        assert_eq!(told[2], "600B in lost events");
    }
}
