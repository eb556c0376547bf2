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
