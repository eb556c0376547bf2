//! The threads of a log, and by which names they went last.

use std::collections::HashMap;

/// A thread by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's id; 2^31 and more: not the kernel's.
    pub tid: u32,
    /// The last name.
    pub name: Vec<u8>,
    /// When it was first seen by that name.
    pub since_tick: u64,
    /// How many other names it had before.
    pub renamed: u32,
}

/// All threads that were told of, in the order of their coming.
#[derive(Clone, Debug, Default)]
pub struct Threads {
    list: Vec<Thread>,
    by_tid: HashMap<u32, usize>,
}

impl Threads {
    /// A thread is told of, once more or for the first time.
    pub fn take(&mut self, tick: u64, tid: u32, name: &[u8]) {
        let next = self.list.len();
        let index = *self.by_tid.entry(tid).or_insert(next);
        let Some(thread) = self.list.get_mut(index) else {
            self.list.push(Thread {
                tid,
                name: name.to_vec(),
                since_tick: tick,
                renamed: 0,
            });
            return;
        };
        if thread.name != name {
            // None is no name: it could not be asked for.
            thread.renamed += u32::from(!thread.name.is_empty());
            thread.name = name.to_vec();
            thread.since_tick = tick;
        }
    }

    /// All of them.
    pub fn list(&self) -> &[Thread] {
        &self.list
    }

    /// One of them.
    pub fn get(&self, tid: u32) -> Option<&Thread> {
        self.list.get(*self.by_tid.get(&tid)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_counts() {
        let mut threads = Threads::default();
        threads.take(1, 7, b"java");
        threads.take(2, 8, b"");
        threads.take(5, 7, b"GC Thread#0");
        threads.take(6, 8, b"main");
        // Each chunk says it again.
        threads.take(9, 7, b"GC Thread#0");
        let told = |thread: &Thread| (thread.tid, thread.since_tick, thread.renamed);
        let list: Vec<_> = threads.list().iter().map(told).collect();
        assert_eq!(list, [(7, 5, 1), (8, 6, 0)]);
        let name = threads.get(7).map(|thread| thread.name.as_slice());
        assert_eq!(name, Some(&b"GC Thread#0"[..]));
        assert_eq!(threads.get(9), None);
    }
}
