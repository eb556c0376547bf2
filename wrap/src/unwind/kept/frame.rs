//! What is kept of a frame: its state, its name, and the words of the stack that
//! it was stepped by.

use super::words::Words;
use crate::arch;
use crate::table::Tag;
use crate::unwind::rule::Kind;
use crate::unwind::walk::{Known, State};

/// A frame of the last stack.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct KeptFrame {
    pub(super) state: State,
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
    pub(super) fn is_at(&self, state: &State) -> bool {
        self.state.sp == state.sp
            && self.state.pc == state.pc
            && (self.state.fp == state.fp || !self.is_live())
    }

    /// The outermost frame, which no word led to.
    #[inline]
    pub(super) fn outermost(state: State, name: Name) -> Self {
        Self {
            state,
            name,
            words_and_live: 0,
        }
    }

    /// The frame that this one called, once the words of the step between them
    /// are noted: the return address, and the frame pointer where it matters
    /// further out. Nothing if that is no step of the closed set, or its words
    /// cannot be kept.
    #[inline(always)]
    pub(super) fn callee(&self, frame: &FreshFrame, name: Name, words: &mut Words) -> Option<Self> {
        let rule = frame.known.rule;
        let is_fp = rule.is(Kind::Fp);
        let is_closed = is_fp || rule.is(Kind::Sp);
        if !is_closed || name.id == 0 {
            return None;
        }
        let cfa = self.state.sp;
        let saved = rule.saved_words();
        let at = cfa.wrapping_sub(saved.wrapping_mul(arch::WORD));
        let needs_fp = saved != 0 && self.is_live();
        if needs_fp && at < frame.state.sp {
            return None;
        }
        let read = [cfa.wrapping_sub(arch::RA_BELOW_CFA as u64), at];
        if !words.note(self.words(), read, [self.state.pc.address(), self.state.fp]) {
            return None;
        }
        let is_live = is_fp || (saved == 0 && self.is_live());
        let words = self.words() as u32 + 1 + needs_fp as u32;
        Some(Self {
            state: frame.state,
            name,
            words_and_live: words << 1 | is_live as u32,
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
        let [pc, sp, fp] = arch::interrupted_at(frame.state.sp)?;
        let State { pc: was, .. } = self.state;
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
    pub(super) state: State,
    pub(super) known: Known,
}
