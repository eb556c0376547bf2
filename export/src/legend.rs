//! The heading of a page: what it shows, both peaks, and what is not known.

use memlog_analysis::{Held, Moment, Summary};

use crate::ask::When;
use crate::size::{counted, size};

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
    /// How far the data segment had grown at the moment shown.
    pub arena_bytes: Option<u64>,
    /// What was mapped then, the data segment left out.
    pub mmap_bytes: Option<u64>,
    /// The most that the program had mapped itself about the RSS peak.
    pub rss_peak_mapped_bytes: u64,
}

const UNKNOWN: &str = "(unknown)";

/// The lines of the heading; the first is the title.
pub fn legend(subject: &Subject, summary: &Summary, shown: When, total: Held) -> Vec<String> {
    let page = Page {
        subject,
        summary,
        shown,
        total,
    };
    let mut lines = vec![page.title(), page.program(), page.heap()];
    lines.extend(page.rss());
    lines.push(page.areas());
    lines.extend(page.bracket());
    lines.extend(page.lacks());
    lines
}

struct Page<'s> {
    subject: &'s Subject,
    summary: &'s Summary,
    shown: When,
    total: Held,
}

impl Page<'_> {
    fn seconds(&self, tick: u64) -> String {
        let nanoseconds = tick as f64 * self.subject.tick_ns as f64;
        format!("{:.3} s", nanoseconds / 1e9)
    }

    fn title(&self) -> String {
        let summary = self.summary;
        let rss_is_known = summary.rss_peak_bytes > 0;
        let (what, tick) = match self.shown.moment() {
            Moment::RssPeak if rss_is_known => ("", summary.rss_peak.tick),
            Moment::RssPeak => (" (largest heap)", summary.rss_peak.tick),
            Moment::HeapPeak => (" (largest heap)", summary.heap_peak.tick),
            Moment::End => (" (leaks)", summary.end_tick),
            Moment::Chosen => (" (chosen moment)", 0),
        };
        let when = match self.shown {
            When::Known(_) => self.seconds(tick),
            When::Seconds(seconds) => format!("{seconds:.3} s"),
        };
        let total = size(self.total.bytes);
        let maxrss = known((rss_is_known).then_some(summary.rss_peak_bytes));
        format!("memlog: Total: {total} active{what} at maxrss = {maxrss} after {when}")
    }

    fn program(&self) -> String {
        let mut parts = vec![self.subject.program.clone()];
        parts.extend(self.subject.process.clone());
        parts.push(self.seconds(self.summary.end_tick));
        parts.push(counted(self.summary.threads, "thread"));
        if !self.subject.has_ended {
            parts.push("no end in the log".into());
        }
        format!("program: {}", parts.join(", "))
    }

    fn heap(&self) -> String {
        let peak = &self.summary.heap_peak;
        format!(
            "heap: {} in {}; at most {} after {}",
            size(self.total.bytes),
            counted(self.total.blocks, "block"),
            size(peak.bytes),
            self.seconds(peak.tick)
        )
    }

    /// What the resident memory consisted of. What was mapped need not have
    /// been touched, so its part is known only from above.
    fn rss(&self) -> Vec<String> {
        let summary = self.summary;
        if summary.rss_peak_bytes == 0 {
            return vec![format!(
                "RSS: {UNKNOWN}; the largest heap is taken for its peak"
            )];
        }
        let (peak, own) = (summary.rss_peak_bytes, summary.own_rss_bytes);
        let live = summary.rss_peak.live_bytes;
        let seen = live.saturating_add(own);
        let rest = match (peak.checked_sub(seen), self.subject.rss_peak_mapped_bytes) {
            (None, _) => format!("{} of it not resident", size(seen - peak)),
            (Some(rest), _) if summary.lost_events > 0 => {
                format!("{} in lost events, or not seen by hooks", size(rest))
            }
            (Some(rest), 0) => format!("{} not seen by hooks", size(rest)),
            (Some(rest), mapped) => format!(
                "{} others: at most {} of it mapped by the program itself, the rest not seen by hooks",
                size(rest),
                size(mapped.min(rest))
            ),
        };
        let parts = format!("{} heap, {} memlog's own", size(live), size(own));
        vec![
            format!("RSS: {} at its peak", size(peak)),
            format!("of it: {parts}, {rest}"),
        ]
    }

    fn areas(&self) -> String {
        let (arena, mmap) = (self.subject.arena_bytes, self.subject.mmap_bytes);
        format!("arena (brk): {}, mmap: {}", known(arena), known(mmap))
    }

    /// How well the moment is known.
    fn bracket(&self) -> Option<String> {
        let bracket = &self.summary.rss_peak.bracket;
        if self.shown != When::Known(Moment::RssPeak) || self.summary.rss_peak_bytes == 0 {
            return None;
        }
        if bracket.events == 0 {
            return Some("moment: known exactly".into());
        }
        let width = bracket.to_tick.saturating_sub(bracket.from_tick);
        let events = counted(bracket.events, "event");
        let within = match width {
            0 => events,
            _ => format!("{} or {events}", self.seconds(width)),
        };
        Some(format!(
            "moment: within {within}, heap from {} to {}",
            size(bracket.low_heap_bytes),
            size(bracket.high_heap_bytes)
        ))
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

fn known(bytes: Option<u64>) -> String {
    bytes.map_or(UNKNOWN.to_owned(), size)
}
