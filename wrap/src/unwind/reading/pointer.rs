//! What code does with the frame pointer.

use super::way::Reads;
use super::{Behind, Effect, Reader};
use crate::arch;

impl Reader {
    /// Whether code comes from its beginning straight to a place, and has lost its
    /// caller's frame pointer by then without having kept it: it has no caller. So
    /// the ABI has it where a program begins.
    #[inline(never)]
    pub fn drops_callers_fp(&mut self, from: u64, to: u64) -> bool {
        const SOON: usize = 32;
        const FP: u8 = arch::FP as u8;
        let (mut at, mut is_lost) = (from, false);
        for _ in 0..SOON {
            if at == to {
                return is_lost;
            }
            let Some((length, effect)) = self.code.instruction(at) else {
                return false;
            };
            match effect {
                Effect::FpLost => is_lost = true,
                Effect::Push(Some(FP)) | Effect::StoreBySp(FP, _) | Effect::StoreByFp(FP, _) => {
                    return false;
                }
                Effect::Jump(_) | Effect::Branch(_) | Effect::Away(_) => return false,
                Effect::Return | Effect::Dead => return false,
                _ => {}
            }
            at = at.wrapping_add(length as u64);
        }
        false
    }

    /// Whether a function keeps a frame pointer: a way from a pc to its end loads
    /// the caller's from where it leads, above which the return address lies, and
    /// none comes to a return without. `fp`: how far that is above the stack
    /// pointer, which some load it by.
    ///
    /// Behind a call that does not return lies the beginning of a function, which
    /// returns by what that call left, or another's part that is rarely run, which
    /// may jump into its middle and give back what is not this one's: the function
    /// itself then says otherwise, if it returns at all.
    #[inline(never)]
    pub fn keeps_fp(&mut self, pc: u64, fp: Option<i64>) -> bool {
        self.fp = fp;
        self.begin(pc, Reads::Out, Behind::All);
        let mut is_kept = false;
        while self.follow() {
            if self.way.is_fp_given_back(fp) {
                is_kept = true;
            } else if !self.is_case && self.way.returns_by_sp() {
                return false;
            }
        }
        is_kept
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
