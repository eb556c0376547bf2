//! Whether runs hold more than others did, so that it does not change its mind from run to
//! run of the same program.
//!
//! A measure has grown if both are true:
//!
//! * the median of the new runs is above that of the baseline by more than the tolerance;
//! * this is no noise: either no run of either side differs from the others of its side, or
//!   ranks as high as those of the new runs are less likely than [`ALPHA`].
//!
//! Resident memory is noisy even where a few runs happen to be equal: of it the ranks decide
//! always. Where there are too few runs for any ranks to be that unlikely nothing is decided,
//! and that is said.

use crate::measure::Measure;
use crate::rank::{least_p, p_of_higher};

/// How unlikely ranks must be.
pub const ALPHA: f64 = 0.005;

/// Runs against a baseline's.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// What the runs of the baseline had.
    pub base: Vec<u64>,
    /// The median of those.
    pub base_median: u64,
    /// That of the new ones.
    pub new_median: u64,
    /// How much more is no growth, in percent.
    pub tolerance: f64,
    /// How it came out.
    pub outcome: Outcome,
}

/// How that came out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// Not above the tolerance.
    Within,
    /// Above it, and exact.
    Grew,
    /// Above it, with ranks that are so likely otherwise.
    GrewBeyondNoise(f64),
    /// Above it, but such ranks are usual.
    Noise(f64),
    /// Above it, and there are too few runs to tell; so many would do on both sides.
    TooFew(usize),
}

impl Compared {
    /// How much more the new runs have, in percent of the baseline; nothing if that had
    /// none.
    pub fn percent(&self) -> Option<f64> {
        let (base, new) = (self.base_median as f64, self.new_median as f64);
        (self.base_median > 0).then(|| 100.0 * (new - base) / base)
    }
}

/// Compares the two, each of at least one run.
pub fn compare(measure: Measure, base: &[u64], new: &[u64], tolerance: f64) -> Compared {
    let (base_median, new_median) = (median(base), median(new));
    let above = new_median.saturating_sub(base_median) as f64;
    let outcome = match above > base_median as f64 * tolerance / 100.0 {
        false => Outcome::Within,
        true if !measure.is_noisy() && is_constant(base) && is_constant(new) => Outcome::Grew,
        true if least_p(base.len(), new.len()) > ALPHA => Outcome::TooFew(enough()),
        true => match p_of_higher(base, new) {
            p if p <= ALPHA => Outcome::GrewBeyondNoise(p),
            p => Outcome::Noise(p),
        },
    };
    Compared {
        base: base.to_vec(),
        base_median,
        new_median,
        tolerance,
        outcome,
    }
}

fn is_constant(runs: &[u64]) -> bool {
    runs.windows(2).all(|pair| pair[0] == pair[1])
}

/// So many runs on both sides can be told apart.
fn enough() -> usize {
    let mut all = 1..;
    all.find(|&runs| least_p(runs, runs) <= ALPHA).unwrap_or(0)
}

/// The middle one, or the mean of the two there.
fn median(runs: &[u64]) -> u64 {
    let mut sorted = runs.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(&high), 0) => high.midpoint(sorted[middle - 1]),
        (Some(&one), _) => one,
        (None, _) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random and are the same for the same seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % end
        }

        /// About normal, of mean 0 and deviation 1.
        fn normal(&mut self) -> f64 {
            let sum: u64 = (0..12).map(|_| self.below(1 << 20)).sum();
            sum as f64 / (1 << 20) as f64 - 6.0
        }

        /// Resident memory of about so many bytes, in pages, noisy by a part of it; each
        /// tenth run has an arena more.
        fn rss(&mut self, bytes: f64, noise: f64) -> u64 {
            let arena = if self.below(10) == 0 { 1.0 } else { 0.0 };
            let bytes = bytes * (1.0 + noise * (self.normal() + 2.0 * arena));
            (bytes / 4096.0).max(0.0) as u64 * 4096
        }
    }

    /// How often growth is found among `tries`, of so many runs a side.
    fn found(
        random: &mut Random,
        (runs, tolerance): (usize, f64),
        noise: f64,
        growth: f64,
        tries: u32,
    ) -> f64 {
        const BYTES: f64 = 100e6;
        let mut count = 0u32;
        for _ in 0..tries {
            let mut side =
                |bytes| -> Vec<u64> { (0..runs).map(|_| random.rss(bytes, noise)).collect() };
            let (base, new) = (side(BYTES), side(BYTES * (1.0 + growth)));
            let compared = compare(Measure::Rss, &base, &new, tolerance);
            count += u32::from(matches!(compared.outcome, Outcome::GrewBeyondNoise(_)));
        }
        f64::from(count) / f64::from(tries)
    }

    /// The rates that the documentation tells of. Decision 102.
    #[test]
    fn noise_passes_and_growth_does_not() {
        const TRIES: u32 = 10_000;
        let mut random = Random(11);
        let mut rate = |asked, noise, growth| found(&mut random, asked, noise, growth, TRIES);
        println!("runs  tolerance  noise  growth  found");
        let mut told = |runs, tolerance, noise, growth| {
            let rate = rate((runs, tolerance), noise, growth);
            println!("{runs:4}  {tolerance:8}%  {noise:5}  {growth:6}  {rate:.4}");
            rate
        };
        // The same program, as noisy as programs are, and much more so.
        assert_eq!(told(5, 5.0, 0.01, 0.0), 0.0);
        assert!(told(5, 5.0, 0.02, 0.0) < 0.001);
        assert!(told(5, 5.0, 0.05, 0.0) < 0.006);
        assert!(told(5, 5.0, 0.20, 0.0) < 0.006);
        assert!(told(10, 5.0, 0.05, 0.0) < 0.006);
        // Without a tolerance the ranks alone decide, as often as they are said to be wrong.
        assert!(told(5, 0.0, 0.05, 0.0) < 0.006);
        assert!(told(10, 0.0, 0.05, 0.0) < 0.007);
        // It has grown by twice the tolerance.
        assert!(told(5, 5.0, 0.01, 0.10) > 0.99);
        assert!(told(10, 5.0, 0.02, 0.10) > 0.99);
    }

    /// What is asked of it: the same program twenty times, and one that has grown.
    #[test]
    fn twenty_noisy_repeats_pass() {
        for seed in 1..=50 {
            let mut random = Random(seed);
            let base: Vec<u64> = (0..5).map(|_| random.rss(50e6, 0.01)).collect();
            for repeat in 0..20 {
                let new: Vec<u64> = (0..5).map(|_| random.rss(50e6, 0.01)).collect();
                let compared = compare(Measure::Rss, &base, &new, 5.0);
                let is_fine = matches!(compared.outcome, Outcome::Within | Outcome::Noise(_));
                assert!(is_fine, "seed {seed}, repeat {repeat}: {compared:?}");
            }
            let grown: Vec<u64> = (0..5).map(|_| random.rss(55e6, 0.01)).collect();
            let compared = compare(Measure::Rss, &base, &grown, 5.0);
            let is_found = matches!(compared.outcome, Outcome::GrewBeyondNoise(p) if p <= ALPHA);
            assert!(is_found, "seed {seed}: {compared:?}");
        }
    }

    #[test]
    fn exact_figures_need_one_run() {
        let outcome = |base: &[u64], new: &[u64]| compare(Measure::Peak, base, new, 5.0).outcome;
        assert_eq!(outcome(&[1000], &[1000]), Outcome::Within);
        assert_eq!(outcome(&[1000], &[1050]), Outcome::Within);
        assert_eq!(outcome(&[1000], &[1051]), Outcome::Grew);
        assert_eq!(outcome(&[1000, 1000], &[1051]), Outcome::Grew);
        assert_eq!(outcome(&[1000], &[10]), Outcome::Within);
        // A leak where there was none is no matter of percent.
        assert_eq!(outcome(&[0], &[1]), Outcome::Grew);
        assert_eq!(outcome(&[0], &[0]), Outcome::Within);
        // They differ from run to run: then the ranks decide.
        assert_eq!(outcome(&[1000, 1001], &[2000, 2001]), Outcome::TooFew(5));
        let (low, high) = (
            [1000, 1001, 1002, 1003, 1004],
            [2000, 2001, 2002, 2003, 2004],
        );
        assert!(matches!(outcome(&low, &high), Outcome::GrewBeyondNoise(_)));
    }

    #[test]
    fn resident_memory_is_never_told_by_few_runs() {
        let outcome = |base: &[u64], new: &[u64]| compare(Measure::Rss, base, new, 5.0).outcome;
        assert_eq!(outcome(&[4096], &[8192]), Outcome::TooFew(5));
        assert_eq!(outcome(&[4096; 3], &[8192; 3]), Outcome::TooFew(5));
        assert!(matches!(
            outcome(&[4096; 5], &[8192; 5]),
            Outcome::GrewBeyondNoise(_)
        ));
        assert_eq!(outcome(&[4096; 5], &[4096; 5]), Outcome::Within);
    }

    #[test]
    fn medians_lie_between() {
        assert_eq!(median(&[5]), 5);
        assert_eq!(median(&[9, 1, 5]), 5);
        assert_eq!(median(&[1, 4]), 2);
        assert_eq!(median(&[u64::MAX, u64::MAX]), u64::MAX);
    }
}
