//! Go's assembly between its routines and C: functions without tables that go on
//! on another stack than they were called on, and where routines end.
//!
//! Nothing is known by a name or a version, all by instructions: see
//! `arch::routines` for those that change the stack, and [`framed_elsewhere`] for
//! those that keep their frame pointer meanwhile.
//!
//! [`framed_elsewhere`]: Inside::framed_elsewhere

use super::bytes::follows_call;
use super::proven::WORDS;
use super::{Inside, RuleSource};
use crate::platform::arch::{self, routines};
use crate::platform::bounds::Bounds;
use crate::platform::ground::Ground;
use crate::platform::rules::Back;
use crate::platform::rules::Saved;
use crate::platform::sys::{Os, Sys};
use crate::unwind::Process;
use crate::unwind::reading::{Candidate, Leads, word_at};
use crate::unwind::row::{Cfa, Row};
use crate::unwind::walk::{Pc, WalkState};

/// How far from where a routine's first function begins its code is looked for.
const FARTHEST: u64 = 4096;
/// Instructions that are read for one frame.
const BUDGET: usize = 30_000;

impl<H: Process> Inside<H> {
    /// A frame of a function that goes back to another stack, or that a routine
    /// ends in.
    #[inline(never)]
    pub(super) fn switched(
        &mut self,
        pc: Pc,
        module: u32,
        frame: Option<&(WalkState, Bounds)>,
    ) -> Option<RuleSource> {
        if pc.is_exact() || H::ground().is_quiet() {
            return None;
        }
        if is_routines_end(H::ground(), pc.address()) {
            return Some(RuleSource::Outermost(module));
        }
        if let Some(back) = back_of(pc.address()) {
            self.proven.switched_at = pc.address();
            return Some(RuleSource::Switched(module, back));
        }
        if self.has_called_switch(pc)
            && let Some(frame) = frame
            && self.is_caller_of_switch(pc, frame)
        {
            return Some(RuleSource::Proven(module));
        }
        let is_framed = frame.is_some_and(|frame| self.framed_elsewhere(pc, frame));
        is_framed.then_some(RuleSource::Switched(module, Back::Framed))
    }

    /// Whether a function that goes on on another stack was called from here. Its
    /// caller's frame pointer may be an old one: Go moves a routine's stack while C
    /// calls Go again, and what C keeps then leads to where that stack was.
    fn has_called_switch(&mut self, pc: Pc) -> bool {
        const LONGEST: u64 = 512;
        let at = self.proven.switched_at;
        at != 0
            && self
                .called_before(pc.address())
                .is_some_and(|start| at.wrapping_sub(start) < LONGEST)
    }

    /// Whether a word of the stack can be shown to be the return address of such a
    /// caller, whose row is in place then: the function that it was called by leads
    /// to here, with just this depth and the frame pointer kept right below. Go aligns
    /// no stack.
    fn is_caller_of_switch(&mut self, pc: Pc, (state, bounds): &(WalkState, Bounds)) -> bool {
        self.proven.read(state.sp, bounds.high);
        self.proven.reader.renew(BUDGET);
        for word in 0..WORDS {
            let address = self.proven.words.get(word).copied().unwrap_or(0) as u64;
            let Some(start) = self.called_before(address) else {
                continue;
            };
            let distance = word as i64 * arch::WORD as i64;
            let candidate = Candidate {
                pc: pc.address(),
                start,
                sp: -distance,
                fp: i64::MAX,
                returns: true,
                is_left: true,
            };
            let leads = self.proven.reader.leads(&candidate);
            if matches!(leads, Leads::Surely | Leads::Perhaps) {
                let row = &mut self.proven.reader.row;
                *row = Row::EMPTY;
                let cfa = distance + arch::WORD as i64;
                row.cfa = Cfa::Register(arch::SP as u64, cfa);
                for (register, below) in [(arch::RA, 1), (arch::FP, 2)] {
                    if let Some(saved) = row.saved.get_mut(register) {
                        *saved = Saved::At(-below * arch::WORD as i64);
                    }
                }
                return true;
            }
        }
        false
    }

    /// Whether the frame pointer leads to the frame on another stack, where this
    /// function was called: what called it says where it begins, its way from there
    /// makes the frame, loses the stack pointer and comes to here with the same
    /// frame pointer.
    fn framed_elsewhere(&mut self, pc: Pc, (state, bounds): &(WalkState, Bounds)) -> bool {
        const NOWHERE: i64 = i64::MAX;
        let is_here = (bounds.low..bounds.high).contains(&state.fp);
        if is_here || state.fp == 0 || !state.fp.is_multiple_of(arch::WORD) {
            return false;
        }
        let above = state.fp.wrapping_add(arch::WORD);
        let Some(address) = word_at(above) else {
            return false;
        };
        if self.modules.find(address).is_none() || !follows_call(H::ground(), address) {
            return false;
        }
        self.proven.reader.renew(BUDGET);
        let Some(start) = self.called_before(address) else {
            return false;
        };
        let candidate = Candidate {
            pc: pc.address(),
            start,
            sp: NOWHERE,
            fp: -(arch::WORD as i64),
            returns: true,
            is_left: true,
        };
        self.proven.reader.leads(&candidate) == Leads::Surely
    }
}

impl<H: Process> Inside<H> {
    /// Whether a frame that returns to a routine's end is that of its first function,
    /// which need not be one that ever returns: the function begins behind the
    /// filling before this code, and leads to here with just this frame.
    pub(super) fn begins_routine(&mut self, candidate: &Candidate, state: &WalkState) -> bool {
        if word_at(state.fp) != Some(0) {
            return false;
        }
        let mut at = candidate.pc / routines::ALIGNED * routines::ALIGNED;
        for _ in 0..FARTHEST / routines::ALIGNED {
            if routines::is_filling(&before(at)) {
                let candidate = Candidate {
                    start: at,
                    ..*candidate
                };
                self.proven.reader.renew(BUDGET);
                let leads = self.proven.reader.leads(&candidate);
                return matches!(leads, Leads::Surely | Leads::Perhaps);
            }
            at = at.wrapping_sub(routines::ALIGNED);
        }
        false
    }
}

/// The bytes before an address.
fn before(at: u64) -> [u8; routines::FILLING_BYTES] {
    let mut bytes = [0; routines::FILLING_BYTES];
    let from = at.wrapping_sub(bytes.len() as u64);
    if !Os::read_memory(from, &mut bytes) {
        bytes.fill(0);
    }
    bytes
}

/// How the function goes back that is returned to here.
#[inline(never)]
fn back_of(address: u64) -> Option<Back> {
    let mut code = [0; routines::BACK_BYTES];
    // Behind it there may be no memory.
    let is_read = Os::read_memory(address, &mut code);
    is_read.then(|| routines::back(&code)).flatten()
}

/// Whether it is where Go lets a routine's first function return to.
#[inline(never)]
pub(super) fn is_routines_end(ground: &Ground, address: u64) -> bool {
    let mut code = [0; routines::END_BYTES];
    let from = address.wrapping_sub(routines::END_BEFORE as u64);
    let is_read = !ground.is_quiet() && Os::read_memory(from, &mut code);
    is_read && routines::is_routines_end(address, &code) && !follows_call(ground, address)
}
