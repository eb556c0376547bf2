//! The heap and resident memory over time, a line of a page each.

use memlog_analysis::{History, UNKNOWN};

use crate::words::Sizes;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Where resident memory rose between two readings, and nobody knows when.
const GAP: char = '·';
/// Fewer bars show nothing.
const LEAST: usize = 8;
const MOST: usize = 64;

/// `heap ▁▂▅█▃ up to 14.5 MiB`, and the same of resident memory; nothing of what
/// never was.
pub fn lines(history: &History, room: usize, sizes: Sizes) -> Vec<String> {
    // Names, what it is up to, and blanks.
    const WORDS: usize = "heap  up to 1,234,567,890,123B".len();
    let bars = room.saturating_sub(WORDS).min(MOST);
    let curves = [
        ("heap", history.heap_in(bars)),
        ("RSS ", history.resident_in(bars)),
    ];
    let lines = curves.into_iter().filter_map(|(name, values)| {
        let known = values.iter().copied().filter(|&value| value != UNKNOWN);
        let most = known.max().filter(|&most| most > 0)?;
        let bars = drawn(&values, most);
        let is_shown = values.len() >= LEAST;
        is_shown.then(|| format!("{name} {bars} up to {}", sizes.of(most)))
    });
    lines.collect()
}

fn drawn(values: &[u64], most: u64) -> String {
    let bar = |&value: &u64| {
        if value == UNKNOWN {
            return GAP;
        }
        let level = u128::from(value) * BARS.len() as u128;
        let level = level.div_ceil(u128::from(most)).saturating_sub(1);
        BARS[(level as usize).min(BARS.len() - 1)]
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_a_whole_bar() {
        assert_eq!(drawn(&[0, 1, 50, 99, 100, 12, 13], 100), "▁▁▄██▁▂");
        assert_eq!(drawn(&[u64::MAX - 1, 0], u64::MAX - 1), "█▁");
        assert_eq!(drawn(&[1, UNKNOWN, 8], 8), "▁·█");
        assert_eq!(lines(&History::default(), 80, Sizes::Rounded), [""; 0]);
    }
}
