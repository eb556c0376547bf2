//! How many lines cross between two layers.
//!
//! ```text
//! for each line, by its upper end and then by its lower one:
//!     count the lines before it that end farther to the right
//! ```
//!
//! The lines before are kept in a Fenwick tree over the places of their ends.

/// Crossings of lines from the places of an upper layer: of each place the
/// places below, in order, of which there are `lower_count`.
pub(super) fn count(lines: &[Vec<usize>], lower_count: usize) -> usize {
    let mut sums = vec![0_usize; lower_count + 1];
    let mut before = 0;
    let mut crossings = 0;
    for ends in lines {
        for &end in ends {
            let mut at = end + 1;
            let mut not_right = 0;
            while at > 0 {
                not_right += sums[at];
                at &= at - 1;
            }
            crossings += before - not_right;
        }
        for &end in ends {
            let mut at = end + 1;
            while at <= lower_count {
                sums[at] += 1;
                at += at & at.wrapping_neg();
            }
            before += 1;
        }
    }
    crossings
}

/// Crossings of the lines of two neighbours: those of the left one end at
/// `left`, those of the right one at `right`, both in order.
pub(super) fn of_pair(left: &[usize], right: &[usize]) -> usize {
    let mut crossings = 0;
    let mut passed = 0;
    for &end in left {
        while passed < right.len() && right[passed] < end {
            passed += 1;
        }
        crossings += passed;
    }
    crossings
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(lines: &[Vec<usize>]) -> usize {
        let ends = |at: usize| lines[at].iter();
        let pairs = (0..lines.len())
            .flat_map(|left| (left + 1..lines.len()).map(move |right| (left, right)));
        let crossed = |(left, right)| {
            ends(left)
                .map(|a| ends(right).filter(|&b| b < a).count())
                .sum::<usize>()
        };
        pairs.map(crossed).sum()
    }

    proptest! {
        #[test]
        fn are_as_many_as_the_naive_twin_finds(
            lines in proptest::collection::vec(proptest::collection::vec(0_usize..12, 0..6), 0..12),
        ) {
            let mut lines = lines;
            lines.iter_mut().for_each(|ends| ends.sort_unstable());
            prop_assert_eq!(count(&lines, 12), naive(&lines));
            for pair in lines.windows(2) {
                prop_assert_eq!(of_pair(&pair[0], &pair[1]), naive(pair));
            }
        }
    }
}
