//! A call that asked for memory and got none.

use crate::Malformed;
use crate::api::Api;
use crate::table::StackId;
use crate::varint::{Reader, Writer};

/// A call that failed, and others like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The function called.
    pub api: Api,
    /// Logarithm of the alignment asked for; 0 where none was.
    pub alignment_log2: u8,
    /// Bytes asked for; where count times size is no number, the highest.
    pub size: u64,
    /// This call, and those of the same function and stack that its stream has
    /// not told of: none of them asked for more than one that is told.
    pub calls: u64,
    /// The program's errno then, 0 where it is not known.
    pub errno: u32,
    /// Who asked.
    pub stack: StackId,
}

impl Failure {
    pub(crate) fn put(&self, out: &mut Writer) {
        out.u8(self.api as u8);
        out.u8(self.alignment_log2);
        let numbers = [self.size, self.calls];
        numbers.into_iter().for_each(|number| out.var(number));
        out.var(u64::from(self.errno));
        out.var(u64::from(self.stack.0));
    }

    /// Nothing where a newer memlog knows more functions.
    pub(crate) fn decode(bytes: &mut Reader) -> Result<Option<Self>, Malformed> {
        let (api, alignment_log2) = (bytes.u8()?, bytes.u8()?);
        let (size, calls) = (bytes.var()?, bytes.var()?);
        let (errno, stack) = (bytes.var32()?, StackId(bytes.var32()?));
        Ok(Api::from_byte(api).map(|api| Self {
            api,
            alignment_log2,
            size,
            calls,
            errno,
            stack,
        }))
    }
}
