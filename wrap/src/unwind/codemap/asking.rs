//! Questions to the map: what a walk does not find in its thread's caches.

use super::Inside;
use crate::platform::arch::DoorFrame;
use crate::platform::bounds::Bounds;
use crate::platform::lock::Patience;
use crate::unwind::Process;
use crate::unwind::kept::Far;
use crate::unwind::walk::{Known, Pc, Resolver, WalkState};
use core::marker::PhantomData;
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

impl<H: Process> Resolver for Asking<H> {
    #[cold]
    fn took(&self, bytes: usize) {
        H::ground().note_own(bytes as u64);
    }

    #[cold]
    fn resolve(&mut self, frame: (WalkState, Bounds)) -> Result<Known, StackId> {
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
