//! Places of keys that are far apart, in the order of their coming.

use std::hash::Hash;

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// Each key has one.
pub(crate) struct Places<K> {
    keys: Vec<K>,
    places: HashMap<K, u32, RandomState>,
    /// Most often the same as before is asked for.
    last: Option<(K, u32)>,
}

impl<K: Copy + Eq + Hash> Places<K> {
    /// A key's, which it has from now on.
    #[inline(always)]
    pub(crate) fn of(&mut self, key: K) -> u32 {
        match self.last {
            Some((last, place)) if last == key => place,
            _ => self.look_up(key),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, key: K) -> u32 {
        let next = self.keys.len() as u32;
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.keys.push(key);
        }
        self.last = Some((key, place));
        place
    }

    /// The key that has this place.
    pub(crate) fn key(&self, place: u32) -> K {
        self.keys[place as usize]
    }
}

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self {
            keys: Vec::new(),
            places: HashMap::default(),
            last: None,
        }
    }
}
