//! A log: everything about it that is not an event.

use std::collections::BTreeMap;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE};
use memlog_format::control::State;
use memlog_format::counter::Counter;
use memlog_format::culled::Culled;
use memlog_format::meta::{CodeName, Death, End, ForkPoint, Key, Module, Start};
use memlog_format::order::CELL_BITS;
use memlog_format::stripped::Stripped;
use memlog_format::table::{Code, CodeId, Node, StackId};
use memlog_format::tuned::Tuned;

use crate::cursor::{Cursor, Stand};
use crate::ends;
use crate::error::{Finding, Findings, ReadError};
use crate::flight::Flight;
use crate::grid::{Grid, Span};
use crate::marks::{Begun, Marks};
use crate::merge::EventStream;
use crate::metas::{Kept, Metas, Resident};
use crate::stream::Stream;
use crate::tables::Frames;
use crate::undecided::Head;

/// Blocks that a log has in its sums only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// They lived less than so many nanoseconds; without it all that went.
    pub below_ns: Option<u64>,
    /// The recorder left them out, and not `memlog strip`.
    pub by_recorder: bool,
}

/// A log that was opened.
#[derive(Debug)]
pub struct Log<'a> {
    bytes: &'a [u8],
    grid: Grid<'a>,
    metas: Metas<'a>,
    findings: Findings,
    /// Where it is still being written.
    marks: Option<Marks>,
}

/// Parts of a log that were found one after the other.
impl<'a> Log<'a> {
    pub(crate) fn of(bytes: &'a [u8], grid: Grid<'a>) -> Self {
        let mut findings = Findings::default();
        let metas = Metas::read(bytes, &grid.metas, &mut findings);
        Self {
            bytes,
            grid,
            metas,
            findings,
            marks: None,
        }
    }
}

/// How much a log holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the file, but for names that were put behind it.
    pub file_bytes: usize,
    /// Committed bytes of events.
    pub event_bytes: u64,
    /// Chunks in use.
    pub chunks: usize,
    /// Streams of events.
    pub streams: usize,
}

impl<'a> Log<'a> {
    /// Opens the log in `bytes`: a whole file, its beginning, or a file that
    /// is still being written; what is committed at this moment is read.
    pub fn open(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::open_since(bytes, None, None)
    }

    /// Opens a log that is still written. `marks` are of the same log as it was a moment
    /// before these bytes were made: what came since is taken as far as all that belongs
    /// before it is there, and what was begun since is not missing. `last` are of a moment
    /// between both: these bytes have the stacks of all events up to there, and of no others.
    pub fn open_behind(
        bytes: &'a [u8],
        marks: &Marks,
        last: Option<&Marks>,
    ) -> Result<Self, ReadError> {
        Self::open_since(bytes, Some(marks), last)
    }

    fn open_since(
        bytes: &'a [u8],
        marks: Option<&Marks>,
        last: Option<&Marks>,
    ) -> Result<Self, ReadError> {
        let mut findings = Findings::default();
        let mut grid = Grid::scan(bytes, &mut findings)?;
        let metas = Metas::read(bytes, &grid.metas, &mut findings);
        let is_over = metas.end.is_some() || metas.death.is_some() || grid.flight.is_some();
        let marks = marks.filter(|_| !is_over);
        let marks = marks.map(|marks| marks.held_to(last));
        let begun = marks.map_or_else(|| Begun::read(bytes), Marks::begun);
        let length = bytes.len();
        if !begun.fits(length as u64) {
            let chunks = begun.chunks;
            findings.push(Finding::CutOff { length, chunks });
        } else if length.is_multiple_of(CHUNK_SIZE) {
            ends::look(bytes, &grid, &metas, (marks, begun), &mut findings);
        }
        if let Some(last) = last.filter(|_| !is_over) {
            last.cut(&mut grid);
        }
        let marks = marks.filter(|marks| marks.are_passed(&grid));
        Ok(Self {
            bytes,
            grid,
            metas,
            findings,
            marks: marks.cloned(),
        })
    }

    /// How far each stream is. The log's file had so many bytes behind the reading of these: the
    /// recorder makes it longer before it counts a chunk.
    pub fn marks(&self, file_bytes: u64) -> Marks {
        Marks::of(self.bytes, &self.grid, file_bytes)
    }

    /// What the log is of; nothing only in a log cut off in its first bytes.
    pub fn start(&self) -> Option<&Start> {
        self.metas.start.as_ref()
    }

    /// The texts of this meaning, in their order.
    pub fn texts(&self, key: Key) -> impl Iterator<Item = &'a [u8]> {
        let texts = self.metas.texts.iter();
        texts.filter_map(move |&(found, text)| (found == key).then_some(text))
    }

    /// The first text of this meaning.
    pub fn text(&self, key: Key) -> Option<&'a [u8]> {
        self.texts(key).next()
    }

    /// Module instances in the order in which they were seen.
    pub fn modules(&self) -> &[Module<'a>] {
        &self.metas.modules
    }

    /// Instances that went, with the tick at which this was seen.
    pub fn unloads(&self) -> &[(u32, u64)] {
        &self.metas.unloads
    }

    /// The process that this one was forked from, if it was recorded too; its
    /// log is [`Key::ParentLog`].
    pub fn parent_pid(&self) -> Option<u32> {
        self.metas.parent
    }

    /// The process that has the rank which this one, its child, has from it:
    /// nothing where this is the rank itself, or there are no ranks.
    pub fn rank_parent(&self) -> Option<u32> {
        self.text(Key::Rank)?;
        let told = self.text(Key::RankParent).map(std::str::from_utf8);
        let told = told.and_then(|text| text.ok()?.parse().ok());
        told.or(self.parent_pid())
    }

    /// Where the parent's streams stood at the fork.
    pub fn fork_points(&self) -> &[ForkPoint] {
        &self.metas.fork_points
    }

    /// How the image ended; nothing if it runs still, was killed or exec'd.
    pub fn end(&self) -> Option<&End> {
        self.metas.end.as_ref()
    }

    /// How a signal ended the process, if who started it wrote that down.
    pub fn death(&self) -> Option<&Death> {
        self.metas.death.as_ref()
    }

    /// A counter of the recorder.
    pub fn counter(&self, counter: Counter) -> u64 {
        counter.read(self.bytes)
    }

    /// What the recorder does, or did last.
    pub fn state(&self) -> State {
        State::read(self.bytes)
    }

    /// What was odd about the log when it was opened; what is odd about its
    /// events is told by [`EventStream::findings`].
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// How much it holds.
    pub fn size(&self) -> Size {
        let spans = self.grid.streams.values().flatten();
        let before = self.text(Key::Packed).map(std::str::from_utf8);
        let before = before.and_then(|text| text.ok()?.parse::<usize>().ok());
        Size {
            file_bytes: self.bytes.len().min(before.unwrap_or(usize::MAX)),
            event_bytes: spans.map(|span| span.body(self.bytes).len() as u64).sum(),
            chunks: self.grid.used,
            streams: self.grid.streams.len(),
        }
    }

    /// Nanoseconds of a tick; 1 where the log does not say.
    pub fn tick_ns(&self) -> u64 {
        self.start().map_or(1, |start| start.tick_ns.max(1))
    }

    /// A tick as seconds since the start.
    pub fn seconds(&self, tick: u64) -> f64 {
        tick as f64 * self.tick_ns() as f64 / 1e9
    }

    /// The node of this id; a parent's id is always lower than its child's.
    pub fn node(&self, id: StackId) -> Option<Node> {
        self.grid.nodes.node(id)
    }

    /// The code of this id.
    pub fn code(&self, id: CodeId) -> Option<Code> {
        self.grid.codes.code(id)
    }

    /// Where stacks go through code of no file: what to look names up for.
    pub fn codes_of_no_file(&self) -> impl Iterator<Item = u64> {
        let codes = self.grid.codes.codes().filter(|code| code.module == 0);
        codes.map(|code| code.lookup_address())
    }

    /// All codes that stacks may have.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        self.grid.codes.codes()
    }

    /// Names that were put into the log, to be read where their files are not.
    pub fn kept(&self) -> &Kept<'a> {
        &self.metas.kept
    }

    /// Names of code of no file that were put into the log.
    pub fn code_names(&self) -> &[CodeName<'a>] {
        &self.metas.code_names
    }

    /// Calls of mallopt.
    pub fn tunings(&self) -> &[Tuned] {
        &self.metas.tunings
    }

    /// What was resident in which mapping, at some moments.
    pub fn censuses(&self) -> &[Resident<'a>] {
        &self.metas.censuses
    }

    /// Whether a stack in it lacks outer frames.
    pub fn has_cut_stacks(&self) -> bool {
        self.grid.nodes.nodes().any(|node| node.parent.is_cut())
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> Frames<'_, 'a> {
        Frames {
            nodes: &self.grid.nodes,
            codes: &self.grid.codes,
            next: stack,
            whole: true,
        }
    }

    /// All events, those on one address in true order.
    pub fn events(&self) -> EventStream<'a> {
        self.events_while(&mut |_| true)
    }

    /// The same, where the log of several threads may be long: a first pass
    /// over it puts them in order. `goes_on` is told now and then how many bytes
    /// of events that has read; once it says no there are no events.
    pub fn events_while(&self, goes_on: &mut dyn FnMut(u64) -> bool) -> EventStream<'a> {
        let streams = self.grid.streams.iter();
        let Some(marks) = &self.marks else {
            let cursors = streams.map(|(&stream, spans)| self.cursor(stream, spans));
            return EventStream::new(cursors.collect(), self.cell_bits(), goes_on);
        };
        let heads = streams.map(|(&stream, spans)| {
            let spans: Vec<_> = marks.split(stream, spans).collect();
            let stand = (&Stand::default(), true);
            Head {
                cursor: Cursor::resume(self.bytes, stream, &spans, stand),
                step: None,
            }
        });
        EventStream::go_on(heads.collect(), &[], self.cell_bits(), true)
    }

    /// The events up to a fork, for the log of the child that the fork points stand
    /// in: `parent.events_until(child.fork_points())`. A parent that was forked too
    /// has an own parent, whose part comes before this one.
    pub fn events_until(&self, fork_points: &[ForkPoint]) -> EventStream<'a> {
        self.events_until_while(fork_points, &mut |_| true)
    }

    /// The same, as [`Log::events_while`].
    pub fn events_until_while(
        &self,
        fork_points: &[ForkPoint],
        goes_on: &mut dyn FnMut(u64) -> bool,
    ) -> EventStream<'a> {
        let mut by_stream = BTreeMap::new();
        for point in fork_points {
            by_stream.entry(point.stream).or_insert(point);
        }
        let cursors = by_stream.into_iter().filter_map(|(stream, point)| {
            let spans = self.grid.streams.get(&stream)?;
            Some(self.cursor(stream, &until(spans, point)))
        });
        EventStream::new(cursors.collect(), self.cell_bits(), goes_on)
    }

    /// The records of each stream as they stand, and not in the order of what happened.
    pub fn streams(&self) -> impl Iterator<Item = (u32, Stream<'a>)> {
        let streams = self.grid.streams.iter();
        streams.map(|(&stream, spans)| (stream, Stream::new(self.bytes, spans)))
    }

    /// What `memlog strip` left out of the log, if it made it.
    pub fn stripped(&self) -> Option<Stripped> {
        self.text(Key::Stripped).and_then(Stripped::of)
    }

    /// What the log has in its sums only, whoever left it out.
    pub fn left_out(&self) -> Option<LeftOut> {
        // Until a chunk was written anew all is there. The counter may come behind it.
        let is_anew = |span: &Span| span.header.culled > 0;
        let is_any = |_: &&[u8]| {
            let mut spans = self.grid.streams.values().flatten();
            self.counter(Counter::CulledChunks) > 0 || spans.any(is_anew)
        };
        let culled = self.text(Key::Culled).filter(is_any);
        let culled = culled.and_then(Culled::of);
        match (self.stripped(), culled) {
            (Some(stripped), _) => Some(LeftOut {
                below_ns: stripped.below_ns,
                by_recorder: false,
            }),
            (None, culled) => culled.map(|culled| LeftOut {
                below_ns: Some(culled.below_ns),
                by_recorder: true,
            }),
        }
    }

    fn cursor(&self, stream: u32, spans: &[Span]) -> Cursor<'a> {
        let is_culled = self.text(Key::Culled).is_some();
        Cursor::new(self.bytes, stream, spans, self.grid.flight.clone()).of_culled(is_culled)
    }

    /// What was folded, if the log overwrote its oldest events.
    pub fn flight(&self) -> Option<&Flight> {
        self.grid.flight.as_deref()
    }

    /// Whether no event of after these fork points was overwritten, so that what was
    /// live at them can be told.
    pub fn remembers(&self, fork_points: &[ForkPoint]) -> bool {
        let Some(flight) = self.flight() else {
            return true;
        };
        let is_kept = |stream: u32, spans: &[Span]| {
            let first = spans.first()?;
            let folded = flight.folded(first.offset, first.header.folded);
            let point = fork_points.iter().find(|point| point.stream == stream);
            let point = point.map_or((0, HEADER_SIZE), |point| {
                (point.sequence, point.committed as usize)
            });
            let at = (first.header.sequence, folded.before);
            Some(folded.under_way.is_none() && at <= point)
        };
        let all = |stream: u32| {
            self.grid
                .streams
                .get(&stream)
                .map_or(&[][..], Vec::as_slice)
        };
        let forked_streams = fork_points.iter().map(|point| point.stream);
        let mut streams = self.grid.streams.keys().copied().chain(forked_streams);
        streams.all(|stream| is_kept(stream, all(stream)) == Some(true))
    }

    pub(crate) fn cell_bits(&self) -> u32 {
        let bits = self.start().map_or(0, |start| u32::from(start.cell_bits));
        match bits {
            1..=CELL_BITS => bits,
            _ => CELL_BITS,
        }
    }
}

/// The chunks that a stream had filled when it stood at `point`.
fn until(spans: &[Span], point: &ForkPoint) -> Vec<Span> {
    let before = spans.partition_point(|span| span.header.sequence <= point.sequence);
    let mut spans = spans[..before].to_vec();
    if let Some(last) = spans.last_mut()
        && last.header.sequence == point.sequence
    {
        let end = last.offset + point.committed as usize;
        if end < last.end {
            last.end = end.max(last.offset);
            last.whole = false;
        }
    }
    spans
}
