//! The recorder linked into a program as a library, under real threads.
//!
//! `ci/sanitize` builds this with ThreadSanitizer, core and std included, and
//! with `--wrap` on the link line: every block of this program, those of std
//! too, goes through a door, so the sanitizer sees each access that the
//! recorder makes to its tables, cells, claims, chunks and counters.
//!
//! Threads come in waves. Those of a wave meet before they work and before
//! they end, and a wave begins when the last one was joined: so a stream whose
//! thread is gone is taken over only by a thread that comes after it for the
//! sanitizer as well, which does not see what the kernel tells the recorder.
#![cfg(memlog_with_doors)]

use memlog_format::counter::Counter;
use memlog_lockfree::life::Life;
use memlog_wrap::process::recorder::RECORDER;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;

fn number(name: &str, usual: usize) -> usize {
    std::env::var(name)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

/// Runs `body` as one thread of many, in waves.
fn waves(waves: usize, threads: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    for _ in 0..waves {
        let barrier = Arc::new(Barrier::new(threads));
        let all: Vec<_> = (0..threads)
            .map(|index| {
                let (body, barrier) = (body.clone(), barrier.clone());
                thread::spawn(move || {
                    barrier.wait();
                    body(index);
                    barrier.wait();
                })
            })
            .collect();
        all.into_iter().for_each(|thread| thread.join().unwrap());
    }
}

/// A block by way of `depth` frames, so that stacks are new now and then.
#[inline(never)]
fn deep(depth: usize, size: usize) -> Vec<u8> {
    match depth {
        0 => Vec::with_capacity(size),
        _ if depth.is_multiple_of(3) => black_box(deep_too(depth - 1, size)),
        _ => black_box(deep(depth - 1, size)),
    }
}

#[inline(never)]
fn deep_too(depth: usize, size: usize) -> Vec<u8> {
    match depth {
        0 => Vec::with_capacity(size),
        _ => black_box(deep(depth - 1, size)),
    }
}

/// The whole of it: it is one test, for the recorder is one to a process.
#[test]
fn threads_of_a_recorded_program() {
    let rounds = number("MEMLOG_ROUNDS", 200);
    drop(black_box(vec![0u8; 10]));
    assert_eq!(
        RECORDER.ground.life().get(),
        Life::On,
        "the doors were linked, and there is a log"
    );

    // The same addresses from many threads: cells become shared, nodes race.
    waves(4, 4, move |index| {
        for round in 0..rounds {
            let kept: Vec<_> = (0..8)
                .map(|at| deep((round + at) % 24, 16 << (at % 5)))
                .collect();
            black_box(&kept);
            if round % 32 == index {
                // Large enough for a reading of memory, a stamp and a new time.
                drop(black_box(vec![1u8; 300 << 10]));
            }
        }
    });
    // Blocks that one thread takes and another gives back.
    waves(4, 2, {
        let (to, from) = channel::<Vec<u8>>();
        let from = std::sync::Mutex::new(from);
        move |index| {
            for round in 0..rounds {
                match index {
                    0 => to.send(deep(round % 16, 64 + round)).unwrap(),
                    _ => drop(from.lock().unwrap().recv().unwrap()),
                }
            }
        }
    });
    reallocs_across_threads(rounds);
    many_threads_at_a_time(rounds);
    counters_and_locks(rounds);
    streams_from_hand_to_hand(rounds);
    let lost = [
        Counter::LostNoStream,
        Counter::LostAbandoned,
        Counter::LostNotReady,
    ];
    for counter in lost {
        assert_eq!(RECORDER.ground.counters.get(counter), 0, "{counter:?}");
    }
    assert_eq!(RECORDER.ground.life().get(), Life::On);
    println!(
        "{} streams, {} nodes, {} codes, {} chunks, {} table races",
        RECORDER.ground.counters.get(Counter::Streams),
        RECORDER.log.nodes.len(),
        RECORDER.log.codes.len(),
        RECORDER.ground.counters.get(Counter::Chunks),
        RECORDER.ground.counters.get(Counter::TableRaces),
    );
}

/// Blocks that move while neighbours of theirs are taken and given back.
fn reallocs_across_threads(rounds: usize) {
    waves(4, 4, move |_| {
        let layout = |size: usize| Layout::from_size_align(size, 16).unwrap();
        let (mut size, mut block) = (16, std::ptr::null_mut::<u8>());
        for round in 0..rounds {
            let next = 16 + (round * 7919) % 4096;
            // SAFETY: a block of this layout, used by this thread alone.
            block = unsafe {
                match block.is_null() {
                    true => alloc(layout(next)),
                    false => realloc(block, layout(size), next),
                }
            };
            assert!(!block.is_null());
            size = next;
        }
        // SAFETY: as above.
        unsafe { dealloc(block, layout(size)) };
    });
}

/// More threads than there were: doors are made, chunks carved at once.
fn many_threads_at_a_time(rounds: usize) {
    waves(3, 24, move |index| {
        for round in 0..rounds / 4 {
            drop(black_box(deep((round + index) % 40, 100)));
        }
    });
    // Streams go on in other threads.
    let streams = RECORDER.ground.counters.get(Counter::Streams);
    waves(20, 4, move |_| drop(black_box(deep(5, 100))));
    let more = RECORDER.ground.counters.get(Counter::Streams) - streams;
    assert!(more < 40, "{more} new streams: none was taken over");
}

/// What the slow paths share, asked for by all at once.
fn counters_and_locks(rounds: usize) {
    waves(2, 4, move |_| {
        for round in 0..rounds {
            RECORDER.ground.counters.add(Counter::Refused, 1);
            RECORDER.ground.counters.sub(Counter::Refused, 1);
            black_box((RECORDER.log.stamp(), RECORDER.log.own_kb()));
            if round % 16 == 0 {
                RECORDER.next_generation();
            }
        }
    });
}

/// Streams that are lent for one call, as a signal's handler has them: what one
/// thread wrote the next one finds, and no two have one at a time.
fn streams_from_hand_to_hand(rounds: usize) {
    let before = RECORDER.log.streams.count();
    waves(4, 4, move |index| {
        let tid = 1_000_000 + index as u32;
        for _ in 0..rounds {
            let door = RECORDER
                .log
                .streams
                .claim(&RECORDER.log, tid, false)
                .unwrap();
            // SAFETY: the claim was won just now.
            let stream = unsafe { &mut *door.body.get() };
            assert_eq!(stream.number, door.number);
            stream.adopt(tid);
            stream.unstamped += 1;
            assert_eq!(stream.tid, tid, "another has it too");
            RECORDER.log.streams.release(door);
        }
    });
    // One may be given back just behind where another thread looks.
    let made = RECORDER.log.streams.count() - before;
    assert!(made < 64, "{made} new streams: none was used again");
}

/// Not atomic and shared all the same: the sanitizer has to say so, or it says
/// nothing of the others either. Only for `ci/sanitize`, which asks for it.
#[test]
#[ignore = "a race, planted"]
fn planted_race() {
    static mut SHARED: u64 = 0;
    static BEGUN: AtomicU32 = AtomicU32::new(0);
    let race = || {
        // Relaxed, and no barrier: nothing orders the two.
        BEGUN.fetch_add(1, Ordering::Relaxed);
        while BEGUN.load(Ordering::Relaxed) < 2 {
            std::hint::spin_loop();
        }
        for _ in 0..10_000 {
            // SAFETY: none; that is what is to be found.
            unsafe { (&raw mut SHARED).write(black_box((&raw const SHARED).read() + 1)) };
        }
    };
    let other = thread::spawn(race);
    race();
    other.join().unwrap();
}
