//! What is handed out is what the iterator gives, item by item, with the same findings,
//! and what comes by itself is told of before: of every log that is kept, of threads that
//! release each other's blocks, and of all those spoilt byte by byte.

mod support;

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use memlog_format::event::{Alloc, Release, Usual};
use memlog_read::{EventStream, Item, Kind, Log, Place, Taker};

/// Keeps all that is handed out.
#[derive(Default)]
struct All<'a> {
    items: Vec<Item<'a>>,
    usual: u64,
    /// What was told of and did not come yet.
    soon: VecDeque<(Place, Usual)>,
    /// The most that was told of at once.
    most_told: usize,
}

impl All<'_> {
    fn take(&mut self, place: Place, usual: Usual, kind: Kind<'static>) {
        assert_eq!(self.soon.pop_front(), Some((place, usual)), "told of");
        let Place { stream, tid, tick } = place;
        self.usual += 1;
        self.items.push(Item {
            stream,
            tid,
            tick,
            kind,
        });
    }
}

impl<'a> Taker<'a> for All<'a> {
    fn soon(&mut self, events: &[(Place, Usual)]) {
        self.soon.extend(events);
        self.most_told = self.most_told.max(events.len());
    }
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.take(place, Usual::Alloc(*alloc), Kind::Alloc(*alloc));
    }
    fn release(&mut self, place: Place, release: &Release) {
        self.take(place, Usual::Release(*release), Kind::Release(*release));
    }
    fn item(&mut self, item: &Item<'a>) {
        assert!(self.soon.is_empty(), "those come first");
        self.items.push(*item);
    }
}

/// How many items came by themselves.
fn compare(bytes: &[u8], at_once: u64) -> u64 {
    let Ok(log) = Log::open(bytes) else {
        return 0;
    };
    let mut one_by_one: EventStream = log.events();
    let items: Vec<Item> = one_by_one.by_ref().collect();
    let mut events = log.events();
    let mut all = All::default();
    // Nothing is left over where somebody looks at how far it is.
    while events.hand_out(at_once, &mut all) {
        assert!(all.soon.is_empty());
    }
    assert!(all.most_told as u64 <= at_once);
    assert!(all.usual < 10_000 || at_once < 32 || all.most_told == 32);
    assert_eq!(all.items.len(), items.len());
    assert!(all.items == items);
    let findings = |events: &EventStream| format!("{:?}", events.findings());
    assert_eq!(findings(&events), findings(&one_by_one));
    assert_eq!(events.bytes_read(), one_by_one.bytes_read());
    all.usual
}

fn logs(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("golden").flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => logs(&path, found),
            false if path.extension().is_some_and(|ext| ext == "memlog") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn what_is_handed_out_is_what_the_iterator_gives() {
    let mut found = Vec::new();
    logs(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden"),
        &mut found,
    );
    assert!(found.len() > 10);
    let mut draw = draws(3);
    let mut usual = 0;
    for path in found {
        usual += compare_spoilt(fs::read(&path).expect("a log"), &mut draw);
    }
    assert!(usual > 100_000, "{usual}");
}

#[test]
fn so_it_is_of_threads_that_share() {
    let mut draw = draws(5);
    for (threads, cross) in [(1, 0), (2, 0), (4, 1), (7, 3), (16, 20)] {
        let bytes = support::bulk::churn(threads, 20_000, 100, cross).finish(&[]);
        let usual = compare_spoilt(bytes, &mut draw);
        assert!(usual > 30_000, "{threads} threads, {cross}: {usual}");
    }
}

fn draws(mut seed: u64) -> impl FnMut(usize) -> usize {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (seed >> 33) as usize % below
    }
}

fn compare_spoilt(mut bytes: Vec<u8>, draw: &mut impl FnMut(usize) -> usize) -> u64 {
    let mut usual = compare(&bytes, 1 << 13) + compare(&bytes, 1) + compare(&bytes, 7);
    for _ in 0..40 {
        // A few bytes, a run of zeros, or the end.
        match draw(4) {
            0 => {
                let from = draw(bytes.len());
                let to = (from + draw(5000)).min(bytes.len());
                bytes[from..to].fill(0);
            }
            1 => bytes.truncate((bytes.len() - draw(9)).max(4096)),
            _ => (0..3).for_each(|_| {
                let at = draw(bytes.len());
                bytes[at] = draw(256) as u8;
            }),
        }
        usual += compare(&bytes, 64);
    }
    usual
}
