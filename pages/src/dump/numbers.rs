//! Numbers as `dump` prints them: millions of lines have five of them each.

/// Appends a number in decimal.
#[inline]
pub(super) fn put_decimal(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0; 20];
    let mut from = digits.len();
    let mut rest = number;
    while from > 0 {
        from -= 1;
        digits[from] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[from..]);
}

/// Appends a number as `0x` and its digits.
#[inline]
pub(super) fn put_hex(out: &mut Vec<u8>, number: u64) {
    let count = (67 - (number | 1).leading_zeros() as usize) / 4;
    let mut digits = *b"0x0000000000000000";
    for (index, digit) in digits[2..2 + count].iter_mut().enumerate() {
        let nibble = number >> (4 * (count - 1 - index)) & 15;
        *digit = b"0123456789abcdef"[nibble as usize];
    }
    out.extend_from_slice(&digits[..2 + count]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_what_format_makes() {
        let powers = (0..64).map(|power| 1u64 << power);
        let tens = (0..20).map(|power| 10u64.pow(power));
        for number in powers.chain(tens).chain([0, u64::MAX]) {
            for number in [number.wrapping_sub(1), number, number.wrapping_add(1)] {
                let mut out = Vec::new();
                put_decimal(&mut out, number);
                put_hex(&mut out, number);
                let expected = format!("{number}{number:#x}");
                assert_eq!(String::from_utf8(out).unwrap(), expected);
            }
        }
    }
}
