//! The lines of a tree: from a stack to the functions that a reader knows.

use std::collections::HashMap;

use memlog_analysis::{Frame, StackTable};
use memlog_format::table::StackId;

use crate::names::{Name, Names};

/// A place on the way from the allocator's caller outwards.
#[derive(Clone, Copy)]
pub struct Cursor {
    stack: u32,
    /// How many functions of the frame at hand are behind, inlined ones being
    /// functions of their own.
    inlined: u32,
    /// Still in `operator new`, which nobody asks about.
    in_new: bool,
}

/// What to call each place.
pub struct Labels<'n, 's> {
    names: Names<'n>,
    stacks: &'s StackTable,
    texts: Vec<String>,
    is_new: Vec<bool>,
    index: HashMap<String, u32>,
    by_site: HashMap<u32, Vec<u32>>,
}

impl<'n, 's> Labels<'n, 's> {
    pub fn new(names: Names<'n>, stacks: &'s StackTable) -> Self {
        Self {
            names,
            stacks,
            texts: Vec::new(),
            is_new: Vec::new(),
            index: HashMap::new(),
            by_site: HashMap::new(),
        }
    }

    /// The innermost place of a stack.
    pub fn start(&mut self, stack: u32) -> Cursor {
        let cursor = |in_new| Cursor {
            stack,
            inlined: 0,
            in_new,
        };
        // A stack of nothing but operator new is shown as it is.
        match self.step(cursor(true)) {
            Some(_) => cursor(true),
            None => cursor(false),
        }
    }

    /// The label at a cursor, and the cursor of its caller.
    pub fn step(&mut self, mut cursor: Cursor) -> Option<(u32, Cursor)> {
        loop {
            let Some((frame, outer)) = self.stacks.split(cursor.stack) else {
                return self.end_of(cursor);
            };
            let Some(label) = self.label(frame, cursor.inlined) else {
                cursor.stack = outer;
                cursor.inlined = 0;
                continue;
            };
            cursor.inlined += 1;
            if cursor.in_new && self.is_new[label as usize] {
                continue;
            }
            cursor.in_new = false;
            return Some((label, cursor));
        }
    }

    /// A stack that lacks outer frames says so, once.
    fn end_of(&mut self, mut cursor: Cursor) -> Option<(u32, Cursor)> {
        let text = match self.stacks.root_of(cursor.stack) {
            Some(StackId::COMPLETE) => return None,
            Some(StackId::NONE) => "(no stack)".to_owned(),
            Some(root) => format!("(stack cut: {})", root.root_name()),
            None => "(stack cut: not in the log)".to_owned(),
        };
        cursor.stack = StackId::COMPLETE.0;
        cursor.in_new = false;
        Some((self.intern(text, false), cursor))
    }

    fn label(&mut self, frame: Frame, inlined: u32) -> Option<u32> {
        if !self.by_site.contains_key(&frame.index) {
            let module = frame.site.module;
            let module = module.and_then(|module| self.stacks.modules().get(module as usize));
            let names = self.names.of(&frame.site, module);
            let labels = names.into_iter().map(|name| self.intern_name(&name));
            let labels = labels.collect();
            self.by_site.insert(frame.index, labels);
        }
        let labels = self.by_site.get(&frame.index)?;
        labels.get(inlined as usize).copied()
    }

    fn intern_name(&mut self, name: &Name) -> u32 {
        let text = match &name.place {
            Some(place) => format!("{} [{place}]", name.function),
            None => name.function.clone(),
        };
        self.intern(text, is_operator_new(&name.function))
    }

    fn intern(&mut self, text: String, is_new: bool) -> u32 {
        let next = self.texts.len() as u32;
        let label = *self.index.entry(text.clone()).or_insert(next);
        if label == next {
            self.texts.push(text);
            self.is_new.push(is_new);
        }
        label
    }

    /// The text of a label.
    pub fn text(&self, label: u32) -> &str {
        self.texts.get(label as usize).map_or("?", String::as_str)
    }

    /// What is wrong with the modules that were asked for.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.names.remarks()
    }
}

/// `operator new(unsigned long)` and its relatives, not a class's own. What
/// libmemlog_new.so puts between it and its caller counts as it.
fn is_operator_new(function: &str) -> bool {
    if function == "memlog_new" {
        return true;
    }
    let rest = function.strip_prefix("operator new");
    let rest = rest.map(|rest| rest.strip_prefix("[]").unwrap_or(rest));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

#[cfg(test)]
mod tests {
    use super::is_operator_new;

    #[test]
    fn only_the_operator_itself_is_left_out() {
        assert!(is_operator_new("operator new(unsigned long)"));
        assert!(is_operator_new(
            "operator new[](unsigned long, std::align_val_t)"
        ));
        assert!(!is_operator_new("Pool::operator new(unsigned long)"));
        assert!(!is_operator_new("operator newest()"));
        assert!(!is_operator_new("main"));
    }
}
