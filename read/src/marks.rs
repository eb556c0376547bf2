//! How far each stream of a log was at a moment, so that what is read of a log that grows is
//! of one moment: see `follow`, which looks again and again.

use std::collections::BTreeMap;

use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::counter::Counter;

use crate::grid::{Grid, Span};

/// How far each stream was.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    streams: BTreeMap<u32, Mark>,
    /// How many chunks and streams had been begun.
    begun: Begun,
    /// Whether its file had no room for so many chunks: it comes over a slow network, and what
    /// stands before something may come long after it.
    lags: bool,
}

/// What the recorder counted as begun.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Begun {
    pub(crate) chunks: u64,
    pub(crate) streams: u64,
}

impl Begun {
    /// By the counters in a log's first chunk.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self {
            chunks: Counter::Chunks.read(bytes),
            streams: Counter::Streams.read(bytes),
        }
    }

    /// Whether a file of so many bytes may have all chunks.
    pub(crate) fn fits(self, bytes: u64) -> bool {
        self.chunks <= bytes.div_ceil(CHUNK_SIZE as u64)
    }
}

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The last chunk that there was.
    sequence: u32,
    /// Up to where it was committed, in the file; nothing once it was sealed: all of it counts,
    /// and another one follows.
    end: Option<usize>,
}

impl Marks {
    /// Of streams with their last chunk, and up to where that counts in the file: of a sealed
    /// one all of it does.
    pub(crate) fn at(
        begun: Begun,
        streams: impl Iterator<Item = (u32, u32, Option<usize>)>,
    ) -> Self {
        let mark = |(stream, sequence, end)| (stream, Mark { sequence, end });
        Self {
            streams: streams.map(mark).collect(),
            begun,
            lags: false,
        }
    }

    /// Of a log with this grid, in a file of so many bytes by now.
    pub(crate) fn of(bytes: &[u8], grid: &Grid, file_bytes: u64) -> Self {
        let begun = Begun::read(bytes);
        let streams = grid.streams.iter();
        let streams = streams.filter_map(|(&stream, spans)| {
            let last = spans.last()?;
            let end = (!last.header.is_sealed()).then_some(last.end);
            Some((stream, last.header.sequence, end))
        });
        Self {
            lags: !begun.fits(file_bytes),
            ..Self::at(begun, streams)
        }
    }

    /// Those that events are held to which came behind these: where the log lagged, nothing
    /// waits for what comes late.
    pub(crate) fn held_to<'m>(&'m self, last: Option<&'m Self>) -> &'m Self {
        last.filter(|last| self.lags || last.lags).unwrap_or(self)
    }

    /// What had been begun.
    pub(crate) fn begun(&self) -> Begun {
        self.begun
    }

    /// Whether a stream's chunk of this sequence was sealed by then.
    pub(crate) fn was_sealed(&self, stream: u32, sequence: u32) -> bool {
        let mark = self.streams.get(&stream);
        mark.is_some_and(|mark| {
            sequence < mark.sequence || sequence == mark.sequence && mark.end.is_none()
        })
    }

    /// Whether a log has more than there was then.
    pub(crate) fn are_passed(&self, grid: &Grid) -> bool {
        let mut streams = grid.streams.iter();
        streams.any(|(&stream, spans)| self.split(stream, spans).any(|span| span.is_late))
    }

    /// Takes from a log what came since.
    pub(crate) fn cut(&self, grid: &mut Grid) {
        for (stream, spans) in &mut grid.streams {
            let early = |span: Span| self.parts(*stream, &span)[0].filter(|part| !part.is_late);
            *spans = spans.drain(..).filter_map(early).collect();
        }
        grid.streams.retain(|_, spans| !spans.is_empty());
    }

    /// The parts of a stream, with what came since apart.
    pub(crate) fn split(&self, stream: u32, spans: &[Span]) -> impl Iterator<Item = Span> {
        let parts = spans.iter().flat_map(move |span| self.parts(stream, span));
        parts.flatten()
    }

    /// What of a chunk was there by then, and what was not.
    fn parts(&self, stream: u32, span: &Span) -> [Option<Span>; 2] {
        let begin = span.offset + span.from;
        let before = match self.streams.get(&stream) {
            Some(mark) if span.header.sequence < mark.sequence => span.end,
            Some(mark) if span.header.sequence == mark.sequence => {
                mark.end.map_or(span.end, |end| end.clamp(begin, span.end))
            }
            _ => begin,
        };
        if before == span.end {
            return [Some(*span), None];
        }
        let late = Span {
            is_late: true,
            ..*span
        };
        if before == begin {
            return [Some(late), None];
        }
        let early = Span {
            end: before,
            whole: false,
            ..*span
        };
        let late = Span {
            from: before - span.offset,
            whole: false,
            ..late
        };
        [Some(early), Some(late)]
    }
}
