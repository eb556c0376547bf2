//! The walk with all registers: for what no packed rule can step from, and to
//! judge the walks that are cleverer.

use super::bytes::is_returned_to;
use super::{Inside, RuleSource, code_id, is_unsettled};
use crate::platform::arch::{self, DoorFrame};
use crate::platform::bounds::Bounds;
use crate::platform::rules::Back;
use crate::unwind::Process;
use crate::unwind::exidx;
use crate::unwind::full::{self, Step};
use crate::unwind::rule::Rule;
use crate::unwind::signal;
use crate::unwind::walk::{self, Pc, Stop, WalkState};
use memlog_format::counter::Counter;
use memlog_format::table::StackId;

impl<H: Process> Inside<H> {
    pub(super) fn walk_fully(
        &mut self,
        frame: &DoorFrame,
        mut bounds: Bounds,
        codes: &mut [u32],
    ) -> (usize, StackId) {
        H::ground().counters.add(Counter::FullUnwinds, 1);
        self.registers = frame.registers();
        let mut pc = Pc::returned(frame.pc());
        for (count, place) in codes.iter_mut().enumerate() {
            let (code, end) = self.full_step(&mut pc, &mut bounds);
            *place = code;
            match end {
                Some(StackId::CUT_FULL) => return (count, StackId::CUT_FULL),
                Some(root) => return (count + 1, root),
                None => {}
            }
        }
        (codes.len(), StackId::CUT_TOO_DEEP)
    }

    /// One step with all registers; the code noted, and whether to go on.
    #[inline(never)]
    fn full_step(&mut self, pc: &mut Pc, bounds: &mut Bounds) -> (u32, Option<StackId>) {
        self.look_for_module(pc.lookup());
        let [sp, fp] = [arch::SP, arch::FP]
            .map(|register| full::value_of(&self.registers, register).unwrap_or(0));
        let state = WalkState { pc: *pc, sp, fp };
        let source = self.rule_source(*pc, Some(&(state, *bounds)));
        let (RuleSource::Described(module)
        | RuleSource::SignalReturn(module, _)
        | RuleSource::Outermost(module)
        | RuleSource::Chained(module)
        | RuleSource::NoTables(module)
        | RuleSource::Bare(module, _)
        | RuleSource::Switched(module, _)
        | RuleSource::Proven(module)) = source;
        let code = code_id::<H>(*pc, module);
        if code == 0 {
            return (code, Some(StackId::CUT_FULL));
        }
        let signal = match &source {
            RuleSource::SignalReturn(_, rule) => Some(*rule),
            RuleSource::Described(_) if self.found.common.is_signal => Some(Rule::signal(0)),
            RuleSource::Described(_) | RuleSource::Proven(_) => None,
            RuleSource::Chained(_) => return (code, self.chained_step(sp, pc, bounds)),
            RuleSource::Outermost(_) => return (code, Some(StackId::COMPLETE)),
            RuleSource::Bare(..) => return (code, Some(StackId::CUT_NO_TABLES)),
            RuleSource::NoTables(_) => return (code, self.full_step_across(sp, pc, bounds)),
            RuleSource::Switched(_, back) => {
                return (code, self.full_step_back(*back, state, pc, bounds));
            }
        };
        if let Some(rule) = signal {
            let Some(interrupted) = signal::registers(sp, rule, bounds) else {
                return (code, Some(StackId::CUT_BAD_FRAME));
            };
            self.registers = interrupted;
            let sp = full::value_of(&self.registers, arch::SP).unwrap_or(0);
            if !(bounds.low..bounds.high).contains(&sp) {
                *bounds = self.bounds_around(sp);
            }
        } else {
            let row = match source {
                RuleSource::Proven(_) => Some(&self.proven.reader.row),
                _ if is_unsettled(*pc) && pc.address() == self.found.start => Some(&exidx::LEAF),
                _ => self.machine.run(&self.found, pc.lookup()),
            };
            match full::step(row, &mut self.registers, bounds) {
                Step::Caller => {}
                Step::Outermost => return (code, Some(StackId::COMPLETE)),
                Step::Failed => return (code, Some(StackId::CUT_UNSUPPORTED)),
            }
            let returns_to = full::value_of(&self.registers, arch::RA).unwrap_or(0);
            if is_unsettled(*pc) && !is_returned_to(H::ground(), arch::strip(returns_to)) {
                return (code, Some(StackId::CUT_NO_TABLES));
            }
            // A leaf that was interrupted may have no frame of its own yet; nor
            // has what a hand-made stack ends in, by a null return address.
            let value = |register| full::value_of(&self.registers, register).unwrap_or(0);
            let (rises, is_last) = (value(arch::SP).checked_sub(sp), value(arch::RA) == 0);
            if !is_last && (rises.is_none() || (rises == Some(0) && !pc.is_exact())) {
                return (code, Some(StackId::CUT_BAD_FRAME));
            }
        }
        let column = match signal {
            Some(_) => arch::PC,
            None => arch::RA,
        };
        let address = full::value_of(&self.registers, column).unwrap_or(0);
        let address = arch::strip(address);
        *pc = match signal {
            Some(_) => Pc::interrupted(address),
            None => Pc::returned(address),
        };
        (code, (pc.address() == 0).then_some(StackId::COMPLETE))
    }

    /// The same where the ABI chains the frames; no register but sp is followed.
    fn chained_step(&mut self, sp: u64, pc: &mut Pc, bounds: &mut Bounds) -> Option<StackId> {
        let mut state = WalkState { pc: *pc, sp, fp: 0 };
        let end = walk::along_chain(&mut state, bounds).err();
        *pc = state.pc;
        if let Some(place) = self.registers.get_mut(arch::SP) {
            *place = state.sp;
        }
        end.map(root_of)
    }

    /// The same out of code that no table describes, by its frame pointer. What
    /// it did with the other registers nobody knows: from a null no step leads
    /// anywhere.
    fn full_step_across(&mut self, sp: u64, pc: &mut Pc, bounds: &Bounds) -> Option<StackId> {
        let fp = full::value_of(&self.registers, arch::FP).unwrap_or(0);
        let mut state = WalkState { pc: *pc, sp, fp };
        if let Err(stop) = walk::across(&mut state, bounds, |at| Some(self.is_code(at))) {
            return Some(root_of(stop));
        }
        self.crossed = true;
        self.go_on_from(state, pc);
        None
    }

    /// The same to another stack.
    fn full_step_back(
        &mut self,
        back: Back,
        mut state: WalkState,
        pc: &mut Pc,
        bounds: &mut Bounds,
    ) -> Option<StackId> {
        let region = |at| Some(self.bounds_around(at));
        if let Err(stop) = back.step(&mut state, bounds, region) {
            return Some(root_of(stop));
        }
        self.go_on_from(state, pc);
        None
    }

    /// No register but sp and fp is known any more.
    fn go_on_from(&mut self, state: WalkState, pc: &mut Pc) {
        *pc = state.pc;
        self.registers = [0; arch::REGISTERS];
        for (number, value) in [(arch::SP, state.sp), (arch::FP, state.fp)] {
            if let Some(place) = self.registers.get_mut(number) {
                *place = value;
            }
        }
    }
}

fn root_of(stop: Stop) -> StackId {
    match stop {
        Stop::Root(root) => root,
        Stop::Complex => StackId::CUT_UNSUPPORTED,
    }
}
