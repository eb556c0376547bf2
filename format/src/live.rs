//! The live set in a log that overwrites its oldest events: pages of entries,
//! and the chunk that says how far events were folded into them.
//!
//! ```text
//! LIVE   header | 1364 entries of six words each; a key of 0 is no entry
//!  0  u64 address    stored last, and zeroed first when an entry changes
//!  1  u64 size (48 bits) | api (8) | state (8): 1 live, 0 dead
//!  2  u64 order      the highest number applied plus one, 0 for none
//!  3  u64 version    fold << 16 | offset in its chunk: the record applied last
//!  4  u32 stack | u32 usable - size
//!  5  u32 tick | u32 thread
//!
//! FOLDS  header | words
//!  0  bound of the events chunks in bytes
//!  1  place of the fold: chunk in the file << 32 | offset that it ends at
//!  2  the fold under way, from 1; 0 for none
//!  3  the last fold that is done
//!  8  sums of the even folds, 16 words    24  sums of the odd ones
//! ```
//!
//! Chunks of different streams are folded in another order than things
//! happened. So an entry keeps the highest number applied; a record with a
//! lower one is *prior*: it changes nothing but the sums.

use crate::api::Api;
use crate::chunk::{CHUNK_SIZE, HEADER_SIZE};
use crate::table::StackId;

/// Words of an entry.
pub const ENTRY_WORDS: usize = 6;
/// Entries of a page.
pub const ENTRIES: usize = (CHUNK_SIZE - HEADER_SIZE) / (8 * ENTRY_WORDS);
/// The first word of a page's entries, counted from the chunk's start.
pub const FIRST_WORD: usize = HEADER_SIZE / 8;

/// The most that an entry can say of a size.
const MAX_SIZE: u64 = (1 << 48) - 1;
const LIVE: u64 = 1;

/// What the table knows of one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveEntry {
    /// The block's address, never 0.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes that the allocator gave.
    pub usable: u64,
    /// The highest number applied plus one, 0 for none: see [`order_word`].
    pub order: u64,
    /// The record that was applied last: see [`version`].
    pub version: u64,
    /// Who asked.
    pub stack: StackId,
    /// When it came, in ticks.
    pub tick: u32,
    /// The thread that asked.
    pub tid: u32,
    /// The function that was called; what the program told of is kept as the function that
    /// stands for it.
    pub api: Api,
    /// Whether it is there. A dead entry waits for lower numbers.
    pub live: bool,
}

impl LiveEntry {
    /// The words, the key first.
    pub fn to_words(&self) -> [u64; ENTRY_WORDS] {
        let slack = self.usable.saturating_sub(self.size);
        let slack = slack.min(u64::from(u32::MAX));
        [
            self.address,
            self.size.min(MAX_SIZE) << 16 | (self.api.recorded() as u64) << 8 | self.live as u64,
            self.order,
            self.version,
            u64::from(self.stack.0) | slack << 32,
            u64::from(self.tick) | u64::from(self.tid) << 32,
        ]
    }

    /// The entry in such words; nothing where there is none, or no entry point
    /// of that number.
    pub fn from_words(words: [u64; ENTRY_WORDS]) -> Option<Self> {
        let [address, what, order, version, stack, when] = words;
        if address == 0 {
            return None;
        }
        let size = what >> 16;
        Some(Self {
            address,
            size,
            usable: size.saturating_add(stack >> 32),
            order,
            version,
            stack: StackId(stack as u32),
            tick: when as u32,
            tid: (when >> 32) as u32,
            api: Api::from_byte((what >> 8) as u8)?,
            live: what & 0xff == LIVE,
        })
    }
}

/// The word of an order number.
#[inline]
pub const fn order_word(number: Option<u64>) -> u64 {
    match number {
        Some(number) => number.saturating_add(1),
        None => 0,
    }
}

/// Whether a record happened before what an entry says. Those without a number
/// are of one stream, whose chunks are folded in their order.
#[inline]
pub const fn is_prior(order: u64, entry_order: u64) -> bool {
    order < entry_order || (order == entry_order && order != 0)
}

/// The version of a record: rises from record to record of a fold, and from
/// fold to fold.
#[inline]
pub const fn version(fold: u64, offset: usize) -> u64 {
    fold << 16 | (offset as u64 & 0xffff)
}

/// Where an address belongs: every bit depends on every bit.
#[inline]
pub const fn hash(address: u64) -> u64 {
    let mixed = (address ^ address >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed ^ mixed >> 32
}

/// Words of the chunk that says how far events were folded, counted from the
/// end of its header.
pub mod folds {
    /// Bytes that the events chunks may take.
    pub const BOUND: usize = 0;
    /// Chunk in the file << 32 | offset that the fold ends at.
    pub const PLACE: usize = 1;
    /// The fold under way.
    pub const UNDER_WAY: usize = 2;
    /// The last fold that is done.
    pub const DONE: usize = 3;

    /// Where the sums after a fold lie.
    pub const fn sums(fold: u64) -> usize {
        8 + 16 * (fold & 1) as usize
    }
}

/// Words of the sums.
pub const SUM_WORDS: usize = 14;

/// What was folded, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// Chunks that were given out again.
    pub chunks: u64,
    /// Allocations.
    pub allocations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the allocator gave for them.
    pub usable_bytes: u64,
    /// Releases.
    pub releases: u64,
    /// Blocks released before their thread asked for another, but for those
    /// that lie over the end of a chunk.
    pub temporary: u64,
    /// The last tick of which a record was folded: all that is later is there.
    pub horizon_tick: u64,
    /// The reading of resident memory that is the highest without the recorder's
    /// own part.
    pub rss_kb: u64,
    /// Its tick.
    pub rss_tick: u64,
    /// Bytes live in the table.
    pub live_bytes: u64,
    /// The most that they were, in the order of folding.
    pub peak_bytes: u64,
    /// The tick of that.
    pub peak_tick: u64,
    /// The recorder's own part of `rss_kb`; 0 in logs of before there was this
    /// word, whose `rss_kb` is the highest reading with it.
    pub rss_own_kb: u64,
    /// The highest reading of all: a high-water mark says something new above it.
    pub rss_high_kb: u64,
}

impl Sums {
    /// The words.
    pub const fn to_words(&self) -> [u64; SUM_WORDS] {
        [
            self.chunks,
            self.allocations,
            self.bytes,
            self.usable_bytes,
            self.releases,
            self.temporary,
            self.horizon_tick,
            self.rss_kb,
            self.rss_tick,
            self.live_bytes,
            self.peak_bytes,
            self.peak_tick,
            self.rss_own_kb,
            self.rss_high_kb,
        ]
    }

    /// The sums in such words.
    pub const fn from_words(words: [u64; SUM_WORDS]) -> Self {
        let [
            chunks,
            allocations,
            bytes,
            usable_bytes,
            releases,
            temporary,
            horizon_tick,
            rss_kb,
            rss_tick,
            live_bytes,
            peak_bytes,
            peak_tick,
            rss_own_kb,
            rss_high_kb,
        ] = words;
        Self {
            chunks,
            allocations,
            bytes,
            usable_bytes,
            releases,
            temporary,
            horizon_tick,
            rss_kb,
            rss_tick,
            live_bytes,
            peak_bytes,
            peak_tick,
            rss_own_kb,
            rss_high_kb,
        }
    }
}

/// A word of a chunk, 0 where the bytes end.
pub fn word(chunk: &[u8], index: usize) -> u64 {
    crate::chunk::le64(chunk, 8 * index)
}

/// The entries of a page, as far as they can be read.
pub fn entries(page: &[u8]) -> impl Iterator<Item = LiveEntry> {
    (0..ENTRIES).filter_map(move |slot| {
        let first = FIRST_WORD + slot * ENTRY_WORDS;
        let mut words = [0; ENTRY_WORDS];
        for (index, place) in words.iter_mut().enumerate() {
            *place = word(page, first + index);
        }
        LiveEntry::from_words(words)
    })
}
