//! Logs that were copied while they grow, here or on their way from another machine.

mod support;

use memlog_format::api::Api;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, SEALED};
use memlog_format::counter::{AREA_AT, Counter};
use memlog_read::{Finding, Log, Marks};
use proptest::prelude::*;
use support::Recorder;
use support::history::{History, action};

/// Two streams with several chunks each, which say how many there are.
fn log_of_two() -> Vec<u8> {
    let mut recorder = Recorder::new(2, 600);
    for number in 0..900 {
        let address = 0x1000 + number * 64;
        recorder.alloc(0, Api::Malloc, address, 10 + number, 1);
        recorder.release(1, address);
    }
    let mut log = recorder.finish(&[]);
    count(&mut log, 2);
    log
}

fn count(log: &mut [u8], streams: u64) {
    let chunks = (log.len() / CHUNK_SIZE) as u64;
    for (counter, value) in [(Counter::Chunks, chunks), (Counter::Streams, streams)] {
        let at = AREA_AT + 8 * counter as usize;
        log[at..at + 8].copy_from_slice(&value.to_le_bytes());
    }
}

/// Takes from the last chunk of each stream in these bytes that it was sealed.
fn open_last(bytes: &mut [u8]) {
    let mut seen = Vec::new();
    for place in bytes.chunks_mut(CHUNK_SIZE).skip(1).rev() {
        let header = Header::decode(place).unwrap().unwrap();
        if seen.contains(&header.stream) {
            continue;
        }
        seen.push(header.stream);
        let open = Header {
            flags: header.flags & !SEALED,
            checksum: 0,
            ..header
        };
        place[..HEADER_SIZE].copy_from_slice(&open.encode());
    }
}

fn marks_of(bytes: &[u8]) -> Marks {
    Log::open(bytes).unwrap().marks(bytes.len() as u64)
}

fn findings(bytes: &[u8]) -> Vec<Finding> {
    Log::open(bytes).unwrap().findings().list().to_vec()
}

/// The same of a copy of a log that was like this before.
fn findings_behind(bytes: &[u8], marks: &Marks) -> Vec<Finding> {
    let log = Log::open_behind(bytes, marks, None).unwrap();
    log.findings().list().to_vec()
}

#[test]
fn what_is_begun_meanwhile_is_not_missing() {
    let log = log_of_two();
    let chunks = log.len() / CHUNK_SIZE;
    assert!(chunks > 6);
    for length in 3..chunks {
        let mut before = log[..length * CHUNK_SIZE].to_vec();
        open_last(&mut before);
        count(&mut before, 2);
        let marks = marks_of(&before);
        // Its length was looked at, and then its chunks were filled and the next ones begun.
        let copy = &log[..length * CHUNK_SIZE];
        assert!(!findings(copy).is_empty());
        assert_eq!(findings_behind(copy, &marks), []);
    }
}

#[test]
fn what_was_begun_before_is_missing() {
    let log = log_of_two();
    let chunks = log.len() / CHUNK_SIZE;
    // All of it was there once.
    let marks = marks_of(&log);
    let copy = &log[..(chunks - 1) * CHUNK_SIZE];
    let found = findings_behind(copy, &marks);
    assert!(matches!(found[..], [Finding::CutOff { .. }]), "{found:?}");
    // The end became zeros.
    let mut hollow = log.clone();
    hollow[(chunks - 1) * CHUNK_SIZE..].fill(0);
    let marks = marks_of(&hollow);
    let found = findings_behind(&hollow, &marks);
    let is_told = matches!(found[..], [Finding::NextMissing { .. }]);
    assert!(is_told, "{found:?}");
}

#[test]
fn a_thread_that_begins_meanwhile_is_not_missing() {
    let mut log = log_of_two();
    let marks = marks_of(&log);
    count(&mut log, 3);
    let missing = findings(&log);
    assert!(matches!(missing[..], [Finding::StreamsMissing { .. }]));
    assert_eq!(findings_behind(&log, &marks), []);
    let marks = marks_of(&log);
    assert_eq!(findings_behind(&log, &marks), missing);
}

proptest! {
    /// Over a slow network what stands before something may come long after it.
    #[test]
    fn a_copy_that_lags_has_never_less(
        threads in 2..6usize,
        actions in prop::collection::vec(action(), 0..600),
        steps in prop::collection::vec((0..3usize, 0..3usize, 0..3usize), 1..20),
    ) {
        let (mut log, _) = History::run(threads, 600, &actions).finish_log(&[]);
        count(&mut log, threads as u64);
        let until = |chunks: usize| &log[..(chunks * CHUNK_SIZE).min(log.len())];
        let (mut chunks, mut most) = (1, 0);
        for (before, then, meanwhile) in steps {
            chunks += before;
            let first = marks_of(until(chunks));
            chunks += then;
            let (last, there) = (marks_of(until(chunks)), Log::open(until(chunks)).unwrap());
            chunks += meanwhile;
            let log = Log::open_behind(until(chunks), &first, Some(&last)).unwrap();
            let events = log.events().count();
            prop_assert!(events >= most, "{events} after {most}");
            prop_assert!(events <= there.events().count(), "more than there was");
            most = events;
        }
    }
}
