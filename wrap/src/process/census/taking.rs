//! How a census is taken: the mappings of /proc/self/smaps, those of one file as one,
//! and the pages of what is only partly resident.
#![allow(unsafe_code)]
//! # Safety
//! The scratch memory is used under the lock of the header chunks alone.

use super::pages::Pages;
use crate::platform::ground::Ground;
use crate::platform::slices::move_to_front;
use crate::platform::smaps::{Mapping, Smaps};
use crate::platform::sys::{self, Fd, FileId, Os, Sys};
use crate::platform::text::Text;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use memlog_format::resident::{MAX_PATH_END, Mapped};

/// A mapping without access that is no larger is a guard ...
const GUARD: u64 = 1 << 20;
/// ... and a larger one than this is not looked into: it is reserved.
const RESERVED: u64 = 64 << 20;
/// No census takes longer: what is left is not told then.
pub const MOST_NS: u64 = 100_000_000;
/// Huge pages that were set apart: in no count of what is resident.
const SET_APART: &[u8] = b"/anon_hugepage";

/// How mappings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// By /proc/self/smaps: the kernel counts, which is slow.
    Counted,
    /// By /proc/self/maps, and the pages of each.
    ByPages,
}

/// What it takes of memory: the stack belongs to the program. All zeros mean nothing.
pub struct Scratch {
    text: [u8; 8192],
    smaps: Smaps,
    pending: Pending,
    pages: Pages,
}

/// Where that lies. Memory that is mapped when it is needed would come to lie in a hole
/// that the program has just made, and a program may unmap the same twice.
pub struct Place {
    scratch: UnsafeCell<MaybeUninit<Scratch>>,
    /// Whether it is counted as ours.
    is_used: AtomicBool,
}

// SAFETY: see the head.
unsafe impl Sync for Place {}

impl Place {
    /// Of zeros, which take no memory before they are written.
    pub const fn new() -> Self {
        Self {
            scratch: UnsafeCell::new(MaybeUninit::zeroed()),
            is_used: AtomicBool::new(false),
        }
    }

    #[allow(clippy::mut_from_ref)]
    fn scratch(&'static self, ground: &Ground) -> &'static mut Scratch {
        if !self.is_used.swap(true, Ordering::Relaxed) {
            ground.note_own(size_of::<Scratch>() as u64);
        }
        // SAFETY: zeros are a value of it, and there is one census at a time; see the head.
        unsafe { (*self.scratch.get()).assume_init_mut() }
    }
}

impl Default for Place {
    fn default() -> Self {
        Self::new()
    }
}

/// Mappings that may be one.
struct Pending {
    low: u64,
    high: u64,
    flags: u32,
    file: FileId,
    path: Text<MAX_PATH_END>,
    sums: Sums,
    is_there: bool,
    /// Something could not be read.
    is_cut: bool,
}

/// Kilobytes: resident, of no file, in huge pages, swapped out.
type Sums = [u64; 4];

/// A census that is being taken.
pub struct Taker {
    scratch: &'static mut Scratch,
    how: How,
    text: Fd,
    pagemap: Option<Fd>,
    began_ns: u64,
}

/// What a census came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// All mappings were read.
    pub is_whole: bool,
    /// What was resident in them.
    pub resident_kb: u64,
}

impl Taker {
    /// Opens what is read; nothing where there is none.
    pub fn begin(how: How, place: &'static Place, ground: &Ground) -> Option<Self> {
        // The process's own files are those of its first thread, which may have ended.
        let text = match how {
            How::Counted => either(b"/proc/thread-self/smaps\0", b"/proc/self/smaps\0"),
            How::ByPages => either(b"/proc/thread-self/maps\0", b"/proc/self/maps\0"),
        };
        let text = text?;
        let scratch = place.scratch(ground);
        scratch.smaps.begin();
        (scratch.pending.is_there, scratch.pending.is_cut) = (false, false);
        let began_ns = Os::ticks_ns();
        scratch.pages.begin(began_ns.saturating_add(MOST_NS));
        Some(Self {
            scratch,
            how,
            text,
            pagemap: either(b"/proc/thread-self/pagemap\0", b"/proc/self/pagemap\0"),
            began_ns,
        })
    }

    /// Writes all mappings of which something is resident or swapped out.
    pub fn run(self, mut write: impl FnMut(&Mapped)) -> Outcome {
        let Scratch {
            text,
            smaps: lines,
            pending,
            pages,
        } = self.scratch;
        let mut outcome = Outcome::default();
        let mut write = |mapped: &Mapped| {
            outcome.resident_kb = outcome.resident_kb.saturating_add(mapped.resident_kb);
            write(mapped);
        };
        let is_late = || Os::ticks_ns().saturating_sub(self.began_ns) > MOST_NS;
        let mut is_whole = true;
        let mut see = |mapping: &Mapping| {
            is_whole &= !is_late();
            if is_whole {
                pending.take(mapping, (self.how, self.pagemap), pages, &mut write);
            }
        };
        let (mut at, mut held, mut is_read) = (0u64, 0, false);
        while let Some(room) = text.get_mut(held..) {
            // At a place: if the program has closed the file meanwhile and opened
            // another, nothing of that is taken away.
            match Os::read_at(self.text, room, at) {
                Ok(0) => {
                    is_read = held == 0 && at > 0;
                    break;
                }
                Ok(count) => (at, held) = (at.saturating_add(count as u64), held + count),
                Err(_) => break,
            }
            let used = lines.take_lines(text.get(..held).unwrap_or(&[]), &mut see);
            move_to_front(text, used, held);
            held -= used;
            if is_late() || used == 0 && held >= text.len() {
                break;
            }
        }
        lines.finish(&mut see);
        pending.write(&mut write);
        Os::close(self.text);
        self.pagemap.into_iter().for_each(Os::close);
        outcome.is_whole = is_whole && is_read && !pending.is_cut;
        outcome
    }
}

impl Pending {
    /// The next mapping.
    fn take(
        &mut self,
        mapping: &Mapping,
        (how, pagemap): (How, Option<Fd>),
        pages: &mut Pages,
        write: &mut impl FnMut(&Mapped),
    ) {
        let is_file = mapping.file.inode != 0;
        let is_same = self.is_there && is_file && self.file == mapping.file;
        let mut flags = of(mapping);
        if !is_same {
            let touches = self.is_there && self.high == mapping.low && !is_file;
            if touches && self.flags & GUARDING != 0 {
                flags |= Mapped::GUARDED;
            }
            let holds_variables = Mapped::FILE | Mapped::WRITABLE;
            if touches && self.flags & holds_variables == holds_variables {
                flags |= Mapped::BEHIND_FILE;
            }
            self.write(write);
            (self.low, self.flags, self.sums) = (mapping.low, 0, [0; 4]);
            (self.file, self.is_there) = (mapping.file, true);
            self.path.set(mapping.path.get());
        }
        self.high = mapping.high;
        self.flags |= flags;
        let length = mapping.high - mapping.low;
        let counted = match (how, pagemap) {
            (How::Counted, _) => mapping.counted(),
            (How::ByPages, _) if !is_file || mapping.path.get().starts_with(SET_APART) => [0; 4],
            (How::ByPages, pagemap) => {
                let counts = pagemap.and_then(|map| pages.count(map, mapping.low, mapping.high));
                self.is_cut |= counts.is_none();
                let counts = counts.unwrap_or_default();
                let page_kb = sys::page_bytes() / 1024;
                [counts.resident * page_kb, counts.anonymous * page_kb, 0, 0]
            }
        };
        for (sum, more) in self.sums.iter_mut().zip(counted) {
            *sum = sum.saturating_add(more);
        }
        let [resident_kb, ..] = counted;
        let is_partly = resident_kb > 0 && resident_kb < length / 1024;
        let is_reserved = !mapping.has_access && length > RESERVED;
        if !is_file && (is_partly || how == How::ByPages && !is_reserved) {
            self.write_by_pages((how, pagemap), pages, write);
        }
    }

    /// Writes what is there, in pieces each of which has all its runs of pages; what is
    /// left of it stays.
    fn write_by_pages(
        &mut self,
        (how, pagemap): (How, Option<Fd>),
        pages: &mut Pages,
        write: &mut impl FnMut(&Mapped),
    ) {
        let page_kb = sys::page_bytes() / 1024;
        let [counted_kb, ..] = self.sums;
        let counted = counted_kb * 1024;
        // The slow way is taken where the fast one is wrong.
        let pagemap = pagemap.filter(|pagemap| {
            how == How::Counted && pages.has_zeros(*pagemap, self.low, self.high, counted)
        });
        while self.low < self.high {
            let Some(runs) = pages.runs(self.low, self.high, pagemap) else {
                // What is gone by now, or the kernel's own, is no loss.
                self.is_cut |= pages.is_late();
                break;
            };
            let length_kb = (runs.end - self.low) / 1024;
            let there_kb = runs.resident * page_kb;
            let part = match how {
                How::ByPages => [there_kb, there_kb, 0, 0],
                How::Counted if runs.end >= self.high => self.sums,
                // The kernel tells the others only of the whole.
                How::Counted => {
                    let [all_kb, ..] = self.sums;
                    let share_kb = there_kb.min(all_kb);
                    self.sums.map(|sum| part_of(sum, share_kb, all_kb))
                }
            };
            self.show(self.low, length_kb, part, runs.bytes, write);
            for (sum, part) in self.sums.iter_mut().zip(part) {
                *sum = sum.saturating_sub(part);
            }
            self.low = runs.end;
        }
    }

    /// Writes it, if something of it is in memory, and forgets it.
    fn write(&mut self, write: &mut impl FnMut(&Mapped)) {
        if core::mem::take(&mut self.is_there) && self.high > self.low {
            let length_kb = (self.high - self.low) / 1024;
            self.show(self.low, length_kb, self.sums, &[], write);
        }
    }

    fn show(
        &self,
        low: u64,
        length_kb: u64,
        [resident_kb, anonymous_kb, huge_kb, swapped_kb]: Sums,
        runs: &[u8],
        write: &mut impl FnMut(&Mapped),
    ) {
        if resident_kb == 0 && swapped_kb == 0 {
            return;
        }
        write(&Mapped {
            low_kb: low / 1024,
            length_kb,
            flags: self.flags & !GUARDING,
            resident_kb,
            anonymous_kb,
            huge_kb,
            swapped_kb,
            path: self.path.get(),
            runs,
        });
    }
}

/// The first of two files that there is.
fn either(one: &[u8], other: &[u8]) -> Option<Fd> {
    Os::open(one).or_else(|_| Os::open(other)).ok()
}

/// A flag that is not written: it is a guard itself.
const GUARDING: u32 = 1 << 31;

fn of(mapping: &Mapping) -> u32 {
    let is_guard =
        !mapping.has_access && mapping.file.inode == 0 && mapping.high - mapping.low <= GUARD;
    [
        (mapping.writable, Mapped::WRITABLE),
        (mapping.executable, Mapped::EXECUTABLE),
        (mapping.shared, Mapped::SHARED),
        (mapping.file.inode != 0, Mapped::FILE),
        (mapping.is_advised, Mapped::ADVISED),
        (is_guard, GUARDING),
    ]
    .into_iter()
    .filter(|(is_so, _)| *is_so)
    .fold(0, |flags, (_, flag)| flags | flag)
}

/// Of a sum so much as this share.
fn part_of(sum: u64, share: u64, whole: u64) -> u64 {
    match whole {
        0 => 0,
        whole => (u128::from(sum) * u128::from(share) / u128::from(whole)) as u64,
    }
}
