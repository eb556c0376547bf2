//! What of one log is not at the receiver yet, and how it gets there.
//!
//! A log's chunks change while the program runs: records are added to many of them at once,
//! and a chunk's header says how far it is written. A turn sends what is new:
//!
//! ```text
//! 1  what the header of each chunk says; chunks that were sealed and sent are passed over
//! 2  tables of stacks, which events name: so they are read after 1
//! 3  the records of events and of the log's header, up to what 1 said
//! 4  in one commit: the headers of 3, events first, and then the counters
//! ```
//!
//! So whatever the receiver has at a moment is a log, as if the program had been killed. That
//! it ended is told once all else was, for readers take a log with an end for whole.
//!
//! A flight recorder's log changes anywhere. Of that, pages are sent that differ, and what
//! the receiver has is exact when nothing changes any more.

mod again;
mod chunk;
mod newest;
mod uplink;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memlog_format::FIRST_VERSION;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, VERSION_AT};
use memlog_format::counter::{AREA_AT, AREA_END, Counter};

use crate::look::{before_end, chunks, first_record, open_until, place};
use chunk::{Bits, Chunk, PAGE, PAGES, is_full_table, without_zeros};
use newest::{Newest, counts, is_same, is_spare, nothing_of};
pub use uplink::{Pace, Stop, Uplink, answer_of, unexpected};

/// Chunks of events in one turn, at most: other logs have theirs.
const MOST_EVENTS: usize = 256;

/// One log on its way.
pub struct Sync {
    file: File,
    /// Chunks that are there and will not change.
    settled: Bits,
    /// What is there of others.
    open: BTreeMap<u32, Chunk>,
    newest: Newest,
    /// Whether chunks of events are moved.
    moves: bool,
    counters: Vec<u8>,
    /// Whether an end was seen in an earlier turn.
    had_end: bool,
    /// Whether chunks are used again.
    is_mutable: bool,
    /// Chunks of events in the next turn. It begins with one and doubles: what a connection
    /// did not commit before it broke is sent once more.
    room: usize,
    /// Room for a chunk, while it is looked at.
    buffer: Vec<u8>,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turn {
    /// Something was new.
    pub is_new: bool,
    /// There is more.
    pub has_more: bool,
}

/// A chunk that has something new, as its header says.
struct Found {
    index: u32,
    bytes: [u8; HEADER_SIZE],
    header: Option<Header>,
}

/// What may have changed.
struct Scan {
    /// Compared page by page.
    tables: Vec<Found>,
    /// With records that may be new.
    filled: Vec<Found>,
    /// Where events were.
    emptied: Vec<Found>,
    /// There is more than a turn has.
    has_more: bool,
}

/// Pieces of a commit, in their order.
#[derive(Default)]
struct Commit(Vec<(u64, Vec<u8>)>);

impl Sync {
    /// Of an open log, of which the receiver has nothing.
    pub fn of(file: File) -> Self {
        Self {
            file,
            settled: Bits::default(),
            open: BTreeMap::new(),
            newest: Newest::default(),
            moves: false,
            counters: Vec::new(),
            had_end: false,
            is_mutable: false,
            room: 1,
            buffer: Vec::new(),
        }
    }

    /// The log.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Sends what is new. The log has so many bytes.
    pub fn turn(&mut self, bytes: u64, link: &mut Uplink) -> Result<Turn, Stop> {
        self.with_room(link, |sync, link| sync.turn_once(bytes, link))
    }

    /// With room for a chunk, which all logs share.
    fn with_room<R>(
        &mut self,
        link: &mut Uplink,
        work: impl FnOnce(&mut Self, &mut Uplink) -> R,
    ) -> R {
        std::mem::swap(&mut self.buffer, link.spare);
        let done = work(self, link);
        std::mem::swap(&mut self.buffer, link.spare);
        done
    }

    fn turn_once(&mut self, bytes: u64, link: &mut Uplink) -> Result<Turn, Stop> {
        let mut first = [0; AREA_END];
        self.file.read_exact_at(&mut first, 0)?;
        if first[VERSION_AT] > FIRST_VERSION && !self.is_mutable {
            self.is_mutable = true;
            self.compare_all(bytes, link)?;
        }
        let Scan {
            tables,
            filled,
            emptied,
            has_more,
        } = self.scan(chunks(bytes))?;
        // Behind the scan: what it found may have been moved meanwhile.
        let mut counter = [0; AREA_END];
        self.file.read_exact_at(&mut counter, 0)?;
        self.moves = Counter::CulledChunks.read(&counter) > 0;
        let mut is_new = false;
        for found in &tables {
            is_new |= self.send_pages(found, link)?;
        }
        let headers = filled.iter().filter_map(|found| found.header);
        let begun: BTreeSet<_> = headers.map(|one| (one.stream, one.sequence)).collect();
        let (mut events, mut metas) = (Commit::default(), Commit::default());
        let mut has_end = false;
        for found in &filled {
            let Some(header) = found.header else { continue };
            match header.kind {
                Kind::Meta => {
                    let may_end = self.had_end && !has_more;
                    has_end |= self.send_meta(found, header, may_end, &mut metas, link)?;
                }
                _ if self.is_replaced(found) => {
                    // What was moved from a place is to be there before it has another chunk.
                    if !events.0.is_empty() {
                        is_new = true;
                        link.commit(&std::mem::take(&mut events.0))?;
                    }
                    self.send_events(found, &begun, &mut events, link)?;
                }
                _ => self.send_events(found, &begun, &mut events, link)?,
            }
        }
        for found in emptied {
            self.send_emptied(&found, has_more, &mut events);
        }
        let mut all = events.0;
        all.append(&mut metas.0);
        let counters = &first[AREA_AT..AREA_END];
        if self.counters != counters {
            // Chunks that are given out are part of the log, if not begun.
            if !has_more {
                let given = Counter::Chunks.read(&first);
                let length = given.saturating_mul(CHUNK_SIZE as u64).min(bytes);
                all.push((length, Vec::new()));
            }
            all.push((AREA_AT as u64, counters.to_vec()));
            self.counters = counters.to_vec();
        }
        is_new |= !all.is_empty();
        if is_new {
            link.commit(&all)?;
        }
        self.room = (self.room * 2).min(MOST_EVENTS);
        let is_held_back = has_end && !self.had_end;
        self.had_end |= has_end;
        Ok(Turn {
            is_new,
            has_more: has_more || is_held_back,
        })
    }

    /// What may have changed: chunks that are compared page by page, and chunks that are
    /// filled; of events no more than a turn has.
    fn scan(&mut self, count: u32) -> io::Result<Scan> {
        let (mut paged, mut filled, mut emptied) = (Vec::new(), Vec::new(), Vec::new());
        let mut events = Vec::new();
        for index in self.settled.zeros(count) {
            let mut bytes = [0; HEADER_SIZE];
            let read = read_up_to(&self.file, &mut bytes, place(index))?;
            let header = match Header::decode(&bytes[..read]) {
                Ok(None) if !self.open.contains_key(&index) => continue,
                Ok(header) => header,
                Err(_) if read < HEADER_SIZE => continue,
                Err(_) => None,
            };
            let found = Found {
                index,
                bytes,
                header,
            };
            let known = self.open.get(&index).map(|chunk| &chunk.header);
            let is_same = known.is_some_and(|known| *known == bytes);
            let kind = header.map(|header| header.kind);
            let is_spare = kind.is_none() && !self.is_mutable && is_spare(&bytes);
            match kind {
                // What lies in it counts nowhere; what was there may count at the receiver.
                None if is_spare => emptied.push(found),
                Some(Kind::Events) if is_same => {}
                Some(Kind::Events | Kind::Meta) if self.is_mutable => paged.push(found),
                Some(Kind::Events) => events.push(found),
                Some(Kind::Meta) if is_same => {}
                Some(Kind::Meta) => filled.push(found),
                _ => paged.push(found),
            }
        }
        // A chunk that is moved may have come to a place behind the stream's next one.
        let order = |header: Header| (header.sequence, header.stream, header.culled);
        events.sort_by_key(|found| found.header.map(order));
        let has_more = events.len() > self.room;
        events.truncate(self.room);
        filled.append(&mut events);
        // Of the log's header last: it may tell an end.
        paged.sort_by_key(|found| found.header.map(|header| header.kind) == Some(Kind::Meta));
        Ok(Scan {
            tables: paged,
            filled,
            emptied,
            has_more,
        })
    }

    /// `begun`: streams and sequences of what this turn has.
    fn send_events(
        &mut self,
        found: &Found,
        begun: &BTreeSet<(u32, u32)>,
        commit: &mut Commit,
        link: &mut Uplink,
    ) -> Result<(), Stop> {
        let Some(header) = found.header else {
            return Ok(());
        };
        if self.moves && !self.may_come(found, &header) {
            return Ok(());
        }
        let committed = header.committed as usize;
        // The next may have come to a place that was looked at before, or lies behind all that
        // there was.
        let is_next_told = begun.contains(&(header.stream, header.sequence.wrapping_add(1)));
        let told = match header.is_sealed() && !is_next_told {
            true => open_until(header, committed),
            false => found.bytes,
        };
        let known = self
            .open
            .get(&found.index)
            .filter(|_| self.has_begun(found));
        if known.is_some_and(|chunk| chunk.header == told) {
            return Ok(());
        }
        let (is_begun, sent) = (known.is_some(), known.map_or(0, |chunk| chunk.sent));
        let start = sent.max(HEADER_SIZE);
        // The rest of a sealed chunk is as it will stay.
        let end = match header.is_sealed() {
            true => CHUNK_SIZE,
            false => committed,
        };
        let length = self.read_range(found.index, start, end, committed)?;
        // The place may have another chunk meanwhile; then what was read is of no chunk.
        let mut now = [0; HEADER_SIZE];
        read_up_to(&self.file, &mut now, place(found.index))?;
        if !is_same(&now, &found.bytes) {
            return Ok(());
        }
        let (at, records) = (place(found.index), &self.buffer[..length]);
        let may_count = |chunk: &Chunk| counts(&chunk.header) || chunk.is_unknown();
        let is_taken = !is_begun && self.open.get(&found.index).is_some_and(may_count);
        if !is_begun {
            link.write(at, &nothing_of(header))?;
        }
        if length > 0 {
            link.write(at + start as u64, records)?;
        }
        let piece = (at, told.to_vec());
        match is_taken {
            // What counted there is lacking for as short a time as can be.
            true => link.commit(&[piece])?,
            false => commit.0.push(piece),
        }
        self.newest.note(&header);
        if header.is_sealed() && told == found.bytes {
            self.settled.set(found.index);
            self.open.remove(&found.index);
        } else {
            let chunk = self.open.entry(found.index).or_default();
            (chunk.sent, chunk.header) = (committed, told);
        }
        Ok(())
    }

    /// Whether the receiver has another chunk of events there.
    fn is_replaced(&self, found: &Found) -> bool {
        let known = self.open.get(&found.index).map(|chunk| &chunk.header);
        known.is_some_and(|known| counts(known) && !is_same(known, &found.bytes))
    }

    /// Whether the receiver has all that is to be there before a chunk.
    fn may_come(&self, found: &Found, header: &Header) -> bool {
        let known = self.open.get(&found.index).map(|chunk| &chunk.header);
        self.newest.has_before(header)
            && known.is_none_or(|known| self.newest.gives_way(known, header))
    }

    /// Whether the receiver may have something of the chunk that a place has now.
    fn has_begun(&self, found: &Found) -> bool {
        self.open.get(&found.index).is_some_and(|chunk| {
            is_same(&chunk.header, &found.bytes) || chunk.is_unknown() && !self.moves
        })
    }

    /// A place that has no chunk any more. `has_more`: there are chunks that were not sent.
    fn send_emptied(&mut self, found: &Found, has_more: bool, commit: &mut Commit) {
        let Some(chunk) = self.open.get_mut(&found.index) else {
            return;
        };
        let may = match chunk.is_unknown() {
            true => !has_more,
            false => counts(&chunk.header) && self.newest.has_passed(&chunk.header),
        };
        if may {
            commit.0.push((place(found.index), found.bytes.to_vec()));
            (chunk.header, chunk.sent) = (found.bytes, HEADER_SIZE);
        }
    }

    /// Whether it tells an end.
    fn send_meta(
        &mut self,
        found: &Found,
        header: Header,
        may_end: bool,
        commit: &mut Commit,
        link: &mut Uplink,
    ) -> Result<bool, Stop> {
        let committed = header.committed as usize;
        let first = first_record(found.index);
        read_up_to(&self.file, &mut self.buffer, place(found.index))?;
        let end = before_end(&self.buffer, first, committed);
        let has_end = end < committed;
        let told = match has_end && !may_end {
            true => open_until(header, end),
            false => found.bytes,
        };
        let known = self.open.get(&found.index);
        if known.is_some_and(|chunk| chunk.header == told) {
            return Ok(has_end);
        }
        let sent = known.map_or(0, |chunk| chunk.sent).max(first);
        self.begin(found, header, link)?;
        self.send_range(found.index, sent, committed, committed, link)?;
        commit.0.push((place(found.index), told.to_vec()));
        let chunk = self.open.entry(found.index).or_default();
        (chunk.sent, chunk.header) = (committed, told);
        Ok(has_end)
    }

    /// A chunk of which nothing is there begins as an empty one: bytes without a header are
    /// damage.
    fn begin(&self, found: &Found, header: Header, link: &mut Uplink) -> Result<(), Stop> {
        match found.index == 0 || self.open.contains_key(&found.index) {
            true => Ok(()),
            false => link.write(place(found.index), &open_until(header, HEADER_SIZE)),
        }
    }

    /// Sends bytes of a chunk; behind `needed` zeros at the end are left out.
    fn send_range(
        &mut self,
        index: u32,
        start: usize,
        end: usize,
        needed: usize,
        link: &mut Uplink,
    ) -> Result<(), Stop> {
        if start >= end {
            return Ok(());
        }
        let length = self.read_range(index, start, end, needed)?;
        link.write(place(index) + start as u64, &self.buffer[..length])
    }

    /// Reads them into the buffer; how many are to be sent.
    fn read_range(
        &mut self,
        index: u32,
        start: usize,
        end: usize,
        needed: usize,
    ) -> io::Result<usize> {
        let room = &mut self.buffer[..end.saturating_sub(start)];
        let read = read_up_to(&self.file, room, place(index) + start as u64)?;
        let least = needed.saturating_sub(start).min(read);
        let rest = without_zeros(&self.buffer[..read]).len();
        Ok(rest.max(least))
    }

    /// Sends the pages of a chunk that differ from what is there. Whether there were any. Of
    /// a table the header comes first: its records are valid one by one.
    fn send_pages(&mut self, found: &Found, link: &mut Uplink) -> Result<bool, Stop> {
        let order = match found.header {
            Some(header) if matches!(header.kind, Kind::Events | Kind::Meta) => {
                self.begin(found, header, link)?;
                1..PAGES + 1
            }
            _ => 0..PAGES,
        };
        let read = read_up_to(&self.file, &mut self.buffer, place(found.index))?;
        self.buffer[read..].fill(0);
        let chunk = self.open.entry(found.index).or_default();
        let mut is_new = false;
        for page in order.map(|page| page % PAGES) {
            let bytes = &self.buffer[page * PAGE..(page + 1) * PAGE];
            if let Some(all) = chunk.changed(page, bytes) {
                link.write(place(found.index) + (page * PAGE) as u64, all)?;
                is_new = true;
            }
        }
        chunk.header.copy_from_slice(&self.buffer[..HEADER_SIZE]);
        chunk.sent = CHUNK_SIZE;
        let kind = found.header.map(|header| header.kind);
        if is_full_table(kind, &self.buffer) {
            self.settled.set(found.index);
            self.open.remove(&found.index);
        }
        Ok(is_new)
    }
}

/// Reads as much as there is.
pub fn read_up_to(file: &File, into: &mut [u8], at: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], at + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(done)
}
