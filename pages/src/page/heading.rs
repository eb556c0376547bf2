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

    /// All lines with their names, which those that go on with a line do not have.
    pub fn lines_told(&self) -> Vec<String> {
        let lines = self.lines.iter().filter_map(|line| match &line.says {
            Says::Parts(parts) if line.name.is_empty() => Some(parts.join(", ")),
            Says::Parts(parts) => Some(format!("{}: {}", line.name, parts.join(", "))),
            Says::Curves(_) => None,
        });
        lines.collect()
    }

    /// The program, its peaks and what is missing, a line each: what stands above a
    /// picture.
    pub fn told(&self) -> Vec<String> {
        let mut last = "";
        let mut lines = Vec::new();
        for line in &self.lines {
            let Says::Parts(parts) = &line.says else {
                continue;
            };
            // A line without a name goes on with the one above.
            let name = if line.name.is_empty() {
                last
            } else {
                line.name
            };
            last = name;
            let words = parts.join(", ");
            match name {
                "program" => lines.insert(0, words),
                "RSS peak" | "heap peak" if line.name.is_empty() => lines.push(words),
                "RSS peak" | "heap peak" => lines.push(format!("{name}: {words}")),
                _ if line.is_alarm => lines.push(format!("{name}: {words}")),
                _ => {}
            }
        }
        lines
    }
}
