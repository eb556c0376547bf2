//! Every stack as a line of labels.

use std::collections::HashMap;

pub use memlog_analysis::{END, Line, step};

use crate::names::{Cursor, Labels, Name};

/// Lines of labels, by number; a line's callers come before it.
pub struct Paths {
    lines: Vec<Line>,
    index: HashMap<Line, u32>,
    by_cursor: HashMap<Cursor, u32>,
}

/// The label of a stack that has none, so that what it holds is in some place.
const NOTHING: Line = Line {
    label: u32::MAX,
    callers: END,
};

impl Default for Paths {
    fn default() -> Self {
        Self {
            lines: vec![NOTHING],
            index: HashMap::new(),
            by_cursor: HashMap::new(),
        }
    }
}

impl Paths {
    /// The line of a stack from who called the allocator.
    pub fn of(&mut self, stack: u32, labels: &mut Labels) -> u32 {
        let cursor = labels.start(stack);
        self.from(cursor, labels)
    }

    /// The same with what the allocator is made of.
    pub fn whole(&mut self, stack: u32, labels: &mut Labels) -> u32 {
        self.from(Labels::innermost(stack), labels)
    }

    /// Outwards to what is known, and back.
    fn from(&mut self, mut cursor: Cursor, labels: &mut Labels) -> u32 {
        let mut way = Vec::new();
        let mut line = loop {
            if let Some(&known) = self.by_cursor.get(&cursor) {
                break known;
            }
            let Some((label, outer)) = labels.step(cursor) else {
                break END;
            };
            way.push((cursor, label));
            cursor = outer;
        };
        for (cursor, label) in way.into_iter().rev() {
            line = self.enter(Line {
                label,
                callers: line,
            });
            self.by_cursor.insert(cursor, line);
        }
        match line {
            END => self.enter(NOTHING),
            line => line,
        }
    }

    fn enter(&mut self, line: Line) -> u32 {
        let next = self.lines.len() as u32;
        let number = *self.index.entry(line).or_insert(next);
        if number == next {
            self.lines.push(line);
        }
        number
    }

    /// Numbers the labels anew, by their names: of what holds as much as another
    /// the one that comes first is the same in every log of a program.
    pub fn by_name(&mut self, names: &[Name]) -> Vec<Name> {
        let mut order: Vec<_> = (0..).zip(names).collect();
        order.sort_by_key(|(_, name)| (&name.function, &name.location, &name.module));
        let mut numbers: Vec<u32> = vec![0; names.len()];
        for (number, (label, _)) in (0..).zip(&order) {
            numbers[*label] = number;
        }
        for line in &mut self.lines {
            let number = numbers.get(line.label as usize);
            line.label = number.copied().unwrap_or(line.label);
        }
        order.into_iter().map(|(_, name)| name.clone()).collect()
    }

    /// All of them, by number; the first stands for [`END`].
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}
