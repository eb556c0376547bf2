//! Sizes and shares as the pages show them.

/// `88.485 MB`: units of 1024.
pub fn size(bytes: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB"];
    let mut scaled = bytes as f64;
    let mut unit = 0;
    // What would be printed as 1024.000 is 1.000 of the next unit.
    while scaled >= 1023.9995 && unit + 1 < units.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    format!("{scaled:.3} {}", units[unit])
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

/// A number of things: 1 block, 1234 blocks.
pub fn counted(number: u64, thing: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_go_by_1024() {
        assert_eq!(size(0), "0.000 B");
        assert_eq!(size(1023), "1023.000 B");
        assert_eq!(size(1024), "1.000 KB");
        assert_eq!(size((1 << 30) - 1), "1.000 GB");
        assert_eq!(size(92_783_232), "88.485 MB");
        assert_eq!(size(u64::MAX), "16384.000 PB");
    }

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(percentage(0, 0), "0.00");
        assert_eq!(percentage(1, 3), "33.33");
    }
}
