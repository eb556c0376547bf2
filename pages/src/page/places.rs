//! Who asked for memory, in a list.

use memlog_analysis::{Held, Through};

use crate::names::Name;

/// Places, those that count most first.
pub struct PlaceList {
    pub what: What,
    /// The first that fits is told; the last is the shortest.
    pub titles: Vec<String>,
    /// What the shares are of.
    pub total: Held,
    pub rows: Vec<PlaceRow>,
    /// Whether standard libraries asked on behalf of some of these.
    pub is_past_library: bool,
    /// Functions that were passed over, in steps, the innermost first.
    pub through: Vec<Vec<Through>>,
    /// Whether it is worth a place in a text.
    pub is_told: bool,
    /// Whether it is known how many blocks there were.
    pub has_counts: bool,
}

/// What the places are listed by.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// Live bytes.
    Held,
    /// Bytes that became live in a while.
    Grown,
    /// Bytes that the program mapped itself.
    Mapped,
    /// Allocations.
    Calls,
}

/// A place.
pub struct PlaceRow {
    pub name: Name,
    /// The place that most of it was for, where that says more.
    pub caller: Option<Name>,
    pub held: Held,
    /// In percent.
    pub share: f64,
    /// With those before it.
    pub sum: f64,
}
