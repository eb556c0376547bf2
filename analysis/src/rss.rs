//! Which reading of resident memory shows the peak, and what was live then.
//!
//! The recorder reads resident memory now and then; the peak lies between two
//! readings. Between them the moment looked at is that of the largest heap.
//!
//! What is searched is the peak of the *program*: resident memory without the
//! recorder's own, which stands in each reading. The log's pages are resident
//! too, and grow while a program releases what its allocator keeps: the peak of
//! both together then lies amid the releases, where nobody wants to look.
//!
//! A reading is a *high-water mark* (VmHWM; ru_maxrss above the floor that was
//! inherited through exec) or the figure of the moment (statm). A mark that did
//! not rise says nothing of what came since. Two figures are compared only
//! where one source said both: the kernel counts resident pages in batches for
//! each processor, and ru_maxrss is off by as much, while VmHWM is exact.
//!
//! A new highest figure is clear when it beats the kept one by more than the
//! grain, and when it must have come about since the reading before: it is a
//! figure of the moment, or that reading was already the kernel's word on the
//! peak so far. A clear one is kept. Where it is not clear,
//!
//! * within the grain (512 kB, for the kernel's batches, and 1 %, for exit
//!   handlers that touch a page or two of a heap that was not given back), the
//!   moment is kept whose heap is the largest, if it is no larger than that
//!   figure can explain: untouched memory does not move the peak;
//! * a high-water mark that rose while only moments were read is kept where it
//!   came right after the highest of them and the heap grew; else the peak
//!   stays with the highest moment.
//!
//! Where readings stopped before the end (a seccomp filter came), the peak may
//! lie later. If the heap then grew beyond what it was at the peak that was
//! read, that says nothing any more, and the largest heap stands for it.

#[cfg(test)]
mod tests;

use memlog_format::ext::{Rss, RssSource};

/// By so much two figures may differ that ought to be the same: the kernel counts
/// up to 32 pages on each processor for itself, and two processors are what most
/// programs are on at a time.
const COUNT_ERROR_KB: u64 = 512;

/// What the log's frame says about resident memory, in kilobytes, 0: unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// VmHWM as last read.
    pub vm_hwm_kb: u64,
    /// ru_maxrss at the end.
    pub maxrss_kb: u64,
    /// Since which tick nothing was read, though events went on.
    pub unread_since: Option<u64>,
}

/// Readings of resident memory that stopped while the heap still changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Since which tick.
    pub since_tick: u64,
    /// Allocations and releases since.
    pub events: u64,
    /// The heap grew beyond what it was at the peak that was read.
    pub is_higher: bool,
}

/// The two readings that a moment lies between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bracket {
    /// Tick of the reading before, or of the start.
    pub from_tick: u64,
    /// Tick of the reading after, or of the end.
    pub to_tick: u64,
    /// Allocations and releases between them.
    pub events: u64,
    /// The smallest heap between them.
    pub low_heap_bytes: u64,
    /// The largest.
    pub high_heap_bytes: u64,
}

/// The peak of resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RssPeak {
    /// The figure that showed it, in kilobytes; 0 where nothing was read.
    pub reading_kb: u64,
    /// The recorder's own part at that reading.
    pub own_kb: u64,
    /// The moment: its tick.
    pub tick: u64,
    /// Bytes live at the moment.
    pub live_bytes: u64,
    /// Blocks live at the moment.
    pub live_blocks: u64,
    /// What allocator gave for them.
    pub live_usable_bytes: u64,
    /// Where it lies.
    pub bracket: Bracket,
}

impl RssPeak {
    /// What was not the recorder's.
    fn program_kb(&self) -> u64 {
        self.reading_kb.saturating_sub(self.own_kb)
    }
}

/// The first reading that said something, and the heap then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirstReading {
    /// The figure, in kilobytes.
    pub kb: u64,
    /// The recorder's own part of it.
    pub own_kb: u64,
    /// When.
    pub tick: u64,
    /// Bytes that were live.
    pub live_bytes: u64,
    /// What the allocator gave for them.
    pub live_usable_bytes: u64,
}

/// The heap at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heap {
    pub bytes: u64,
    pub usable: u64,
    pub blocks: u64,
    pub tick: u64,
}

/// Follows the readings.
#[derive(Debug, Default)]
pub(crate) struct RssTracker {
    floor_kb: u64,
    /// The largest heap since the last reading.
    candidate: Heap,
    bracket: Bracket,
    kept: Option<RssPeak>,
    /// The highest figure, whether or not its moment was kept.
    best_kb: u64,
    /// What of that was the recorder's.
    best_own_kb: u64,
    /// The highest without the recorder's.
    best_program_kb: u64,
    last: Option<Figure>,
    /// ru_maxrss rose above its floor: VmHWM is compared no more.
    has_maxrss: bool,
    pub first: Option<FirstReading>,
    pub readings: u64,
    /// Set while what was kept lies before the first event.
    is_before: bool,
    unread: Option<Unread>,
}

#[derive(Clone, Copy, Debug)]
struct Figure {
    kb: u64,
    own_kb: u64,
    high_water: bool,
}

impl Figure {
    /// Nothing if the reading says nothing.
    fn of(rss: &Rss, floor_kb: u64) -> Option<Self> {
        let (kb, high_water) = match rss.source {
            RssSource::VmHwm if rss.peak_kb > 0 => (rss.peak_kb, true),
            RssSource::MaxRss if rss.peak_kb > floor_kb => (rss.peak_kb, true),
            _ if rss.now_kb > 0 => (rss.now_kb, false),
            _ => return None,
        };
        Some(Self {
            kb,
            own_kb: rss.own_kb,
            high_water,
        })
    }

    /// What is not the recorder's.
    fn program_kb(&self) -> u64 {
        self.kb.saturating_sub(self.own_kb)
    }
}

/// What one reading says of resident memory, in kilobytes, 0 if nothing: the
/// highest of them is the peak of a log that has no last word on it.
pub fn reading_kb(rss: &Rss, floor_kb: u64) -> u64 {
    Figure::of(rss, floor_kb).map_or(0, |figure| figure.kb)
}

impl RssTracker {
    pub(crate) fn new(floor_kb: u64) -> Self {
        Self {
            floor_kb,
            ..Self::default()
        }
    }

    /// The heap changed; true if this is the largest since the last reading.
    #[inline]
    pub(crate) fn changed(&mut self, heap: &Heap) -> bool {
        self.bracket.events += 1;
        self.bracket.low_heap_bytes = self.bracket.low_heap_bytes.min(heap.bytes);
        let larger = heap.bytes > self.candidate.bytes;
        if larger {
            self.candidate = *heap;
        }
        larger
    }

    /// Resident memory was read: whether the candidate is to be kept, or
    /// nothing if the reading says nothing.
    pub(crate) fn read(&mut self, rss: &Rss, now: &Heap) -> Option<bool> {
        let figure = Figure::of(rss, self.floor_kb)?;
        // Above its floor ru_maxrss is certain: at the floor it was known too.
        let above_floor = rss.source == RssSource::MaxRss && figure.high_water;
        self.readings += 1;
        self.has_maxrss |= above_floor;
        if let (true, Some(kept)) = (self.is_before && self.readings == 1, &mut self.kept) {
            // Of before the first event that is known only now.
            kept.own_kb = rss.own_kb;
            self.best_program_kb = kept.program_kb();
        }
        self.first.get_or_insert(FirstReading {
            kb: figure.kb,
            own_kb: rss.own_kb,
            tick: now.tick,
            live_bytes: now.bytes,
            live_usable_bytes: now.usable,
        });
        if rss.source == RssSource::VmHwm && self.has_maxrss {
            let count_error = figure.kb.saturating_sub(self.best_kb) <= COUNT_ERROR_KB;
            let own_kb = if count_error {
                self.best_own_kb
            } else {
                figure.own_kb
            };
            self.note_highest(figure.kb, own_kb);
            return Some(false);
        }
        Some(self.close(figure, above_floor, now))
    }

    /// The log ends; `figures` are the kernel's last words.
    pub(crate) fn finish(&mut self, figures: &Figures, now: &Heap) -> bool {
        let kb = match figures.maxrss_kb {
            maxrss if maxrss > self.floor_kb => maxrss,
            _ => figures.vm_hwm_kb,
        };
        let own_kb = self.last.map_or(0, |last| last.own_kb);
        let figure = Figure {
            kb,
            own_kb,
            high_water: true,
        };
        let events = self.bracket.events;
        if let Some(since_tick) = figures.unread_since.filter(|_| events > 0) {
            let is_higher = self.candidate.bytes > self.kept.map_or(0, |kept| kept.live_bytes);
            self.unread = Some(Unread {
                since_tick,
                events,
                is_higher,
            });
            if is_higher {
                self.keep(self.best_kb, own_kb);
                return true;
            }
        }
        self.close(figure, false, now)
    }

    /// What was not read, once finished.
    pub(crate) fn unread(&self) -> Option<Unread> {
        self.unread
    }

    fn close(&mut self, read: Figure, certain: bool, now: &Heap) -> bool {
        let mut figure = read;
        if let (true, Some(last)) = (figure.high_water, self.last) {
            // The mark may have come about while the recorder still had more.
            figure.own_kb = figure.own_kb.max(last.own_kb);
        }
        let keep = self.is_kept(figure, certain);
        self.bracket.to_tick = now.tick;
        if keep {
            self.keep(figure.kb, figure.own_kb);
        }
        if !figure.high_water || figure.kb > self.best_kb {
            self.best_program_kb = self.best_program_kb.max(figure.program_kb());
        }
        self.note_highest(figure.kb, figure.own_kb);
        self.last = Some(read);
        self.open(now);
        keep
    }

    fn note_highest(&mut self, kb: u64, own_kb: u64) {
        if kb > self.best_kb {
            (self.best_kb, self.best_own_kb) = (kb, own_kb);
        }
    }

    /// The candidate is the moment.
    fn keep(&mut self, reading_kb: u64, own_kb: u64) {
        self.is_before = false;
        self.bracket.high_heap_bytes = self.candidate.bytes;
        self.kept = Some(RssPeak {
            reading_kb,
            own_kb,
            tick: self.candidate.tick,
            live_bytes: self.candidate.bytes,
            live_blocks: self.candidate.blocks,
            live_usable_bytes: self.candidate.usable,
            bracket: self.bracket,
        });
    }

    /// Readings of before the first event came to this, with such a heap.
    pub(crate) fn resume(&mut self, kb: u64, live_bytes: u64) {
        if kb == 0 {
            return;
        }
        self.is_before = true;
        self.best_kb = kb;
        self.last = Some(Figure {
            kb,
            own_kb: 0,
            high_water: true,
        });
        self.kept = Some(RssPeak {
            reading_kb: kb,
            live_bytes,
            ..RssPeak::default()
        });
    }

    /// Whether the peak lies before the first event.
    pub(crate) fn is_before(&self) -> bool {
        self.is_before
    }

    /// A new bracket begins.
    pub(crate) fn open(&mut self, now: &Heap) {
        self.candidate = *now;
        self.bracket = Bracket {
            from_tick: now.tick,
            low_heap_bytes: now.bytes,
            ..Bracket::default()
        };
    }

    fn is_kept(&self, figure: Figure, certain: bool) -> bool {
        let (Some(kept), Some(last)) = (&self.kept, self.last) else {
            return true;
        };
        if figure.high_water && figure.kb <= self.best_kb {
            return false;
        }
        let (program_kb, kept_kb) = (figure.program_kb(), kept.program_kb());
        let grain_kb = kept_kb / 100 + COUNT_ERROR_KB;
        if program_kb + grain_kb < self.best_program_kb {
            return false;
        }
        let heap = self.candidate.bytes;
        let clear = program_kb > kept_kb + grain_kb;
        if clear && (certain || !figure.high_water || last.high_water) {
            return true;
        }
        if clear {
            return last.program_kb() >= self.best_program_kb && heap > kept.live_bytes;
        }
        let resident = program_kb.saturating_mul(1024);
        let grown = kept.live_bytes.saturating_add(2 * 1024 * grain_kb);
        heap > kept.live_bytes && heap <= resident.max(grown)
    }

    /// The peak, once finished.
    pub(crate) fn peak(&self) -> RssPeak {
        self.kept.unwrap_or_default()
    }

    /// The highest figure read, and what of it was the recorder's.
    pub(crate) fn highest_kb(&self) -> (u64, u64) {
        (self.best_kb, self.best_own_kb)
    }
}
