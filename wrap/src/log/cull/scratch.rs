//! What is known of a chunk while blocks are left out of it: memory of a fixed size.
#![allow(unsafe_code)]
//! # Safety
//! It begins as zeros, which are valid but for the sums: those are written once.

use memlog_format::order::cell;
use memlog_format::passed::Passed;

/// Allocations of a chunk at most: as many as releases of them fit beside.
const MOST_CAME: usize = 16 * 1024;
/// Allocations and releases at most: a record takes two bytes.
const MOST_EVENTS: usize = 32 * 1024;
/// Places of addresses: twice as many as there can be.
const PLACES: usize = 2 * MOST_CAME;
/// Blocks of so many kinds are summed up at once.
const MOST_SUMS: usize = 2048;
const SUM_PLACES: usize = 2 * MOST_SUMS;
/// Cells whose numbers are followed at once: those of 8 MiB of heap.
const RUNS: usize = 2048;

/// An allocation.
#[derive(Clone, Copy)]
pub struct Came {
    /// Its block.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes given.
    pub usable: u64,
    /// Who asked.
    pub stack: u32,
    /// The thread.
    pub tid: u32,
    /// Its number in its cell, or [`UNNUMBERED`].
    pub order: u64,
    /// When, in ticks since the chunk began.
    pub tick: u32,
    /// Which event it is.
    pub at: u16,
    /// Which event its release is; 0 for none.
    pub went: u16,
    /// How many marks lie before it.
    pub marks: u16,
    /// The function called.
    pub api: u8,
    /// Logarithm of the alignment.
    pub alignment_log2: u8,
    /// What speaks against leaving it out.
    pub stays: bool,
    /// It is left out.
    pub goes: bool,
}

/// Of an event that no other thread can have come near.
pub const UNNUMBERED: u64 = u64::MAX;

/// Numbers of a cell without a gap: no other thread had one in between.
#[derive(Clone, Copy)]
struct Run {
    /// The cell and one; 0 for none.
    cell: u32,
    first: u64,
    last: u64,
}

/// Blocks that are left out, and how many there are of each kind.
#[derive(Clone, Copy)]
struct Sum {
    passed: Passed,
    blocks: u64,
}

/// The memory.
pub struct Scratch {
    places: [u16; PLACES],
    came: [Came; MOST_CAME],
    events: [u16; MOST_EVENTS],
    marks: [u64; MOST_EVENTS / 64],
    runs: [Run; RUNS],
    sums: [Sum; MOST_SUMS],
    sum_places: [u16; SUM_PLACES],
    came_count: usize,
    event_count: usize,
    sum_count: usize,
}

impl Scratch {
    /// Bytes of it.
    pub const BYTES: usize = size_of::<Self>().next_multiple_of(4096);

    /// Makes it of zeros.
    ///
    /// # Safety
    /// `memory` is zeros of its size that nobody else knows.
    pub unsafe fn begin(memory: *mut Self) {
        const NONE: Sum = Sum {
            passed: Passed::OTHERS,
            blocks: 0,
        };
        // SAFETY: by the caller; the array has so many.
        unsafe {
            let sums = (&raw mut (*memory).sums).cast::<Sum>();
            for index in 0..MOST_SUMS {
                sums.add(index).write(NONE);
            }
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.fill(0);
        self.marks.fill(0);
        self.runs.iter_mut().for_each(|run| run.cell = 0);
        self.forget_sums();
        (self.came_count, self.event_count) = (0, 0);
    }

    /// Where an address is looked up first.
    fn place(address: u64) -> usize {
        (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) as usize % PLACES
    }

    /// The latest allocation at an address, and the place of its number, or of a
    /// next one.
    fn find(&self, address: u64) -> Option<(usize, Option<u16>)> {
        let first = Self::place(address);
        for step in 0..PLACES {
            let place = (first + step) % PLACES;
            match *self.places.get(place)? {
                0 => return Some((place, None)),
                number if self.came(number)?.address == address => {
                    return Some((place, Some(number)));
                }
                _ => {}
            }
        }
        None
    }

    /// An allocation by its number, from 1.
    pub fn came(&self, number: u16) -> Option<&Came> {
        self.came.get(usize::from(number).wrapping_sub(1))
    }

    /// The same, to be changed.
    pub fn came_mut(&mut self, number: u16) -> Option<&mut Came> {
        self.came.get_mut(usize::from(number).wrapping_sub(1))
    }

    /// The latest allocation at an address whose block is live.
    pub fn live(&self, address: u64) -> Option<u16> {
        let number = self.find(address)?.1?;
        (self.came(number)?.went == 0).then_some(number)
    }

    /// Notes the number of an event; the first from which on all of its cell up to it are
    /// this thread's, as far as is known.
    pub fn run(&mut self, address: u64, number: u64) -> u64 {
        let cell = cell(address);
        let Some(run) = self.runs.get_mut(cell % RUNS) else {
            return number;
        };
        let own = cell as u32 + 1;
        if run.cell != own || run.last.wrapping_add(1) != number {
            (run.cell, run.first) = (own, number);
        }
        run.last = number;
        run.first
    }

    /// The next event; nothing where there is no room for it.
    pub fn next_event(&mut self) -> Option<u16> {
        let at = self.event_count;
        *self.events.get_mut(at)? = 0;
        self.event_count += 1;
        u16::try_from(at).ok()
    }

    /// Events so far.
    pub fn events(&self) -> u16 {
        self.event_count as u16
    }

    /// The allocation that an event is, or is the release of; 0 for one that is not known.
    pub fn number_of(&self, event: u16) -> u16 {
        self.events.get(usize::from(event)).copied().unwrap_or(0)
    }

    /// Notes whose event it is.
    pub fn set_number(&mut self, event: u16, number: u16) {
        if let Some(place) = self.events.get_mut(usize::from(event)) {
            *place = number;
        }
    }

    /// Notes an allocation; false where there is no room. One at whose address
    /// another is live stays: it is not known how that went.
    pub fn add(&mut self, came: Came) -> bool {
        let (place, other) = match self.find(came.address) {
            Some(found) => found,
            None => return false,
        };
        let is_live = other.and_then(|other| self.came(other));
        let stays = came.stays || is_live.is_some_and(|other| other.went == 0);
        let Some(room) = self.came.get_mut(self.came_count) else {
            return false;
        };
        *room = Came { stays, ..came };
        self.came_count += 1;
        let number = self.came_count as u16;
        if let Some(place) = self.places.get_mut(place) {
            *place = number;
        }
        self.set_number(came.at, number);
        true
    }

    /// A moment right behind an event: what is live at it stays.
    pub fn mark(&mut self, event: u16) {
        if let Some(word) = self.marks.get_mut(usize::from(event) / 64) {
            *word |= 1 << (event % 64);
        }
    }

    /// Whether there is one.
    fn is_marked(&self, event: u16) -> bool {
        let word = self.marks.get(usize::from(event) / 64);
        word.is_some_and(|word| word & 1 << (event % 64) != 0)
    }

    /// Decides which blocks go: those that may, and were live at no mark. How many.
    pub fn decide(&mut self) -> u64 {
        let (mut marks, mut blocks) = (0u16, 0);
        for event in 0..self.events() {
            let number = self.number_of(event);
            if let Some(came) = self.came_mut(number) {
                if came.at == event {
                    came.marks = marks;
                } else {
                    came.goes = !came.stays && came.marks == marks;
                    blocks += u64::from(came.goes);
                }
            }
            marks += u16::from(self.is_marked(event));
        }
        blocks
    }

    /// Adds blocks to a sum; false where there is no room for another.
    pub fn sum(&mut self, passed: &Passed) -> bool {
        let key = Passed {
            blocks: 0,
            ..*passed
        };
        let words = [
            u64::from(key.stack.0) << 32 | u64::from(key.tid),
            key.size << 8 | u64::from(key.temporary) << 1 | u64::from(key.moved),
        ];
        let first = words
            .into_iter()
            .map(Self::place)
            .fold(0, |all, one| all * 31 + one);
        for step in 0..SUM_PLACES {
            let place = (first + step) % SUM_PLACES;
            let Some(number) = self.sum_places.get_mut(place) else {
                return false;
            };
            if *number == 0 {
                let Some(room) = self.sums.get_mut(self.sum_count) else {
                    return false;
                };
                *room = Sum {
                    passed: key,
                    blocks: passed.blocks,
                };
                self.sum_count += 1;
                *number = self.sum_count as u16;
                return true;
            }
            if let Some(sum) = self.sums.get_mut(usize::from(*number) - 1)
                && sum.passed == key
            {
                sum.blocks = sum.blocks.saturating_add(passed.blocks);
                return true;
            }
        }
        false
    }

    /// The sums, by stack and size, each in records of no more blocks than one may tell
    /// of. They are to be forgotten then.
    pub fn each_sum(&mut self, mut see: impl FnMut(Passed)) {
        let sums = self.sums.get_mut(..self.sum_count).unwrap_or(&mut []);
        sort(sums);
        for sum in sums {
            let mut left = sum.blocks;
            while left > 0 {
                let blocks = left.min(Passed::MOST);
                left -= blocks;
                see(Passed {
                    blocks,
                    ..sum.passed
                });
            }
        }
    }

    /// Whether there are none.
    pub fn has_no_sums(&self) -> bool {
        self.sum_count == 0
    }

    /// They are told.
    pub fn forget_sums(&mut self) {
        self.sum_places.fill(0);
        self.sum_count = 0;
    }
}

/// Sorts sums so that each is much like the one before.
fn sort(sums: &mut [Sum]) {
    let key = |sum: Option<&Sum>| {
        sum.map(|Sum { passed, .. }| {
            let flags = (passed.api as u8, passed.temporary, passed.moved);
            (passed.stack.0, passed.size, flags)
        })
    };
    // Shell's sort: no order of whatever kind makes it fail.
    for gap in [701, 301, 132, 57, 23, 10, 4, 1] {
        for end in gap..sums.len() {
            let mut at = end;
            while let Some(before) = at.checked_sub(gap)
                && key(sums.get(before)) > key(sums.get(at))
            {
                let (low, high) = sums.split_at_mut_checked(at).unwrap_or((&mut [], &mut []));
                if let (Some(low), Some(high)) = (low.get_mut(before), high.first_mut()) {
                    core::mem::swap(low, high);
                }
                at = before;
            }
        }
    }
}
