//! Lines that moved because others above them came or went.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::files::SourceFiles;
use super::names::Names;
use super::side::Side;
use crate::place::{file_of, line_of};

/// More lines of a function are only compared as they are.
const MOST: usize = 2000;

/// By file and line where that line is on the other side.
type Moves = HashMap<(String, u64), u64>;

/// The lines of all functions.
pub(super) struct Lines {
    before: Moves,
    files: SourceFiles,
}

impl Lines {
    /// The lines of a function are found again in their order; they all moved as far as
    /// most of them did.
    pub(super) fn of(sides: [&Side; 2], names: &Names) -> Self {
        let files = SourceFiles::of(sides);
        let mut of_function: BTreeMap<(&str, String), [BTreeSet<u64>; 2]> = BTreeMap::new();
        for (number, side) in sides.into_iter().enumerate() {
            for (label, name) in (0..).zip(&side.names) {
                let location = name.location.as_deref();
                let line = location.and_then(line_of);
                if let (Some(location), Some(line), Some(key)) =
                    (location, line, names.key(number, label))
                {
                    let file = files.key(number, file_of(location)).to_owned();
                    let function = (names.text(key), file);
                    of_function.entry(function).or_default()[number].insert(line);
                }
            }
        }
        let (mut before, mut after) = (Moves::new(), Moves::new());
        for ((_, file), lines) in of_function {
            let [one, other] = lines.map(|lines| lines.into_iter().collect::<Vec<u64>>());
            for (from, to) in pairs(&one, &other) {
                // Of two functions in a line the first tells.
                let places = [(file.clone(), from), (file.clone(), to)];
                if !before.contains_key(&places[0]) && !after.contains_key(&places[1]) {
                    let [one, other] = places;
                    before.insert(one, to);
                    after.insert(other, from);
                }
            }
        }
        Self { before, files }
    }

    /// What a place is called on both sides.
    pub(super) fn key(&self, side: usize, location: &str) -> String {
        let file = self.files.key(side, file_of(location));
        let Some(line) = line_of(location) else {
            return file.to_owned();
        };
        match self.before.get(&(file.to_owned(), line)) {
            _ if side == 1 => format!("{file}:{line}"),
            Some(after) => format!("{file}:{after}"),
            None => format!("{file}:gone {line}"),
        }
    }

    /// The same of its file.
    pub(super) fn file<'f>(&'f self, side: usize, location: &'f str) -> &'f str {
        self.files.key(side, file_of(location))
    }
}

/// Which lines of the one are which of the other; both rise.
fn pairs(one: &[u64], other: &[u64]) -> Vec<(u64, u64)> {
    if one.len() == other.len() {
        return one.iter().copied().zip(other.iter().copied()).collect();
    }
    let shift = match one.len().max(other.len()) > MOST {
        true => 0,
        false => shift(one, other),
    };
    let moved = |line: u64| line.checked_add_signed(shift);
    let is_there = |line: &u64| moved(*line).is_some_and(|line| other.binary_search(&line).is_ok());
    let fixed = one.iter().copied().filter(is_there);
    let mut pairs: Vec<(u64, u64)> = fixed
        .filter_map(|line| Some((line, moved(line)?)))
        .collect();
    // What stands between two that were found, if there are as many.
    let (mut gaps, mut last) = (Vec::new(), (0, 0));
    for next in pairs.iter().copied().chain([(u64::MAX, u64::MAX)]) {
        let (left, right) = (between(one, last.0, next.0), between(other, last.1, next.1));
        if left.len() == right.len() {
            gaps.extend(left.iter().copied().zip(right.iter().copied()));
        }
        last = next;
    }
    pairs.extend(gaps);
    pairs
}

/// What stands between two lines; all rise.
fn between(lines: &[u64], from: u64, to: u64) -> &[u64] {
    let start = lines.partition_point(|line| *line <= from);
    let end = lines.partition_point(|line| *line < to);
    lines.get(start..end).unwrap_or_default()
}

/// How far most lines moved; of several the least.
fn shift(one: &[u64], other: &[u64]) -> i64 {
    let mut counts: HashMap<i64, (usize, u64)> = HashMap::new();
    for line in one {
        for moved in other {
            let Ok(shift) = i64::try_from(i128::from(*moved) - i128::from(*line)) else {
                continue;
            };
            let (count, sum) = counts.entry(shift).or_default();
            *count += 1;
            *sum = sum.saturating_add(line.saturating_add(*moved));
        }
    }
    // The same in both directions: where only they differ, nothing moved.
    let rank = |(shift, (count, sum)): (&i64, &(usize, u64))| {
        (
            *count,
            std::cmp::Reverse(shift.unsigned_abs()),
            std::cmp::Reverse(*sum),
        )
    };
    let best = counts.iter().map(rank).max();
    let mut fit = counts.iter().filter(|&one| Some(rank(one)) == best);
    match (fit.next(), fit.next()) {
        (Some((shift, _)), None) => *shift,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_again() {
        assert_eq!(pairs(&[10, 20], &[13, 25]), [(10, 13), (20, 25)]);
        // One is new, the others moved by three.
        assert_eq!(
            pairs(&[10, 20, 30], &[13, 15, 23, 33]),
            [(10, 13), (20, 23), (30, 33)]
        );
        // What is between two that were found is one line, too.
        assert_eq!(
            pairs(&[10, 20, 30, 50], &[10, 22, 30, 40, 50]),
            [(10, 10), (30, 30), (50, 50), (20, 22)]
        );
        assert_eq!(pairs(&[], &[1]), []);
        assert_eq!(pairs(&[5], &[3, 7]), [(5, 3)]);
        assert_eq!(pairs(&[0, u64::MAX], &[1]), [(0, 1)]);
        let last = u64::MAX;
        assert_eq!(pairs(&[1, last], &[last]), [(last, last)]);
    }

    /// Looked for one by one it would take hours.
    #[test]
    fn a_function_of_very_many_lines_is_compared() {
        let one: Vec<u64> = (0..1_000_000).collect();
        let gone = 500_000;
        let other: Vec<u64> = one.iter().copied().filter(|line| *line != gone).collect();
        let expected: Vec<(u64, u64)> = other.iter().map(|line| (*line, *line)).collect();
        assert_eq!(pairs(&one, &other), expected);
    }

    #[test]
    fn both_directions_pair_the_same() {
        let mut seed = 7u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let mut lines = || {
                let count = draw(6);
                let lines = (0..count).map(|_| draw(15)).collect::<BTreeSet<u64>>();
                lines.into_iter().collect::<Vec<u64>>()
            };
            let (one, other) = (lines(), lines());
            let mut there = pairs(&one, &other);
            let mut back: Vec<_> = pairs(&other, &one)
                .into_iter()
                .map(|(a, b)| (b, a))
                .collect();
            there.sort_unstable();
            back.sort_unstable();
            assert_eq!(there, back, "{one:?} {other:?}");
            for pair in there.windows(2) {
                assert!(
                    pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1,
                    "{one:?} {other:?}"
                );
            }
        }
    }
}
