//! Against a twin that compares each stack with each.

use std::collections::{BTreeMap, HashMap};

use memlog_analysis::Held;

use super::{Stack, held, side};
use crate::diff::{Change, Side, diff};
use crate::keys::By;

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }

    /// Stacks of few functions; some hold nothing.
    fn stacks(&mut self) -> Vec<(String, u64, u64)> {
        let count = 1 + self.below(5);
        let stack = |_| {
            let depth = self.below(4);
            let inner = (0..depth).map(|_| ["a", "b", "c"][self.below(3) as usize]);
            let words: Vec<&str> = std::iter::once("main").chain(inner).collect();
            let blocks = self.below(4).saturating_sub(1);
            (words.join(" "), blocks.min(1) * self.below(9), blocks)
        };
        (0..count).map(stack).collect()
    }
}

fn borrowed(stacks: &[(String, u64, u64)]) -> Vec<Stack<'_>> {
    let stacks = stacks.iter();
    stacks
        .map(|(text, bytes, blocks)| (text.as_str(), *bytes, *blocks))
        .collect()
}

/// The plainest way: each stack against each.
struct Twin {
    /// By path, the outermost first, what it holds on both sides.
    held: BTreeMap<Vec<String>, [Held; 2]>,
    /// By side each function between what it called, or nothing, and its caller.
    calls: [Vec<[String; 3]>; 2],
}

impl Twin {
    fn of(sides: [&[Stack]; 2]) -> Self {
        let mut twin = Self {
            held: BTreeMap::new(),
            calls: [Vec::new(), Vec::new()],
        };
        for (side, stacks) in sides.into_iter().enumerate() {
            for (text, bytes, blocks) in stacks {
                let mut path: Vec<String> = text.split(' ').map(str::to_owned).collect();
                path.dedup();
                let calls = (0..path.len()).map(|at| Self::call(&path, at));
                twin.calls[side].extend(calls);
                let sum = &mut twin.held.entry(path).or_default()[side];
                *sum = sum.plus(held(*bytes, *blocks));
            }
        }
        twin
    }

    fn call(path: &[String], at: usize) -> [String; 3] {
        let frame = |at: Option<usize>| path.get(at?).cloned();
        let around = [Some(at + 1), Some(at), at.checked_sub(1)];
        around.map(|at| frame(at).unwrap_or_default())
    }

    /// Whether the second is the first without frames that a side may lack.
    fn lacks(
        &self,
        long: &[String],
        short: &[String],
        (i, j): (usize, usize),
        side: usize,
    ) -> bool {
        if i == long.len() {
            return j == short.len();
        }
        let is_again = j > 0 && short[j - 1] == long[i];
        let may_lack = !self.calls[1 - side].contains(&Self::call(long, i)) || is_again;
        let is_next = short.get(j) == Some(&long[i]);
        is_next && self.lacks(long, short, (i + 1, j + 1), side)
            || may_lack && self.lacks(long, short, (i + 1, j), side)
    }

    /// The path that a path of one side is one with.
    fn joined(&self, path: &[String], side: usize) -> Vec<String> {
        let own = self.held[path];
        if own[side].blocks == 0 || own[1 - side].blocks > 0 {
            return path.to_vec();
        }
        let fits = |(other, held): &(&Vec<String>, &[Held; 2])| {
            let amount = |held: Held| {
                if own[side].bytes == 0 {
                    held.blocks
                } else {
                    held.bytes
                }
            };
            let (there, here) = (amount(held[1 - side]), amount(held[side]));
            other.len() < path.len()
                && held[1 - side].blocks > 0
                && self.lacks(path, other, (0, 0), side)
                && (held[side].blocks == 0
                    || there > here && 2 * (there - here) >= amount(own[side]))
        };
        let best = self.held.iter().filter(fits).max_by_key(|(other, held)| {
            let sum = held[0].plus(held[1]);
            let inner: Vec<&String> = other.iter().rev().collect();
            (other.len(), sum.bytes, sum.blocks, std::cmp::Reverse(inner))
        });
        best.map_or(path.to_vec(), |(best, _)| best.clone())
    }

    /// Of what is one stack of one side still: pairs that nothing else is as large as.
    fn join_equals(&self, sums: &mut HashMap<Vec<String>, [Held; 2]>) {
        let alone = |side: usize| {
            let alone = sums.iter().filter(|(path, held)| {
                held[1 - side].blocks == 0 && held[side].blocks > 0 && self.held[*path] == **held
            });
            alone
                .map(|(path, held)| (path.clone(), held[side]))
                .collect::<Vec<_>>()
        };
        let all = [alone(0), alone(1)];
        let count = |side: usize, held: Held| all[side].iter().filter(|one| one.1 == held).count();
        for (one, held) in &all[0] {
            let other = all[1].iter().find(|other| other.1 == *held);
            let Some((other, _)) = other.filter(|_| count(0, *held) == 1 && count(1, *held) == 1)
            else {
                continue;
            };
            let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
            let is_unseen = |path: &[String], side: usize| {
                let call = (path.get(same), &path[same.max(1) - 1]);
                let mut seen = self.calls[side].iter();
                call.0.is_none() || !seen.any(|[_, own, caller]| (Some(own), caller) == call)
            };
            if same > 0 && is_unseen(one, 1) && is_unseen(other, 0) {
                sums.remove(one);
                sums.remove(other);
            }
        }
    }

    /// What changed, of each stack.
    fn changes(&self) -> Vec<[Held; 2]> {
        let mut sums: HashMap<Vec<String>, [Held; 2]> = HashMap::new();
        for (path, held) in &self.held {
            let mut last = path.clone();
            loop {
                let sides = [0, 1].map(|side| self.joined(&last, side));
                let next = sides.into_iter().find(|next| *next != last);
                match next {
                    Some(next) => last = next,
                    None => break,
                }
            }
            let sum = sums.entry(last).or_default();
            *sum = [0, 1].map(|side| sum[side].plus(held[side]));
        }
        self.join_equals(&mut sums);
        let mut changes: Vec<_> = sums
            .into_values()
            .filter(|held| held[0] != held[1])
            .collect();
        changes.sort_by_key(|held| held.map(|held| (held.bytes, held.blocks)));
        changes
    }
}

#[test]
fn stacks_are_joined_as_the_twin_joins_them() {
    let mut random = Random(11);
    let mut joined = 0;
    for round in 0..20_000 {
        let (before, after) = (random.stacks(), random.stacks());
        let (before, after) = (borrowed(&before), borrowed(&after));
        let found = diff([&side(By::Stack, &before), &side(By::Stack, &after)]);
        let mut found: Vec<_> = found.rows.iter().map(|row| row.held).collect();
        found.sort_by_key(|held| held.map(|held| (held.bytes, held.blocks)));
        let twin = Twin::of([&before, &after]);
        assert_eq!(found, twin.changes(), "{round}: {before:?} {after:?}");
        let apart = twin.held.values().filter(|held| held[0] != held[1]).count();
        joined += usize::from(found.len() < apart);
    }
    assert!(joined > 500, "{joined}");
}

/// What grew from the one to the other shrank from the other to the one; nothing grew
/// from a log to itself; and rows sum up to the whole.
#[test]
fn both_directions_tell_the_same() {
    let mut random = Random(5);
    for _ in 0..5_000 {
        let (before, after) = (random.stacks(), random.stacks());
        let (before, after) = (borrowed(&before), borrowed(&after));
        for by in [By::Function, By::Stack, By::Line, By::Module] {
            let [one, other] = [side(by, &before), side(by, &after)];
            let there = diff([&one, &other]);
            let sum = |side: usize| {
                let all = there
                    .rows
                    .iter()
                    .map(|row| i128::from(row.held[side].bytes));
                all.sum::<i128>()
            };
            let whole = |side: &Side| i128::from(side.total.bytes);
            assert_eq!(sum(1) - sum(0), whole(&other) - whole(&one));
            let texts = |rows: Vec<Change>, is_turned: bool| {
                let row = |row: Change| {
                    let [before, after] = row.held;
                    let other = row.before_name.unwrap_or_else(|| row.name.clone());
                    match is_turned {
                        true => format!("{other} {} {after:?} {before:?}", row.name),
                        false => format!("{} {other} {before:?} {after:?}", row.name),
                    }
                };
                let mut texts: Vec<String> = rows.into_iter().map(row).collect();
                texts.sort();
                texts
            };
            let back = diff([&other, &one]).rows;
            assert_eq!(
                texts(there.rows, false),
                texts(back, true),
                "{by:?} {before:?} {after:?}"
            );
            assert!(diff([&one, &one]).rows.is_empty());
        }
    }
}
