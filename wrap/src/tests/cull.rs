//! Chunks without blocks that lived shortly, against a naive reader: what it finds in a
//! chunk that was written anew must be what it finds in the chunk as it was.
//!
//! A thread allocates, releases, resizes and fails to; some of its blocks are others' or
//! of before the chunk, some events have numbers, and between them lie all the records
//! that a chunk may have. The chunk is written anew again and again, as it fills.

use super::cull_thread::{ADDRESSES, Block, Thread};
use super::memory::Zeroed;
use crate::log::cull::{LARGE, Rule, Scratch, find, rewrite};
use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::Ext;
use memlog_format::table::StackId;
use memlog_format::varint::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// Blocks that live as many ticks stay.
const BELOW: u64 = 4;

/// What blocks have in common that the sums are told by.
type Key = (u32, u8, u8, u64, u64, u32);

/// What a naive reader finds.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    came: BTreeMap<Key, u64>,
    /// By who released them, and whether a realloc took them.
    went: BTreeMap<(u32, Option<u32>, bool), u64>,
    temporary: BTreeMap<Key, u64>,
    live: BTreeMap<u64, Block>,
    /// What was live at each moment.
    moments: Vec<BTreeMap<u64, Block>>,
    /// When the heap was highest, and what was live then.
    highest: u64,
    at_highest: BTreeMap<u64, Block>,
    /// Records that are no allocations and releases, each with its time.
    others: Vec<String>,
    tick: u64,
    stamp: u64,
}

impl Found {
    /// One after the other, so that a difference is told in a few words.
    fn is(&self, other: &Self, seed: u64) {
        assert_eq!(self.others, other.others, "{seed}");
        assert_eq!(self.came, other.came, "{seed}");
        assert_eq!(self.went, other.went, "{seed}");
        let temporary = |one: &Self, other: &Self| -> Vec<_> {
            let is_other = |(key, count): &(&Key, &u64)| other.temporary.get(key) != Some(count);
            let differ = one.temporary.iter().filter(is_other);
            differ.map(|(key, count)| (*key, *count)).collect()
        };
        assert_eq!(temporary(self, other), temporary(other, self), "{seed}");
        assert_eq!(self.highest, other.highest, "{seed}");
        assert_eq!((self.tick, self.stamp), (other.tick, other.stamp));
        let states = |found: &Self| {
            let mut states = vec![found.live.clone(), found.at_highest.clone()];
            states.extend(found.moments.iter().cloned());
            states
        };
        let (ours, others) = (states(self), states(other));
        assert_eq!(ours.len(), others.len(), "{seed}");
        for (place, (one, other)) in ours.iter().zip(&others).enumerate() {
            let gone: Vec<_> = other
                .iter()
                .filter(|&(at, _)| !one.contains_key(at))
                .collect();
            assert!(gone.is_empty(), "{seed}, at {place}: {gone:?}");
            assert!(one == other, "{seed}, at {place}");
        }
    }
}

/// What it finds besides, which is not the same.
#[derive(Default)]
struct Aside {
    /// Each block's life.
    lives: BTreeSet<(u64, u64, u64)>,
    deltas: Deltas,
    passed: u64,
    events: u64,
}

fn key(tid: u32, alloc: (Api, u8), sizes: (u64, u64), stack: StackId) -> Key {
    (tid, alloc.0 as u8, alloc.1, sizes.0, sizes.1, stack.0)
}

/// How what was announced ends.
fn is_revoked(mut deltas: Deltas, mut records: Reader) -> bool {
    loop {
        match deltas.next(&mut records).expect("a record") {
            Some(Event::Revoke) => return true,
            Some(Event::Alloc(alloc)) => {
                assert!(matches!(alloc.api, Api::Realloc), "what was announced");
                return false;
            }
            Some(Event::Release(_)) | None => panic!("nobody says what became of it"),
            Some(_) => {}
        }
    }
}

/// Reads a chunk, before which `before` was live.
fn read(chunk: &[u8], before: &BTreeMap<u64, Block>, is_alone: bool) -> (Found, Aside) {
    let header = Header::decode(chunk).expect("a header").expect("a chunk");
    let body = &chunk[HEADER_SIZE..header.committed as usize];
    let mut records = Reader::new(body);
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    let (mut found, mut aside) = (Found::default(), Aside::default());
    found.live = before.clone();
    let mut keys: BTreeMap<u64, Key> = BTreeMap::new();
    let (mut tid, mut last) = (header.thread, 0);
    let bytes = |live: &BTreeMap<u64, Block>| live.values().map(|block| block.size).sum::<u64>();
    let mut pending: Option<Release> = None;
    let went = |found: &mut Found,
                aside: &mut Aside,
                keys: &mut BTreeMap<u64, Key>,
                release: &Release,
                (tid, tick): (u32, u64),
                last: &mut u64| {
        aside.events += 1;
        let is_moved = matches!(release.api, Api::Realloc | Api::Reallocarray);
        let stack = release.stack.map(|stack| stack.0);
        *found.went.entry((tid, stack, is_moved)).or_default() += 1;
        let key = keys.remove(&release.address);
        if let Some(block) = found.live.remove(&release.address) {
            aside.lives.insert((block.tick, tick, block.size));
        }
        if *last == release.address {
            *last = 0;
            *found.temporary.entry(key.expect("it came")).or_default() += 1;
        }
    };
    while let Some(event) = deltas.next(&mut records).expect("a record") {
        let tick = deltas.tick;
        match event {
            Event::Alloc(alloc) => {
                aside.events += 1;
                let key = key(
                    tid,
                    (alloc.api, alloc.alignment_log2),
                    (alloc.size, alloc.usable),
                    alloc.stack,
                );
                *found.came.entry(key).or_default() += 1;
                keys.insert(alloc.address, key);
                let block = Block {
                    size: alloc.size,
                    usable: alloc.usable,
                    stack: alloc.stack.0,
                    tid,
                    tick,
                };
                found.live.insert(alloc.address, block);
                last = alloc.address;
                if bytes(&found.live) > found.highest {
                    found.highest = bytes(&found.live);
                    found.at_highest = found.live.clone();
                }
            }
            Event::Release(release) if release.announced && is_revoked(deltas, records.clone()) => {
                pending = Some(release);
            }
            Event::Release(release) => {
                went(
                    &mut found,
                    &mut aside,
                    &mut keys,
                    &release,
                    (tid, tick),
                    &mut last,
                );
            }
            Event::Revoke => {
                let revoked = pending.take().expect("what is revoked was announced");
                found
                    .others
                    .push(format!("{tick} revoked {:x}", revoked.address));
            }
            Event::Tick(_) => {}
            Event::Ext(Ext::Passed(passed)) => {
                last = 0;
                if passed.blocks == 0 {
                    continue;
                }
                aside.passed += passed.blocks;
                let key = key(
                    passed.tid,
                    (passed.api, passed.alignment_log2),
                    (passed.size, passed.usable),
                    passed.stack,
                );
                *found.came.entry(key).or_default() += passed.blocks;
                let stack = passed.release_stack.map(|stack| stack.0);
                let by = (passed.releaser, stack, passed.moved);
                *found.went.entry(by).or_default() += passed.blocks;
                if passed.temporary {
                    *found.temporary.entry(key).or_default() += passed.blocks;
                }
            }
            other => {
                if let Event::Ext(Ext::Thread { tid: now, .. }) = other {
                    tid = now;
                }
                let is_moment = match other {
                    Event::Stamp(_) => !is_alone,
                    Event::Ext(ext) => matches!(
                        ext,
                        Ext::Rss(_) | Ext::Mark(_) | Ext::Switch(_) | Ext::Fork { .. }
                    ),
                    _ => false,
                };
                if is_moment {
                    found.moments.push(found.live.clone());
                }
                found.others.push(format!("{tick} {other:?}"));
            }
        }
    }
    (found.tick, found.stamp) = (deltas.tick, deltas.stamp);
    aside.deltas = deltas;
    (found, aside)
}

/// Writes a thread's chunk anew from an offset on; how many blocks went.
fn anew(scratch: &mut Scratch, thread: &mut Thread, from: usize, is_alone: bool) -> Option<u64> {
    let rule = Rule {
        below_ticks: BELOW,
        is_alone,
    };
    let bytes = &thread.chunk[..thread.header.committed as usize];
    let blocks = find(scratch, &thread.header, (bytes, from), rule)?;
    let mut out = vec![0; CHUNK_SIZE];
    let written = rewrite(scratch, &thread.header, (bytes, from), &mut out)?;
    assert!(written.most_bytes < LARGE * ADDRESSES);
    assert_eq!(&out[HEADER_SIZE..from], &bytes[HEADER_SIZE..from]);
    thread.header = Header {
        committed: written.committed,
        culled: thread.header.culled + 1,
        ..thread.header
    };
    out[..HEADER_SIZE].copy_from_slice(&thread.header.encode());
    (thread.chunk, thread.deltas) = (out, written.deltas);
    Some(blocks)
}

/// Totals by thread, function, size and stack; who released; what was temporary; what is
/// live at the end, at each moment, and where the heap is highest: all as in the chunk
/// that nothing was left out of.
#[test]
fn tells_the_same_as_the_chunk_did() {
    let mut scratch = Scratch::zeroed();
    let (mut gone, mut all) = (0, 0);
    for seed in 0..100 {
        let is_alone = seed % 2 == 0;
        let (mut thread, mut twin) = (Thread::new(seed), Thread::new(seed));
        let before = thread.live.clone();
        let mut from = HEADER_SIZE;
        for _ in 0..1 + seed % 4 {
            for _ in 0..20 + seed * 2 {
                thread.step();
                twin.step();
            }
            if seed % 5 == 4 {
                from = thread.header.committed as usize;
                for _ in 0..300 {
                    thread.step();
                    twin.step();
                }
            }
            let events = read(&thread.chunk, &before, is_alone).1.events;
            let blocks = anew(&mut scratch, &mut thread, from, is_alone).expect("room");
            let (was, _) = read(&twin.chunk, &before, is_alone);
            let (is, aside) = read(&thread.chunk, &before, is_alone);
            is.is(&was, seed);
            assert_eq!(aside.deltas, thread.deltas);
            assert_eq!(aside.events + 2 * blocks, events, "{seed}");
            gone += blocks;
        }
        let (_, was) = read(&twin.chunk, &before, is_alone);
        let (_, is) = read(&thread.chunk, &before, is_alone);
        assert_eq!(is.passed * 2 + is.events, was.events);
        // Whatever lived as long as the threshold is there.
        for &(born, died, size) in &was.lives {
            let is_short = died - born < BELOW && size < LARGE;
            assert!(is_short || is.lives.contains(&(born, died, size)), "{seed}");
        }
        all += was.events / 2;
    }
    assert!(gone > all / 4, "{gone} of {all}");
}

/// Most of what is left out is what it is made for: blocks that go at once, malloc's or those
/// that the program tells of.
#[test]
fn leaves_blocks_out_that_go_at_once() {
    for api in [Api::Malloc, Api::Custom, Api::CustomRealloc] {
        leaves_out(api);
    }
}

fn leaves_out(api: Api) {
    let mut scratch = Scratch::zeroed();
    let mut thread = Thread::new(1);
    let live = thread.live.clone();
    let name = Ext::Thread { tid: 7, name: b"t" };
    thread.put(|deltas, out| deltas.put_ext(out, &name));
    for _ in 0..5000 {
        thread.alloc(api);
        let address = thread.last;
        let release = Release {
            api: Api::Free,
            address,
            announced: false,
            stack: None,
            order: None,
        };
        thread.put(|deltas, out| deltas.put_release(out, &release));
        thread.live.remove(&address);
    }
    let before = thread.header.committed;
    let (was, _) = read(&thread.chunk, &live, true);
    let blocks = anew(&mut scratch, &mut thread, HEADER_SIZE, true).expect("room");
    assert!(blocks > 4500, "{blocks}");
    read(&thread.chunk, &live, true).0.is(&was, 1);
    assert!(
        thread.header.committed < before / 4,
        "{}",
        thread.header.committed
    );
}

/// A block that another thread released and got anew is not the one that came: numbers of
/// the cell that are not here tell of that.
#[test]
fn keeps_what_another_thread_came_near() {
    let mut scratch = Scratch::zeroed();
    // When it came and went; what else of the cell the thread did meanwhile.
    for (came, between, went, goes) in [
        (Some(10), &[][..], Some(11), true),
        (Some(10), &[], Some(13), false),
        (Some(10), &[11, 12], Some(13), true),
        (Some(10), &[11], Some(13), false),
        (Some(10), &[12], Some(13), false),
        (None, &[], None, true),
        (None, &[], Some(0), false),
        (Some(10), &[], None, false),
    ] {
        let mut thread = Thread::new(1);
        let (address, live) = (0x7000_1000, thread.live.clone());
        let alloc = |address, size, order| Alloc {
            api: Api::Malloc,
            address,
            size,
            usable: size,
            stack: StackId(5),
            alignment_log2: 0,
            order,
        };
        let release = |address, order| Release {
            api: Api::Free,
            address,
            announced: false,
            stack: None,
            order,
        };
        // The heap is highest here, where what is live stays.
        let large = alloc(0x7100_0000, 50_000, None);
        thread.put(|deltas, out| deltas.put_alloc(out, &large));
        thread.put(|deltas, out| deltas.put_release(out, &release(large.address, None)));
        thread.put(|deltas, out| deltas.put_alloc(out, &alloc(address, 100, came)));
        for (place, &number) in (1..).zip(between) {
            let other = alloc(address + 128 * place, 100, Some(number));
            thread.put(|deltas, out| deltas.put_alloc(out, &other));
        }
        thread.put(|deltas, out| deltas.put_release(out, &release(address, went)));
        let blocks = anew(&mut scratch, &mut thread, HEADER_SIZE, false);
        let what = format!("{came:?} {between:?} {went:?}");
        assert_eq!(blocks, Some(u64::from(goes)), "{what}");
        assert_eq!(
            read(&thread.chunk, &live, false).1.passed,
            u64::from(goes),
            "{what}"
        );
    }
}

/// A realloc of which nobody knows how it went, a record that makes no sense, an offset
/// amid a record: the chunk stays as it is.
#[test]
fn leaves_alone_what_is_not_whole() {
    let mut scratch = Scratch::zeroed();
    let rule = Rule {
        below_ticks: BELOW,
        is_alone: true,
    };
    let mut found = |thread: &Thread, from| {
        let bytes = &thread.chunk[..thread.header.committed as usize];
        find(&mut scratch, &thread.header, (bytes, from), rule)
    };
    let mut thread = Thread::new(3);
    for _ in 0..10 {
        thread.alloc(Api::Calloc);
    }
    assert_eq!(found(&thread, HEADER_SIZE), Some(0));
    assert_eq!(found(&thread, HEADER_SIZE + 1), None);
    let whole = thread.header.committed;
    thread.release(Api::Realloc, true);
    assert_eq!(found(&thread, HEADER_SIZE), None);
    thread.header.committed = whole;
    thread.put(|_, out| out.u8(0));
    assert_eq!(found(&thread, HEADER_SIZE), None);
}

/// Sums know of no scope and of no pool.
#[test]
fn leaves_alone_what_sums_cannot_say() {
    let rule = Rule {
        below_ticks: BELOW,
        is_alone: true,
    };
    let mut scratch = Scratch::zeroed();
    let mut find_in = |thread: &Thread, from| {
        let bytes = &thread.chunk[..thread.header.committed as usize];
        find(&mut scratch, &thread.header, (bytes, from), rule)
    };
    let mut scoped = Thread::new(4);
    scoped.put(|deltas, out| deltas.put_ext(out, &Ext::Scope(b"load")));
    let behind = scoped.header.committed as usize;
    scoped.alloc(Api::Malloc);
    for from in [HEADER_SIZE, behind] {
        assert_eq!(find_in(&scoped, from), None);
    }
    let mut pooled = Thread::new(4);
    pooled.alloc(Api::Malloc);
    assert_eq!(find_in(&pooled, HEADER_SIZE), Some(0));
    pooled.release(Api::Pool, false);
    assert_eq!(find_in(&pooled, HEADER_SIZE), None);
}

/// More sums than there is room for at once are told at once; the counts are right.
#[test]
fn tells_of_more_kinds_than_it_has_room_for() {
    let mut scratch = Scratch::zeroed();
    let mut thread = Thread::new(5);
    let before = thread.live.clone();
    for stack in 0..3600 {
        let alloc = Alloc {
            api: Api::Malloc,
            address: 0x30_0000,
            size: 24,
            usable: 24,
            alignment_log2: 0,
            stack: StackId(100 + stack % 2500),
            order: None,
        };
        let release = Release {
            api: Api::Free,
            address: alloc.address,
            announced: false,
            stack: None,
            order: None,
        };
        thread.put(|deltas, out| deltas.put_alloc(out, &alloc));
        thread.put(|deltas, out| deltas.put_release(out, &release));
    }
    let (was, _) = read(&thread.chunk, &before, true);
    // The highest place keeps one.
    assert_eq!(
        anew(&mut scratch, &mut thread, HEADER_SIZE, true),
        Some(3599)
    );
    let (is, aside) = read(&thread.chunk, &before, true);
    is.is(&was, 5);
    assert_eq!(aside.passed, 3599);
}
