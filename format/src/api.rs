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
}

/// Every entry point with the name users know.
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

impl Api {
    /// The entry point with this number.
    #[inline]
    pub fn from_byte(byte: u8) -> Option<Self> {
        let (api, _) = NAMES.get(usize::from(byte).checked_sub(1)?)?;
        Some(*api)
    }

    /// The function's name.
    pub fn name(self) -> &'static str {
        match NAMES.get(self as usize - 1) {
            Some((_, name)) => name,
            None => "?",
        }
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
