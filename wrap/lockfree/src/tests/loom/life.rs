//! The life word: one starter, and nobody records before everything is there.

use crate::life::{Life, LifeWord};
use crate::sync::AtomicU32;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

struct Process {
    life: AtomicU32,
    /// What the starter sets up, plain memory.
    set_up: UnsafeCell<u32>,
}

impl Process {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            life: AtomicU32::new(Life::Off as u32),
            set_up: UnsafeCell::new(0),
        })
    }

    fn life(&self) -> LifeWord<'_> {
        LifeWord(&self.life)
    }

    /// What a starter does that turns back.
    #[allow(unsafe_code)]
    fn touch(&self) {
        // SAFETY: the caller has begun; loom checks it.
        self.set_up.with_mut(|place| unsafe { *place = 0 });
    }

    /// The copy that a fork makes, its life wiped by the kernel: the child is
    /// made by a thread of the recorder's process, which has looked at its life.
    #[allow(unsafe_code)]
    fn fork(&self) -> Arc<Self> {
        let was_on = self.life().get() == Life::On;
        // SAFETY: as for `wake`; of a start under way the copy may be of any
        // moment, and the child sets all of it anew.
        let seen = match was_on {
            true => self.set_up.with(|place| unsafe { *place }),
            false => 0,
        };
        assert_eq!(seen, u32::from(was_on));
        Self::new()
    }

    /// What a call through a door does; whether it was the starter.
    #[allow(unsafe_code)]
    fn wake(&self) -> bool {
        let begun = self.life().begin();
        if begun {
            // SAFETY: `begin` names one thread, and readers wait for On; loom
            // itself checks that no two accesses overlap.
            self.set_up.with_mut(|place| unsafe { *place += 1 });
            self.life().turn(Life::On);
        }
        if self.life().get() == Life::On {
            // SAFETY: nobody writes after On, which this test is about.
            assert_eq!(self.set_up.with(|place| unsafe { *place }), 1);
        }
        begun
    }
}

#[test]
fn one_of_three_threads_starts() {
    loom::model(|| {
        let process = Process::new();
        let others: Vec<_> = (0..2)
            .map(|_| {
                let process = process.clone();
                thread::spawn(move || process.wake())
            })
            .collect();
        let mut starters = u32::from(process.wake());
        for other in others {
            starters += u32::from(other.join().unwrap());
        }
        assert_eq!(starters, 1);
        assert_eq!(process.life().get(), Life::On);
    });
}

#[test]
fn who_sees_on_sees_what_was_set_up() {
    loom::model(|| {
        let process = Process::new();
        let starter = {
            let process = process.clone();
            thread::spawn(move || assert!(process.wake()))
        };
        if process.life().get() == Life::On {
            process.wake();
        }
        starter.join().unwrap();
    });
}

#[test]
fn nobody_begins_what_was_stopped() {
    loom::model(|| {
        let process = Process::new();
        assert!(process.life().begin());
        let late = {
            let process = process.clone();
            thread::spawn(move || assert!(!process.life().begin()))
        };
        process.life().turn(Life::Stopped);
        late.join().unwrap();
        assert!(!process.life().begin());
        assert_eq!(process.life().get(), Life::Stopped);
    });
}

/// A start that finds it came too early turns back; who begins again finds all
/// that the first one did.
#[test]
fn a_start_that_was_given_up_is_begun_again() {
    loom::model(|| {
        let process = Process::new();
        assert!(process.life().begin());
        let other = {
            let process = process.clone();
            thread::spawn(move || process.wake())
        };
        process.touch();
        process.life().turn(Life::Off);
        let begun = u32::from(process.wake()) + u32::from(other.join().unwrap());
        assert_eq!(begun, 1);
        assert_eq!(process.life().get(), Life::On);
    });
}

/// A fork amid everything: the child finds its word wiped, whatever it was, and
/// what the forking thread saw of the rest. One of its threads begins anew, and
/// no other records before that is done.
#[test]
fn a_forked_child_begins_once_whenever_it_was_made() {
    loom::model(|| {
        let parent = Process::new();
        let starter = {
            let parent = parent.clone();
            thread::spawn(move || parent.wake())
        };
        let child = parent.fork();
        let other = {
            let child = child.clone();
            thread::spawn(move || child.wake())
        };
        let begun = u32::from(child.wake()) + u32::from(other.join().unwrap());
        assert_eq!(begun, 1);
        assert_eq!(child.life().get(), Life::On);
        assert!(starter.join().unwrap());
        assert_eq!(
            parent.life().get(),
            Life::On,
            "the parent knows nothing of it"
        );
    });
}
