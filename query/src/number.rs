//! Digits and units.

/// A number cannot be understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault<'t> {
    /// There are no digits, or more than anybody needs.
    NoNumber,
    /// Of what has no parts, such as a byte.
    NotWhole,
    /// Nobody knows the unit.
    Unit(&'t str),
    /// It does not fit.
    TooLarge,
}

/// Units by name, in lower case; the first is that of a number without any.
pub(crate) type Units = [(&'static str, u64)];

/// Sizes: K, KB and KiB are all 1024, as for the options of the command line.
pub(crate) const SIZES: [(&str, u64); 14] = [
    ("", 1),
    ("b", 1),
    ("k", 1 << 10),
    ("kb", 1 << 10),
    ("kib", 1 << 10),
    ("m", 1 << 20),
    ("mb", 1 << 20),
    ("mib", 1 << 20),
    ("g", 1 << 30),
    ("gb", 1 << 30),
    ("gib", 1 << 30),
    ("t", 1 << 40),
    ("tb", 1 << 40),
    ("tib", 1 << 40),
];

/// Durations, in nanoseconds.
pub(crate) const TIMES: [(&str, u64); 8] = [
    ("", 1_000_000_000),
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// What is only counted.
pub(crate) const ONES: [(&str, u64); 1] = [("", 1)];

/// A share without its sign, in billionths.
pub(crate) const PERCENTS: [(&str, u64); 1] = [("", 10_000_000)];

/// More would not fit into any result.
const MOST_DIGITS: u32 = 24;

/// `digits` * 10^-`scale`
struct Decimal {
    digits: u128,
    scale: u32,
}

/// One number with one unit.
pub(crate) fn number<'t>(text: &'t str, units: &Units) -> Result<u64, Fault<'t>> {
    let (number, unit, rest) = first(text, units)?;
    if !rest.is_empty() {
        return Err(Fault::NoNumber);
    }
    number.times(unit)
}

/// Numbers with units, summed up: `4h3m2s`. A number without a unit stands alone.
pub(crate) fn sum<'t>(text: &'t str, units: &Units) -> Result<u64, Fault<'t>> {
    let (mut total, mut left, mut is_alone) = (0u64, text, true);
    loop {
        let (number, unit, rest) = first(left, units)?;
        let has_unit = left[..left.len() - rest.len()].ends_with(|c: char| c.is_alphabetic());
        if !has_unit && !is_alone {
            return Err(Fault::NoNumber);
        }
        total = total
            .checked_add(number.times(unit)?)
            .ok_or(Fault::TooLarge)?;
        if rest.is_empty() {
            return Ok(total);
        }
        (left, is_alone) = (rest, false);
    }
}

/// An address: hexadecimal, or decimal.
pub(crate) fn address(text: &str) -> Result<u64, Fault<'_>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let Some(digits) = digits else {
        return number(text, &ONES);
    };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(Fault::NoNumber);
    }
    u64::from_str_radix(digits, 16).map_err(|_| Fault::TooLarge)
}

/// The number at the beginning, its unit, and what follows.
fn first<'t>(text: &'t str, units: &Units) -> Result<(Decimal, u64, &'t str), Fault<'t>> {
    let (number, rest) = decimal(text)?;
    let end = rest
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(rest.len());
    let (unit, rest) = rest.split_at(end);
    let known = units
        .iter()
        .find(|(name, _)| unit.eq_ignore_ascii_case(name));
    let (_, unit) = known.ok_or(Fault::Unit(unit))?;
    Ok((number, *unit, rest))
}

/// Digits with `_` between them, a point, and an exponent.
fn decimal(text: &str) -> Result<(Decimal, &str), Fault<'_>> {
    let mut number = Decimal {
        digits: 0,
        scale: 0,
    };
    let (mut count, mut is_fraction, mut end, mut last) = (0, false, 0, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '0'..='9' => {
                count += u32::from(number.digits > 0);
                number.scale += u32::from(is_fraction);
                if count >= MOST_DIGITS || number.scale > MOST_DIGITS {
                    return Err(Fault::NoNumber);
                }
                number.digits = number.digits * 10 + u128::from(letter as u8 - b'0');
            }
            '_' if last.is_ascii_digit() => {}
            '.' if last.is_ascii_digit() && !is_fraction => is_fraction = true,
            _ => break,
        }
        (end, last) = (at + 1, letter);
    }
    if !last.is_ascii_digit() {
        return Err(Fault::NoNumber);
    }
    let rest = &text[end..];
    let exponent = rest.strip_prefix(['e', 'E']).unwrap_or_default();
    let length = exponent.bytes().take_while(u8::is_ascii_digit).count();
    if length == 0 {
        return Ok((number, rest));
    }
    let power: u32 = exponent[..length].parse().map_err(|_| Fault::TooLarge)?;
    let up = power.saturating_sub(number.scale);
    number.scale = number.scale.saturating_sub(power);
    let factor = 10u128.checked_pow(up).ok_or(Fault::TooLarge)?;
    number.digits = number.digits.checked_mul(factor).ok_or(Fault::TooLarge)?;
    Ok((number, &exponent[length..]))
}

impl Decimal {
    /// So many units, rounded unless the unit has no parts.
    fn times<'t>(&self, unit: u64) -> Result<u64, Fault<'t>> {
        let parts = 10u128.pow(self.scale);
        let product = self
            .digits
            .checked_mul(u128::from(unit))
            .ok_or(Fault::TooLarge)?;
        if unit == 1 && product % parts != 0 {
            return Err(Fault::NotWhole);
        }
        let rounded = product / parts + u128::from(product % parts * 2 >= parts);
        rounded.try_into().map_err(|_| Fault::TooLarge)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_units() {
        for (text, bytes) in [
            ("4096", 4096),
            ("64K", 64 << 10),
            ("1kB", 1 << 10),
            ("1.5m", 3 << 19),
            ("1_000", 1000),
            ("1e6", 1_000_000),
            ("1.5e1B", 15),
            ("2GiB", 2 << 30),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(number(text, &SIZES), Ok(bytes), "{text}");
        }
        for (text, fault) in [
            ("", Fault::NoNumber),
            ("K", Fault::NoNumber),
            ("1.", Fault::NoNumber),
            ("1_", Fault::NoNumber),
            (".5K", Fault::NoNumber),
            ("1.5", Fault::NotWhole),
            ("1X", Fault::Unit("X")),
            ("1K2", Fault::NoNumber),
            ("16777216T", Fault::TooLarge),
            ("1e99", Fault::TooLarge),
            ("1e99999999999", Fault::TooLarge),
            (
                "0000000000000000000000000000001.00000000000000000000000000001",
                Fault::NoNumber,
            ),
        ] {
            assert_eq!(number(text, &SIZES), Err(fault), "{text}");
        }
    }

    #[test]
    fn durations_are_summed_up() {
        for (text, ns) in [
            ("2", 2_000_000_000),
            ("12.5s", 12_500_000_000),
            ("4h3m2s", 14_582_000_000_000),
            ("1s500ms", 1_500_000_000),
            ("0.0000000004s", 0),
        ] {
            assert_eq!(sum(text, &TIMES), Ok(ns), "{text}");
        }
        for (text, fault) in [
            ("4h3", Fault::NoNumber),
            ("3.4.5", Fault::NoNumber),
            ("1.5ns", Fault::NotWhole),
            ("3fortnights", Fault::Unit("fortnights")),
            ("9999999999h", Fault::TooLarge),
        ] {
            assert_eq!(sum(text, &TIMES), Err(fault), "{text}");
        }
    }

    #[test]
    fn addresses_are_hexadecimal_or_decimal() {
        assert_eq!(address("0x7f00"), Ok(0x7f00));
        assert_eq!(address("4096"), Ok(4096));
        assert_eq!(address("0xg"), Err(Fault::NoNumber));
        assert_eq!(address("0x+1"), Err(Fault::NoNumber));
        assert_eq!(address("0x10000000000000000"), Err(Fault::TooLarge));
    }
}
