//! Sizes and shares as the pages show them.

/// `88.485 MiB`: units of 1024, and bytes as they are.
pub fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut scaled = bytes as f64;
    let mut unit = 0;
    // What would be printed as 1024.000 is 1.000 of the next unit.
    while scaled >= 1023.9995 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.3} {}", units[unit])
}

/// `92,783,232B`, to the byte.
pub fn exact(bytes: u64) -> String {
    format!("{}B", grouped(bytes))
}

/// `88.485 MiB (92,783,232B)`
pub fn both_ways(bytes: u64) -> String {
    match bytes {
        ..1024 => size(bytes),
        _ => format!("{} ({})", size(bytes), exact(bytes)),
    }
}

/// A part of a whole, 0 to 1; nothing of nothing is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// A part of a whole in percent, without the sign.
pub fn percentage(part: u64, whole: u64) -> String {
    format!("{:.2}", share(part, whole) * 100.0)
}

/// A number of things: 1 block, 1,234 blocks.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(number))
}

/// 1,234,567
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let (first, rest) = digits.split_at(head);
    let groups = rest.as_bytes().chunks(3).map(String::from_utf8_lossy);
    let first = (head > 0).then(|| first.into());
    first
        .into_iter()
        .chain(groups)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_go_by_1024() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(1024), "1.000 KiB");
        assert_eq!(size((1 << 30) - 1), "1.000 GiB");
        assert_eq!(size(92_783_232), "88.485 MiB");
        assert_eq!(both_ways(92_783_232), "88.485 MiB (92,783,232B)");
        assert_eq!(both_ways(7), "7 B");
        assert_eq!(size(u64::MAX), "16384.000 PiB");
    }

    #[test]
    fn numbers_are_grouped_by_thousands() {
        assert_eq!(counted(0, "block"), "0 blocks");
        assert_eq!(counted(1, "block"), "1 block");
        assert_eq!(counted(999, "block"), "999 blocks");
        assert_eq!(counted(1000, "block"), "1,000 blocks");
        assert_eq!(exact(1_234_567), "1,234,567B");
    }

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(percentage(0, 0), "0.00");
        assert_eq!(percentage(1, 3), "33.33");
    }
}
