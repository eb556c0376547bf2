//! What blocks of both sides have in common.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use memlog_analysis::{Held, alike};

use super::Change;
use super::moved::Lines;
use super::names::Names;
use super::side::{Part, Side};
use super::stacks::Tree;
use crate::keys::{By, NO_STACK, UNKNOWN, stack_text};
use crate::place::module_of;

/// What parts have in common: as it is on both sides, and as this one writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    key: String,
    shown: String,
}

/// A part of a side.
type Place = (usize, usize);

/// All of them, changed or not.
pub(super) fn rows(sides: [&Side; 2]) -> Vec<Change> {
    let by = sides[0].by;
    let mut groups = Groups::default();
    if by.is_of_askers() {
        Stacks::of(sides).put(by, &mut groups);
    } else {
        for (number, side) in sides.into_iter().enumerate() {
            for part in &side.parts {
                groups.add(number, &value_of(side, part), (part, None));
            }
        }
    }
    groups.rows(sides)
}

/// A thread by its name, whatever its number; any other value as it is.
fn value_of(side: &Side, part: &Part) -> Value {
    const COMM: usize = 15;
    let text = part.text.clone().unwrap_or_default();
    if side.by != By::Thread {
        return Value {
            key: text.clone(),
            shown: text,
        };
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let name = text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" ("));
    let name = match name {
        Some((name, number)) if is_number(number) => name,
        _ => "(no name)",
    };
    // The kernel names threads after their program, and cuts that.
    let program = side.program.as_deref().unwrap_or_default();
    let is_program = program.starts_with(name) && name.len() == program.len().min(COMM);
    Value {
        key: if is_program { "(the program)" } else { name }.to_owned(),
        shown: name.to_owned(),
    }
}

/// The stacks of both sides, and what is known of them.
struct Stacks<'s> {
    sides: [&'s Side; 2],
    names: Names,
    tree: Tree,
    lines: Option<Lines>,
    /// By node the parts that are one stack.
    one: BTreeMap<u32, Vec<Place>>,
}

impl<'s> Stacks<'s> {
    fn of(sides: [&'s Side; 2]) -> Self {
        let names = Names::of(sides);
        let tree = Tree::of(sides, &names);
        let joined = tree.joined(&names);
        let mut one: BTreeMap<u32, Vec<Place>> = BTreeMap::new();
        for (number, side) in sides.into_iter().enumerate() {
            for (index, part) in side.parts.iter().enumerate() {
                let node = joined[tree.end(number, part.line) as usize];
                one.entry(node).or_default().push((number, index));
            }
        }
        let needs_lines = matches!(sides[0].by, By::Line | By::File);
        let lines = needs_lines.then(|| Lines::of(sides, &names));
        Self {
            sides,
            names,
            tree,
            lines,
            one,
        }
    }

    fn put(&self, by: By, groups: &mut Groups<'s>) {
        for (node, places) in &self.one {
            let common = match by {
                By::Stack => Some(Value {
                    key: node.to_string(),
                    shown: String::new(),
                }),
                By::Type => self.common(places, |place| self.part(place).text.clone()),
                _ => self.common(places, |place| {
                    let owner = self.owner(place);
                    owner.map(|key| self.names.text(key).to_owned())
                }),
            };
            for &(side, index) in places {
                let part = &self.sides[side].parts[index];
                let own = || self.value((side, index), by);
                let frames = (by == By::Stack).then_some(part.line);
                let mut value = common.clone().unwrap_or_else(own);
                if by == By::Stack {
                    value.shown = stack_text(self.sides[side].named(part.line));
                }
                groups.add(side, &value, (part, frames));
            }
        }
    }

    fn part(&self, (side, index): Place) -> &'s Part {
        &self.sides[side].parts[index]
    }

    /// The function that it was for, by its number.
    fn owner(&self, place: Place) -> Option<u32> {
        self.names.key(place.0, self.part(place).owner?)
    }

    /// If the sides say other things of one stack, what all of it is put under: what is
    /// said of the largest part, and there by whose function is further out. For what
    /// only passes on in one log does so in both.
    fn common(&self, places: &[Place], said: impl Fn(Place) -> Option<String>) -> Option<Value> {
        let of = |side: usize| {
            let of_side = places.iter().filter(|place| place.0 == side);
            let said = of_side.map(|&place| said(place));
            said.collect::<BTreeSet<Option<String>>>()
        };
        let [before, after] = [of(0), of(1)];
        if before.is_empty() || after.is_empty() || before == after {
            return None;
        }
        let end = |place: &Place| self.tree.end(place.0, self.part(*place).line);
        let largest = places
            .iter()
            .max_by(|one, other| self.tree.order(end(one), end(other), &self.names))
            .map(end)?;
        let there = places.iter().filter(|place| end(place) == largest);
        let best = there.min_by_key(|&&place| {
            let owner = self.owner(place);
            let depth = owner.map(|key| self.tree.depth_of(largest, key));
            let text = said(place);
            let is_unknown = text.as_deref().is_none_or(|text| text == UNKNOWN);
            (
                is_unknown,
                depth,
                text,
                Reverse(self.part(place).held.bytes),
            )
        })?;
        Some(self.value(*best, self.sides[0].by))
    }

    fn value(&self, place: Place, by: By) -> Value {
        let side = place.0;
        let part = self.part(place);
        if by == By::Type {
            let text = part.text.clone().unwrap_or_default();
            return Value {
                key: alike(&text),
                shown: text,
            };
        }
        let name = part.owner.and_then(|owner| {
            let name = self.sides[side].names.get(owner as usize)?;
            Some((self.names.key(side, owner)?, name))
        });
        let Some((key, name)) = name else {
            return Value {
                key: NO_STACK.to_owned(),
                shown: NO_STACK.to_owned(),
            };
        };
        let shown = crate::keys::name_of(name, by).to_owned();
        let location = name.location.as_deref();
        let key = match (by, &self.lines, location) {
            (By::Line, Some(lines), Some(location)) => lines.key(side, location),
            (By::File, Some(lines), Some(location)) => lines.file(side, location).to_owned(),
            (By::File, _, _) => UNKNOWN.to_owned(),
            (By::Module, _, _) => match module_of(name) {
                Some(module) => self.names.modules.key(side, module),
                None => UNKNOWN.to_owned(),
            },
            _ => self.names.text(key).to_owned(),
        };
        Value { key, shown }
    }
}

/// What is in the rows so far.
#[derive(Default)]
struct Groups<'s> {
    index: HashMap<String, usize>,
    list: Vec<Group<'s>>,
}

#[derive(Default)]
struct Group<'s> {
    key: String,
    held: [Held; 2],
    /// By side how it is written, and its largest part.
    shown: [BTreeMap<String, Held>; 2],
    largest: [Option<(&'s Part, u32)>; 2],
}

impl<'s> Groups<'s> {
    fn add(&mut self, side: usize, value: &Value, (part, line): (&'s Part, Option<u32>)) {
        let next = self.list.len();
        let index = *self.index.entry(value.key.clone()).or_insert(next);
        if index == next {
            self.list.push(Group {
                key: value.key.clone(),
                ..Group::default()
            });
        }
        let group = &mut self.list[index];
        group.held[side] = group.held[side].plus(part.held);
        let shown = group.shown[side].entry(value.shown.clone()).or_default();
        *shown = shown.plus(part.held);
        if let Some(line) = line {
            let is_larger = |(known, _): &(&Part, u32)| known.held.bytes < part.held.bytes;
            if group.largest[side].as_ref().is_none_or(is_larger) {
                group.largest[side] = Some((part, line));
            }
        }
    }

    fn rows(self, sides: [&Side; 2]) -> Vec<Change> {
        let is_stack = sides[0].by == By::Stack;
        let rows = self.list.into_iter().map(|group| {
            let shown = group.shown.map(|shown| {
                // Of several spellings none is that of all; of stacks the largest tells.
                let is_one = shown.len() == 1 || is_stack;
                let largest = shown
                    .into_iter()
                    .max_by_key(|(text, held)| (held.bytes, held.blocks, Reverse(text.clone())));
                let text = largest.map(|(text, _)| text);
                text.map(|text| if is_one { text } else { group.key.clone() })
            });
            let [before, after] = shown;
            let name = after.clone().or_else(|| before.clone()).unwrap_or_default();
            let frames = [0, 1].map(|side| {
                let line = group.largest[side].map(|(_, line)| line);
                let frames = line.map(|line| sides[side].named(line).cloned().collect());
                frames.unwrap_or_default()
            });
            Change {
                before_name: before.filter(|before| after.is_some() && *before != name),
                name,
                held: group.held,
                frames,
            }
        });
        rows.collect()
    }
}
