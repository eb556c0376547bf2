//! Questions to the map: what a walk does not find in its thread's caches.

use super::{Inside, code_id, is_unsettled};
use crate::platform::arch::{self, DoorFrame};
use crate::platform::bounds::Bounds;
use crate::platform::lock::Patience;
use crate::unwind::Process;
use crate::unwind::cfi;
use crate::unwind::kept::Far;
use crate::unwind::row::Machine;
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::walk::{Known, Pc, Resolver, WalkState};
use core::marker::PhantomData;
use memlog_format::counter::Counter;
use memlog_format::table::StackId;

/// Asks the map on behalf of one walk.
pub struct Asking<H> {
    host: PhantomData<H>,
    /// Whether the asker may wait.
    pub patience: Patience,
    /// Whether the walk crossed code without tables by its frame pointers.
    pub crossed: bool,
    /// The thread's own stack, which a signal on another has interrupted as a
    /// rule.
    pub own: Bounds,
}

impl<H: Process> Asking<H> {
    /// On behalf of a walk of a thread with this stack.
    pub fn new(patience: Patience, own: Bounds) -> Self {
        Self {
            host: PhantomData,
            patience,
            crossed: false,
            own,
        }
    }

    fn ask<T>(&self, question: impl FnOnce(&mut Inside<H>) -> T) -> Option<T> {
        let answer = H::code_map().with(self.patience, |map| map.inside().map(question));
        answer.flatten()
    }
}

/// What a thread finds out without the map: the rule of an address that the tables of
/// a known module describe. That is nearly every address. Tables are read where they
/// lie: a module that calls lead back to stays mapped, and who unmaps one by hand
/// has said so before (`lose_range`).
#[inline(never)]
fn found_alone<H: Process>(pc: Pc, machine: &mut Machine) -> Option<Known> {
    if arch::CODE_FIRST || is_unsettled(pc) {
        return None;
    }
    let address = pc.lookup();
    let module = H::published().module(H::ground(), address)?;
    let found = cfi::describe_by_table(module, address)?;
    // There a return trampoline may be, which is asked for by its code.
    if found.common.is_signal || pc.address() == found.end {
        return None;
    }
    H::ground().note_own(machine.take() as u64);
    H::ground().counters.add(Counter::RulesCompiled, 1);
    let rule = match machine.run(&found, address) {
        Some(row) => row.pack(),
        None => Rule::plain(Kind::Complex),
    };
    let code = code_id::<H>(pc, module.id);
    (code != 0).then_some(Known { rule, code })
}

impl<H: Process> Resolver for Asking<H> {
    #[cold]
    fn took(&self, bytes: usize) {
        H::ground().note_own(bytes as u64);
    }

    #[cold]
    fn resolve(
        &mut self,
        frame: (WalkState, Bounds),
        machine: &mut Machine,
    ) -> Result<Known, StackId> {
        let (pc, generation) = (frame.0.pc, H::generation());
        if let Some(known) = H::published().get(pc, generation) {
            return Ok(known);
        }
        if let Some(known) = found_alone::<H>(pc, machine) {
            if H::published().put(pc, known, generation) {
                self.ask(|_| H::published().grow(H::ground(), generation));
            }
            return Ok(known);
        }
        self.ask(|inside| inside.resolve(&frame))
            .unwrap_or(Err(StackId::CUT_BUSY))
    }

    #[cold]
    fn walk_fully(
        &mut self,
        frame: &DoorFrame,
        bounds: Bounds,
        codes: &mut [u32],
    ) -> (usize, StackId) {
        let walked = self.ask(|inside| {
            let walked = inside.walk_fully(frame, bounds, codes);
            (walked, core::mem::take(&mut inside.crossed))
        });
        let (walked, crossed) = walked.unwrap_or(((0, StackId::CUT_BUSY), false));
        self.crossed |= crossed;
        walked
    }

    #[cold]
    fn far(&mut self, pc: Pc) -> Option<Far> {
        self.ask(|inside| inside.far(pc))
    }

    #[cold]
    fn is_code(&mut self, address: u64, is_known: bool) -> Option<bool> {
        self.crossed = true;
        match is_known {
            true => Some(true),
            false => self.ask(|inside| inside.is_code(address)),
        }
    }

    #[cold]
    fn bounds_of(&mut self, sp: u64) -> Option<Bounds> {
        if (self.own.low..self.own.high).contains(&sp) {
            return Some(self.own);
        }
        self.ask(|inside| inside.bounds_around(sp))
    }
}
