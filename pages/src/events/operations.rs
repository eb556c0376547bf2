//! The operations of a log: what `memlog replay` executes (`memlog_format::operations`).
//!
//! Memory depends on what is live at a time, never on the number of events: a block's place
//! is given to another when it goes. The order is the reader's. A realloc is done where its
//! new block comes, which is where its thread went on.

use std::collections::HashMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use memlog_analysis::{AddressMap, Summary};
use memlog_answers::Picked;
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::meta::Lack;
use memlog_format::operations::{Head, MAX_OPERATION, Operation, TEXTS_AT};
use memlog_read::{Item, Kind, Place, Taker};

use super::folded::{Lives, Places};
use super::texts::texts;
use crate::open::{Analysis, Before, Family, Files, Watch, hand_out};
use crate::rests::Rests;

/// So much is written at a time.
const FULL: usize = 1 << 18;

/// Writes the operations of a log.
pub fn operations(file: &Path, out: &mut (impl Write + Seek)) -> anyhow::Result<()> {
    let watch = Watch::begin();
    operations_told(file, None, &watch, out)?;
    watch.end();
    Ok(())
}

/// The same for who looks after the reading; of all blocks, or of those that were picked.
pub fn operations_told(
    file: &Path,
    picked: Option<&Picked>,
    watch: &Watch,
    out: &mut (impl Write + Seek),
) -> anyhow::Result<()> {
    let files = Files::load(file, watch)?;
    let family = files.family()?;
    let log = family.own();
    let rests = [Lack::Order, Lack::Sizes, Lack::Gone];
    Rests::default().on(&rests).on_events().check(log)?;
    let analysis = family.analyse(None, watch);
    let mut lives = Lives::default();
    hand_out(&mut watch.events(log), &mut lives, |_, events, bytes| {
        watch.goes_on_after(events, bytes)
    });
    let texts = texts(&family, &analysis, picked.is_some());
    let begin = TEXTS_AT + texts.len();
    // The numbers of the head are known at the end.
    out.write_all(&[0; TEXTS_AT])?;
    out.write_all(&texts)?;
    let mut form = Form::new((out, picked), lives.places(), first_kb(&analysis.summary));
    form.inherit(&family, watch);
    form.put(Operation::Begin);
    hand_out(&mut watch.events(log), &mut form, |form, events, bytes| {
        watch.goes_on_after(events, bytes) && form.is_written.is_ok() && form.goes_on()
    });
    let head = form.end(&analysis)?;
    out.seek(SeekFrom::Start(0))?;
    out.write_all(&head.encode(begin as u64))?;
    Ok(out.flush()?)
}

/// What resident memory is counted from, in kilobytes.
fn first_kb(summary: &Summary) -> u64 {
    let first = summary.first_reading.unwrap_or_default();
    first.kb.saturating_sub(first.own_kb)
}

struct Form<'o, W> {
    out: &'o mut W,
    /// Which blocks; without it all.
    picked: Option<&'o Picked>,
    /// How many allocations and releases there were, as a table counts them.
    event: u64,
    /// What is not written yet.
    text: Vec<u8>,
    /// The first failure to write; nothing is written after it.
    is_written: io::Result<()>,
    places: Places,
    /// Whose turn it is.
    turn: u64,
    /// By address one more than the slot.
    live: AddressMap<u32>,
    /// Sizes by slot.
    sizes: Vec<u64>,
    free: Vec<u32>,
    /// By stream the slot whose block becomes another.
    growing: HashMap<u32, u32>,
    live_bytes: u64,
    first_kb: u64,
    head: Head,
}

impl<'a, W: Write> Taker<'a> for Form<'_, W> {
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.event += 1;
        if !self.goes_on() {
            return;
        }
        if self.picked.is_some_and(|picked| !picked.has(self.event)) {
            return self.pass_by(place, alloc);
        }
        self.turn(place.tid);
        let (address, size) = (alloc.address, alloc.size);
        self.head.allocations += 1;
        if let Some(slot) = self.growing.remove(&place.stream) {
            if alloc.api.is_realloc() {
                self.head.operations += 1;
                self.set(slot, address, size);
                self.put(Operation::Realloc {
                    slot: slot.into(),
                    size,
                });
                return;
            }
            self.free(slot);
        }
        self.head.operations += 1;
        self.came(alloc);
    }

    fn release(&mut self, place: Place, release: &Release) {
        self.event += 1;
        if !self.goes_on() {
            return;
        }
        let slot = self.live.remove(release.address);
        if slot.is_some() || self.picked.is_none() {
            self.turn(place.tid);
        }
        let Some(slot) = slot else {
            // Of those that were not picked nobody knows.
            self.head.unknown_releases += u64::from(self.picked.is_none());
            return;
        };
        self.head.releases += 1;
        if !release.announced {
            self.head.operations += 1;
            return self.free(slot - 1);
        }
        if let Some(other) = self.growing.insert(place.stream, slot - 1) {
            self.free(other);
        }
    }

    fn item(&mut self, item: &Item<'a>) {
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc(item.place(), alloc),
            Kind::Release(release) => self.release(item.place(), release),
            Kind::Switch(switch) if switch.on => {
                self.event += 1;
                for slot in self.live.take_all() {
                    self.head.unseen_releases += 1;
                    self.head.operations += 1;
                    self.free(slot - 1);
                }
                self.growing.clear();
            }
            Kind::Rss(rss) if rss.now_kb > 0 => {
                let kb = rss.now_kb.saturating_sub(rss.own_kb);
                let kb = kb.saturating_sub(self.first_kb);
                self.put(Operation::Reading { kb });
            }
            _ => {}
        }
    }
}

impl<'o, W: Write> Form<'o, W> {
    fn new((out, picked): (&'o mut W, Option<&'o Picked>), places: Places, first_kb: u64) -> Self {
        Self {
            out,
            picked,
            event: 0,
            text: Vec::with_capacity(2 * FULL),
            is_written: Ok(()),
            places,
            turn: 0,
            live: AddressMap::default(),
            sizes: Vec::new(),
            free: Vec::new(),
            growing: HashMap::new(),
            live_bytes: 0,
            first_kb,
            head: Head::default(),
        }
    }

    /// What was there when recording began, by its addresses.
    fn inherit(&mut self, family: &Family, watch: &Watch) {
        let mut live: HashMap<u64, Alloc> = HashMap::new();
        family.before(watch, |_, step| match step {
            Before::Log => {}
            Before::Came(alloc) => drop(live.insert(alloc.address, alloc)),
            Before::Went(address) => drop(live.remove(&address)),
            Before::Forgot => live.clear(),
        });
        let is_picked = |alloc: &Alloc| {
            self.picked
                .is_none_or(|picked| picked.has_inherited(alloc.address))
        };
        let mut all: Vec<Alloc> = live.into_values().filter(is_picked).collect();
        all.sort_unstable_by_key(|alloc| alloc.address);
        all.iter().for_each(|alloc| self.came(alloc));
    }

    /// A block that was not picked: one that was may have become it, or was there unseen.
    fn pass_by(&mut self, place: Place, alloc: &Alloc) {
        let grown = self.growing.remove(&place.stream);
        let there = self.live.remove(alloc.address).map(|slot| slot - 1);
        if grown.is_some() || there.is_some() {
            self.turn(place.tid);
        }
        if let Some(slot) = grown {
            self.head.operations += 1;
            self.free(slot);
        }
        if let Some(slot) = there {
            self.head.unseen_releases += 1;
            self.free(slot);
        }
    }

    /// Whether an event counts: a table may have only a part of the log.
    fn goes_on(&self) -> bool {
        self.picked.is_none_or(|picked| self.event <= picked.end())
    }

    fn turn(&mut self, tid: u32) {
        let place = self.places.of(tid);
        if place != self.turn {
            self.turn = place;
            self.put(Operation::Turn(place));
        }
    }

    fn came(&mut self, alloc: &Alloc) {
        let slot = self.free.pop().unwrap_or(self.sizes.len() as u32);
        if slot as usize == self.sizes.len() {
            self.sizes.push(0);
        }
        self.set(slot, alloc.address, alloc.size);
        let (slot, size) = (slot.into(), alloc.size);
        self.put(match (alloc.api, alloc.alignment_log2) {
            (Api::Calloc, _) => Operation::Calloc { slot, size },
            (_, 0) => Operation::Malloc { slot, size },
            (_, log2) => Operation::Aligned { slot, size, log2 },
        });
    }

    /// A slot's block is this one from now on.
    fn set(&mut self, slot: u32, address: u64, size: u64) {
        // What was there went unseen.
        if let Some(other) = self.live.insert(address, slot + 1) {
            self.head.unseen_releases += 1;
            self.free(other - 1);
        }
        let old = std::mem::replace(&mut self.sizes[slot as usize], size);
        self.live_bytes = self.live_bytes.wrapping_sub(old).wrapping_add(size);
        self.head.heap_peak_bytes = self.head.heap_peak_bytes.max(self.live_bytes);
    }

    fn free(&mut self, slot: u32) {
        let size = std::mem::take(&mut self.sizes[slot as usize]);
        self.live_bytes = self.live_bytes.wrapping_sub(size);
        self.free.push(slot);
        self.put(Operation::Free { slot: slot.into() });
    }

    fn put(&mut self, operation: Operation) {
        let mut one = [0; MAX_OPERATION];
        let length = operation.encode(&mut one);
        self.text.extend_from_slice(&one[..length]);
        if self.text.len() >= FULL {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.is_written.is_ok() {
            self.is_written = self.out.write_all(&self.text);
        }
        self.text.clear();
    }

    /// No operations follow.
    fn end(mut self, analysis: &Analysis) -> io::Result<Head> {
        let growing = std::mem::take(&mut self.growing);
        growing.into_values().for_each(|slot| self.free(slot));
        self.flush();
        self.is_written?;
        let summary = &analysis.summary;
        let known = !summary.is_peak_unread();
        let peak = summary.rss_peak_bytes.saturating_sub(summary.own_rss_bytes);
        let peak_bytes = if known { peak } else { 0 };
        let coverage = analysis.coverage;
        let growth = coverage.map(|coverage| coverage.growth_bytes);
        Ok(Head {
            slots: self.sizes.len() as u64,
            threads: self.places.count.max(1),
            program_threads: self.places.threads(),
            peak_bytes,
            growth_bytes: growth.unwrap_or(0),
            mapped_bytes: coverage.map_or(0, |coverage| coverage.mapped_bytes),
            end_live_bytes: self.live_bytes,
            ..self.head
        })
    }
}
