//! How far each stream of a log was at a moment, so that what is read of a log that grows is
//! of one moment: see `follow`, which looks again and again.

use std::collections::BTreeMap;

use crate::grid::{Grid, Span};

/// How far each stream was.
#[derive(Clone, Debug, Default)]
pub struct Marks(BTreeMap<u32, Mark>);

#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The last chunk that there was.
    sequence: u32,
    /// Up to where it was committed, in the file.
    end: usize,
}

impl Marks {
    /// Of streams with their last chunk, and up to where that counts in the file.
    pub(crate) fn at(streams: impl Iterator<Item = (u32, u32, usize)>) -> Self {
        let marks = streams.map(|(stream, sequence, end)| (stream, Mark { sequence, end }));
        Self(marks.collect())
    }

    pub(crate) fn of(grid: &Grid) -> Self {
        let streams = grid.streams.iter();
        Self::at(streams.filter_map(|(&stream, spans)| {
            let last = spans.last()?;
            Some((stream, last.header.sequence, last.end))
        }))
    }

    /// Whether a log has more than there was then.
    pub(crate) fn are_passed(&self, grid: &Grid) -> bool {
        let mut streams = grid.streams.iter();
        streams.any(|(&stream, spans)| self.split(stream, spans).any(|span| span.is_late))
    }

    /// The parts of a stream, with what came since apart.
    pub(crate) fn split(&self, stream: u32, spans: &[Span]) -> impl Iterator<Item = Span> {
        let mark = self.0.get(&stream).copied();
        spans
            .iter()
            .flat_map(move |span| {
                let begin = span.offset + span.from;
                let before = match mark {
                    Some(mark) if span.header.sequence < mark.sequence => span.end,
                    Some(mark) if span.header.sequence == mark.sequence => {
                        mark.end.clamp(begin, span.end)
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
            })
            .flatten()
    }
}
