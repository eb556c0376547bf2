//! Which thread of the replay does the work of which thread of the program.
//!
//! One that is through leaves its place to the next that begins, as allocators hand an
//! arena on. Of more threads at a time than there are places several share one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use memlog_format::event::{Alloc, Release};
use memlog_format::operations::MAX_THREADS;
use memlog_read::{Item, Kind, Place, Taker};

/// When each thread allocates or releases for the last time, counted in events.
#[derive(Default)]
pub struct Lives {
    last: HashMap<u32, u64>,
    now: u64,
    current: Option<u32>,
}

impl Lives {
    fn event(&mut self, tid: u32) {
        if self.current != Some(tid) {
            self.settle();
            self.current = Some(tid);
        }
        self.now += 1;
    }

    fn settle(&mut self) {
        if let Some(before) = self.current {
            self.last.insert(before, self.now);
        }
    }

    /// All events were seen.
    pub fn places(mut self) -> Places {
        self.settle();
        Places {
            last: self.last,
            ..Places::default()
        }
    }
}

impl<'a> Taker<'a> for Lives {
    fn alloc(&mut self, place: Place, _: &Alloc) {
        self.event(place.tid);
    }

    fn release(&mut self, place: Place, _: &Release) {
        self.event(place.tid);
    }

    fn item(&mut self, item: &Item<'a>) {
        if let Kind::Alloc(_) | Kind::Release(_) = item.kind {
            self.event(item.tid);
        }
    }
}

/// Who has which place.
#[derive(Default)]
pub struct Places {
    last: HashMap<u32, u64>,
    taken: HashMap<u32, u64>,
    ends: BinaryHeap<Reverse<(u64, u32)>>,
    idle: Vec<u64>,
    /// Places that somebody has had.
    pub count: u64,
    /// Threads that share one with another that is not through.
    sharing: u64,
    now: u64,
    current: Option<(u32, u64)>,
}

impl Places {
    /// How many threads the program had.
    pub fn threads(&self) -> u64 {
        self.last.len() as u64
    }

    /// The place of the thread that the next event is of.
    #[inline]
    pub fn of(&mut self, tid: u32) -> u64 {
        self.now += 1;
        match self.current {
            Some((current, place)) if current == tid => place,
            _ => self.change(tid),
        }
    }

    fn change(&mut self, tid: u32) -> u64 {
        while let Some(Reverse((end, over))) = self.ends.peek().copied()
            && end < self.now
        {
            self.ends.pop();
            self.idle.extend(self.taken.remove(&over));
        }
        let place = match self.taken.get(&tid) {
            Some(place) => *place,
            None => self.take(tid),
        };
        self.current = Some((tid, place));
        place
    }

    fn take(&mut self, tid: u32) -> u64 {
        let end = self.last.get(&tid).copied().unwrap_or(u64::MAX);
        let place = match self.idle.pop() {
            Some(place) => place,
            None if self.count < MAX_THREADS => {
                self.count += 1;
                self.count - 1
            }
            None => {
                self.sharing += 1;
                // Its place is not its own, so it does not leave it to anybody.
                let place = self.sharing % MAX_THREADS;
                self.taken.insert(tid, place);
                return place;
            }
        };
        self.taken.insert(tid, place);
        self.ends.push(Reverse((end, tid)));
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(tids: &[u32]) -> (Vec<u64>, Places) {
        let mut lives = Lives::default();
        tids.iter().for_each(|&tid| lives.event(tid));
        let mut places = lives.places();
        let found = tids.iter().map(|&tid| places.of(tid)).collect();
        (found, places)
    }

    #[test]
    fn who_is_through_leaves_its_place() {
        let (found, places) = places(&[1, 2, 2, 1, 3, 3, 1, 4, 1]);
        assert_eq!(found, [0, 1, 1, 0, 1, 1, 0, 1, 0]);
        assert_eq!((places.threads(), places.count, places.sharing), (4, 2, 0));
    }

    #[test]
    fn many_at_a_time_share() {
        let all: Vec<u32> = (0..1000).collect();
        let twice = [&all[..], &all].concat();
        let (found, places) = places(&twice);
        assert!(found.iter().all(|&place| place < MAX_THREADS));
        assert_eq!(found[..1000], found[1000..]);
        assert_eq!(places.sharing, 1000 - MAX_THREADS);
        assert_eq!(places.count, MAX_THREADS);
        // One after the other they need none.
        let (_, one) = super::tests::places(&all);
        assert_eq!((one.count, one.sharing), (1, 0));
    }
}
