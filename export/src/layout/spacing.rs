//! Places in a row, kept apart.
//!
//! ```text
//! take from each place the gaps before it: now they have only to be in order
//! for each place:                                   (isotonic regression)
//!     a run of its own
//!     while the run before it stands farther right: the two become one,
//!         which stands at the mean of its places
//! add the gaps again
//! ```

/// Moves places, each with its weight, apart by `gaps`, from `low` to `high`. The
/// squares of how far they move are least. Too little room is shared evenly.
pub(super) fn apart(wanted: &[(f64, f64)], gaps: &[f64], low: f64, high: f64) -> Vec<f64> {
    let needed: f64 = gaps.iter().sum();
    let scale = if needed > high - low {
        (high - low) / needed
    } else {
        1.0
    };
    let mut before = 0.0;
    let mut offsets = vec![0.0];
    for gap in gaps {
        before += gap * scale;
        offsets.push(before);
    }
    // Of each run the weight, that times the mean, and how many places it has.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (&(want, weight), offset) in wanted.iter().zip(&offsets) {
        let mut run = (weight, weight * (want - offset), 1);
        while let Some(last) = runs.pop_if(|last| last.1 / last.0 > run.1 / run.0) {
            run = (run.0 + last.0, run.1 + last.1, run.2 + last.2);
        }
        runs.push(run);
    }
    let top = (high - before).max(low);
    let means = runs
        .iter()
        .flat_map(|&(weight, sum, count)| std::iter::repeat_n(sum / weight, count));
    means
        .zip(&offsets)
        .map(|(x, offset)| x.clamp(low, top) + offset)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::apart;

    fn evenly(wanted: &[f64], gaps: &[f64], high: f64) -> Vec<f64> {
        let wanted: Vec<(f64, f64)> = wanted.iter().map(|&x| (x, 1.0)).collect();
        apart(&wanted, gaps, 0.0, high)
    }

    #[test]
    fn places_move_as_little_as_can_be() {
        assert_eq!(evenly(&[1.0, 9.0], &[2.0], 10.0), [1.0, 9.0]);
        assert_eq!(evenly(&[5.0, 5.0, 5.0], &[2.0, 2.0], 10.0), [3.0, 5.0, 7.0]);
        assert_eq!(evenly(&[10.0, 10.0], &[4.0], 10.0), [6.0, 10.0]);
        assert_eq!(evenly(&[0.0, 0.0, 0.0], &[4.0, 4.0], 4.0), [0.0, 2.0, 4.0]);
        assert!(evenly(&[], &[], 1.0).is_empty());
        assert_eq!(
            apart(&[(5.0, 3.0), (5.0, 1.0)], &[4.0], 0.0, 10.0),
            [4.0, 8.0]
        );
    }
}
