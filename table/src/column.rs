//! What a row has.

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
}

/// All of them, by number.
pub(crate) const ALL: [Column; 12] = [
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
];

pub(crate) const COUNT: usize = ALL.len();

/// Some columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Columns(u16);

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

/// How a block came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u64);

const ALIGNMENT: u32 = 8;
const TEMPORARY: u32 = 16;
const MOVED: u32 = 17;
const LOST_SIGHT: u32 = 18;

impl Flags {
    pub(crate) fn of(api: Api, alignment_log2: u8) -> Self {
        Self(api as u64 | u64::from(alignment_log2) << ALIGNMENT)
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

    /// The function that was called for it.
    pub fn api(self) -> Api {
        Api::from_byte(self.0 as u8).unwrap_or(Api::Malloc)
    }

    /// The alignment asked for, as a power of two; 0 where none was.
    pub fn alignment_log2(self) -> u8 {
        (self.0 >> ALIGNMENT) as u8
    }

    /// It went before its thread asked for another.
    pub fn is_temporary(self) -> bool {
        self.0 >> TEMPORARY & 1 != 0
    }

    /// A realloc took it: another block goes on with what was in it.
    pub fn is_moved(self) -> bool {
        self.0 >> MOVED & 1 != 0
    }

    /// Nobody released it in the log, and yet its address was given out again.
    pub fn is_lost_sight_of(self) -> bool {
        self.0 >> LOST_SIGHT & 1 != 0
    }
}
