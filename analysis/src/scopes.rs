//! The scopes that threads are in, as streams of events tell them.

use foldhash::fast::RandomState;
use hashbrown::HashMap;

/// The tags of threads that were met, each with a place. A tag is the names of all scopes
/// that a thread was in.
pub struct Scopes {
    /// By place.
    list: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, u16, RandomState>,
    /// By stream that of what its thread asks for now, where it has one.
    now: HashMap<u32, u16, RandomState>,
}

impl Scopes {
    /// That of what has none.
    pub const NONE: u16 = 0;
    /// That of what came before the events of the log.
    pub const UNKNOWN: u16 = 1;
    /// That of all others, where there are more than have places.
    const OTHERS: u16 = 2;
    /// What these are called.
    const STANDING: [&str; 3] = ["(no scope)", "(scope not known)", "(other scopes)"];

    /// A stream's thread has this one now.
    pub fn enter(&mut self, stream: u32, name: &[u8]) {
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
    pub fn of(&self, stream: u32) -> u16 {
        match self.now.is_empty() {
            true => Self::NONE,
            false => self.now.get(&stream).copied().unwrap_or(Self::NONE),
        }
    }

    /// What comes now is of other streams.
    pub fn leave_all(&mut self) {
        self.now.clear();
    }

    /// How many the program told of.
    pub fn count(&self) -> usize {
        self.list.len() - Self::STANDING.len()
    }

    /// All of them by place, and what stands for those that have none.
    pub fn list(&self) -> &[Vec<u8>] {
        &self.list
    }

    /// The same, for good.
    pub fn into_list(self) -> Vec<Vec<u8>> {
        self.list
    }
}

impl Default for Scopes {
    fn default() -> Self {
        Self {
            list: Self::STANDING.map(Vec::from).into(),
            places: HashMap::default(),
            now: HashMap::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_in_what_it_told_last() {
        let mut scopes = Scopes::default();
        assert_eq!((scopes.of(1), scopes.count()), (Scopes::NONE, 0));
        scopes.enter(1, b"load");
        scopes.enter(2, b"load/parse");
        scopes.enter(3, b"load");
        let name = |scopes: &Scopes, stream| scopes.list()[usize::from(scopes.of(stream))].clone();
        assert_eq!(name(&scopes, 1), b"load");
        assert_eq!(name(&scopes, 2), b"load/parse");
        assert_eq!(scopes.of(1), scopes.of(3));
        scopes.enter(1, b"");
        assert_eq!(name(&scopes, 1), b"(no scope)");
        scopes.leave_all();
        assert_eq!((scopes.of(2), scopes.count()), (Scopes::NONE, 2));
    }

    #[test]
    fn those_without_a_place_are_others() {
        let mut scopes = Scopes::default();
        for number in 0..70_000u32 {
            scopes.enter(number, number.to_string().as_bytes());
        }
        let name = |stream| scopes.list()[usize::from(scopes.of(stream))].as_slice();
        assert_eq!(name(65_000), b"65000");
        assert_eq!(name(69_999), b"(other scopes)");
        assert_eq!(scopes.count(), (1 << 16) - 3);
    }
}
