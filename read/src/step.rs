//! A record at its place in its stream, and what it has to wait for.

use memlog_format::event::Usual;
use memlog_format::order::cell;

use crate::item::Kind;

/// What a step has to wait for. Places are these two, and then the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Nothing.
    Open,
    /// Nothing, but numbered steps of the cell wait for it.
    Unnumbered(u32),
    /// The cell's unnumbered steps and its lower numbers.
    Numbered(u32, u64),
}

impl Gate {
    /// Whether it is of an address that several streams touch.
    #[inline]
    pub(crate) fn is_shared(self) -> bool {
        matches!(self, Self::Numbered(place, _) if place >= CELLS)
    }
}

/// The place before the cells that orders the mmap ledger.
pub(crate) const LEDGER: u32 = 0;
/// The place that orders the stamps.
pub(crate) const STAMPS: u32 = 1;
/// The place of the first cell.
pub(crate) const CELLS: u32 = 2;

/// Number of places where the recorder had so many cells.
pub(crate) fn places(cell_bits: u32) -> usize {
    CELLS as usize + (1 << cell_bits)
}

/// A record at its place in the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub gate: Gate,
    pub tick: u64,
    /// Nothing where only a number is used up.
    pub kind: Option<Kind<'a>>,
}

impl Step<'_> {
    /// Of a usual record.
    pub(crate) fn of(usual: Usual, tick: u64, gate: Gate) -> Self {
        let kind = match usual {
            Usual::Alloc(alloc) => Kind::Alloc(alloc),
            Usual::Release(release) => Kind::Release(release),
        };
        Self {
            gate,
            tick,
            kind: Some(kind),
        }
    }

    /// The same for who keeps it beyond the log's bytes; nothing of what has text of them,
    /// which never waits.
    pub(crate) fn kept(&self) -> Option<Step<'static>> {
        let kind = match self.kind {
            None => None,
            Some(Kind::Alloc(alloc)) => Some(Kind::Alloc(alloc)),
            Some(Kind::Release(release)) => Some(Kind::Release(release)),
            Some(Kind::Unfinished(release)) => Some(Kind::Unfinished(release)),
            Some(Kind::Rss(rss)) => Some(Kind::Rss(rss)),
            Some(Kind::Ledger(entry)) => Some(Kind::Ledger(entry)),
            Some(Kind::Stamp(stamp)) => Some(Kind::Stamp(stamp)),
            Some(Kind::Switch(switch)) => Some(Kind::Switch(switch)),
            Some(_) => return None,
        };
        let Self { gate, tick, .. } = *self;
        Some(Step { gate, tick, kind })
    }

    /// When it is due among the streams.
    #[inline]
    pub(crate) fn turn(&self) -> u64 {
        let is_of_all = matches!(
            self.kind,
            Some(Kind::Rss(_) | Kind::Mark(_) | Kind::Switch(_))
        );
        turn(self.tick).saturating_add(is_of_all.into())
    }

    /// What it is, if that is usual.
    #[inline]
    pub(crate) fn usual(&self) -> Option<Usual> {
        match self.kind? {
            Kind::Alloc(alloc) => Some(Usual::Alloc(alloc)),
            Kind::Release(release) => Some(Usual::Release(release)),
            _ => None,
        }
    }
}

/// When what is no reading and no mark is due among the streams.
#[inline]
pub(crate) fn turn(tick: u64) -> u64 {
    tick.saturating_mul(2)
}

/// What an event on an address has to wait for.
#[inline(always)]
pub(crate) fn gate(address: u64, order: Option<u64>, cell_mask: u32) -> Gate {
    let cell = CELLS + (cell(address) as u32 & cell_mask);
    match order {
        None => Gate::Unnumbered(cell),
        Some(number) => Gate::Numbered(cell, number),
    }
}
