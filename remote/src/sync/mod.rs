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
//! Chunks that a recorder moves, as it leaves short lives out, come by the rules of [`newest`].
//!
//! A flight recorder's log changes anywhere. Of that, pages are sent that differ, and what
//! the receiver has is exact when nothing changes any more.

mod again;
mod chunk;
mod events;
mod newest;
mod uplink;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use memlog_format::FIRST_VERSION;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, VERSION_AT};
use memlog_format::counter::{AREA_AT, AREA_END, Counter};

use crate::look::{before_end, chunks, first_record, open_until, place};
use chunk::{Bits, Chunk, PAGE, PAGES, is_full_table, without_zeros};
use newest::{Newest, is_spare};
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
    /// With events that may be new.
    events: Vec<(Found, Header)>,
    /// With other records.
    metas: Vec<(Found, Header)>,
    /// Where events were.
    emptied: Vec<Found>,
    /// There is more than a turn has.
    has_more: bool,
}

/// Pieces of a commit, in their order.
#[derive(Default)]
struct Commit(Vec<(u64, Vec<u8>)>);

impl Commit {
    /// Makes what it has so far valid.
    fn end(&mut self, link: &mut Uplink) -> Result<(), Stop> {
        match std::mem::take(&mut self.0) {
            none if none.is_empty() => Ok(()),
            pieces => link.commit(&pieces),
        }
    }
}

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
            events,
            metas,
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
        let (mut commit, mut last) = (Commit::default(), Commit::default());
        for (found, header) in &events {
            is_new |= self.send_events(found, *header, &mut commit, link)?;
        }
        for found in emptied {
            self.send_emptied(&found, has_more, &mut commit);
        }
        let (may_end, mut has_end) = (self.had_end && !has_more, false);
        for (found, header) in &metas {
            has_end |= self.send_meta(found, *header, may_end, &mut last, link)?;
        }
        let mut all = commit.0;
        all.append(&mut last.0);
        // Those that were given out since come with the next turn.
        let given = Counter::Chunks.read(&first).min(u64::from(chunks(bytes)));
        if !has_more {
            let at = AREA_AT + 8 * Counter::Chunks as usize;
            first[at..at + 8].copy_from_slice(&given.to_le_bytes());
        }
        let counters = &first[AREA_AT..AREA_END];
        if self.counters != counters {
            // Chunks that are given out are part of the log, if not begun.
            if !has_more {
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
        let (mut paged, mut emptied) = (Vec::new(), Vec::new());
        let (mut events, mut metas) = (Vec::new(), Vec::new());
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
            let Some(header) = header else {
                match is_spare(&bytes) && !self.is_mutable {
                    // What lies in it counts nowhere; what was there may count at the receiver.
                    true => emptied.push(found),
                    false => paged.push(found),
                }
                continue;
            };
            match header.kind {
                Kind::Events if is_same => {}
                Kind::Events | Kind::Meta if self.is_mutable => paged.push(found),
                Kind::Meta if is_same => {}
                Kind::Events if known == Some(&self.newest.told(&header, bytes)) => {}
                Kind::Events => events.push((found, header)),
                Kind::Meta => metas.push((found, header)),
                _ => paged.push(found),
            }
        }
        let has_more = events.len() > self.room;
        events.truncate(self.room);
        // Of the log's header last: it may tell an end.
        paged.sort_by_key(|found| found.header.map(|header| header.kind) == Some(Kind::Meta));
        Ok(Scan {
            tables: paged,
            events,
            metas,
            emptied,
            has_more,
        })
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
