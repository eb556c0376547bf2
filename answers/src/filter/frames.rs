//! What the frames of a stack are asked: of each label once, then of all lines.

use std::ops::RangeInclusive;
use std::sync::Arc;

use memlog_analysis::{END, Name, first_outwards};
use memlog_format::api::Api;
use memlog_query::{FirstMatch, Matcher, TextField, Verdict};

use super::Maker;
use crate::choice::Test;
use crate::place::{file_of, module_of};
use crate::static_init::initialisers;

impl Maker<'_, '_, '_> {
    pub(super) fn text(&mut self, field: TextField, matcher: &Matcher) -> Test {
        let world = self.world;
        let any = |of: fn(&Name) -> Option<&str>| {
            self.any_frame(|name| of(name).is_some_and(|text| fits(matcher, text)))
        };
        match field {
            TextField::Kind => {
                let mut set = vec![false; 256];
                for (api, name) in Api::all() {
                    set[api as usize] = matcher.fits(name);
                }
                Test::Api(Arc::new(set))
            }
            TextField::Thread => Test::Thread(self.threads(|place| self.is_thread(place, matcher))),
            TextField::FreedBy => {
                Test::Releaser(self.threads(|place| self.is_thread(place, matcher)))
            }
            TextField::LastMark => self.last_mark(matcher),
            TextField::Scope => self.scope(matcher),
            TextField::Leaf => {
                let is_it = world.labels_that(|name| fits(matcher, &name.function));
                let leaves = world.stacks.iter().map(|stack| world.label(stack.asker));
                let is_it = leaves.map(|leaf| leaf.is_some_and(|leaf| is_in(&is_it, leaf)));
                Test::Stack(Arc::new(is_it.collect()))
            }
            TextField::Function => any(function),
            TextField::File => any(file),
            TextField::Module => any(module_of),
            TextField::FreedFunction => released(any(function)),
            TextField::FreedFile => released(any(file)),
            TextField::FreedModule => released(any(module_of)),
        }
    }

    /// Blocks with a stack of which a frame answers so.
    pub(super) fn any_frame(&self, fits: impl Fn(&Name) -> bool) -> Test {
        let is_it = self.world.labels_that(fits);
        let first = first_outwards(&self.world.lines, |label| is_in(&is_it, label));
        self.by_line(|line| first.get(line as usize).is_some_and(|&first| first != END))
    }

    /// Blocks that a static initialiser asked for.
    pub(super) fn static_init(&self) -> Test {
        let first = initialisers(self.world);
        self.by_line(|line| first.get(line as usize).is_some_and(|&first| first != END))
    }

    /// Blocks with a stack of so many frames.
    pub(super) fn depth(&self, range: &RangeInclusive<u64>) -> Test {
        let depths = self.world.depths();
        self.by_line(|line| {
            depths
                .get(line as usize)
                .is_some_and(|depth| range.contains(depth))
        })
    }

    /// Blocks that memtrail's rules keep: each label is compared once.
    pub(super) fn first_match(&self, rules: &FirstMatch) -> Test {
        let of = |name: &Name| rules.of_frame(&name.function, module_of(name).unwrap_or_default());
        let verdicts: Vec<Option<Verdict>> = self.world.names.iter().map(of).collect();
        let verdict = |label: u32| verdicts.get(label as usize).copied().flatten();
        let first = first_outwards(&self.world.lines, |label| verdict(label).is_some());
        self.by_line(|line| {
            let first = first.get(line as usize).copied().unwrap_or(END);
            let found = self.world.label(first).and_then(verdict);
            found.unwrap_or_else(|| rules.otherwise()) == Verdict::Keep
        })
    }

    /// Blocks whose stack, from its innermost line out, answers so.
    fn by_line(&self, fits: impl Fn(u32) -> bool) -> Test {
        let stacks = self.world.stacks.iter();
        Test::Stack(Arc::new(stacks.map(|stack| fits(stack.whole)).collect()))
    }
}

/// The same of the stack that released the block.
fn released(test: Test) -> Test {
    match test {
        Test::Stack(set) => Test::ReleaseStack(set),
        other => other,
    }
}

/// A function is its name, with or without what it is called with; a file is its path,
/// or the last parts of that.
fn fits(matcher: &Matcher, text: &str) -> bool {
    let is_meant = |asked: &str| {
        let last = text.strip_suffix(asked);
        text.split('(').next() == Some(asked) || last.is_some_and(|rest| rest.ends_with('/'))
    };
    matcher.fits(text) || matches!(matcher, Matcher::Is(asked) if is_meant(asked))
}

fn is_in(set: &[bool], label: u32) -> bool {
    set.get(label as usize).copied().unwrap_or(false)
}

fn function(name: &Name) -> Option<&str> {
    Some(&name.function)
}

fn file(name: &Name) -> Option<&str> {
    name.location.as_deref().map(file_of)
}
