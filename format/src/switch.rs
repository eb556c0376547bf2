//! Recording was switched off or on while the program ran.

use crate::Malformed;
use crate::varint::{Reader, Writer};

/// Who switched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The program, by a function of memlog.h.
    Program,
    /// Its user, from outside.
    Control,
    /// A signal that the user chose.
    Signal,
    /// The time that the user gave.
    Time,
    /// `memlog attach`, with which recording began.
    Attach,
}

impl By {
    const fn to_number(self) -> u8 {
        match self {
            By::Program => 0,
            By::Control => 1,
            By::Signal => 2,
            By::Time => 3,
            By::Attach => 4,
        }
    }

    const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(By::Program),
            1 => Some(By::Control),
            2 => Some(By::Signal),
            3 => Some(By::Time),
            4 => Some(By::Attach),
            _ => None,
        }
    }
}

/// A switch, at its place among the events of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// Whether events are recorded from here on.
    pub on: bool,
    /// Who did it.
    pub by: By,
    /// Its global order number.
    pub stamp: u64,
}

impl Switch {
    pub(crate) fn put(&self, out: &mut Writer) {
        out.u8(self.on.into());
        out.u8(self.by.to_number());
        out.var(self.stamp);
    }

    /// Nothing if a newer memlog wrote it.
    pub(crate) fn decode(bytes: &mut Reader) -> Result<Option<Self>, Malformed> {
        let (on, by, stamp) = (bytes.u8()?, bytes.u8()?, bytes.var()?);
        let by = By::from_number(by);
        Ok(by.filter(|_| on < 2).map(|by| Self {
            on: on == 1,
            by,
            stamp,
        }))
    }
}
