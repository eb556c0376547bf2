//! The entry points of the program's memory, as numbers in the log.

/// Through which function memory came or went. Numbers are for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)] // each is the function of that name
pub enum Api {
    Malloc = 1,
    Calloc = 2,
    Realloc = 3,
    Reallocarray = 4,
    Free = 5,
    Cfree = 6,
    PosixMemalign = 7,
    AlignedAlloc = 8,
    Memalign = 9,
    Valloc = 10,
    Pvalloc = 11,
    FreeSized = 12,
    FreeAlignedSized = 13,
    Mmap = 14,
    Munmap = 15,
    Mremap = 16,
    Brk = 17,
    Sbrk = 18,
    New = 19,
    NewArray = 20,
    Delete = 21,
    DeleteArray = 22,
    /// An allocator of the program's own handed a block out, and the program told of it.
    /// No record has this number: see [`Api::recorded`].
    Custom = 23,
    /// The same of a block that became another.
    CustomRealloc = 24,
    /// The program told that its allocator cuts blocks from this one. It goes by that.
    Pool = 25,
}

/// Every entry point that records name by its number, with the name users know.
pub const NAMES: [(Api, &str); 22] = [
    (Api::Malloc, "malloc"),
    (Api::Calloc, "calloc"),
    (Api::Realloc, "realloc"),
    (Api::Reallocarray, "reallocarray"),
    (Api::Free, "free"),
    (Api::Cfree, "cfree"),
    (Api::PosixMemalign, "posix_memalign"),
    (Api::AlignedAlloc, "aligned_alloc"),
    (Api::Memalign, "memalign"),
    (Api::Valloc, "valloc"),
    (Api::Pvalloc, "pvalloc"),
    (Api::FreeSized, "free_sized"),
    (Api::FreeAlignedSized, "free_aligned_sized"),
    (Api::Mmap, "mmap"),
    (Api::Munmap, "munmap"),
    (Api::Mremap, "mremap"),
    (Api::Brk, "brk"),
    (Api::Sbrk, "sbrk"),
    (Api::New, "operator new"),
    (Api::NewArray, "operator new[]"),
    (Api::Delete, "operator delete"),
    (Api::DeleteArray, "operator delete[]"),
];

/// What the program tells of an allocator of its own. Records of malloc, realloc and free
/// stand for these, each behind a record that says so.
pub const TOLD: [(Api, &str); 3] = [
    (Api::Custom, "custom"),
    (Api::CustomRealloc, "custom realloc"),
    (Api::Pool, "pool"),
];

impl Api {
    /// The entry point that a record names by this number.
    #[inline]
    pub fn from_byte(byte: u8) -> Option<Self> {
        let (api, _) = NAMES.get(usize::from(byte).checked_sub(1)?)?;
        Some(*api)
    }

    /// All, with their names.
    pub fn all() -> impl Iterator<Item = (Self, &'static str)> {
        NAMES.into_iter().chain(TOLD)
    }

    /// The one with this number, where numbers are not those of a record.
    #[inline]
    pub fn from_number(number: u8) -> Option<Self> {
        let told = || {
            let (api, _) = TOLD.get(usize::from(number).checked_sub(NAMES.len() + 1)?)?;
            Some(*api)
        };
        Self::from_byte(number).or_else(told)
    }

    /// The function's name.
    pub fn name(self) -> &'static str {
        let index = (self as usize).wrapping_sub(1);
        let told = || TOLD.get(index.wrapping_sub(NAMES.len()));
        NAMES.get(index).or_else(told).map_or("?", |(_, name)| name)
    }

    /// Whether the program told of it.
    #[inline]
    pub const fn is_told(self) -> bool {
        matches!(self, Api::Custom | Api::CustomRealloc | Api::Pool)
    }

    /// The entry point that stands for it in a record.
    #[inline]
    pub const fn recorded(self) -> Self {
        match self {
            Api::Custom => Api::Malloc,
            Api::CustomRealloc => Api::Realloc,
            Api::Pool => Api::Free,
            other => other,
        }
    }

    /// What the program told of where such a record says that it did.
    #[inline]
    pub const fn told(self) -> Self {
        match self {
            Api::Malloc => Api::Custom,
            Api::Realloc => Api::CustomRealloc,
            Api::Free => Api::Pool,
            other => other,
        }
    }

    /// Whether a block comes by it that another may have become.
    #[inline]
    pub const fn is_realloc(self) -> bool {
        matches!(self, Api::Realloc | Api::Reallocarray | Api::CustomRealloc)
    }

    /// Whether the caller asked for an alignment, which the log then holds.
    #[inline]
    pub const fn is_aligned(self) -> bool {
        matches!(
            self,
            Api::PosixMemalign | Api::AlignedAlloc | Api::Memalign | Api::New | Api::NewArray
        )
    }
}
