//! Folding a chunk: its records go into the table of live blocks and the sums.

use super::table::{LiveTable, Pages};
use memlog_format::api::Api;
use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::{Ext, Rss};
use memlog_format::live::{LiveEntry, Sums, is_prior, order_word, version};
use memlog_format::varint::Reader;

/// How far a chunk was folded.
#[derive(Clone, Copy)]
pub struct Folded {
    /// The offset of the first record that is not.
    pub offset: usize,
    deltas: Deltas,
    tid: u32,
    /// The block that was allocated last, as long as it lives.
    last: u64,
}

impl Folded {
    /// At the beginning of a chunk.
    pub const fn start(header: &Header) -> Self {
        Self {
            offset: HEADER_SIZE,
            deltas: Deltas::at_start(header.base_tick, header.base_stamp),
            tid: header.thread,
            last: 0,
        }
    }
}

/// A fold of one chunk.
pub struct Apply<'t, P> {
    /// The table.
    pub table: &'t mut LiveTable<P>,
    /// What was folded so far.
    pub sums: &'t mut Sums,
    /// The number of this fold.
    pub fold: u64,
    /// Dead entries of before this version may go.
    pub safe: u64,
    /// Allocations for which there was no room in the table.
    pub lost: u64,
}

/// How an announced release ended.
enum Outcome {
    Happened,
    NotDone,
    Open,
}

impl<P: Pages> Apply<'_, P> {
    /// Applies the records before `until` of a chunk's valid `bytes`. Of a
    /// chunk that is not `whole`, what is announced and not yet decided is
    /// left for later.
    pub fn run(&mut self, bytes: &[u8], folded: &mut Folded, until: usize, whole: bool) {
        let mut records = Reader::new(bytes.get(folded.offset..).unwrap_or(&[]));
        let base = folded.offset;
        while folded.offset < until {
            let before = folded.deltas;
            let Ok(Some(event)) = folded.deltas.next(&mut records) else {
                return;
            };
            if let Event::Release(release) = event
                && release.announced
            {
                match outcome(&folded.deltas, &records, whole) {
                    Outcome::Open => {
                        folded.deltas = before;
                        return;
                    }
                    Outcome::Happened => self.release(folded, &release),
                    Outcome::NotDone => {}
                }
            } else {
                self.take(folded, event);
            }
            folded.offset = base + records.at();
        }
    }

    fn take(&mut self, folded: &mut Folded, event: Event) {
        let tick = folded.deltas.tick;
        match event {
            Event::Alloc(alloc) => self.alloc(folded, &alloc),
            Event::Release(release) => self.release(folded, &release),
            Event::Ext(Ext::Thread { tid, .. }) => folded.tid = tid,
            Event::Ext(Ext::Rss(rss)) => self.reading(&rss, tick),
            Event::Ext(_) | Event::Tick(_) | Event::Stamp(_) | Event::Revoke => {}
        }
    }

    fn reading(&mut self, rss: &Rss, tick: u64) {
        let (kb, is_mark) = match rss.now_kb {
            0 => (rss.peak_kb, true),
            now => (now, false),
        };
        let sums = &mut *self.sums;
        let highest = sums.rss_kb.saturating_sub(sums.rss_own_kb);
        // A mark that did not rise is of before, and the recorder's part is of now.
        let is_new = !is_mark || kb > sums.rss_high_kb;
        if is_new && kb.saturating_sub(rss.own_kb) > highest {
            (sums.rss_kb, sums.rss_own_kb) = (kb, rss.own_kb);
            sums.rss_tick = tick;
        }
        sums.rss_high_kb = sums.rss_high_kb.max(kb);
    }

    fn alloc(&mut self, folded: &mut Folded, alloc: &Alloc) {
        folded.last = alloc.address;
        let sums = &mut *self.sums;
        sums.horizon_tick = sums.horizon_tick.max(folded.deltas.tick);
        sums.allocations += 1;
        sums.bytes = sums.bytes.saturating_add(alloc.size);
        sums.usable_bytes = sums.usable_bytes.saturating_add(alloc.usable);
        let entry = LiveEntry {
            address: alloc.address,
            size: alloc.size,
            usable: alloc.usable,
            order: order_word(alloc.order),
            version: version(self.fold, folded.offset),
            stack: alloc.stack,
            tick: folded.deltas.tick.min(u64::from(u32::MAX)) as u32,
            tid: folded.tid,
            api: alloc.api,
            live: true,
        };
        match self.table.get(alloc.address) {
            Some((spot, known)) if is_prior(entry.order, known.order) => {
                self.table.set_version(spot, entry.version);
                return;
            }
            Some((spot, known)) => {
                self.table.change(spot, &entry);
                self.left(&known);
            }
            None if self.table.set(&entry, self.safe) => {}
            None => {
                self.lost += 1;
                return;
            }
        }
        let sums = &mut *self.sums;
        sums.live_bytes = sums.live_bytes.saturating_add(entry.size);
        if sums.live_bytes > sums.peak_bytes {
            (sums.peak_bytes, sums.peak_tick) = (sums.live_bytes, folded.deltas.tick);
        }
    }

    fn release(&mut self, folded: &mut Folded, release: &Release) {
        self.sums.releases += 1;
        self.sums.horizon_tick = self.sums.horizon_tick.max(folded.deltas.tick);
        let address = release.address;
        if folded.last == address {
            folded.last = 0;
            self.sums.temporary += 1;
        }
        let order = order_word(release.order);
        let version = version(self.fold, folded.offset);
        let dead = LiveEntry {
            address,
            size: 0,
            usable: 0,
            order,
            version,
            stack: memlog_format::table::StackId::NONE,
            tick: 0,
            tid: 0,
            api: Api::Free,
            live: false,
        };
        match self.table.get(address) {
            Some((spot, known)) if is_prior(order, known.order) => {
                self.table.set_version(spot, version);
            }
            Some((spot, known)) => {
                // All without a number are of one stream: none comes late.
                match order {
                    0 => self.table.delete(spot),
                    _ => self.table.change(spot, &dead),
                }
                self.left(&known);
            }
            None if order == 0 => {}
            None if self.table.set(&dead, self.safe) => {}
            // An allocation from before it may come late, and stay.
            None => self.lost += 1,
        }
    }

    fn left(&mut self, known: &LiveEntry) {
        if known.live {
            self.sums.live_bytes = self.sums.live_bytes.saturating_sub(known.size);
        }
    }
}

/// Looks ahead to where the announced release's fate is told.
fn outcome(deltas: &Deltas, records: &Reader, whole: bool) -> Outcome {
    let (mut deltas, mut records) = (*deltas, records.clone());
    while let Ok(Some(event)) = deltas.next(&mut records) {
        match event {
            Event::Alloc(alloc) if alloc.api.is_realloc() => return Outcome::Happened,
            Event::Revoke | Event::Alloc(_) | Event::Release(_) => return Outcome::NotDone,
            Event::Tick(_) | Event::Stamp(_) | Event::Ext(_) => {}
        }
    }
    match whole {
        true => Outcome::NotDone,
        false => Outcome::Open,
    }
}
