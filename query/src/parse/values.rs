//! Values of each kind, out of tokens.

use super::{KEYWORDS, Parser};
use crate::error::{Fault, Kind, Problem, shown};
use crate::literal::{Literal, literal};
use crate::span::Span;
use crate::test::{Matcher, Pattern};
use crate::token::{Op, What};
use crate::value::{Length, Moment};

impl<'t> Parser<'t> {
    /// What follows a field that is compared by size.
    pub(super) fn span<V: Literal>(
        &mut self,
        op: Option<Op>,
        mut value: impl FnMut(&mut Self) -> Result<V, Fault>,
    ) -> Result<Span<V>, Fault> {
        let Some(op) = op else {
            return self.range(value);
        };
        let value = value(self)?;
        Ok(match op {
            Op::Less => Span::LessThan(value),
            Op::AtMost => Span::AtMost(value),
            Op::More => Span::MoreThan(value),
            Op::AtLeast => Span::AtLeast(value),
            _ => Span::only(value),
        })
    }

    /// `A..B`, of which one may be left out.
    fn range<V: Literal>(
        &mut self,
        mut value: impl FnMut(&mut Self) -> Result<V, Fault>,
    ) -> Result<Span<V>, Fault> {
        let column = self.column();
        if self.takes(&What::Dots) {
            return Ok(Span::AtMost(value(self)?));
        }
        let first = value(self)?;
        if !self.takes(&What::Dots) {
            return Err(self.unexpected("`..` and the end of the range"));
        }
        if !self.has_value() {
            return Ok(Span::AtLeast(first));
        }
        let last = value(self)?;
        match first.exceeds(&last) {
            true => Err((column, Problem::EndsSwapped)),
            false => Ok(Span::Between(first, last)),
        }
    }

    /// Whether what comes next may be a name or a value.
    pub(super) fn has_value(&self) -> bool {
        let is_keyword = || KEYWORDS.iter().any(|keyword| self.peeks_word(keyword));
        match self.peek().map(|token| &token.what) {
            Some(What::Word(_)) => !is_keyword(),
            Some(What::Quoted(_)) => true,
            _ => false,
        }
    }

    /// A value that is one word.
    pub(super) fn value<V: Literal>(&mut self) -> Result<V, Fault> {
        match self.peek().map(|token| (&token.what, token.column)) {
            Some((&What::Word(word), column)) if self.has_value() => {
                self.at += 1;
                literal(word, column)
            }
            _ => Err(self.wants(V::KIND)),
        }
    }

    /// That a value of some kind should stand here.
    pub(super) fn wants(&self, kind: Kind) -> Fault {
        match self.peek() {
            Some(token) => {
                let found = shown(token.text);
                (token.column, Problem::BadValue { found, kind })
            }
            None => self.unexpected(kind.example()),
        }
    }

    /// A moment, which may have two words.
    pub(super) fn moment(&mut self) -> Result<Moment, Fault> {
        if self.takes_word("mark") {
            return Ok(Moment::Mark(self.text()?.1));
        }
        if self.takes_word("unix") {
            let Length::Ns(ns) = self.value()? else {
                self.at -= 1;
                return Err(self.unexpected("a time since 1970 such as 1700000000s"));
            };
            return Ok(Moment::UnixNs(ns));
        }
        self.value()
    }

    /// A text in quotes or not, and its column.
    pub(super) fn text(&mut self) -> Result<(usize, String), Fault> {
        let column = self.column();
        let text = match self.peek().map(|token| &token.what) {
            Some(What::Quoted(text)) => text.clone(),
            Some(&What::Word(word)) if self.has_value() => word.to_owned(),
            _ => return Err(self.wants(Kind::Text)),
        };
        self.at += 1;
        Ok((column, text))
    }

    /// What a text is compared with.
    pub(super) fn matcher(&mut self, op: Op) -> Result<Matcher, Fault> {
        match op {
            Op::Like | Op::Unlike => self.pattern().map(Matcher::Like),
            _ => self.text().map(|(_, text)| Matcher::Is(text)),
        }
    }

    pub(super) fn pattern(&mut self) -> Result<Pattern, Fault> {
        let (column, text) = self.text()?;
        self.patterns.next(&text, column)
    }
}
