//! One test.

use super::Parser;
use crate::error::{Fault, Problem, shown};
use crate::expr::Expr;
use crate::field::{CountField, FIELDS, Field, FieldEntry, OrderedField, TextField, is_name};
use crate::near::nearest;
use crate::old_names::{OLD_NAMES, OldName};
use crate::span::Span;
use crate::test::{FirstMatch, FrameField, Rule, Test, Verdict};
use crate::token::{Op, What};
use crate::value::Moment;

impl<'t> Parser<'t> {
    pub(super) fn test(&mut self) -> Result<Expr, Fault> {
        let word = match self.peek().map(|token| &token.what) {
            Some(&What::Word(word)) if self.has_value() => word,
            _ => return Err(self.unexpected("a field such as size, `not` or `(`")),
        };
        let mut old_names = OLD_NAMES.iter();
        let old = old_names.find(|old| is_name(word, old.name));
        if let Some(entry) = Field::named(word) {
            self.at += 1;
            // A flag has no value, and bytehound's filters of that name have one.
            let is_flag = matches!(entry.field, Field::Flag(_));
            let has_value = self
                .peek()
                .is_some_and(|token| token.what == What::Compare(Op::Is));
            return match old.filter(|_| is_flag && has_value) {
                Some(old) => self.of_old_name(old),
                None => self.of_field(entry),
            };
        }
        if let Some(old) = old {
            self.at += 1;
            return self.of_old_name(old);
        }
        let plain = word.to_ascii_lowercase().replace('_', "-");
        let names = FIELDS.iter().map(|entry| entry.name);
        let problem = Problem::UnknownField {
            found: shown(word),
            nearest: nearest(&plain, names),
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
            Field::Ordered(field) => self.ordered(entry, field),
            Field::Contains => self.contains(entry),
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

    fn ordered(&mut self, entry: &FieldEntry, field: OrderedField) -> Result<Expr, Fault> {
        let op = self.operator("a comparison such as = or >=, or `in`")?;
        if matches!(op, Some(Op::Like | Op::Unlike)) {
            self.at -= 1;
            return Err(self.wrong_test(entry));
        }
        let test = match field {
            OrderedField::Size(field) => Test::Size {
                field,
                span: self.span(op, Self::value)?,
            },
            OrderedField::Count(field) => Test::Count {
                field,
                span: self.span(op, Self::value)?,
            },
            OrderedField::Length(field) => Test::Length {
                field,
                span: self.span(op, Self::value)?,
            },
            OrderedField::Moment(field) => Test::Moment {
                field,
                span: self.span(op, Self::moment)?,
            },
            OrderedField::Address => Test::Address(self.span(op, Self::value)?),
            OrderedField::GroupLeaked => Test::GroupLeaked(self.span(op, Self::value)?),
        };
        Ok(negated_if(op == Some(Op::IsNot), test))
    }

    fn contains(&mut self, entry: &FieldEntry) -> Result<Expr, Fault> {
        let op = self.operator("= or !=")?;
        if !matches!(op, Some(Op::Is | Op::IsNot)) {
            self.at -= 1;
            return Err(self.wrong_test(entry));
        }
        let test = Test::Contains(self.value()?);
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
        let mut rules = Vec::new();
        if !self.takes(&What::Close) {
            rules.push(self.rule()?);
            while self.takes(&What::Comma) {
                rules.push(self.rule()?);
            }
            if !self.takes(&What::Close) {
                return Err(self.unexpected("`,` or `)`"));
            }
        }
        Ok(Expr::Test(Test::FirstMatch(FirstMatch { rules })))
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
