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

/// The tags of threads that were met, each with a place.
pub(crate) struct Scopes {
    /// By place.
    pub(crate) list: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, u16>,
    /// By stream that of what its thread asks for now, where it has one.
    now: HashMap<u32, u16>,
}

impl Scopes {
    /// That of what has none.
    const NONE: u16 = 0;
    /// That of what came before the events of the log.
    pub(crate) const UNKNOWN: u16 = 1;
    /// That of all others, where there are more than have places.
    const OTHERS: u16 = 2;

    /// A stream's thread has this one now.
    pub(crate) fn enter(&mut self, stream: u32, name: &[u8]) {
        if name.is_empty() {
            self.now.remove(&stream);
            return;
        }
        let place = match (self.places.get(name), u16::try_from(self.list.len())) {
            (Some(&place), _) => place,
            (None, Ok(next)) => {
                self.list.push(name.to_vec());
                self.places.insert(name.to_vec(), next);
                next
            }
            (None, Err(_)) => Self::OTHERS,
        };
        self.now.insert(stream, place);
    }

    /// That of what a stream's thread asks for now.
    #[inline]
    pub(crate) fn of(&self, stream: u32) -> u16 {
        match self.now.is_empty() {
            true => Self::NONE,
            false => self.now.get(&stream).copied().unwrap_or(Self::NONE),
        }
    }

    /// What comes now is of other streams.
    pub(crate) fn leave_all(&mut self) {
        self.now.clear();
    }
}

impl Default for Scopes {
    fn default() -> Self {
        let list = ["(no scope)", "(scope not known)", "(other scopes)"];
        Self {
            list: list.map(Vec::from).into(),
            places: HashMap::new(),
            now: HashMap::new(),
        }
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
