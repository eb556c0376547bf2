//! Blocks that a log tells of together, one sum after the other: each says only in what
//! it is another than the one before it in the chunk.
//!
//! ```text
//! flags: 1 temporary, 2 a realloc took them, 4 the release's stack is there,
//!        8 by the same function and alignment, 16 the same stack, 32 the same threads,
//!        64 usable as predicted
//! varint flags
//! [u8 function, u8 log2 of the alignment   unless 8]
//! zigzag size
//! [varint usable - size                    unless 64]
//! [zigzag stack                            unless 16]
//! [varint thread that asked, varint thread that released   unless 32]
//! [varint stack of the release             if 4]
//! varint blocks
//! ```

use crate::Malformed;
use crate::api::Api;
use crate::passed::Passed;
use crate::table::StackId;
use crate::usable::predicted_usable;
use crate::varint::{Reader, Writer, unzigzag, zigzag};

const TEMPORARY: u64 = 1;
const MOVED: u64 = 2;
const HAS_STACK: u64 = 4;
const SAME_CALL: u64 = 8;
const SAME_STACK: u64 = 16;
const SAME_THREADS: u64 = 32;
const AS_PREDICTED: u64 = 64;

/// What the next sum is told by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Alike {
    api: u8,
    alignment_log2: u8,
    size: u64,
    stack: u32,
    threads: (u32, u32),
}

impl Alike {
    /// Of a chunk that has none so far.
    pub const NONE: Self = Self {
        api: 0,
        alignment_log2: 0,
        size: 0,
        stack: 0,
        threads: (0, 0),
    };

    pub fn put(&mut self, out: &mut Writer, passed: &Passed) {
        let next = Self {
            api: passed.api as u8,
            alignment_log2: passed.alignment_log2,
            size: passed.size,
            stack: passed.stack.0,
            threads: (passed.tid, passed.releaser),
        };
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let calls = |alike: &Self| (alike.api, alike.alignment_log2);
        let flags = flag(passed.temporary, TEMPORARY)
            | flag(passed.moved, MOVED)
            | flag(passed.release_stack.is_some(), HAS_STACK)
            | flag(calls(&next) == calls(self), SAME_CALL)
            | flag(next.stack == self.stack, SAME_STACK)
            | flag(next.threads == self.threads, SAME_THREADS)
            | flag(passed.usable == predicted_usable(passed.size), AS_PREDICTED);
        out.var(flags);
        if flags & SAME_CALL == 0 {
            out.u8(next.api);
            out.u8(next.alignment_log2);
        }
        out.var(zigzag(next.size.wrapping_sub(self.size) as i64));
        if flags & AS_PREDICTED == 0 {
            out.var(passed.usable.wrapping_sub(passed.size));
        }
        if flags & SAME_STACK == 0 {
            out.var(zigzag(i64::from(next.stack) - i64::from(self.stack)));
        }
        if flags & SAME_THREADS == 0 {
            out.var(u64::from(passed.tid));
            out.var(u64::from(passed.releaser));
        }
        if let Some(stack) = passed.release_stack {
            out.var(u64::from(stack.0));
        }
        out.var(passed.blocks);
        *self = next;
    }

    /// Nothing where a newer memlog knows more functions or flags.
    pub fn decode(&mut self, bytes: &mut Reader) -> Result<Option<Passed>, Malformed> {
        let offset = bytes.at();
        let mut next = *self;
        let flags = bytes.var()?;
        if flags & SAME_CALL == 0 {
            (next.api, next.alignment_log2) = (bytes.u8()?, bytes.u8()?);
        }
        next.size = next.size.wrapping_add(unzigzag(bytes.var()?) as u64);
        let usable = match flags & AS_PREDICTED {
            0 => next.size.wrapping_add(bytes.var()?),
            _ => predicted_usable(next.size),
        };
        if flags & SAME_STACK == 0 {
            next.stack = next.stack.wrapping_add(unzigzag(bytes.var()?) as u32);
        }
        if flags & SAME_THREADS == 0 {
            next.threads = (bytes.var32()?, bytes.var32()?);
        }
        let release_stack = match flags & HAS_STACK {
            0 => None,
            _ => Some(StackId(bytes.var32()?)),
        };
        let blocks = bytes.var()?;
        if blocks == 0 || blocks > Passed::MOST {
            return Err(Malformed {
                offset,
                expected: "1 to 1,024 blocks",
            });
        }
        *self = next;
        Ok(Api::from_number(next.api).map(|api| Passed {
            tid: next.threads.0,
            api,
            alignment_log2: next.alignment_log2,
            size: next.size,
            usable,
            stack: StackId(next.stack),
            releaser: next.threads.1,
            release_stack,
            temporary: flags & TEMPORARY != 0,
            moved: flags & MOVED != 0,
            blocks,
        }))
    }
}
