//! Attacks the reader of logs: whole files of up to six chunks, described in
//! short (see `brief` in this package), cut at their end.
//!
//! It fails where the reader panics, stands still or takes more memory than
//! `read/src/lib.rs` promises; where it tells of more events than there are
//! bytes of them; where events that are handed out by themselves are others than those
//! of the iterator, which goes the checked way; where a stream's time falls; where the order of several
//! streams is another than the obvious way finds; where a stack does not end.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;
use memlog_format::event::{Alloc, Release};
use memlog_format::order::CELLS;
use memlog_format::table::StackId;
use memlog_fuzz::{Brief, Counting, Limit, Told, in_order, is_sound, limited, merge};
use memlog_read::{Item, Kind, Log, Place, Taker};

#[global_allocator]
static MEMORY: Counting = Counting;

/// What the reader's documentation promises.
const LIMIT: Limit = Limit {
    per_byte: 64,
    besides: 4 << 20,
};
/// Stacks that are walked of a log.
const MOST_STACKS: usize = 64;
/// The number of a release that was taken back is in no item: without this byte
/// there is none, and the obvious way knows all numbers.
const REVOKE: u8 = 7;

thread_local! {
    static BRIEF: RefCell<Brief> = RefCell::default();
}

fuzz_target!(|input: &[u8]| {
    BRIEF.with_borrow_mut(|brief| {
        let bytes = brief.log(input);
        limited(bytes.len(), LIMIT, || read(bytes));
        handed_out(bytes);
        // Beside it, so that the twin's memory does not count.
        let streams: std::collections::BTreeSet<u32> =
            brief.streams.iter().map(|&(stream, _)| stream).collect();
        if (2..=4).contains(&streams.len()) {
            let may_revoke = input.contains(&REVOKE);
            compare(brief, &streams.into_iter().collect::<Vec<_>>(), may_revoke);
        }
    });
});

fn read(bytes: &[u8]) {
    let Ok(log) = Log::open(bytes) else {
        return;
    };
    let mut count = 0u64;
    let mut stacks = 0;
    let mut events = log.events();
    let size = log.size();
    for item in &mut events {
        count += 1;
        assert!(count <= size.event_bytes, "more events than bytes");
        if let Kind::Alloc(alloc) = item.kind
            && stacks < MOST_STACKS
        {
            stacks += 1;
            walk(&log, alloc.stack, bytes.len());
        }
    }
    assert!(events.bytes_read() <= size.event_bytes);
    let findings = log.findings().count() + events.findings().count();
    for finding in log.findings().list().iter().chain(events.findings().list()) {
        assert!(finding.to_string().len() < 1000);
    }
    assert!(findings <= bytes.len() as u64, "more findings than bytes");
    let inherited = log.events_until(log.fork_points()).count();
    assert!(
        inherited as u64 <= count + findings,
        "a fork inherits a part"
    );
}

/// Everything that is handed out, in its order.
struct Handed<'a>(Vec<Item<'a>>);

impl Handed<'_> {
    fn take(&mut self, place: Place, kind: Kind<'static>) {
        let Place { stream, tid, tick } = place;
        self.0.push(Item {
            stream,
            tid,
            tick,
            kind,
        });
    }
}

impl<'a> Taker<'a> for Handed<'a> {
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.take(place, Kind::Alloc(*alloc));
    }
    fn release(&mut self, place: Place, release: &Release) {
        self.take(place, Kind::Release(*release));
    }
    fn item(&mut self, item: &Item<'a>) {
        self.0.push(*item);
    }
}

fn handed_out(bytes: &[u8]) {
    let Ok(log) = Log::open(bytes) else {
        return;
    };
    let mut events = log.events();
    let items: Vec<Item> = events.by_ref().collect();
    let (mut others, mut handed) = (log.events(), Handed(Vec::new()));
    while others.hand_out(100, &mut handed) {}
    assert!(handed.0 == items, "other events the tight way");
    let findings = [&events, &others].map(|events| format!("{:?}", events.findings()));
    assert_eq!(findings[0], findings[1]);
}

/// Each step leads to a lower id, so none is taken twice.
fn walk(log: &Log, stack: StackId, length: usize) {
    let mut frames = log.frames(stack);
    let mut count = 0;
    while frames.next().is_some() {
        count += 1;
        assert!(count <= length, "a stack without end");
    }
    if let Some(root) = frames.root() {
        assert!(root.is_root());
    }
}

/// The whole, and each stream by itself put together the obvious way.
fn compare(brief: &mut Brief, streams: &[u32], may_revoke: bool) {
    let mut apart: Vec<Vec<Told>> = Vec::new();
    for &stream in streams {
        let told = brief.only(stream, |bytes| {
            let log = Log::open(bytes).ok()?;
            Some(log.events().map(|item| Told::of(&item)).collect())
        });
        apart.extend(told);
    }
    for stream in &apart {
        let rises = stream.windows(2).all(|two| two[0].tick <= two[1].tick);
        assert!(rises, "time falls within a stream");
    }
    let Ok(log) = Log::open(brief.whole()) else {
        return;
    };
    let bits = log.start().map_or(0, |start| u32::from(start.cell_bits));
    let cells = if (1..=16).contains(&bits) {
        1 << bits
    } else {
        CELLS
    };
    let mut events = log.events();
    let together: Vec<Told> = events.by_ref().map(|item| Told::of(&item)).collect();
    assert_eq!(together.len(), apart.iter().map(Vec::len).sum::<usize>());
    // Numbers that stand twice, or fall within a stream, are in damaged logs only.
    let is_damaged = events.findings().order_breaks > 0 || !is_sound(&apart, cells - 1);
    if may_revoke || is_damaged {
        return;
    }
    assert!(in_order(&together, cells - 1), "{together:?}");
    if events.findings().order_gaps == 0
        && let Some(merged) = merge(&apart, cells - 1)
    {
        assert_eq!(together, merged, "the order");
    }
}
