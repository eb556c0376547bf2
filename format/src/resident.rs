//! A census: what was resident, mapping by mapping, at one moment. Two records of the
//! meta chunks: one a mapping, in the order of addresses, and one behind them that
//! says when that was and what the kernel counted. Mappings without such an end are of
//! a census that was not finished. Of two with one stamp the second counts, unless the
//! first alone is whole.
//!
//! ```text
//! MAPPED  low kb, length kb, flags, resident kb, anonymous kb, huge kb, swapped kb,
//!         varints; a varint and so many bytes of the path's end;
//!         then, up to the record's end, varints: pages of its beginning that are not
//!         resident, pages behind them that are, and so on. What is behind the last is
//!         not told
//! CENSUS  stamp of the reading it belongs to, tick, resident kb, own kb, cost us,
//!         why, flags: varints
//! ```

use crate::Malformed;
use crate::varint::{Reader, Writer};

/// Of a mapping's path so much is kept, the end of it.
pub const MAX_PATH_END: usize = 160;

/// One mapping, or neighbours of the same file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mapped<'a> {
    /// Its first byte, in kilobytes.
    pub low_kb: u64,
    /// Its length.
    pub length_kb: u64,
    /// What it is: see [`Mapped::WRITABLE`] and the others.
    pub flags: u32,
    /// Resident in it.
    pub resident_kb: u64,
    /// The part of it that is of no file: written to since.
    pub anonymous_kb: u64,
    /// The part of it in huge pages.
    pub huge_kb: u64,
    /// Swapped out.
    pub swapped_kb: u64,
    /// The file, or the kernel's name for it; its end if it is long.
    pub path: &'a [u8],
    /// Pages, as varints: not resident, resident, not resident ...
    pub runs: &'a [u8],
}

impl<'a> Mapped<'a> {
    /// It can be written to, or a part of it.
    pub const WRITABLE: u32 = 1;
    /// Code in it can run.
    pub const EXECUTABLE: u32 = 2;
    /// What is written goes to others as well.
    pub const SHARED: u32 = 4;
    /// It is of a file.
    pub const FILE: u32 = 8;
    /// It begins where a small mapping without any access ends: a thread's stack does.
    pub const GUARDED: u32 = 16;
    /// It begins where a file's ends: a module's variables do.
    pub const BEHIND_FILE: u32 = 32;
    /// The kernel was advised to put no huge pages there, or to wipe it in a forked
    /// child, as the recorder does with its own memory.
    pub const ADVISED: u32 = 64;

    /// Whether a flag is set.
    pub fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The runs of pages, as far as they were written.
    pub fn runs(&self) -> impl Iterator<Item = u64> + use<'a> {
        let mut bytes = Reader::new(self.runs);
        core::iter::from_fn(move || match bytes.is_empty() {
            true => None,
            false => bytes.var().ok(),
        })
    }

    pub(crate) fn put(&self, out: &mut Writer) {
        [
            self.low_kb,
            self.length_kb,
            u64::from(self.flags),
            self.resident_kb,
            self.anonymous_kb,
            self.huge_kb,
            self.swapped_kb,
        ]
        .into_iter()
        .for_each(|number| out.var(number));
        let cut = self.path.len().saturating_sub(MAX_PATH_END);
        out.blob(self.path.get(cut..).unwrap_or(&[]));
        out.bytes(self.runs);
    }

    pub(crate) fn get(bytes: &mut Reader<'a>) -> Result<Self, Malformed> {
        Ok(Self {
            low_kb: bytes.var()?,
            length_kb: bytes.var()?,
            flags: bytes.var32()?,
            resident_kb: bytes.var()?,
            anonymous_kb: bytes.var()?,
            huge_kb: bytes.var()?,
            swapped_kb: bytes.var()?,
            path: bytes.blob()?,
            runs: bytes.rest(),
        })
    }
}

/// Why a census was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CensusWhy {
    /// Resident memory had grown.
    #[default]
    Grown,
    /// It had grown and does so no more.
    Full,
    /// The program ends.
    End,
}

impl CensusWhy {
    const ALL: [Self; 3] = [Self::Grown, Self::Full, Self::End];
}

/// When a census was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// The stamp of the reading of resident memory that it was taken with.
    pub stamp: u64,
    /// When.
    pub tick: u64,
    /// What the kernel counted as resident right before.
    pub resident_kb: u64,
    /// The recorder's part of it, by its own account.
    pub own_kb: u64,
    /// Processor time that the process used meanwhile.
    pub cost_us: u64,
    /// Why.
    pub why: CensusWhy,
    /// Whether all mappings are there.
    pub is_whole: bool,
    /// Whether the kernel counted, and told of huge pages, of swap and of advice; else
    /// the recorder counted pages.
    pub is_counted: bool,
}

impl Census {
    pub(crate) fn put(&self, out: &mut Writer) {
        let why = CensusWhy::ALL.iter().position(|why| *why == self.why);
        [
            self.stamp,
            self.tick,
            self.resident_kb,
            self.own_kb,
            self.cost_us,
            why.unwrap_or(0) as u64,
            u64::from(self.is_whole) | u64::from(self.is_counted) << 1,
        ]
        .into_iter()
        .for_each(|number| out.var(number));
    }

    pub(crate) fn get(bytes: &mut Reader) -> Result<Self, Malformed> {
        let mut census = Self {
            stamp: bytes.var()?,
            tick: bytes.var()?,
            resident_kb: bytes.var()?,
            own_kb: bytes.var()?,
            cost_us: bytes.var()?,
            why: match bytes.var()? {
                1 => CensusWhy::Full,
                2 => CensusWhy::End,
                // What a newer memlog may mean is a census all the same.
                _ => CensusWhy::Grown,
            },
            ..Self::default()
        };
        let flags = bytes.var()?;
        (census.is_whole, census.is_counted) = (flags & 1 != 0, flags & 2 != 0);
        Ok(census)
    }
}
