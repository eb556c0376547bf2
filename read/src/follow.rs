//! What came since the last look at a log that grows.
//!
//! ```text
//! a look: find new chunks, and note how far each is committed      the first mark
//!         do so once more                                          the second mark
//!         find new chunks of tables
//!         read each stream from where the last look left it to the second mark,
//!         in the order of `merge`
//! ```
//!
//! * A stack is written before an event that has it. So it is there behind the second mark,
//!   maybe in a chunk that was begun after that.
//! * What lies before the first mark has all that belongs before it on its address in front
//!   of the second: an allocation is written down before it returns, and a release before the
//!   real call. So a number that is missing there is none of an event on the same address,
//!   and nobody waits for it. If it comes late it is taken before what is new.
//! * Behind the first mark something may be missing. What has a number there, and what
//!   waits for that, is left to the next look, which has it before its first mark.
//! * A thread that sleeps writes nothing, so nobody waits for it.
//! * A realloc that is under way is told once it is decided (`undecided`).
//!
//! A look costs what is new, a glance at each stream's last chunk and at places that were
//! given out and not used, and the header's chunks. Kept are the places of the chunks of
//! tables and a number for each order cell. A flight recorder's log is no such log: it takes
//! its oldest chunks again. It is of a bounded length, and read as a whole each time.

use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};

use memlog_format::FIRST_VERSION;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, VERSION_AT};

use crate::cells::Known;
use crate::cursor::{Cursor, Stand};
use crate::error::{Findings, ReadError};
use crate::grid::{Grid, Span, check_first, span_of};
use crate::log::Log;
use crate::merge::EventStream;
use crate::step::Step;
use crate::undecided::Head;

/// Follows one log.
#[derive(Default)]
pub struct Follower {
    /// How many places of the grid were looked at.
    places: usize,
    /// Those of them that were unused.
    unused: Vec<usize>,
    metas: Vec<usize>,
    tables: Vec<usize>,
    streams: BTreeMap<u32, Trail>,
    /// By order cell.
    known: Vec<Known>,
}

/// What came since the last look.
pub struct Look<'a> {
    /// The log without its events.
    pub log: Log<'a>,
    /// The new ones, to be taken to the last of them.
    pub events: EventStream<'a>,
    /// The streams of those, in their order.
    pub streams: Vec<u32>,
}

/// A stream, as far as it was read.
#[derive(Default)]
struct Trail {
    stand: Stand,
    step: Option<Step<'static>>,
    /// Chunks that are not read to their end, by sequence.
    chunks: VecDeque<(u32, usize)>,
    /// The sequence of the chunk that is to come behind those.
    next: u32,
    /// Chunks that lie behind one that was not found yet.
    far: BTreeMap<u32, usize>,
    /// The first mark and the second.
    marks: [Mark; 2],
    /// Whether a sealed chunk was not as it was sealed, at the last look.
    is_doubted: bool,
}

/// How far a stream was.
#[derive(Clone, Copy, Default)]
struct Mark {
    /// Where its last chunk begins.
    chunk: usize,
    /// Up to where that was committed.
    end: usize,
    /// The last of the chunks that lie behind one that was not found.
    far: Option<u32>,
}

impl Follower {
    /// Whether this log takes its oldest chunks again, and is not to be followed so.
    pub fn is_flight(bytes: &[u8]) -> bool {
        bytes
            .get(VERSION_AT)
            .is_some_and(|&version| version > FIRST_VERSION)
    }

    /// The first mark of a look, and then the second one: the log is at least so long.
    pub fn mark(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        check_first(bytes)?;
        self.find(bytes);
        for trail in self.streams.values_mut() {
            let last = trail.chunks.back().map_or(0, |&(_, offset)| offset);
            let end = header_at(bytes, last).map_or(0, |header| header.committed as usize);
            let mark = Mark {
                chunk: last,
                end: last + end,
                far: trail.far.keys().next_back().copied(),
            };
            trail.marks = [trail.marks[1], mark];
        }
        Ok(())
    }

    /// Looks at the same log behind two calls of [`Follower::mark`]. The bytes of each were
    /// made after the one before returned: the log may have more chunks by then, and what is
    /// marked needs them. `is_over` once nobody writes any more, and what is not there yet
    /// never comes. Who has taken all events says so by [`Follower::keep`].
    pub fn look<'a>(&mut self, bytes: &'a [u8], is_over: bool) -> Result<Look<'a>, ReadError> {
        check_first(bytes)?;
        self.find(bytes);
        let log = Log::of(bytes, self.grid(bytes));
        let cell_bits = log.cell_bits();
        let mut heads = Vec::with_capacity(self.streams.len());
        let mut streams = Vec::with_capacity(self.streams.len());
        for (&stream, trail) in &mut self.streams {
            trail.close_gap(is_over);
            let spans = trail.spans(bytes, is_over);
            let cursor = Cursor::resume(bytes, stream, &spans, (&trail.stand, !is_over));
            heads.push(Head {
                cursor,
                step: trail.step.take(),
            });
            streams.push(stream);
        }
        let events = EventStream::go_on(heads, &self.known, cell_bits, !is_over);
        Ok(Look {
            log,
            events,
            streams,
        })
    }

    /// All events of a look were taken; what was odd about them.
    pub fn keep(&mut self, events: EventStream, streams: &[u32]) -> Findings {
        let mut findings = Findings::default();
        findings.append(events.findings());
        let (heads, known) = events.into_heads();
        self.known = known.unwrap_or(std::mem::take(&mut self.known));
        for (stream, head) in streams.iter().zip(heads) {
            let Some(trail) = self.streams.get_mut(stream) else {
                continue;
            };
            trail.step = head.step.and_then(|step| step.kept());
            trail.stand = head.cursor.stand();
        }
        findings
    }

    /// Puts the chunks that were begun since to their streams.
    fn find(&mut self, bytes: &[u8]) {
        let places = bytes.len().div_ceil(CHUNK_SIZE);
        let new = self.places.min(places)..places;
        self.places = places.max(self.places);
        let mut unused = std::mem::take(&mut self.unused);
        unused.extend(new);
        unused.retain(|&place| {
            let offset = place * CHUNK_SIZE;
            // What cannot be read may be under way; if it is damaged it stays so.
            let Some(header) = header_at(bytes, offset) else {
                return true;
            };
            self.add(offset, &header);
            false
        });
        self.unused = unused;
    }

    fn add(&mut self, offset: usize, header: &Header) {
        match header.kind {
            Kind::Meta => self.metas.push(offset),
            Kind::Nodes | Kind::Codes => self.tables.push(offset),
            Kind::Events => {
                let trail = self.streams.entry(header.stream).or_default();
                trail.add(header.sequence, offset);
            }
            Kind::Live | Kind::Folds => {}
        }
    }

    /// Everything but the events.
    fn grid<'a>(&self, bytes: &'a [u8]) -> Grid<'a> {
        let mut grid = Grid::default();
        let mut unheard = Findings::default();
        for &offset in self.metas.iter().chain(&self.tables) {
            let place = bytes.get(offset..).unwrap_or(&[]);
            let place = &place[..place.len().min(CHUNK_SIZE)];
            if let Some(header) = header_at(bytes, offset) {
                let span = span_of(offset, place.len(), header);
                grid.add(span, place, self.places, &mut unheard);
            }
        }
        grid.metas.sort_by_key(|span| span.header.sequence);
        grid
    }
}

impl Trail {
    fn add(&mut self, sequence: u32, offset: usize) {
        if sequence < self.next {
            // The same once more: a damaged log.
            return;
        }
        self.far.entry(sequence).or_insert(offset);
        self.take_near();
    }

    /// What was begun before a chunk that the first of two scans found, and was not found
    /// by the second, is missing.
    fn close_gap(&mut self, is_over: bool) {
        let until = self.marks[0].far;
        while let Some(first) = self.far.first_entry()
            && (is_over || until.is_some_and(|until| *first.key() <= until))
        {
            let (sequence, offset) = first.remove_entry();
            self.chunks.push_back((sequence, offset));
            self.next = sequence.saturating_add(1);
        }
        self.take_near();
    }

    fn take_near(&mut self) {
        while let Some(offset) = self.far.remove(&self.next) {
            self.chunks.push_back((self.next, offset));
            self.next = self.next.saturating_add(1);
        }
    }

    /// What is to be read: up to the first mark, and up to the second.
    fn spans(&mut self, bytes: &[u8], is_over: bool) -> Vec<Span> {
        let mut spans = Vec::new();
        self.drop_read(bytes);
        let [first, second] = self.marks;
        let has = |mark: Mark| self.chunks.iter().any(|chunk| chunk.1 == mark.chunk);
        // A stream without the second mark was begun behind it.
        if !is_over && !has(second) {
            return spans;
        }
        let mut is_late = !has(first);
        let was_doubted = std::mem::take(&mut self.is_doubted);
        for (index, &(_, offset)) in self.chunks.iter().enumerate() {
            let Some(header) = header_at(bytes, offset) else {
                break;
            };
            let whole = span_of(offset, bytes.len().saturating_sub(offset), header);
            // The file is shorter than what was written: a copy that grows too.
            if !whole.whole && !is_over {
                break;
            }
            let begin = offset + HEADER_SIZE;
            // Of the first chunk a part was read.
            let from = match index {
                0 if self.stands_in(offset) => self.stand.at.min(whole.end),
                _ => begin,
            };
            // Where chunks are written whole, this one may be under way.
            if from == begin && !is_over && !was_doubted && !whole.is_intact(bytes) {
                self.is_doubted = true;
                break;
            }
            let is_last = !is_over && second.chunk == offset;
            let until = match is_last {
                true => second.end.clamp(from, whole.end),
                false => whole.end,
            };
            let mark = match (is_over, first.chunk == offset) {
                (true, _) => until,
                (false, true) => first.end.clamp(from, until),
                // Before the chunk of the mark all is before it, and behind it nothing.
                (false, false) if is_late => from,
                (false, false) => until,
            };
            let part = |from: usize, end: usize, is_late| Span {
                end,
                from: from - offset,
                whole: whole.whole && from == begin && end == whole.end,
                is_late,
                ..whole
            };
            if mark > from || from == begin {
                spans.push(part(from, mark.max(from), is_late && mark == from));
            }
            if until > mark {
                spans.push(part(mark.max(from), until, true));
            }
            if is_last {
                break;
            }
            is_late |= first.chunk == offset;
        }
        spans
    }

    /// Forgets the chunks that were read. The one at hand stays until another one follows:
    /// then nothing more comes in it.
    fn drop_read(&mut self, bytes: &[u8]) {
        let at_hand = self.chunks.iter().position(|chunk| self.stands_in(chunk.1));
        let Some(at_hand) = at_hand else {
            return;
        };
        self.chunks.drain(..at_hand);
        let first = self.chunks.front().map_or(0, |&(_, offset)| offset);
        let end = header_at(bytes, first).map_or(0, |header| first + header.committed as usize);
        if self.chunks.len() > 1 && self.stand.at >= end {
            self.chunks.pop_front();
        }
    }

    /// Whether what is to be read next lies in the chunk at this offset, or at its end.
    fn stands_in(&self, offset: usize) -> bool {
        (offset + HEADER_SIZE..=offset + CHUNK_SIZE).contains(&self.stand.at)
    }
}

/// The header of a chunk that may be written meanwhile: of one moment, as far as it is told
/// by its words. A chunk that is being sealed has its checksum before its flag, and more bytes
/// than it had before that.
fn header_at(bytes: &[u8], offset: usize) -> Option<Header> {
    let mut known = decoded(bytes, offset)?;
    for _ in 0..TRIES {
        let again = decoded(bytes, offset)?;
        let is_same = (again.flags, again.checksum) == (known.flags, known.checksum);
        if is_same && (again.committed == known.committed || !again.is_sealed()) {
            return Some(again);
        }
        known = again;
    }
    Some(known)
}

/// A chunk is sealed once.
const TRIES: usize = 8;

#[inline(never)]
fn decoded(bytes: &[u8], offset: usize) -> Option<Header> {
    // Somebody else writes there, whatever the compiler knows of a slice.
    let bytes = black_box(bytes);
    fence(Ordering::Acquire);
    Header::decode(bytes.get(offset..)?).ok().flatten()
}
