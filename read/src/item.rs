//! What the reader hands out.

use memlog_format::event::{Alloc, Release, Usual};
use memlog_format::ext::{Ledger, Rss};
use memlog_format::failure::Failure;
use memlog_format::limit::Limit;
use memlog_format::passed::Passed;
use memlog_format::switch::Switch;

/// An event with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<'a> {
    /// The stream it was recorded in.
    pub stream: u32,
    /// The thread that the stream belonged to.
    pub tid: u32,
    /// The stream's time, in the log's ticks. It rises within a stream, and
    /// between streams as far as the order on each address lets it.
    pub tick: u64,
    /// What happened.
    pub kind: Kind<'a>,
}

/// Where an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The stream it was recorded in.
    pub stream: u32,
    /// The thread that the stream belonged to.
    pub tid: u32,
    /// The stream's time, as an item has it.
    pub tick: u64,
}

impl Item<'_> {
    /// Where it stands.
    #[inline]
    pub fn place(&self) -> Place {
        Place {
            stream: self.stream,
            tid: self.tid,
            tick: self.tick,
        }
    }
}

/// Who takes in all events of a log. What nearly all are comes by itself: put into an
/// [`Item`] and taken out again it costs as much as all else.
pub trait Taker<'a> {
    /// These are the next of what comes by itself. Who needs memory for each of them can
    /// ask for all of it here, and waits once for all and not for each.
    #[inline]
    fn soon(&mut self, _events: &[(Place, Usual)]) {}
    /// Memory came.
    fn alloc(&mut self, place: Place, alloc: &Alloc);
    /// Memory went.
    fn release(&mut self, place: Place, release: &Release);
    /// Anything happened.
    fn item(&mut self, item: &Item<'a>);
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind<'a> {
    /// Memory came.
    Alloc(Alloc),
    /// Memory went. If it was announced, then it did go: the ALLOC of the same
    /// realloc follows in its stream.
    Release(Release),
    /// Memory came before the live set of a flight recorder: it counts in the
    /// totals, and what the set says of the address is later.
    PriorAlloc(Alloc),
    /// Memory went before that.
    PriorRelease(Release),
    /// A release was announced whose outcome the log does not hold, for the
    /// process ended inside the realloc, or recording went off. The block counts as live, unless its
    /// address is given out again: then it went.
    Unfinished(Release),
    /// Resident memory was read.
    Rss(Rss),
    /// An entry of the second ledger.
    Ledger(Ledger),
    /// From here on the stream belongs to this thread.
    Thread {
        /// The kernel's id.
        tid: u32,
        /// The name at this moment.
        name: &'a [u8],
    },
    /// The process forked.
    Fork {
        /// The child.
        child: u32,
    },
    /// Events are missing here.
    Loss {
        /// How many, at least.
        events: u64,
        /// A counter's number.
        reason: u8,
    },
    /// The program or its user marked this moment.
    Mark(&'a [u8]),
    /// What the stream's thread asks for from here on has this tag, up to the next of
    /// these or its next [`Kind::Thread`]; empty: none.
    Scope(&'a [u8]),
    /// A limit on memory was looked at.
    Limit(Limit<'a>),
    /// A call asked for memory and got none.
    Failed(Failure),
    /// Blocks came and went, one after the other, and nothing more is known of when.
    Passed(Passed),
    /// Recording was switched off or on. When it is on again, what was live before is
    /// not known any more.
    Switch(Switch),
    /// The stream took this global order number.
    Stamp(u64),
}
