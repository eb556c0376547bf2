//! The capture against its twin, the plain walk, on stacks made up word by
//! word: calls and returns, data that looks like frames, frame pointers that
//! are none, and words that change under the feet of what was kept.

use super::made_up::{Nobody, Program, Stack, Trie, empty, is_code, rule};
use crate::platform::arch::{self, DoorFrame, WORD};
use crate::platform::bounds::Bounds;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::kept::{Far, Kept, capture};
use crate::unwind::row::Machine;
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::signal;
use crate::unwind::walk::{Known, MAX_FRAMES, Pc, Resolver, WalkState, Workspace, walk};
use memlog_format::table::StackId;

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
    fn resolve(
        &mut self,
        frame: (WalkState, Bounds),
        machine: &mut Machine,
    ) -> Result<Known, StackId> {
        Program.resolve(frame, machine)
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
    fn resolve(
        &mut self,
        frame: (WalkState, Bounds),
        machine: &mut Machine,
    ) -> Result<Known, StackId> {
        Program.resolve(frame, machine)
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
