//! One stream's records as they stand, for who writes the log anew.

use memlog_format::chunk::HEADER_SIZE;
use memlog_format::event::{Deltas, Event};
use memlog_format::varint::Reader;

use crate::grid::Span;
use crate::records::{Fate, fate, next_whole};

/// A record and where it stands.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// Its chunk's number in the stream.
    pub sequence: u32,
    /// Where it begins in that, the header included.
    pub at: usize,
    /// The thread that began the chunk, 0 where nobody did.
    pub thread: u32,
    /// The stream's time.
    pub tick: u64,
    /// What it says.
    pub event: Event<'a>,
    /// Of an announced release what became of it, and how many bytes behind that stands.
    pub fate: Option<(Fate, usize)>,
}

/// The records of a stream, chunk by chunk. What cannot be read ends its chunk, as it does
/// for [`Log::events`](crate::Log::events).
pub struct Stream<'a> {
    bytes: &'a [u8],
    spans: std::vec::IntoIter<Span>,
    span: Option<Span>,
    body: &'a [u8],
    records: Reader<'a>,
    deltas: Deltas,
}

impl<'a> Stream<'a> {
    pub(crate) fn new(bytes: &'a [u8], spans: &[Span]) -> Self {
        Self {
            bytes,
            spans: Vec::from(spans).into_iter(),
            span: None,
            body: &[],
            records: Reader::new(&[]),
            deltas: Deltas::default(),
        }
    }

    fn open_next(&mut self) -> Option<()> {
        let span = self.spans.next()?;
        self.body = span.body(self.bytes);
        self.records = Reader::new(self.body);
        let tick = span.header.base_tick.max(self.deltas.tick);
        self.deltas = Deltas::at_start(tick, span.header.base_stamp);
        self.span = Some(span);
        Some(())
    }
}

impl<'a> Iterator for Stream<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            let at = self.records.at();
            let event = match next_whole(&mut self.deltas, &mut self.records, self.body) {
                Ok(Some(event)) => event,
                Ok(None) | Err(_) => {
                    self.open_next()?;
                    continue;
                }
            };
            let is_announced = matches!(event, Event::Release(release) if release.announced);
            let fate = is_announced.then(|| {
                let (fate, end) = fate(self.deltas, self.records.clone(), self.body);
                (fate, end.saturating_sub(at))
            });
            let header = &self.span?.header;
            return Some(Record {
                sequence: header.sequence,
                at: HEADER_SIZE + at,
                thread: header.thread,
                tick: self.deltas.tick,
                event,
                fate,
            });
        }
    }
}
