//! What a command shows of a log, as a value: a heading, notes, trees, lists.
//! [`crate::text`] and [`crate::json`] make of it what is printed. They know no log,
//! so no figure comes about there; what makes a page knows no screen.
//!
//! * [`heading`]: the named lines at the top
//! * [`places`]: who asked for memory, in a list
//! * [`rows`]: an answer about blocks
//! * [`tree`]: who called them
//! * [`others`]: calls that failed, what to run next, records of a log

pub mod heading;
pub mod others;
pub mod places;
pub mod rows;
pub mod tree;

use serde_json::{Map, Value};

use crate::names::Labels;
use heading::Heading;
use others::{FailedCalls, Next, Records, Table};
use places::PlaceList;
use rows::Rows;
use tree::Tree;

/// A page.
#[derive(Default)]
pub struct Page {
    /// What programs are told besides the parts, by key (`doc/STATS.md`); people only
    /// where a part asks for it.
    pub figures: Map<String, Value>,
    /// What stands at the top.
    pub heading: Heading,
    /// What a reader has to know besides the figures, in sentences.
    pub notes: Vec<String>,
    /// What was wrong with the names.
    pub on_names: OnNames,
    /// What is below, in the order in which it is read.
    pub parts: Vec<Part>,
    /// Whether it is meant for one screen: then less is shown where there is no
    /// room for all.
    pub is_screenful: bool,
}

impl Page {
    /// Figures by key.
    pub fn keyed<const N: usize>(all: [(&str, Value); N]) -> Map<String, Value> {
        let all = all.map(|(name, value)| (name.to_owned(), value));
        all.into_iter().collect()
    }

    /// Tells nowhere how many blocks there were.
    pub fn hide_counts(&mut self) {
        for part in &mut self.parts {
            match part {
                Part::Tree(tree) | Part::OneTree(tree) => tree.has_counts = false,
                Part::Places(list) => list.has_counts = false,
                _ => {}
            }
        }
    }
}

/// What was wrong with the names, in sentences.
#[derive(Clone, Default)]
pub struct OnNames {
    /// A sentence for each file.
    pub remarks: Vec<String>,
    /// That not all were looked up.
    pub cut_short: Option<String>,
    /// What to do where most has none.
    pub hint: Option<String>,
    /// Whether the remarks are counted in one line above the parts; else each is
    /// told below them.
    pub is_brief: bool,
}

impl OnNames {
    /// What there is to say of the names that were looked up.
    pub fn of(labels: &Labels) -> Self {
        Self {
            remarks: labels.remarks().map(str::to_owned).collect(),
            cut_short: labels.cut_short().map(str::to_owned),
            ..Self::default()
        }
    }
}

/// A part of a page.
pub enum Part {
    /// The tree that the page is about.
    Tree(Tree),
    /// One of the trees that were asked for.
    OneTree(Tree),
    /// Who asked for memory.
    Places(PlaceList),
    /// Who got none.
    Failed(Vec<FailedCalls>),
    /// What to run next.
    Next(Next),
    /// What a log says of itself, a line each; programs have the figures instead.
    Records(Records),
    /// Rows of the same columns; as for records.
    Table(Table),
    /// An answer about blocks; as for records.
    Rows(Rows),
    /// The figures, a line each.
    Figures,
}
