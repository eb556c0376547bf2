//! A file of operations: what a program asked of its allocator, in order, and nothing
//! else. `memlog replay` executes it, `memlog export replay` writes it.
//!
//! ```text
//! 8 bytes  "memlogop"
//! 8 bytes  version, 1
//! 8 bytes  where the operations begin
//! N words  of 8 bytes: see `Head`, in its order
//! texts    each a byte that says what it is, varint length, bytes; up to the operations
//! then operations: a byte, the low three bits which, the high five the logarithm of the
//! alignment (0: none was asked for); then varints
//!   0 TURN     thread          the operations that follow are its
//!   1 MALLOC   slot, size      a block comes into an empty slot
//!   2 CALLOC   slot, size
//!   3 ALIGNED  slot, size
//!   4 REALLOC  slot, size      the block of a slot becomes another
//!   5 FREE     slot            the slot is empty
//!   6 READING  kilobytes       so much the program's resident memory had grown
//!   7 BEGIN                    what came before this was there when recording began
//! ```
//!
//! A slot is a number below `Head::slots`, and is used again. The first turn is thread 0's.

use crate::Malformed;
use crate::varint::{MAX_VARINT, Reader, Writer};

/// What a file begins with.
pub const MAGIC: [u8; 8] = *b"memlogop";
/// Version of the format.
pub const VERSION: u64 = 1;
/// No operation is longer.
pub const MAX_OPERATION: usize = 1 + 2 * MAX_VARINT;
/// Where texts begin.
pub const TEXTS_AT: usize = 8 * (3 + WORDS);
/// So many threads at most.
pub const MAX_THREADS: u64 = 256;

const WORDS: usize = 13;
const LOW: u8 = 7;

/// What is known of all operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The most blocks that live at a time.
    pub slots: u64,
    /// Threads that the operations are of, at most [`MAX_THREADS`].
    pub threads: u64,
    /// Threads that the program had.
    pub program_threads: u64,
    /// Operations that allocate or release, those before BEGIN left out; REALLOC is one.
    pub operations: u64,
    /// The same, where REALLOC is an allocation and a release.
    pub allocations: u64,
    /// The same of releases.
    pub releases: u64,
    /// Releases of blocks that nobody saw coming: they are left out.
    pub unknown_releases: u64,
    /// Blocks whose release nobody saw: it is done when their address comes again.
    pub unseen_releases: u64,
    /// The peak of the program's resident memory, without the recorder's; 0 if unknown.
    pub peak_bytes: u64,
    /// By how much that had grown since the start; 0 if unknown.
    pub growth_bytes: u64,
    /// What of this may be mappings of the program's own.
    pub mapped_bytes: u64,
    /// The largest heap.
    pub heap_peak_bytes: u64,
    /// What is live at the end.
    pub end_live_bytes: u64,
}

impl Head {
    fn words(&self) -> [u64; WORDS] {
        [
            self.slots,
            self.threads,
            self.program_threads,
            self.operations,
            self.allocations,
            self.releases,
            self.unknown_releases,
            self.unseen_releases,
            self.peak_bytes,
            self.growth_bytes,
            self.mapped_bytes,
            self.heap_peak_bytes,
            self.end_live_bytes,
        ]
    }

    fn of(words: [u64; WORDS]) -> Self {
        let [
            slots,
            threads,
            program_threads,
            operations,
            allocations,
            releases,
            unknown_releases,
            unseen_releases,
            peak_bytes,
            growth_bytes,
            mapped_bytes,
            heap_peak_bytes,
            end_live_bytes,
        ] = words;
        Self {
            slots,
            threads,
            program_threads,
            operations,
            allocations,
            releases,
            unknown_releases,
            unseen_releases,
            peak_bytes,
            growth_bytes,
            mapped_bytes,
            heap_peak_bytes,
            end_live_bytes,
        }
    }

    /// What a file begins with, up to its texts; `operations_at` is where those end.
    pub fn encode(&self, operations_at: u64) -> [u8; TEXTS_AT] {
        let mut bytes = [0; TEXTS_AT];
        let first = [u64::from_le_bytes(MAGIC), VERSION, operations_at];
        let all = first.into_iter().chain(self.words());
        let (places, _) = bytes.as_chunks_mut();
        for (place, word) in places.iter_mut().zip(all) {
            *place = word.to_le_bytes();
        }
        bytes
    }
}

/// What a text of the file's beginning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Text {
    /// The program's file.
    Executable = 1,
    /// The library whose malloc the program had, as far as names tell, `(unknown)` where
    /// they do not; nothing where it was glibc's.
    Allocator = 2,
    /// A sentence about what the operations lack.
    Note = 3,
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The next are this thread's.
    Turn(u64),
    /// A block comes.
    Malloc {
        /// Where it is kept.
        slot: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// A block of zeros comes.
    Calloc {
        /// Where it is kept.
        slot: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// A block comes whose address is a multiple.
    Aligned {
        /// Where it is kept.
        slot: u64,
        /// Bytes asked for.
        size: u64,
        /// Of 2 to the power of this; 31 at most.
        log2: u8,
    },
    /// A block becomes another.
    Realloc {
        /// Where it is kept.
        slot: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// A block goes.
    Free {
        /// Where it was kept.
        slot: u64,
    },
    /// Resident memory had grown so far.
    Reading {
        /// Kilobytes.
        kb: u64,
    },
    /// The program's own operations begin.
    Begin,
}

impl Operation {
    /// Writes it; how many bytes it takes.
    pub fn encode(self, out: &mut [u8; MAX_OPERATION]) -> usize {
        let mut writer = Writer::new(out);
        let (tag, first, second) = match self {
            Self::Turn(thread) => (0, Some(thread), None),
            Self::Malloc { slot, size } => (1, Some(slot), Some(size)),
            Self::Calloc { slot, size } => (2, Some(slot), Some(size)),
            Self::Aligned { slot, size, log2 } => (3 | log2.min(31) << 3, Some(slot), Some(size)),
            Self::Realloc { slot, size } => (4, Some(slot), Some(size)),
            Self::Free { slot } => (5, Some(slot), None),
            Self::Reading { kb } => (6, Some(kb), None),
            Self::Begin => (7, None, None),
        };
        writer.u8(tag);
        for number in [first, second].into_iter().flatten() {
            writer.var(number);
        }
        // There is room for the longest.
        writer.finish().unwrap_or_default()
    }

    /// The next one.
    #[inline]
    pub fn next(from: &mut Reader) -> Result<Self, Malformed> {
        let tag = from.u8()?;
        Ok(match tag & LOW {
            0 => Self::Turn(from.var()?),
            1 => Self::Malloc {
                slot: from.var()?,
                size: from.var()?,
            },
            2 => Self::Calloc {
                slot: from.var()?,
                size: from.var()?,
            },
            3 => Self::Aligned {
                slot: from.var()?,
                size: from.var()?,
                log2: tag >> 3,
            },
            4 => Self::Realloc {
                slot: from.var()?,
                size: from.var()?,
            },
            5 => Self::Free { slot: from.var()? },
            6 => Self::Reading { kb: from.var()? },
            _ => Self::Begin,
        })
    }
}

/// A file of operations that was opened.
#[derive(Clone)]
pub struct Opened<'a> {
    /// What is known of all.
    pub head: Head,
    texts: Reader<'a>,
    /// The operations.
    pub operations: Reader<'a>,
}

impl<'a> Opened<'a> {
    /// Opens what a file holds.
    pub fn of(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let wrong = |offset, expected| Malformed { offset, expected };
        let (words, _) = bytes.as_chunks();
        let mut words = words.iter().map(|word| u64::from_le_bytes(*word));
        if words.next() != Some(u64::from_le_bytes(MAGIC)) {
            return Err(wrong(0, "a file of operations"));
        }
        if words.next() != Some(VERSION) {
            return Err(wrong(8, "version 1"));
        }
        let place = words.next().and_then(|at| usize::try_from(at).ok());
        let parts = place.filter(|at| *at >= TEXTS_AT);
        let parts = parts.and_then(|at| bytes.split_at_checked(at));
        let (before, operations) = parts.ok_or(wrong(16, "where the operations begin"))?;
        let mut numbers = [0; WORDS];
        for number in &mut numbers {
            *number = words.next().unwrap_or_default();
        }
        let head = Head::of(numbers);
        // No slot is without an operation that fills it, which has three bytes.
        if head.slots > operations.len() as u64 / 3 {
            return Err(wrong(24, "no more slots than operations"));
        }
        if !(1..=MAX_THREADS).contains(&head.threads) {
            return Err(wrong(32, "1 to 256 threads"));
        }
        Ok(Self {
            head,
            texts: Reader::new(before.get(TEXTS_AT..).unwrap_or_default()),
            operations: Reader::new(operations),
        })
    }

    /// The texts of this meaning, up to one that cannot be read.
    pub fn texts(&self, wanted: Text) -> impl Iterator<Item = &'a [u8]> {
        let mut rest = self.texts.clone();
        let next = move || Some((rest.u8().ok()?, rest.blob().ok()?));
        core::iter::from_fn(next)
            .filter(move |(kind, _)| *kind == wanted as u8)
            .map(|(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;

    fn all() -> Vec<Operation> {
        let big = u64::MAX;
        let (slot, size) = (300, 1 << 40);
        std::vec![
            Operation::Turn(255),
            Operation::Malloc { slot: 0, size: 0 },
            Operation::Calloc { slot, size },
            Operation::Aligned {
                slot: big,
                size: big,
                log2: 31
            },
            Operation::Realloc { slot, size },
            Operation::Free { slot: big },
            Operation::Reading { kb: 1 },
            Operation::Begin,
        ]
    }

    fn file(head: &Head) -> Vec<u8> {
        let mut texts = [0; 100];
        let mut writer = Writer::new(&mut texts);
        for (kind, text) in [(1, "prog"), (9, "?"), (3, "one"), (3, "two")] {
            writer.u8(kind);
            writer.blob(text.as_bytes());
        }
        let length = writer.finish().unwrap();
        let mut bytes = head.encode((TEXTS_AT + length) as u64).to_vec();
        bytes.extend_from_slice(&texts[..length]);
        for operation in all() {
            let mut one = [0; MAX_OPERATION];
            let length = operation.encode(&mut one);
            bytes.extend_from_slice(&one[..length]);
        }
        bytes
    }

    fn head() -> Head {
        let mut number = 0;
        let words = [0; WORDS].map(|_: u64| {
            number += 1;
            number
        });
        Head::of(words)
    }

    #[test]
    fn what_was_written_is_read() {
        let bytes = file(&head());
        let mut opened = Opened::of(&bytes).unwrap();
        assert_eq!(opened.head, head());
        let notes: Vec<_> = opened.texts(Text::Note).collect();
        assert_eq!(notes, [b"one", b"two"]);
        assert_eq!(opened.texts(Text::Executable).next(), Some(&b"prog"[..]));
        assert_eq!(opened.texts(Text::Allocator).next(), None);
        for expected in all() {
            assert_eq!(Operation::next(&mut opened.operations), Ok(expected));
        }
        assert!(opened.operations.is_empty());
        assert!(Operation::next(&mut opened.operations).is_err());
    }

    #[test]
    fn what_is_spoilt_is_told() {
        let bytes = file(&head());
        let spoilt = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            Opened::of(&bytes).err().map(|error| error.offset)
        };
        assert_eq!(spoilt(0, b'M'), Some(0));
        assert_eq!(spoilt(8, 2), Some(8));
        assert_eq!(spoilt(16, 0), Some(16));
        assert_eq!(spoilt(23, 1), Some(16));
        assert_eq!(spoilt(26, 1), Some(24));
        assert_eq!(spoilt(33, 1), Some(32));
        assert_eq!(spoilt(32, 0), Some(32));
        for length in 0..bytes.len() {
            // None of them panics.
            let _ = Opened::of(&bytes[..length]).map(|opened| opened.texts(Text::Note).count());
        }
    }
}
