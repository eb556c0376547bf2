//! How far a process was from a limit on its memory.

use crate::Malformed;
use crate::varint::{Reader, Writer};

/// Longest name of a thread or text of a mark that is kept.
pub const MAX_TEXT: usize = 128;

/// What memory of a process can come up against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LimitKind {
    /// A group of processes that share so much.
    Group = 0,
    /// RLIMIT_AS: all that is mapped.
    AddressSpace = 1,
    /// RLIMIT_DATA: what is private and can be written to.
    Data = 2,
    /// The machine's own memory.
    Machine = 3,
}

/// What was done about a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum LimitAct {
    /// It was found when the program began.
    Watched = 0,
    /// It is near.
    Near = 1,
    /// The program was asked to end.
    Asked = 2,
    /// The program was ended.
    Ended = 3,
}

/// A limit on memory, and how far the program is from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit<'a> {
    /// What sets it.
    pub kind: LimitKind,
    /// What was done.
    pub act: LimitAct,
    /// Bytes that count against it.
    pub used_bytes: u64,
    /// Bytes that may.
    pub limit_bytes: u64,
    /// Which of its kind it is: the end of a group's path.
    pub name: &'a [u8],
}

impl LimitKind {
    const ALL: [Self; 4] = [Self::Group, Self::AddressSpace, Self::Data, Self::Machine];
}

impl LimitAct {
    const ALL: [Self; 4] = [Self::Watched, Self::Near, Self::Asked, Self::Ended];
}

impl<'a> Limit<'a> {
    /// What is left, 0 where it is passed.
    pub const fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }

    pub(crate) fn put(&self, out: &mut Writer) {
        out.u8(self.kind as u8);
        out.u8(self.act as u8);
        out.var(self.used_bytes);
        out.var(self.limit_bytes);
        // The end of a path tells most.
        let from = self.name.len().saturating_sub(MAX_TEXT);
        out.bytes(self.name.get(from..).unwrap_or(&[]));
    }

    /// Nothing where a newer memlog knows more kinds.
    pub(crate) fn decode(bytes: &mut Reader<'a>) -> Result<Option<Self>, Malformed> {
        let (kind, act) = (bytes.u8()?, bytes.u8()?);
        let (used_bytes, limit_bytes) = (bytes.var()?, bytes.var()?);
        let kind = LimitKind::ALL
            .into_iter()
            .find(|known| *known as u8 == kind);
        let act = LimitAct::ALL.into_iter().find(|known| *known as u8 == act);
        let (Some(kind), Some(act)) = (kind, act) else {
            return Ok(None);
        };
        Ok(Some(Self {
            kind,
            act,
            used_bytes,
            limit_bytes,
            name: bytes.rest(),
        }))
    }
}
