//! Blocks that a log tells of together: they came and went, and `memlog strip` left their
//! events out.

use crate::Malformed;
use crate::api::Api;
use crate::table::StackId;
use crate::varint::{Reader, Writer};

/// Blocks alike in all that is told here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Passed {
    /// The thread that asked.
    pub tid: u32,
    /// The function called.
    pub api: Api,
    /// Logarithm of the alignment asked for; 0 where none was.
    pub alignment_log2: u8,
    /// Bytes asked for.
    pub size: u64,
    /// Bytes that the allocator gave.
    pub usable: u64,
    /// Who asked.
    pub stack: StackId,
    /// The thread that released.
    pub releaser: u32,
    /// Who released, where recorded.
    pub release_stack: Option<StackId>,
    /// They went before their thread asked for another.
    pub temporary: bool,
    /// A realloc took them.
    pub moved: bool,
    /// How many, [`MOST`](Self::MOST) at most. None: here the stream's thread had asked for another block, so that what
    /// goes next is not temporary.
    pub blocks: u64,
}

const TEMPORARY: u64 = 1;
const MOVED: u64 = 2;
const HAS_STACK: u64 = 4;
const CUSTOM: u64 = 8;
const POOL: u64 = 16;

impl Passed {
    /// No record tells of more blocks: a few bytes of a forged log are not to keep who reads
    /// it busy for hours.
    pub const MOST: u64 = 1024;

    /// Others came here, which are told elsewhere.
    pub const OTHERS: Self = Self {
        tid: 0,
        api: Api::Malloc,
        alignment_log2: 0,
        size: 0,
        usable: 0,
        stack: StackId(0),
        releaser: 0,
        release_stack: None,
        temporary: false,
        moved: false,
        blocks: 0,
    };

    pub(crate) fn put(&self, out: &mut Writer) {
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let flags = flag(self.temporary, TEMPORARY)
            | flag(self.moved, MOVED)
            | flag(self.release_stack.is_some(), HAS_STACK)
            | match self.api {
                Api::Pool => POOL,
                api => flag(api.is_told(), CUSTOM),
            };
        out.var(self.blocks);
        if self.blocks == 0 {
            return;
        }
        out.var(flags);
        out.u8(match self.api {
            // What malloc gave, and is a pool now.
            Api::Pool => Api::Malloc,
            api => api.recorded(),
        } as u8);
        out.u8(self.alignment_log2);
        out.var(self.size);
        out.var(self.usable.wrapping_sub(self.size));
        out.var(u64::from(self.stack.0));
        out.var(u64::from(self.tid));
        out.var(u64::from(self.releaser));
        if let Some(stack) = self.release_stack {
            out.var(u64::from(stack.0));
        }
    }

    /// Nothing where a newer memlog knows more functions.
    pub(crate) fn decode(bytes: &mut Reader) -> Result<Option<Self>, Malformed> {
        let offset = bytes.at();
        let blocks = bytes.var()?;
        if blocks == 0 {
            return Ok(Some(Self::OTHERS));
        }
        if blocks > Self::MOST {
            return Err(Malformed {
                offset,
                expected: "1,024 blocks at most",
            });
        }
        let flags = bytes.var()?;
        let (api, alignment_log2) = (bytes.u8()?, bytes.u8()?);
        let (size, spare) = (bytes.var()?, bytes.var()?);
        let stack = StackId(bytes.var32()?);
        let (tid, releaser) = (bytes.var32()?, bytes.var32()?);
        let release_stack = match flags & HAS_STACK {
            0 => None,
            _ => Some(StackId(bytes.var32()?)),
        };
        Ok(Api::from_byte(api).map(|api| Self {
            tid,
            api: match flags & (CUSTOM | POOL) {
                0 => api,
                CUSTOM => api.told(),
                _ => Api::Pool,
            },
            alignment_log2,
            size,
            usable: size.wrapping_add(spare),
            stack,
            releaser,
            release_stack,
            temporary: flags & TEMPORARY != 0,
            moved: flags & MOVED != 0,
            blocks,
        }))
    }
}
