//! One step of unwinding as one word.
//!
//! ```text
//! bits  0..3   kind
//!       3..19  CFA offset from the register, in words
//!      19..32  where the return address and the caller's fp are saved, in
//!              words, as the processor has it (`arch::saved_words`)
//! ```
//! What does not fit is `Complex` and left to the full unwinder: there is no
//! rule that guesses.

/// How the canonical frame address is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Not known (an empty cache entry).
    Unknown,
    /// sp + offset.
    Sp,
    /// fp + offset.
    Fp,
    /// The kernel's signal frame: everything from the ucontext at sp.
    Signal,
    /// The outermost frame.
    End,
    /// Only the full unwinder can do it.
    Complex,
    /// No unwind tables cover the address.
    NoTables,
    /// The ABI chains the frames: the word at sp is the caller's.
    Chain,
}

/// A packed rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule(pub u32);

const OFFSET_BITS: u32 = 16;
const SAVED_BITS: u32 = 13;

impl Rule {
    /// A rule without numbers.
    pub const fn plain(kind: Kind) -> Self {
        Self(kind as u32)
    }

    /// A frame whose CFA is a register plus `offset` bytes, and which saved its
    /// caller's as these words say. `None` if it does not fit.
    pub fn frame(kind: Kind, offset: i64, saved_words: u64, word: i64) -> Option<Self> {
        // Only fp may be the CFA itself, as on RISC-V.
        let least = if matches!(kind, Kind::Fp) { 0 } else { word };
        if offset < least || offset % word != 0 {
            return None;
        }
        let offset = offset / word;
        if offset >= 1 << OFFSET_BITS || saved_words >= 1 << SAVED_BITS {
            return None;
        }
        Some(Self(
            kind as u32 | (offset as u32) << 3 | (saved_words as u32) << (3 + OFFSET_BITS),
        ))
    }

    /// A signal's frame that keeps what it interrupted so many bytes lower than
    /// the usual one does; higher, if that wraps.
    pub const fn signal(lower: u64) -> Self {
        let words = (lower as i64 / 4) & ((1 << OFFSET_BITS) - 1);
        Self(Kind::Signal as u32 | (words as u32) << 3)
    }

    /// See there.
    #[inline]
    pub const fn lower(self) -> u64 {
        const UNUSED: u32 = u64::BITS - OFFSET_BITS;
        let words = ((self.offset_words() << UNUSED) as i64) >> UNUSED;
        (words * 4) as u64
    }

    /// The kind.
    #[inline]
    pub const fn kind(self) -> Kind {
        match self.0 & 7 {
            1 => Kind::Sp,
            2 => Kind::Fp,
            3 => Kind::Signal,
            4 => Kind::End,
            5 => Kind::Complex,
            6 => Kind::NoTables,
            7 => Kind::Chain,
            _ => Kind::Unknown,
        }
    }

    /// No tables, and no frame pointers either: the stack ends, this time.
    pub const BARE: Self = Self(Kind::NoTables as u32 | 1 << 3);
    /// The same, whatever comes.
    pub const GIVEN_UP: Self = Self(Kind::NoTables as u32 | 2 << 3);

    /// Another way out of code without tables, and a number that goes with it: see
    /// `switch`.
    pub const fn of_no_tables(way: u32, number: u32) -> Self {
        Self(Kind::NoTables as u32 | way << 3 | number << (3 + OFFSET_BITS))
    }

    /// Whether it is of this kind.
    #[inline]
    pub const fn is(self, kind: Kind) -> bool {
        self.0 & 7 == kind as u32
    }

    /// CFA minus the register.
    #[inline]
    pub const fn offset_words(self) -> u64 {
        ((self.0 >> 3) & ((1 << OFFSET_BITS) - 1)) as u64
    }

    /// Where the caller's registers are, as the processor's rules have it.
    #[inline]
    pub const fn saved_words(self) -> u64 {
        (self.0 >> (3 + OFFSET_BITS)) as u64
    }
}
