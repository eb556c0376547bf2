//! Code that no table describes, in a file that has some for other code: left by
//! its frame pointer where it keeps one. To other code that is a register like any,
//! and leads anywhere, or is null. And code of no file, as compilers make it at run
//! time, which walk their own stacks by it mostly.

use super::bytes::{code_at, follows_call, trampoline_of};
use super::proven::{BLOCKS, WORDS, aligned};
use super::switched::is_routines_end;
use super::{Inside, RuleSource};
use crate::platform::arch::{self, code};
use crate::platform::bounds::Bounds;
use crate::platform::elf::auxiliary::beginnings;
use crate::unwind::Process;
use crate::unwind::reading::{Candidate, Keeps, Leads};
use crate::unwind::walk::{Pc, WalkState};

/// Instructions that are read for one frame.
const BUDGET: usize = 30_000;

impl<H: Process> Inside<H> {
    /// A frame of a module. What is said here of a pc holds for all its frames.
    #[inline(never)]
    pub(super) fn untabled(
        &mut self,
        pc: Pc,
        module: u32,
        frame: Option<&(WalkState, Bounds)>,
    ) -> RuleSource {
        if let Some((state, _)) = frame
            && state.fp == 0
            && arch::NULL_FP_ENDS
            && self.is_beginning(pc)
        {
            return RuleSource::Outermost(module);
        }
        if !code::READS_CODE {
            return RuleSource::Bare(module, true);
        }
        if let Some(source) = self.switched(pc, module, frame) {
            return source;
        }
        match frame {
            Some(frame) if self.is_framed(pc, frame) => RuleSource::NoTables(module),
            _ => self.bare(pc, module, frame),
        }
    }

    /// A frame of code of no file. Nothing of it is kept, for other code may lie
    /// there soon, but that it was tried in vain a few times.
    #[inline(never)]
    pub(super) fn unfiled(&mut self, pc: Pc, frame: Option<&(WalkState, Bounds)>) -> RuleSource {
        if !code::READS_CODE {
            return RuleSource::NoTables(0);
        }
        match frame {
            Some(frame) if self.may_be_framed(pc, frame) => RuleSource::NoTables(0),
            _ => RuleSource::Bare(0, self.was_tried(pc)),
        }
    }

    /// Whether a function is seen to keep a frame pointer: by its way out, or in,
    /// or by both as far as they can be told, where nothing on the stack says that
    /// it was called by somebody else.
    #[inline(never)]
    fn is_framed(&mut self, pc: Pc, frame @ (state, _): &(WalkState, Bounds)) -> bool {
        let Some((address, candidate)) = self.candidate_by_fp(pc, frame) else {
            return false;
        };
        if is_routines_end(H::ground(), address) && self.begins_routine(&candidate, state) {
            return true;
        }
        let keeps = self.proven.reader.keeps_fp(candidate.pc, height(state));
        if matches!(keeps, Keeps::Never | Keeps::Not) {
            return false;
        }
        if keeps == Keeps::Surely {
            let called = match pc.is_exact() {
                true => None,
                false => self.called_before(pc.address()),
            };
            if self.proven.reader.is_its_own(called) {
                return true;
            }
        }
        match self.leads_from(address, &candidate) {
            Some(Leads::Surely) => true,
            Some(Leads::Nowhere | Leads::Otherwise) => false,
            Some(Leads::Perhaps | Leads::Unread) | None => {
                keeps != Keeps::Unread && !self.has_rival(&candidate, state, keeps == Keeps::Surely)
            }
        }
    }

    /// Whether code of no file may be left by its frame pointer. Less is seen there:
    /// an interpreter goes from one instruction to the next by a table, puts the
    /// return addresses where it likes, and its calls leave sp where they like. So
    /// this asks whether the code says otherwise.
    #[inline(never)]
    fn may_be_framed(&mut self, pc: Pc, frame @ (state, _): &(WalkState, Bounds)) -> bool {
        let Some((address, candidate)) = self.candidate_by_fp(pc, frame) else {
            return false;
        };
        match self.proven.reader.keeps_fp(candidate.pc, height(state)) {
            Keeps::Never => false,
            Keeps::Surely => true,
            _ => self.modules.find(address).is_none() || !self.has_return_below(state),
        }
    }

    /// Whether a word below the frame pointer is what a call of a file's code returns
    /// to.
    fn has_return_below(&mut self, state: &WalkState) -> bool {
        self.proven.read(state.sp, state.fp);
        (0..WORDS).any(|word| {
            let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
            self.modules.find(address).is_some() && follows_call(H::ground(), address)
        })
    }

    /// What the frame pointer candidates: where the frame would return to, and how it
    /// would lie; none where that is no return address.
    fn candidate_by_fp(
        &mut self,
        pc: Pc,
        (state, bounds): &(WalkState, Bounds),
    ) -> Option<(u64, Candidate)> {
        if H::ground().is_quiet() || state.fp < state.sp {
            return None;
        }
        let above = state.fp.wrapping_add(arch::WORD);
        let address = bounds.read(above)?;
        // Calls by hand are of code of no file.
        let is_filed = self.modules.find(address).is_some();
        // A handler was called by nobody.
        let is_returned_to = || {
            follows_call(H::ground(), address)
                || is_routines_end(H::ground(), address)
                || trampoline_of(&code_at(H::ground(), address)).is_some()
        };
        if !self.is_code(address) || is_filed && !is_returned_to() {
            return None;
        }
        self.proven.reader.renew(BUDGET);
        let candidate = Candidate {
            pc: pc.address(),
            start: 0,
            sp: state.sp.wrapping_sub(above) as i64,
            fp: -(arch::WORD as i64),
            returns: true,
            is_left: !pc.is_exact(),
        };
        Some((address, candidate))
    }

    /// Where the call before an address leads; none if it does not say.
    fn leads_from(&mut self, address: u64, candidate: &Candidate) -> Option<Leads> {
        let start = self.called_before(address)?;
        let candidate = Candidate {
            start,
            ..*candidate
        };
        Some(self.proven.reader.leads(&candidate))
    }

    /// Whether some word below the frame pointer may be the return address as well:
    /// that of a function that keeps none, and was called by one that does. Against
    /// what seems sure only those count that lead here.
    fn has_rival(&mut self, candidate: &Candidate, state: &WalkState, is_sure: bool) -> bool {
        const BYTES: u64 = WORDS as u64 * arch::WORD;
        let low = aligned(state.sp);
        if !is_sure && state.fp.saturating_sub(low) > BLOCKS as u64 * BYTES {
            return true;
        }
        for from in (low..state.fp).step_by(BYTES as usize).take(BLOCKS) {
            self.proven.read(from, state.fp);
            for word in (0..WORDS).step_by(2) {
                let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
                if !self.is_known_code(address) || !follows_call(H::ground(), address) {
                    continue;
                }
                match self.leads_from(address, candidate) {
                    Some(Leads::Nowhere | Leads::Perhaps | Leads::Surely) => {}
                    Some(Leads::Unread) | None if is_sure => {}
                    Some(Leads::Unread | Leads::Otherwise) | None => return true,
                }
            }
        }
        false
    }

    /// Whether an address lies in a module, or in other code that was met before.
    fn is_known_code(&self, address: u64) -> bool {
        self.modules.find(address).is_some() || self.executable.contain(address)
    }

    /// Whether it is the code that the kernel or the loader begins with, which has
    /// no caller: by what it does, else by where it lies.
    fn is_beginning(&mut self, pc: Pc) -> bool {
        /// Where it begins no more code than this is its own.
        const BEGINS: u64 = 96;
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
        !H::ground().is_quiet() && reader.drops_callers_fp(entry, pc.address())
    }
}

/// How far the frame pointer is above the stack pointer.
fn height(state: &WalkState) -> i64 {
    state.fp.wrapping_sub(state.sp) as i64
}
