//! A made-up program for the capture's tests: its stack word by word, what its unwind
//! tables say, and an exact trie.
#![allow(unsafe_code)]
//! # Safety
//! Frames of doors are words of the made-up stack, which outlives each walk.

use crate::platform::arch::{DoorFrame, WORD};
use crate::platform::bounds::Bounds;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::kept::{Far, Kept, Namer};
use crate::unwind::row::Machine;
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::signal;
use crate::unwind::walk::{Cache, Known, Pc, Resolver, WalkState};
use memlog_format::table::{CodeId, Node, StackId};
use memlog_lockfree::table::Tag;
use std::cell::RefCell;
use std::collections::HashMap;

/// Code addresses of the made-up program, of which the first is its start.
const CODES: u64 = 64;
const WORDS: usize = 4096;

// SAFETY: the recorder's streams begin as zeros.
unsafe impl Zeroed for Kept {}

fn address(code: u64) -> u64 {
    0x40_0000 + 16 * code
}

pub(super) fn rule(code: u64) -> Rule {
    let plain = |kind, offset, saved| Rule::frame(kind, offset * 8, saved, 8).unwrap();
    match code {
        0 => Rule::plain(Kind::End),
        _ if code.is_multiple_of(31) => Rule::plain(Kind::NoTables),
        _ if code.is_multiple_of(29) => Rule::plain(Kind::Signal),
        _ if code.is_multiple_of(6) => plain(Kind::Fp, 2, 2),
        _ if code.is_multiple_of(4) => plain(Kind::Sp, 3 + code as i64 % 4, 2 + code % 2),
        _ => plain(Kind::Sp, 1 + code as i64 % 5, 0),
    }
}

/// What the unwind tables of the program say.
pub(super) struct Program;

impl Resolver for Program {
    fn resolve(
        &mut self,
        (state, _): (WalkState, Bounds),
        _: &mut Machine,
    ) -> Result<Known, StackId> {
        let pc = state.pc;
        let code = pc.address().wrapping_sub(address(0)) / 16;
        match is_code(pc.address()) {
            true => Ok(Known {
                rule: rule(code),
                code: 4 + code as u32,
            }),
            false => Err(StackId::CUT_NO_TABLES),
        }
    }

    fn walk_fully(&mut self, _: &DoorFrame, _: Bounds, _: &mut [u32]) -> (usize, StackId) {
        unreachable!("no rule here is complex")
    }

    fn far(&mut self, _: Pc) -> Option<Far> {
        unreachable!("no rule here is complex")
    }

    /// A signal's frame that was written over leads anywhere.
    fn bounds_of(&mut self, _: u64) -> Option<Bounds> {
        Some(Bounds::default())
    }

    fn is_code(&mut self, at: u64, _: bool) -> Option<bool> {
        Some(is_code(at))
    }
}

pub(super) fn is_code(at: u64) -> bool {
    (address(0)..address(CODES)).contains(&at) && at.is_multiple_of(16)
}

/// An exact trie.
#[derive(Default)]
pub(super) struct Trie(RefCell<(HashMap<Node, u32>, Vec<Node>)>);

impl Namer for Trie {
    fn follows(&self, node: Node) -> Option<u32> {
        let next = node.parent.0 + 1;
        let inside = self.0.borrow();
        let found = inside.1.get((next as usize).checked_sub(8)?)?;
        (*found == node).then_some(next)
    }

    fn expect(&self, _: Tag) {}

    fn intern(&self, _: Tag, node: Node, rest: impl ExactSizeIterator<Item = CodeId>) -> u32 {
        let mut inside = self.0.borrow_mut();
        let next = 8 + inside.1.len() as u32;
        let id = *inside.0.entry(node).or_insert(next);
        if id == next {
            inside.1.push(node);
            for (parent, code) in (id..).map(StackId).zip(rest) {
                inside.1.push(Node { parent, code });
            }
        }
        id
    }
}

impl Trie {
    /// The codes of a stack, innermost first, and its root.
    pub(super) fn path(&self, mut id: StackId) -> (Vec<u32>, StackId) {
        let mut codes = Vec::new();
        while !id.is_root() {
            let node = self.0.borrow().1[id.0 as usize - 8];
            codes.push(node.code.0);
            id = node.parent;
        }
        (codes, id)
    }
}

/// A frame that was called, as its caller sees it.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    code: u64,
    pub(super) sp: usize,
    fp: u64,
}

/// The stack of the program; places are indexes of words.
pub(super) struct Stack {
    pub(super) words: Box<[u64; WORDS]>,
    pub(super) frames: Vec<Frame>,
}

impl Stack {
    pub(super) fn new() -> Self {
        let outermost = Frame {
            code: 0,
            sp: WORDS - 8,
            fp: 0,
        };
        Self {
            words: Box::new([0; WORDS]),
            frames: vec![outermost],
        }
    }

    pub(super) fn at(&self, word: usize) -> u64 {
        self.words.as_ptr() as u64 + WORD * word as u64
    }

    /// The innermost frame calls a function that is now at `code`.
    pub(super) fn call(&mut self, code: u64, random: &mut Random) {
        let caller = *self.frames.last().unwrap();
        let rule = rule(code);
        self.words[caller.sp - 1] = address(caller.code);
        let mut frame = Frame {
            code,
            sp: caller.sp - rule.offset_words() as usize,
            fp: caller.fp,
        };
        match rule.kind() {
            Kind::Signal => {
                frame.sp = caller.sp - 40;
                frame.fp = random.next();
                let interrupted = [address(caller.code), self.at(caller.sp), caller.fp];
                let places = signal::places(self.at(frame.sp), rule);
                for (place, word) in places.into_iter().zip(interrupted) {
                    let index = (place - self.at(0)) / WORD;
                    self.words[index as usize] = word;
                }
            }
            Kind::Sp if rule.saved_words() == 0 => {}
            Kind::Sp => {
                self.words[caller.sp - rule.saved_words() as usize] = caller.fp;
                frame.fp = [random.next(), self.at(caller.sp - 2)][random.below(2) as usize];
            }
            _ => {
                self.words[caller.sp - 2] = caller.fp;
                frame.fp = self.at(caller.sp - 2);
                frame.sp = caller.sp - 2 - random.below(6) as usize;
            }
        }
        self.frames.push(frame);
    }

    /// A call of malloc from the innermost frame.
    pub(super) fn door(&mut self) -> (&DoorFrame, Bounds) {
        let frame = *self.frames.last().unwrap();
        let words = DoorFrame::made_up(address(frame.code), frame.fp);
        let start = frame.sp - words.len();
        self.words[start..frame.sp].copy_from_slice(&words);
        let bounds = Bounds {
            low: self.at(frame.sp),
            high: self.at(WORDS),
        };
        // SAFETY: the words of a door's frame, in the stack.
        (unsafe { &*self.words.as_ptr().add(start).cast() }, bounds)
    }

    pub(super) fn change(&mut self, random: &mut Random) {
        for _ in 0..random.below(5) {
            if self.frames.len() > 1 {
                self.frames.pop();
            }
        }
        for _ in 0..random.below(5) {
            if self.frames.last().unwrap().sp > 96 {
                self.call(1 + random.below(CODES - 1), random);
            }
        }
        // Now and then a word is not what it was, whatever it was: a return
        // address of another caller, data, a frame pointer.
        if random.below(4) == 0 {
            let last = self.frames.last().unwrap().sp;
            let at = last + random.below((WORDS - last) as u64) as usize;
            self.words[at] = match random.below(3) {
                0 => address(random.below(CODES)),
                1 => self.at(random.below(WORDS as u64) as usize),
                _ => random.next(),
            };
        }
    }
}

pub(super) fn empty() -> Box<Cache> {
    // SAFETY: zeros are an empty cache.
    unsafe { Box::new_zeroed().assume_init() }
}

/// Knows nothing, and is not to be asked.
pub(super) struct Nobody;

impl Resolver for Nobody {
    fn resolve(
        &mut self,
        (state, _): (WalkState, Bounds),
        _: &mut Machine,
    ) -> Result<Known, StackId> {
        panic!("walked {:#x} once more", state.pc.address());
    }

    fn walk_fully(&mut self, _: &DoorFrame, _: Bounds, _: &mut [u32]) -> (usize, StackId) {
        unreachable!("nothing is walked")
    }

    fn far(&mut self, _: Pc) -> Option<Far> {
        unreachable!("nothing is walked")
    }

    fn bounds_of(&mut self, _: u64) -> Option<Bounds> {
        unreachable!("nothing is walked")
    }

    fn is_code(&mut self, _: u64, _: bool) -> Option<bool> {
        unreachable!("nothing is walked")
    }
}
