//! How far ranks are from each other.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::{Process, Ranks};

/// The least, the middle and the most of a figure, and which ranks have them; of several
/// the first by number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of how many ranks it is known.
    pub ranks: u64,
    /// Bytes and the rank.
    pub least: (u64, u64),
    /// The same of the middle one; of two the lesser.
    pub median: (u64, u64),
    /// The same of the most.
    pub most: (u64, u64),
    /// Of all together.
    pub sum: u64,
}

impl Spread {
    /// The mean.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.ranks as f64
    }

    /// How many times the mean the most is; 1 if there is nothing.
    pub fn imbalance(&self) -> f64 {
        match self.sum {
            0 => 1.0,
            _ => self.most.0 as f64 / self.mean(),
        }
    }
}

/// A rank that is far above the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier<'r> {
    /// Whose RSS peak it is.
    pub process: &'r Process,
    /// That peak.
    pub rss_peak_bytes: u64,
    /// Of the mean of all.
    pub percent: u64,
}

/// The ranks of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// How many.
    pub ranks: u64,
    /// Of how many of them the RSS peak is known.
    pub rss_known_ranks: u64,
    /// Those peaks, added up; they need not be at the same time. Nothing if none is known.
    pub rss_peaks_bytes: Option<u64>,
    /// The highest.
    pub highest_bytes: Option<u64>,
}

impl Ranks {
    /// How far ranks are from each other in a figure; nothing where no log tells it.
    pub fn spread(&self, figure: impl Fn(&Process) -> Option<u64>) -> Option<Spread> {
        let known = self.processes.iter();
        let known = known.filter_map(|process| Some((figure(process)?, process.rank)));
        let mut known: Vec<(u64, u64)> = known.collect();
        known.sort_unstable();
        let most = known.last()?.0;
        // The first of those that have as much.
        let first_of_most = known.partition_point(|(bytes, _)| *bytes < most);
        let add = |sum: u64, (bytes, _): &(u64, u64)| sum.saturating_add(*bytes);
        Some(Spread {
            ranks: known.len() as u64,
            least: *known.first()?,
            median: *known.get((known.len() - 1) / 2)?,
            most: *known.get(first_of_most)?,
            sum: known.iter().fold(0, add),
        })
    }

    /// Ranks whose RSS peak is more than a fifth above the mean of all, the highest first.
    /// Its arithmetic is that of `doc/engines/outliers.sql`.
    pub fn outliers(&self) -> Vec<Outlier<'_>> {
        let Some(spread) = self.spread(|process| process.rss_peak_bytes) else {
            return Vec::new();
        };
        let mean = spread.mean();
        let far = self.processes.iter().filter_map(|process| {
            let rss_peak_bytes = process.rss_peak_bytes?;
            (rss_peak_bytes as f64 > 1.2 * mean).then(|| Outlier {
                process,
                rss_peak_bytes,
                percent: (100.0 * rss_peak_bytes as f64 / mean).floor() as u64,
            })
        });
        let mut far: Vec<_> = far.collect();
        far.sort_by_key(|one| (std::cmp::Reverse(one.rss_peak_bytes), one.process));
        far
    }

    /// By node its ranks.
    pub fn nodes(&self) -> BTreeMap<&str, Node> {
        let mut nodes: BTreeMap<&str, Node> = BTreeMap::new();
        for process in &self.processes {
            let node = nodes.entry(process.node.as_str()).or_default();
            node.ranks += 1;
            if let Some(peak) = process.rss_peak_bytes {
                let sum = node.rss_peaks_bytes.unwrap_or(0);
                node.rss_known_ranks += 1;
                node.rss_peaks_bytes = Some(sum.saturating_add(peak));
                node.highest_bytes = node.highest_bytes.max(Some(peak));
            }
        }
        nodes
    }

    /// Numbers below the highest that no process has. Those above it nobody knows of.
    pub fn missing(&self) -> Vec<RangeInclusive<u64>> {
        let mut ranks: Vec<u64> = self.processes.iter().map(|one| one.rank).collect();
        ranks.sort_unstable();
        let mut next = 0;
        let mut missing = Vec::new();
        for rank in ranks {
            if rank > next {
                missing.push(next..=rank - 1);
            }
            next = rank.saturating_add(1);
        }
        missing
    }

    /// Two processes that have the same rank: their places cannot be told apart any more.
    pub fn twice(&self) -> Option<[&Process; 2]> {
        let mut all: Vec<&Process> = self.processes.iter().collect();
        all.sort_unstable();
        let mut pairs = all.windows(2);
        pairs.find_map(|pair| match pair {
            [one, other] if one.rank == other.rank => Some([*one, *other]),
            _ => None,
        })
    }
}
