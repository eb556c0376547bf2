//! How `memlog attach` hands a recorder over to a process that runs already: words of
//! `memlog_attach`, a symbol of libmemlog.so. No part of a log.
//!
//! Who attaches maps the library into the process and fills in what the recorder would
//! have found out by itself at program start. The recorder takes it up in the first call
//! that comes through one of its doors.

/// The symbol.
pub const SYMBOL: &str = "memlog_attach";
/// What stands in the first word, so that nobody writes to another layout.
pub const MARK: u64 = u64::from_le_bytes(*b"memlog01");
/// Bytes of the settings at most.
pub const TEXT_BYTES: usize = 8192;

/// A word of the block, by its place. The first six lead to other things of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Word {
    /// [`MARK`].
    Mark = 0,
    /// Where the names of the doors lie: addresses and lengths, by their numbers.
    Names = 1,
    /// How many there are.
    Count = 2,
    /// Where the real functions are to stand, by the numbers of the doors.
    Reals = 3,
    /// Where the life word is, of 32 bits.
    Life = 4,
    /// Where the number of bytes stands from the word that doors look at to the thread's
    /// own.
    Shift = 5,
    /// A function for the program's list of what runs when it ends.
    Last = 6,
    /// From the thread's own word to the thread's number, as the C library keeps it.
    /// Nobody has attached while this is 0.
    Number = 7,
    /// [`HAS_HEADERS`], [`HAS_USABLE`].
    Flags = 8,
    /// The function that says where errno is, or 0.
    Errno = 9,
    /// What `Last` took the place of, or 0.
    AfterLast = 10,
    /// Bytes of the settings: `NAME=VALUE`, each ended by a zero byte.
    TextBytes = 11,
}

/// Words before the settings.
pub const WORDS: usize = 12;

/// Malloc is glibc's, whose blocks have their size in the word before them.
pub const HAS_HEADERS: u64 = 1;
/// The real malloc_usable_size is of the allocator that the real malloc is of.
pub const HAS_USABLE: u64 = 2;

impl Word {
    /// Where it lies in the block.
    pub const fn at(self) -> u64 {
        8 * self as u64
    }
}

/// Where the settings lie in the block.
pub const TEXT_AT: u64 = 8 * WORDS as u64;
