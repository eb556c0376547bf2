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
    /// What was passed over: places through which nearly all of it goes, and
    /// which therefore answer nothing.
    pub through: Vec<u32>,
}

/// From this share on, in percent, a place is passed over for its callers...
const NEARLY_ALL: f64 = 80.0;
/// ...if they divide it within so many steps.
const STEPS: usize = 6;

impl Sites {
    /// Sums stacks up by the function that asked; `weight` is what counts.
    pub fn of(
        stacks: impl Iterator<Item = (u32, Held)>,
        weight: impl Fn(&Held) -> u64,
        labels: &mut Labels,
    ) -> Self {
        let stacks: Vec<_> = stacks.collect();
        let innermost = Self::outside(&stacks, Vec::new(), &weight, labels);
        let mut through = Vec::new();
        let mut top = innermost.list.first().map(|site| (site.label, site.share));
        while let Some((label, NEARLY_ALL..)) = top
            && through.len() < STEPS
        {
            through.push(label);
            let sites = Self::outside(&stacks, through.clone(), &weight, labels);
            top = sites.list.first().map(|site| (site.label, site.share));
            if top.is_some_and(|(_, share)| share < NEARLY_ALL) {
                return sites;
            }
        }
        innermost
    }

    /// Sums stacks up by the innermost function that is none of these.
    fn outside(
        stacks: &[(u32, Held)],
        through: Vec<u32>,
        weight: &impl Fn(&Held) -> u64,
        labels: &mut Labels,
    ) -> Self {
        let mut by_label: HashMap<u32, Held> = HashMap::new();
        let mut total = Held::default();
        for &(stack, held) in stacks {
            let mut asking = None;
            let mut cursor = labels.start(stack);
            while let Some((label, outer)) = labels.step(cursor) {
                asking = Some(label);
                if !through.contains(&label) {
                    break;
                }
                cursor = outer;
            }
            if let Some(label) = asking {
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
            through,
        }
    }
}

fn add(sum: &mut Held, held: Held) {
    sum.bytes = sum.bytes.saturating_add(held.bytes);
    sum.blocks = sum.blocks.saturating_add(held.blocks);
}
