//! The chunks that are no events.

use memlog_format::chunk::{CHUNK_SIZE, Header, Kind};
use memlog_format::counter::Counter;
use memlog_format::meta::{ForkPoint, Key, Record};
use memlog_format::stripped::Stripped;

use crate::metas::{Chunks, each, encoded, places};

/// The chunks of stacks and of code, which stay as they are.
pub(super) fn tables(log: &[u8]) -> impl Iterator<Item = &[u8]> {
    log.chunks(CHUNK_SIZE).filter(|chunk| {
        let header = Header::decode(chunk).ok().flatten();
        header.is_some_and(|header| matches!(header.kind, Kind::Nodes | Kind::Codes))
    })
}

/// The meta chunks, the log's first among them.
pub(super) struct Metas(Vec<Box<[u8]>>);

impl Metas {
    /// Those of a log, with `forks` in place of its own fork points. `before` is how many
    /// chunks come before all but the first.
    pub fn new(log: &[u8], stripped: Stripped, forks: Option<&[ForkPoint]>, before: usize) -> Self {
        let mut chunks = Chunks::instead(log, Vec::new(), before);
        for (place, header) in places(log) {
            each(log, place, &header, |record, bytes| match record {
                Record::ForkPoint(_) if forks.is_some() => {}
                Record::Text(Key::Stripped, _) => {}
                _ => chunks.push(bytes),
            });
        }
        for point in forks.into_iter().flatten() {
            chunks.push(&encoded(&Record::ForkPoint(*point)));
        }
        let text = stripped.to_string();
        chunks.push(&encoded(&Record::Text(Key::Stripped, text.as_bytes())));
        let count = before + chunks.others();
        chunks.set(Counter::Chunks, count as u64);
        let made = chunks.finish().into_iter();
        Self(made.map(|(_, chunk)| chunk).collect())
    }

    /// The first, and those that come last.
    pub fn split(&self) -> (&[u8], &[Box<[u8]>]) {
        match self.0.split_first() {
            Some((first, others)) => (first, others),
            None => (&[], &[]),
        }
    }
}
