//! The log of a flight recorder, as `golden/v2/flight.memlog` has it: what was
//! folded, what is prior to that, and a fold that a death cut short.
//! `MEMLOG_BLESS=1` writes the golden, which no later version may change.

mod support;

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind as ChunkKind, VERSION_AT};
use memlog_format::event::{Alloc, Deltas, Release, predicted_usable};
use memlog_format::live::{ENTRIES, LiveEntry, SUM_WORDS, Sums, folds, version};
use memlog_format::meta::{ForkPoint, Record};
use memlog_format::table::StackId;
use memlog_format::varint::Writer;
use memlog_read::{Kind, Log};
use support::{START, chunk, meta_chunk};

const SUMS: Sums = Sums {
    chunks: 7,
    allocations: 1000,
    bytes: 64_000,
    usable_bytes: 72_000,
    releases: 990,
    temporary: 20,
    horizon_tick: 500,
    rss_kb: 9000,
    rss_tick: 400,
    live_bytes: 640,
    peak_bytes: 5000,
    peak_tick: 300,
    // As the recorders left them that made the golden.
    rss_own_kb: 0,
    rss_high_kb: 0,
};
/// The place in the file of the chunk whose fold is cut short, and its number.
const TORN_CHUNK: u64 = 4;
const TORN_FOLD: u64 = 9;

fn alloc(address: u64, size: u64, order: Option<u64>) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address,
        size,
        usable: predicted_usable(size),
        alignment_log2: 0,
        stack: StackId(9),
        order,
    }
}

fn release(address: u64, order: Option<u64>) -> Release {
    Release {
        api: Api::Free,
        address,
        announced: false,
        stack: None,
        order,
    }
}

fn entry(address: u64, order: u64, version: u64, live: bool) -> LiveEntry {
    LiveEntry {
        address,
        size: if live { 64 } else { 0 },
        usable: if live { 72 } else { 0 },
        order,
        version,
        stack: StackId(9),
        tick: 77,
        tid: 12,
        api: if live { Api::Calloc } else { Api::Free },
        live,
    }
}

/// A chunk's records, and the offset of each.
struct Body {
    deltas: Deltas,
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl Body {
    fn at(tick: u64) -> Self {
        Self {
            deltas: Deltas::at_start(tick, 0),
            bytes: Vec::new(),
            offsets: Vec::new(),
        }
    }

    fn put(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        let mut room = [0; 64];
        let mut out = Writer::new(&mut room);
        put(&mut self.deltas, &mut out);
        let length = out.finish().expect("room");
        self.offsets.push(HEADER_SIZE + self.bytes.len());
        self.bytes.extend(&room[..length]);
    }

    fn alloc(&mut self, alloc: Alloc) {
        self.put(|deltas, out| deltas.put_alloc(out, &alloc));
    }

    fn release(&mut self, release: Release) {
        self.put(|deltas, out| deltas.put_release(out, &release));
    }
}

fn words_chunk(header: Header, words: &[u64]) -> Vec<u8> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    chunk(header, &bytes, false)
}

fn events_header(stream: u32, sequence: u32, thread: u32) -> Header {
    Header {
        thread,
        base_tick: 510,
        ..Header::new(ChunkKind::Events, stream, sequence)
    }
}

/// The chunk of a thread that slept: its first two records were folded.
fn slept() -> Vec<u8> {
    let mut body = Body::at(510);
    body.alloc(alloc(0x1000, 10, None)); // folded, live
    body.alloc(alloc(0x2000, 20, Some(3))); // folded; released by number 8
    body.alloc(alloc(0x3000, 30, Some(5))); // prior: the table has number 6
    body.release(release(0x1000, None)); // later than the table
    body.alloc(alloc(0x9000, 90, Some(2))); // not folded, and released in the torn chunk
    let header = Header {
        folded: body.offsets[2] as u32,
        ..events_header(3, 0, 11)
    };
    chunk(header, &body.bytes, false)
}

/// The chunk in whose fold the program was killed, after four records.
fn torn() -> (Vec<u8>, Vec<usize>) {
    let mut body = Body::at(520);
    body.release(release(0x4000, None)); // applied: it is gone from the table
    body.alloc(alloc(0x5000, 50, None)); // applied
    body.alloc(alloc(0x6000, 60, None)); // applied
    body.release(release(0x6000, None)); // applied: gone again
    body.alloc(alloc(0x7000, 70, None)); // not yet
    body.release(release(0x9000, Some(4))); // not yet: it would have left an entry
    let header = Header {
        seal: 31,
        ..events_header(1, 40, 12)
    };
    (chunk(header, &body.bytes, true), body.offsets)
}

fn log() -> Vec<u8> {
    let point = ForkPoint {
        stream: 1,
        sequence: 39,
        committed: 70,
    };
    let mut meta = meta_chunk(&[Record::Start(START), Record::ForkPoint(point)]);
    meta[VERSION_AT] = memlog_format::VERSION;
    let (torn, offsets) = torn();
    let mut said = [0; folds_words()];
    said[folds::BOUND] = 8 * CHUNK_SIZE as u64;
    said[folds::PLACE] = TORN_CHUNK << 32 | (CHUNK_SIZE as u64 - 1);
    said[folds::UNDER_WAY] = TORN_FOLD;
    said[folds::DONE] = TORN_FOLD - 1;
    let sums = folds::sums(TORN_FOLD - 1);
    said[sums..sums + SUM_WORDS].copy_from_slice(&SUMS.to_words());
    // Half of what the fold under way would have said.
    said[folds::sums(TORN_FOLD)] = 8;
    let old = version(5, 100);
    let entries = [
        entry(0x1000, 0, old, true),
        entry(0x2000, 9, old, false),
        entry(0x3000, 7, old, true),
        // Being moved, so it is there twice; the later one counts.
        entry(0x5000, 0, version(TORN_FOLD, offsets[1]), true),
        entry(0x5000, 0, version(2, 70), false),
        entry(0x8000, 0, old, true),
    ];
    let mut page = vec![0; ENTRIES * 6];
    for (index, entry) in entries.iter().enumerate() {
        // Anywhere in the page.
        let first = (index * 211 + 3) * 6;
        page[first..first + 6].copy_from_slice(&entry.to_words());
    }
    [
        meta,
        words_chunk(Header::new(ChunkKind::Folds, 0, 0), &said),
        words_chunk(Header::new(ChunkKind::Live, 0, 0), &page),
        slept(),
        torn,
    ]
    .concat()
}

const fn folds_words() -> usize {
    folds::sums(1) + 16
}

#[test]
fn the_golden_is_as_it_was() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/v2/flight.memlog");
    let log = log();
    if std::env::var_os("MEMLOG_BLESS").is_some() {
        std::fs::write(path, &log).expect(path);
    }
    let golden = std::fs::read(path).expect(path);
    assert!(golden == log, "the recipe no longer makes the golden");
}

#[test]
fn what_was_folded_is_told() {
    let bytes = log();
    let log = Log::open(&bytes).expect("a log");
    assert_eq!(log.findings().list(), []);
    let flight = log.flight().expect("a flight recorder's");
    assert_eq!(flight.sums, SUMS);
    assert_eq!(flight.bound_bytes, 8 * CHUNK_SIZE as u64);
    assert!(flight.is_torn());
    let mut live: Vec<_> = flight.live().map(|entry| entry.address).collect();
    live.sort_unstable();
    assert_eq!(live, [0x1000, 0x3000, 0x5000, 0x8000]);
}

#[test]
fn what_is_prior_is_told_from_what_is_later() {
    let bytes = log();
    let log = Log::open(&bytes).expect("a log");
    let mut events = log.events();
    let mut told = Vec::new();
    for item in events.by_ref() {
        told.push(match item.kind {
            Kind::Alloc(alloc) => ("+", alloc.address, item.tid),
            Kind::Release(release) => ("-", release.address, item.tid),
            Kind::PriorAlloc(alloc) => ("prior +", alloc.address, item.tid),
            Kind::PriorRelease(release) => ("prior -", release.address, item.tid),
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(events.findings().list(), []);
    assert_eq!(events.findings().order_gaps, 0, "gaps are the rule");
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("+", 0x6000, 12),
            ("+", 0x7000, 12),
            ("+", 0x9000, 11),
            ("-", 0x1000, 11),
            ("-", 0x6000, 12),
            ("-", 0x9000, 12),
            ("prior +", 0x3000, 11),
            ("prior +", 0x5000, 12),
            ("prior -", 0x4000, 12),
        ]
    );
}

/// Once the sums count the fold, its chunk does not.
#[test]
fn a_fold_that_is_done_is_done() {
    let mut bytes = log();
    let at = CHUNK_SIZE + HEADER_SIZE + 8 * folds::DONE;
    bytes[at..at + 8].copy_from_slice(&TORN_FOLD.to_le_bytes());
    let log = Log::open(&bytes).expect("a log");
    assert_eq!(log.flight().expect("one").sums.chunks, 8);
    let items = log.events().filter(|item| item.stream == 1);
    assert_eq!(items.count(), 0);
}

/// A child's inheritance is known while nothing after its fork points was folded.
#[test]
fn what_is_forgotten_is_said_to_be() {
    let mut bytes = log();
    let point = |stream, sequence, committed| ForkPoint {
        stream,
        sequence,
        committed,
    };
    let full = CHUNK_SIZE as u32;
    let both = [point(1, 40, full), point(3, 0, full)];
    let log =
        |bytes: &[u8], points: &[ForkPoint]| Log::open(bytes).expect("a log").remembers(points);
    assert!(!log(&bytes, &both), "a fold is under way");
    let at = CHUNK_SIZE + HEADER_SIZE + 8 * folds::UNDER_WAY;
    bytes[at..at + 8].fill(0);
    assert!(log(&bytes, &both));
    assert!(!log(&bytes, &[point(1, 39, full), point(3, 0, full)]));
    assert!(!log(&bytes, &[point(1, 40, full), point(3, 0, 65)]));
    assert!(
        !log(&bytes, &[point(3, 0, full)]),
        "a stream of after the fork"
    );
    assert!(!log(&bytes, &[both[0], both[1], point(7, 1, 99)]), "gone");
}

/// Nothing that pages or folds may say makes the reader panic or go astray.
#[test]
fn damaged_pages_are_survived() {
    let good = log();
    for seed in 0..200u64 {
        let mut bytes = good.clone();
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        for _ in 0..64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = CHUNK_SIZE + random as usize % (4 * CHUNK_SIZE);
            let at = if seed % 2 == 0 {
                at
            } else {
                at % CHUNK_SIZE + CHUNK_SIZE
            };
            bytes[at] = (random >> 40) as u8;
            bytes[CHUNK_SIZE + HEADER_SIZE + random as usize % 320] = (random >> 48) as u8;
        }
        let Ok(log) = Log::open(&bytes) else { continue };
        assert!(log.events().count() < 20);
    }
}
