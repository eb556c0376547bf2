//! The places that asked for memory, those that count most first.
//!
//! ```text
//! of each stack, the innermost first:
//!     places of the languages' libraries, and what starts programs: on
//!     functions that pass on for others (wrappers): on
//!     the first that is left asked; if none is, the innermost place did
//! ```

use std::collections::{HashMap, HashSet};

use memlog_analysis::Held;

use super::askers::{Askers, Stacks};
use super::wrappers::{self, Passed};
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

/// A function that was passed over.
#[derive(Debug, PartialEq)]
pub struct Through {
    pub function: String,
    /// Of all that it asked for in its step, in percent.
    pub share: f64,
}

/// All places of a moment, or of all time.
#[derive(Default)]
pub struct Sites {
    pub list: Vec<Site>,
    pub total: Held,
    /// Functions that were passed over, in steps, the innermost first.
    pub through: Vec<Vec<Through>>,
    /// What the libraries of languages asked for on behalf of others.
    pub past_library: Held,
}

impl Sites {
    /// Sums stacks up by who asked; `weight` is what counts, `all` are the
    /// stacks of all time.
    pub fn of<S: Stacks>(
        stacks: impl Iterator<Item = (u32, Held)>,
        all: impl Iterator<Item = u32>,
        weight: impl Fn(&Held) -> u64,
        names: &mut S,
    ) -> Self {
        let stacks: Vec<_> = stacks.collect();
        let mut askers = Askers::new(names);
        let weighed: Vec<_> = stacks
            .iter()
            .map(|(stack, held)| (*stack, weight(held)))
            .collect();
        let by_name = wrappers::by_name(all, &mut askers);
        let steps = wrappers::passed_over(&weighed, &by_name, &mut askers);
        let passed = steps.iter().flatten().map(|one| one.function).collect();
        let mut sites = Self::outside(&stacks, &passed, &weight, &mut askers);
        let through = |one: &Passed| Through {
            function: askers.functions()[one.function as usize].name.clone(),
            share: one.part * 100.0,
        };
        let steps = steps.iter().map(|step| step.iter().map(through).collect());
        sites.through = steps.collect();
        sites
    }

    /// Sums stacks up by the innermost user's function that is none of these.
    fn outside<S: Stacks>(
        stacks: &[(u32, Held)],
        passed: &HashSet<u32>,
        weight: &impl Fn(&Held) -> u64,
        askers: &mut Askers<S>,
    ) -> Self {
        let mut by_label: HashMap<u32, Held> = HashMap::new();
        let mut sites = Self::default();
        for &(stack, held) in stacks {
            let (asking, is_past_library) = asking(stack, passed, askers);
            let Some(label) = asking else {
                continue;
            };
            add(by_label.entry(label).or_default(), held);
            add(&mut sites.total, held);
            if is_past_library {
                add(&mut sites.past_library, held);
            }
        }
        let mut sorted: Vec<_> = by_label.into_iter().collect();
        sorted.sort_unstable_by_key(|(label, held)| (std::cmp::Reverse(weight(held)), *label));
        let mut sum = 0u64;
        let whole = weight(&sites.total);
        let list = sorted.into_iter().map(|(label, held)| {
            sum = sum.saturating_add(weight(&held));
            Site {
                label,
                held,
                share: percentage(weight(&held), whole),
                sum: percentage(sum, whole),
            }
        });
        sites.list = list.collect();
        sites
    }
}

/// Who asked, and whether a library did so for it.
fn asking<S: Stacks>(
    stack: u32,
    passed: &HashSet<u32>,
    askers: &mut Askers<S>,
) -> (Option<u32>, bool) {
    let mut walk = askers.walk(stack);
    let mut first = None;
    while let Some(label) = askers.next(&mut walk) {
        let function = askers.function(label);
        if !passed.contains(&function) {
            return (Some(label), walk.is_past_library);
        }
        first = first.or(Some((label, walk.is_past_library)));
    }
    match first {
        Some((label, is_past_library)) => (Some(label), is_past_library),
        None => (askers.innermost(stack), false),
    }
}

fn add(sum: &mut Held, held: Held) {
    sum.bytes = sum.bytes.saturating_add(held.bytes);
    sum.blocks = sum.blocks.saturating_add(held.blocks);
}
