//! What changed from one log to another, or from one moment of a log to another.
//!
//! ```text
//! World -> Side         what chosen blocks hold, by stack or by value
//! two Sides:
//!   names               a number for each function that both may have    (names, files)
//!   -> stacks           one tree of both; a stack that lacks what was
//!                       inlined joins the one that has it                (stacks)
//!   -> rows             by function, line, ... of the joined stacks      (rows, moved)
//! ```
//!
//! Names and addresses of the two builds may differ. `doc/decisions/100` has the rule for
//! stacks, `101` that for names.

mod files;
mod moved;
mod names;
mod rows;
mod side;
mod stacks;
#[cfg(test)]
mod tests;
mod tree;

use memlog_analysis::{Held, Name};

use crate::keys::By;
pub use side::{Module, Side, side};
pub use tree::{ChangedLines, changed_lines};

/// Blocks that have something in common on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What that is, in the words of the side after where that has it.
    pub name: String,
    /// The same in the words of the side before, where those are others.
    pub before_name: Option<String>,
    /// What they are before and after.
    pub held: [Held; 2],
    /// Of a stack its frames, from the function that asked, on each side that has it.
    pub frames: [Vec<Name>; 2],
}

/// What changed, in no order; and what there was in all, before and after.
pub struct Difference {
    /// Each changed.
    pub rows: Vec<Change>,
    /// What did not.
    pub still: Vec<Change>,
    /// Of all blocks.
    pub totals: [Held; 2],
}

/// By what two sides can be compared.
pub const DIFF_BY: [By; 8] = [
    By::Stack,
    By::Function,
    By::File,
    By::Line,
    By::Module,
    By::Thread,
    By::Type,
    By::Size,
];

/// What changed from the first to the second. Both are by the same.
pub fn diff(sides: [&Side; 2]) -> Difference {
    let rows = rows::rows(sides).into_iter();
    let (rows, still) = rows.partition(|row| row.held[0] != row.held[1]);
    Difference {
        rows,
        still,
        totals: sides.map(|side| side.total),
    }
}
