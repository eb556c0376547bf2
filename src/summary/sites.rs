//! The places that called the allocator, those that count most first.

use std::collections::HashMap;

use memlog_analysis::Held;

use crate::report::Labels;
use crate::words::percentage;

/// A place, and its part of the whole.
pub struct Site {
    pub label: u32,
    pub held: Held,
    /// In percent.
    pub share: f64,
    /// With those before it.
    pub sum: f64,
}

/// All places of a moment, or of all time.
pub struct Sites {
    pub list: Vec<Site>,
    pub total: Held,
}

impl Sites {
    /// Sums stacks up by their innermost function; `weight` is what counts.
    pub fn of(
        stacks: impl Iterator<Item = (u32, Held)>,
        weight: impl Fn(&Held) -> u64,
        labels: &mut Labels,
    ) -> Self {
        let mut by_label: HashMap<u32, Held> = HashMap::new();
        let mut total = Held::default();
        for (stack, held) in stacks {
            let cursor = labels.start(stack);
            if let Some((label, _)) = labels.step(cursor) {
                add(by_label.entry(label).or_default(), held);
                add(&mut total, held);
            }
        }
        let mut sorted: Vec<_> = by_label.into_iter().collect();
        sorted.sort_unstable_by_key(|(label, held)| (std::cmp::Reverse(weight(held)), *label));
        let mut sum = 0u64;
        let list = sorted.into_iter().map(|(label, held)| {
            sum = sum.saturating_add(weight(&held));
            Site {
                label,
                held,
                share: percentage(weight(&held), weight(&total)),
                sum: percentage(sum, weight(&total)),
            }
        });
        Self {
            list: list.collect(),
            total,
        }
    }
}

fn add(sum: &mut Held, held: Held) {
    sum.bytes = sum.bytes.saturating_add(held.bytes);
    sum.blocks = sum.blocks.saturating_add(held.blocks);
}
