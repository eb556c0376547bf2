//! What is kept of a frame: its state, its name, and the words of the stack that
//! it was stepped by.

use super::tag_of;
use super::words::Words;
use crate::arch;
use crate::table::Tag;
use crate::unwind::rule::Kind;
use crate::unwind::walk::{Known, State};
use memlog_format::table::StackId;

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

/// The frame kept last, whose callee is the next.
pub(super) struct Outer {
    pub(super) state: State,
    pub(super) name: Name,
    words: usize,
    is_live: bool,
    /// Not at a barrier, nor inside one.
    is_open: bool,
}

impl Outer {
    /// Outside the outermost frame.
    #[inline]
    pub(super) fn root(root: StackId) -> Self {
        Self {
            state: State::default(),
            name: Name {
                id: root.0,
                tag: tag_of(root),
            },
            words: 0,
            is_live: false,
            is_open: true,
        }
    }

    #[inline]
    pub(super) fn kept(frame: &KeptFrame) -> Self {
        Self {
            state: frame.state,
            name: frame.name,
            words: frame.words(),
            is_live: frame.is_live(),
            is_open: true,
        }
    }

    #[inline]
    pub(super) fn frame(&self) -> KeptFrame {
        KeptFrame {
            state: self.state,
            name: self.name,
            words_and_live: (self.words as u32) << 1 | self.is_live as u32,
        }
    }

    /// Whether it and all outside it are kept.
    #[inline]
    pub(super) fn is_kept(&self) -> bool {
        self.is_open
    }

    /// Goes on to the callee, noting the words of its step; false if that is
    /// no step of the closed set, or lies inside one that was not.
    #[inline(always)]
    pub(super) fn extend(&mut self, frame: &FreshFrame, words: &mut Words) -> bool {
        let rule = frame.known.rule;
        let is_outermost = self.state.sp == 0;
        let is_fp = rule.is(Kind::Fp);
        self.is_open &= match is_outermost {
            true => rule.is(Kind::End),
            false => (is_fp || rule.is(Kind::Sp)) && self.note(frame, words),
        };
        self.is_live = is_fp || (rule.saved_words() == 0 && self.is_live);
        self.state = frame.state;
        self.is_open
    }

    /// The words of a step: the return address, and the frame pointer where it
    /// matters further out. False if they cannot be kept.
    #[inline(always)]
    fn note(&mut self, frame: &FreshFrame, words: &mut Words) -> bool {
        let cfa = self.state.sp;
        let saved = frame.known.rule.saved_words();
        let at = cfa.wrapping_sub(saved.wrapping_mul(arch::WORD));
        let needs_fp = saved != 0 && self.is_live;
        let read = [cfa.wrapping_sub(arch::RA_BELOW_CFA as u64), at];
        if !words.note(self.words, read, [self.state.pc.address(), self.state.fp]) {
            return false;
        }
        self.words += 1 + needs_fp as usize;
        !needs_fp || at >= frame.state.sp
    }
}
