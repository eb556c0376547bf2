//! Random histories of threads that share memory, with their true order.
#![allow(dead_code)] // each test uses its own part

use std::collections::HashMap;

use memlog_format::api::Api;
use memlog_format::ext::{Ext, Rss, RssSource};
use proptest::prelude::*;

use super::Recorder;

/// One step of the simulation; the numbers are reduced to what is possible.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    Alloc {
        thread: usize,
        place: usize,
        size: u64,
    },
    Free {
        thread: usize,
        pick: usize,
    },
    Announce {
        thread: usize,
        pick: usize,
    },
    Finish {
        thread: usize,
        place: usize,
        size: u64,
        fails: bool,
    },
    Stamp {
        thread: usize,
    },
    /// Resident memory is read.
    Read {
        thread: usize,
    },
    Tick {
        thread: usize,
        ticks: u64,
    },
}

pub fn action() -> impl Strategy<Value = Action> {
    let (thread, number, size) = (0..8usize, any::<u16>(), 0..5000u64);
    (0..13u8, thread, number, size).prop_map(|(what, thread, number, size)| {
        let number = usize::from(number);
        match what {
            0..=3 => Action::Alloc {
                thread,
                place: number,
                size,
            },
            4..=6 => Action::Free {
                thread,
                pick: number,
            },
            7 => Action::Announce {
                thread,
                pick: number,
            },
            8..=9 => Action::Finish {
                thread,
                place: number,
                size,
                fails: number % 3 == 0,
            },
            10 => Action::Stamp { thread },
            11 => Action::Read { thread },
            _ => Action::Tick {
                thread,
                ticks: size % 5,
            },
        }
    })
}

/// What happened to an address: the size of the block that came, or that it
/// went; and in which stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    pub address: u64,
    pub came: Option<u64>,
    pub stream: u32,
}

#[derive(Clone, Copy)]
struct Pending {
    address: u64,
    fact: usize,
}

/// A simulation: what is live, what is announced, what is true.
pub struct History {
    pub recorder: Recorder,
    pub facts: Vec<Option<Fact>>,
    /// By reading: how many facts there were.
    pub readings: Vec<usize>,
    /// By thread: how many readings what it does comes after.
    seen: HashMap<usize, usize>,
    live: Vec<u64>,
    pending: HashMap<usize, Pending>,
    clock: u64,
}

impl History {
    pub fn run(threads: usize, room: usize, actions: &[Action]) -> Self {
        let mut history = Self {
            recorder: Recorder::new(threads, room),
            facts: Vec::new(),
            readings: Vec::new(),
            seen: HashMap::new(),
            live: Vec::new(),
            pending: HashMap::new(),
            clock: 0,
        };
        for &action in actions {
            history.act(threads, action);
        }
        history
    }

    /// A free address among few, in few cells, so that threads meet.
    fn place(&self, place: usize) -> Option<u64> {
        let address = |place: usize| {
            let page = (place % 5) as u64;
            0x7f00_0000_0000 + page * 4096 + (place / 5 % 8) as u64 * 64
        };
        let taken = |address: &u64| {
            self.live.contains(address)
                || self
                    .pending
                    .values()
                    .any(|pending| pending.address == *address)
        };
        (place..place + 40)
            .map(address)
            .find(|address| !taken(address))
    }

    /// A thread that is about to do something looks whether there was a reading.
    fn catch_up(&mut self, thread: usize) {
        let seen = self.seen.insert(thread, self.readings.len());
        if seen.unwrap_or(0) < self.readings.len() {
            self.recorder.streams[thread].tick(self.clock);
            self.recorder.stamp(thread);
        }
    }

    fn read(&mut self, thread: usize) {
        self.recorder.streams[thread].tick(self.clock);
        let reading = Rss {
            source: RssSource::MaxRss,
            peak_kb: 1,
            now_kb: 0,
            own_kb: 0,
            stamp: self.recorder.take_stamp(),
        };
        self.recorder.streams[thread].ext(&Ext::Rss(reading));
        self.readings.push(self.facts.len());
        self.seen.insert(thread, self.readings.len());
    }

    fn fact(&mut self, address: u64, came: Option<u64>, thread: usize) {
        let stream = thread as u32;
        self.facts.push(Some(Fact {
            address,
            came,
            stream,
        }));
    }

    fn act(&mut self, threads: usize, action: Action) {
        match action {
            Action::Alloc {
                thread,
                place,
                size,
            } => {
                let thread = thread % threads;
                if let Some(address) = self.place(place)
                    && !self.pending.contains_key(&thread)
                {
                    self.catch_up(thread);
                    self.recorder.alloc(thread, Api::Malloc, address, size, 1);
                    self.live.push(address);
                    self.fact(address, Some(size), thread);
                }
            }
            Action::Free { thread, pick } => {
                let thread = thread % threads;
                if !self.live.is_empty() && !self.pending.contains_key(&thread) {
                    let address = self.live.swap_remove(pick % self.live.len());
                    self.catch_up(thread);
                    self.recorder.release(thread, address);
                    self.fact(address, None, thread);
                }
            }
            Action::Announce { thread, pick } => self.announce(thread % threads, pick),
            Action::Finish {
                thread,
                place,
                size,
                fails,
            } => {
                self.finish(thread % threads, place, size, fails);
            }
            Action::Stamp { thread } => self.recorder.stamp(thread % threads),
            Action::Read { thread } => self.read(thread % threads),
            Action::Tick { thread, ticks } => {
                self.clock += ticks;
                self.recorder.streams[thread % threads].tick(self.clock);
            }
        }
    }

    fn announce(&mut self, thread: usize, pick: usize) {
        if self.live.is_empty() || self.pending.contains_key(&thread) {
            return;
        }
        let address = self.live.swap_remove(pick % self.live.len());
        self.catch_up(thread);
        self.recorder.announce(thread, address);
        let fact = self.facts.len();
        self.fact(address, None, thread);
        self.pending.insert(thread, Pending { address, fact });
    }

    /// A realloc's second half: it stays, moves or fails.
    fn finish(&mut self, thread: usize, place: usize, size: u64, fails: bool) {
        let Some(pending) = self.pending.remove(&thread) else {
            return;
        };
        if fails {
            self.recorder.streams[thread].revoke();
            self.facts[pending.fact] = None;
            self.live.push(pending.address);
            return;
        }
        let address = self.place(place).unwrap_or(pending.address);
        self.catch_up(thread);
        self.recorder.alloc(thread, Api::Realloc, address, size, 1);
        self.live.push(address);
        self.fact(address, Some(size), thread);
    }

    /// Facts that were announced only.
    pub fn unfinished(&self) -> Vec<usize> {
        self.pending.values().map(|pending| pending.fact).collect()
    }

    /// The log and the truth about it.
    pub fn finish_log(mut self, keep: &[Option<usize>]) -> (Vec<u8>, Vec<Fact>) {
        for pending in self.pending.values() {
            self.facts[pending.fact] = None;
        }
        let facts = self.facts.into_iter().flatten().collect();
        (self.recorder.finish(keep), facts)
    }
}
