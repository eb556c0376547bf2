//! The heading of a page: what it shows, both peaks, and what is not known.

use memlog_analysis::{Held, Later, Moment, Parts, Precision, Summary, Why};

use crate::ask::When;
use crate::numbers::{both_ways, counted, percentage, sized};

/// What the log is of, and what stands in no figure of the analysis.
#[derive(Clone, Debug, Default)]
pub struct Subject {
    /// The program.
    pub program: String,
    /// The process, and its host.
    pub process: Option<String>,
    /// Nanoseconds of a tick.
    pub tick_ns: u64,
    /// Whether the log has an end.
    pub has_ended: bool,
    /// What the program had mapped itself at the moment and could touch.
    pub mapped: Held,
    /// Besides it, what it had mapped then without any access.
    pub reserved_bytes: u64,
    /// Whether it is not known how many blocks there were.
    pub lacks_counts: bool,
    /// Whether threads are not known.
    pub lacks_threads: bool,
    /// Whether the unit of times is not known.
    pub lacks_times: bool,
}

const UNKNOWN: &str = "(unknown)";

/// The lines of the heading; the first is the title. `heap` is what of the heap
/// is shown.
pub fn legend(subject: &Subject, summary: &Summary, shown: When, heap: Held) -> Vec<String> {
    let page = Page {
        subject,
        summary,
        shown,
        heap,
    };
    let mut lines = vec![page.title(), page.program(), page.heap()];
    lines.extend(page.mapped());
    lines.extend(page.rss());
    lines.extend(page.bracket());
    lines.extend(page.lacks());
    lines
}

struct Page<'s> {
    subject: &'s Subject,
    summary: &'s Summary,
    shown: When,
    heap: Held,
}

impl Page<'_> {
    /// When it was; of a run without times how much of it had passed.
    fn seconds(&self, tick: u64) -> String {
        if self.subject.lacks_times {
            let passed = percentage(tick, self.summary.end_tick);
            return format!("{passed:.1}% of the run");
        }
        let nanoseconds = tick as f64 * self.subject.tick_ns as f64;
        format!("{:.3} s", nanoseconds / 1e9)
    }

    /// What it shows and when that was, and the RSS peak and when that was:
    /// one moment, or two.
    fn title(&self) -> String {
        let summary = self.summary;
        // What was mapped need not be resident, nor is it a leak.
        let total = match self.subject.mapped.bytes {
            0 => sized(self.heap.bytes),
            mapped => format!(
                "{} heap and {} mapped,",
                sized(self.heap.bytes),
                sized(mapped)
            ),
        };
        let is_known = summary.rss_peak_bytes > 0 && !summary.is_peak_unread();
        let peak = is_known.then_some(summary.rss_peak_bytes);
        let later = match self.is_lossy() {
            true => " or later",
            false => "",
        };
        let rss_peak = match peak {
            Some(bytes) => format!("RSS peak = {}", sized(bytes)),
            None => format!("RSS peak = {UNKNOWN}"),
        };
        let before = summary.window.filter(|window| window.is_rss_peak_before);
        let peak_tick = before.map_or(summary.rss_peak.tick, |window| window.folded_rss_tick);
        let at_peak = format!("{}{later}", self.seconds(peak_tick));
        let (what, when) = match self.shown.moment() {
            Moment::RssPeak if summary.shows_rss_peak() => {
                return format!("memlog: Total: {total} live at the {rss_peak} after {at_peak}");
            }
            Moment::RssPeak | Moment::HeapPeak => ("largest heap", summary.heap_peak.tick),
            Moment::End if self.is_lossy() => ("end of what was recorded", summary.end_tick),
            Moment::End if !self.subject.has_ended => ("last event", summary.end_tick),
            Moment::End => ("leaks", summary.end_tick),
            Moment::Chosen => ("chosen moment", 0),
        };
        let when = match self.shown {
            When::Known(_) => self.seconds(when),
            When::Seconds(seconds) => format!("{seconds:.3} s"),
            When::Mark { tick, .. } => self.seconds(tick),
        };
        let after = match peak {
            Some(_) => format!(" after {at_peak}"),
            None => String::new(),
        };
        format!("memlog: Total: {total} live ({what}) after {when}; {rss_peak}{after}")
    }

    /// Whether what is not in the log may have been live, or released.
    fn is_lossy(&self) -> bool {
        self.summary.is_lossy()
    }

    fn program(&self) -> String {
        let mut parts = vec![self.subject.program.clone()];
        parts.extend(self.subject.process.clone());
        if !self.subject.lacks_times {
            parts.push(self.seconds(self.summary.end_tick));
        }
        if !self.subject.lacks_threads {
            parts.push(counted(self.summary.threads, "thread"));
        }
        if !self.subject.has_ended {
            parts.push("no end in the log".into());
        }
        format!("program: {}", parts.join(", "))
    }

    fn heap(&self) -> String {
        let peak = &self.summary.heap_peak;
        let recorded = match self.is_lossy() {
            true => ", of what was recorded",
            false => "",
        };
        let blocks = match self.subject.lacks_counts {
            true => String::new(),
            false => format!(" in {}", counted(self.heap.blocks, "block")),
        };
        format!(
            "heap: {}{blocks}; at its largest {} after {}{recorded}",
            both_ways(self.heap.bytes),
            sized(peak.bytes),
            self.seconds(peak.tick)
        )
    }

    /// What the program mapped itself. Nobody knows how much of it was touched.
    fn mapped(&self) -> Option<String> {
        let Subject {
            mapped,
            reserved_bytes,
            ..
        } = self.subject;
        if mapped.bytes == 0 {
            return None;
        }
        let besides = match reserved_bytes {
            0 => String::new(),
            bytes => format!("; {} without access not counted", sized(*bytes)),
        };
        Some(format!(
            "mapped: {} in {} of the program's own, not heap, resident where touched{besides}",
            both_ways(mapped.bytes),
            counted(mapped.blocks, "mapping")
        ))
    }

    fn rss(&self) -> Vec<String> {
        let summary = self.summary;
        if summary.rss_peak_bytes == 0 {
            return vec![format!(
                "RSS: {UNKNOWN}; the largest heap is taken for its peak"
            )];
        }
        let peak = both_ways(summary.rss_peak_bytes);
        if let Some(stopped) = self.stopped().filter(|_| summary.is_peak_unread()) {
            return vec![
                format!("RSS: {peak} or more: {stopped}"),
                "the largest heap is taken for its peak".into(),
            ];
        }
        let mut lines = vec![format!("RSS: {peak} at its peak")];
        // Of a peak that is overwritten nobody knows what was live.
        if let Some(resident) = summary.resident() {
            let parts = self.parts(&resident.parts);
            lines.push(format!("of it: {}", parts.join(", ")));
        }
        lines
    }

    /// What the resident memory consists of: together they are the whole.
    fn parts(&self, parts: &Parts) -> Vec<String> {
        let most = if parts.is_crowded { "at most " } else { "" };
        let heap = sized(parts.heap);
        let recorded = if parts.is_lossy {
            " that was recorded"
        } else {
            ""
        };
        let live = sized(self.summary.rss_peak.live_bytes);
        let mut told = vec![match (parts.absent, parts.low_heap) {
            (0, Some(least)) if !parts.is_crowded => {
                format!("at most {heap} and at least {} heap", sized(least))
            }
            (0, _) => format!("{most}{heap} heap{recorded}"),
            (absent, _) => format!(
                "at most {heap} heap{recorded} (of {live} live {} or more were not resident)",
                sized(absent)
            ),
        }];
        if parts.rounded > 0 {
            told.push(format!(
                "{most}{} malloc's own (rounding, block headers)",
                sized(parts.rounded)
            ));
        }
        if parts.mapped > 0 {
            let mapped = sized(parts.mapped);
            told.push(format!("at most {mapped} mapped by the program itself"));
        }
        if parts.before > 0 {
            told.push(format!("{} from before recording", sized(parts.before)));
        }
        told.push(format!("{} memlog's own", sized(parts.own)));
        let unseen = sized(parts.unseen);
        let least = if parts.is_least() { "at least " } else { "" };
        match (parts.unseen, parts.is_lossy) {
            (0, _) => {}
            (_, true) => told.push(format!("{unseen} in lost events, or not seen by hooks")),
            (_, false) => told.push(format!("{least}{unseen} not seen by hooks")),
        }
        told
    }

    /// Since when resident memory was not read, though the heap still changed.
    fn stopped(&self) -> Option<String> {
        let unread = self.summary.unread?;
        let at = self.seconds(unread.since_tick);
        Some(match unread.why {
            Why::Filter => format!("readings stopped after {at}: a seccomp filter came"),
            Why::NoEnd => format!("not read after {at}, with a larger heap"),
        })
    }

    /// How well the moment is known.
    fn bracket(&self) -> Option<String> {
        let resident = self.summary.resident()?;
        if self.shown != When::Known(Moment::RssPeak) {
            return None;
        }
        let place = match resident.precision {
            Precision::Exact => "known exactly".to_owned(),
            Precision::Near { below_bytes } => {
                format!("the largest heap within {} of the peak", sized(below_bytes))
            }
            Precision::Within { events, ticks } => {
                let events = counted(events, "event");
                let within = match ticks {
                    0 => events,
                    _ => format!("{} or {events}", self.seconds(ticks)),
                };
                format!("known to within {within}")
            }
        };
        let later = "or later: what came after the last reading is not known";
        Some(match (resident.later, resident.precision) {
            (None, _) => format!("moment: {place}"),
            (Some(Later::Filter), _) => {
                format!("moment: or later, for {}", self.stopped()?)
            }
            (Some(Later::Lost), _) => {
                "moment: the latest it can be told of, for events were lost".into()
            }
            (Some(Later::NoEnd), Precision::Exact) => format!("moment: {later}"),
            (Some(Later::NoEnd), _) => format!("moment: {place}, {later}"),
        })
    }

    fn lacks(&self) -> Option<String> {
        let cut = &self.summary.cut_stacks;
        let counts = [
            (self.summary.lost_events, "event", " LOST"),
            (cut.cut(), "allocation", " with a cut stack"),
            (cut.none(), "allocation", " without a stack"),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<_> = counts
            .map(|(count, thing, what)| format!("{}{what}", counted(count, thing)))
            .collect();
        (!parts.is_empty()).then(|| format!("missing: {}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_it(live: u64, low: u64, lost: u64) -> String {
        let mut summary = Summary {
            rss_peak_bytes: 10 << 20,
            own_rss_bytes: 2 << 20,
            lost_events: lost,
            ..Summary::default()
        };
        summary.rss_peak.live_bytes = live;
        summary.rss_peak.bracket.low_heap_bytes = low;
        summary.rss_peak.bracket.events = 1;
        let subject = Subject::default();
        let shown = When::Known(Moment::RssPeak);
        let lines = legend(&subject, &summary, shown, Held::default());
        let line = lines.iter().find(|line| line.starts_with("of it: "));
        line.cloned().unwrap_or_default()
    }

    #[test]
    fn the_parts_are_parts_of_the_peak() {
        let (five, six) = (5 << 20, 6 << 20);
        assert_eq!(
            of_it(six, six, 0),
            "of it: 6.0 MiB heap, 2.0 MiB memlog's own, 2.0 MiB not seen by hooks"
        );
        assert_eq!(
            of_it(six, five, 0),
            "of it: at most 6.0 MiB and at least 5.0 MiB heap, 2.0 MiB memlog's own, \
             at least 2.0 MiB not seen by hooks"
        );
        assert_eq!(
            of_it(9 << 20, five, 0),
            "of it: at most 8.0 MiB heap (of 9.0 MiB live 1.0 MiB or more were not \
             resident), 2.0 MiB memlog's own"
        );
        assert_eq!(
            of_it(six, five, 1),
            "of it: 6.0 MiB heap that was recorded, 2.0 MiB memlog's own, 2.0 MiB in lost \
             events, or not seen by hooks"
        );
    }
}
