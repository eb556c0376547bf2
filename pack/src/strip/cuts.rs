//! Where a log's streams stood at the forks of its process, as numbers of allocations and
//! releases: a forked process inherited what had come and not gone there.

use std::collections::HashMap;
use std::iter::Peekable;

use memlog_format::meta::ForkPoint;
use memlog_read::{Log, Record};

use super::has_number;

/// Where a stream stood at a fork.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Which fork.
    pub fork: usize,
    point: ForkPoint,
}

impl Cut {
    /// Whether a record comes behind it.
    pub fn is_through(&self, record: &Record) -> bool {
        let at = (record.sequence, record.at);
        (self.point.sequence, self.point.committed as usize) <= at
    }
}

/// Where one stream stood at the forks that tell of it, in its order.
pub(super) fn of(stream: u32, forks: &[Vec<ForkPoint>]) -> Peekable<std::vec::IntoIter<Cut>> {
    let cuts = forks.iter().enumerate().filter_map(|(fork, points)| {
        let point = *points.iter().find(|point| point.stream == stream)?;
        Some(Cut { fork, point })
    });
    let mut cuts: Vec<_> = cuts.collect();
    cuts.sort_by_key(|cut| (cut.point.sequence, cut.point.committed));
    cuts.into_iter().peekable()
}

/// Where all streams stood.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    forks: usize,
    /// Of each stream how many allocations and releases it had at each fork.
    numbers: HashMap<u32, Vec<u64>>,
    /// The same, rising.
    sorted: HashMap<u32, Vec<u64>>,
    /// Each fork came before or after each other in all streams.
    are_in_order: bool,
}

impl Cuts {
    pub fn new(log: &Log, forks: &[Vec<ForkPoint>]) -> Self {
        let mut all = Self {
            forks: forks.len(),
            are_in_order: true,
            ..Self::default()
        };
        if forks.is_empty() {
            return all;
        }
        for (stream, records) in log.streams() {
            let mut numbers = vec![0; forks.len()];
            let mut cuts = of(stream, forks);
            let mut number = 0;
            for record in records {
                while let Some(cut) = cuts.next_if(|cut| cut.is_through(&record)) {
                    numbers[cut.fork] = number;
                }
                number += u64::from(has_number(&record));
            }
            cuts.for_each(|cut| numbers[cut.fork] = number);
            all.sorted.insert(stream, sorted(&numbers));
            all.numbers.insert(stream, numbers);
        }
        all.are_in_order = all.look_for_order();
        all
    }

    fn look_for_order(&self) -> bool {
        let mut forks: Vec<Vec<u64>> = (0..self.forks)
            .map(|fork| self.numbers.values().map(|numbers| numbers[fork]).collect())
            .collect();
        forks.sort();
        let pairs = forks.windows(2);
        pairs
            .flat_map(|pair| pair[0].iter().zip(&pair[1]))
            .all(|(one, other)| one <= other)
    }

    /// Whether a forked process inherited a block: at its fork this allocation had come, and
    /// this release not. Each is a stream and a number in it.
    pub fn inherits(&self, came: (u32, u64), went: (u32, u64)) -> bool {
        if self.forks == 0 {
            return false;
        }
        // If more forks have the one than the other, then one has but the one.
        if self.count(came) > self.count(went) {
            return true;
        }
        !self.are_in_order
            && (0..self.forks).any(|fork| self.has(fork, came) && !self.has(fork, went))
    }

    /// How many forks came after an event.
    fn count(&self, (stream, number): (u32, u64)) -> usize {
        let sorted = self.sorted.get(&stream).map_or(&[][..], Vec::as_slice);
        sorted.len() - sorted.partition_point(|&cut| cut <= number)
    }

    fn has(&self, fork: usize, (stream, number): (u32, u64)) -> bool {
        let numbers = self.numbers.get(&stream);
        numbers.is_some_and(|numbers| number < numbers[fork])
    }
}

fn sorted(numbers: &[u64]) -> Vec<u64> {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    fn cuts(forks: &[(u64, u64)]) -> Cuts {
        let of = |pick: fn(&(u64, u64)) -> u64| forks.iter().map(pick).collect::<Vec<_>>();
        let numbers = HashMap::from([(1, of(|fork| fork.0)), (2, of(|fork| fork.1))]);
        let mut cuts = Cuts {
            forks: forks.len(),
            sorted: numbers
                .iter()
                .map(|(&at, cuts)| (at, sorted(cuts)))
                .collect(),
            numbers,
            are_in_order: true,
        };
        cuts.are_in_order = cuts.look_for_order();
        cuts
    }

    /// Fork by fork, for all that two streams may say.
    #[test]
    fn inherits_what_came_before_a_fork_and_went_after_it() {
        let steps: Vec<(u64, u64)> = (0..4).flat_map(|a| (0..4).map(move |b| (a, b))).collect();
        for &one in &steps {
            for &other in &steps {
                let forks = [one, other];
                let cuts = cuts(&forks);
                for came in 0..4 {
                    for went in 0..4 {
                        let is_in = |fork: &(u64, u64)| came < fork.0 && went >= fork.1;
                        assert_eq!(
                            cuts.inherits((1, came), (2, went)),
                            forks.iter().any(is_in),
                            "{forks:?} {came} {went}"
                        );
                    }
                }
            }
        }
    }
}
