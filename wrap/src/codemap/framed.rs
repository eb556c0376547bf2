//! Code that no table describes, in a file that has some for other code: left by
//! its frame pointer where it keeps one. To other code that is a register like any,
//! and leads anywhere, or is null.

use super::{Inside, Place};
use crate::arch::{self, code};
use crate::auxiliary::beginnings;
use crate::recorder::RECORDER;
use crate::unwind::full::Bounds;
use crate::unwind::walk::{Pc, State};

/// Instructions that are read for one frame.
const BUDGET: usize = 30_000;

impl Inside {
    /// A frame of a module. What is said here of a pc holds for all its frames.
    #[inline(never)]
    pub(super) fn untabled(
        &mut self,
        pc: Pc,
        module: u32,
        frame: Option<&(State, Bounds)>,
    ) -> Place {
        if let Some((state, _)) = frame
            && state.fp == 0
            && arch::NULL_FP_ENDS
            && self.is_beginning(pc)
        {
            return Place::Outermost(module);
        }
        if !code::READS_CODE {
            return Place::NoTables(module);
        }
        let reader = &mut self.proven.reader;
        reader.renew(BUDGET);
        let is_known = match frame {
            _ if RECORDER.is_quiet() => false,
            Some((state, _)) => {
                let fp = state.fp.wrapping_sub(state.sp) as i64;
                state.fp >= state.sp && reader.keeps_fp(pc.address(), Some(fp))
            }
            None => reader.keeps_fp(pc.address(), None),
        };
        match is_known {
            true => Place::NoTables(module),
            false => self.bare(pc, module, frame),
        }
    }

    /// Whether it is the code that the kernel or the loader begins with, which has
    /// no caller: by what it does, else by where it lies.
    fn is_beginning(&mut self, pc: Pc) -> bool {
        /// Where it begins no more code than this is its own.
        const BEGINS: u64 = 64;
        let Some(module) = self.modules.find(pc.lookup()) else {
            return false;
        };
        let (low, entry) = (module.low, module.image.entry);
        if !code::READS_CODE {
            let (loader, program) = beginnings();
            let is_begun = loader != 0 && low == loader || entry == arch::strip(program);
            return is_begun && pc.address().wrapping_sub(entry) < BEGINS;
        }
        let reader = &mut self.proven.reader;
        reader.renew(BUDGET);
        !RECORDER.is_quiet() && reader.drops_callers_fp(entry, pc.address())
    }
}
