//! Reading unwind tables where the kernel mapped them: bounded, unaligned, in
//! the machine's own byte order, without a panic.
#![allow(unsafe_code)]
//! # Safety
//! A cursor is made over a range of a mapped module, and code on the stack
//! keeps its module mapped; it never reads outside its range.

/// A place in a mapped table and the table's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The next byte.
    pub at: u64,
    /// First byte past the range.
    pub end: u64,
}

macro_rules! fixed {
    ($($name:ident: $kind:ty),*) => {
        $(
            /// An integer of that size.
            #[inline]
            pub fn $name(&mut self) -> Option<$kind> {
                const SIZE: u64 = size_of::<$kind>() as u64;
                if self.end.checked_sub(self.at)? < SIZE {
                    return None;
                }
                // SAFETY: inside the range, see the head of this file.
                let value = unsafe { (self.at as *const $kind).read_unaligned() };
                self.at += SIZE;
                Some(value)
            }
        )*
    };
}

impl Cursor {
    /// Over the range from `at` to `end`.
    ///
    /// # Safety
    /// The range is mapped and readable while the cursor is used.
    pub const unsafe fn new(at: u64, end: u64) -> Self {
        Self { at, end }
    }

    fixed!(u8: u8, u16: u16, u32: u32, u64: u64, word: usize);

    /// Leaves bytes out.
    pub fn skip(&mut self, bytes: u64) -> Option<()> {
        let at = self.at.checked_add(bytes)?;
        (at <= self.end).then(|| self.at = at)
    }

    /// The next bytes as a cursor of their own.
    pub fn take(&mut self, bytes: u64) -> Option<Self> {
        let at = self.at;
        self.skip(bytes)?;
        Some(Self { at, end: self.at })
    }

    /// An unsigned LEB128 number.
    pub fn uleb(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 0x80 {
                return Some(value);
            }
        }
    }

    /// A signed LEB128 number.
    pub fn sleb(&mut self) -> Option<i64> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            shift += 7;
            if byte < 0x80 {
                if byte & 0x40 != 0 && shift < 64 {
                    value |= u64::MAX << shift;
                }
                return Some(value as i64);
            }
        }
    }

    /// A value in one of the encodings of .eh_frame, without its base.
    pub fn encoded_value(&mut self, encoding: u8) -> Option<u64> {
        Some(match encoding & 0x0f {
            0x0 => self.word()? as u64,
            0x1 => self.uleb()?,
            0x2 => u64::from(self.u16()?),
            0x3 => u64::from(self.u32()?),
            0x4 | 0xc => self.u64()?,
            0x9 => self.sleb()? as u64,
            0xa => i64::from(self.u16()? as i16) as u64,
            0xb => i64::from(self.u32()? as i32) as u64,
            _ => return None,
        })
    }

    /// An encoded pointer; `data` is the base of data-relative ones. Pointers
    /// to pointers are of no use here and fail.
    pub fn encoded(&mut self, encoding: u8, data: u64) -> Option<u64> {
        let at = self.at;
        let value = self.encoded_value(encoding)?;
        match encoding & 0xf0 {
            0x00 => Some(value),
            0x10 => Some(value.wrapping_add(at)),
            0x30 => Some(value.wrapping_add(data)),
            _ => None,
        }
    }
}
