//! Numbers in few bits.
//!
//! ```text
//! block    := width:u8 exceptions:u8 base:varint
//!             ceil(count * width / 8) bytes: the low `width` bits of each (value - base)
//!             exceptions times: place:u8 high:varint, the bits above those
//! numbers  := a block for each 128 of them, the last for what is left
//! ```
//!
//! The width is chosen so that the whole is smallest: a few large numbers among many
//! small ones are exceptions. Numbers that are all the same take four bytes or so.

/// Numbers of a block.
const BLOCK: usize = 128;
/// A word is read at once where a number begins, so so many bytes lie behind the last.
pub(crate) const SLACK: usize = 8;
/// What a word that is read at a byte's edge has of any number.
pub(crate) const WIDEST: u32 = 56;

/// Appends a number in groups of seven bits.
pub(crate) fn put_var(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that are read from the front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        let (&byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(byte)
    }

    pub(crate) fn var(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number and so many bytes.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = self.var()?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// Appends a text with its length.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    put_var(out, text.len() as u64);
    out.extend_from_slice(text);
}

pub(crate) const fn bits(value: u64) -> u32 {
    u64::BITS - value.leading_zeros()
}

/// Appends numbers; how many they are is for the reader to know.
pub(crate) fn pack(values: &[u64], out: &mut Vec<u8>) {
    for block in values.chunks(BLOCK) {
        pack_block(block, out);
    }
}

fn pack_block(block: &[u64], out: &mut Vec<u8>) {
    let base = block.iter().copied().min().unwrap_or(0);
    let most = block.iter().copied().max().unwrap_or(0) - base;
    let width = match most {
        0 => 0,
        _ => best_width(block, base, bits(most)),
    };
    let low = (1u64 << width) - 1;
    let exceptions = match most > low {
        true => block.iter().filter(|&&value| value - base > low).count(),
        false => 0,
    };
    out.extend_from_slice(&[width as u8, exceptions as u8]);
    put_var(out, base);
    put_bits(block.iter().map(|&value| value - base), width, out);
    if exceptions == 0 {
        return;
    }
    for (place, &value) in block.iter().enumerate() {
        if value - base > low {
            out.push(place as u8);
            put_var(out, (value - base) >> width);
        }
    }
}

/// Appends the low bits of numbers, so many of each.
pub(crate) fn put_bits(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let low = u64::MAX >> (u64::BITS - width);
    let (mut word, mut filled) = (0u128, 0);
    for value in values {
        word |= u128::from(value & low) << filled;
        filled += width;
        if filled >= u64::BITS {
            out.extend_from_slice(&(word as u64).to_le_bytes());
            word >>= u64::BITS;
            filled -= u64::BITS;
        }
    }
    let rest = (filled as usize).div_ceil(8);
    out.extend_from_slice(word.to_le_bytes().get(..rest).unwrap_or(&[]));
}

/// What begins at this bit, if no more than [`WIDEST`] bits of it are wanted or it begins
/// a byte.
#[inline]
pub(crate) fn bits_at(bytes: &[u8], bit: usize) -> u64 {
    let at = bit / 8;
    let word = bytes.get(at..at + 8).and_then(|word| word.try_into().ok());
    u64::from_le_bytes(word.unwrap_or_default()) >> (bit % 8)
}

/// The width that makes a block smallest, or nearly so; none of its numbers is wider
/// than `widest`.
fn best_width(block: &[u64], base: u64, widest: u32) -> u32 {
    let mut of_width = [0usize; 65];
    for &value in block {
        of_width[bits(value - base) as usize] += 1;
    }
    let packed = |width: u32| (block.len() * width as usize).div_ceil(8);
    let first = widest.min(WIDEST);
    let (mut best, mut least) = (first, usize::MAX);
    // Exceptions, and all their bits.
    let (mut count, mut all) = (0, 0);
    for width in (0..=widest).rev() {
        // One takes its place, and a byte for each seven bits that are above.
        let above = (all - count * width as usize) / 7;
        let size = packed(width) + 2 * count + above;
        if width <= first && size <= least {
            (best, least) = (width, size);
        }
        count += of_width[width as usize];
        all += of_width[width as usize] * width as usize;
    }
    best
}

/// Appends so many numbers that were packed; nothing if there are fewer.
pub(crate) fn unpack(bytes: &mut Bytes, count: usize, out: &mut Vec<u64>) -> Option<()> {
    out.reserve(count);
    let mut left = count;
    while left > 0 {
        let here = left.min(BLOCK);
        unpack_block(bytes, here, out)?;
        left -= here;
    }
    Some(())
}

fn unpack_block(bytes: &mut Bytes, count: usize, out: &mut Vec<u64>) -> Option<()> {
    let width = u32::from(bytes.u8()?);
    let exceptions = bytes.u8()?;
    let base = bytes.var()?;
    if width > WIDEST {
        return None;
    }
    let first = out.len();
    let length = (count * width as usize).div_ceil(8);
    let packed = bytes.0.get(..length + SLACK)?;
    bytes.take(length)?;
    if width == 0 {
        out.resize(first + count, base);
    } else {
        let low = (1u64 << width) - 1;
        let mut bit = 0;
        out.extend((0..count).map(|_| {
            let value = bits_at(packed, bit) & low;
            bit += width as usize;
            base.wrapping_add(value)
        }));
    }
    for _ in 0..exceptions {
        let place = usize::from(bytes.u8()?);
        let high = bytes.var()?.checked_shl(width)?;
        let value = out.get_mut(first..)?.get_mut(place)?;
        *value = value.wrapping_add(high);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round(values: &[u64]) -> usize {
        let mut bytes = Vec::new();
        pack(values, &mut bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&[0xA5; SLACK]);
        let mut reader = Bytes(&bytes);
        let mut out = vec![7];
        unpack(&mut reader, values.len(), &mut out).expect("what was packed");
        assert_eq!(&out[1..], values);
        assert_eq!(reader.0.len(), SLACK);
        length
    }

    #[test]
    fn few_large_numbers_among_small_ones_cost_little() {
        assert_eq!(round(&[]), 0);
        assert_eq!(round(&[u64::MAX; 128]), 12);
        assert!(round(&[5; 1000]) <= 3 * 8);
        let mut values: Vec<u64> = (0..128).map(|i| i % 4).collect();
        assert_eq!(round(&values), 3 + 32);
        values[9] = 1 << 60;
        assert!(round(&values) < 3 + 32 + 12);
        round(&[0, u64::MAX, 1 << 56, (1 << 56) - 1]);
    }

    proptest! {
        #[test]
        fn numbers_come_back(values in prop::collection::vec(
            (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift), 0..700)) {
            round(&values);
            for value in values {
                let mut out = Vec::new();
                put_var(&mut out, value);
                prop_assert_eq!(Bytes(&out).var(), Some(value));
            }
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), count in 0usize..300) {
            let mut out = Vec::new();
            let _ = unpack(&mut Bytes(&bytes), count, &mut out);
        }
    }
}
