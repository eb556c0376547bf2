//! What a log's streams hold at one moment, where the recorder writes chunks anew meanwhile,
//! without short lives.
//!
//! A place in the file has one chunk after another: which, is told by *sequence* and
//! *culled* in its header, and no two are the same. The recorder changes them first, then
//! the records, then `committed`. So records that were read between two equal readings of
//! these words are those of one chunk.
//!
//! ```text
//! a round: what stands in each place, but for those that will not change any more
//!          how far each chunk that is not sealed is committed           the marks
//!          what stands in all others once more: tables may have come, and nothing else
//!          each chunk that is not sealed is copied, up to what it is committed by now
//! ```
//!
//! * Whatever belongs before something that is before a mark was written before the copies.
//!   So both together are of one moment: see `marks`.
//! * What a round finds in no place was not there at the moment: the second look at a place
//!   is behind it. So of each stream all is there but what was never written.
//! * A stream's newest chunk is of the highest sequence that any of its places says. Where it
//!   counts in none, it was moved between two looks, and the round is void. So it is if a place
//!   is another than before. Then there is one more, so many at most.
//! * If all rounds of a second see the same, nobody writes: the log is damaged, and read as it
//!   is.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_AT, Counter};

use crate::marks::{Begun, Marks};

/// A round takes microseconds for each thread, and a thread fills an eighth of a chunk before
/// it writes one anew.
const ROUNDS: usize = 2000;
/// So many that are alike, a millisecond apart: a log on its way to another machine has no
/// newest chunk while that is written.
const MOST_ALIKE: usize = 1000;

/// The chunks of a moment.
#[derive(Debug, Default)]
pub struct Steady {
    /// Places whose chunk stays as it is in the file, but for what is added to it.
    kept: BTreeSet<usize>,
    /// Copies of others.
    copies: Copies,
    /// How many places had been given out.
    given: u64,
    /// How far each stream was before the copies were made; nothing where nobody writes, so
    /// that all is as it is.
    marks: Option<Marks>,
}

/// Chunks by their places.
type Copies = BTreeMap<usize, Vec<u8>>;

/// What stands in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Seen {
    /// No chunk so far, or none that can be read.
    Nothing,
    /// One of no stream, or one that is sealed: it stays.
    Stays,
    /// One of a stream, or where one was.
    Chunk(Glance),
}

/// A chunk of events, as its header tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Glance {
    stream: u32,
    sequence: u32,
    culled: u32,
    /// 0 while nothing in the place counts.
    committed: usize,
    is_sealed: bool,
}

impl Steady {
    /// Of a log as it lies in the file, while it is written to, with what is to be written
    /// soon. Nothing if its recorder was always faster.
    pub fn take(live: &[u8]) -> Option<Self> {
        let mut looking = Looking {
            live,
            streams: 0,
            given: 0,
            places: 0,
            unsettled: Vec::new(),
            sealed: BTreeMap::new(),
            kept: BTreeSet::new(),
        };
        let (mut before, mut alike) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            let seen = looking.look();
            if let Some((marks, copies)) = looking.moment(&seen) {
                return Some(Self {
                    kept: looking.kept,
                    copies,
                    given: looking.given,
                    marks: Some(marks),
                });
            }
            if seen != before {
                (before, alike) = (seen, 0);
                std::thread::yield_now();
                continue;
            }
            alike += 1;
            if alike == MOST_ALIKE {
                return Some(Self::default());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        None
    }

    /// Whether places were given out behind those that were looked at.
    pub fn goes_on_behind(&self, live: &[u8]) -> bool {
        self.given > live.len().div_ceil(CHUNK_SIZE) as u64
    }

    /// Makes a copy of the same log, which was made after [`Steady::take`], one of that moment;
    /// how far each stream was just before that. Nothing where it stays as it is.
    pub fn settle(self, copy: &mut [u8]) -> Option<Marks> {
        let marks = self.marks?;
        let unused = Header {
            committed: 0,
            ..Header::new(Kind::Events, 0, 0)
        };
        for (index, place) in copy.chunks_mut(CHUNK_SIZE).enumerate() {
            let has_events = |header: Header| header.kind == Kind::Events;
            let chunk = match self.copies.get(&index) {
                Some(chunk) => chunk.as_slice(),
                None if self.kept.contains(&index) => continue,
                // Begun later; what else was not seen is a table's, or damage to be told.
                None if Header::decode_unused(place).is_some_and(has_events) => &unused.encode(),
                None => continue,
            };
            let length = chunk.len().min(place.len());
            place[..length].copy_from_slice(&chunk[..length]);
        }
        let at = AREA_AT + 8 * Counter::Chunks as usize;
        if let Some(word) = copy.get_mut(at..at + 8) {
            word.copy_from_slice(&self.given.to_le_bytes());
        }
        Some(marks)
    }
}

struct Looking<'l> {
    live: &'l [u8],
    /// How many streams had been begun before a look.
    streams: u64,
    /// How many places were given out.
    given: u64,
    /// Those of them that there are.
    places: usize,
    /// Places that may change.
    unsettled: Vec<usize>,
    /// By stream, the highest sequence of a sealed chunk.
    sealed: BTreeMap<u32, u32>,
    kept: BTreeSet<usize>,
}

impl Looking<'_> {
    /// What stands in each place that may change.
    fn look(&mut self) -> Vec<(usize, Seen)> {
        self.streams = Counter::Streams.read(black_box(self.live));
        fence(Ordering::Acquire);
        self.look_for_more();
        let looked = self.unsettled.iter();
        let looked: Vec<_> = looked.map(|&index| (index, self.at(index))).collect();
        for &(index, seen) in &looked {
            match seen {
                Seen::Chunk(chunk) if chunk.is_sealed => {
                    let last = self.sealed.entry(chunk.stream).or_default();
                    *last = chunk.sequence.max(*last);
                    self.kept.insert(index);
                }
                Seen::Stays => drop(self.kept.insert(index)),
                _ => {}
            }
        }
        self.unsettled.retain(|index| !self.kept.contains(index));
        looked
    }

    /// Looks at how many places were given out: each is, before anything is written there.
    fn look_for_more(&mut self) -> std::ops::Range<usize> {
        self.given = Counter::Chunks.read(black_box(self.live));
        fence(Ordering::Acquire);
        let most = self.live.len().div_ceil(CHUNK_SIZE);
        let given = usize::try_from(self.given).map_or(most, |given| given.min(most));
        let new = self.places.min(given)..given;
        self.unsettled.extend(new.clone());
        self.places = given.max(self.places);
        new
    }

    /// How far each stream is at a moment behind a look, and copies of the chunks that are
    /// not sealed, of a later one; nothing where the look is void.
    fn moment(&mut self, seen: &[(usize, Seen)]) -> Option<(Marks, Copies)> {
        let mut streams: BTreeMap<u32, Vec<Glance>> = BTreeMap::new();
        let mut open = Vec::new();
        for &(index, seen) in seen {
            if let Seen::Chunk(chunk) = seen
                && !chunk.is_sealed
            {
                streams.entry(chunk.stream).or_default().push(chunk);
                open.extend((chunk.committed > 0).then_some((index, chunk)));
            }
        }
        let is_told = |(stream, chunks): (&u32, &Vec<Glance>)| {
            has_newest(chunks, self.sealed.get(stream).copied())
        };
        if !streams.iter().all(is_told) {
            return None;
        }
        for (index, known) in &mut open {
            match self.at(*index) {
                Seen::Chunk(now) if now.is_same(known) && now.committed > 0 => *known = now,
                _ => return None,
            }
        }
        // Stacks are written before the events that have them.
        fence(Ordering::Acquire);
        let new = self.look_for_more().map(|index| (index, Seen::Nothing));
        for (index, seen) in seen.iter().copied().chain(new) {
            match (seen, self.at(index)) {
                (Seen::Nothing, Seen::Stays) => drop(self.kept.insert(index)),
                (Seen::Chunk(chunk), Seen::Chunk(now)) if chunk.committed > 0 || chunk == now => {}
                (seen, now) if seen == now => {}
                _ => return None,
            }
        }
        let kept = &self.kept;
        self.unsettled.retain(|index| !kept.contains(index));
        let copies = open.iter().map(|one| self.copy(*one));
        Some((self.marks(&open), copies.collect::<Option<_>>()?))
    }

    /// Of the newest chunks that count; a sealed one counts as a whole.
    fn marks(&self, open: &[(usize, Glance)]) -> Marks {
        let sealed = self.sealed.iter();
        let sealed = sealed.map(|(&stream, &sequence)| (stream, sequence, None));
        // Of two of one stream and sequence the newer counts, so it is last.
        let mut open: Vec<_> = open.iter().collect();
        open.sort_by_key(|(_, chunk)| (chunk.sequence, chunk.culled));
        let open = open.into_iter().map(|(index, chunk)| {
            let end = index * CHUNK_SIZE + chunk.committed;
            (chunk.stream, chunk.sequence, Some(end))
        });
        let is_last = |&(stream, sequence, _): &(u32, u32, Option<usize>)| {
            let sealed = self.sealed.get(&stream);
            sealed.is_none_or(|sealed| *sealed < sequence)
        };
        let begun = Begun {
            chunks: self.given,
            streams: self.streams,
        };
        Marks::at(begun, sealed.chain(open.filter(is_last)))
    }

    fn copy(&self, (index, known): (usize, Glance)) -> Option<(usize, Vec<u8>)> {
        let place = place(self.live, index);
        let committed = glance(place)?.committed;
        fence(Ordering::Acquire);
        let mut copy = place.get(..committed)?.to_vec();
        fence(Ordering::Acquire);
        let now = glance(place)?;
        // By now it may be sealed, or not count any more.
        let header = Header {
            committed: committed as u32,
            flags: 0,
            checksum: 0,
            ..Header::decode_unused(&copy)?
        };
        copy.get_mut(..HEADER_SIZE)?
            .copy_from_slice(&header.encode());
        let is_same = [glance(&copy)?, now].iter().all(|one| one.is_same(&known));
        is_same.then_some((index, copy))
    }

    fn at(&self, index: usize) -> Seen {
        let place = place(self.live, index);
        let mut known = glance(place);
        for _ in 0..ROUNDS {
            let Some(before) = known else {
                break;
            };
            // How far it is committed counts if it was the same before and after.
            fence(Ordering::Acquire);
            let now = glance(place);
            fence(Ordering::Acquire);
            let after = glance(place);
            if let (Some(now), Some(after)) = (now, after)
                && before.is_same(&now)
                && now.is_same(&after)
            {
                return Seen::Chunk(now);
            }
            known = after;
        }
        match Header::decode(place) {
            Ok(Some(header)) if header.kind != Kind::Events => Seen::Stays,
            _ => Seen::Nothing,
        }
    }
}

/// Whether the newest chunk of a stream is among those that were seen: these are not sealed,
/// and that is the last sealed one.
fn has_newest(chunks: &[Glance], sealed: Option<u32>) -> bool {
    let last = chunks.iter().map(|chunk| chunk.sequence).max();
    let Some(last) = last.filter(|last| sealed.is_none_or(|sealed| sealed < *last)) else {
        return true;
    };
    let mut newest = chunks.iter().filter(|chunk| chunk.sequence == last);
    let is_there = newest.clone().any(|chunk| chunk.committed > 0);
    // A chunk that is about to begin is in no other place: before it goes, one has its number.
    let is_to_come = newest.clone().count() == 1 && newest.all(|chunk| chunk.culled == 0);
    is_there || is_to_come
}

impl Glance {
    /// Whether it is the same chunk, however far it is committed.
    fn is_same(&self, other: &Self) -> bool {
        (self.stream, self.sequence, self.culled) == (other.stream, other.sequence, other.culled)
    }
}

fn place(live: &[u8], index: usize) -> &[u8] {
    let rest = live.get(index * CHUNK_SIZE..).unwrap_or(&[]);
    &rest[..rest.len().min(CHUNK_SIZE)]
}

/// The chunk of events that a place has, had, or is to have.
#[inline(never)]
fn glance(place: &[u8]) -> Option<Glance> {
    // Somebody else writes there, whatever the compiler knows of a slice.
    let header = Header::decode_unused(black_box(place))?;
    let is_events = header.kind == Kind::Events;
    is_events.then_some(Glance {
        stream: header.stream,
        sequence: header.sequence,
        culled: header.culled,
        committed: header.committed as usize,
        is_sealed: header.is_sealed() && header.committed > 0,
    })
}
