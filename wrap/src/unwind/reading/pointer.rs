//! What code does with the frame pointer.

use super::way::Reads;
use super::{Behind, Candidate, Reader};
use crate::platform::arch;
use crate::platform::rules::Effect;

/// Whether a function keeps a frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// It returns without having used it.
    Never,
    /// Not as far as is seen.
    Not,
    /// It may, and part of its code was not read.
    Unread,
    /// If all that it calls returns.
    Perhaps,
    /// It does.
    Surely,
}

/// Whether a function leads to a frame that is left by its frame pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leads {
    /// Not to the code.
    Nowhere,
    /// Not as far as it was read.
    Unread,
    /// To the code, without such a frame.
    Otherwise,
    /// If all that it calls returns.
    Perhaps,
    /// It does.
    Surely,
}

impl Reader {
    /// Whether code comes from its beginning straight to a place, over some of it at
    /// most, and has lost its caller's frame pointer by then without having kept it:
    /// it has no caller. So the ABI has it where a program begins.
    #[inline(never)]
    pub fn drops_callers_fp(&mut self, from: u64, to: u64) -> bool {
        const SOON: usize = 32;
        const FP: u8 = arch::FP as u8;
        let (mut at, mut is_lost) = (from, false);
        // Up to here there is a way around.
        let mut around = from;
        for _ in 0..SOON {
            if at == to {
                return is_lost;
            }
            let Some((length, effect)) = self.code.instruction(at) else {
                return false;
            };
            let next = at.wrapping_add(length as u64);
            match effect {
                Effect::FpLost => is_lost |= at >= around,
                Effect::Push(Some(FP)) | Effect::StoreBySp(FP, _) | Effect::StoreByFp(FP, _) => {
                    return false;
                }
                Effect::Branch(distance) => {
                    let target = next.wrapping_add_signed(distance);
                    if !(next..=to).contains(&target) {
                        return false;
                    }
                    around = around.max(target);
                }
                Effect::Jump(_) | Effect::Away(_) | Effect::Return | Effect::Dead => return false,
                _ => {}
            }
            at = next;
        }
        false
    }

    /// Whether a function keeps a frame pointer: a way from a pc to its end loads
    /// the caller's from where it leads, above which the return address lies, and
    /// none comes to a return without. `fp`: how far that is above the stack
    /// pointer, which some load it by.
    ///
    /// Past calls of functions that are seen to return alone it is the function's
    /// own way, and it does keep one. Behind other calls may lie the beginning of a
    /// function, which returns by what that call left, or another's part that is
    /// rarely run, which jumps into its middle and gives back what is not this
    /// one's: so it may keep one, if the function itself does not say otherwise.
    #[inline(never)]
    pub fn keeps_fp(&mut self, pc: u64, fp: i64) -> Keeps {
        for behind in [Behind::Sure, Behind::Named] {
            match self.gives_fp_back(pc, fp, behind) {
                Some(true) => return Keeps::Surely,
                Some(false) if !self.way.is_fp_used() => return Keeps::Never,
                Some(false) => return Keeps::Not,
                None => {}
            }
        }
        match self.gives_fp_back(pc, fp, Behind::All) {
            Some(true) if self.was_torn() => Keeps::Unread,
            Some(true) => Keeps::Perhaps,
            Some(false) | None => Keeps::Not,
        }
    }

    /// Whether what was just said to keep a frame pointer does it for sure: its way
    /// passes no call of a function that has a name, the one at hand included,
    /// which begins where `called` says. Any other might have been said not to
    /// return here, and would seem to.
    pub fn is_its_own(&mut self, called: Option<u64>) -> bool {
        let Self { code, returns, .. } = self;
        self.is_straight && called.is_none_or(|start| returns.is_seen(start, true, code))
    }

    /// Whether the way has given the caller's frame pointer back and goes on to what
    /// lies right above it: returns there, takes it, or leaves that to another. One
    /// that goes elsewhere with its stack pointer has another caller.
    pub(super) fn leaves_by_fp(&mut self, effect: Effect) -> bool {
        let is_asked = self.is_by_fp && self.reads == Reads::Out;
        let leaves = match effect {
            Effect::Pop(_) | Effect::Jump(_) => is_asked && self.way.is_left_by_fp(self.fp),
            Effect::Return | Effect::Away(_) => is_asked && self.way.ends_by_fp(self.fp),
            _ => false,
        };
        self.is_case &= !leaves;
        leaves
    }

    /// What ways from a pc say, if they say anything.
    fn gives_fp_back(&mut self, pc: u64, fp: i64, behind: Behind) -> Option<bool> {
        self.fp = Some(fp);
        self.begin(pc, Reads::Out, behind);
        self.is_by_fp = true;
        self.is_straight = false;
        let mut is_kept = None;
        while self.follow() {
            if self.way.ends_by_fp(self.fp) {
                is_kept = Some(true);
                self.is_straight |= !self.way.has_passed;
            } else if !self.is_case && self.way.returns_by_sp() {
                return Some(false);
            }
        }
        is_kept
    }

    /// Whether a function that a call names leads to the frame at hand, which is
    /// claimed to have its return address there, and has made it by then.
    #[inline(never)]
    pub fn leads(&mut self, candidate: &Candidate) -> Leads {
        self.candidate = *candidate;
        self.leads_there = false;
        for (behind, told) in [
            (Behind::Named, Leads::Surely),
            (Behind::All, Leads::Perhaps),
        ] {
            self.begin(candidate.start, Reads::In, behind);
            self.is_by_fp = behind == Behind::All;
            while self.follow() {
                if self.way.has_frame() {
                    return told;
                }
            }
        }
        match self.leads_there {
            true => Leads::Otherwise,
            false if self.was_torn() => Leads::Unread,
            false => Leads::Nowhere,
        }
    }

    /// Whether what was not read may say otherwise.
    fn was_torn(&self) -> bool {
        self.is_torn || self.visited.left == 0 || self.code.left == 0
    }

    /// Puts the way last that is nearest to where the reading began: others may
    /// lead through all the code there is.
    pub(super) fn take_nearest(&mut self) {
        let from = self.from;
        if let Some(ways) = self.ways.get_mut(..self.waiting)
            && let Some((last, others)) = ways.split_last_mut()
            && let Some(nearest) = others.iter_mut().min_by_key(|way| way.at.abs_diff(from))
            && nearest.at.abs_diff(from) < last.at.abs_diff(from)
        {
            core::mem::swap(nearest, last);
        }
    }
}
