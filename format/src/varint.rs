//! Variable-length integers (LEB128) and the two cursors all records use.
//!
//! Neither cursor panics: a writer that ran out of room remembers it and is
//! asked once at the end, a reader that ran out of bytes says so at once. Each
//! successful read moves on by at least one byte.

use crate::Malformed;

/// The most bytes that a 64-bit varint takes.
pub const MAX_VARINT: usize = 10;

/// Maps signed to unsigned so that small magnitudes stay short.
#[inline]
pub const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// The top bit of each byte.
pub(crate) const CONTINUED: u64 = 0x8080_8080_8080_8080;

/// The low 56 bits, seven to a byte.
#[inline]
const fn spread(value: u64) -> u64 {
    let halves = value & 0x0FFF_FFFF | (value & 0x00FF_FFFF_F000_0000) << 4;
    let quarters = halves & 0x0000_3FFF_0000_3FFF | (halves & 0x0FFF_C000_0FFF_C000) << 2;
    quarters & 0x007F_007F_007F_007F | (quarters & 0x3F80_3F80_3F80_3F80) << 1
}

/// The inverse: seven bits of each byte, put together.
#[inline]
pub(crate) const fn gather(word: u64) -> u64 {
    let pairs = word & 0x007F_007F_007F_007F | (word & 0x7F00_7F00_7F00_7F00) >> 1;
    let quarters = pairs & 0x0000_3FFF_0000_3FFF | (pairs & 0x3FFF_0000_3FFF_0000) >> 2;
    quarters & 0x0FFF_FFFF | (quarters & 0x0FFF_FFFF_0000_0000) >> 4
}

/// The bytes of a varint below 2^56 as a little-endian word, and how many they
/// are. Whether one or two is asked by no branch: that can seldom be predicted.
#[inline(always)]
pub(crate) const fn word_of(value: u64) -> (u64, u32) {
    if value >= 1 << 14 {
        return long_word_of(value);
    }
    short_word_of(value)
}

/// The same of a number below 2^14.
#[inline(always)]
pub(crate) const fn short_word_of(value: u64) -> (u64, u32) {
    let is_long = (value > 0x7f) as u32;
    let word = value + (value & 0x3F80) + ((is_long as u64) << 7);
    (word, 1 + is_long)
}

#[inline(never)]
const fn long_word_of(value: u64) -> (u64, u32) {
    let top = 63 - (value | 1).leading_zeros();
    // A seventh, exactly so up to 63.
    let more = (top * 37) >> 8;
    let continued = CONTINUED & ((1 << (8 * more)) - 1);
    (spread(value) | continued, more + 1)
}

/// Writes bytes front to back into a slice it was lent.
pub struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
    full: bool,
}

impl<'a> Writer<'a> {
    /// Starts at the beginning of `out`.
    #[inline]
    pub fn new(out: &'a mut [u8]) -> Self {
        Self {
            out,
            at: 0,
            full: false,
        }
    }

    /// Appends one byte.
    #[inline]
    pub fn u8(&mut self, byte: u8) {
        match self.out.get_mut(self.at) {
            Some(place) => {
                *place = byte;
                self.at += 1;
            }
            None => self.full = true,
        }
    }

    /// Appends a varint, most likely one of a single byte.
    #[inline]
    pub fn var(&mut self, value: u64) {
        if value < 0x80 {
            self.u8(value as u8);
        } else {
            self.long(value);
        }
    }

    #[inline]
    fn long(&mut self, value: u64) {
        if value < 1 << 56 {
            let (word, count) = word_of(value);
            self.word(word, count);
        } else {
            self.byte_by_byte(value);
        }
    }

    /// Appends the low `count` bytes of a word, at most eight.
    #[inline]
    fn word(&mut self, word: u64, count: u32) {
        let end = self.at.wrapping_add(8);
        match self.out.get_mut(self.at..end) {
            Some(place) => {
                place.copy_from_slice(&word.to_le_bytes());
                self.at += count as usize;
            }
            None => self.word_by_byte(word, count),
        }
    }

    #[cold]
    fn word_by_byte(&mut self, word: u64, count: u32) {
        for byte in word.to_le_bytes().into_iter().take(count as usize) {
            self.u8(byte);
        }
    }

    #[cold]
    fn byte_by_byte(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.u8(value as u8 | 0x80);
            value >>= 7;
        }
        self.u8(value as u8);
    }

    /// Appends raw bytes.
    #[inline]
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.u8(byte);
        }
    }

    /// Appends a length and then the bytes.
    pub fn blob(&mut self, bytes: &[u8]) {
        self.var(bytes.len() as u64);
        self.bytes(bytes);
    }

    /// Makes [`finish`](Self::finish) say that something did not fit.
    pub(crate) fn fail(&mut self) {
        self.full = true;
    }

    /// How many bytes were written, or `None` when they did not fit.
    #[inline]
    pub fn finish(self) -> Option<usize> {
        if self.full { None } else { Some(self.at) }
    }
}

/// Reads bytes front to back.
#[derive(Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Offset of the next byte.
    #[inline]
    pub fn at(&self) -> usize {
        self.at
    }

    /// All bytes, those that were read too.
    #[inline]
    pub(crate) fn all(&self) -> &'a [u8] {
        self.bytes
    }

    /// The next byte is the one at this offset.
    #[inline]
    pub(crate) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// Whether every byte was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn wrong(&self, expected: &'static str) -> Malformed {
        Malformed {
            offset: self.at,
            expected,
        }
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        let byte = *self.bytes.get(self.at).ok_or(self.wrong("one more byte"))?;
        self.at += 1;
        Ok(byte)
    }

    /// A varint of at most 64 bits. Longer encodings than needed are read too.
    #[inline(always)]
    pub fn var(&mut self) -> Result<u64, Malformed> {
        let ahead = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk);
        let Some(&ahead) = ahead else {
            return self.var_byte_by_byte();
        };
        let word = u64::from_le_bytes(ahead);
        if word & 0x80 == 0 {
            self.at += 1;
            return Ok(word & 0x7f);
        }
        // The top bit of the last byte, if that is among the eight.
        let last = !word & CONTINUED;
        if last == 0 {
            return self.var_byte_by_byte();
        }
        self.at += last.trailing_zeros() as usize / 8 + 1;
        Ok(gather(word & (last ^ (last - 1))))
    }

    /// The same at the end of the bytes, or where it is longer than a word.
    #[cold]
    fn var_byte_by_byte(&mut self) -> Result<u64, Malformed> {
        let mut value = 0u64;
        let mut shift = 0u32;
        loop {
            let byte = self.u8()?;
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 {
                return Err(self.wrong("a varint of at most 64 bits"));
            }
            value |= low << shift;
            if byte < 0x80 {
                return Ok(value);
            }
            shift += 7;
            if shift > 63 {
                return Err(self.wrong("a varint of at most 10 bytes"));
            }
        }
    }

    /// A varint that must fit 32 bits.
    #[inline]
    pub fn var32(&mut self) -> Result<u32, Malformed> {
        let value = self.var()?;
        u32::try_from(value).map_err(|_| self.wrong("a number below 2^32"))
    }

    /// `count` raw bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let end = self
            .at
            .checked_add(count)
            .ok_or(self.wrong("a possible length"))?;
        let bytes = self
            .bytes
            .get(self.at..end)
            .ok_or(self.wrong("as many bytes as the length before them says"))?;
        self.at = end;
        Ok(bytes)
    }

    /// A length and then that many bytes.
    pub fn blob(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.var()?;
        let length = usize::try_from(length).map_err(|_| self.wrong("a possible length"))?;
        self.bytes(length)
    }

    /// What is left.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        self.at = self.bytes.len();
        rest
    }
}
