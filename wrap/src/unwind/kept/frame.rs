//! What is kept of a frame: its state, its name, and the words of the stack that
//! it was stepped by.

use super::words::{self, Words};
use crate::platform::arch;
use crate::platform::bounds::Bounds;
use crate::unwind::rule::Kind;
use crate::unwind::signal;
use crate::unwind::walk::{Known, WalkState};
use memlog_format::table::StackId;
use memlog_lockfree::table::Tag;

/// A frame of the last stack.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct KeptFrame {
    pub(super) state: WalkState,
    /// The stack from here outwards.
    pub(super) name: Name,
    /// How many words this frame and those outside it were stepped by, and
    /// whether fp matters, in the lowest bit.
    pub(super) words_and_live: u32,
}

impl KeptFrame {
    #[inline]
    pub(super) fn words(&self) -> usize {
        (self.words_and_live >> 1) as usize
    }

    #[inline]
    pub(super) fn is_live(&self) -> bool {
        self.words_and_live & 1 != 0
    }

    /// Whether a walk that is as far out has come to the same state.
    #[inline]
    pub(super) fn is_at(&self, state: &WalkState) -> bool {
        self.state.sp == state.sp
            && self.state.pc == state.pc
            && (self.state.fp == state.fp || !self.is_live())
    }

    /// The outermost frame, which no word led to: by its rule, or for the
    /// chain of the ABI ends there.
    #[inline(always)]
    pub(super) fn outermost(
        frame: &FreshFrame,
        root: StackId,
        name: Name,
        words: &mut Words,
        high: u64,
    ) -> Option<Self> {
        let rule = frame.known.rule;
        let words = if rule.is(Kind::End) {
            0
        } else if arch::BACK_CHAIN && rule.is(Kind::Chain) && root == StackId::COMPLETE {
            end_of_chain(frame.state.sp, words, high)?
        } else {
            return None;
        };
        Some(Self {
            state: frame.state,
            name,
            words_and_live: words << 1,
        })
    }

    /// The frame that this one called, once the words of the step between them
    /// are noted: the return address, and the frame pointer where it matters
    /// further out. Nothing if that is no step of the closed set, or its words
    /// cannot be kept.
    #[inline(always)]
    pub(super) fn callee(&self, frame: &FreshFrame, name: Name, words: &mut Words) -> Option<Self> {
        let rule = frame.known.rule;
        if arch::BACK_CHAIN && rule.is(Kind::Chain) {
            return self.callee_in_chain(frame, name, words);
        }
        let is_fp = rule.is(Kind::Fp);
        let is_closed = is_fp || rule.is(Kind::Sp);
        if !is_closed || name.id == 0 {
            return None;
        }
        let cfa = self.state.sp.wrapping_add(arch::SP_BELOW_CFA);
        let saved = rule.saved_words();
        let below = arch::fp_below(saved);
        let at = cfa.wrapping_sub(below);
        let needs_fp = below != 0 && self.is_live();
        if needs_fp && at < frame.state.sp {
            return None;
        }
        let return_at = cfa.wrapping_sub(arch::return_below(saved));
        let was = [self.returned(return_at), self.state.fp];
        if !words.note(self.words(), [return_at, at], was) {
            return None;
        }
        let is_live = is_fp || (below == 0 && self.is_live());
        let words = self.words() as u32 + 1 + needs_fp as u32;
        Some(Self {
            state: frame.state,
            name,
            words_and_live: words << 1 | is_live as u32,
        })
    }

    /// The word that returned here, which was read at this place.
    #[inline(always)]
    fn returned(&self, at: u64) -> u64 {
        match arch::RETURN_IS_SIGNED {
            true => words::read(at),
            false => self.state.pc.address(),
        }
    }

    /// The same where the ABI chains the frames.
    #[inline(always)]
    fn callee_in_chain(&self, frame: &FreshFrame, name: Name, words: &mut Words) -> Option<Self> {
        let (sp, caller) = (frame.state.sp, self.state.sp);
        let read = [sp, caller.wrapping_sub(arch::return_below(0))];
        let was = [caller, self.returned(read[1])];
        if name.id == 0 || !words.note(self.words(), read, was) {
            return None;
        }
        Some(Self {
            state: frame.state,
            name,
            words_and_live: (self.words() as u32 + 2) << 1,
        })
    }

    /// The signal that interrupted this frame, if that is what `frame` is, on
    /// the same stack, which ends at `high`: all words of a thread's own stack
    /// are read at once.
    pub(super) fn signal(
        &self,
        frame: &FreshFrame,
        name: Name,
        words: &mut Words,
        high: u64,
    ) -> Option<Self> {
        let is_on_it = frame.state.sp < self.state.sp && self.state.sp < high;
        if !frame.known.rule.is(Kind::Signal) || !is_on_it || name.id == 0 {
            return None;
        }
        let [pc, sp, fp] = signal::places(frame.state.sp, frame.known.rule);
        let WalkState { pc: was, .. } = self.state;
        let mut count = self.words();
        if !words.note(count, [pc, sp], [was.address(), self.state.sp]) {
            return None;
        }
        count += 2;
        if self.is_live() {
            if !words.note(count, [fp, fp], [self.state.fp; 2]) {
                return None;
            }
            count += 1;
        }
        // All registers are restored from there: nothing goes through.
        Some(Self {
            state: frame.state,
            name,
            words_and_live: (count as u32) << 1,
        })
    }
}

/// Notes what says that a chain ends at this frame: how many words.
#[cold]
fn end_of_chain(sp: u64, words: &mut Words, high: u64) -> Option<u32> {
    let bounds = Bounds { low: sp, high };
    let caller = bounds.read(sp)?;
    let noted = match caller {
        0 => (1, [sp, sp], [0, 0]),
        _ => {
            let at = caller.wrapping_sub(arch::return_below(0));
            (2, [sp, at], [caller, bounds.read(at)?])
        }
    };
    words.note(0, noted.1, noted.2).then_some(noted.0)
}

/// A stack in the trie.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Name {
    pub(super) id: u32,
    pub(super) tag: Tag,
}

/// A frame that was walked just now.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct FreshFrame {
    pub(super) state: WalkState,
    pub(super) known: Known,
}
