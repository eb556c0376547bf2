//! Torn, corrupted and foreign logs: no panic, bounded work, and whatever can
//! be read is read.

mod support;

use memlog_format::api::Api;
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::counter::{AREA_AT, Counter};
use memlog_read::{Finding, Kind, Log, ReadError};
use proptest::prelude::*;
use support::Recorder;
use support::history::{History, action};

/// Reads everything that can be asked for; gives the number of events.
fn read_all(bytes: &[u8]) -> Option<usize> {
    let log = Log::open(bytes).ok()?;
    let mut events = log.events();
    let mut count = 0;
    for item in events.by_ref() {
        count += 1;
        if let Kind::Alloc(alloc) = item.kind {
            log.frames(alloc.stack).for_each(drop);
        }
    }
    let findings = log.findings().list().iter();
    findings
        .chain(events.findings().list())
        .for_each(|finding| {
            assert!(!finding.to_string().is_empty());
        });
    log.events_until(log.fork_points()).for_each(drop);
    let _ = log.counter(Counter::Stamps);
    assert!(count <= bytes.len());
    Some(count)
}

fn two_threads() -> Vec<u8> {
    let mut recorder = Recorder::new(2, 2000);
    for number in 0..600 {
        let address = 0x1000 + number * 64;
        recorder.alloc(0, Api::Malloc, address, 10 + number, 1);
        recorder.release((number % 3 == 0).into(), address);
    }
    recorder.finish(&[])
}

#[test]
fn every_length_of_a_log_can_be_read() {
    let log = two_threads();
    let whole = read_all(&log).unwrap();
    let mut last = 0;
    for length in (64..log.len()).step_by(499) {
        let count = read_all(&log[..length]).unwrap();
        assert!(count >= last, "a longer file has as many events or more");
        last = count;
    }
    assert!(whole >= last);
    for length in 0..64 {
        assert_eq!(read_all(&log[..length]), None);
    }
}

#[test]
fn a_torn_tail_is_a_finding() {
    let log = two_threads();
    let cut = &log[..2 * CHUNK_SIZE + 300];
    let log = Log::open(cut).unwrap();
    assert!(
        matches!(log.findings().list(), [Finding::Torn { offset, .. }]
        if *offset == 2 * CHUNK_SIZE)
    );
}

#[test]
fn foreign_files_are_refused_with_a_reason() {
    assert_eq!(Log::open(&[]).unwrap_err(), ReadError::Empty);
    assert_eq!(
        Log::open(b"MLOG").unwrap_err(),
        ReadError::TooShort { length: 4 }
    );
    let elf = [b"\x7fELF".as_slice(), &[1; 200]].concat();
    let error = Log::open(&elf).unwrap_err();
    assert!(error.to_string().contains("7f 45 4c 46"), "{error}");
    assert_eq!(Log::open(&[0; 70000]).unwrap_err(), ReadError::Unwritten);
    let mut newer = two_threads();
    newer[5] = memlog_format::VERSION + 1;
    assert_eq!(
        Log::open(&newer).unwrap_err(),
        ReadError::Newer { version: newer[5] }
    );
}

#[test]
fn a_flipped_bit_in_a_sealed_chunk_is_found() {
    let mut log = two_threads();
    log[CHUNK_SIZE + 100] ^= 4;
    let log = Log::open(&log).unwrap();
    let mut events = log.events();
    events.by_ref().for_each(drop);
    let bad = Finding::BadChecksum { offset: CHUNK_SIZE };
    assert!(events.findings().list().contains(&bad));
}

#[test]
fn a_missing_chunk_is_named() {
    let log = two_threads();
    let mut chunks: Vec<_> = log.chunks(CHUNK_SIZE).collect();
    let gone = chunks
        .iter()
        .position(|chunk| chunk[8..16] == [0, 0, 0, 0, 1, 0, 0, 0]);
    chunks.remove(gone.unwrap());
    let log = chunks.concat();
    let log = Log::open(&log).unwrap();
    let missing = Finding::MissingChunks {
        stream: 0,
        first: 1,
        count: 1,
    };
    assert_eq!(log.findings().list(), [missing]);
}

/// Every event of a log, as the reader has it.
fn events_of(bytes: &[u8]) -> Vec<Kind<'_>> {
    let log = Log::open(bytes).unwrap();
    log.events().map(|item| item.kind).collect()
}

#[test]
fn zeros_in_a_record_make_no_event() {
    let log = two_threads();
    let whole = events_of(&log);
    for from in CHUNK_SIZE + 100..CHUNK_SIZE + 400 {
        let mut broken = log.clone();
        broken[from..2 * CHUNK_SIZE].fill(0);
        let events = events_of(&broken);
        assert!(events.len() < whole.len());
        let invented = events.iter().find(|event| !whole.contains(event));
        assert_eq!(invented, None, "zeros from {from} on");
    }
}

#[test]
fn a_header_of_zeros_is_told() {
    let mut log = two_threads();
    let chunks = (log.len() / CHUNK_SIZE) as u64;
    let at = 64 + 8 * Counter::Chunks as usize;
    log[at..at + 8].copy_from_slice(&chunks.to_le_bytes());
    let last = log.len() - CHUNK_SIZE;
    log[last..last + 64].fill(0);
    let log = Log::open(&log).unwrap();
    let is_told =
        |finding: &Finding| matches!(finding, Finding::BadChunk { offset, .. } if *offset == last);
    assert!(log.findings().list().iter().any(is_told));
}

#[test]
fn a_first_block_of_zeros_leaves_the_rest() {
    let log = two_threads();
    for block in [512, 4096, CHUNK_SIZE] {
        let mut broken = log.clone();
        broken[..block].fill(0);
        assert_eq!(events_of(&broken), events_of(&log));
        let broken = Log::open(&broken).unwrap();
        assert_eq!(broken.start().is_some(), block == 512);
        assert!(broken.findings().count() > 0);
    }
}

#[test]
fn a_last_chunk_of_zeros_is_told() {
    let mut log = two_threads();
    let last = log.len() - CHUNK_SIZE;
    log[last..].fill(0);
    let log = Log::open(&log).unwrap();
    let is_told = |finding: &Finding| matches!(finding, Finding::NextMissing { .. });
    assert!(log.findings().list().iter().any(is_told));
    assert!(log.findings().list().iter().all(Finding::is_usual));
}

/// A counter of streams that is far beyond what a log can have.
#[test]
fn many_missing_streams_are_few_findings() {
    let mut log = two_threads();
    let at = AREA_AT + 8 * Counter::Streams as usize;
    log[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
    let log = Log::open(&log).unwrap();
    let (first, count) = (2, (1 << 16) - 2);
    let told = Finding::StreamsMissing { first, count };
    assert_eq!(log.findings().list(), [told]);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        read_all(&bytes);
        let mut log = support::meta_chunk(&[]);
        log.extend(bytes);
        read_all(&log);
    }

    #[test]
    fn no_damage_makes_it_panic(
        actions in prop::collection::vec(action(), 0..200),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..200usize, any::<u8>()), 1..20),
    ) {
        let (mut log, _) = History::run(4, 1500, &actions).finish_log(&[]);
        let chunks = log.len() / CHUNK_SIZE;
        for (chunk, at, byte) in damage {
            log[chunk.index(chunks) * CHUNK_SIZE + at] = byte;
        }
        read_all(&log);
    }

    #[test]
    fn no_chunk_of_noise_makes_it_panic(
        noise in prop::collection::vec(any::<u8>(), 0..2000),
        kind in 0..5u8,
    ) {
        let (mut log, _) = History::run(2, 1500, &[]).finish_log(&[]);
        let at = log.len() - CHUNK_SIZE;
        log[at + 4] = kind;
        log[at + 16..at + 20].copy_from_slice(&(64 + noise.len() as u32).to_le_bytes());
        log[at + 64..at + 64 + noise.len()].copy_from_slice(&noise);
        read_all(&log);
    }
}
