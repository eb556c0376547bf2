//! The lines of a source file with what was asked for in them.

use std::collections::{BTreeMap, HashMap};

use crate::choice::Choice;
use crate::group::{file_of, line_of, sums_of_stacks};
use crate::sums::Sums;
use crate::world::{Damaged, World};

/// A line of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSums {
    /// What was asked for in it.
    pub own: Sums,
    /// And by what was called from it.
    pub below: Sums,
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
    // Of each label its file and line, where it is one that was asked for.
    let places: Vec<Option<(&str, u64)>> = world
        .names
        .iter()
        .map(|name| {
            let location = name.location.as_deref()?;
            let place = (file_of(location), line_of(location)?);
            (fits(place.0) && is_function(&name.function)).then_some(place)
        })
        .collect();
    let mut files: HashMap<String, FileLines> = HashMap::new();
    for (path, sums) in world
        .paths
        .iter()
        .zip(&sums)
        .filter(|(_, sums)| sums.blocks > 0)
    {
        let mut seen: Vec<(&str, u64)> = Vec::new();
        for (depth, &label) in path.outwards().iter().enumerate() {
            let Some(Some(place)) = places.get(label as usize) else {
                continue;
            };
            let file = files.entry(place.0.to_owned()).or_default();
            let line = file.entry(place.1).or_default();
            if depth == 0 {
                line.own = line.own.plus(*sums);
            }
            // A line that calls itself has what came of it once.
            if !seen.contains(place) {
                seen.push(*place);
                line.below = line.below.plus(*sums);
            }
            if let Some(name) = world.names.get(label as usize)
                && !line.functions.contains(&name.function)
            {
                line.functions.push(name.function.clone());
            }
        }
    }
    Ok(files)
}
