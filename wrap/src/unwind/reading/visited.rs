//! What was visited in one go, and how much more may be.

/// Keys, none of which is null. Zeros are a valid beginning: nothing may be read.
pub(super) struct Visited<const PLACES: usize> {
    keys: [u64; PLACES],
    /// How many more there may be.
    pub(super) left: usize,
}

impl<const PLACES: usize> Visited<PLACES> {
    /// Forgets all; so many are taken, fewer than there are places, which are a
    /// power of two.
    pub(super) fn begin(&mut self, most: usize) {
        self.keys.fill(0);
        self.left = most;
    }

    /// Whether this one was not visited before, and there may be one more.
    pub(super) fn is_new(&mut self, key: u64) -> bool {
        let start = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        for probe in 0..PLACES {
            match self.keys.get_mut(start.wrapping_add(probe) % PLACES) {
                Some(key_there) if *key_there == 0 => {
                    *key_there = key;
                    let left = self.left.checked_sub(1);
                    self.left = left.unwrap_or(0);
                    return left.is_some();
                }
                Some(key_there) if *key_there != key => {}
                _ => return false,
            }
        }
        false
    }
}
