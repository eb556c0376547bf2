//! Stacks as lines of labels that are linked outwards. Stacks share their callers, so
//! this takes as much room as there are frames, where each stack written out would take
//! the square of a recursion's depth.

use crate::Held;

/// A label and the line of its callers, which comes before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// What stands in it.
    pub label: u32,
    /// The line that called it.
    pub callers: u32,
}

/// Where every line ends: the first one, which is of no stack.
pub const END: u32 = 0;

/// The innermost label of a line, and the line of its callers.
pub fn step(lines: &[Line], line: u32) -> Option<(u32, u32)> {
    let found = lines.get(line as usize)?;
    (line != END).then_some((found.label, found.callers))
}

/// By line the first one outwards, itself among them, that fits; [`END`] where none does.
pub fn first_outwards(lines: &[Line], fits: impl Fn(u32) -> bool) -> Vec<u32> {
    let mut first: Vec<u32> = Vec::with_capacity(lines.len());
    for (line, own) in (0u32..).zip(lines) {
        let outer = first.get(own.callers as usize).copied().unwrap_or(END);
        first.push(match line != END && fits(own.label) {
            true => line,
            false => outer,
        });
    }
    first
}

/// By key what lines of that key hold, and those inside them. `held` is by line; a key
/// that a stack has twice, as of a recursion, has what is inside both once.
pub fn held_below(
    lines: &[Line],
    mut held: Vec<Held>,
    keys: usize,
    key: impl Fn(u32) -> Option<u32>,
) -> Vec<Held> {
    held.resize(lines.len(), Held::default());
    let mut inside = Inside::of(lines);
    for (line, own) in lines.iter().enumerate().skip(1).rev() {
        held[own.callers as usize] = held[own.callers as usize].plus(held[line]);
    }
    let mut below = vec![Held::default(); keys];
    // How often each key is on the way from the outermost line to the one at hand.
    let mut open = vec![0u32; keys];
    let mut way = vec![END];
    while let Some(&line) = way.last() {
        let own = lines.get(line as usize).filter(|_| line != END);
        let own = own.and_then(|own| key(own.label)).map(|key| key as usize);
        if let Some(next) = inside.take(line) {
            // It is met: what is inside it goes through all that are open.
            let key = lines.get(next as usize).and_then(|next| key(next.label));
            if let Some(key) = key.map(|key| key as usize) {
                if open[key] == 0 {
                    below[key] = below[key].plus(held[next as usize]);
                }
                open[key] += 1;
            }
            way.push(next);
            continue;
        }
        if let Some(key) = own {
            open[key] -= 1;
        }
        way.pop();
    }
    below
}

/// The lines right inside each line.
struct Inside {
    first: Vec<u32>,
    /// Of the same callers the next one.
    next: Vec<u32>,
}

impl Inside {
    fn of(lines: &[Line]) -> Self {
        let mut inside = Self {
            first: vec![END; lines.len()],
            next: vec![END; lines.len()],
        };
        for (line, own) in (0u32..).zip(lines).skip(1) {
            let first = &mut inside.first[own.callers as usize];
            inside.next[line as usize] = std::mem::replace(first, line);
        }
        inside
    }

    /// One of them, each once.
    fn take(&mut self, line: u32) -> Option<u32> {
        let first = self.first.get_mut(line as usize)?;
        let taken = *first;
        *first = self.next.get(taken as usize).copied().unwrap_or(END);
        (taken != END).then_some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against each stack written out.
    #[test]
    fn lines_have_what_whole_stacks_have() {
        let mut seed = 3u64;
        let mut draw = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let mut lines = vec![Line {
            label: u32::MAX,
            callers: END,
        }];
        let mut held = vec![Held::default()];
        for number in 1..400u64 {
            lines.push(Line {
                label: draw(12) as u32,
                callers: draw(number) as u32,
            });
            held.push(Held {
                bytes: draw(90),
                blocks: draw(3),
            });
        }
        let all: &[Line] = &lines;
        let stack = |line: u32| {
            let mut next = line;
            std::iter::from_fn(move || {
                let line = next;
                let (label, callers) = step(all, line)?;
                next = callers;
                Some((line, label))
            })
            .collect::<Vec<_>>()
        };
        let lines_of: Vec<_> = (0..400).map(stack).collect();
        // Of twelve labels some are no keys, and two are one.
        let key = |label: u32| (label < 9).then_some(label / 2);
        let mut expected = vec![Held::default(); 5];
        for (stack, held) in lines_of.iter().zip(&held) {
            let mut keys: Vec<u32> = stack.iter().filter_map(|&(_, label)| key(label)).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                expected[key as usize] = expected[key as usize].plus(*held);
            }
        }
        assert_eq!(held_below(&lines, held, 5, key), expected);
        let first = first_outwards(&lines, |label| label == 7);
        for (line, stack) in lines_of.iter().enumerate() {
            let found = stack.iter().find(|(_, label)| *label == 7);
            assert_eq!(first[line], found.map_or(END, |&(line, _)| line));
        }
    }

    #[test]
    fn a_deep_recursion_is_no_matter() {
        let lines: Vec<Line> = (0..300_000u32)
            .map(|line| Line {
                label: line % 2,
                callers: line.saturating_sub(1),
            })
            .collect();
        let one = Held {
            bytes: 1,
            blocks: 1,
        };
        let below = held_below(&lines, vec![one; lines.len()], 2, Some);
        let all = |blocks| Held {
            bytes: blocks,
            blocks,
        };
        // The first line is of no stack.
        assert_eq!(below, [all(299_998), all(299_999)]);
    }
}
