//! What can be measured of a run.

use memlog_export::numbers::{counted, sized};

/// A figure that can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// Bytes that were live at once.
    Peak,
    /// Bytes that were never freed.
    Leaked,
    /// Bytes that were resident, without memlog's own.
    Rss,
    /// How many blocks were allocated.
    Allocations,
    /// Bytes that were allocated in all.
    Total,
}

impl Measure {
    /// All of them, in the order in which they are told.
    pub const ALL: [Self; 5] = [
        Self::Peak,
        Self::Leaked,
        Self::Rss,
        Self::Allocations,
        Self::Total,
    ];

    /// Its word, in options, files and rules.
    pub fn word(self) -> &'static str {
        match self {
            Self::Peak => "peak",
            Self::Leaked => "leaked",
            Self::Rss => "rss",
            Self::Allocations => "allocations",
            Self::Total => "total",
        }
    }

    /// That of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.word() == word)
    }

    /// What people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Peak => "heap peak",
            Self::Leaked => "never freed",
            Self::Rss => "RSS peak",
            Self::Allocations => "allocations",
            Self::Total => "allocated in all",
        }
    }

    /// What a scanner tells of its rule.
    pub fn rule(self) -> &'static str {
        match self {
            Self::Peak => "The live heap at its largest is within its limit",
            Self::Leaked => "What is never freed is within its limit",
            Self::Rss => "Resident memory at its largest is within its limit",
            Self::Allocations => "The number of allocations is within its limit",
            Self::Total => "What is allocated in the whole run is within its limit",
        }
    }

    /// Whether it is a number of bytes.
    pub fn is_bytes(self) -> bool {
        self != Self::Allocations
    }

    /// Whether the same program has another one each time. The kernel's figure is: it is
    /// counted in pages and by how the program was scheduled.
    pub fn is_noisy(self) -> bool {
        self == Self::Rss
    }

    /// Whether it is of the process as a whole, not of blocks.
    pub fn is_of_process(self) -> bool {
        self == Self::Rss
    }

    /// An amount of it.
    pub fn told(self, amount: u64) -> String {
        match self.is_bytes() {
            true => sized(amount),
            false => counted(amount, "allocation"),
        }
    }
}

/// An amount of each of them, where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts([Option<u64>; Measure::ALL.len()]);

impl Amounts {
    /// That of one.
    pub fn get(&self, measure: Measure) -> Option<u64> {
        self.0[measure as usize]
    }

    /// Gives one an amount.
    pub fn set(&mut self, measure: Measure, amount: Option<u64>) {
        self.0[measure as usize] = amount;
    }

    /// Those that there are.
    pub fn iter(&self) -> impl Iterator<Item = (Measure, u64)> {
        let all = Measure::ALL.into_iter();
        all.filter_map(|measure| Some((measure, self.get(measure)?)))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}
