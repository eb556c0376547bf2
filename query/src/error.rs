//! What is wrong with a text, where, and what would be right.

use std::fmt;

/// What kind of value stands somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes.
    Size,
    /// A whole number.
    Count,
    /// How long something takes.
    Duration,
    /// A point in time.
    Moment,
    /// An address.
    Address,
    /// A number of allocations, or a part of all.
    Amount,
    /// Characters.
    Text,
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// Not at all: it stands alone, or has a syntax of its own.
    Not,
    /// As equal or not.
    Same(Kind),
    /// By size.
    Ordered(Kind),
    /// As a text: equal, or by a regular expression.
    Text,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something else should stand here.
    Unexpected {
        /// What stands there; nothing at the end of the text.
        found: Option<String>,
        /// What should.
        expected: &'static str,
    },
    /// A filter is whole, and there is more text.
    Trailing {
        /// What follows.
        found: String,
    },
    /// Nothing of a block has this name.
    UnknownField {
        /// The name.
        found: String,
        /// What was likely meant.
        nearest: Vec<&'static str>,
    },
    /// A value of another kind is wanted.
    BadValue {
        /// What stands there.
        found: String,
        /// What should.
        kind: Kind,
    },
    /// No such unit.
    UnknownUnit {
        /// The unit.
        unit: String,
        /// Of what.
        kind: Kind,
    },
    /// A number does not fit.
    TooLarge {
        /// The number.
        found: String,
    },
    /// The first end of a range is larger than the last.
    EndsSwapped,
    /// A field cannot be compared in this way.
    WrongTest {
        /// The field.
        field: &'static str,
        /// What it is.
        what: Compared,
        /// The comparison.
        operator: String,
    },
    /// A text without an end.
    OpenQuote,
    /// A regular expression that is none.
    BadPattern {
        /// Why.
        reason: String,
    },
    /// A filter of bytehound that memlog does not have.
    NoSuchFilter {
        /// Its name there.
        name: String,
        /// Why not, or what there is instead.
        reason: &'static str,
    },
    /// Parentheses and `not` in each other, more than this.
    TooDeep(usize),
    /// More bytes than this.
    TooLong(usize),
    /// More regular expressions than this.
    TooManyPatterns(usize),
}

/// What is wrong, and at which column.
pub(crate) type Fault = (usize, Problem);

/// Why a text is no filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    column: usize,
    problem: Problem,
    /// Some of the text around the column, and how many characters of it stand
    /// before that.
    excerpt: String,
    indent: usize,
}

/// Characters that are shown on each side of the place.
const AROUND: usize = 60;
/// Characters of what was found.
const MOST_FOUND: usize = 40;

impl ParseError {
    pub(crate) fn new(text: &str, column: usize, problem: Problem) -> Self {
        let from = (column - 1).saturating_sub(AROUND);
        let indent = column - 1 - from;
        let excerpt = text.chars().skip(from).take(indent + AROUND);
        let excerpt = excerpt.map(|c| if c.is_control() { ' ' } else { c });
        Self {
            column,
            problem,
            excerpt: excerpt.collect(),
            indent,
        }
    }

    /// Where, in characters; the first is 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// What is wrong.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The text, or what of it is near, and below it a line with a caret.
    pub fn caret(&self) -> String {
        format!("{}\n{:indent$}^", self.excerpt, "", indent = self.indent)
    }
}

/// What was found, as it may be shown on a line.
pub(crate) fn shown(found: &str) -> String {
    let mut text = String::new();
    for (index, letter) in found.chars().enumerate() {
        match letter {
            _ if index == MOST_FOUND => {
                text.push_str("...");
                break;
            }
            '"' | '\'' | '\\' => text.push(letter),
            _ => text.extend(letter.escape_debug()),
        }
    }
    text
}

impl Kind {
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Size => "a size such as 4096, 64K or 1.5MiB",
            Self::Count => "a whole number such as 12, 1_000 or 1e6",
            Self::Duration => "a duration such as 300ms, 12.5s, 4h3m2s or 20%",
            Self::Moment => {
                "a moment such as 12.5s, 20%, start, end, rss-peak, heap-peak or mark \"name\""
            }
            Self::Address => "an address such as 0x7f0010",
            Self::Amount => "a whole number or a share from 0% to 100%",
            Self::Text => "a text such as \"name\"",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Size => "a size",
            Self::Count => "a number",
            Self::Duration => "a duration",
            Self::Moment => "a moment",
            Self::Address => "an address",
            Self::Amount => "a number or a share",
            Self::Text => "a text",
        }
    }

    pub(crate) fn has_units(self) -> bool {
        matches!(self, Self::Size | Self::Duration | Self::Moment)
    }

    fn units(self) -> &'static str {
        match self {
            Self::Size => "K, M, G or T, with or without iB",
            Self::Duration | Self::Moment => "ns, us, ms, s, m or h",
            Self::Count | Self::Address | Self::Amount | Self::Text => "none",
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.problem)
    }
}

impl std::error::Error for ParseError {}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Unexpected {
                found: Some(found),
                expected,
            } => {
                write!(out, "expected {expected}, found `{found}`")
            }
            Self::Unexpected {
                found: None,
                expected,
            } => {
                write!(out, "expected {expected}, and the text ends")
            }
            Self::Trailing { found } => {
                write!(out, "expected `and`, `or` or the end, found `{found}`")
            }
            Self::UnknownField { found, nearest } => {
                write!(out, "nothing is called `{found}`")?;
                match nearest.split_last() {
                    None => write!(out, "; doc/FILTERS.md has all names"),
                    Some((last, [])) => write!(out, "; did you mean {last}?"),
                    Some((last, others)) => {
                        write!(out, "; did you mean {} or {last}?", others.join(", "))
                    }
                }
            }
            Self::BadValue { found, kind } => {
                write!(out, "expected {}, found `{found}`", kind.example())
            }
            Self::UnknownUnit { unit, kind } => {
                let (name, units) = (kind.name(), kind.units());
                write!(out, "`{unit}` is no unit of {name}; there are {units}")
            }
            Self::TooLarge { found } => {
                write!(out, "`{found}` is too large: it does not fit into 64 bits")
            }
            Self::EndsSwapped => {
                write!(
                    out,
                    "the range is empty, for its first end is larger than its last"
                )
            }
            Self::WrongTest {
                field,
                what,
                operator,
            } => wrong_test(out, field, *what, operator),
            Self::OpenQuote => write!(out, "the quote that begins here has no end"),
            Self::BadPattern { reason } => {
                write!(out, "this is no regular expression: {reason}")
            }
            Self::NoSuchFilter { name, reason } => write!(out, "there is no `{name}`: {reason}"),
            Self::TooDeep(most) => {
                write!(
                    out,
                    "more than {most} parentheses and `not` stand in each other"
                )
            }
            Self::TooLong(most) => write!(out, "a filter has at most {most} bytes"),
            Self::TooManyPatterns(most) => {
                write!(
                    out,
                    "a filter has at most {most} regular expressions, a large one counting as five"
                )
            }
        }
    }
}

fn wrong_test(
    out: &mut fmt::Formatter,
    field: &str,
    what: Compared,
    operator: &str,
) -> fmt::Result {
    let (name, operators) = match what {
        Compared::Not => {
            return write!(
                out,
                "`{field}` is not compared: `{operator}` cannot follow it"
            );
        }
        Compared::Same(kind) => (kind.name(), "= or !="),
        Compared::Ordered(kind) => (kind.name(), "=, !=, <, <=, >, >= or in"),
        Compared::Text => (Kind::Text.name(), "=, !=, ~ or !~"),
    };
    write!(
        out,
        "`{field}` is {name}: compare it with {operators}, not `{operator}`"
    )
}
