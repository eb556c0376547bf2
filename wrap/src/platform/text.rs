//! Short texts without an allocator, and what is read of files piece by piece.

use super::slices::move_to_front;
use super::sys::{Os, Sys};

/// Longest path, its zero byte included.
pub const MAX_PATH: usize = 4096;

/// A text of limited length.
pub struct Text<const N: usize> {
    bytes: [u8; N],
    length: usize,
}

impl<const N: usize> Text<N> {
    /// Empty.
    pub const fn new() -> Self {
        Self {
            bytes: [0; N],
            length: 0,
        }
    }

    /// The text.
    pub fn get(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Appends what fits.
    pub fn push(&mut self, text: &[u8]) {
        for &byte in text {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = byte;
                self.length += 1;
            }
        }
    }

    /// Appends a number by its hexadecimal digits.
    pub fn push_hex(&mut self, number: u64) {
        let digits = (u64::BITS - number.leading_zeros()).div_ceil(4).max(1);
        for place in (0..digits).rev() {
            let digit = (number >> (4 * place) & 15) as u8;
            self.push(&[if digit < 10 {
                b'0' + digit
            } else {
                b'a' + digit - 10
            }]);
        }
    }

    /// Appends a number.
    pub fn push_number(&mut self, mut number: u64) {
        let mut digits = [0u8; 20];
        let mut start = digits.len();
        loop {
            start -= 1;
            if let Some(place) = digits.get_mut(start) {
                *place = b'0' + (number % 10) as u8;
            }
            number /= 10;
            if number == 0 || start == 0 {
                break;
            }
        }
        self.push(digits.get(start..).unwrap_or(&[]));
    }

    /// Replaces the text.
    pub fn set(&mut self, text: &[u8]) {
        self.length = 0;
        self.push(text);
    }

    /// Takes bytes off the end.
    pub fn shorten(&mut self, by: usize) {
        self.length = self.length.saturating_sub(by);
    }

    /// Empties it.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Self::new()
    }
}

/// Runs over the zero-terminated entries of a file, those that fit the buffer;
/// false if it cannot be opened.
pub fn each_entry(path: &[u8], buffer: &mut [u8], see: impl FnMut(&[u8])) -> bool {
    each_piece(path, 0, buffer, see)
}

/// Runs over what a byte ends in a file, each piece up to the buffer's length;
/// false if it cannot be opened.
pub fn each_piece(path: &[u8], end: u8, buffer: &mut [u8], mut see: impl FnMut(&[u8])) -> bool {
    let Ok(fd) = Os::open(path) else {
        return false;
    };
    let (mut held, mut skipping) = (0, false);
    while let Some(room) = buffer.get_mut(held..) {
        let count = match Os::read(fd, room) {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        held += count;
        let mut used = 0;
        for entry in buffer
            .get(..held)
            .unwrap_or(&[])
            .split_inclusive(|&byte| byte == end)
        {
            let Some((_, text)) = entry.split_last().filter(|(last, _)| **last == end) else {
                break;
            };
            used += entry.len();
            if !core::mem::take(&mut skipping) {
                see(text);
            }
        }
        if used == 0 && held == buffer.len() {
            // Longer than anything of ours may be: its beginning tells which
            // it is, the rest is skipped.
            if !skipping {
                see(buffer);
            }
            (skipping, used) = (true, held);
        }
        move_to_front(buffer, used, held);
        held -= used;
    }
    Os::close(fd);
    true
}

/// A decimal number.
pub fn decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0u64, |sum, &byte| {
        let digit = (byte as char).to_digit(10)?;
        sum.checked_mul(10)?.checked_add(u64::from(digit))
    })
}
