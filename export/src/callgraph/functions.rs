//! The lines of a function as one place: in a picture two calls of one function
//! are to be seen as what that function holds.
//!
//! A function is told by its name, its file and its module: two files may each
//! have an `init` of their own.

use std::collections::HashMap;

use super::trie::sorted;
use super::{CallGraph, Entry, Place};

/// So many lines are said each, of more the first and the last.
const MOST_LINES: usize = 3;

impl CallGraph {
    /// The same stacks, one place a function. What it holds is counted anew: a
    /// stack that has it at two lines holds its bytes once.
    pub fn by_function(&self) -> Self {
        let mut index: HashMap<Place, usize> = HashMap::new();
        let mut entries: Vec<Entry> = Vec::new();
        let mut lines: Vec<Vec<u32>> = Vec::new();
        let mut numbers = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let (key, line) = function(&entry.place);
            let number = *index.entry(key.clone()).or_insert(entries.len());
            if number == entries.len() {
                entries.push(Entry {
                    place: key,
                    is_mapped: entry.is_mapped,
                    ..Entry::default()
                });
                lines.push(Vec::new());
            }
            let own = &mut entries[number];
            own.own = own.own.plus(entry.own);
            own.addresses.extend_from_slice(&entry.addresses);
            own.symbols.extend_from_slice(&entry.symbols);
            lines[number].extend(line);
            numbers.push(number as u32);
        }
        let mut steps = self.steps.clone();
        for node in &mut steps.nodes {
            node.place = numbers[node.place as usize];
        }
        let counted = steps.count(entries.len(), |_, _, _| {});
        for ((entry, held), lines) in entries.iter_mut().zip(counted.held).zip(lines) {
            entry.held = held;
            if let Some(file) = &mut entry.place.location {
                file.push_str(&told(lines));
            }
        }
        Self {
            mapped: self.mapped,
            ..sorted(self.total, entries, counted.calls, &steps)
        }
    }
}

/// A place without its line, and that.
fn function(place: &Place) -> (Place, Option<u32>) {
    let split = place.location.as_deref().and_then(|location| {
        let (file, line) = location.rsplit_once(':')?;
        Some((file.to_owned(), line.parse().ok()?))
    });
    let mut function = place.clone();
    let line = split.map(|(file, line)| {
        function.location = Some(file);
        line
    });
    (function, line)
}

/// What follows the file: `:23`, `:23, 41` or `:23-98 (7 lines)`.
fn told(mut lines: Vec<u32>) -> String {
    lines.sort_unstable();
    lines.dedup();
    match &lines[..] {
        [] => String::new(),
        [first, .., last] if lines.len() > MOST_LINES => {
            format!(":{first}-{last} ({} lines)", lines.len())
        }
        few => {
            let few: Vec<String> = few.iter().map(u32::to_string).collect();
            format!(":{}", few.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn few_lines_are_said_and_many_counted() {
        assert_eq!(told(vec![]), "");
        assert_eq!(told(vec![23, 23]), ":23");
        assert_eq!(told(vec![41, 23]), ":23, 41");
        assert_eq!(told(vec![23, 98, 41, 57]), ":23-98 (4 lines)");
    }
}
