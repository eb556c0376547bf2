//! The hash of a key, and what an index keeps of it.

/// Where a key belongs: also the half of its entry that is not the id, so that
/// an index grows without a look at the records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag(pub u32);

impl Tag {
    /// Of a key, whatever it is.
    pub fn of<const W: usize>(key: &[u64; W]) -> Self {
        key.iter().fold(Self(0), |tag, &word| tag.mixed(word))
    }

    /// Of what follows this with `word`.
    #[inline]
    pub const fn mixed(self, word: u64) -> Self {
        let sum = (self.0 as u64).rotate_left(29) ^ word;
        Self((sum.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32)
    }

    #[inline]
    pub(super) const fn entry(self, id: u32) -> u64 {
        (self.0 as u64) << 32 | id as u64
    }

    #[inline]
    pub(super) const fn in_entry(entry: u64) -> Self {
        Self((entry >> 32) as u32)
    }
}
