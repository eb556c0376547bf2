//! The heap and resident memory over time, a line of a page each.

use memlog_analysis::{History, UNKNOWN};

use crate::words::{Sizes, bar};

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
    let bar = |&value: &u64| match value {
        UNKNOWN => GAP,
        value => bar(value, most),
    };
    values.iter().map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unknown_is_a_gap() {
        assert_eq!(drawn(&[1, UNKNOWN, 8], 8), "▁·█");
        assert_eq!(lines(&History::default(), 80, Sizes::Rounded), [""; 0]);
    }
}
