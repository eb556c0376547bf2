//! Logs whose recorder left blocks out: a chunk that is there twice, and numbers that are
//! missing.

mod support;

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind as ChunkKind};
use memlog_format::event::{Alloc, Deltas};
use memlog_format::meta::{Key, Record};
use memlog_format::table::StackId;
use memlog_format::varint::Writer;
use memlog_read::{Finding, Kind, Log};
use support::{START, chunk, meta_chunk};

fn alloc(address: u64, order: Option<u64>) -> Alloc {
    Alloc {
        api: Api::Malloc,
        address,
        size: 10,
        usable: 24,
        alignment_log2: 0,
        stack: StackId(1),
        order,
    }
}

/// A chunk of events with these allocations.
fn events(header: Header, allocs: &[Alloc]) -> Vec<u8> {
    let mut body = vec![0; CHUNK_SIZE - HEADER_SIZE];
    let mut out = Writer::new(&mut body);
    let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
    for alloc in allocs {
        deltas.put_alloc(&mut out, alloc);
    }
    let length = out.finish().expect("room");
    chunk(header, &body[..length], false)
}

fn log(chunks: &[Vec<u8>], is_culled: bool) -> Vec<u8> {
    let culled = Record::Text(Key::Culled, b"10000000");
    let records = [Record::Start(START), culled];
    let mut log = meta_chunk(&records[..if is_culled { 2 } else { 1 }]);
    log.extend(chunks.iter().flatten());
    log
}

fn addresses(log: &Log) -> Vec<u64> {
    let allocs = log.events().filter_map(|item| match item.kind {
        Kind::Alloc(alloc) => Some(alloc.address),
        _ => None,
    });
    allocs.collect()
}

/// Who was killed between two stores left both: the newer counts, wherever it lies.
#[test]
fn of_two_chunks_of_one_place_the_newer_counts() {
    let header = |sequence, culled| Header {
        culled,
        ..Header::new(ChunkKind::Events, 0, sequence)
    };
    let old = events(header(1, 6), &[alloc(0x1000, None), alloc(0x2000, None)]);
    let new = events(header(1, 7), &[alloc(0x2000, None)]);
    let first = events(header(0, 0), &[alloc(0x3000, None)]);
    let last = events(header(2, 0), &[alloc(0x4000, None)]);
    let places = [[&old, &new], [&new, &old]];
    for [one, other] in places {
        let bytes = log(
            &[one.clone(), last.clone(), other.clone(), first.clone()],
            true,
        );
        let log = Log::open(&bytes).expect("a log");
        assert_eq!(log.findings().count(), 0);
        assert_eq!(addresses(&log), [0x3000, 0x2000, 0x4000]);
    }
    // Of the same age one is damage, as ever.
    let bytes = log(&[old.clone(), old], true);
    let log = Log::open(&bytes).expect("a log");
    let is_repeated = |finding: &Finding| matches!(finding, Finding::Repeated { .. });
    assert!(log.findings().list().iter().any(is_repeated));
}

/// In a log that has all, a number that is missing is a lost event.
#[test]
fn numbers_of_what_was_left_out_are_no_loss() {
    let numbered = |stream, numbers: [u64; 2], culled| {
        let header = Header {
            culled,
            ..Header::new(ChunkKind::Events, stream, 0)
        };
        let allocs = numbers.map(|number| alloc(0x10_0000 + 64 * number, Some(number)));
        events(header, &allocs)
    };
    for (is_culled, gaps) in [(true, 0), (false, 4)] {
        let culled = is_culled.into();
        let chunks = [numbered(0, [0, 7], culled), numbered(1, [3, 4], culled)];
        let bytes = log(&chunks, is_culled);
        let log = Log::open(&bytes).expect("a log");
        let mut events = log.events();
        let numbers = events.by_ref().filter_map(|item| match item.kind {
            Kind::Alloc(alloc) => alloc.order,
            _ => None,
        });
        assert_eq!(numbers.collect::<Vec<_>>(), [0, 3, 4, 7]);
        assert_eq!(events.findings().order_gaps, gaps);
        assert_eq!(log.left_out().is_some(), is_culled);
    }
    // Of a log that may leave out, and did not so far.
    let bytes = log(&[numbered(0, [0, 1], 0), numbered(1, [2, 3], 0)], true);
    assert_eq!(Log::open(&bytes).expect("a log").left_out(), None);
}
