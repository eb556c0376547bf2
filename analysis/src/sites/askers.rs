//! Who asks for memory: of a stack the places that are the user's, those of
//! standard libraries and of what starts programs passed over.
//!
//! Stacks share their callers, and so do the askers of them: a place is linked
//! to the next one outwards, each made once. So all that is asked of them takes
//! the time of the frames that there are, where each stack followed by itself
//! would take the square of a recursion's depth.

use std::collections::HashMap;
use std::hash::Hash;

use crate::brief::nameless_in;
use crate::library::{Allocator, allocator, is_c_library, is_of_library, lent};
use crate::name::Name;

/// Stacks as places, and the places' names.
pub trait Stacks {
    /// A place on the way outwards.
    type Cursor: Copy + Eq + Hash;
    /// The innermost place of a stack.
    fn start(&mut self, stack: u32) -> Self::Cursor;
    /// The label at a cursor, and the cursor of its caller.
    fn step(&mut self, cursor: Self::Cursor) -> Option<(u32, Self::Cursor)>;
    /// What a label stands for.
    fn name(&self, label: u32) -> &Name;
}

/// Whose a place is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    /// The libraries' of C++ and Rust, and what starts programs.
    Library,
    /// Which is told where it asks itself, but not for a library, nor where it
    /// only hands out: strdup is malloc by another name.
    CLibrary,
}

/// What is known of a label.
#[derive(Clone, Copy)]
struct Known {
    function: u32,
    owner: Owner,
    is_rust_start: bool,
}

/// A function of a module, whatever the line.
pub struct Function {
    pub name: String,
    /// The file that it is in, where that is known.
    pub file: Option<String>,
    /// Where in its file a place without a name is.
    pub offset: Option<u64>,
    /// What it is by its name; of the C library's those that only hand out.
    pub allocator: Allocator,
}

/// Where the callers of every place end: a place of nobody.
pub const END: u32 = 0;

/// A place of the user's on a stack.
#[derive(Clone, Copy, Default)]
pub struct Asker {
    pub label: u32,
    pub function: u32,
    /// The next one that is the user's: made before it, so of a lower number.
    pub outer: u32,
    /// The next one of another function.
    pub caller: u32,
    /// This one or the next one outwards that is of the program's own file.
    pub own: u32,
    /// This one or the next one outwards that has a name.
    pub named: u32,
    /// Places of libraries outside of it.
    libraries: u32,
}

/// What is met on the way outwards.
#[derive(Clone, Copy, Default)]
struct Way {
    asker: u32,
    libraries: u32,
}

/// A stack.
#[derive(Clone, Copy)]
pub struct AskingStack {
    /// The innermost place that is the user's.
    pub asker: u32,
    /// The innermost place, whoever's it is.
    pub innermost: Option<u32>,
    libraries: u32,
}

impl AskingStack {
    /// Whether a library stands between the allocator and this asker.
    pub fn is_past_library(&self, asker: &Asker) -> bool {
        self.libraries > asker.libraries
    }
}

/// Names the askers of stacks.
pub struct Askers<'s, S: Stacks> {
    stacks: &'s mut S,
    /// The program's own file, which is no library whatever its name.
    program: Option<&'s str>,
    known: Vec<Option<Known>>,
    numbers: HashMap<(String, Option<String>), u32>,
    functions: Vec<Function>,
    askers: Vec<Asker>,
    /// By cursor, and whether the place inside of it starts Rust's main.
    ways: HashMap<(S::Cursor, bool), Way>,
}

impl<'s, S: Stacks> Askers<'s, S> {
    pub fn new(stacks: &'s mut S, program: Option<&'s str>) -> Self {
        Self {
            stacks,
            program,
            known: Vec::new(),
            numbers: HashMap::new(),
            functions: Vec::new(),
            askers: vec![Asker::default()],
            ways: HashMap::new(),
        }
    }

    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// Name and module of each function, with its number.
    pub fn numbered(&self) -> impl ExactSizeIterator<Item = (&(String, Option<String>), u32)> {
        let numbers = self.numbers.iter();
        numbers.map(|(function, number)| (function, *number))
    }

    /// All that were entered, those outside first; the first stands for [`END`].
    pub fn all(&self) -> &[Asker] {
        &self.askers
    }

    /// Enters a stack.
    pub fn enter(&mut self, stack: u32) -> AskingStack {
        let start = self.stacks.start(stack);
        let first = self.stacks.step(start);
        let way = match first {
            Some((label, outer)) if self.known(label).owner == Owner::CLibrary => {
                let way = self.way(outer);
                self.push(label, way)
            }
            _ => self.way(start),
        };
        AskingStack {
            asker: way.asker,
            innermost: first.map(|(label, _)| label),
            libraries: way.libraries,
        }
    }

    /// Outwards to what is known, and back.
    fn way(&mut self, start: S::Cursor) -> Way {
        let mut at = (start, false);
        let mut behind = Vec::new();
        let mut way = loop {
            if let Some(&known) = self.ways.get(&at) {
                break known;
            }
            let Some((label, outer)) = self.stacks.step(at.0) else {
                break Way::default();
            };
            behind.push((at, label));
            at = (outer, self.known(label).is_rust_start);
        };
        for (at, label) in behind.into_iter().rev() {
            let known = self.known(label);
            // What C calls main is no more than what calls Rust's.
            let is_shim = at.1 && self.functions[known.function as usize].name == "main";
            way = match known.owner {
                Owner::User if !is_shim => self.push(label, way),
                Owner::Library => Way {
                    libraries: way.libraries + 1,
                    ..way
                },
                _ => way,
            };
            self.ways.insert(at, way);
        }
        way
    }

    fn push(&mut self, label: u32, outside: Way) -> Way {
        let function = self.known(label).function;
        let outer = outside.asker;
        let next = self.askers[outer as usize];
        let is_itself = outer != END && next.function == function;
        let asker = self.askers.len() as u32;
        let place = &self.functions[function as usize];
        let is_own = place.file.is_some() && place.file.as_deref() == self.program;
        let has_name = place.offset.is_none() && !place.name.starts_with('(');
        self.askers.push(Asker {
            label,
            function,
            outer,
            caller: if is_itself { next.caller } else { outer },
            own: if is_own { asker } else { next.own },
            named: if has_name { asker } else { next.named },
            libraries: outside.libraries,
        });
        Way { asker, ..outside }
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
        let owner = owner(name, self.program);
        let lent = lent(&name.function).filter(|_| owner == Owner::CLibrary);
        let known = Known {
            owner: match lent {
                Some(_) => Owner::User,
                None => owner,
            },
            is_rust_start: name.function.starts_with("std::rt::lang_start"),
            function: self.functions.len() as u32,
        };
        let key = (name.function.clone(), name.module.clone());
        let function = *self.numbers.entry(key).or_insert(known.function);
        if function == known.function {
            let nameless = nameless_in(&name.function);
            let file = name.module.as_deref().or(nameless);
            self.functions.push(Function {
                name: lent.unwrap_or(&name.function).to_owned(),
                file: file.map(str::to_owned),
                offset: nameless.and_then(|file| offset(&name.function[file.len()..])),
                allocator: match (lent, owner) {
                    (Some(_), _) => Allocator::Malloc,
                    (None, Owner::CLibrary) => Allocator::No,
                    (None, _) => allocator(&name.function),
                },
            });
        }
        *self.known[at].insert(Known { function, ..known })
    }
}

/// Of `+0x1f0`.
fn offset(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("+0x")?, 16).ok()
}

fn owner(name: &Name, program: Option<&str>) -> Owner {
    let own = name
        .module
        .as_deref()
        .filter(|&module| Some(module) == program);
    // What is linked into the program is known by its functions and files.
    let module = match own {
        Some(_) => Some(""),
        None => name.module.as_deref(),
    };
    if is_of_library(&name.function, name.location.as_deref(), module) {
        return Owner::Library;
    }
    match is_c_library(&name.function, module) {
        true => Owner::CLibrary,
        false => Owner::User,
    }
}
