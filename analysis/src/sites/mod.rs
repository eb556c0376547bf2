//! The places that asked for memory, those that count most first.
//!
//! ```text
//! of each stack, the innermost first:
//!     places of the languages' libraries, and what starts programs: on
//!     functions that pass on for others (wrappers): on
//!     the first that is left asked; if none is, the innermost place did
//! ```

mod askers;
#[cfg(test)]
mod tests;
mod wrappers;

use std::collections::{BTreeSet, HashMap};

use crate::{Held, Name, percentage, without_names};
pub use askers::Stacks;
use askers::{Asker, Askers, AskingStack, END};
use wrappers::{Passed, Weighed};

/// A place, and its part of the whole.
pub struct AskingSite {
    /// Its name, by number.
    pub label: u32,
    /// What it asked for.
    pub held: Held,
    /// In percent.
    pub share: f64,
    /// With those before it.
    pub sum: f64,
    /// The place that most of it was for: of one without a name the next that
    /// has one, of a library's that of the program's own.
    pub caller: Option<u32>,
}

/// A function that was passed over.
#[derive(Debug, PartialEq)]
pub struct Through {
    /// Its name.
    pub function: String,
    /// Of all, in percent.
    pub share: f64,
}

/// All places of a moment, or of all time.
#[derive(Default)]
pub struct Sites {
    /// Those that count most first.
    pub list: Vec<AskingSite>,
    /// Of all.
    pub total: Held,
    /// Functions that were passed over, in steps, the innermost first.
    pub through: Vec<Vec<Through>>,
    /// What the libraries of languages asked for on behalf of others.
    pub past_library: Held,
    /// All functions that are passed over, also where nobody is left behind them.
    #[cfg(test)]
    pub passed: Vec<String>,
}

/// Stacks to be summed up by who asked; `weight` is what counts.
pub struct List {
    /// Each with what it holds.
    pub stacks: Vec<(u32, Held)>,
    /// What counts of that.
    pub weight: fn(&Held) -> u64,
}

/// Functions that are passed over, by name and module.
pub type PassedOver = BTreeSet<(String, Option<String>)>;

/// What is passed over in stacks.
pub enum Wrappers<'a> {
    /// What these lists say.
    Of(&'a [List]),
    /// What others said: then several logs have the same places.
    Known(&'a PassedOver),
}

/// The place that asked in each of these stacks, as [`Sites::of`] has it for stacks of
/// these lists, and what was passed over.
pub fn asking_places<S: Stacks>(
    wrappers: &Wrappers,
    stacks: impl Iterator<Item = u32>,
    program: Option<&str>,
    names: &mut S,
) -> (Vec<Option<u32>>, PassedOver) {
    let entered = Entered::of(wrappers, stacks, program, names);
    let others = entered.others.iter();
    let places = others.map(|entry| asking(entry, &entered.left, &entered.askers).0);
    let places = places.collect();
    let functions = entered.askers.numbered();
    let passed = functions.filter(|(_, number)| entered.passed.has_function(*number));
    let passed = passed.map(|(function, _)| function.clone());
    (places, passed.collect())
}

/// Stacks with all that decides who asked.
struct Entered<'s, S: Stacks> {
    askers: Askers<'s, S>,
    lists: Vec<Vec<AskingStack>>,
    /// Those that have no weight.
    others: Vec<AskingStack>,
    weighed: Vec<Vec<Weighed>>,
    passed: Passed,
    left: Vec<u32>,
}

impl<'s, S: Stacks> Entered<'s, S> {
    fn of(
        wrappers: &Wrappers,
        others: impl Iterator<Item = u32>,
        program: Option<&'s str>,
        names: &'s mut S,
    ) -> Self {
        let lists = match wrappers {
            Wrappers::Of(lists) => lists,
            Wrappers::Known(_) => &[][..],
        };
        let mut askers = Askers::new(names, program);
        let entries = lists.iter().map(|list| {
            let stacks = list.stacks.iter();
            let stacks = stacks.map(|(stack, _)| askers.enter(*stack));
            stacks.collect::<Vec<AskingStack>>()
        });
        let entries: Vec<_> = entries.collect();
        let others = others.map(|stack| askers.enter(stack)).collect();
        let weighed = lists.iter().zip(&entries).map(|(list, entries)| {
            let stacks = list.stacks.iter().zip(entries);
            let weighed = stacks.map(|((_, held), entry)| (entry.asker, (list.weight)(held)));
            weighed.collect()
        });
        let weighed: Vec<Vec<Weighed>> = weighed.collect();
        let passed = match wrappers {
            Wrappers::Of(_) => wrappers::passed_over(&weighed, askers.all(), askers.functions()),
            Wrappers::Known(known) => Passed::known(known, askers.numbered()),
        };
        Self {
            left: passed.left(askers.all()),
            askers,
            lists: entries,
            others,
            weighed,
            passed,
        }
    }
}

impl Sites {
    /// Sums lists up, past the same functions in all of them.
    pub fn of<S: Stacks, const N: usize>(
        lists: &[List; N],
        program: Option<&str>,
        names: &mut S,
    ) -> [Self; N] {
        let entered = Entered::of(&Wrappers::Of(lists), std::iter::empty(), program, names);
        let Entered {
            askers,
            weighed,
            passed,
            left,
            ..
        } = &entered;
        std::array::from_fn(|index| {
            let mut sites = Self::left(&lists[index], &entered.lists[index], left, askers);
            sites.through = through(&weighed[index], passed, left, askers);
            #[cfg(test)]
            {
                let functions = askers.functions().iter().zip(passed.each());
                let functions = functions.filter(|(_, passed)| **passed);
                sites.passed = functions.map(|(one, _)| one.name.clone()).collect();
            }
            sites
        })
    }

    /// See [`without_names`].
    pub fn without_names(&self, names: &[Name]) -> Option<(f64, String)> {
        let name = |label: u32| names[label as usize].function.as_str();
        without_names(self.list.iter().map(|site| (name(site.label), site.share)))
    }

    /// Sums stacks up by the innermost user's place that is left.
    fn left<S: Stacks>(
        list: &List,
        entries: &[AskingStack],
        left: &[u32],
        askers: &Askers<S>,
    ) -> Self {
        let mut by_label: HashMap<u32, Held> = HashMap::new();
        let mut callers: HashMap<u32, HashMap<u32, u64>> = HashMap::new();
        let mut sites = Self::default();
        for ((_, held), entry) in list.stacks.iter().zip(entries) {
            let (asking, is_past_library) = asking(entry, left, askers);
            let Some(label) = asking else {
                continue;
            };
            let of_label = by_label.entry(label).or_default();
            *of_label = of_label.plus(*held);
            if let Some(caller) = told_caller(entry, label, left, askers) {
                let callers = callers.entry(label).or_default();
                let sum = callers.entry(caller).or_default();
                *sum = sum.saturating_add((list.weight)(held));
            }
            sites.total = sites.total.plus(*held);
            if is_past_library {
                sites.past_library = sites.past_library.plus(*held);
            }
        }
        sites.list = in_order(by_label, list.weight, (list.weight)(&sites.total));
        for site in &mut sites.list {
            let callers = callers.get(&site.label).into_iter().flatten();
            let most = callers.max_by_key(|&(&label, &sum)| (sum, std::cmp::Reverse(label)));
            let half = (list.weight)(&site.held) / 2;
            site.caller = most
                .filter(|&(_, &sum)| sum > half)
                .map(|(&label, _)| label);
        }
        sites
    }
}

/// The place with a name behind one without, or the program's own behind that
/// of a library; what starts it says nothing.
fn told_caller<S: Stacks>(
    entry: &AskingStack,
    label: u32,
    left: &[u32],
    askers: &Askers<S>,
) -> Option<u32> {
    let asking = match left[entry.asker as usize] {
        END => entry.asker,
        left => left,
    };
    let Asker { named, own, .. } = askers.all()[asking as usize];
    let callers = [named, own].into_iter().filter(|&caller| {
        let place = &askers.all()[caller as usize];
        let is_said = caller != END && place.label != label && caller != asking;
        let function = &askers.functions()[place.function as usize];
        is_said && function.name != "main" && function.offset.is_none()
    });
    callers
        .map(|caller| askers.all()[caller as usize].label)
        .next()
}

/// Those that count most first.
fn in_order(by_label: HashMap<u32, Held>, weight: fn(&Held) -> u64, whole: u64) -> Vec<AskingSite> {
    let mut sorted: Vec<_> = by_label.into_iter().collect();
    sorted.sort_unstable_by_key(|(label, held)| (std::cmp::Reverse(weight(held)), *label));
    let mut sum = 0u64;
    let list = sorted.into_iter().map(|(label, held)| {
        sum = sum.saturating_add(weight(&held));
        AskingSite {
            label,
            held,
            share: percentage(weight(&held), whole),
            sum: percentage(sum, whole),
            caller: None,
        }
    });
    list.collect()
}

fn through<S: Stacks>(
    list: &[Weighed],
    passed: &Passed,
    left: &[u32],
    askers: &Askers<S>,
) -> Vec<Vec<Through>> {
    let total = list
        .iter()
        .fold(0u64, |sum, (_, weight)| sum.saturating_add(*weight));
    let steps = wrappers::steps(list, passed, left, askers.all()).into_iter();
    let through = |one: wrappers::Through| Through {
        function: askers.functions()[one.function as usize].name.clone(),
        share: percentage(one.weight, total),
    };
    steps
        .map(|step| step.into_iter().map(through).collect())
        .collect()
}

/// Who asked, and whether a library did so for it.
fn asking<S: Stacks>(entry: &AskingStack, left: &[u32], askers: &Askers<S>) -> (Option<u32>, bool) {
    // Of wrappers alone the innermost did.
    let asking = match left[entry.asker as usize] {
        END => entry.asker,
        left => left,
    };
    match asking {
        END => (entry.innermost, false),
        asking => {
            let asker = &askers.all()[asking as usize];
            (Some(asker.label), entry.is_past_library(asker))
        }
    }
}
