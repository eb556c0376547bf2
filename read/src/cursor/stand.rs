//! Where a cursor stands between two looks at a log that grows.

use memlog_format::event::{Deltas, Release};

use super::Cursor;
use crate::grid::Span;

/// Where a cursor stands between two looks at a log that grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    tid: u32,
    deltas: Deltas,
    announced: bool,
    undecided: Option<Release>,
    is_in_scope: bool,
    /// The offset in the file of what is to be read next; 0 before the first chunk.
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    /// Goes on where it stood; the first of the spans may be the rest of a chunk.
    pub(crate) fn resume(
        bytes: &'a [u8],
        stream: u32,
        spans: &[Span],
        (stand, grows): (&Stand, bool),
    ) -> Self {
        Self {
            tid: stand.tid,
            body_at: stand.at,
            deltas: stand.deltas,
            announced: stand.announced,
            undecided: stand.undecided,
            is_in_scope: stand.is_in_scope,
            grows,
            ..Self::new(bytes, stream, spans, None)
        }
    }

    /// Where it stands.
    pub(crate) fn stand(&self) -> Stand {
        Stand {
            tid: self.tid,
            deltas: self.deltas,
            announced: self.announced,
            undecided: self.undecided,
            is_in_scope: self.is_in_scope,
            at: self.body_at + self.records.at(),
        }
    }
}
