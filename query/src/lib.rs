//! memlog's one language for choosing allocations: its syntax, and nothing else.
//! `doc/FILTERS.md` tells it to users.
//!
//! [`parse`] makes a typed tree of a text, in which every unit, name and regular
//! expression is resolved; what is left open is what only a log can say, such as
//! when the heap was largest. Printing a tree gives a text that parses to the same
//! tree, if it is no longer than a text may be. What is true of a block is for
//! others to say: this crate knows no log and does no I/O.
//!
//! Storeys, from the top; none knows one above it:
//!
//! * `parse`: the grammar; `token`: the text in pieces
//! * `old_names`: the filters of bytehound, in today's words
//! * `literal`: values that are one word; `number`: digits and units
//! * `expr`: the tree
//! * `test`: what is asked of one block
//! * `field`: the names, and what each of them means
//! * `span`, `value`: comparisons, what is compared, and how it is written
//! * `error`: what is wrong with a text, and where; `near`: what was likely meant
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
mod expr;
mod field;
mod literal;
mod near;
mod number;
mod old_names;
mod parse;
mod span;
mod test;
mod token;
mod value;

pub use error::{Compared, Kind, ParseError, Problem};
pub use expr::Expr;
pub use field::{
    CountField, FIELDS, Field, FieldEntry, Flag, LengthField, MomentField, OrderedField, SizeField,
    TextField,
};
pub use old_names::{OLD_NAMES, OldName, from_old};
pub use parse::{MAX_DEPTH, parse, parse_length, parse_moment};
pub use span::Span;
pub use test::{
    FirstMatch, FrameField, MAX_PATTERNS, MAX_TEXT, Matcher, Pattern, Rule, Test, Verdict,
};
pub use value::{Address, Amount, Bytes, Length, Moment, Share};
