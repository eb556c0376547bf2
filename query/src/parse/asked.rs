//! One test.

use super::Parser;
use crate::error::{Fault, Problem, shown};
use crate::expr::Expr;
use crate::field::{CountField, FIELDS, Field, FieldEntry, TextField};
use crate::near::nearest;
use crate::old_names::{OLD_NAMES, OldName};
use crate::span::Span;
use crate::test::{FirstMatch, FrameField, Rule, Test, Verdict};
use crate::token::{Op, What};
use crate::value::{Address, Moment};

/// No name has more bytes.
const LONGEST_NAME: usize = 60;

impl<'t> Parser<'t> {
    pub(super) fn test(&mut self) -> Result<Expr, Fault> {
        let Some(What::Word(word)) = self.peek().map(|token| token.what.clone()) else {
            return Err(self.unexpected("a field such as size, `not` or `(`"));
        };
        if super::KEYWORDS
            .iter()
            .any(|keyword| self.peeks_word(keyword))
        {
            return Err(self.unexpected("a field such as size, `not` or `(`"));
        }
        let name = match word.len() <= LONGEST_NAME {
            true => word.to_ascii_lowercase().replace('_', "-"),
            false => String::new(),
        };
        if let Some(entry) = Field::named(&name) {
            self.at += 1;
            return self.of_field(entry);
        }
        if let Some(old) = OLD_NAMES
            .iter()
            .find(|old| old.name.replace('_', "-") == name)
        {
            self.at += 1;
            return self.of_old_name(old);
        }
        let names = FIELDS.iter().map(|entry| entry.name);
        let problem = Problem::UnknownField {
            found: shown(word),
            nearest: nearest(&name, names),
        };
        Err((self.column(), problem))
    }

    fn of_field(&mut self, entry: &'static FieldEntry) -> Result<Expr, Fault> {
        match entry.field {
            Field::All => self.alone(entry, Test::All),
            Field::Flag(flag) => self.alone(entry, Test::Flag(flag)),
            Field::Alive => self.alive(),
            Field::FirstMatch => self.first_match(),
            Field::Text(field) => self.text_test(entry, field),
            _ => self.compared(entry),
        }
    }

    fn alone(&mut self, entry: &FieldEntry, test: Test) -> Result<Expr, Fault> {
        let is_compared = matches!(self.peek().map(|token| &token.what), Some(What::Compare(_)));
        match is_compared || self.peeks_word("in") {
            true => Err(self.wrong_test(entry)),
            false => Ok(Expr::Test(test)),
        }
    }

    /// That the next token, a comparison, is not for this field.
    fn wrong_test(&self, entry: &FieldEntry) -> Fault {
        let operator = self.peek().map_or("", |token| token.text).to_owned();
        let (field, what) = (entry.name, entry.field.compared());
        (
            self.column(),
            Problem::WrongTest {
                field,
                what,
                operator,
            },
        )
    }

    /// A comparison, or none for `in`.
    fn operator(&mut self, expected: &'static str) -> Result<Option<Op>, Fault> {
        if let Some(&What::Compare(op)) = self.peek().map(|token| &token.what) {
            self.at += 1;
            return Ok(Some(op));
        }
        match self.takes_word("in") {
            true => Ok(None),
            false => Err(self.unexpected(expected)),
        }
    }

    fn compared(&mut self, entry: &FieldEntry) -> Result<Expr, Fault> {
        let op = self.operator("a comparison such as = or >=, or `in`")?;
        let is_ordered = !matches!(op, Some(Op::Like | Op::Unlike));
        let is_equality = matches!(op, Some(Op::Is | Op::IsNot));
        if !is_ordered || (entry.field == Field::Contains && !is_equality) {
            self.at -= 1;
            return Err(self.wrong_test(entry));
        }
        let test = match entry.field {
            Field::Size(field) => Test::Size {
                field,
                span: self.span(op, Self::value)?,
            },
            Field::Count(field) => Test::Count {
                field,
                span: self.span(op, Self::value)?,
            },
            Field::Length(field) => Test::Length {
                field,
                span: self.span(op, Self::value)?,
            },
            Field::Moment(field) => Test::Moment {
                field,
                span: self.span(op, Self::moment)?,
            },
            Field::Address => Test::Address(self.span(op, Self::value)?),
            Field::GroupLeaked => Test::GroupLeaked(self.span(op, Self::value)?),
            _ => Test::Contains(self.value::<Address>()?),
        };
        Ok(negated_if(op == Some(Op::IsNot), test))
    }

    fn text_test(&mut self, entry: &FieldEntry, field: TextField) -> Result<Expr, Fault> {
        let op = self.operator("=, !=, ~ or !~")?;
        let Some(op @ (Op::Is | Op::IsNot | Op::Like | Op::Unlike)) = op else {
            self.at -= 1;
            return Err(self.wrong_test(entry));
        };
        let is_exact = matches!(op, Op::Is | Op::IsNot);
        let test = match self.tid_of(field).filter(|_| is_exact) {
            Some(field) => Test::Count {
                field,
                span: Span::only(self.value()?),
            },
            None => Test::Text {
                field,
                matcher: self.matcher(op)?,
            },
        };
        Ok(negated_if(matches!(op, Op::IsNot | Op::Unlike), test))
    }

    /// Where a thread is compared with a number, the field that means.
    fn tid_of(&self, field: TextField) -> Option<CountField> {
        let number = match self.peek().map(|token| &token.what) {
            Some(What::Word(word)) => word.bytes().all(|digit| digit.is_ascii_digit()),
            _ => false,
        };
        match field {
            TextField::Thread if number => Some(CountField::Tid),
            TextField::FreedBy if number => Some(CountField::FreedByTid),
            _ => None,
        }
    }

    /// `alive at M`, `alive in A..B`
    fn alive(&mut self) -> Result<Expr, Fault> {
        let (from, to) = if self.takes_word("at") {
            let moment = self.moment()?;
            (moment.clone(), moment)
        } else if self.takes_word("in") {
            match self.span(None, Self::moment)? {
                Span::Between(from, to) => (from, to),
                Span::AtLeast(from) | Span::MoreThan(from) => (from, Moment::End),
                Span::AtMost(to) | Span::LessThan(to) => (Moment::Start, to),
            }
        } else {
            return Err(self.unexpected("`at` and a moment, or `in` and a range"));
        };
        Ok(Expr::Test(Test::Alive { from, to }))
    }

    fn first_match(&mut self) -> Result<Expr, Fault> {
        if !self.takes(&What::Open) {
            return Err(self.unexpected("`(` and rules such as +function ~ \"parse\""));
        }
        let mut rules = vec![self.rule()?];
        while self.takes(&What::Comma) {
            rules.push(self.rule()?);
        }
        if !self.takes(&What::Close) {
            return Err(self.unexpected("`,` or `)`"));
        }
        let rules = FirstMatch::new(rules).map(Test::FirstMatch);
        Ok(Expr::Test(rules.unwrap_or(Test::All)))
    }

    fn rule(&mut self) -> Result<Rule, Fault> {
        const EXPECTED: &str = "+function, -function, +module or -module";
        let word = match self.peek().map(|token| &token.what) {
            Some(&What::Word(word)) => word,
            _ => "",
        };
        let verdict = match word.chars().next() {
            Some('+') => Verdict::Keep,
            Some('-') => Verdict::Drop,
            _ => return Err(self.unexpected(EXPECTED)),
        };
        let field = match word[1..].to_ascii_lowercase().as_str() {
            "function" => FrameField::Function,
            "module" => FrameField::Module,
            _ => return Err(self.unexpected(EXPECTED)),
        };
        self.at += 1;
        if !self.takes(&What::Compare(Op::Like)) {
            return Err(self.unexpected("`~`"));
        }
        let pattern = self.pattern()?;
        Ok(Rule {
            verdict,
            field,
            pattern,
        })
    }

    /// A filter of bytehound, which has a value behind `=`.
    fn of_old_name(&mut self, old: &OldName) -> Result<Expr, Fault> {
        if !self.takes(&What::Compare(Op::Is)) {
            return Err(self.unexpected("`=`, for this is a name of bytehound's"));
        }
        let (column, value) = self.text()?;
        old.translated(&value, column, &mut self.patterns)
    }
}

fn negated_if(is_negated: bool, test: Test) -> Expr {
    let test = Expr::Test(test);
    if is_negated { test.negated() } else { test }
}
