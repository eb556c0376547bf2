//! The claims: a stream has one writer at a time, and who comes after sees
//! what was written before.

use crate::claims::{Claim, FREE, GUEST};
use crate::sync::{AtomicU32, Ordering};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

struct Stream {
    holder: AtomicU32,
    /// The thread whose claim the kernel no longer knows, once it is gone.
    gone: AtomicU32,
    /// The body: plain memory, for the holder alone.
    written: UnsafeCell<u32>,
}

impl Stream {
    fn held_by(tid: u32) -> Arc<Self> {
        Arc::new(Self {
            holder: AtomicU32::new(tid),
            gone: AtomicU32::new(0),
            written: UnsafeCell::new(0),
        })
    }

    fn claim(&self) -> Claim<'_> {
        Claim(&self.holder)
    }

    /// The holder writes; loom itself checks that it is alone.
    #[allow(unsafe_code)]
    fn write(&self) {
        // SAFETY: the caller holds the claim, which this test is about.
        self.written.with_mut(|place| unsafe { *place += 1 });
    }

    #[allow(unsafe_code)]
    fn written(&self) -> u32 {
        // SAFETY: as for `write`.
        self.written.with(|place| unsafe { *place })
    }

    /// The kernel takes the thread off its list, after all that it did.
    fn die(&self, tid: u32) {
        self.gone.store(tid, Ordering::Release);
    }

    /// What `tgkill` says.
    fn is_gone(&self, tid: u32) -> bool {
        self.gone.load(Ordering::Acquire) == tid
    }

    /// What a newcomer does with a stream whose thread may be gone.
    fn take_over(&self, tid: u32) -> bool {
        let holder = self.claim().holder();
        holder != FREE && holder != GUEST && self.is_gone(holder) && self.claim().take(holder, tid)
    }
}

#[test]
fn one_free_stream_has_one_claimant() {
    loom::model(|| {
        let stream = Stream::held_by(FREE);
        let others: Vec<_> = [2, 3]
            .into_iter()
            .map(|tid| {
                let stream = stream.clone();
                thread::spawn(move || {
                    let won = stream.claim().take(FREE, tid);
                    if won {
                        stream.write();
                        assert_eq!(stream.claim().holder(), tid);
                    }
                    won
                })
            })
            .collect();
        let winners = others.into_iter().map(|other| other.join().unwrap());
        assert_eq!(winners.filter(|&won| won).count(), 1);
        assert_eq!(stream.written(), 1);
    });
}

#[test]
fn a_stream_given_back_goes_on_where_it_was() {
    loom::model(|| {
        let stream = Stream::held_by(FREE);
        let work = |stream: &Stream, tid: u32| {
            let mut calls = 0;
            for _ in 0..2 {
                if stream.claim().take(FREE, tid) {
                    stream.write();
                    calls += 1;
                    stream.claim().release();
                }
            }
            calls
        };
        let other = {
            let stream = stream.clone();
            thread::spawn(move || work(&stream, 2))
        };
        let mine = work(&stream, 1);
        let calls = mine + other.join().unwrap();
        assert!(calls >= 2, "a claim fails only while another holds it");
        assert!(stream.claim().take(FREE, 3));
        assert_eq!(stream.written(), calls);
    });
}

#[test]
fn a_dead_holders_stream_is_taken_over_once() {
    loom::model(|| {
        let stream = Stream::held_by(1);
        let heirs: Vec<_> = [2, 3]
            .into_iter()
            .map(|tid| {
                let stream = stream.clone();
                thread::spawn(move || {
                    let won = stream.take_over(tid);
                    if won {
                        assert_eq!(stream.written(), 1, "the dead thread's last write");
                        stream.write();
                    }
                    won
                })
            })
            .collect();
        stream.write();
        stream.die(1);
        let heirs = heirs.into_iter().map(|heir| heir.join().unwrap());
        let won = heirs.filter(|&won| won).count();
        assert!(won <= 1);
        assert_eq!(stream.written(), 1 + won as u32);
    });
}

/// An heir that looked at the dead holder, and comes after another heir has
/// taken the stream and given it back, gets nothing that is in use.
#[test]
fn a_late_heir_does_not_rob_the_next_holder() {
    loom::model(|| {
        let stream = Stream::held_by(1);
        stream.write();
        stream.die(1);
        let late = {
            let stream = stream.clone();
            thread::spawn(move || {
                if stream.take_over(2) {
                    stream.write();
                }
            })
        };
        if stream.take_over(3) {
            stream.write();
            stream.claim().release();
            if stream.claim().take(FREE, 4) {
                stream.write();
            }
        }
        late.join().unwrap();
    });
}

/// A guest's stream is his until he gives it back, though the kernel knows no
/// thread of that number in this process.
#[test]
fn a_guests_stream_is_not_taken_over() {
    loom::model(|| {
        let stream = Stream::held_by(FREE);
        assert!(stream.claim().take(FREE, GUEST));
        stream.die(GUEST);
        let heir = {
            let stream = stream.clone();
            thread::spawn(move || {
                let won = stream.take_over(2) || stream.claim().take(FREE, 2);
                if won {
                    assert_eq!(stream.written(), 1, "after the guest");
                    stream.write();
                }
                won
            })
        };
        stream.write();
        stream.claim().release();
        let won = heir.join().unwrap();
        assert!(won || stream.claim().take(FREE, 3));
        assert_eq!(stream.written(), 1 + u32::from(won));
    });
}
