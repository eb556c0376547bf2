//! Small curves of text.

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// A bar for each value, of which the largest has a whole one.
pub fn bars(values: &[u64], most: u64) -> String {
    values.iter().map(|&value| bar(value, most)).collect()
}

/// The bar of one.
pub fn bar(value: u64, most: u64) -> char {
    let level = u128::from(value) * BARS.len() as u128;
    let level = level.div_ceil(u128::from(most.max(1))).saturating_sub(1);
    BARS[(level as usize).min(BARS.len() - 1)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_a_whole_bar() {
        assert_eq!(bars(&[0, 1, 50, 99, 100, 12, 13], 100), "▁▁▄██▁▂");
        assert_eq!(bars(&[u64::MAX - 1, 0], u64::MAX - 1), "█▁");
        assert_eq!(bars(&[0, 0], 0), "▁▁");
    }
}
