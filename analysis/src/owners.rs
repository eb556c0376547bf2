//! Who asks for memory: threads, each in the scopes that it is in.

use std::hash::Hash;

use crate::counts::Held;
use crate::places::Places;
use crate::scopes::Scopes;
use crate::totals::At;

/// A thread in a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Owner {
    tid: u32,
    scope: u16,
}

/// Each that asked for memory has a place, in the order of their coming.
#[derive(Default)]
pub(crate) struct Owners {
    /// What streams told of scopes.
    pub(crate) scopes: Scopes,
    places: Places<Owner>,
}

impl Owners {
    /// Who asks there now.
    #[inline(always)]
    pub(crate) fn at(&mut self, at: At) -> u32 {
        let scope = self.scopes.of(at.stream);
        self.places.of(Owner { tid: at.tid, scope })
    }

    /// A thread that asked before the events of the log.
    pub(crate) fn before(&mut self, tid: u32) -> u32 {
        let scope = Scopes::UNKNOWN;
        self.places.of(Owner { tid, scope })
    }

    /// What each thread has of what owners have.
    pub(crate) fn by_thread(&self, held: impl Iterator<Item = (u32, Held)>) -> Vec<(u32, Held)> {
        summed(held.map(|(place, held)| (self.places.key(place).tid, held)))
    }

    /// The same of each scope, by its place.
    pub(crate) fn by_scope(&self, held: impl Iterator<Item = (u32, Held)>) -> Vec<(u16, Held)> {
        summed(held.map(|(place, held)| (self.places.key(place).scope, held)))
    }
}

/// The sum of each key, in the order of their coming.
fn summed<K: Copy + Eq + Hash>(parts: impl Iterator<Item = (K, Held)>) -> Vec<(K, Held)> {
    let mut places = Places::default();
    let mut sums: Vec<(K, Held)> = Vec::new();
    for (key, held) in parts {
        match sums.get_mut(places.of(key) as usize) {
            Some((_, sum)) => *sum = sum.plus(held),
            None => sums.push((key, held)),
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_of_threads_and_of_scopes() {
        let mut owners = Owners::default();
        let at = |stream, tid| At {
            stream,
            tid,
            tick: 0,
        };
        owners.scopes.enter(1, b"load");
        let scoped = owners.at(at(1, 70));
        let plain = owners.at(at(2, 80));
        let other = owners.at(at(1, 80));
        let before = owners.before(80);
        owners.scopes.enter(1, b"");
        let left = owners.at(at(1, 70));
        assert_eq!([scoped, plain, other, before, left], [0, 1, 2, 3, 4]);
        let held = |bytes| Held { bytes, blocks: 1 };
        let parts = [
            (scoped, 1),
            (plain, 10),
            (other, 100),
            (before, 1000),
            (left, 10_000),
        ];
        let parts = || parts.into_iter().map(|(place, bytes)| (place, held(bytes)));
        let bytes = |held: Held| (held.bytes, held.blocks);
        let threads = owners.by_thread(parts()).into_iter();
        let threads: Vec<_> = threads.map(|(tid, held)| (tid, bytes(held))).collect();
        assert_eq!(threads, [(70, (10_001, 2)), (80, (1110, 3))]);
        let scopes = owners.by_scope(parts()).into_iter();
        let scopes: Vec<_> = scopes.map(|(scope, held)| (scope, bytes(held))).collect();
        assert_eq!(scopes, [(3, (101, 2)), (0, (10_010, 2)), (1, (1000, 1))]);
    }
}
