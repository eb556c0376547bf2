//! The lines of a tree: from a stack to the functions that a reader knows.

use std::collections::HashMap;

use memlog_analysis::{Frame, StackTable, Stacks};
use memlog_export::is_part_of_allocator;
use memlog_format::table::StackId;

use super::{Name, Names, Symbol};

/// A place on the way from the allocator's caller outwards.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cursor {
    stack: u32,
    /// How many functions of the frame at hand are behind, inlined ones being
    /// functions of their own.
    inlined: u32,
    /// Still in `operator new`, which nobody asks about.
    in_new: bool,
}

/// What is known of places while the table of stacks grows: it is lent to one at a time.
pub struct Rested<'n> {
    names: Names<'n>,
    labels: Vec<Name>,
    is_allocator: Vec<bool>,
    index: HashMap<Name, u32>,
    by_site: HashMap<u32, Vec<u32>>,
}

impl<'n> Rested<'n> {
    /// Nothing yet.
    pub fn new(names: Names<'n>) -> Self {
        Self {
            names,
            labels: Vec::new(),
            is_allocator: Vec::new(),
            index: HashMap::new(),
            by_site: HashMap::new(),
        }
    }

    /// Goes on with these stacks: those that were known have the same numbers.
    pub fn on(self, stacks: &StackTable) -> Labels<'n, '_> {
        Labels {
            known: self,
            stacks,
        }
    }

    /// All that were asked for, by label.
    pub fn names(&self) -> &[Name] {
        &self.labels
    }
}

/// What to call each place.
pub struct Labels<'n, 's> {
    known: Rested<'n>,
    stacks: &'s StackTable,
}

impl<'n, 's> Labels<'n, 's> {
    /// None yet.
    pub fn new(names: Names<'n>, stacks: &'s StackTable) -> Self {
        Rested::new(names).on(stacks)
    }

    /// Lets the stacks go.
    pub fn rest(self) -> Rested<'n> {
        self.known
    }

    /// See [`Names::expect`].
    pub fn expect(&mut self, stacks: impl IntoIterator<Item = u32>) {
        self.known.names.expect(self.stacks, stacks);
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

    /// The innermost place of a stack, the allocator's own among them.
    pub fn innermost(stack: u32) -> Cursor {
        Cursor {
            stack,
            inlined: 0,
            in_new: false,
        }
    }

    /// Whether a label is a part of the allocator.
    pub fn is_allocator(&self, label: u32) -> bool {
        self.known
            .is_allocator
            .get(label as usize)
            .copied()
            .unwrap_or(false)
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
            if cursor.in_new && self.known.is_allocator[label as usize] {
                continue;
            }
            cursor.in_new = false;
            return Some((label, cursor));
        }
    }

    /// A stack that lacks outer frames says so, once.
    fn end_of(&mut self, mut cursor: Cursor) -> Option<(u32, Cursor)> {
        let function = match self.stacks.root_of(cursor.stack) {
            Some(StackId::COMPLETE) => return None,
            Some(StackId::NONE) => "(no stack)".to_owned(),
            Some(root) => format!("(stack cut: {})", root.root_name()),
            None => "(stack cut: not in the log)".to_owned(),
        };
        cursor.stack = StackId::COMPLETE.0;
        cursor.in_new = false;
        let name = Name {
            function,
            location: None,
            module: None,
        };
        Some((self.intern(name), cursor))
    }

    fn label(&mut self, frame: Frame, inlined: u32) -> Option<u32> {
        if !self.known.by_site.contains_key(&frame.index) {
            let module = frame.site.module;
            let module = module.and_then(|module| self.stacks.modules().get(module as usize));
            let names = self.known.names.of(&frame.site, module);
            let labels = names.into_iter().map(|name| self.intern(name));
            let labels = labels.collect();
            self.known.by_site.insert(frame.index, labels);
        }
        let labels = self.known.by_site.get(&frame.index)?;
        labels.get(inlined as usize).copied()
    }

    fn intern(&mut self, name: Name) -> u32 {
        if let Some(&label) = self.known.index.get(&name) {
            return label;
        }
        let label = self.known.labels.len() as u32;
        self.known
            .is_allocator
            .push(is_part_of_allocator(&name.function));
        self.known.labels.push(name.clone());
        self.known.index.insert(name, label);
        label
    }

    /// A stack as pmem wrote it: the hash of its return addresses (FNV-1a, 64 bits), and a
    /// line of each frame's symbol.
    pub fn source(&mut self, mut stack: u32) -> (u64, String) {
        let (mut hash, mut text) = (0xcbf2_9ce4_8422_2325_u64, String::new());
        let mut index = 0;
        while let Some((frame, outer)) = self.stacks.split(stack) {
            for byte in frame.site.address.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
            let module = frame.site.module;
            let module = module.and_then(|module| self.stacks.modules().get(module as usize));
            let symbol = module.and_then(|module| self.known.names.symbol(&frame.site, module));
            let line = match symbol {
                Some(Symbol { name, offset: 0 }) => name,
                Some(Symbol { name, offset }) => format!("{name}+{offset}"),
                None => "unknown".to_owned(),
            };
            text += &format!("  {{{index}}} {line}\n");
            (stack, index) = (outer, index + 1);
        }
        (hash, text)
    }

    /// All that were asked for, by label.
    pub fn names(&self) -> &[Name] {
        &self.known.labels
    }

    /// What to say where Ctrl-C came before the last was found.
    pub fn cut_short(&self) -> Option<&'static str> {
        self.known.names.cut_short()
    }

    /// What is wrong with the modules that were asked for.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.known.names.remarks()
    }
}

impl Stacks for Labels<'_, '_> {
    type Cursor = Cursor;

    fn start(&mut self, stack: u32) -> Cursor {
        Labels::start(self, stack)
    }

    fn step(&mut self, cursor: Cursor) -> Option<(u32, Cursor)> {
        Labels::step(self, cursor)
    }

    fn name(&self, label: u32) -> &Name {
        &self.names()[label as usize]
    }
}
