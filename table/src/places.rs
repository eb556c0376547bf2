//! What rows name by a small number: the stacks and the threads that were met.

use std::collections::HashMap;

use memlog_format::table::StackId;

use crate::table::{Held, Thread};

/// A stack: its id in the tables of one of a family of logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StackKey {
    /// 0: the log itself, 1: its parent, and so on.
    pub log: u32,
    /// Its id there.
    pub id: StackId,
}

/// The stacks that were met, each with a place.
#[derive(Default)]
pub(crate) struct Stacks {
    log: u32,
    /// By the id in the log at hand one more than the place, 0 where it has none.
    places: Vec<u32>,
    /// The places of ids that no log of this length has: it is damaged.
    others: HashMap<u32, u32>,
    most: usize,
    /// By place.
    pub(crate) keys: Vec<StackKey>,
    /// By place what each holds, and held at most.
    pub(crate) held: Vec<Held>,
}

impl Stacks {
    /// Ids are of this log of the family from now on, which is so long.
    pub(crate) fn change_log(&mut self, log: u32, file_bytes: usize) {
        self.log = log;
        self.places.clear();
        self.others.clear();
        // A stack takes eight bytes, and ids are dense.
        self.most = file_bytes / 8;
    }

    #[inline]
    pub(crate) fn place(&mut self, id: StackId) -> u32 {
        match self.places.get(id.0 as usize) {
            Some(&place) if place != 0 => place - 1,
            _ => self.enter(id),
        }
    }

    #[cold]
    fn enter(&mut self, id: StackId) -> u32 {
        let (index, next) = (id.0 as usize, self.keys.len() as u32);
        if index > self.most {
            let place = *self.others.entry(id.0).or_insert(next);
            if place != next {
                return place;
            }
        } else {
            if index >= self.places.len() {
                self.places.resize(index + 1, 0);
            }
            self.places[index] = next + 1;
        }
        self.keys.push(StackKey { log: self.log, id });
        self.held.push(Held::default());
        next
    }

    #[inline]
    pub(crate) fn came(&mut self, place: u32, bytes: u64, event: u64) {
        let held = &mut self.held[place as usize];
        held.live = held.live.saturating_add(bytes);
        if held.live > held.most {
            (held.most, held.event) = (held.live, event);
        }
    }

    #[inline]
    pub(crate) fn went(&mut self, place: u32, bytes: u64) {
        let held = &mut self.held[place as usize];
        held.live = held.live.saturating_sub(bytes);
    }
}

/// The threads that were met, each with a place.
#[derive(Default)]
pub(crate) struct Threads {
    /// By place.
    pub(crate) list: Vec<Thread>,
    places: HashMap<u32, u32>,
    last: Option<(u32, u32)>,
}

impl Threads {
    #[inline]
    pub(crate) fn place(&mut self, tid: u32) -> u32 {
        match self.last {
            Some((last, place)) if last == tid => place,
            _ => self.enter(tid),
        }
    }

    #[cold]
    fn enter(&mut self, tid: u32) -> u32 {
        let next = self.list.len() as u32;
        let place = *self.places.entry(tid).or_insert(next);
        if place == next {
            let name = Vec::new();
            self.list.push(Thread { tid, name });
        }
        self.last = Some((tid, place));
        place
    }

    pub(crate) fn name(&mut self, tid: u32, name: &[u8]) {
        let place = self.enter(tid);
        if !name.is_empty() {
            self.list[place as usize].name = name.to_vec();
        }
    }
}
