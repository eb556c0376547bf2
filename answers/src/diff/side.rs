//! What one side of a comparison holds, taken out of its world.

use memlog_analysis::{END, Held, Line, Name, without_outside};

use crate::choice::Choice;
use crate::group::{grouped, sums_of_stacks};
use crate::keys::{By, UNKNOWN};
use crate::sums::Sums;
use crate::types::type_of;
use crate::unanswered::Unanswered;
use crate::world::World;

/// A file whose code was there.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path.
    pub path: String,
    /// What its linker called it; empty where it did not.
    pub build_id: Vec<u8>,
}

/// What chosen blocks of a log hold.
#[derive(Clone, Debug)]
pub struct Side {
    pub(super) by: By,
    /// The functions of all stacks, up to main.
    pub(super) lines: Vec<Line>,
    pub(super) names: Vec<Name>,
    pub(super) modules: Vec<Module>,
    /// The program's own file, without its folder.
    pub(super) program: Option<String>,
    /// Where the stacks of all blocks of the run end, chosen or not.
    pub(super) ends: Vec<u32>,
    pub(super) parts: Vec<Part>,
    pub(super) total: Held,
}

/// What a stack holds, or all blocks of a value.
#[derive(Clone, Debug, Default)]
pub(super) struct Part {
    /// Its line from the function that asked.
    pub(super) line: u32,
    /// The function that it was for, as a label.
    pub(super) owner: Option<u32>,
    /// The value, or the type.
    pub(super) text: Option<String>,
    pub(super) held: Held,
}

/// Takes what is compared out of a world; its names are needed where `by` is of stacks.
/// `unmarked` takes off what a linker hangs on names, of those that nobody could read.
pub fn side(
    world: &World,
    choice: &Choice,
    by: By,
    modules: Vec<Module>,
    unmarked: fn(&str) -> &str,
) -> Result<Side, Unanswered> {
    let mut side = Side {
        by,
        lines: Vec::new(),
        names: Vec::new(),
        modules,
        program: world
            .program
            .as_deref()
            .map(|path| file_name(path).to_owned()),
        ends: Vec::new(),
        parts: Vec::new(),
        total: Held::default(),
    };
    if by.is_of_askers() {
        side.take_stacks(world, &sums_of_stacks(world, choice)?);
        for name in &mut side.names {
            let long = unmarked(&name.function).len();
            name.function.truncate(long);
        }
    } else {
        let groups = grouped(world, choice, by)?.into_iter();
        let parts = groups.map(|group| Part {
            held: group.own.held(),
            text: Some(group.name),
            ..Part::default()
        });
        side.parts = parts.collect();
    }
    let held = side.parts.iter().map(|part| part.held);
    side.total = held.fold(Held::default(), Held::plus);
    Ok(side)
}

impl Side {
    fn take_stacks(&mut self, world: &World, sums: &[Sums]) {
        let (lines, numbers) = without_outside(&world.lines, &world.names);
        self.lines = lines;
        self.names.clone_from(&world.names);
        let ends = world.stacks.iter();
        let ends = ends.filter_map(|stack| numbers.get(stack.asker as usize).copied());
        self.ends = ends.collect();
        let stacks = (0..).zip(sums).filter(|(_, sums)| sums.blocks > 0);
        let parts = stacks.map(|(number, sums): (usize, _)| {
            let stack = world.stacks.get(number).copied().unwrap_or_default();
            let whole = || {
                let names = world.named(stack.whole);
                type_of(names.map(|name| name.function.as_str()))
            };
            let line = numbers.get(stack.asker as usize).copied();
            Part {
                line: line.unwrap_or(END),
                owner: stack.owner,
                text: (self.by == By::Type).then(|| whole().unwrap_or_else(|| UNKNOWN.into())),
                held: sums.held(),
            }
        });
        self.parts = parts.collect();
    }

    /// What all of its blocks hold.
    pub fn total(&self) -> Held {
        self.total
    }

    /// The functions of a line, from the innermost out.
    pub(super) fn named(&self, line: u32) -> impl Iterator<Item = &Name> {
        let mut next = line;
        let labels = std::iter::from_fn(move || {
            let (label, callers) = memlog_analysis::step(&self.lines, next)?;
            next = callers;
            Some(label)
        });
        labels.filter_map(|label| self.names.get(label as usize))
    }
}

/// A path's last part.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
