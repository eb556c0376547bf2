//! A whole log, and what a part of it, or a damaged copy, may say.

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_read::{Findings, Item, Kind, Log, ReadError};

/// An item of the whole log with its place among those on the same address.
struct Known<'w> {
    item: Item<'w>,
    /// The address, numbered from 0, and which of its events this is, from 1.
    place: Option<(u32, u32)>,
}

/// A log as it was written.
pub struct Whole<'w> {
    pub bytes: &'w [u8],
    streams: Vec<Vec<Known<'w>>>,
    addresses: usize,
    /// Its events.
    pub items: usize,
    modules: usize,
}

/// What another reading came to.
pub struct Reading {
    /// Items that are the whole log's.
    pub items: usize,
    /// Whether less is there than in the whole log.
    pub lacks: bool,
    /// Whether the reader says that something is missing or odd.
    pub told: bool,
    /// What it says.
    pub findings: Findings,
}

/// How much may be missing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Nothing but the ends of streams: each is a prefix.
    Prefix,
    /// Anything, but nothing is invented.
    Subset,
}

impl<'w> Whole<'w> {
    /// Reads it, which must be possible without a word.
    pub fn read(bytes: &'w [u8]) -> Self {
        let log = Log::open(bytes).expect("the whole log opens");
        let mut whole = Self {
            bytes,
            streams: Vec::new(),
            addresses: 0,
            items: 0,
            modules: log.modules().len(),
        };
        let mut numbers: HashMap<u64, (u32, u32)> = HashMap::new();
        let mut events = log.events();
        for item in events.by_ref() {
            let place = address_of(&item.kind).map(|address| {
                let next = numbers.len() as u32;
                let (number, count) = numbers.entry(address).or_insert((next, 0));
                *count += 1;
                (*number, *count)
            });
            let stream = item.stream as usize;
            if whole.streams.len() <= stream {
                whole.streams.resize_with(stream + 1, Vec::new);
            }
            whole.streams[stream].push(Known { item, place });
            whole.items += 1;
        }
        whole.addresses = numbers.len();
        for said in [log.findings(), events.findings()] {
            assert_eq!(said.list(), [], "of a whole log");
            assert_eq!((said.order_gaps, said.order_breaks), (0, 0));
        }
        whole
    }

    /// Streams of events.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    /// Reads a part, or a damaged copy; the error is what is wrong with what
    /// was read.
    pub fn judge(&self, bytes: &[u8], rule: Rule) -> Result<Result<Reading, ReadError>, String> {
        let log = match Log::open(bytes) {
            Ok(log) => log,
            Err(error) => return Ok(Err(error)),
        };
        let mut seen: Vec<Progress> = Vec::new();
        seen.resize_with(self.streams.len(), Progress::default);
        let mut ranks = vec![0u32; self.addresses];
        let mut reading = Reading {
            items: 0,
            lacks: log.modules().len() < self.modules,
            told: false,
            findings: log.findings().clone(),
        };
        let mut events = log.events();
        for item in events.by_ref() {
            let stream = item.stream as usize;
            let (Some(progress), Some(known)) = (seen.get_mut(stream), self.streams.get(stream))
            else {
                return Err(format!("{item:?} is of a stream that never was"));
            };
            find(&item, known, progress, rule)?;
            let Some(at) = progress.found else { continue };
            reading.items += 1;
            if let Some((address, rank)) = known[at].place {
                let last = &mut ranks[address as usize];
                if rank <= *last {
                    return Err(format!("{item:?} comes after event {last} of its address"));
                }
                *last = rank;
            }
        }
        reading.findings.append(events.findings());
        let findings = &reading.findings;
        reading.told = findings.count() > 0 || findings.order_gaps + findings.order_breaks > 0;
        reading.lacks |= reading.items < self.items;
        Ok(Ok(reading))
    }
}

/// Finds an item in its stream, behind those that were found.
fn find(item: &Item, known: &[Known], progress: &mut Progress, rule: Rule) -> Result<(), String> {
    progress.found = None;
    if progress.is_over && rule == Rule::Prefix {
        return Err(format!("{item:?} comes after an unfinished realloc"));
    }
    let next = known.get(progress.next..).unwrap_or(&[]);
    let same = match rule {
        Rule::Prefix => next.first().is_some_and(|k| k.item == *item).then_some(0),
        Rule::Subset => next.iter().position(|k| k.item == *item),
    };
    match (same, &item.kind) {
        (Some(skipped), _) => {
            progress.found = Some(progress.next + skipped);
            progress.next += skipped + 1;
            Ok(())
        }
        // The second half is missing; it may have been a revoke, which is
        // no item.
        (None, Kind::Unfinished(release)) if is_realloc(release.api) => {
            progress.is_over = true;
            Ok(())
        }
        _ => Err(format!("{item:?} is not in the whole log")),
    }
}

/// Where a stream's reading stands in the whole log's.
#[derive(Default)]
struct Progress {
    next: usize,
    found: Option<usize>,
    is_over: bool,
}

fn is_realloc(api: Api) -> bool {
    matches!(api, Api::Realloc | Api::Reallocarray)
}

fn address_of(kind: &Kind) -> Option<u64> {
    match kind {
        Kind::Alloc(alloc) => Some(alloc.address),
        Kind::Release(release) => Some(release.address),
        _ => None,
    }
}
