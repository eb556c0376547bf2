//! Which blocks go: those that lived shortly and were live at no moment that is asked for.

use std::collections::{HashMap, HashSet};

use memlog_analysis::{AddressMap, Temporary};
use memlog_format::api::Api;
use memlog_format::event::{Alloc, Release};
use memlog_format::passed::Passed;
use memlog_read::{Item, Kind, Log, Place, Taker};

use super::Rule;
use super::cuts::Cuts;

/// What goes: of each stream which of its allocations and releases, and what it tells of
/// them instead.
#[derive(Debug, Default)]
pub struct Gone {
    /// A bit for each allocation and release of a stream.
    streams: HashMap<u32, Vec<u64>>,
    instead: HashMap<u32, Vec<Instead>>,
    /// How many blocks go.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many stay.
    pub stay: u64,
}

/// What a stream tells in place of an allocation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Instead {
    /// The allocation's number in the stream.
    pub number: u64,
    /// Blocks of which that was the first, or the last.
    pub passed: Passed,
    /// How many of them are told here.
    pub blocks: u64,
}

impl Gone {
    /// Whether an allocation or release goes: the one of this number in its stream.
    pub(super) fn has(&self, stream: u32, number: u64) -> bool {
        let words = self.streams.get(&stream);
        let word = words.and_then(|words| words.get((number / 64) as usize));
        word.is_some_and(|word| word & (1 << (number % 64)) != 0)
    }

    /// Whether something stands in the place of the allocation of this number.
    pub(super) fn is_told_at(&self, stream: u32, number: u64) -> bool {
        let instead = self.instead(stream);
        instead
            .binary_search_by_key(&number, |one| one.number)
            .is_ok()
    }

    fn set(&mut self, (stream, number): (u32, u64)) {
        let words = self.streams.entry(stream).or_default();
        let word = (number / 64) as usize;
        if words.len() <= word {
            words.resize(word + 1, 0);
        }
        words[word] |= 1 << (number % 64);
    }

    /// What a stream tells instead, in its order.
    pub(super) fn instead(&self, stream: u32) -> &[Instead] {
        self.instead.get(&stream).map_or(&[], Vec::as_slice)
    }
}

/// Is told how many events more were read, and how many bytes of them so far.
pub type Progress<'p> = &'p mut dyn FnMut(u64, u64);

/// Hands out all events of a log.
pub(super) fn read<'a>(log: &Log<'a>, taker: &mut impl Taker<'a>, progress: Progress) {
    let mut events = log.events_while(&mut |bytes| {
        progress(0, bytes);
        true
    });
    while events.hand_out(STRIDE, taker) {
        progress(STRIDE, events.bytes_read());
    }
}

/// Reads a log to see what goes.
pub fn choose(log: &Log, rule: &Rule, progress: Progress) -> Gone {
    let cuts = Cuts::new(log, &rule.forks);
    let mut unknown = HashSet::new();
    loop {
        let mut chooser = Chooser::new(rule, &cuts, &unknown);
        read(log, &mut chooser, progress);
        // What such a release is of, other events at its address tell: a block that went
        // before, or none that is known.
        if chooser.unknown.is_subset(&unknown) {
            return chooser.finish();
        }
        unknown = std::mem::take(&mut chooser.unknown);
    }
}

/// So many events lie between two words on how far it is.
const STRIDE: u64 = 1 << 13;

/// A block that is live.
#[derive(Clone, Copy)]
struct Block {
    /// Its stream, and its allocation's number in that.
    at: (u32, u64),
    /// How many moments had come before it.
    moments: u64,
    tid: u32,
    tick: u64,
    alloc: Alloc,
    /// It came where another was live, which went by that.
    stays: bool,
}

/// Blocks alike that go.
#[derive(Clone, Copy)]
struct Alike {
    blocks: u64,
    /// The numbers of the first and last allocation of them.
    first: u64,
    last: u64,
}

struct Chooser<'r> {
    below_ticks: Option<u64>,
    cuts: &'r Cuts,
    /// Addresses whose events stay, and those whose should.
    known: &'r HashSet<u64>,
    unknown: HashSet<u64>,
    /// Of the rule, rising; and how many have come, of marks too.
    moments: Vec<u64>,
    next_moment: usize,
    come: u64,
    /// The latest time so far: a thread may tell an earlier one.
    tick: u64,
    /// Allocations and releases so far, of all and of each stream.
    event: u64,
    numbers: HashMap<u32, u64>,
    live: AddressMap<u32>,
    blocks: Vec<Block>,
    free: Vec<u32>,
    temporary: Temporary,
    passed: HashMap<(u32, Passed), Alike>,
    gone: Gone,
}

impl<'r> Chooser<'r> {
    fn new(rule: &Rule, cuts: &'r Cuts, known: &'r HashSet<u64>) -> Self {
        let mut moments = rule.moments.clone();
        moments.sort_unstable();
        Self {
            below_ticks: rule.below_ticks,
            cuts,
            known,
            unknown: HashSet::new(),
            moments,
            next_moment: 0,
            come: 0,
            tick: 0,
            event: 0,
            numbers: HashMap::new(),
            live: AddressMap::default(),
            blocks: Vec::new(),
            free: Vec::new(),
            temporary: Temporary::default(),
            passed: HashMap::new(),
            gone: Gone::default(),
        }
    }

    /// The number of the next event of a stream.
    fn next(&mut self, place: Place) -> u64 {
        // A moment after so many events comes before the next of them.
        while let Some(&moment) = self.moments.get(self.next_moment)
            && moment <= self.event
        {
            self.next_moment += 1;
            self.come += 1;
        }
        self.event += 1;
        self.tick = self.tick.max(place.tick);
        let next = self.numbers.entry(place.stream).or_default();
        *next += 1;
        *next - 1
    }

    fn goes(&self, block: &Block, went: (u32, u64)) -> bool {
        let lived = self.tick - block.tick;
        self.below_ticks.is_none_or(|below| lived < below)
            && block.moments == self.come
            && !block.stays
            && !self.cuts.inherits(block.at, went)
            && !self.known.contains(&block.alloc.address)
    }

    fn finish(mut self) -> Gone {
        for ((stream, passed), alike) in self.passed {
            let Alike {
                blocks,
                first,
                last,
            } = alike;
            let instead = self.gone.instead.entry(stream).or_default();
            let mut tell = |number, blocks| {
                instead.push(Instead {
                    number,
                    passed,
                    blocks,
                });
            };
            tell(first, 1);
            if blocks > 1 {
                tell(last, blocks - 1);
            }
        }
        for all in self.gone.instead.values_mut() {
            all.sort_unstable_by_key(|one| one.number);
        }
        self.gone
    }
}

impl<'a> Taker<'a> for Chooser<'_> {
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        let number = self.next(place);
        self.temporary.came(place.stream, alloc.address);
        self.gone.stay += 1;
        let next = self.blocks.len() as u32;
        let index = self.free.pop().unwrap_or(next);
        let other = self.live.insert(alloc.address, index);
        let block = Block {
            at: (place.stream, number),
            moments: self.come,
            tid: place.tid,
            tick: self.tick,
            alloc: *alloc,
            stays: other.is_some(),
        };
        match self.blocks.get_mut(index as usize) {
            Some(place) => *place = block,
            None => self.blocks.push(block),
        }
        self.free.extend(other);
    }

    fn release(&mut self, place: Place, release: &Release) {
        let went = (place.stream, self.next(place));
        let temporary = self.temporary.went(place.stream, release.address);
        let Some(index) = self.live.remove(release.address) else {
            self.unknown.insert(release.address);
            return;
        };
        self.free.push(index);
        let block = self.blocks[index as usize];
        // The stream had a block there last, which another released: only both tell that this
        // one counts as temporary.
        if temporary && block.at.0 != place.stream {
            self.unknown.insert(release.address);
        }
        if !self.goes(&block, went) {
            return;
        }
        let Block { at, tid, alloc, .. } = block;
        self.gone.set(at);
        self.gone.set(went);
        self.gone.stay -= 1;
        self.gone.blocks += 1;
        self.gone.bytes = self.gone.bytes.saturating_add(alloc.size);
        let passed = Passed {
            tid,
            api: match release.api {
                Api::Pool => Api::Pool,
                _ => alloc.api,
            },
            alignment_log2: alloc.alignment_log2,
            size: alloc.size,
            usable: alloc.usable,
            stack: alloc.stack,
            releaser: place.tid,
            release_stack: release.stack,
            temporary,
            moved: release.announced,
            blocks: 0,
        };
        let number = at.1;
        let alike = self.passed.entry((at.0, passed)).or_insert(Alike {
            blocks: 0,
            first: number,
            last: number,
        });
        alike.blocks += 1;
        alike.first = alike.first.min(number);
        alike.last = alike.last.max(number);
    }

    fn item(&mut self, item: &Item<'a>) {
        match &item.kind {
            Kind::Alloc(alloc) => self.alloc(item.place(), alloc),
            Kind::Release(release) => self.release(item.place(), release),
            // Its block is live until its address is given out again.
            Kind::Unfinished(_) => {}
            Kind::Mark(_) => self.come += 1,
            // What became of them nobody saw.
            Kind::Switch(switch) if switch.on => {
                self.event += 1;
                self.live.take_all();
            }
            // The log was stripped before.
            Kind::Passed(passed) => {
                self.event += passed.blocks;
                self.temporary.came(item.stream, 0);
            }
            _ => {}
        }
    }
}
