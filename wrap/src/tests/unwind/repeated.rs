//! Whole stacks that come again, against the plain walk: they are known without one,
//! and never by what they only look like.

use super::made_up::{Nobody, Program, Stack, Trie, empty};
use crate::platform::arch;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::kept::{Kept, capture};
use crate::unwind::walk::{Cache, MAX_FRAMES, Resolver, Workspace, walk};
use memlog_format::table::StackId;

/// Of each two in a row the frames are of one size, and none keeps a frame pointer.
const ALIKE: [[u64; 2]; 3] = [[1, 11], [2, 7], [3, 13]];

/// A recorder on a stack.
struct Trial {
    kept: Box<Kept>,
    caches: [Box<Cache>; 2],
    trie: Trie,
    stack: Stack,
    random: Random,
}

impl Trial {
    fn new() -> Self {
        Self {
            kept: Kept::zeroed(),
            caches: [empty(), empty()],
            trie: Trie::default(),
            stack: Stack::new(),
            random: Random::new(1),
        }
    }

    /// Returns to the outermost frame and calls these.
    fn call(&mut self, codes: impl IntoIterator<Item = u64>) {
        self.stack.frames.truncate(1);
        for code in codes {
            self.stack.call(code, &mut self.random);
        }
    }

    fn capture(&mut self, resolver: &mut impl Resolver) -> StackId {
        let Self {
            kept,
            caches: [cache, _],
            trie,
            stack,
            ..
        } = self;
        let (frame, bounds) = stack.door();
        kept.wake();
        capture(frame, bounds, true, (cache, kept), resolver, trie).unwrap()
    }

    /// The id, where that is known with no walk; else it is walked for. Not even what
    /// the thread knows of code serves.
    fn capture_known(&mut self) -> (StackId, bool) {
        self.caches[0] = empty();
        let ask = std::panic::AssertUnwindSafe(|| self.capture(&mut Nobody));
        match std::panic::catch_unwind(ask) {
            Ok(id) => (id, true),
            Err(_) => (self.capture(&mut Program), false),
        }
    }

    /// What the plain walk says.
    fn walked(&mut self) -> (Vec<u32>, StackId) {
        let mut codes = vec![0; MAX_FRAMES];
        let (frame, bounds) = self.stack.door();
        let mut space = Workspace {
            cache: &mut self.caches[1],
            codes: &mut codes,
        };
        let (count, root) = walk(frame, bounds, &mut space, &mut Program);
        codes.truncate(count);
        (codes, root)
    }
}

/// A stack of a few choices between frames of one size.
fn chosen(choices: usize) -> impl Iterator<Item = u64> {
    let levels = (0..12).map(move |level| ALIKE[level % 3][choices >> level & 1]);
    // All end alike.
    levels.chain([5, 9])
}

#[test]
fn a_loop_is_known_without_a_walk() {
    if arch::BACK_CHAIN {
        return;
    }
    let mut trial = Trial::new();
    let turns = [0, 5, 3, 1000, 17, 4095, 2048];
    let (mut ids, mut known) = (Vec::new(), 0);
    for round in 0..6 {
        for (turn, &choices) in turns.iter().enumerate() {
            trial.call(chosen(choices));
            let id = match round < 4 {
                true => trial.capture(&mut Program),
                false => {
                    let (id, is_known) = trial.capture_known();
                    known += u32::from(is_known);
                    id
                }
            };
            ids.push(id);
            assert_eq!(id, ids[turn], "round {round}, turn {turn}");
            assert_eq!(trial.trie.path(id), trial.walked());
        }
    }
    // By where the stack lies two may share a place, and drive each other out.
    assert!(known >= 9, "{known} of 14");
}

/// The same pc and sp, the same stack before, and another caller somewhere.
#[test]
fn another_stack_that_ends_alike_is_another() {
    if arch::BACK_CHAIN {
        return;
    }
    let (mut trial, mut chance) = (Trial::new(), Random::new(7));
    for turn in 0..20_000 {
        // Mostly a loop, whose turns are now and then one level off.
        let choices = (turn % 5) * 700;
        let off = match chance.below(8) {
            0 => 1 << chance.below(12),
            _ => 0,
        };
        trial.call(chosen(choices ^ off));
        if chance.below(500) == 0 {
            trial.kept.forget();
        }
        let id = trial.capture(&mut Program);
        assert_eq!(trial.trie.path(id), trial.walked(), "turn {turn}");
    }
}

/// What was forgotten is not known, also after as many times as an epoch has.
#[test]
fn what_was_forgotten_stays_so() {
    if arch::BACK_CHAIN {
        return;
    }
    let mut trial = Trial::new();
    for turn in 0..12 {
        trial.call(chosen(turn % 3));
        trial.capture(&mut Program);
    }
    for times in [1, 255, 256, 257] {
        (0..times).for_each(|_| trial.kept.forget());
        // Its words are there, and another's are meant.
        trial.call(chosen(0));
        // A walk has to look this up.
        trial.caches[0] = empty();
        let walk = std::panic::AssertUnwindSafe(|| trial.capture(&mut Nobody));
        assert!(std::panic::catch_unwind(walk).is_err(), "{times}");
    }
}

/// Stacks that are too deep to be remembered drive nobody out.
#[test]
fn deep_stacks_leave_a_loop_alone() {
    if arch::BACK_CHAIN {
        return;
    }
    let mut trial = Trial::new();
    for turn in 0..64 {
        trial.call(chosen(turn % 16 * 37));
        trial.capture(&mut Program);
    }
    for turn in 0..96 {
        let deep = (0..90).map(move |level| ALIKE[level % 3][((turn % 12) >> (level % 4)) & 1]);
        trial.call(deep.chain([5, 9]));
        trial.capture(&mut Program);
    }
    // The first turn comes after another stack than usual.
    trial.call(chosen(0));
    trial.capture(&mut Program);
    let known = (1..16).filter(|turn| {
        trial.call(chosen(turn * 37));
        trial.capture_known().1
    });
    let known = known.count();
    assert!(known >= 9, "{known} of 15");
}
