//! What stacks are put together by: a number for each group, and its name.

use std::collections::HashMap;

use memlog_analysis::Name;

use crate::owners::releasers;
use crate::place::{file_of, module_of};
use crate::static_init::initialisers;
use crate::types::type_of;
use crate::world::{Damaged, World};

/// What blocks are put together by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The function that asked.
    Function,
    /// Its source file.
    File,
    /// Its file and line.
    Line,
    /// Its program or library.
    Module,
    /// The whole stack.
    Stack,
    /// The type that the names of the stack tell of.
    Type,
    /// The static initialiser that it was for.
    StaticInit,
    /// Bytes asked for.
    Size,
    /// The thread that asked.
    Thread,
    /// The tag of the thread that asked: the scopes that it was in.
    Scope,
    /// The function of the allocator that was called.
    Kind,
    /// What the address was to be a multiple of.
    Alignment,
    /// The thread that released.
    FreedBy,
    /// The function that released.
    FreedFunction,
    /// Its source file.
    FreedFile,
    /// Its file and line.
    FreedLine,
    /// Its program or library.
    FreedModule,
    /// The whole stack that released.
    FreedStack,
}

impl By {
    /// All of them by their words, those of stacks first.
    pub const ALL: [(&str, Self); 18] = [
        ("function", Self::Function),
        ("file", Self::File),
        ("line", Self::Line),
        ("module", Self::Module),
        ("stack", Self::Stack),
        ("type", Self::Type),
        ("static-init", Self::StaticInit),
        ("size", Self::Size),
        ("thread", Self::Thread),
        ("scope", Self::Scope),
        ("kind", Self::Kind),
        ("alignment", Self::Alignment),
        ("freed-by", Self::FreedBy),
        ("freed-function", Self::FreedFunction),
        ("freed-file", Self::FreedFile),
        ("freed-line", Self::FreedLine),
        ("freed-module", Self::FreedModule),
        ("freed-stack", Self::FreedStack),
    ];

    /// What of the stack that released it is meant, if it is about that.
    pub fn of_release(self) -> Option<Self> {
        match self {
            Self::FreedFunction => Some(Self::Function),
            Self::FreedFile => Some(Self::File),
            Self::FreedLine => Some(Self::Line),
            Self::FreedModule => Some(Self::Module),
            Self::FreedStack => Some(Self::Stack),
            _ => None,
        }
    }

    /// Whether it is a matter of the stacks that asked.
    pub fn is_of_askers(self) -> bool {
        use By::{File, Function, Line, Module, Stack, StaticInit, Type};
        matches!(
            self,
            Function | File | Line | Module | Stack | StaticInit | Type
        )
    }

    /// Whether it is a matter of stacks, and so of names.
    pub fn is_of_stacks(self) -> bool {
        self.is_of_askers() || self.of_release().is_some()
    }

    /// Whether it is about whole stacks.
    pub fn is_whole_stack(self) -> bool {
        matches!(self, Self::Stack | Self::FreedStack)
    }

    /// Whether a block is also below the callers of the function that asked, or
    /// released.
    pub fn has_callers(self) -> bool {
        let has_none = matches!(self, Self::Type | Self::StaticInit);
        self.is_of_stacks() && !self.is_whole_stack() && !has_none
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(_, by)| *by == self).map_or("", |(word, _)| word)
    }

    /// That of a word.
    pub fn of(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(known, _)| *known == word).map(|(_, by)| *by)
    }
}

pub(crate) const NO_STACK: &str = "(no stack)";
pub(crate) const UNKNOWN: &str = "(unknown)";
const NO_STATIC_INIT: &str = "(no static initialiser)";
/// Functions of a stack's name; its frames are told apart from it.
const MOST_NAMED: usize = 50;

/// The groups that stacks were put into so far.
pub(crate) struct Keys<'w, 't, 'b> {
    world: &'w World<'t, 'b>,
    by: By,
    /// Of the stacks that released, the functions that did; else the world has them.
    releasers: Option<Vec<Option<u32>>>,
    names: Vec<String>,
    of_name: HashMap<String, u32>,
    /// Few labels are new.
    of_label: HashMap<u32, u32>,
    /// By line the number of the functions that call each other there: stacks of the
    /// same functions are one.
    callers: Vec<u32>,
    /// By line its static initialiser.
    initialisers: Vec<u32>,
    of_callers: HashMap<u32, u32>,
}

impl<'w, 't, 'b> Keys<'w, 't, 'b> {
    /// None yet.
    pub(crate) fn new(world: &'w World<'t, 'b>, by: By) -> Self {
        Self {
            world,
            by,
            releasers: None,
            names: Vec::new(),
            of_name: HashMap::new(),
            of_label: HashMap::new(),
            callers: match by {
                By::Stack => numbered(world),
                _ => Vec::new(),
            },
            initialisers: match by {
                By::StaticInit => initialisers(world),
                _ => Vec::new(),
            },
            of_callers: HashMap::new(),
        }
    }

    /// The same of the stacks that released.
    pub(crate) fn of_releases(world: &'w World<'t, 'b>, by: By) -> Result<Self, Damaged> {
        let releasers = Some(releasers(world)?);
        Ok(Self {
            releasers,
            ..Self::new(world, by)
        })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// What each is called.
    pub(crate) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The group of a stack.
    pub(crate) fn of(&mut self, stack: u32) -> u32 {
        let world = self.world;
        let Some(path) = world.stacks.get(stack as usize) else {
            return self.named(NO_STACK.to_owned());
        };
        match self.by {
            By::Stack => {
                let callers = self.callers.get(path.asker as usize).copied();
                let callers = callers.unwrap_or(0);
                if let Some(&key) = self.of_callers.get(&callers) {
                    return key;
                }
                let key = self.names.len() as u32;
                self.names.push(text(world, path.asker));
                self.of_callers.insert(callers, key);
                key
            }
            By::Type => {
                let names = world.named(path.whole);
                let found = type_of(names.map(|name| name.function.as_str()));
                self.named(found.unwrap_or_else(|| UNKNOWN.into()))
            }
            By::StaticInit => {
                let line = self.initialisers.get(path.whole as usize);
                match line.and_then(|&line| world.label(line)) {
                    Some(label) => self.of_label(label),
                    None => self.named(NO_STATIC_INIT.to_owned()),
                }
            }
            _ => {
                let owner = match &self.releasers {
                    Some(releasers) => releasers.get(stack as usize).copied().flatten(),
                    None => path.owner,
                };
                match owner {
                    Some(label) => self.of_label(label),
                    None => self.named(NO_STACK.to_owned()),
                }
            }
        }
    }

    /// That of a function.
    pub(crate) fn of_label(&mut self, label: u32) -> u32 {
        if let Some(&key) = self.of_label.get(&label) {
            return key;
        }
        let name = match self.world.names.get(label as usize) {
            Some(name) => name_of(name, self.by).to_owned(),
            None => NO_STACK.to_owned(),
        };
        let key = self.named(name);
        self.of_label.insert(label, key);
        key
    }

    pub(crate) fn named(&mut self, name: String) -> u32 {
        let next = self.names.len() as u32;
        *self.of_name.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        })
    }
}

/// By line a number for it and its callers by their functions.
fn numbered(world: &World) -> Vec<u32> {
    let mut functions: HashMap<&str, u32> = HashMap::new();
    let mut known: HashMap<(u32, u32), u32> = HashMap::new();
    let mut numbers: Vec<u32> = vec![0];
    for line in world.lines.iter().skip(1) {
        let name = world.names.get(line.label as usize);
        let name = name.map_or(NO_STACK, |name| &name.function);
        let next = functions.len() as u32;
        let function = *functions.entry(name).or_insert(next);
        let callers = numbers.get(line.callers as usize).copied().unwrap_or(0);
        let next = known.len() as u32 + 1;
        numbers.push(*known.entry((function, callers)).or_insert(next));
    }
    numbers
}

/// The functions of a stack, from who called the allocator.
fn text(world: &World, line: u32) -> String {
    stack_text(world.named(line))
}

pub(crate) fn stack_text<'n>(names: impl Iterator<Item = &'n Name>) -> String {
    let names = names.map(|name| name.function.as_str());
    let names: Vec<&str> = names.take(MOST_NAMED + 1).collect();
    match names.len() {
        0 => NO_STACK.into(),
        count if count > MOST_NAMED => format!("{} < \u{2026}", names[..MOST_NAMED].join(" < ")),
        _ => names.join(" < "),
    }
}

/// What a function is put under.
pub(crate) fn name_of(name: &Name, by: By) -> &str {
    let location = name.location.as_deref();
    match by {
        By::File => location.map_or(UNKNOWN, file_of),
        By::Line | By::StaticInit => location.unwrap_or(&name.function),
        By::Module => module_of(name).unwrap_or(UNKNOWN),
        _ => &name.function,
    }
}
