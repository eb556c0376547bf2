//! What the texts of a log mean: the keys of TEXT records, and the words of two of them.

/// A text with a meaning. Numbers are for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Key {
    /// The program's file.
    Executable = 1,
    /// Its arguments, each ended by a zero byte.
    CommandLine = 2,
    /// Host name.
    Host = 3,
    /// Batch job.
    Job = 4,
    /// MPI rank.
    Rank = 5,
    /// Working directory at the start.
    WorkingDirectory = 6,
    /// Version of the recorder.
    Recorder = 7,
    /// One setting, `NAME=VALUE`.
    Setting = 8,
    /// A remark of the recorder, for people.
    Note = 9,
    /// The log's own path when it was made.
    LogPath = 10,
    /// A forked child's parent log.
    ParentLog = 11,
    /// The process that started this one and has its rank too, in decimal: this
    /// one is not the rank itself.
    RankParent = 12,
    /// A library whose calls are not recorded: a [`Past`] and the name that it
    /// was loaded by.
    PastUs = 13,
    /// A function of another name than malloc and its like whose blocks are
    /// recorded, as its first call found.
    Named = 14,
    /// A variable of the environment that the program began with, `NAME=VALUE`; only
    /// if that was asked for.
    Variable = 15,
    /// The log was made from another tool's file: the tool, the file's name, and what tells
    /// this log from others, apart by zero bytes.
    MadeFrom = 16,
    /// What that file does not know: a [`Lack`].
    Lacks = 17,
    /// Names were put behind the log: how long it was before, in decimal.
    Packed = 18,
    /// What the log tells of its user was left out: `partial` or `full`.
    Anonymized = 19,
    /// `memlog strip` made the log: see [`Stripped`](crate::stripped::Stripped).
    Stripped = 20,
    /// The recorder left blocks out that lived shortly: see
    /// [`Culled`](crate::culled::Culled).
    Culled = 21,
}

/// What the file that a log was made from does not know: the one byte of
/// [`Key::Lacks`]. Figures that rest on it are of no meaning in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Lack {
    /// When anything happened.
    Times = 1,
    /// How many blocks there were: it has bytes only.
    Counts = 2,
    /// Where blocks lay: their addresses are made up.
    Addresses = 3,
    /// Which of the blocks alike in size and stack went.
    Lifetimes = 4,
    /// In which order blocks came and went: it has sums, of moments or of all.
    Order = 5,
    /// Which thread it was.
    Threads = 6,
    /// Exact figures: they are estimates from samples.
    Exactness = 7,
    /// By which function blocks came and went.
    Functions = 8,
    /// Blocks that came and went: it has only what was live at some moments.
    Gone = 9,
    /// How large the heap was before: it has one moment only.
    Peak = 10,
    /// What was live when the program ended: it is cut off, or has moments before that.
    End = 11,
    /// What stood in lines or records that were not understood.
    LeftOut = 12,
    /// What is live: it has only what came in all.
    Live = 13,
    /// What was allocated before recording began.
    Before = 14,
    /// How large single blocks were: it has sums.
    Sizes = 15,
    /// Which blocks realloc made of others.
    Reallocs = 16,
    /// How the heap grew and shrank between the moments that it has.
    Course = 17,
}

impl Lack {
    /// All of them.
    pub const ALL: [Self; 17] = [
        Lack::Times,
        Lack::Counts,
        Lack::Addresses,
        Lack::Lifetimes,
        Lack::Order,
        Lack::Threads,
        Lack::Exactness,
        Lack::Functions,
        Lack::Gone,
        Lack::Peak,
        Lack::End,
        Lack::LeftOut,
        Lack::Live,
        Lack::Before,
        Lack::Sizes,
        Lack::Reallocs,
        Lack::Course,
    ];

    /// What a text of [`Key::Lacks`] says.
    pub fn of(text: &[u8]) -> Option<Self> {
        let &[byte] = text else { return None };
        Self::ALL.into_iter().find(|lack| *lack as u8 == byte)
    }
}

/// Why a library's calls are not recorded: the first byte of [`Key::PastUs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Past {
    /// dlmopen loaded it, with a C library and a heap of its own.
    Namespace = 1,
    /// RTLD_DEEPBIND binds it to another allocator than the program's.
    OtherAllocator = 2,
    /// RTLD_DEEPBIND binds it past the recorder, which could not change that.
    Refused = 3,
}

impl Past {
    /// The reason and the name in a text of [`Key::PastUs`].
    pub fn of(text: &[u8]) -> Option<(Self, &[u8])> {
        let (&reason, name) = text.split_first()?;
        let all = [Past::Namespace, Past::OtherAllocator, Past::Refused];
        let reason = all.into_iter().find(|past| *past as u8 == reason)?;
        Some((reason, name))
    }
}

/// The key of this number.
pub(crate) fn key_of(byte: u8) -> Option<Key> {
    use Key::*;
    [
        Executable,
        CommandLine,
        Host,
        Job,
        Rank,
        WorkingDirectory,
        Recorder,
        Setting,
        Note,
        LogPath,
        ParentLog,
        RankParent,
        PastUs,
        Named,
        Variable,
        MadeFrom,
        Lacks,
        Packed,
        Anonymized,
        Stripped,
        Culled,
    ]
    .into_iter()
    .find(|key| *key as u8 == byte)
}
