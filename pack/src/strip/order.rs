//! In which order the streams of a log are to be read again.
//!
//! What is left out held others back: a thread that waits for a number in the log as it was
//! would not wait in the one without. So whenever it is another stream's turn, stamps say so:
//! one before and one behind each run of a stream's records, of numbers that rise over all
//! streams. Then no event needs a number of its own.

use std::collections::HashMap;

use memlog_format::event::{Alloc, Event, Release};
use memlog_format::ext::Ext;
use memlog_read::{Fate, Item, Kind, Log, Place, Record, Taker};

use super::choose::{Gone, Progress, read};

/// Records of a stream that come one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    /// The first and the last of them, as the stream counts what it tells.
    pub first: u64,
    pub last: u64,
    /// The number of the stamp before them. Readings and switches have the next ones, and the one behind
    /// the last record has the one after those.
    pub stamp: u64,
}

/// The runs of each stream; none where a log has one stream only.
#[derive(Debug, Default)]
pub struct Order {
    runs: HashMap<u32, Vec<Run>>,
}

impl Order {
    /// Reads a log for the order of what stays.
    pub fn of(log: &Log, gone: &Gone, progress: Progress) -> Self {
        if log.size().streams < 2 {
            return Self::default();
        }
        let mut finder = Finder {
            gone,
            told: HashMap::new(),
            run: None,
            stamp: 0,
            order: Self::default(),
        };
        read(log, &mut finder, progress);
        finder.end_run();
        finder.order
    }

    /// Those of a stream; nothing where there are none.
    pub(super) fn runs(&self, stream: u32) -> Option<&[Run]> {
        match self.runs.is_empty() {
            true => None,
            false => Some(self.runs.get(&stream).map_or(&[], Vec::as_slice)),
        }
    }
}

/// Whether a record is one of those that are counted here: what [`Log::events`] tells of.
pub(super) fn is_told(record: &Record) -> bool {
    match record.event {
        Event::Alloc(_) | Event::Stamp(_) => true,
        Event::Release(_) => !matches!(record.fate, Some((Fate::Revoked, _))),
        // A reader tells of scopes also where a chunk ends.
        Event::Ext(ext) => !matches!(
            ext,
            Ext::Unseen | Ext::Custom | Ext::Unknown { .. } | Ext::Scope(_)
        ),
        Event::Tick(_) | Event::Revoke => false,
    }
}

/// How much a stream told so far.
#[derive(Clone, Copy, Default)]
struct Told {
    records: u64,
    /// Allocations and releases.
    numbers: u64,
}

struct Finder<'g> {
    gone: &'g Gone,
    told: HashMap<u32, Told>,
    run: Option<(u32, Run)>,
    stamp: u64,
    order: Order,
}

impl Finder<'_> {
    /// A stream told something; `number` says whether that has one.
    fn next(&mut self, stream: u32, has_number: bool) -> Told {
        let told = self.told.entry(stream).or_default();
        let before = *told;
        told.records += 1;
        told.numbers += u64::from(has_number);
        before
    }

    fn stays(&mut self, stream: u32, record: u64) {
        match &mut self.run {
            Some((of, run)) if *of == stream => run.last = record,
            _ => {
                self.end_run();
                let run = Run {
                    first: record,
                    last: record,
                    stamp: self.stamp,
                };
                self.stamp += 1;
                self.run = Some((stream, run));
            }
        }
    }

    fn end_run(&mut self) {
        if let Some((stream, run)) = self.run.take() {
            self.stamp += 1;
            self.order.runs.entry(stream).or_default().push(run);
        }
    }
}

impl<'a> Taker<'a> for Finder<'_> {
    fn alloc(&mut self, place: Place, _: &Alloc) {
        let told = self.next(place.stream, true);
        let goes = self.gone.has(place.stream, told.numbers);
        if !goes || self.gone.is_told_at(place.stream, told.numbers) {
            self.stays(place.stream, told.records);
        }
    }

    fn release(&mut self, place: Place, _: &Release) {
        let told = self.next(place.stream, true);
        if !self.gone.has(place.stream, told.numbers) {
            self.stays(place.stream, told.records);
        }
    }

    fn item(&mut self, item: &Item<'a>) {
        let place = item.place();
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc(place, alloc),
            Kind::Release(release) => self.release(place, release),
            Kind::Scope(_) => {}
            // Their order is told anew.
            Kind::Stamp(_) => {
                self.next(item.stream, false);
            }
            kind => {
                let told = self.next(item.stream, false);
                self.stays(item.stream, told.records);
                self.stamp += u64::from(matches!(kind, Kind::Rss(_) | Kind::Switch(_)));
            }
        }
    }
}
