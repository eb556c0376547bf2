//! The names of the language: what can be asked of a block.

use std::fmt;

use crate::error::{Compared, Kind};

/// A name, and what kind of question it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // as the tests of these names
pub enum Field {
    All,
    Ordered(OrderedField),
    Text(TextField),
    Flag(Flag),
    Contains,
    Alive,
    FirstMatch,
}

/// What is smaller or larger than a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // as the tests of these names
pub enum OrderedField {
    Size(SizeField),
    Count(CountField),
    Length(LengthField),
    Moment(MomentField),
    Address,
    GroupLeaked,
}

/// A field as users meet it.
#[derive(Clone, Copy, Debug)]
pub struct FieldEntry {
    /// Its name in the language.
    pub name: &'static str,
    /// Which one it is.
    pub field: Field,
    /// What it is of a block.
    pub meaning: &'static str,
    /// A filter with it.
    pub example: &'static str,
}

/// Fields that are bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum SizeField {
    Size,
    Usable,
    Waste,
    Alignment,
    FirstSize,
    LastSize,
    GroupBytes,
}

/// Fields that are whole numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum CountField {
    LifetimeEvents,
    Tid,
    FreedByTid,
    Map,
    ChainLength,
    ChainPosition,
    Line,
    Depth,
    Stack,
    FreedStack,
    GroupAllocations,
}

/// Fields that are durations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum LengthField {
    Lifetime,
    ChainLifetime,
    GroupInterval,
}

/// Fields that are moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum MomentField {
    Born,
    Died,
    GroupFirst,
    GroupLast,
    GroupPeak,
}

/// Fields that are texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum TextField {
    Kind,
    Thread,
    FreedBy,
    LastMark,
    Scope,
    Leaf,
    Function,
    File,
    Module,
    FreedFunction,
    FreedFile,
    FreedModule,
}

/// Fields that are true or not, and stand alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // `FIELDS` says what each of them is
pub enum Flag {
    Leaked,
    Temporary,
    Moved,
    Mmapped,
    MainArena,
    StaticInit,
    ChainLeaked,
    GroupAllLeaked,
    Readable,
    Writable,
    Executable,
}

const fn entry(
    name: &'static str,
    field: Field,
    meaning: &'static str,
    example: &'static str,
) -> FieldEntry {
    FieldEntry {
        name,
        field,
        meaning,
        example,
    }
}

pub(crate) const fn size(field: SizeField) -> Field {
    Field::Ordered(OrderedField::Size(field))
}

pub(crate) const fn count(field: CountField) -> Field {
    Field::Ordered(OrderedField::Count(field))
}

pub(crate) const fn length(field: LengthField) -> Field {
    Field::Ordered(OrderedField::Length(field))
}

pub(crate) const fn moment(field: MomentField) -> Field {
    Field::Ordered(OrderedField::Moment(field))
}

pub(crate) const ADDRESS: Field = Field::Ordered(OrderedField::Address);
pub(crate) const GROUP_LEAKED: Field = Field::Ordered(OrderedField::GroupLeaked);

/// All names of the language, in the order of `doc/FILTERS.md`.
#[rustfmt::skip] // a table
pub const FIELDS: [FieldEntry; 55] = [
    entry("all", Field::All, "true of every block", "all"),
    // Of a block.
    entry("size", size(SizeField::Size), "bytes, as the program asked for them", "size >= 1MiB"),
    entry("usable", size(SizeField::Usable), "bytes that the allocator gave", "usable < 64"),
    entry("waste", size(SizeField::Waste), "usable less size", "waste > 4K"),
    entry("alignment", size(SizeField::Alignment), "bytes that the address was to be a multiple of; none if nobody asked", "alignment >= 4K"),
    entry("address", ADDRESS, "where it begins", "address in 0x7f0000..0x7fffff"),
    entry("contains", Field::Contains, "an address that lies in it", "contains = 0x7f0010"),
    entry("kind", Field::Text(TextField::Kind), "the function of the allocator that made it, as `malloc`; C++'s new is malloc unless it is an allocator's own; `custom` and `custom realloc` are what the program told of, and `pool` what it cut that from", "kind = calloc"),
    entry("mmapped", Field::Flag(Flag::Mmapped), "glibc gave it a mapping of its own", "mmapped"),
    entry("main-arena", Field::Flag(Flag::MainArena), "it lies in glibc's main arena", "not main-arena"),
    entry("map", count(CountField::Map), "the program's mapping that it was in when it was allocated, by its number in `maps --list`; none outside of those", "map = 7"),
    entry("lifetime", length(LengthField::Lifetime), "from born to died, or to the end of the log", "lifetime < 10ms"),
    entry("lifetime-events", count(CountField::LifetimeEvents), "allocations and releases of all threads from its own to its release, or to the end of the log", "lifetime-events <= 2"),
    entry("born", moment(MomentField::Born), "when it was allocated", "born in 20%..40%"),
    entry("died", moment(MomentField::Died), "when it was released; none if it leaked", "died > heap-peak"),
    entry("alive", Field::Alive, "it was there at a moment, or during a whole range", "alive at rss-peak"),
    entry("last-mark", Field::Text(TextField::LastMark), "the last mark that the program set before it was born; none before the first", "last-mark = \"load\""),
    entry("scope", Field::Text(TextField::Scope), "a scope that its thread was in, at any depth; `~` asks the names of all, with `/` between", "scope = load"),
    entry("thread", Field::Text(TextField::Thread), "the name of the thread that allocated it; a number is its tid", "thread = worker-3"),
    entry("tid", count(CountField::Tid), "the kernel's number of that thread", "tid = 4711"),
    entry("freed-by", Field::Text(TextField::FreedBy), "the name of the thread that released it; a number is its tid", "freed-by != main"),
    entry("freed-by-tid", count(CountField::FreedByTid), "the kernel's number of that thread", "freed-by-tid = 4711"),
    entry("leaked", Field::Flag(Flag::Leaked), "it was never released", "leaked"),
    entry("temporary", Field::Flag(Flag::Temporary), "it was released before its thread's next allocation", "not temporary"),
    entry("moved", Field::Flag(Flag::Moved), "a realloc that succeeded ended it", "moved"),
    // Of the chain of reallocs.
    entry("chain-length", count(CountField::ChainLength), "blocks of the chain; 1 without a realloc", "chain-length > 10"),
    entry("chain-position", count(CountField::ChainPosition), "blocks of the chain before this one", "chain-position = 0"),
    entry("chain-lifetime", length(LengthField::ChainLifetime), "from the first block's birth to the last one's release, or to the end of the log", "chain-lifetime > 1m"),
    entry("first-size", size(SizeField::FirstSize), "size of the chain's first block", "first-size < 64"),
    entry("last-size", size(SizeField::LastSize), "size of the chain's last block", "last-size >= 1M"),
    entry("chain-leaked", Field::Flag(Flag::ChainLeaked), "the chain's last block was never released", "chain-leaked"),
    // Of the stack.
    entry("function", Field::Text(TextField::Function), "the function of any frame", "function ~ \"parse\""),
    entry("file", Field::Text(TextField::File), "the source file of any frame, with its path", "file ~ \"/json/\""),
    entry("line", count(CountField::Line), "the line of any frame", "line in 100..120"),
    entry("module", Field::Text(TextField::Module), "the program or library of any frame", "not module ~ \"libc\""),
    entry("leaf", Field::Text(TextField::Leaf), "the function nearest to the allocator that is no operator new", "leaf = \"strdup\""),
    entry("depth", count(CountField::Depth), "frames of the stack", "depth > 100"),
    entry("stack", count(CountField::Stack), "the stack's number in the log, as `table --by stack` tells it", "stack = 812"),
    entry("static-init", Field::Flag(Flag::StaticInit), "a static initialiser of C++ or a constructor of C asked for it, before main or when a library was loaded", "static-init and leaked"),
    entry("first-match", Field::FirstMatch, "memtrail's rules: from the leaf outwards, the first frame that matches one decides", "first-match(+function ~ \"a\", -module ~ \"libc\")"),
    // Of the stack of its release.
    entry("freed-function", Field::Text(TextField::FreedFunction), "the function of any frame of the release", "freed-function ~ \"clear\""),
    entry("freed-file", Field::Text(TextField::FreedFile), "the source file of any frame of the release", "freed-file ~ \"cache\""),
    entry("freed-module", Field::Text(TextField::FreedModule), "the program or library of any frame of the release", "freed-module ~ \"libssl\""),
    entry("freed-stack", count(CountField::FreedStack), "the number of the release's stack, as `table --by freed-stack` tells it", "freed-stack = 813"),
    // Of all blocks of the same stack.
    entry("group-allocations", count(CountField::GroupAllocations), "how many there are", "group-allocations >= 1e6"),
    entry("group-bytes", size(SizeField::GroupBytes), "the sum of their sizes", "group-bytes >= 1G"),
    entry("group-leaked", GROUP_LEAKED, "how many of them were never released, or which part", "group-leaked >= 50%"),
    entry("group-all-leaked", Field::Flag(Flag::GroupAllLeaked), "none of them was released", "group-all-leaked"),
    entry("group-first", moment(MomentField::GroupFirst), "when the first was allocated", "group-first > 10s"),
    entry("group-last", moment(MomentField::GroupLast), "when the last was allocated", "group-last < 50%"),
    entry("group-interval", length(LengthField::GroupInterval), "from the first allocation to the last", "group-interval > 20%"),
    entry("group-peak", moment(MomentField::GroupPeak), "when they first held the most bytes; of a stack that goes on in a forked child the larger of both", "group-peak in 20%..40%"),
    // Of a mapping.
    entry("readable", Field::Flag(Flag::Readable), "it was mapped to be read", "not readable"),
    entry("writable", Field::Flag(Flag::Writable), "it was mapped to be written", "writable and size >= 1MiB"),
    entry("executable", Field::Flag(Flag::Executable), "it was mapped to be executed", "executable and not leaked"),
];

/// Whether a word is a name of the language: in any case, with `_` for `-` or the
/// other way round.
pub(crate) fn is_name(word: &str, name: &str) -> bool {
    let plain = |letter: u8| match letter {
        b'_' => b'-',
        letter => letter.to_ascii_lowercase(),
    };
    word.bytes().map(plain).eq(name.bytes().map(plain))
}

impl Field {
    /// The field of a name.
    pub(crate) fn named(word: &str) -> Option<&'static FieldEntry> {
        FIELDS.iter().find(|entry| is_name(word, entry.name))
    }

    /// How it is compared, and with what.
    pub fn compared(self) -> Compared {
        match self {
            Self::Ordered(field) => Compared::Ordered(field.kind()),
            Self::Contains => Compared::Same(Kind::Address),
            Self::Text(_) => Compared::Text,
            Self::All | Self::Flag(_) | Self::Alive | Self::FirstMatch => Compared::Not,
        }
    }
}

impl OrderedField {
    fn kind(self) -> Kind {
        match self {
            Self::Size(_) => Kind::Size,
            Self::Count(_) => Kind::Count,
            Self::Length(_) => Kind::Duration,
            Self::Moment(_) => Kind::Moment,
            Self::Address => Kind::Address,
            Self::GroupLeaked => Kind::Amount,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let entry = FIELDS.iter().find(|entry| entry.field == *self);
        out.write_str(entry.map_or("", |entry| entry.name))
    }
}
