//! The two tables that events point into: stack nodes and code addresses.
//!
//! A table is an array cut into chunks. The index of a record tells its place:
//! the high bits of an id are the chunk's index (the `stream` field of its
//! header), the low bits the record's position in the chunk, so the positions
//! under the header, and with them the small ids, are never given out. A
//! record of zeros was never written. A record is written before its id
//! stands in any event.

use crate::chunk::{CHUNK_SIZE, HEADER_SIZE, le32, le64};

/// Bytes of a node: parent id, code id.
pub const NODE_SIZE: usize = 8;
/// Bytes of a code: address, module instance, flags.
pub const CODE_SIZE: usize = 16;
/// Node records in a chunk, those under the header included.
pub const NODES_PER_CHUNK: u32 = (CHUNK_SIZE / NODE_SIZE) as u32;
/// Code records in a chunk, those under the header included.
pub const CODES_PER_CHUNK: u32 = (CHUNK_SIZE / CODE_SIZE) as u32;
/// Node records that the header covers: the ids that never name a node.
pub const FIRST_NODE: u32 = (HEADER_SIZE / NODE_SIZE) as u32;
/// Code records that the header covers.
pub const FIRST_CODE: u32 = (HEADER_SIZE / CODE_SIZE) as u32;

/// A stack: the path from a root to a node. Ids below [`FIRST_NODE`] are the
/// roots, and say how the walk ended beyond the outermost frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackId(pub u32);

impl StackId {
    /// No stack was taken for this event.
    pub const NONE: Self = Self(0);
    /// The walk reached the end of the thread's stack.
    pub const COMPLETE: Self = Self(1);
    /// Cut: no unwind tables for the next address.
    pub const CUT_NO_TABLES: Self = Self(2);
    /// Cut: more frames than the recorder keeps.
    pub const CUT_TOO_DEEP: Self = Self(3);
    /// Cut: the tables led out of the stack.
    pub const CUT_BAD_FRAME: Self = Self(4);
    /// Cut: the rules for the next address were not to be had just then.
    pub const CUT_BUSY: Self = Self(5);
    /// Cut: the recorder's tables are full.
    pub const CUT_FULL: Self = Self(6);
    /// Cut: a step that the recorder does not know.
    pub const CUT_UNSUPPORTED: Self = Self(7);

    /// Whether this is a root rather than a node.
    #[inline]
    pub const fn is_root(self) -> bool {
        self.0 < FIRST_NODE
    }

    /// Whether a stack that ends in this root lacks outer frames.
    pub const fn is_cut(self) -> bool {
        self.is_root() && self.0 > Self::COMPLETE.0
    }

    /// What the root says, for people.
    pub const fn root_name(self) -> &'static str {
        match self.0 {
            0 => "no stack",
            1 => "complete",
            2 => "no unwind tables",
            3 => "too deep",
            4 => "bad frame",
            5 => "rules not available",
            6 => "recorder's tables full",
            7 => "unsupported unwind step",
            _ => "not a root",
        }
    }
}

/// A code address: an index into the table of codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CodeId(pub u32);

/// One frame of a stack: called from `parent`'s frame, at `code`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The frame further out, or a root.
    pub parent: StackId,
    /// Where this frame was executing.
    pub code: CodeId,
}

impl Node {
    /// The record as the word whose little-endian bytes stand in the chunk.
    #[inline]
    pub const fn to_word(self) -> u64 {
        self.parent.0 as u64 | (self.code.0 as u64) << 32
    }

    /// The node in such a word.
    #[inline]
    pub const fn from_word(word: u64) -> Self {
        Self {
            parent: StackId(word as u32),
            code: CodeId((word >> 32) as u32),
        }
    }

    /// The node in a record; `None` if it was never written.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let code = le32(bytes, 4);
        (code != 0).then(|| Self {
            parent: StackId(le32(bytes, 0)),
            code: CodeId(code),
        })
    }
}

/// An address in a module instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Code {
    /// The return address, or the interrupted instruction if `exact`.
    pub address: u64,
    /// The module instance, 0 where none is known.
    pub module: u32,
    /// Set when `address` is the instruction itself (a signal's frame); a
    /// return address is looked up one byte lower.
    pub exact: bool,
}

impl Code {
    /// The second word of the record; the first is the address.
    #[inline]
    pub const fn to_tail_word(self) -> u64 {
        self.module as u64 | (self.exact as u64) << 32
    }

    /// The code in a record; `None` if it was never written.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (address, tail) = (le64(bytes, 0), le64(bytes, 8));
        (address | tail != 0).then(|| Self {
            address,
            module: le32(bytes, 8),
            exact: le32(bytes, 12) & 1 != 0,
        })
    }

    /// The address to look names up for.
    pub const fn lookup_address(self) -> u64 {
        self.address.wrapping_sub(!self.exact as u64)
    }
}

/// The id of the `count`-th record of a table, counted from 0.
#[inline]
pub const fn id_of(count: u32, per_chunk: u32, first: u32) -> Option<u32> {
    let usable = per_chunk.saturating_sub(first);
    if usable == 0 {
        return None;
    }
    match (count / usable).checked_mul(per_chunk) {
        Some(base) => base.checked_add(count % usable + first),
        None => None,
    }
}
