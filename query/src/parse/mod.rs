//! The grammar.
//!
//! ```text
//! or     = and { ("or" | "||") and }
//! and    = not { ("and" | "&&") not }
//! not    = ("not" | "!") not | "(" or ")" | test
//! test   = flag | field comparison value | field "in" range | "alive" "at" moment
//!        | "first-match" "(" rule { "," rule } ")"
//! range  = [value] ".." [value]                       not without both
//! rule   = ("+" | "-") ("function" | "module") "~" text
//! ```
//!
//! What is only another way to say something is resolved here: `a != b` is
//! `not a = b`.

mod asked;
mod values;

use crate::error::{Fault, ParseError, Problem, shown};
use crate::expr::Expr;
use crate::test::{MAX_TEXT, Patterns};
use crate::token::{Token, What, tokens};
use crate::value::{Length, Moment};

/// Parentheses and `not` in each other, at most.
pub const MAX_DEPTH: usize = 200;

/// The words of the grammar, which as texts need quotes.
const KEYWORDS: [&str; 4] = ["and", "or", "not", "in"];

/// The filter that a text stands for; of a blank one, every block.
pub fn parse(text: &str) -> Result<Expr, ParseError> {
    parsed(text).map_err(|(column, problem)| ParseError::new(text, column, problem))
}

/// The moment that a text stands for, as it stands behind `born >=`.
pub fn parse_moment(text: &str) -> Result<Moment, ParseError> {
    whole(text, Parser::moment).map_err(|(column, problem)| ParseError::new(text, column, problem))
}

/// The time that a text stands for, as it stands behind `lifetime <`.
pub fn parse_length(text: &str) -> Result<Length, ParseError> {
    whole(text, Parser::value).map_err(|(column, problem)| ParseError::new(text, column, problem))
}

fn parsed(text: &str) -> Result<Expr, Fault> {
    whole(text, |parser| match parser.tokens.is_empty() {
        true => Ok(Expr::all_of(Vec::new())),
        false => parser.or(),
    })
}

/// One thing, and nothing behind it.
fn whole<'t, T>(
    text: &'t str,
    one: impl FnOnce(&mut Parser<'t>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if text.len() > MAX_TEXT {
        return Err((1, Problem::TooLong(MAX_TEXT)));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser {
        end_column: text.chars().count() + 1,
        tokens,
        at: 0,
        depth: 0,
        patterns: Patterns::default(),
    };
    let found = one(&mut parser)?;
    match parser.peek() {
        None => Ok(found),
        Some(token) => Err((
            token.column,
            Problem::Trailing {
                found: shown(token.text),
            },
        )),
    }
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    /// Where the text ends.
    end_column: usize,
    depth: usize,
    patterns: Patterns,
}

impl<'t> Parser<'t> {
    fn or(&mut self) -> Result<Expr, Fault> {
        let mut parts = vec![self.and()?];
        while self.takes(&What::Or) || self.takes_word("or") {
            parts.push(self.and()?);
        }
        Ok(Expr::any_of(parts))
    }

    fn and(&mut self) -> Result<Expr, Fault> {
        let mut parts = vec![self.not()?];
        while self.takes(&What::And) || self.takes_word("and") {
            parts.push(self.not()?);
        }
        Ok(Expr::all_of(parts))
    }

    fn not(&mut self) -> Result<Expr, Fault> {
        let column = self.column();
        if self.takes(&What::Not) || self.takes_word("not") {
            return self.deeper(column, |parser| Ok(parser.not()?.negated()));
        }
        if self.takes(&What::Open) {
            return self.deeper(column, |parser| {
                let inner = parser.or()?;
                match parser.takes(&What::Close) {
                    true => Ok(inner),
                    false => Err(parser.unexpected("`and`, `or` or `)`")),
                }
            });
        }
        let test = self.test()?;
        // What a short way of saying something stands for is deeper than it.
        self.check_depth(column, test.nesting())?;
        Ok(test)
    }

    fn deeper(
        &mut self,
        column: usize,
        inner: impl FnOnce(&mut Self) -> Result<Expr, Fault>,
    ) -> Result<Expr, Fault> {
        self.depth += 1;
        self.check_depth(column, 0)?;
        let expr = inner(self)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn check_depth(&self, column: usize, more: usize) -> Result<(), Fault> {
        match self.depth + more > MAX_DEPTH {
            true => Err((column, Problem::TooDeep(MAX_DEPTH))),
            false => Ok(()),
        }
    }

    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at)
    }

    /// Where the next token is, or the end.
    fn column(&self) -> usize {
        self.peek().map_or(self.end_column, |token| token.column)
    }

    fn takes(&mut self, what: &What) -> bool {
        let is_it = self.peek().is_some_and(|token| token.what == *what);
        self.at += usize::from(is_it);
        is_it
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_it = self.peeks_word(word);
        self.at += usize::from(is_it);
        is_it
    }

    fn peeks_word(&self, word: &str) -> bool {
        let token = self.peek().map(|token| &token.what);
        matches!(token, Some(What::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    /// That the next token should be something else.
    fn unexpected(&self, expected: &'static str) -> Fault {
        let found = self.peek().map(|token| shown(token.text));
        (self.column(), Problem::Unexpected { found, expected })
    }
}
