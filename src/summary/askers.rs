//! Who asks for memory: of a stack the places that are the user's, those of
//! standard libraries and of what starts programs passed over.

use std::collections::HashMap;

use memlog_export::{is_named_allocator, is_of_library};

use crate::names::Name;
use crate::report::{Cursor, Labels};

/// Stacks as places, and the places' names.
pub trait Stacks {
    type Cursor: Copy;
    fn start(&mut self, stack: u32) -> Self::Cursor;
    /// The label at a cursor, and the cursor of its caller.
    fn step(&mut self, cursor: Self::Cursor) -> Option<(u32, Self::Cursor)>;
    fn name(&self, label: u32) -> &Name;
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

/// Whose a place is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    /// The libraries' of C++ and Rust, and what starts programs.
    Library,
    /// Which is told where it asks itself, but not for a library.
    CLibrary,
}

/// What is known of a label.
#[derive(Clone, Copy)]
struct Known {
    function: u32,
    owner: Owner,
    is_rust_start: bool,
}

/// Names the askers of stacks.
pub struct Askers<'s, S> {
    stacks: &'s mut S,
    known: Vec<Option<Known>>,
    numbers: HashMap<(String, Option<String>), u32>,
    functions: Vec<Function>,
}

/// A function of a module, whatever the line.
pub struct Function {
    pub name: String,
    pub is_named_allocator: bool,
    pub is_of_c_library: bool,
}

/// On the way from the innermost place of a stack outwards.
#[derive(Clone, Copy)]
pub struct Walk<C> {
    cursor: C,
    is_first: bool,
    was_rust_start: bool,
    /// Whether places of a library were passed over.
    pub is_past_library: bool,
}

impl<'s, S: Stacks> Askers<'s, S> {
    pub fn new(stacks: &'s mut S) -> Self {
        Self {
            stacks,
            known: Vec::new(),
            numbers: HashMap::new(),
            functions: Vec::new(),
        }
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    pub fn walk(&mut self, stack: u32) -> Walk<S::Cursor> {
        Walk {
            cursor: self.stacks.start(stack),
            is_first: true,
            was_rust_start: false,
            is_past_library: false,
        }
    }

    /// The innermost place, whoever's it is.
    pub fn innermost(&mut self, stack: u32) -> Option<u32> {
        let start = self.stacks.start(stack);
        self.stacks.step(start).map(|(label, _)| label)
    }

    /// The next place that is the user's: its label.
    pub fn next(&mut self, walk: &mut Walk<S::Cursor>) -> Option<u32> {
        loop {
            let (label, outer) = self.stacks.step(walk.cursor)?;
            walk.cursor = outer;
            let known = self.known(label);
            let function = &self.functions[known.function as usize];
            // What C calls main is no more than what calls Rust's.
            let is_shim = walk.was_rust_start && function.name == "main";
            walk.was_rust_start = known.is_rust_start;
            let is_first = std::mem::replace(&mut walk.is_first, false);
            match known.owner {
                Owner::User if !is_shim => return Some(label),
                Owner::CLibrary if is_first => return Some(label),
                Owner::Library => walk.is_past_library = true,
                _ => {}
            }
        }
    }

    /// The function of a label.
    pub fn function(&mut self, label: u32) -> u32 {
        self.known(label).function
    }

    fn known(&mut self, label: u32) -> Known {
        let at = label as usize;
        if at >= self.known.len() {
            self.known.resize(at + 1, None);
        }
        if let Some(known) = self.known[at] {
            return known;
        }
        let name = self.stacks.name(label);
        let known = Known {
            owner: owner(name),
            is_rust_start: name.function.starts_with("std::rt::lang_start"),
            function: self.functions.len() as u32,
        };
        let key = (name.function.clone(), name.module.clone());
        let function = *self.numbers.entry(key).or_insert(known.function);
        if function == known.function {
            self.functions.push(Function {
                name: name.function.clone(),
                is_named_allocator: is_named_allocator(&name.function),
                is_of_c_library: known.owner == Owner::CLibrary,
            });
        }
        *self.known[at].insert(Known { function, ..known })
    }
}

fn owner(name: &Name) -> Owner {
    const C_LIBRARIES: [&str; 6] = [
        "libc.so",
        "libc-",
        "ld-",
        "ld64.so",
        "libpthread",
        "libm.so",
    ];
    let module = name.module.as_deref();
    if is_of_library(&name.function, name.location.as_deref(), module) {
        return Owner::Library;
    }
    let module = module.unwrap_or(&name.function);
    match C_LIBRARIES.iter().any(|start| module.starts_with(start)) {
        true => Owner::CLibrary,
        false => Owner::User,
    }
}
