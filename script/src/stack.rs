//! A stack as scripts have it in their hands: its functions, as text.

use std::cell::OnceCell;
use std::fmt::Write;
use std::rc::Rc;

use memlog_analysis::{Name, starts_programs};
use memlog_answers::{Of, World};

use crate::chosen::StackKey;
use crate::env::{Log, Made, refused};

/// What other functions begin with that only run a program: of musl, and of Rust.
const AROUND: [&str; 7] = [
    "libc_start_main",
    "__rust_try",
    "std::rt::",
    "std::panic",
    "std::sys",
    "core::ops::function::",
    "<alloc::boxed::Box<",
];

/// The keys of a stack by its number in a world.
pub(crate) fn keys_of(world: &World, is_asked: impl Fn(u32) -> bool) -> Vec<(u32, StackKey)> {
    let all = world.numbers.iter().zip(world.table.stacks());
    let asked = all.filter(|(number, _)| is_asked(**number));
    asked
        .map(|(number, key)| (*number, (key.log, key.id.0)))
        .collect()
}

/// A stack, outermost function first.
#[derive(Clone)]
pub(crate) struct Backtrace {
    pub log: Log,
    pub of: Of,
    pub key: StackKey,
    pub is_stripped: bool,
    frames: Rc<OnceCell<Frames>>,
}

struct Frames {
    /// From the innermost out.
    names: Vec<Name>,
    /// The one whose memory it was.
    owner: usize,
}

impl Backtrace {
    pub fn new(log: Log, of: Of, key: StackKey) -> Self {
        Self {
            log,
            of,
            key,
            is_stripped: false,
            frames: Rc::default(),
        }
    }

    /// Without what only runs the program, and what only passes memory on.
    pub fn strip(&mut self) -> Self {
        Self {
            is_stripped: true,
            ..self.clone()
        }
    }

    fn frames(&self) -> Made<&Frames> {
        if self.frames.get().is_none() {
            let (of, key) = (self.of, self.key);
            let (names, owner) = self.log.ask(move |desk| {
                let world = desk.world(of, true)?;
                let number = world.numbers.iter().zip(world.table.stacks());
                let mut number = number.filter(|(_, stack)| (stack.log, stack.id.0) == key);
                let stack = number
                    .next()
                    .and_then(|(&n, _)| world.stacks.get(n as usize));
                let Some(stack) = stack else {
                    return Ok((Vec::new(), 0));
                };
                let names: Vec<Name> = world.named(stack.whole).cloned().collect();
                let owner = stack
                    .owner
                    .and_then(|label| world.names.get(label as usize));
                let asker = names.len().saturating_sub(world.named(stack.asker).count());
                let owner = names
                    .iter()
                    .skip(asker)
                    .position(|name| Some(name) == owner);
                Ok((names, asker + owner.unwrap_or(0)))
            })?;
            let _ = self.frames.set(Frames { names, owner });
        }
        self.frames
            .get()
            .ok_or_else(|| refused("the stack has no frames"))
    }

    /// A line for each function, the outermost first.
    pub fn text(&self) -> Made<String> {
        let Frames { names, owner } = self.frames()?;
        let innermost = if self.is_stripped { *owner } else { 0 };
        let outwards = names.iter().skip(innermost).rev();
        let mut text = String::new();
        for (index, name) in outwards.enumerate() {
            if self.is_stripped && is_around(name) {
                continue;
            }
            if !text.is_empty() {
                text.push('\n');
            }
            // A String takes everything.
            let _ = write!(text, "#{index:02}");
            if let Some(module) = &name.module {
                let _ = write!(text, " [{module}]");
            }
            let _ = write!(text, " {}", name.function);
            if let Some(location) = &name.location {
                let file = location.rsplit('/').next().unwrap_or(location);
                let _ = write!(text, " [{file}]");
            }
        }
        Ok(text)
    }
}

/// Whether a frame only runs the program.
fn is_around(name: &Name) -> bool {
    let function = name.function.as_str();
    let mut others = AROUND.iter();
    starts_programs(function) || others.any(|beginning| function.starts_with(beginning))
}
