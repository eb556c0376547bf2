//! The streams of a process: who asks gets one of his own, a dead thread's
//! goes on, and a forked child starts with all of them free.
#![allow(unsafe_code)]
//! # Safety
//! `reset` is called where no other thread uses the streams of the test.

use crate::log::streams::{MAX_STREAMS, Streams};
use crate::platform::sys::{Os, Sys};
use crate::process::recorder::RECORDER;
use memlog_lockfree::claims::{Claim, FREE};
use std::collections::HashSet;
use std::sync::Barrier;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The streams of one test, too large for a stack.
fn streams() -> &'static Streams {
    let slots = [const { AtomicPtr::new(std::ptr::null_mut()) }; MAX_STREAMS];
    Box::leak(Box::new(Streams::new(Box::leak(Box::new(slots)))))
}

fn holder(streams: &Streams, number: u32) -> u32 {
    Claim(&streams.slot(number).unwrap().holder).holder()
}

#[test]
fn threads_at_one_time_get_streams_of_their_own() {
    let (streams, barrier) = (streams(), Barrier::new(8));
    let numbers = std::thread::scope(|scope| {
        let claim = || {
            barrier.wait();
            let tid = Os::tid();
            let number = streams.claim(&RECORDER.log, tid, true).unwrap().number;
            barrier.wait();
            assert_eq!(holder(streams, number), tid);
            number
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(claim)).collect();
        let numbers = threads.into_iter().map(|thread| thread.join().unwrap());
        numbers.collect::<HashSet<_>>()
    });
    assert_eq!(numbers, (0..8).collect());
    assert_eq!(streams.count(), 8);
}

#[test]
fn a_stream_given_back_is_given_out_again() {
    let streams = streams();
    let tid = Os::tid();
    let (own, aside) = (
        streams.claim(&RECORDER.log, tid, true).unwrap(),
        streams.claim(&RECORDER.log, tid, false).unwrap(),
    );
    assert_ne!(own.number, aside.number);
    streams.release(aside);
    assert_eq!(holder(streams, aside.number), FREE);
    assert_eq!(
        streams.claim(&RECORDER.log, tid, false).unwrap().number,
        aside.number
    );
    assert_eq!(streams.count(), 2);
}

#[test]
fn a_dead_threads_stream_goes_on() {
    let streams = streams();
    // The recorder of this test was never started, and knows no process yet.
    RECORDER
        .ground
        .pid
        .store(std::process::id(), Ordering::Relaxed);
    let dead = std::thread::spawn(|| {
        let tid = Os::tid();
        streams.claim(&RECORDER.log, tid, true).unwrap();
        tid
    });
    let dead = dead.join().unwrap();
    // The kernel may need a moment to forget a thread that was joined.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !Os::is_gone(std::process::id(), dead) && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    let aside = streams.claim(&RECORDER.log, Os::tid(), false).unwrap();
    assert_eq!(aside.number, 1, "a nested call does not look for the dead");
    let own = streams.claim(&RECORDER.log, Os::tid(), true).unwrap();
    assert_eq!((own.number, streams.count()), (0, 2));
}

#[test]
fn a_living_threads_stream_is_left_alone() {
    let (streams, barrier) = (streams(), Barrier::new(2));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            streams.claim(&RECORDER.log, Os::tid(), true).unwrap();
            barrier.wait();
            barrier.wait();
        });
        barrier.wait();
        assert_eq!(
            streams
                .claim(&RECORDER.log, Os::tid(), true)
                .unwrap()
                .number,
            1
        );
        barrier.wait();
    });
}

#[test]
fn a_forked_child_finds_all_of_them_free() {
    let streams = streams();
    let tid = Os::tid();
    for _ in 0..3 {
        streams.claim(&RECORDER.log, tid, false).unwrap();
    }
    // SAFETY: only this test's thread knows of these streams.
    unsafe { streams.reset(&RECORDER.ground) };
    assert!((0..3).all(|number| holder(streams, number) == FREE));
    let again: HashSet<_> = (0..3)
        .map(|_| streams.claim(&RECORDER.log, tid, false).unwrap().number)
        .collect();
    assert_eq!(again, (0..3).collect());
    assert_eq!(streams.claim(&RECORDER.log, tid, false).unwrap().number, 3);
}

#[test]
fn there_is_a_last_stream() {
    let streams = streams();
    let tid = Os::tid();
    for number in 0..MAX_STREAMS {
        assert_eq!(
            streams.claim(&RECORDER.log, tid, false).unwrap().number,
            number as u32
        );
    }
    for _ in 0..3 {
        assert!(streams.claim(&RECORDER.log, tid, false).is_none());
    }
    assert_eq!(streams.count(), MAX_STREAMS as u32);
    streams.release(streams.slot(17).unwrap());
    assert_eq!(streams.claim(&RECORDER.log, tid, false).unwrap().number, 17);
}
