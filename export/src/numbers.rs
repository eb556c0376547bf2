//! Sizes, counts, shares and times as every page shows them.

pub use memlog_analysis::{percentage, share};

/// `64.0 KiB`: units of 1024, and few bytes as they are.
pub fn sized(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = bytes.max(1).ilog2() / 10;
    let unit = units.get(step as usize).unwrap_or(&"bytes");
    match step {
        0 => format!("{bytes} {unit}"),
        _ => format!("{:.1} {unit}", bytes as f64 / (1u64 << (10 * step)) as f64),
    }
}

/// `92,783,232B`, to the byte.
pub fn exact(bytes: u64) -> String {
    format!("{}B", grouped(bytes))
}

/// `88.5 MiB (92,783,232B)`
pub fn both_ways(bytes: u64) -> String {
    match bytes {
        ..1024 => sized(bytes),
        _ => format!("{} ({})", sized(bytes), exact(bytes)),
    }
}

/// How sizes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// `27.6 MiB`
    Rounded,
    /// `28,940,697B`
    Exact,
}

impl Sizes {
    /// A size, told so.
    pub fn of(self, bytes: u64) -> String {
        match self {
            Self::Rounded => sized(bytes),
            Self::Exact => exact(bytes),
        }
    }
}

/// A number of things: 1 block, 1,234 blocks.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// A number as people read it: 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// How long something took: `0.4 ms`, `12 ms`, `1.3 s`.
pub fn lasted(seconds: f64) -> String {
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1e3),
        0.01..1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// A longer time: `12.3 s`, `2 min 05 s`, `3 h 02 min`.
pub fn span(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        ..60 => lasted(seconds),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_go_by_1024() {
        assert_eq!(sized(0), "0 bytes");
        assert_eq!(sized(1023), "1023 bytes");
        assert_eq!(sized(65536), "64.0 KiB");
        assert_eq!(sized(3 << 29), "1.5 GiB");
        assert_eq!(sized(u64::MAX), "16.0 EiB");
        assert_eq!(both_ways(92_783_232), "88.5 MiB (92,783,232B)");
        assert_eq!(both_ways(7), "7 bytes");
        assert_eq!(Sizes::Rounded.of(65536), "64.0 KiB");
        assert_eq!(Sizes::Exact.of(65536), "65,536B");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "block"), "1 block");
        assert_eq!(counted(999, "block"), "999 blocks");
        assert_eq!(counted(1000, "block"), "1,000 blocks");
        assert_eq!(exact(1_234_567), "1,234,567B");
    }

    #[test]
    fn spans_of_time_are_short() {
        assert_eq!(lasted(0.000_42), "0.4 ms");
        assert_eq!(lasted(0.012_3), "12 ms");
        assert_eq!(lasted(1.26), "1.3 s");
        assert_eq!(span(12.34), "12.3 s");
        assert_eq!(span(125.9), "2 min 05 s");
        assert_eq!(span(10_979.0), "3 h 02 min");
    }
}
