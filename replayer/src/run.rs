//! What each operation does.
//!
//! A program writes to what it allocates; a log does not say to how much of it. So each page
//! of a block is touched as it comes, but for zeros that were asked for by the large block,
//! which an allocator takes from the kernel as they are. No more is touched at a time than
//! the limit.

use core::ffi::c_void;

use memlog_format::operations::{Opened, Operation};
use memlog_format::varint::Reader;

use crate::outside;
use crate::resident::{Resident, Stands};
use crate::slots::{Block, Slots};
use crate::told::{Say, file_at};

/// Smaller blocks of zeros are written to by the allocator, which has used the memory before.
const LARGE_ZEROS: u64 = 128 << 10;
/// No block is larger: sizes have a mark in their table.
const LARGEST: u64 = 1 << 62;

/// Whether the calls are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// All but the calls: what this program takes by itself.
    Dry,
    /// All.
    Calls,
}

/// Why operations are not gone on with.
pub enum Next {
    /// They are another thread's.
    Thread(u64),
    /// There are no more, or the next one is spoilt.
    End,
}

/// All that there is while operations are executed.
pub struct Run<'a> {
    operations: Reader<'a>,
    mode: Mode,
    limit: u64,
    own: u64,
    page_bytes: usize,
    slots: Slots,
    resident: Resident,
    /// Touched since resident memory was read.
    since: u64,
    live: Live,
    peak_live: Live,
    /// The most bytes that were live, when resident memory was read.
    read_at: u64,
    /// At the peak of resident memory.
    live_at_peak: u64,
    touched: u64,
    untouched: u64,
    counts: Counts,
    /// Those before BEGIN.
    before: Counts,
    distance: Distance,
    start_bytes: u64,
    end_bytes: u64,
    cpu_ns: u64,
    faults: u64,
    is_malformed: bool,
    pub refused_threads: u64,
}

#[derive(Clone, Copy, Default)]
struct Live {
    bytes: u64,
    blocks: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    allocations: u64,
    releases: u64,
    failed: u64,
}

/// How far resident memory was from what was recorded, over all readings.
#[derive(Clone, Copy, Default)]
struct Distance {
    readings: u64,
    recorded_kb: u64,
    apart_kb: u64,
}

impl<'a> Run<'a> {
    /// Before the first operation; nothing where there is no room for the tables.
    pub fn new(opened: &Opened<'a>, mode: Mode, (limit, own): (u64, u64)) -> Option<Self> {
        let slots = Slots::new(opened.head.slots)?;
        let mut resident = Resident::new();
        let (start_bytes, _) = resident.read(true);
        resident.cpu_ns = 0;
        Some(Self {
            operations: opened.operations.clone(),
            mode,
            limit,
            own,
            page_bytes: outside::page_bytes(),
            slots,
            resident,
            since: 0,
            live: Live::default(),
            peak_live: Live::default(),
            read_at: 0,
            live_at_peak: 0,
            touched: 0,
            untouched: 0,
            counts: Counts::default(),
            before: Counts::default(),
            distance: Distance::default(),
            start_bytes,
            end_bytes: 0,
            cpu_ns: outside::cpu_ns(),
            faults: outside::faults(),
            is_malformed: false,
            refused_threads: 0,
        })
    }

    /// Executes operations up to another thread's, or the last.
    pub fn go_on(&mut self) -> Next {
        while !self.operations.is_empty() && !self.is_malformed {
            let Ok(operation) = Operation::next(&mut self.operations) else {
                self.is_malformed = true;
                break;
            };
            let is_done = match operation {
                Operation::Turn(thread) => return Next::Thread(thread),
                Operation::Malloc { slot, size } => self.comes(slot, size, None, true),
                Operation::Calloc { slot, size } => self.zeros(slot, size),
                Operation::Aligned { slot, size, log2 } => self.comes(slot, size, Some(log2), true),
                Operation::Realloc { slot, size } => self.grows(slot, size),
                Operation::Free { slot } => self.goes(slot),
                Operation::Reading { kb } => self.compare(kb),
                Operation::Begin => self.begin(),
            };
            self.is_malformed |= is_done.is_none();
        }
        Next::End
    }

    /// What was read makes no sense.
    pub fn spoil(&mut self) {
        self.is_malformed = true;
    }

    /// Whether something made none.
    pub fn is_malformed(&self) -> bool {
        self.is_malformed
    }

    /// All is done.
    pub fn end(&mut self) {
        self.cpu_ns = outside::cpu_ns() - self.cpu_ns - self.resident.cpu_ns;
        self.faults = outside::faults() - self.faults;
        let (bytes, stands) = self.resident.read(true);
        self.end_bytes = bytes;
        self.note_live(stands);
    }

    /// What is live at the peak: where memory stays resident after it was freed, readings
    /// are alike, and the one with most counts.
    fn note_live(&mut self, stands: Stands) {
        let live = self.live.bytes;
        match stands {
            Stands::Above => self.live_at_peak = live,
            Stands::Near => self.live_at_peak = self.live_at_peak.max(live),
            Stands::Below => {}
        }
    }

    fn begin(&mut self) -> Option<()> {
        self.before = self.counts;
        Some(())
    }

    fn zeros(&mut self, slot: u64, size: u64) -> Option<()> {
        let is_touched = size < LARGE_ZEROS;
        if self.mode == Mode::Dry || size > LARGEST {
            return self.comes(slot, size, None, is_touched);
        }
        // SAFETY: any size may be asked for.
        let address = unsafe { libc::calloc(1, size as usize) };
        self.came(slot, size, address, is_touched)
    }

    fn comes(&mut self, slot: u64, size: u64, log2: Option<u8>, touch: bool) -> Option<()> {
        let fits = size <= LARGEST && usize::try_from(size).is_ok();
        let address = match (self.mode, log2) {
            (Mode::Dry, _) => core::ptr::dangling_mut(),
            _ if !fits => core::ptr::null_mut(),
            // SAFETY: any size may be asked for.
            (_, None) => unsafe { libc::malloc(size as usize) },
            (_, Some(log2)) => aligned(size as usize, log2),
        };
        self.came(slot, size.min(LARGEST), address, touch)
    }

    #[inline]
    fn came(&mut self, slot: u64, size: u64, address: *mut c_void, touch: bool) -> Option<()> {
        let mut block = Block {
            address: address.cast(),
            size,
            is_touched: false,
        };
        // Of no bytes an allocator may give no block.
        if address.is_null() && size > 0 {
            self.counts.failed += 1;
        } else {
            self.counts.allocations += 1;
            self.add(size);
            if touch {
                block.is_touched = self.touch(&block, 0);
            }
        }
        self.slots.put(slot, block).then_some(())?;
        self.look();
        Some(())
    }

    fn goes(&mut self, slot: u64) -> Option<()> {
        let block = self.slots.take(slot)?;
        self.before_release(&block);
        self.forget(&block);
        if self.mode == Mode::Calls {
            // SAFETY: the slot's block came from this allocator, and is taken out of it.
            unsafe { libc::free(block.address.cast()) };
        }
        Some(())
    }

    fn grows(&mut self, slot: u64, size: u64) -> Option<()> {
        let old = self.slots.take(slot)?;
        self.before_release(&old);
        let fits = size <= LARGEST && usize::try_from(size).is_ok();
        let address = match self.mode {
            Mode::Dry => core::ptr::dangling_mut(),
            Mode::Calls if !fits => core::ptr::null_mut(),
            // SAFETY: as for free. Of no bytes it would be one: then one byte is asked for.
            Mode::Calls => unsafe { libc::realloc(old.address.cast(), size.max(1) as usize) },
        };
        if address.is_null() {
            self.counts.failed += 1;
            return self.slots.put(slot, old).then_some(());
        }
        self.forget(&old);
        self.counts.allocations += 1;
        self.add(size);
        let mut block = Block {
            address: address.cast(),
            size,
            is_touched: false,
        };
        if old.is_touched {
            // What it had is there still, or was copied.
            self.touched += old.size.min(size);
            block.is_touched = self.touch(&block, old.size.min(size));
            if !block.is_touched {
                self.touched -= old.size.min(size);
            }
        } else if old.size == 0 || old.address.is_null() {
            block.is_touched = self.touch(&block, 0);
        }
        self.slots.put(slot, block);
        self.look();
        Some(())
    }

    #[inline]
    fn add(&mut self, size: u64) {
        self.live.blocks += 1;
        self.live.bytes += size;
        if self.live.bytes > self.peak_live.bytes {
            self.peak_live = self.live;
        }
    }

    #[inline]
    fn forget(&mut self, block: &Block) {
        if block.is_touched {
            self.touched -= block.size;
        }
        // Who got no memory has none to give back.
        if !block.address.is_null() || block.size == 0 {
            self.counts.releases += 1;
            self.live.blocks -= 1;
            self.live.bytes -= block.size;
        }
    }

    /// Touches a block's pages from an offset on; whether there is room for that.
    #[inline]
    fn touch(&mut self, block: &Block, from: u64) -> bool {
        let more = block.size - from;
        if self.touched + more > self.limit {
            self.untouched += more;
            return false;
        }
        self.touched += more;
        self.since += more + 16;
        if self.mode == Mode::Calls && more > 0 && !block.address.is_null() {
            self.write(block, from as usize);
        }
        true
    }

    #[inline]
    fn write(&self, block: &Block, from: usize) {
        let size = block.size as usize;
        let mut at = from;
        while at < size {
            // SAFETY: the block has `size` bytes, and nobody else knows of it.
            unsafe { block.address.add(at).write_volatile(1) };
            let address = block.address as usize + at;
            at += self.page_bytes - address % self.page_bytes;
        }
    }

    #[inline]
    fn look(&mut self) {
        if self.since >= self.resident.gate {
            self.read();
        }
    }

    /// A large block may be part of a peak that nobody has seen yet, and so may many
    /// small ones.
    #[inline]
    fn before_release(&mut self, block: &Block) {
        let (live, most, gate) = (self.live.bytes, self.peak_live.bytes, self.resident.gate);
        let is_large = block.size >= gate && self.since > 0;
        if is_large || most > self.read_at && live + gate / 8 <= most {
            self.read();
        }
    }

    #[inline(never)]
    fn read(&mut self) -> u64 {
        (self.since, self.read_at) = (0, self.peak_live.bytes);
        if self.mode == Mode::Dry {
            return 0;
        }
        let (bytes, stands) = self.resident.read(false);
        self.note_live(stands);
        bytes
    }

    fn compare(&mut self, recorded_kb: u64) -> Option<()> {
        let kb = self.read().saturating_sub(self.own) / 1024;
        self.distance.readings += 1;
        self.distance.recorded_kb = self.distance.recorded_kb.saturating_add(recorded_kb);
        let apart = kb.abs_diff(recorded_kb);
        self.distance.apart_kb = self.distance.apart_kb.saturating_add(apart);
        Some(())
    }

    /// What it took.
    pub fn tell(&self, say: &mut Say) {
        file_at(libc::malloc as *const () as usize, |path| {
            say.line("library", path);
        });
        let all = [
            ("seeded_blocks", self.before.allocations),
            (
                "allocations",
                self.counts.allocations - self.before.allocations,
            ),
            ("releases", self.counts.releases - self.before.releases),
            ("failed_calls", self.counts.failed),
            ("live_bytes_end", self.live.bytes),
            ("live_blocks_end", self.live.blocks),
            ("live_bytes_peak", self.peak_live.bytes),
            ("live_blocks_peak", self.peak_live.blocks),
            ("untouched_bytes", self.untouched),
            ("start_bytes", self.start_bytes),
            ("rss_peak_bytes", self.resident.peak),
            ("rss_end_bytes", self.end_bytes),
            ("live_bytes_at_rss_peak", self.live_at_peak),
            ("cpu_ns", self.cpu_ns),
            ("faults", self.faults),
            ("readings", self.resident.readings),
            ("refused_threads", self.refused_threads),
            ("compared_readings", self.distance.readings),
            ("recorded_kb", self.distance.recorded_kb),
            ("apart_kb", self.distance.apart_kb),
        ];
        for (name, value) in all {
            say.number(name, value);
        }
    }
}

/// A block whose address is a multiple of this power of two, null where there is none.
fn aligned(size: usize, log2: u8) -> *mut c_void {
    // It takes no smaller ones.
    let alignment = 1usize.checked_shl(log2.into()).unwrap_or(0);
    let alignment = alignment.max(size_of::<*const u8>());
    let mut block = core::ptr::null_mut();
    // SAFETY: the place for the block outlives the call.
    match unsafe { libc::posix_memalign(&mut block, alignment, size) } {
        0 => block,
        _ => core::ptr::null_mut(),
    }
}
