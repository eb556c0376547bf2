//! What the program told its allocator: one record of the meta chunks for each call of
//! mallopt.
//!
//! ```text
//! TUNED   tick, thread, parameter, value, taken, stack: varints
//! ```

use crate::Malformed;
use crate::table::StackId;
use crate::varint::{Reader, Writer};

/// Calls that are written; what follows is not.
pub const MAX_TUNED: u32 = 1000;

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned {
    /// When.
    pub tick: u64,
    /// The thread.
    pub tid: u32,
    /// What was set: a number of malloc.h.
    pub parameter: i32,
    /// To what.
    pub value: i32,
    /// Whether the allocator took it.
    pub is_taken: bool,
    /// Who did it.
    pub stack: StackId,
}

impl Tuned {
    pub(crate) fn put(&self, out: &mut Writer) {
        [
            self.tick,
            u64::from(self.tid),
            u64::from(self.parameter as u32),
            u64::from(self.value as u32),
            u64::from(self.is_taken),
            u64::from(self.stack.0),
        ]
        .into_iter()
        .for_each(|number| out.var(number));
    }

    pub(crate) fn get(bytes: &mut Reader) -> Result<Self, Malformed> {
        Ok(Self {
            tick: bytes.var()?,
            tid: bytes.var32()?,
            parameter: bytes.var32()? as i32,
            value: bytes.var32()? as i32,
            is_taken: bytes.var()? != 0,
            stack: StackId(bytes.var32()?),
        })
    }
}
