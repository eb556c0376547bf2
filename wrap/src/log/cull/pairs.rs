//! Which blocks of a chunk go: those that came and went in it, by its own thread
//! alone, and lived certainly less than the threshold.
//!
//! ```text
//! heap := what came minus what went, as far as the chunk tells
//! of each stretch between two moments:
//!     where heap is highest, a mark: what is live there stays
//!     a release of a block from before: by how much the heap fell nobody knows, so
//!         the highest place so far gets a mark, and a later one if it is higher still
//! at each moment, a mark
//! ```
//!
//! Another thread may have released the block, and got it anew, before its own one released
//! it: then these are two blocks. So of events that have numbers all between the two must be
//! the thread's own. Numbers of those that go are missing in their cells, and nobody waits for
//! them: so what other threads did at the same time may be told a little earlier, but no
//! further than stamps let it.
//!
//! So the heap is as high at its highest place as it was, and what is live there, at
//! readings of resident memory, at marks, forks and switches, is all there.

use super::scratch::{Came, Scratch, UNNUMBERED};
use memlog_format::api::Api;
use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::Ext;
use memlog_format::varint::Reader;

/// A block this large stays.
pub const LARGE: u64 = 64 * 1024;

/// What is asked of blocks that go.
#[derive(Clone, Copy)]
pub struct Rule {
    /// They lived less than so many ticks.
    pub below_ticks: u64,
    /// No other thread has written to the log so far: no stamp is another's moment.
    pub is_alone: bool,
}

/// The records of a chunk.
pub struct Records<'a> {
    /// What is behind the header.
    body: &'a [u8],
    records: Reader<'a>,
    /// What the next record is relative to.
    pub deltas: Deltas,
    /// The thread.
    pub tid: u32,
    has_scope: bool,
}

impl<'a> Records<'a> {
    /// All of a chunk's valid `bytes`.
    pub fn new(header: &Header, bytes: &'a [u8]) -> Self {
        let body = bytes.get(HEADER_SIZE..).unwrap_or(&[]);
        Self {
            body,
            records: Reader::new(body),
            deltas: Deltas::at_start(header.base_tick, header.base_stamp),
            tid: header.thread,
            has_scope: false,
        }
    }

    /// Where the next one begins in the chunk.
    pub fn at(&self) -> usize {
        HEADER_SIZE + self.records.at()
    }

    /// Whether there is one more.
    pub fn has_more(&self) -> bool {
        self.records.at() < self.body.len()
    }

    /// The next record; nothing where there is none, or it makes no sense.
    pub fn next(&mut self) -> Option<Event<'a>> {
        let event = self.deltas.next(&mut self.records).ok().flatten()?;
        match event {
            Event::Ext(Ext::Thread { tid, .. }) => self.tid = tid,
            Event::Ext(Ext::Scope(_)) => self.has_scope = true,
            _ => {}
        }
        Some(event)
    }

    /// Passes over those before an offset; false if none begins there.
    pub fn pass(&mut self, from: usize) -> bool {
        while self.at() < from {
            if self.next().is_none() {
                return false;
            }
        }
        self.at() == from
    }

    /// Whether an announced release happened; nothing where nobody knows.
    pub fn happened(&self, release: &Release) -> Option<bool> {
        if !release.announced {
            return Some(true);
        }
        let (mut deltas, mut records) = (self.deltas, self.records.clone());
        while let Ok(Some(event)) = deltas.next(&mut records) {
            match event {
                Event::Alloc(alloc) if alloc.api.is_realloc() => {
                    return Some(true);
                }
                Event::Revoke => return Some(false),
                Event::Alloc(_) | Event::Release(_) | Event::Ext(Ext::Unseen) => return None,
                Event::Tick(_) | Event::Stamp(_) | Event::Ext(_) => {}
            }
        }
        None
    }
}

/// A moment of all threads: what is live at it is to be told.
pub const fn is_moment(event: &Event, is_alone: bool) -> bool {
    match event {
        Event::Ext(Ext::Rss(_) | Ext::Mark(_) | Ext::Switch(_) | Ext::Fork { .. }) => true,
        // Perhaps of another thread's moment.
        Event::Stamp(_) => !is_alone,
        _ => false,
    }
}

/// How the heap goes up and down in a stretch.
struct Heap {
    bytes: i64,
    highest: i64,
    /// Behind which event it was that high.
    peak: Option<u16>,
}

/// Finds what goes of the records from an offset on; how many blocks. Nothing where
/// the chunk is to stay as it is.
pub fn find(
    scratch: &mut Scratch,
    header: &Header,
    (bytes, from): (&[u8], usize),
    rule: Rule,
) -> Option<u64> {
    scratch.clear();
    let mut records = Records::new(header, bytes);
    if !records.pass(from) {
        return None;
    }
    let mut heap = Heap {
        bytes: 0,
        highest: 0,
        peak: None,
    };
    while records.has_more() {
        let event = records.next()?;
        let tick = records.deltas.tick.saturating_sub(header.base_tick);
        match &event {
            Event::Alloc(alloc) => came(scratch, &mut heap, alloc, (records.tid, tick))?,
            Event::Release(release) if release.api == Api::Pool => return None,
            Event::Release(release) if records.happened(release)? => {
                went(scratch, &mut heap, release, (tick, rule))?;
            }
            // What a newer recorder wrote is nothing of this one's, and sums know of no scope
            // and no pool.
            Event::Ext(Ext::Unknown { .. } | Ext::Custom) => return None,
            _ if is_moment(&event, rule.is_alone) => {
                heap.peak
                    .take()
                    .into_iter()
                    .for_each(|peak| scratch.mark(peak));
                if let Some(last) = scratch.events().checked_sub(1) {
                    scratch.mark(last);
                }
                heap.highest = heap.bytes;
            }
            _ => {}
        }
    }
    heap.peak.into_iter().for_each(|peak| scratch.mark(peak));
    // Each chunk tells the scope that it is in.
    (!records.has_scope).then(|| scratch.decide())
}

fn came(
    scratch: &mut Scratch,
    heap: &mut Heap,
    alloc: &Alloc,
    (tid, tick): (u32, u64),
) -> Option<()> {
    let at = scratch.next_event()?;
    heap.bytes = heap.bytes.wrapping_add(alloc.size as i64);
    if heap.bytes > heap.highest {
        (heap.highest, heap.peak) = (heap.bytes, Some(at));
    }
    if let Some(number) = alloc.order {
        scratch.run(alloc.address, number);
    }
    let came = Came {
        order: alloc.order.unwrap_or(UNNUMBERED),
        address: alloc.address,
        size: alloc.size,
        usable: alloc.usable,
        stack: alloc.stack.0,
        tid,
        // Of a later one it is not known how long it lived: longer than this says.
        tick: tick.min(u64::from(u32::MAX)) as u32,
        at,
        went: 0,
        marks: 0,
        api: alloc.api as u8,
        alignment_log2: alloc.alignment_log2,
        stays: alloc.size >= LARGE,
        goes: false,
    };
    scratch.add(came).then_some(())
}

fn went(
    scratch: &mut Scratch,
    heap: &mut Heap,
    release: &Release,
    (tick, rule): (u64, Rule),
) -> Option<()> {
    let at = scratch.next_event()?;
    let own_from = release
        .order
        .map(|number| scratch.run(release.address, number));
    let Some(number) = scratch.live(release.address) else {
        heap.peak
            .take()
            .into_iter()
            .for_each(|peak| scratch.mark(peak));
        return Some(());
    };
    scratch.set_number(at, number);
    let came = scratch.came_mut(number)?;
    came.went = at;
    came.stays |= tick.saturating_sub(u64::from(came.tick)) >= rule.below_ticks;
    came.stays |= match own_from {
        None => came.order != UNNUMBERED,
        Some(first) => came.order == UNNUMBERED || came.order < first,
    };
    heap.bytes = heap.bytes.wrapping_sub(came.size as i64);
    Some(())
}
