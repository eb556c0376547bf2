//! Parts of a whole.

/// A part of a whole, 0 to 1; nothing of nothing is 0.
pub fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}

/// A part of a whole in percent; nothing of nothing is 0.
pub fn percentage(part: u64, whole: u64) -> f64 {
    share(part, whole) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_nothing_is_no_share() {
        assert_eq!(percentage(0, 0), 0.0);
        assert_eq!(percentage(1, 4), 25.0);
    }
}
