//! Why a question has no answer in a log.

use std::fmt;

use memlog_query::Field;
use memlog_table::{Column, Columns, Rows};

use crate::choice::Choice;
use crate::pass;
use crate::world::{Damaged, Of, World};

/// Why a filter, or a grouping, has no answer here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unanswered {
    /// The log does not say that: the field, and what does.
    Unknown(&'static str, &'static str),
    /// No mark has this name.
    NoMark(String),
    /// It is about blocks of the heap, and these are mappings.
    OfBlocks(Field),
    /// It is about mappings, and these are blocks.
    OfMappings(Field),
    /// See [`Damaged`].
    Damaged,
}

impl From<Damaged> for Unanswered {
    fn from(Damaged: Damaged) -> Self {
        Self::Damaged
    }
}

impl fmt::Display for Unanswered {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unknown(field, instead) => {
                write!(
                    out,
                    "{field} is not known of the blocks of this log; {instead}"
                )
            }
            Self::OfBlocks(field) => {
                write!(
                    out,
                    "{field} is of blocks of the heap, and these are mappings"
                )
            }
            Self::OfMappings(field) => {
                write!(
                    out,
                    "{field} is of mappings, and these are blocks of the heap"
                )
            }
            Self::NoMark(name) => write!(out, "the log has no mark that is called {name:?}"),
            Self::Damaged => out.write_str("the table changed while it was read"),
        }
    }
}

/// Where no release was recorded with its stack.
pub(crate) const NO_RELEASE_STACKS: Unanswered = Unanswered::Unknown(
    "the stack of a release",
    "record with --free-stacks to know who freed a block",
);

/// Whether any release was recorded with its stack; calls that unmap are.
pub(crate) fn has_release_stacks(world: &World) -> Result<bool, Damaged> {
    let columns = Columns::of(&[Column::ReleaseStack]);
    let has = |found: &mut bool, rows: &Rows, chosen: &[usize]| {
        let is_known = |&row: &usize| rows.get(Column::ReleaseStack, row) > 0;
        *found |= chosen.iter().any(is_known);
    };
    let found = pass::over(world, &Choice::all(), columns, has, |one, other| {
        one | other
    })?;
    Ok(found || world.of == Of::Mappings)
}
