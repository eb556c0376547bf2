//! The records of an events chunk. Each starts with a tag byte: the low three
//! bits are the operation, the high five its flags.
//!
//! ```text
//! 0 EXT      flags = type; varint length, payload: see `ext`
//! 1 ALLOC    by malloc
//! 2 ALLOC    api byte [log2 of the alignment]
//!            then [varint size unless SAME_SIZE] zigzag address
//!            [varint usable - size if USABLE] [zigzag stack unless SAME_STACK]
//!            [varint number if ORDERED]
//! 3 RELEASE  by free; if ANNOUNCED by realloc, for free announces nothing
//! 4 RELEASE  api byte
//!            then zigzag address [zigzag stack if HAS_STACK]
//!            [varint number if ORDERED]
//! 5 TICK     flags = ticks passed, 31: varint of what is above 31 follows
//! 6 STAMP    flags = distance from the stream's last stamp, as with TICK
//! 7 REVOKE   the announced release before it did not happen
//! ```
//!
//! Addresses, sizes and stacks are relative to those of the event before in
//! the same chunk; a chunk starts from zero, so each can be read by itself.
//! An address is counted in units of 16 bytes unless BYTES says otherwise.
//! What the program told of an allocator of its own stands right behind an EXT that says so.
//! Flags that an operation does not use are zero, and no type of EXT is: a page
//! of zeros, which is what a crash of the machine leaves, is malformed at once.

mod read;

use crate::alike::Alike;
use crate::api::Api;
use crate::ext::{CUSTOM, Ext};
use crate::table::StackId;
pub use crate::usable::predicted_usable;
use crate::varint::{Writer, short_word_of, word_of, zigzag};

/// No record of an event is longer, extensions apart.
pub const MAX_EVENT: usize = 64;

const OP_EXT: u8 = 0;
pub(crate) const OP_MALLOC: u8 = 1;
pub(crate) const OP_ALLOC: u8 = 2;
pub(crate) const OP_FREE: u8 = 3;
pub(crate) const OP_RELEASE: u8 = 4;
pub(crate) const OP_TICK: u8 = 5;
const OP_STAMP: u8 = 6;
const OP_REVOKE: u8 = 7;

pub(crate) const ORDERED: u8 = 1 << 3;
pub(crate) const SAME_STACK: u8 = 1 << 4;
pub(crate) const HAS_STACK: u8 = 1 << 4;
pub(crate) const USABLE: u8 = 1 << 5;
pub(crate) const ANNOUNCED: u8 = 1 << 5;
pub(crate) const BYTES: u8 = 1 << 6;
pub(crate) const SAME_SIZE: u8 = 1 << 7;

/// Memory came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alloc {
    /// The function called.
    pub api: Api,
    /// The block's address.
    pub address: u64,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes that the allocator gave.
    pub usable: u64,
    /// Logarithm of the alignment asked for; 0 where none was.
    pub alignment_log2: u8,
    /// Who asked.
    pub stack: StackId,
    /// The number in the address's cell once that is shared.
    pub order: Option<u64>,
}

/// Memory goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The function called.
    pub api: Api,
    /// The block's address.
    pub address: u64,
    /// Set on the first half of a realloc: the next ALLOC or REVOKE of the
    /// stream, in the same chunk, says whether it happened.
    pub announced: bool,
    /// Who released, where recorded.
    pub stack: Option<StackId>,
    /// The number in the address's cell once that is shared.
    pub order: Option<u64>,
}

/// One record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// Memory came.
    Alloc(Alloc),
    /// Memory goes.
    Release(Release),
    /// The announced release did not happen.
    Revoke,
    /// From here on the stream's time is this tick.
    Tick(u64),
    /// The global order number that the stream took here.
    Stamp(u64),
    /// A rarer record.
    Ext(Ext<'a>),
}

/// What nearly all records are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Usual {
    /// Memory came.
    Alloc(Alloc),
    /// Memory goes, and that is certain.
    Release(Release),
}

/// What the records of a chunk are relative to; the same for both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deltas {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) stack: u32,
    pub(crate) passed: Alike,
    /// The tick now.
    pub tick: u64,
    /// The last stamp.
    pub stamp: u64,
}

impl Deltas {
    /// The state at a chunk's start.
    pub const fn at_start(base_tick: u64, base_stamp: u64) -> Self {
        Self {
            address: 0,
            size: 0,
            stack: 0,
            passed: Alike::NONE,
            tick: base_tick,
            stamp: base_stamp,
        }
    }

    #[inline]
    fn address_flag(&self, address: u64) -> u8 {
        if (address ^ self.address) & 15 == 0 {
            0
        } else {
            BYTES
        }
    }

    #[inline]
    fn put_address(&mut self, out: &mut Writer, address: u64) {
        let distance = address.wrapping_sub(self.address) as i64;
        let shift = if self.address_flag(address) == 0 {
            4
        } else {
            0
        };
        out.var(zigzag(distance >> shift));
        self.address = address;
    }

    #[inline]
    const fn stack_distance(&self, stack: StackId) -> u64 {
        zigzag(stack.0 as i64 - self.stack as i64)
    }

    #[inline]
    fn put_stack(&mut self, out: &mut Writer, stack: StackId) {
        out.var(self.stack_distance(stack));
        self.stack = stack.0;
    }

    /// Writes what nearly all allocations are, by malloc and without a number,
    /// in two words: how many bytes, or nothing where
    /// [`put_alloc`](Self::put_alloc) has to.
    #[inline(always)]
    pub fn put_malloc(
        &mut self,
        out: &mut [u8; 16],
        address: u64,
        (size, usable): (u64, u64),
        stack: StackId,
    ) -> Option<usize> {
        let step = address.wrapping_sub(self.address) as i64;
        let distance = zigzag(step >> 4);
        // Two bytes of size and five of address, in one word with the tag.
        let fits = size >> 14 == 0 && distance >> 35 == 0 && step & 15 == 0;
        if !fits || usable != predicted_usable(size) {
            return None;
        }
        let is_same_size = size == self.size;
        let is_same_stack = stack.0 == self.stack;
        let tag = OP_MALLOC | (is_same_size as u8) << 7 | (is_same_stack as u8) << 4;
        const { assert!(SAME_SIZE == 1 << 7 && SAME_STACK == 1 << 4) };
        let (new_size, size_bytes) = short_word_of(size);
        // Without a branch: who allocates two sizes in turn cannot be predicted.
        let is_written = (is_same_size as u64).wrapping_sub(1);
        let size_bytes = size_bytes & is_written as u32;
        let (new_address, address_bytes) = word_of(distance);
        let word =
            u64::from(tag) | (new_size & is_written) << 8 | new_address << (8 + 8 * size_bytes);
        let mut count = (1 + size_bytes + address_bytes) as usize;
        *out.first_chunk_mut()? = word.to_le_bytes();
        if !is_same_stack {
            let (word, bytes) = word_of(self.stack_distance(stack));
            let place = out.get_mut(count..count + 8)?;
            place.copy_from_slice(&word.to_le_bytes());
            count += bytes as usize;
            self.stack = stack.0;
        }
        (self.address, self.size) = (address, size);
        Some(count)
    }

    /// Writes an allocation; at most [`MAX_EVENT`] bytes.
    pub fn put_alloc(&mut self, out: &mut Writer, event: &Alloc) {
        let mut flags = self.address_flag(event.address);
        if event.size == self.size {
            flags |= SAME_SIZE;
        }
        if event.usable != predicted_usable(event.size) {
            flags |= USABLE;
        }
        if event.stack.0 == self.stack {
            flags |= SAME_STACK;
        }
        if event.order.is_some() {
            flags |= ORDERED;
        }
        match event.api {
            Api::Malloc => out.u8(OP_MALLOC | flags),
            api => {
                put_entry(out, flags, (OP_MALLOC, OP_ALLOC), api, Api::Malloc);
                if api.is_aligned() {
                    out.u8(event.alignment_log2);
                }
            }
        }
        if flags & SAME_SIZE == 0 {
            out.var(event.size);
            self.size = event.size;
        }
        self.put_address(out, event.address);
        if flags & USABLE != 0 {
            out.var(event.usable.wrapping_sub(event.size));
        }
        if flags & SAME_STACK == 0 {
            self.put_stack(out, event.stack);
        }
        if let Some(number) = event.order {
            out.var(number);
        }
    }

    /// Writes what nearly all releases are, by free and without a number, in
    /// one word: how many bytes, or nothing where
    /// [`put_release`](Self::put_release) has to.
    #[inline(always)]
    pub fn put_free(&mut self, out: &mut [u8; 8], address: u64) -> Option<usize> {
        let step = address.wrapping_sub(self.address) as i64;
        let distance = zigzag(step >> 4);
        if distance >> 49 != 0 || step & 15 != 0 {
            return None;
        }
        let (word, bytes) = word_of(distance);
        *out = (u64::from(OP_FREE) | word << 8).to_le_bytes();
        self.address = address;
        Some(1 + bytes as usize)
    }

    /// Writes a release; at most [`MAX_EVENT`] bytes.
    pub fn put_release(&mut self, out: &mut Writer, event: &Release) {
        let mut flags = self.address_flag(event.address);
        if event.order.is_some() {
            flags |= ORDERED;
        }
        if event.stack.is_some() {
            flags |= HAS_STACK;
        }
        if event.announced {
            flags |= ANNOUNCED;
        }
        let short = short_release(event.announced);
        match event.api {
            api if api == short => out.u8(OP_FREE | flags),
            api => put_entry(out, flags, (OP_FREE, OP_RELEASE), api, short),
        }
        self.put_address(out, event.address);
        if let Some(stack) = event.stack {
            self.put_stack(out, stack);
        }
        if let Some(number) = event.order {
            out.var(number);
        }
    }

    /// Writes that an announced release did not happen.
    pub fn put_revoke(&mut self, out: &mut Writer) {
        out.u8(OP_REVOKE);
    }

    /// Writes that time has moved on to `tick`; nothing if it has not.
    pub fn put_tick(&mut self, out: &mut Writer, tick: u64) {
        let Some(passed) = tick.checked_sub(self.tick) else {
            return;
        };
        if passed == 0 {
            return;
        }
        self.tick = tick;
        put_step(out, OP_TICK, passed);
    }

    /// Writes a stamp, which never falls within a stream.
    pub fn put_stamp(&mut self, out: &mut Writer, stamp: u64) {
        put_step(out, OP_STAMP, stamp.wrapping_sub(self.stamp));
        self.stamp = stamp;
    }

    /// Writes a rarer record; at most [`MAX_EXT`](crate::ext::MAX_EXT) bytes. One
    /// that is longer does not fit, whatever the room in `out`. One of a newer memlog may
    /// be what the next is told by: those behind it cannot be written again.
    pub fn put_ext(&mut self, out: &mut Writer, ext: &Ext) {
        let mut scratch = [0u8; crate::ext::MAX_PAYLOAD];
        let mut payload = Writer::new(&mut scratch);
        match ext {
            Ext::Passed(passed) if passed.blocks > 0 => self.passed.put(&mut payload, passed),
            _ => ext.put(&mut payload),
        }
        let Some(length) = payload.finish() else {
            out.fail();
            return;
        };
        out.u8(OP_EXT | ext.kind() << 3);
        out.blob(scratch.get(..length).unwrap_or(&[]));
    }
}

/// Begins a record by another function than the one that needs no byte; what the program
/// told of stands behind the record that says so.
fn put_entry(out: &mut Writer, flags: u8, (op_short, op): (u8, u8), api: Api, short: Api) {
    if api.is_told() {
        out.u8(OP_EXT | CUSTOM << 3);
        out.u8(0);
    }
    match api.recorded() {
        api if api == short => out.u8(op_short | flags),
        api => {
            out.u8(op | flags);
            out.u8(api as u8);
        }
    }
}

/// Whose releases need no api byte.
pub(crate) const fn short_release(announced: bool) -> Api {
    if announced { Api::Realloc } else { Api::Free }
}

/// The flags of a step that is too long for them.
const LONG_STEP: u64 = 31;

/// A step forward, in the flags if it is short.
#[inline]
fn put_step(out: &mut Writer, operation: u8, distance: u64) {
    if distance < LONG_STEP {
        out.u8(operation | (distance as u8) << 3);
    } else {
        out.u8(operation | (LONG_STEP as u8) << 3);
        out.var(distance - LONG_STEP);
    }
}
