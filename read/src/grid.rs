//! Where the chunks lie. A log is a grid of 64 KiB; each place is unused, or
//! holds a chunk of a stream, of a table or of the header.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use memlog_format::FIRST_VERSION;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, VERSION_AT};
use memlog_format::counter::{AREA_END, Counter};

use crate::error::{Finding, Findings, ReadError};
use crate::flight::Flight;
use crate::tables::TableChunks;

/// A chunk of events or of the header, as far as it was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Where the chunk starts in the file.
    pub offset: usize,
    /// First byte past what is committed and in the file.
    pub end: usize,
    /// Its header.
    pub header: Header,
    /// Set when every committed byte is in the file, and all of them are read.
    pub whole: bool,
    /// Where in the chunk reading begins: behind its header, unless what is before was read.
    pub from: usize,
    /// Whether it came between two looks at the same log.
    pub is_late: bool,
}

impl Span {
    /// The committed bytes behind the chunk's header.
    pub(crate) fn body<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let start = (self.offset + self.from).min(self.end);
        bytes.get(start..self.end).unwrap_or(&[])
    }

    /// Whether it goes on with a chunk of which a part was read.
    pub(crate) fn goes_on(&self) -> bool {
        self.from > HEADER_SIZE
    }

    /// Whether a sealed chunk is as it was when it was sealed.
    pub(crate) fn is_intact(&self, bytes: &[u8]) -> bool {
        !self.header.is_sealed()
            || !self.whole
            || memlog_format::chunk::checksum(self.body(bytes)) == self.header.checksum
    }
}

/// What a flight recorder folded.
#[derive(Default)]
struct LivePages<'a> {
    pages: Vec<&'a [u8]>,
    folds: Option<&'a [u8]>,
}

/// Every chunk of a log at its place.
#[derive(Debug, Default)]
pub(crate) struct Grid<'a> {
    pub metas: Vec<Span>,
    pub streams: BTreeMap<u32, Vec<Span>>,
    pub nodes: TableChunks<'a>,
    pub codes: TableChunks<'a>,
    pub flight: Option<Arc<Flight>>,
    pub used: usize,
}

impl<'a> Grid<'a> {
    /// Looks at every place of the grid.
    pub(crate) fn scan(bytes: &'a [u8], findings: &mut Findings) -> Result<Self, ReadError> {
        check_first(bytes)?;
        let mut grid = Self::default();
        let mut live = LivePages::default();
        let places = bytes.len().div_ceil(CHUNK_SIZE);
        let begun = usize::try_from(Counter::Chunks.read(bytes)).unwrap_or(usize::MAX);
        for (index, place) in bytes.chunks(CHUNK_SIZE).enumerate() {
            let offset = index * CHUNK_SIZE;
            // The recorder's file ends with a whole chunk, whatever happens.
            if place.len() < CHUNK_SIZE {
                let missing = CHUNK_SIZE - place.len();
                findings.push(Finding::Torn { offset, missing });
            }
            match Header::decode(place) {
                // Zeros where a header was, and more behind them.
                Ok(None) if is_hollow(place, index, begun) => {
                    findings.push(Finding::BadChunk {
                        offset,
                        expected: "the header of a chunk",
                    });
                    if index == 0 && place.get(AREA_END) == Some(&START) {
                        grid.metas
                            .push(span_of(offset, place.len(), unknown_first()));
                    }
                }
                Ok(None) => {}
                Ok(Some(header)) => {
                    let span = span_of(offset, place.len(), header);
                    match span.header.kind {
                        Kind::Live => live.pages.push(place),
                        Kind::Folds => live.folds = live.folds.or(Some(place)),
                        _ => grid.add(span, place, places, findings),
                    }
                }
                Err(_) if place.len() < HEADER_SIZE => {}
                Err(error) => findings.push(Finding::BadChunk {
                    offset: offset + error.offset,
                    expected: error.expected,
                }),
            }
        }
        // The rest of a flight recorder's log is as it is in any other.
        if bytes
            .get(VERSION_AT)
            .is_some_and(|&version| version > FIRST_VERSION)
        {
            grid.used += live.pages.len() + live.folds.iter().len();
            grid.flight = Some(Arc::new(Flight::read(&live.pages, live.folds)));
        }
        grid.sort(findings);
        Ok(grid)
    }

    pub(crate) fn add(
        &mut self,
        span: Span,
        place: &'a [u8],
        places: usize,
        findings: &mut Findings,
    ) {
        self.used += 1;
        let index = span.header.stream;
        match span.header.kind {
            Kind::Meta => self.metas.push(span),
            Kind::Events => self.streams.entry(index).or_default().push(span),
            Kind::Nodes | Kind::Codes if index as usize >= places => {
                let offset = span.offset;
                findings.push(Finding::FarTable { offset, index });
            }
            Kind::Live | Kind::Folds => {}
            Kind::Nodes | Kind::Codes => {
                let table = match span.header.kind {
                    Kind::Nodes => &mut self.nodes,
                    _ => &mut self.codes,
                };
                // A table's records are valid one by one: the whole place
                // counts, not what was committed.
                if !table.add(index, place) {
                    findings.push(repeated(&span));
                }
            }
        }
    }

    /// Brings each stream's chunks in order.
    fn sort(&mut self, findings: &mut Findings) {
        self.metas.sort_by_key(|span| span.header.sequence);
        for (&stream, spans) in &mut self.streams {
            // Whoever was killed as a chunk was written anew left both.
            spans.sort_by_key(|span| (span.header.sequence, Reverse(span.header.culled)));
            spans.dedup_by(|other, one| {
                let places = [&*other, one].map(|span| span.header.sequence);
                places[0] == places[1] && other.header.culled < one.header.culled
            });
            let mut expected = 0;
            spans.retain(|span| {
                let sequence = span.header.sequence;
                if sequence < expected {
                    findings.push(repeated(span));
                    return false;
                }
                // Where the oldest chunks are overwritten, gaps are the rule.
                if sequence > expected && self.flight.is_none() {
                    findings.push(Finding::MissingChunks {
                        stream,
                        first: expected,
                        count: sequence - expected,
                    });
                }
                expected = sequence.saturating_add(1);
                true
            });
        }
    }
}

/// Whether a place that looks unused is not: the first one never is.
fn is_hollow(place: &[u8], index: usize, begun: usize) -> bool {
    let is_zeros = place.first() == Some(&0);
    is_zeros && (index == 0 || index < begun && place.iter().any(|&byte| byte != 0))
}

/// The type of a log's first record.
const START: u8 = 1;

/// A first chunk of which nothing is known but that its records are there: the
/// first that is none ends them.
fn unknown_first() -> Header {
    Header {
        committed: CHUNK_SIZE as u32,
        ..Header::new(Kind::Meta, 0, 0)
    }
}

fn repeated(span: &Span) -> Finding {
    Finding::Repeated {
        offset: span.offset,
        stream: span.header.stream,
        sequence: span.header.sequence,
    }
}

/// The first chunk tells whether this is a log at all.
pub(crate) fn check_first(bytes: &[u8]) -> Result<(), ReadError> {
    let length = bytes.len();
    if length == 0 {
        return Err(ReadError::Empty);
    }
    let magic = memlog_format::chunk::MAGIC;
    if let Some(&found) = bytes.first_chunk::<4>()
        && found != magic
        && (found != [0; 4] || length < HEADER_SIZE)
    {
        return Err(ReadError::Foreign { found });
    }
    if length < HEADER_SIZE {
        return Err(ReadError::TooShort { length });
    }
    let version = bytes.get(5).copied().unwrap_or(0);
    match Header::decode(bytes) {
        // A block of the file became zeros, if others did not.
        Ok(None) if bytes.get(AREA_END) == Some(&START) || has_chunk(bytes) => Ok(()),
        Ok(None) => Err(ReadError::Unwritten),
        Ok(Some(header)) if header.kind == Kind::Meta => Ok(()),
        Ok(Some(_)) => Err(ReadError::Header {
            offset: 4,
            expected: "the kind of a header chunk",
        }),
        Err(error) if error.offset == 5 && version > memlog_format::VERSION => {
            Err(ReadError::Newer { version })
        }
        Err(error) if error.offset == 0 => Err(ReadError::Foreign {
            found: bytes.first_chunk::<4>().copied().unwrap_or_default(),
        }),
        Err(error) => Err(ReadError::Header {
            offset: error.offset,
            expected: error.expected,
        }),
    }
}

/// Whether any place holds a chunk.
fn has_chunk(bytes: &[u8]) -> bool {
    let mut places = bytes.chunks(CHUNK_SIZE);
    places.any(|place| matches!(Header::decode(place), Ok(Some(_))))
}

/// The part of a chunk that was committed and is in the file.
pub(crate) fn span_of(offset: usize, present: usize, header: Header) -> Span {
    let committed = header.committed as usize;
    let whole = present >= committed;
    Span {
        offset,
        end: offset + committed.min(present),
        header,
        whole,
        from: HEADER_SIZE,
        is_late: false,
    }
}
