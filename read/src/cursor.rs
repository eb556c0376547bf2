//! One stream's records in their own order, each with what it has to wait for.
//!
//! A realloc is resolved here. Its first half announces a release; the next
//! allocation or revoke of the stream says whether it came true, and stands in
//! the same chunk. So the cursor looks ahead on a copy of itself, and hands
//! out either the release or, at the same place, nothing but its number.

mod stand;

pub(crate) use stand::Stand;

use std::collections::HashSet;
use std::sync::Arc;

use memlog_format::Malformed;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE};
use memlog_format::event::{Alloc, Deltas, Event, Release, Usual};
use memlog_format::ext::Ext;
use memlog_format::varint::Reader;

use crate::error::{Finding, Findings};
use crate::flight::Flight;
use crate::grid::Span;
use crate::item::{Item, Kind, Place};
use crate::records::{Fate, fate_so_far, next_whole};
use crate::step::{CELLS, Gate, LEDGER, STAMPS, Step, gate};

/// Reads one stream.
#[derive(Clone)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    stream: u32,
    tid: u32,
    spans: std::vec::IntoIter<Span>,
    /// Bytes of the chunks that were opened.
    opened_bytes: u64,
    /// The chunk being read.
    body: &'a [u8],
    body_at: usize,
    records: Reader<'a>,
    deltas: Deltas,
    announced: bool,
    cell_mask: u32,
    verify: bool,
    /// Nothing but in a log that overwrote its oldest events.
    flight: Option<Arc<Flight>>,
    /// Whether numbers may be missing because blocks were left out.
    is_culled: bool,
    /// The fold under way, if it is of this chunk.
    fold: Option<u64>,
    /// The offset in the chunk of the record that was read last.
    at: usize,
    /// What came in the chunk of the fold under way.
    came: HashSet<u64>,
    /// Whether more may come behind the last chunk.
    grows: bool,
    /// Whether what is read now came after the first look at the stream's end.
    is_beyond: bool,
    /// A release whose fate did not stand in the log yet when it was read.
    undecided: Option<Release>,
    /// Whether what is read now is of a scope.
    is_in_scope: bool,
    /// The scope of what comes next, where no record of the chunk tells it.
    scope: Option<&'a [u8]>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(
        bytes: &'a [u8],
        stream: u32,
        spans: &[Span],
        flight: Option<Arc<Flight>>,
    ) -> Self {
        Self {
            bytes,
            stream,
            tid: 0,
            spans: Vec::from(spans).into_iter(),
            opened_bytes: 0,
            body: &[],
            body_at: 0,
            records: Reader::new(&[]),
            deltas: Deltas::default(),
            announced: false,
            cell_mask: memlog_format::order::CELLS as u32 - 1,
            verify: true,
            flight,
            is_culled: false,
            fold: None,
            at: 0,
            came: HashSet::new(),
            grows: false,
            is_beyond: false,
            undecided: None,
            is_in_scope: false,
            scope: None,
        }
    }

    /// Whether what it reads now came after the first look at the stream's end.
    pub(crate) fn is_beyond(&self) -> bool {
        self.is_beyond
    }

    /// The address whose release is undecided.
    pub(crate) fn undecided(&self) -> Option<u64> {
        self.undecided.map(|release| release.address)
    }

    /// Another stream was given the address of the undecided release: it happened.
    pub(crate) fn take_undecided(&mut self) -> Option<Release> {
        self.undecided.take()
    }

    /// Sets how many cells the recorder had.
    pub(crate) fn set_cell_bits(&mut self, bits: u32) {
        self.cell_mask = (1 << bits) - 1;
    }

    /// Of a log whose recorder left blocks out.
    pub(crate) fn of_culled(self, is_culled: bool) -> Self {
        Self { is_culled, ..self }
    }

    /// Whether gaps between the numbers of a place are the rule: where the oldest events
    /// are overwritten, or blocks were left out.
    pub(crate) fn has_gaps(&self, place: u32) -> bool {
        self.flight.is_some() || self.is_culled && place >= CELLS
    }

    /// Leaves it to another pass to compare checksums.
    pub(crate) fn skip_checksums(&mut self) {
        self.verify = false;
    }

    /// Bytes of the chunks that are not open yet.
    pub(crate) fn bytes_ahead(&self) -> u64 {
        let spans = self.spans.as_slice().iter();
        spans.map(|span| span.body(self.bytes).len() as u64).sum()
    }

    /// The same stream twice, before its first chunk: up to the middle of its chunks,
    /// and from there.
    pub(crate) fn halves(&self) -> (Self, Self) {
        let spans = self.spans.as_slice();
        let (first, second) = spans.split_at(spans.len() / 2);
        let of = |spans: &[Span]| Self {
            spans: Vec::from(spans).into_iter(),
            ..self.clone()
        };
        (of(first), of(second))
    }

    /// How much was read, chunk by chunk.
    pub(crate) fn opened_bytes(&self) -> u64 {
        self.opened_bytes
    }

    /// The item that a step of this cursor makes.
    pub(crate) fn item(&self, tick: u64, kind: Kind<'a>) -> Item<'a> {
        let Place { stream, tid, .. } = self.place();
        Item {
            stream,
            tid,
            tick,
            kind,
        }
    }

    /// Hands out records as long as they are what nearly all are and mean what they
    /// say, each with its place and what it has to wait for, until `take` says that it
    /// was the last one wanted. There are none in a log that overwrote its oldest
    /// events.
    #[inline(always)]
    pub(crate) fn usuals(&mut self, mut take: impl FnMut(Place, Usual, Gate) -> bool) {
        if self.flight.is_some() || self.undecided.is_some() {
            return;
        }
        let Place { stream, tid, .. } = self.place();
        let (cell_mask, mut announced) = (self.cell_mask, self.announced);
        let taken = |tick, usual| {
            let (address, order) = match &usual {
                Usual::Alloc(alloc) => {
                    announced = false;
                    (alloc.address, alloc.order)
                }
                Usual::Release(release) => (release.address, release.order),
            };
            let gate = gate(address, order, cell_mask);
            take(Place { stream, tid, tick }, usual, gate)
        };
        self.deltas.each_usual(&mut self.records, taken);
        self.announced = announced;
    }

    /// Where its items stand now.
    #[inline]
    pub(crate) fn place(&self) -> Place {
        Place {
            stream: self.stream,
            tid: self.tid,
            tick: self.deltas.tick,
        }
    }

    /// The next step, or nothing at the stream's end.
    #[inline]
    pub(crate) fn next(&mut self, findings: &mut Findings) -> Option<Step<'a>> {
        loop {
            if self.undecided.is_some()
                && let Some(kind) = self.decide(findings)
            {
                let (gate, tick) = (Gate::Open, self.deltas.tick);
                let kind = Some(kind);
                return Some(Step { gate, tick, kind });
            }
            if let Some(scope) = self.scope.take() {
                let (gate, tick) = (Gate::Open, self.deltas.tick);
                let kind = Some(Kind::Scope(scope));
                return Some(Step { gate, tick, kind });
            }
            self.at = HEADER_SIZE + self.records.at();
            let step = match next_whole(&mut self.deltas, &mut self.records, self.body) {
                Ok(Some(event)) => self.take(event, findings),
                Ok(None) => {
                    self.open_next(findings)?;
                    None
                }
                Err(error) => {
                    self.leave(error, findings);
                    None
                }
            };
            if let Some((gate, kind)) = step {
                let tick = self.deltas.tick;
                return Some(Step { gate, tick, kind });
            }
        }
    }

    #[inline]
    fn take(
        &mut self,
        event: Event<'a>,
        findings: &mut Findings,
    ) -> Option<(Gate, Option<Kind<'a>>)> {
        match event {
            Event::Alloc(alloc) => {
                self.announced = false;
                let gate = self.gate(alloc.address, alloc.order);
                Some((gate, Some(self.alloc(alloc))))
            }
            Event::Release(release) => Some(self.take_release(release, findings)),
            Event::Tick(_) => None,
            Event::Stamp(stamp) => {
                let gate = Gate::Numbered(STAMPS, stamp);
                Some((gate, Some(Kind::Stamp(stamp))))
            }
            Event::Revoke => {
                if !std::mem::take(&mut self.announced) {
                    let stream = self.stream;
                    findings.push(Finding::StrayRevoke { stream });
                }
                None
            }
            Event::Ext(ext) => self.take_ext(ext),
        }
    }

    fn take_ext(&mut self, ext: Ext<'a>) -> Option<(Gate, Option<Kind<'a>>)> {
        let (gate, kind) = match ext {
            Ext::Thread { tid, name } => {
                (self.tid, self.is_in_scope) = (tid, false);
                (Gate::Open, Kind::Thread { tid, name })
            }
            Ext::Rss(rss) => (Gate::Numbered(STAMPS, rss.stamp), Kind::Rss(rss)),
            Ext::Fork { child } => (Gate::Open, Kind::Fork { child }),
            Ext::Loss { events, reason } => (Gate::Open, Kind::Loss { events, reason }),
            Ext::Ledger(entry) => (Gate::Numbered(LEDGER, entry.order), Kind::Ledger(entry)),
            Ext::Mark(text) => (Gate::Open, Kind::Mark(text)),
            Ext::Scope(text) => {
                self.is_in_scope = !text.is_empty();
                (Gate::Open, Kind::Scope(text))
            }
            Ext::Limit(limit) => (Gate::Open, Kind::Limit(limit)),
            Ext::Failed(failure) => (Gate::Open, Kind::Failed(failure)),
            Ext::Passed(passed) => (Gate::Open, Kind::Passed(passed)),
            Ext::Switch(switch) => (Gate::Numbered(STAMPS, switch.stamp), Kind::Switch(switch)),
            Ext::Unseen | Ext::Custom | Ext::Unknown { .. } => return None,
        };
        Some((gate, Some(kind)))
    }

    #[inline]
    fn gate(&self, address: u64, order: Option<u64>) -> Gate {
        gate(address, order, self.cell_mask)
    }

    fn take_release(
        &mut self,
        release: Release,
        findings: &mut Findings,
    ) -> (Gate, Option<Kind<'a>>) {
        let gate = self.gate(release.address, release.order);
        if !release.announced {
            return (gate, Some(self.release(release)));
        }
        match fate_so_far(self.deltas, self.records.clone(), self.body).0 {
            Some(Fate::Happened) => (gate, Some(self.release(release))),
            Some(Fate::Revoked) => {
                self.announced = true;
                (gate, None)
            }
            None if self.chunk_grows() => {
                self.undecided = Some(release);
                (gate, None)
            }
            _ if self.is_prior(release.address, release.order) => (gate, None),
            Some(Fate::Unseen) => (gate, Some(Kind::Unfinished(release))),
            _ => (gate, Some(self.unfinished(release, findings))),
        }
    }

    fn unfinished(&self, release: Release, findings: &mut Findings) -> Kind<'a> {
        findings.push(Finding::UnfinishedRealloc {
            stream: self.stream,
            address: release.address,
        });
        Kind::Unfinished(release)
    }

    /// Whether more of the chunk at hand may come.
    fn chunk_grows(&self) -> bool {
        match self.spans.as_slice().first() {
            Some(next) => next.goes_on(),
            None => self.grows,
        }
    }

    /// What became of the undecided release, if that is known by now. It stands where
    /// the release would: behind what it waited for.
    fn decide(&mut self, findings: &mut Findings) -> Option<Kind<'a>> {
        let release = self.undecided?;
        match fate_so_far(self.deltas, self.records.clone(), self.body).0 {
            None if self.chunk_grows() => None,
            Some(Fate::Happened) => {
                self.undecided = None;
                Some(Kind::Release(release))
            }
            Some(Fate::Revoked) => {
                self.undecided = None;
                self.announced = true;
                None
            }
            Some(Fate::Unseen) => {
                self.undecided = None;
                Some(Kind::Unfinished(release))
            }
            _ => {
                self.undecided = None;
                Some(self.unfinished(release, findings))
            }
        }
    }

    #[inline]
    fn alloc(&mut self, alloc: Alloc) -> Kind<'a> {
        if self.flight.is_none() {
            return Kind::Alloc(alloc);
        }
        if self.is_prior(alloc.address, alloc.order) {
            return Kind::PriorAlloc(alloc);
        }
        if self.fold.is_some() {
            self.came.insert(alloc.address);
        }
        Kind::Alloc(alloc)
    }

    #[inline]
    fn release(&mut self, release: Release) -> Kind<'a> {
        let Some(flight) = &self.flight else {
            return Kind::Release(release);
        };
        // What goes without a number a fold takes out of the table; a number
        // would have left a dead entry.
        let is_gone = self.fold.is_some()
            && release.order.is_none()
            && flight.entry(release.address).is_none()
            && !self.came.remove(&release.address);
        match is_gone || self.is_prior(release.address, release.order) {
            true => Kind::PriorRelease(release),
            false => Kind::Release(release),
        }
    }

    /// Whether the live set of a flight recorder is later than a record.
    fn is_prior(&self, address: u64, order: Option<u64>) -> bool {
        let place = self.fold.map(|fold| (fold, self.at));
        let flight = self.flight.as_ref();
        flight.is_some_and(|flight| flight.is_prior(address, order, place))
    }

    /// Passes over the records that were folded.
    fn skip_folded(&mut self, span: &Span) {
        let Some(flight) = &self.flight else {
            return;
        };
        let folded = flight.folded(span.offset, span.header.folded);
        self.fold = folded.under_way;
        self.came.clear();
        while HEADER_SIZE + self.records.at() < folded.before {
            match self.deltas.next(&mut self.records) {
                Ok(Some(Event::Ext(Ext::Thread { tid, .. }))) => {
                    self.tid = tid;
                    self.scope = Some(&[]);
                }
                Ok(Some(Event::Ext(Ext::Scope(text)))) => self.scope = Some(text),
                // Whether it was revoked may stand behind.
                Ok(Some(Event::Release(release))) => self.announced = release.announced,
                Ok(Some(Event::Alloc(_) | Event::Revoke)) => self.announced = false,
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => {
                    self.records = Reader::new(&[]);
                    return;
                }
            }
        }
    }

    /// Goes to the next chunk.
    fn open_next(&mut self, findings: &mut Findings) -> Option<()> {
        let span = self.spans.next()?;
        let offset = span.offset;
        if span.goes_on() {
            self.go_on(&span);
            return Some(());
        }
        self.is_beyond = span.is_late;
        if self.verify && !span.is_intact(self.bytes) {
            findings.push(Finding::BadChecksum { offset });
        }
        self.body = span.body(self.bytes);
        self.opened_bytes += self.body.len() as u64;
        self.body_at = offset + HEADER_SIZE;
        self.records = Reader::new(self.body);
        let tick = span.header.base_tick.max(self.deltas.tick);
        self.deltas = Deltas::at_start(tick, span.header.base_stamp);
        self.announced = false;
        // Each chunk tells its own.
        self.scope = std::mem::take(&mut self.is_in_scope).then_some(&[]);
        if span.header.thread != 0 {
            self.tid = span.header.thread;
        }
        self.skip_folded(&span);
        self.is_in_scope = self.scope.is_some_and(|scope| !scope.is_empty());
        Some(())
    }

    /// Goes on in the middle of a chunk, unless the rest of that was given up.
    fn go_on(&mut self, span: &Span) {
        self.is_beyond = span.is_late;
        let is_left = self.body_at + self.records.at() > span.offset + span.from;
        self.body = if is_left { &[] } else { span.body(self.bytes) };
        self.opened_bytes += self.body.len() as u64;
        self.body_at = match is_left {
            true => span.offset + CHUNK_SIZE,
            false => span.offset + span.from,
        };
        self.records = Reader::new(self.body);
    }

    /// Gives up the rest of the chunk.
    fn leave(&mut self, error: Malformed, findings: &mut Findings) {
        findings.push(Finding::BadRecord {
            offset: self.body_at + error.offset,
            expected: error.expected,
            unread: self.body.len().saturating_sub(error.offset),
        });
        self.records = Reader::new(&[]);
        self.body_at = (self.body_at / CHUNK_SIZE + 1) * CHUNK_SIZE;
    }
}
