//! The named lines at the top of a page.

use memlog_analysis::History;

/// Lines that have a name each.
#[derive(Default)]
pub struct Heading {
    /// Where what they say begins.
    pub indent: usize,
    /// From the top.
    pub lines: Vec<Line>,
}

/// A name, and what is to be said.
pub struct Line {
    /// Nothing where it goes on with the line above.
    pub name: &'static str,
    /// Whether something is missing.
    pub is_alarm: bool,
    /// Broken between its parts, if need be.
    pub says: Says,
}

/// What a line says.
pub enum Says {
    /// Pieces of a sentence, with a comma between them.
    Parts(Vec<String>),
    /// The heap and resident memory over time.
    Curves(History),
}

impl Heading {
    /// Adds a line.
    pub fn line(&mut self, name: &'static str, parts: Vec<String>) {
        self.add(name, parts, false);
    }

    /// Adds one about something that is missing.
    pub fn alarm(&mut self, name: &'static str, parts: Vec<String>) {
        self.add(name, parts, true);
    }

    fn add(&mut self, name: &'static str, parts: Vec<String>, is_alarm: bool) {
        self.lines.push(Line {
            name,
            is_alarm,
            says: Says::Parts(parts),
        });
    }
}
