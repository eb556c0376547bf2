//! Reallocs under way while a log that grows is looked at.
//!
//! The old block of one may be gone already, and be another stream's: that was written down
//! behind the announcement, and before what became of it. Who is given the address shows that
//! the release happened, and the release comes first.

use crate::cursor::Cursor;
use crate::item::{Item, Kind};
use crate::step::{Gate, Step};

/// A stream, and the step that it has come to.
pub(crate) struct Head<'a> {
    pub(crate) cursor: Cursor<'a>,
    pub(crate) step: Option<Step<'a>>,
}

/// Announced releases that came, by address and stream.
#[derive(Default)]
pub(crate) struct Undecided(Vec<(u64, usize)>);

impl Undecided {
    /// Nearly always there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A head as the last look left it.
    pub(crate) fn resume(&mut self, index: usize, head: &Head) {
        // The announcement itself may wait.
        let is_ahead = head.step.is_some_and(|step| step.kind.is_none());
        if let Some(address) = head.cursor.undecided()
            && !is_ahead
        {
            self.0.push((address, index));
        }
    }

    /// The step of a head is about to pass.
    #[inline]
    pub(crate) fn pass(&mut self, index: usize, head: &Head) {
        let Some(step) = head.step else {
            return;
        };
        if step.kind.is_none() {
            if let Some(address) = head.cursor.undecided() {
                self.0.push((address, index));
            }
        } else if !self.0.is_empty() && is_told(&step).is_some() {
            self.0.retain(|&(_, of)| of != index);
        }
    }

    /// The release that must have come before an allocation at its address.
    #[inline]
    pub(crate) fn overtaken<'a>(
        &mut self,
        item: &Item<'a>,
        heads: &mut [Head<'a>],
    ) -> Option<Item<'a>> {
        if self.0.is_empty() {
            return None;
        }
        let Kind::Alloc(alloc) = &item.kind else {
            return None;
        };
        let known = self.0.iter().position(|(at, _)| *at == alloc.address)?;
        let (address, index) = self.0.swap_remove(known);
        let head = heads.get_mut(index)?;
        let release = match head.step.as_ref().and_then(is_told) {
            // It was told meanwhile, and is the stream's next step.
            Some(release) if release.address == address => {
                if let Some(step) = &mut head.step {
                    step.kind = None;
                }
                Some(release)
            }
            _ if head.cursor.undecided() == Some(address) => head.cursor.take_undecided(),
            // It was revoked.
            _ => None,
        };
        Some(head.cursor.item(item.tick, Kind::Release(release?)))
    }
}

/// The release that a step tells of late: no other has no place to wait at.
fn is_told(step: &Step) -> Option<memlog_format::event::Release> {
    match (step.gate, step.kind) {
        (Gate::Open, Some(Kind::Release(release) | Kind::Unfinished(release))) => Some(release),
        _ => None,
    }
}
