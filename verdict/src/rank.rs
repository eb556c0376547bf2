//! The rank test of Mann and Whitney, exact: how likely it is that one group of runs has
//! ranks as high as it has, if the two are of the same program.
//!
//! ```text
//! rank all runs together; equal ones share the mean of their ranks
//! sum  = the ranks of the new runs
//! p    = part of all ways to choose as many runs whose ranks sum up to that or more
//! ```
//!
//! The ways are counted, not approximated: there are few runs, and resident memory is
//! counted in pages, so that equal values are usual.

/// How likely ranks as high as those of `new` are.
pub fn p_of_higher(base: &[u64], new: &[u64]) -> f64 {
    let mut all: Vec<u64> = base.iter().chain(new).copied().collect();
    all.sort_unstable();
    let doubled: Vec<usize> = all.iter().map(|&value| doubled_rank(&all, value)).collect();
    let sum = new.iter().map(|&value| doubled_rank(&all, value)).sum();
    let ways = ways(&doubled, new.len());
    let whole: f64 = ways.iter().sum();
    let as_high: f64 = ways.iter().skip(sum).sum();
    as_high / whole
}

/// The least that it can be, with so many runs on each side.
pub fn least_p(base: usize, new: usize) -> f64 {
    // One way of all.
    let steps = (1..=new).map(|step| step as f64 / (base + step) as f64);
    steps.product()
}

/// Twice the rank of a value, which is whole for equal ones too.
fn doubled_rank(sorted: &[u64], value: u64) -> usize {
    let below = sorted.partition_point(|&other| other < value);
    let up_to = sorted.partition_point(|&other| other <= value);
    below + up_to + 1
}

/// By the sum of their ranks, the ways to choose so many.
fn ways(ranks: &[usize], chosen: usize) -> Vec<f64> {
    let most: usize = ranks.iter().sum();
    let mut ways = vec![vec![0.0; most + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for count in (1..=chosen).rev() {
            let (fewer, more) = ways.split_at_mut(count);
            let (fewer, more) = (&fewer[count - 1], &mut more[0]);
            for sum in rank..=most {
                more[sum] += fewer[sum - rank];
            }
        }
    }
    ways.swap_remove(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each choice is looked at.
    fn twin(base: &[u64], new: &[u64]) -> f64 {
        let all: Vec<u64> = base.iter().chain(new).copied().collect();
        let rank = |value: u64| {
            let below = all.iter().filter(|&&other| other < value).count() as f64;
            let same = all.iter().filter(|&&other| other == value).count() as f64;
            below + (same + 1.0) / 2.0
        };
        let sum = |values: &mut dyn Iterator<Item = u64>| values.map(rank).sum::<f64>();
        let observed = sum(&mut new.iter().copied());
        let (mut whole, mut as_high) = (0u32, 0u32);
        for mask in 0u32..1 << all.len() {
            if mask.count_ones() as usize != new.len() {
                continue;
            }
            let chosen = (0..all.len()).filter(|place| mask >> place & 1 == 1);
            let sum = sum(&mut chosen.map(|place| all[place]));
            whole += 1;
            as_high += u32::from(sum >= observed - 1e-9);
        }
        f64::from(as_high) / f64::from(whole)
    }

    #[test]
    fn it_is_what_counting_all_choices_gives() {
        let mut state = 7u64;
        let mut next = |end: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % end
        };
        for _ in 0..200 {
            let (base, new) = (1 + next(6), 1 + next(6));
            // Few values, so that many are equal.
            let range = 1 + next(8);
            let base: Vec<u64> = (0..base).map(|_| next(range)).collect();
            let new: Vec<u64> = (0..new).map(|_| next(range)).collect();
            let (ours, twin) = (p_of_higher(&base, &new), twin(&base, &new));
            assert!((ours - twin).abs() < 1e-9, "{base:?} {new:?} {ours} {twin}");
        }
    }

    #[test]
    fn the_least_is_that_of_groups_apart() {
        for (base, new) in [(1, 1), (3, 3), (5, 5), (10, 3), (50, 50)] {
            let low: Vec<u64> = (0..base).collect();
            let high: Vec<u64> = (0..new).map(|value| 1000 + value).collect();
            let p = p_of_higher(&low, &high);
            let least = least_p(base as usize, new as usize);
            assert!((p - least).abs() < 1e-12 + least * 1e-9, "{base} {new}");
        }
        assert!((least_p(5, 5) - 1.0 / 252.0).abs() < 1e-12);
    }
}
