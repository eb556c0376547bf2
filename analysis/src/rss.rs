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
//! Where readings stopped before the end (a seccomp filter came, or the process
//! was killed, executed another program, or runs still), the peak may lie later.
//! If the heap then grew beyond what it was at the peak that was read, by more
//! than the grain, that says nothing any more, and the largest heap stands for it.
//!
//! The *figure* of the peak is that of the reading whose part without the
//! recorder's is the highest, whichever moment is kept.

#[cfg(test)]
mod tests;
mod told;

use memlog_format::ext::{Rss, RssSource};

pub(crate) use told::Heap;
pub use told::{Bracket, Figures, FirstReading, Level, RssPeak, Unread, Why};

/// By so much two figures may differ that ought to be the same: the kernel counts
/// up to 32 pages on each processor for itself, and two processors are what most
/// programs are on at a time.
const COUNT_ERROR_KB: u64 = 512;

/// Follows the readings.
#[derive(Debug, Default)]
pub(crate) struct RssTracker {
    floor_kb: u64,
    /// The largest heap since the last reading.
    candidate: Heap,
    bracket: Bracket,
    /// The heap at the last reading but one, and at the last.
    read_heaps: [u64; 2],
    kept: Option<RssPeak>,
    /// The highest figure, whether or not its moment was kept.
    highest: Level,
    /// That which is the highest without the recorder's.
    top: Level,
    last: Option<Figure>,
    /// ru_maxrss rose above its floor: VmHWM is compared no more.
    has_maxrss: bool,
    pub first: Option<FirstReading>,
    pub readings: u64,
    /// Set while what was kept lies before the first event.
    is_before: bool,
    unread: Option<Unread>,
    /// The reading that lies behind the peak, as [`RssPeak`] has it, where that is known: in a
    /// log that lacks events the heap does not tell.
    pub known: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Figure {
    level: Level,
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
        let own_kb = rss.own_kb;
        Some(Self {
            level: Level { kb, own_kb },
            high_water,
        })
    }
}

/// The figure of the peak out of nothing but the readings, in their order, and
/// the kernel's last words. `before` is that of readings that are gone.
pub fn highest_level(
    readings: impl Iterator<Item = Rss>,
    before: Level,
    floor_kb: u64,
    figures: &Figures,
) -> Level {
    let mut tracker = RssTracker::new(floor_kb);
    let heap = Heap::default();
    tracker.resume(before, 0);
    for rss in readings {
        tracker.read(&rss, &heap);
    }
    tracker.finish(figures, &heap);
    tracker.level(figures.vm_hwm_kb)
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
        let larger = heap.is_larger(self.candidate.bytes, self.candidate.usable);
        if larger {
            self.candidate = *heap;
        }
        larger
    }

    /// Blocks came and went here of whose events nothing more is known.
    pub(crate) fn passed(&mut self) {
        self.bracket.events += 1;
    }

    /// Resident memory was read: whether the candidate is to be kept, or
    /// nothing if the reading says nothing.
    pub(crate) fn read(&mut self, rss: &Rss, now: &Heap) -> Option<bool> {
        let figure = Figure::of(rss, self.floor_kb)?;
        let level = figure.level;
        // Above its floor ru_maxrss is certain: at the floor it was known too.
        let above_floor = rss.source == RssSource::MaxRss && figure.high_water;
        self.readings += 1;
        self.has_maxrss |= above_floor;
        if self.is_before && self.top.own_kb == 0 && self.readings == 1 {
            // An older recorder did not say what its own was before this.
            self.take_before(Level {
                own_kb: level.own_kb,
                ..self.top
            });
        }
        self.first.get_or_insert(FirstReading {
            kb: level.kb,
            own_kb: level.own_kb,
            event: now.event,
            tick: now.tick,
            is_start: false,
            live_bytes: now.bytes,
            live_blocks: now.blocks,
            live_usable_bytes: now.usable,
        });
        if rss.source == RssSource::VmHwm && self.has_maxrss {
            let count_error = level.kb.saturating_sub(self.highest.kb) <= COUNT_ERROR_KB;
            self.note_highest(match count_error {
                true => Level {
                    own_kb: self.highest.own_kb,
                    ..level
                },
                false => level,
            });
            return Some(false);
        }
        Some(self.close(figure, above_floor, now, self.readings))
    }

    /// The log ends; `figures` are the kernel's last words.
    pub(crate) fn finish(&mut self, figures: &Figures, now: &Heap) -> bool {
        let kb = match figures.maxrss_kb {
            maxrss if maxrss > self.floor_kb => maxrss,
            _ => figures.vm_hwm_kb,
        };
        let own_kb = self.last.map_or(0, |last| last.level.own_kb);
        let level = Level { kb, own_kb };
        self.unread = self.find_unread(kb, figures);
        if self.is_peak_unread() {
            self.keep(self.top, 0);
            return true;
        }
        let high_water = true;
        let figure = Figure { level, high_water };
        self.close(figure, false, now, self.readings + 1)
    }

    /// Whether nothing was read at the end, and what came since.
    fn find_unread(&self, last_kb: u64, figures: &Figures) -> Option<Unread> {
        let events = self.bracket.events;
        let (why, since_tick) = match figures.unread_since {
            Some(tick) if events > 0 => (Why::Filter, tick),
            None if last_kb == 0
                && !figures.is_ended
                && self.last.is_some()
                && !self.is_counted(figures) =>
            {
                (Why::NoEnd, self.bracket.from_tick)
            }
            _ => return None,
        };
        let kept = self.kept.unwrap_or_default();
        // A large block is followed by a reading, at which nobody has touched it:
        // if the next one does not show it either, it is untouched memory.
        let known_bytes = match why {
            Why::Filter => kept.live_bytes,
            Why::NoEnd => {
                let grain_bytes = grain_kb(kept.level.program_kb()).saturating_mul(1024);
                let read_bytes = kept.live_bytes.max(self.read_heaps[0]);
                read_bytes.saturating_add(grain_bytes)
            }
        };
        Some(Unread {
            why,
            since_tick,
            events,
            is_higher: match self.known {
                Some(known) => known == 0,
                None => self.candidate.bytes > known_bytes,
            },
        })
    }

    /// Whether the kernel counted no more than was read: what it counted of a
    /// child as well is no less than the process's own.
    fn is_counted(&self, figures: &Figures) -> bool {
        let counted_kb = figures.counted_kb;
        counted_kb > self.floor_kb && counted_kb <= self.highest.kb + COUNT_ERROR_KB
    }

    fn is_peak_unread(&self) -> bool {
        self.unread.is_some_and(|unread| unread.is_higher)
    }

    /// What was not read, once finished.
    pub(crate) fn unread(&self) -> Option<Unread> {
        self.unread
    }

    fn close(&mut self, read: Figure, certain: bool, now: &Heap, reading: u64) -> bool {
        let mut figure = read;
        if let (true, Some(last)) = (figure.high_water, self.last) {
            // The mark may have come about while the recorder still had more.
            figure.level.own_kb = figure.level.own_kb.max(last.level.own_kb);
        }
        let level = figure.level;
        let keep = match self.known {
            Some(known) => known == reading,
            None => self.is_kept(figure, certain),
        };
        self.bracket.to_tick = now.tick;
        if keep {
            self.keep(level, reading);
        }
        let is_new = !figure.high_water || level.kb > self.highest.kb;
        if is_new && level.program_kb() > self.top.program_kb() {
            self.top = level;
        }
        self.note_highest(level);
        self.last = Some(read);
        self.open(now);
        keep
    }

    fn note_highest(&mut self, level: Level) {
        if level.kb > self.highest.kb {
            self.highest = level;
        }
    }

    /// The candidate is the moment.
    fn keep(&mut self, level: Level, reading: u64) {
        self.is_before = false;
        self.bracket.high_heap_bytes = self.candidate.bytes;
        self.kept = Some(RssPeak {
            reading,
            level,
            event: self.candidate.event,
            tick: self.candidate.tick,
            live_bytes: self.candidate.bytes,
            live_blocks: self.candidate.blocks,
            live_usable_bytes: self.candidate.usable,
            bracket: self.bracket,
        });
    }

    /// Readings of before the first event came to this, with such a heap.
    pub(crate) fn resume(&mut self, level: Level, live_bytes: u64) {
        if level.kb == 0 {
            return;
        }
        self.is_before = true;
        self.kept = Some(RssPeak {
            live_bytes,
            ..RssPeak::default()
        });
        self.take_before(level);
    }

    fn take_before(&mut self, level: Level) {
        (self.highest, self.top) = (level, level);
        self.last = Some(Figure {
            level,
            high_water: true,
        });
        if let Some(kept) = &mut self.kept {
            kept.level = level;
        }
    }

    /// Whether the peak lies before the first event.
    pub(crate) fn is_before(&self) -> bool {
        self.is_before
    }

    /// A new bracket begins.
    pub(crate) fn open(&mut self, now: &Heap) {
        self.read_heaps = [self.read_heaps[1], now.bytes];
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
        if figure.high_water && figure.level.kb <= self.highest.kb {
            return false;
        }
        let (program_kb, kept_kb) = (figure.level.program_kb(), kept.level.program_kb());
        let grain_kb = grain_kb(kept_kb);
        if program_kb + grain_kb < self.top.program_kb() {
            return false;
        }
        let heap = self.candidate;
        let larger = heap.is_larger(kept.live_bytes, kept.live_usable_bytes);
        let clear = program_kb > kept_kb + grain_kb;
        if clear && (certain || !figure.high_water || last.high_water) {
            return true;
        }
        if clear {
            return last.level.program_kb() >= self.top.program_kb() && larger;
        }
        let resident = program_kb.saturating_mul(1024);
        let grown = kept.live_bytes.saturating_add(2 * 1024 * grain_kb);
        larger && heap.bytes <= resident.max(grown)
    }

    /// The peak, once finished.
    pub(crate) fn peak(&self) -> RssPeak {
        self.kept.unwrap_or_default()
    }

    /// The figure of the peak, once finished; `vm_hwm_kb` is exact, if known.
    /// The log's pages may have moved the maximum of all away from it.
    pub(crate) fn level(&self, vm_hwm_kb: u64) -> Level {
        let (top, highest) = (self.top, self.highest);
        let last = match vm_hwm_kb {
            0 => highest,
            kb => Level { kb, ..highest },
        };
        match () {
            () if vm_hwm_kb.abs_diff(top.kb) <= COUNT_ERROR_KB => Level {
                kb: vm_hwm_kb,
                ..top
            },
            () if last.program_kb() < top.program_kb() => top,
            () => last,
        }
    }
}

/// So close two figures may be and their order says nothing.
fn grain_kb(program_kb: u64) -> u64 {
    program_kb / 100 + COUNT_ERROR_KB
}
