//! Stacks of both sides as lines, for trees and flame graphs.

use std::collections::HashMap;

use memlog_analysis::{END, Line, Name, alike};

use super::Change;

/// Stacks by the functions that both sides have.
pub struct ChangedLines {
    /// Linked outwards; the first stands for the end of all.
    pub lines: Vec<Line>,
    /// What their labels are called: without file and line where those differ.
    pub names: Vec<Name>,
    /// Of each change where its stack ends.
    pub ends: Vec<u32>,
}

/// The stacks of some changes, as the side after has them if it does.
pub fn changed_lines(rows: &[Change]) -> ChangedLines {
    let mut labels = Labels::default();
    let mut lines = vec![Line {
        label: u32::MAX,
        callers: END,
    }];
    let mut index: HashMap<Line, u32> = HashMap::new();
    let ends = rows.iter().map(|row| {
        let [before, after] = &row.frames;
        let frames = if after.is_empty() { before } else { after };
        frames.iter().rev().fold(END, |callers, name| {
            let line = Line {
                label: labels.of(name),
                callers,
            };
            let next = lines.len() as u32;
            let number = *index.entry(line).or_insert(next);
            if number == next {
                lines.push(line);
            }
            number
        })
    });
    let ends = ends.collect();
    ChangedLines {
        lines,
        names: labels.names,
        ends,
    }
}

#[derive(Default)]
struct Labels {
    names: Vec<Name>,
    index: HashMap<String, u32>,
}

impl Labels {
    fn of(&mut self, name: &Name) -> u32 {
        let next = self.names.len() as u32;
        let label = *self.index.entry(alike(&name.function)).or_insert(next);
        if label == next {
            self.names.push(name.clone());
        }
        let known = &mut self.names[label as usize];
        if known.location != name.location {
            known.location = None;
        }
        if known.module != name.module {
            known.module = None;
        }
        label
    }
}
