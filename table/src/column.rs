//! What a row has.

use memlog_analysis::Area;
use memlog_format::api::Api;

/// A column. Its number is its place in a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Column {
    /// The event that it went at; [`crate::NEVER`] if it did not.
    Died,
    /// The event that it came at; 0: before the log.
    Born,
    /// Its address.
    Address,
    /// Bytes asked for.
    Size,
    /// Bytes given beyond those.
    Waste,
    /// Who asked: the place of the stack in [`crate::Table::stacks`].
    Stack,
    /// The thread that asked: its place in [`crate::Table::threads`].
    Thread,
    /// The thread that released it; of no meaning if it did not go.
    Releaser,
    /// Who released it, one more than its place in [`crate::Table::stacks`]; 0: not
    /// recorded.
    ReleaseStack,
    /// See [`Flags`].
    Flags,
    /// How many events before it the first block of its chain of reallocs came.
    ChainAge,
    /// Its place in that chain, from 0.
    ChainPlace,
    /// The tag that its thread had then: its place in [`crate::Table::scopes`].
    Scope,
}

/// All of them, by number.
pub(crate) const ALL: [Column; 13] = [
    Column::Died,
    Column::Born,
    Column::Address,
    Column::Size,
    Column::Waste,
    Column::Stack,
    Column::Thread,
    Column::Releaser,
    Column::ReleaseStack,
    Column::Flags,
    Column::ChainAge,
    Column::ChainPlace,
    Column::Scope,
];

pub(crate) const COUNT: usize = ALL.len();

/// Some columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns(pub(crate) u16);

impl Columns {
    /// All of them.
    pub const ALL: Self = Self((1 << COUNT) - 1);

    /// None of them.
    pub const NONE: Self = Self(0);

    /// These.
    pub fn of(columns: &[Column]) -> Self {
        columns
            .iter()
            .fold(Self::default(), |all, &one| all.with(one))
    }

    /// And this one.
    pub const fn with(self, column: Column) -> Self {
        Self(self.0 | 1 << column as u8)
    }

    /// And those.
    pub const fn and(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Whether it is one of them.
    pub const fn has(self, column: Column) -> bool {
        self.0 >> column as u8 & 1 != 0
    }
}

/// How a block came and went, or how a part of a mapping did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u64);

const ALIGNMENT: u32 = 8;
const TEMPORARY: u32 = 16;
const MOVED: u32 = 17;
const LOST_SIGHT: u32 = 18;
const BACKING: u32 = 19;
const PROT: u32 = 20;
const HAS_ACCESS: u32 = 24;
const MAP_FLAGS: u32 = 32;
/// Reading, writing, executing.
const PROT_BITS: u64 = 7;

impl Flags {
    pub(crate) fn of(api: Api, alignment_log2: u8) -> Self {
        Self(api as u64 | u64::from(alignment_log2) << ALIGNMENT)
    }

    pub(crate) fn of_area<T>(area: &Area<T>) -> Self {
        let access = area.access.map_or(0, |access| {
            let prot = (u64::from(access.prot) & PROT_BITS) << PROT;
            prot | 1 << HAS_ACCESS | u64::from(access.flags) << MAP_FLAGS
        });
        Self(area.api as u64 | u64::from(area.backing) << BACKING | access)
    }

    pub(crate) fn temporary(self) -> Self {
        Self(self.0 | 1 << TEMPORARY)
    }

    pub(crate) fn moved(self) -> Self {
        Self(self.0 | 1 << MOVED)
    }

    pub(crate) fn lost_sight(self) -> Self {
        Self(self.0 | 1 << LOST_SIGHT)
    }

    /// It is none in use any more: others are cut from it.
    pub(crate) fn pool(self) -> Self {
        Self(self.0 & !0xff | Api::Pool as u64)
    }

    /// The function that was called for it; of what the program told, what that was.
    #[inline]
    pub fn api(self) -> Api {
        Api::from_number(self.0 as u8).unwrap_or(Api::Malloc)
    }

    /// The alignment asked for, in bytes; 0 where none was.
    #[inline]
    pub fn alignment(self) -> u64 {
        let log2 = u32::from((self.0 >> ALIGNMENT) as u8);
        1u64.checked_shl(log2).filter(|_| log2 > 0).unwrap_or(0)
    }

    /// It went before its thread asked for another.
    pub fn is_temporary(self) -> bool {
        self.0 >> TEMPORARY & 1 != 0
    }

    /// A realloc took it: another block goes on with what was in it.
    pub fn is_moved(self) -> bool {
        self.0 >> MOVED & 1 != 0
    }

    /// An allocator mapped it to serve a call.
    pub fn is_backing(self) -> bool {
        self.0 >> BACKING & 1 != 0
    }

    /// Protection and flags that mmap was asked for, where the log has them.
    pub fn access(self) -> Option<(u32, u32)> {
        let prot = (self.0 >> PROT & PROT_BITS) as u32;
        let has_access = self.0 >> HAS_ACCESS & 1 != 0;
        has_access.then_some((prot, (self.0 >> MAP_FLAGS) as u32))
    }

    /// The program mapped it itself, so that it can be touched.
    pub fn is_open(self) -> bool {
        let is_reserved = self.access().is_some_and(|(prot, _)| prot == 0);
        !self.is_backing() && !is_reserved
    }

    /// Nobody released it in the log: its address was given out again, or recording was off.
    pub fn is_lost_sight_of(self) -> bool {
        self.0 >> LOST_SIGHT & 1 != 0
    }
}
