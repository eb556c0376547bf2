//! The capture against its twin, the plain walk, on stacks made up word by
//! word: calls and returns, data that looks like frames, frame pointers that
//! are none, and words that change under the feet of what was kept.
#![allow(unsafe_code)]
//! # Safety
//! Frames of doors are words of the made-up stack, which outlives each walk.

use crate::platform::arch::{self, DoorFrame, WORD};
use crate::platform::bounds::Bounds;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::kept::{Far, Kept, Namer, capture};
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::signal;
use crate::unwind::walk::{Cache, Known, MAX_FRAMES, Pc, Resolver, WalkState, Workspace, walk};
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

fn rule(code: u64) -> Rule {
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
struct Program;

impl Resolver for Program {
    fn resolve(&mut self, (state, _): (WalkState, Bounds)) -> Result<Known, StackId> {
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

fn is_code(at: u64) -> bool {
    (address(0)..address(CODES)).contains(&at) && at.is_multiple_of(16)
}

/// An exact trie.
#[derive(Default)]
struct Trie(RefCell<(HashMap<Node, u32>, Vec<Node>)>);

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
    fn path(&self, mut id: StackId) -> (Vec<u32>, StackId) {
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
struct Frame {
    code: u64,
    sp: usize,
    fp: u64,
}

/// The stack of the program; places are indexes of words.
struct Stack {
    words: Box<[u64; WORDS]>,
    frames: Vec<Frame>,
}

impl Stack {
    fn new() -> Self {
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

    fn at(&self, word: usize) -> u64 {
        self.words.as_ptr() as u64 + WORD * word as u64
    }

    /// The innermost frame calls a function that is now at `code`.
    fn call(&mut self, code: u64, random: &mut Random) {
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
    fn door(&mut self) -> (&DoorFrame, Bounds) {
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

    fn change(&mut self, random: &mut Random) {
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

fn empty() -> Box<Cache> {
    // SAFETY: zeros are an empty cache.
    unsafe { Box::new_zeroed().assume_init() }
}

/// How many stacks were whole, and of how many the first look told the id.
fn compare(seed: u64, is_own: bool) -> (u32, u32) {
    let mut random = Random::new(seed);
    let mut stack = Stack::new();
    let mut kept = Kept::zeroed();
    let mut caches = [empty(), empty()];
    let mut codes = vec![0; MAX_FRAMES];
    let (trie, mut whole, mut unchanged) = (Trie::default(), 0, 0);
    for turn in 0..400 {
        stack.change(&mut random);
        let (frame, bounds) = stack.door();
        let [one, other] = &mut caches;
        let looked = kept.unchanged(&WalkState::at(frame));
        kept.wake();
        let found = capture(frame, bounds, is_own, (one, &mut kept), &mut Program, &trie);
        assert!(
            looked.is_none() || looked == found,
            "seed {seed}, turn {turn}"
        );
        unchanged += u32::from(looked.is_some());
        let mut space = Workspace {
            cache: other,
            codes: &mut codes,
        };
        let (count, root) = walk(frame, bounds, &mut space, &mut Program);
        // Left to the plain walk: frames that lead round in a circle, and the
        // end of a stack that others may have made longer.
        let Some(found) = found else {
            let is_short = !is_own && root == StackId::CUT_BAD_FRAME;
            assert!(
                is_short || root == StackId::CUT_TOO_DEEP,
                "seed {seed}, turn {turn}"
            );
            continue;
        };
        let told = trie.path(found);
        assert_eq!(
            told,
            (codes[..count].to_vec(), root),
            "seed {seed}, turn {turn}"
        );
        whole += u32::from(root == StackId::COMPLETE);
    }
    (whole, unchanged)
}

#[test]
fn says_what_the_plain_walk_says() {
    if arch::BACK_CHAIN {
        return;
    }
    let (mut whole, mut unchanged) = (0, 0);
    for seed in 0..200 {
        let told = compare(seed, seed % 2 == 0);
        (whole, unchanged) = (whole + told.0, unchanged + told.1);
    }
    // Else hardly anything could be kept.
    assert!(whole > 10_000, "{whole} of 80,000 stacks were whole");
    assert!(
        unchanged > 200,
        "{unchanged} of 80,000 stacks were unchanged"
    );
}

/// Knows nothing, and is not to be asked.
struct Nobody;

impl Resolver for Nobody {
    fn resolve(&mut self, (state, _): (WalkState, Bounds)) -> Result<Known, StackId> {
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

#[test]
fn the_stack_of_last_time_is_not_walked_again() {
    if arch::BACK_CHAIN {
        return;
    }
    for is_own in [true, false] {
        let mut random = Random::new(1);
        let mut stack = Stack::new();
        // No barriers among these.
        (1..31).for_each(|code| stack.call(code, &mut random));
        let (mut kept, trie) = (Kept::zeroed(), Trie::default());
        let (frame, bounds) = stack.door();
        let first = capture(
            frame,
            bounds,
            is_own,
            (&mut empty(), &mut kept),
            &mut Program,
            &trie,
        );
        let looked = kept.unchanged(&WalkState::at(frame));
        let again = capture(
            frame,
            bounds,
            is_own,
            (&mut empty(), &mut kept),
            &mut Nobody,
            &trie,
        );
        assert_eq!(first, again);
        // Words of another stack may only be read in the order of a walk.
        assert_eq!(looked, first.filter(|_| is_own));
        assert_eq!(trie.path(first.unwrap()).0.len(), 31);
    }
}

/// Knows the rules; what it would have to look up is refused, as to a signal's
/// handler while another thread has the map.
struct Busy;

impl Resolver for Busy {
    fn resolve(&mut self, frame: (WalkState, Bounds)) -> Result<Known, StackId> {
        Program.resolve(frame)
    }

    fn walk_fully(&mut self, _: &DoorFrame, _: Bounds, _: &mut [u32]) -> (usize, StackId) {
        unreachable!("no rule here is complex")
    }

    fn far(&mut self, _: Pc) -> Option<Far> {
        None
    }

    fn bounds_of(&mut self, _: u64) -> Option<Bounds> {
        None
    }

    fn is_code(&mut self, _: u64, _: bool) -> Option<bool> {
        None
    }
}

#[test]
fn a_refusal_is_no_bad_stack() {
    if arch::BACK_CHAIN {
        return;
    }
    for (code, known) in [(31, 1), (29, 1)] {
        let mut random = Random::new(1);
        let mut stack = Stack::new();
        stack.call(1, &mut random);
        stack.call(code, &mut random);
        if let Kind::Signal = rule(code).kind() {
            // It interrupted something on a stack not seen before.
            let sp = stack.frames.last().unwrap().sp;
            let [_, place, _] = signal::places(stack.at(sp), Rule::signal(0));
            let index = (place - stack.at(0)) / WORD;
            stack.words[index as usize] = 8;
        }
        let (mut kept, trie) = (Kept::zeroed(), Trie::default());
        let (frame, bounds) = stack.door();
        let found = capture(
            frame,
            bounds,
            true,
            (&mut empty(), &mut kept),
            &mut Busy,
            &trie,
        );
        let (codes, root) = trie.path(found.unwrap());
        assert_eq!((codes.len(), root), (known, StackId::CUT_BUSY));
        // The next one is luckier, and nothing of this one is in its way.
        let after = capture(
            frame,
            bounds,
            true,
            (&mut empty(), &mut kept),
            &mut Program,
            &trie,
        );
        assert_ne!(trie.path(after.unwrap()).1, StackId::CUT_BUSY);
    }
}

/// Knows the rules, and how often it was asked about code that nobody knew.
#[derive(Default)]
struct Counting(u32);

impl Resolver for Counting {
    fn resolve(&mut self, frame: (WalkState, Bounds)) -> Result<Known, StackId> {
        Program.resolve(frame)
    }

    fn walk_fully(&mut self, _: &DoorFrame, _: Bounds, _: &mut [u32]) -> (usize, StackId) {
        unreachable!("no rule here is complex")
    }

    fn far(&mut self, _: Pc) -> Option<Far> {
        unreachable!("no rule here is complex")
    }

    fn bounds_of(&mut self, _: u64) -> Option<Bounds> {
        unreachable!("nothing was interrupted")
    }

    fn is_code(&mut self, at: u64, is_known: bool) -> Option<bool> {
        self.0 += u32::from(!is_known);
        Some(is_code(at))
    }
}

/// The map is behind a lock: a program of run-time compiled code would take it at
/// each frame of each allocation.
#[test]
fn code_that_was_met_is_not_asked_for_again() {
    if arch::BACK_CHAIN || !arch::HAS_FRAME_POINTERS {
        return;
    }
    let (mut random, mut stack) = (Random::new(1), Stack::new());
    for code in [1, 2, 3, 31] {
        stack.call(code, &mut random);
    }
    let (mut cache, mut counting, trie) = (empty(), Counting::default(), Trie::default());
    let asked = [(); 3].map(|()| {
        let (frame, bounds) = stack.door();
        let mut kept = Kept::zeroed();
        let found = capture(
            frame,
            bounds,
            true,
            (&mut cache, &mut kept),
            &mut counting,
            &trie,
        );
        assert_eq!(trie.path(found.unwrap()).0.len(), 5);
        core::mem::take(&mut counting.0)
    });
    assert_eq!(asked, [1, 0, 0]);
}

/// Where every frame is new each time nearly all is left to the plain walk, and
/// soon after stacks are alike again nothing is.
#[test]
fn what_is_kept_in_vain_is_kept_seldom() {
    if arch::BACK_CHAIN {
        return;
    }
    let (mut kept, mut cache, trie) = (Kept::zeroed(), empty(), Trie::default());
    let mut random = Random::new(1);
    let mut ask = |stack: &mut Stack| {
        let (frame, bounds) = stack.door();
        capture(
            frame,
            bounds,
            true,
            (&mut cache, &mut kept),
            &mut Program,
            &trie,
        )
    };
    let mut asked_for = 0;
    for turn in 0..640 {
        let mut stack = Stack::new();
        (0..30).for_each(|code| stack.call(1 + (code + turn % 2) % 23, &mut random));
        asked_for += u32::from(ask(&mut stack).is_none());
    }
    assert!((540..=600).contains(&asked_for), "{asked_for} of 640 times");
    let mut stack = Stack::new();
    (0..30).for_each(|code| stack.call(1 + code % 23, &mut random));
    let asked_for = (0..100).filter(|_| ask(&mut stack).is_none()).count();
    assert!(asked_for < 32, "{asked_for} of 100 times");
}
