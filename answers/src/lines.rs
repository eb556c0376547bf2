//! The lines of a source file with what was asked for in them.

use std::collections::{BTreeMap, HashMap};

use memlog_analysis::{Held, held_below};

use crate::choice::Choice;
use crate::group::{held_at_askers, sums_of_stacks};
use crate::place::{file_of, line_of};
use crate::world::{Damaged, World};

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSums {
    /// What was asked for in it.
    pub own: Held,
    /// And by what was called from it.
    pub below: Held,
    /// The functions that it is of.
    pub functions: Vec<String>,
}

/// A file with its lines.
pub type FileLines = BTreeMap<u64, LineSums>;

/// By path the lines of all files whose path fits, and of functions that fit.
pub fn lines(
    world: &World,
    choice: &Choice,
    fits: impl Fn(&str) -> bool,
    is_function: impl Fn(&str) -> bool,
) -> Result<HashMap<String, FileLines>, Damaged> {
    let sums = sums_of_stacks(world, choice)?;
    // By label the number of its file and line, where that is one that was asked for.
    let mut numbers: HashMap<(&str, u64), u32> = HashMap::new();
    let mut places: Vec<(&str, u64, LineSums)> = Vec::new();
    let of_label: Vec<Option<u32>> = world
        .names
        .iter()
        .map(|name| {
            let location = name.location.as_deref()?;
            let (file, line) = (file_of(location), line_of(location)?);
            if !fits(file) || !is_function(&name.function) {
                return None;
            }
            let next = places.len() as u32;
            let number = *numbers.entry((file, line)).or_insert(next);
            if number == next {
                places.push((file, line, LineSums::default()));
            }
            let functions = &mut places[number as usize].2.functions;
            if !functions.contains(&name.function) {
                functions.push(name.function.clone());
            }
            Some(number)
        })
        .collect();
    let key = |label: u32| of_label.get(label as usize).copied().flatten();
    for (stack, sums) in world.stacks.iter().zip(&sums) {
        if let Some(number) = stack.owner.and_then(key) {
            let own = &mut places[number as usize].2.own;
            *own = own.plus(sums.held());
        }
    }
    let held = held_at_askers(world, &sums);
    let below = held_below(&world.lines, held, places.len(), key);
    let mut files: HashMap<String, FileLines> = HashMap::new();
    for ((file, line, sums), below) in places.into_iter().zip(below) {
        if below.blocks > 0 {
            let file = files.entry(file.to_owned()).or_default();
            file.insert(line, LineSums { below, ..sums });
        }
    }
    Ok(files)
}
