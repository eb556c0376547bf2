//! How code is left that never returns, but jumps on and on: where another
//! function's frame holds it.

use super::way::{Base, Reads};
use super::{Behind, Reader};

/// Instructions that are read, and jumps that must agree, at most.
const INSTRUCTIONS: usize = 400;
const JUMPS: usize = 16;

impl Reader {
    /// How far above the stack pointer at a place it is where the code goes on by a
    /// jump through a register or a word: on all ways the same, and none returns or
    /// loads what calls preserve.
    #[inline(never)]
    pub fn jumps_out(&mut self, pc: u64) -> Option<u64> {
        self.begin(pc, Reads::Out, Behind::Returning);
        self.visited.begin(INSTRUCTIONS);
        let mut height = None;
        for _ in 0..JUMPS {
            if !self.follow() {
                break;
            }
            let Some((Base::Sp, sp @ 0..)) = self.way.sp else {
                return None;
            };
            let is_other = height.is_some_and(|height| height != sp);
            if !self.is_case || is_other || self.way.has_loaded() {
                return None;
            }
            height = Some(sp);
        }
        height.map(|height| height as u64)
    }
}
