//! The tree: tests, joined by `and`, `or` and `not`.

use std::fmt;

use crate::test::Test;

/// A filter. Whoever builds one uses [`Expr::all_of`] and [`Expr::any_of`], so that
/// no list is empty or has one member only, which no text stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// At least one holds.
    Or(Vec<Expr>),
    /// All hold.
    And(Vec<Expr>),
    /// It does not hold.
    Not(Box<Expr>),
    /// Something about a block.
    Test(Test),
}

impl Expr {
    /// All of these; of none of them, every block.
    pub fn all_of(mut parts: Vec<Expr>) -> Self {
        match parts.len() {
            0 => Self::Test(Test::All),
            1 => parts.remove(0),
            _ => Self::And(parts),
        }
    }

    /// Any of these; of none of them, no block.
    pub fn any_of(mut parts: Vec<Expr>) -> Self {
        match parts.len() {
            0 => Self::Test(Test::All).negated(),
            1 => parts.remove(0),
            _ => Self::Or(parts),
        }
    }

    /// The opposite.
    pub fn negated(self) -> Self {
        Self::Not(Box::new(self))
    }

    /// Parentheses and `not` in each other, if it stands in another one.
    pub(crate) fn nesting(&self) -> usize {
        match self {
            Self::Or(parts) | Self::And(parts) => {
                1 + parts.iter().map(Self::nesting).max().unwrap_or(0)
            }
            Self::Not(inner) => 1 + inner.nesting(),
            Self::Test(_) => 0,
        }
    }

    /// Writes it where an `and` in it needs no parentheses, or does.
    fn write(&self, out: &mut fmt::Formatter, is_alone: bool) -> fmt::Result {
        if is_alone {
            return write!(out, "{self}");
        }
        match self {
            Self::Or(_) | Self::And(_) => write!(out, "({self})"),
            _ => write!(out, "{self}"),
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let (parts, word) = match self {
            Self::Or(parts) => (parts, " or "),
            Self::And(parts) => (parts, " and "),
            Self::Not(inner) => {
                out.write_str("not ")?;
                return inner.write(out, false);
            }
            Self::Test(test) => return test.fmt(out),
        };
        let is_or = matches!(self, Self::Or(_));
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                out.write_str(word)?;
            }
            part.write(out, is_or && matches!(part, Self::And(_)))?;
        }
        Ok(())
    }
}
