//! Budgets in a TOML file:
//!
//! ```toml
//! max-peak = "2GiB"                    # of the whole program
//! max-leaked = 0
//! suppressions = "lsan.supp"
//!
//! [[budget]]
//! name = "parser"
//! where = 'function ~ "parse"'
//! max-peak = "64MiB"
//! ```
//!
//! What is wrong is told with its line and column, and with what was expected.

use std::fmt;
use std::ops::Range;

use memlog_export::clean;
use memlog_query::{Expr, parse};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::budget::{Budget, amount_of};
use crate::measure::{Amounts, Measure};

/// What is wrong with a file of budgets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// In a sentence.
    pub sentence: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let Self {
            line,
            column,
            sentence,
        } = self;
        write!(out, "line {line}, column {column}: {sentence}")
    }
}

/// The budgets of a file; that of the whole program first, if it limits that or knows of leaks.
pub fn budgets_of(text: &str) -> Result<Vec<Budget>, Wrong> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        wrong(text, at, &format!("this is no TOML: {}", error.message()))
    })?;
    let mut file = File {
        text,
        budgets: Vec::new(),
    };
    file.take(table.get_ref())?;
    let budgets = file.budgets;
    match budgets.iter().any(|budget| !budget.limits.is_empty()) {
        true => Ok(budgets),
        false => Err(wrong(text, 0, &format!("it has no budget: {EXAMPLE}"))),
    }
}

const EXAMPLE: &str = "max-peak = \"2GiB\" is one, and so is [[budget]] with a name and limits";

/// A place in it is told by line and column.
fn wrong(text: &str, at: usize, sentence: &str) -> Wrong {
    let before = text.get(..at).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    Wrong {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
        sentence: clean(sentence.as_bytes()),
    }
}

struct File<'t> {
    text: &'t str,
    budgets: Vec<Budget>,
}

impl File<'_> {
    fn wrong(&self, span: Range<usize>, sentence: &str) -> Wrong {
        wrong(self.text, span.start, sentence)
    }

    fn take(&mut self, table: &DeTable) -> Result<(), Wrong> {
        let mut whole = Budget::of_all(Amounts::default());
        let mut others = None;
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                "budget" => others = Some(value),
                _ if self.limit(&mut whole, key.get_ref(), value)? => {}
                "suppressions" => whole.suppressions = Some(self.string(value)?),
                name => {
                    let expected = "expected max-peak, max-leaked, max-rss, max-allocations, \
                        max-total, suppressions or [[budget]]";
                    let sentence = format!("nothing is called {name}: {expected}");
                    return Err(self.wrong(key.span(), &sentence));
                }
            }
        }
        let suppressions = whole.suppressions.clone();
        if !whole.limits.is_empty() || suppressions.is_some() {
            self.budgets.push(whole);
        }
        let Some(others) = others else {
            return Ok(());
        };
        let expected = "expected tables: [[budget]], each with a name and limits";
        let DeValue::Array(list) = others.get_ref() else {
            return Err(self.wrong(others.span(), expected));
        };
        for one in list.iter() {
            let DeValue::Table(table) = one.get_ref() else {
                return Err(self.wrong(one.span(), expected));
            };
            let budget = self.budget(one.span(), table, suppressions.as_deref())?;
            self.budgets.push(budget);
        }
        Ok(())
    }

    fn budget(
        &self,
        span: Range<usize>,
        table: &DeTable,
        suppressions: Option<&str>,
    ) -> Result<Budget, Wrong> {
        let mut budget = Budget {
            name: String::new(),
            suppressions: suppressions.map(str::to_owned),
            ..Budget::of_all(Amounts::default())
        };
        let mut rss = None;
        for (key, value) in table.iter() {
            match key.get_ref().as_ref() {
                "name" => budget.name = self.name(value)?,
                "where" => budget.filter = Some(self.filter(value)?),
                "suppressions" => budget.suppressions = Some(self.string(value)?),
                _ if self.limit(&mut budget, key.get_ref(), value)? => {
                    let is_it = key.get_ref().as_ref() == "max-rss";
                    rss = if is_it { Some(key.span()) } else { rss };
                }
                name => {
                    let expected = "expected name, where, max-peak, max-leaked, max-rss, \
                        max-allocations, max-total or suppressions";
                    let sentence = format!("a budget has no {name}: {expected}");
                    return Err(self.wrong(key.span(), &sentence));
                }
            }
        }
        if budget.name.is_empty() {
            return Err(self.wrong(span, "this budget lacks its name: name = \"parser\""));
        }
        if budget.limits.is_empty() {
            let sentence = format!(
                "the budget {} has no limit: max-peak = \"64MiB\"",
                budget.name
            );
            return Err(self.wrong(span, &sentence));
        }
        match rss.filter(|_| budget.filter.is_some()) {
            Some(span) => Err(self.wrong(
                span,
                "max-rss is of the whole process, and this budget is of the blocks that where \
                 chooses: give it to a budget without where",
            )),
            None => Ok(budget),
        }
    }

    /// Whether a key is a limit, which is taken then.
    fn limit(
        &self,
        budget: &mut Budget,
        key: &str,
        value: &Spanned<DeValue>,
    ) -> Result<bool, Wrong> {
        let Some(measure) = key.strip_prefix("max-").and_then(Measure::of) else {
            return Ok(false);
        };
        let amount = match value.get_ref() {
            DeValue::String(text) => amount_of(measure, text),
            DeValue::Integer(number) => {
                let digits = number.as_str().replace('_', "");
                u64::from_str_radix(&digits, number.radix())
                    .map_err(|_| "a number from 0 to 2^64 - 1 is expected")
            }
            _ if measure.is_bytes() => {
                Err("a number of bytes, or a text as \"64MiB\", is expected")
            }
            _ => Err("a number, or a text as \"1e6\", is expected"),
        };
        let amount =
            amount.map_err(|expected| self.wrong(value.span(), &format!("{key}: {expected}")))?;
        budget.limits.set(measure, Some(amount));
        Ok(true)
    }

    fn string(&self, value: &Spanned<DeValue>) -> Result<String, Wrong> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err(self.wrong(value.span(), "a text in quotes is expected")),
        }
    }

    fn name(&self, value: &Spanned<DeValue>) -> Result<String, Wrong> {
        let name = clean(self.string(value)?.as_bytes());
        let is_there = self.budgets.iter().any(|other| other.name == name);
        let is_taken = [Budget::ALL, Budget::CHOSEN].contains(&name.as_str());
        match (name.is_empty(), is_there || is_taken) {
            (true, _) => Err(self.wrong(value.span(), "the name of a budget is empty")),
            (_, true) => Err(self.wrong(
                value.span(),
                &format!("the name {name} is another budget's: each has its own"),
            )),
            _ => Ok(name),
        }
    }

    /// What is wrong in a filter is told at its place in the file, where the text stands
    /// there as it is.
    fn filter(&self, value: &Spanned<DeValue>) -> Result<Expr, Wrong> {
        let filter = self.string(value)?;
        parse(&filter).map_err(|error| {
            let span = value.span();
            let within = self.text.get(span.clone()).unwrap_or_default();
            let at = within.find(&filter).map_or(span.start, |quote| {
                let column = error.column().saturating_sub(1);
                let bytes = filter.char_indices().nth(column);
                span.start + quote + bytes.map_or(filter.len(), |(at, _)| at)
            });
            wrong(self.text, at, &format!("where: {error}"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_read() {
        let budgets = budgets_of(
            "max-peak = \"2GiB\"\nmax-leaked = 0\nmax-rss = 3_000\nsuppressions = \"x.supp\"\n\
             [[budget]]\nname = \"parser\"\nwhere = 'function ~ \"parse\"'\nmax-allocations = \"1e6\"\n\
             [[budget]]\nname = \"run\"\nmax-rss = 0x10\nsuppressions = \"y\"\n",
        )
        .expect("budgets");
        let told: Vec<_> = budgets
            .iter()
            .map(|budget| {
                let limits: Vec<_> = budget.limits.iter().collect();
                (budget.name.as_str(), budget.filter_text(), limits)
            })
            .collect();
        assert_eq!(
            told,
            [
                (
                    "all",
                    None,
                    vec![
                        (Measure::Peak, 2 << 30),
                        (Measure::Leaked, 0),
                        (Measure::Rss, 3000)
                    ]
                ),
                (
                    "parser",
                    Some("function ~ \"parse\"".to_owned()),
                    vec![(Measure::Allocations, 1_000_000)]
                ),
                ("run", None, vec![(Measure::Rss, 16)]),
            ]
        );
        let suppressions = budgets.iter().map(|budget| budget.suppressions.as_deref());
        let suppressions: Vec<_> = suppressions.collect();
        assert_eq!(suppressions, [Some("x.supp"), Some("x.supp"), Some("y")]);
    }

    /// What is known of leaks is of the whole program too where only a baseline limits that.
    #[test]
    fn suppressions_are_of_the_whole_program() {
        let text = "suppressions = \"x\"\n[[budget]]\nname = \"p\"\nmax-peak = 1\n";
        let budgets = budgets_of(text).expect("budgets");
        let told = budgets
            .iter()
            .map(|one| (one.name.as_str(), one.suppressions.as_deref()));
        let told: Vec<_> = told.collect();
        assert_eq!(told, [("all", Some("x")), ("p", Some("x"))]);
        assert!(budgets[0].limits.is_empty());
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        for (text, line, column, told) in [
            ("", 1, 1, "it has no budget"),
            ("suppressions = \"x\"", 1, 1, "it has no budget"),
            ("# x\nmax-peek = 1", 2, 1, "nothing is called max-peek"),
            (
                "\nmax-peak = \"2 apples\"",
                2,
                12,
                "max-peak: a size such as",
            ),
            ("max-peak = -1", 1, 12, "a number from 0"),
            ("max-peak = 1.5", 1, 12, "a number of bytes, or a text"),
            ("max-allocations = \"2GiB\"", 1, 19, "a number such as"),
            ("max-peak = 1\nmax-peak = 2", 2, 1, "no TOML"),
            ("max-peak = ", 1, 12, "no TOML"),
            ("budget = 3", 1, 10, "expected tables"),
            ("[[budget]]\nmax-peak = 1", 1, 1, "lacks its name"),
            ("[[budget]]\nname = \"x\"", 1, 1, "has no limit"),
            (
                "[[budget]]\nname = 1\nmax-peak = 1",
                2,
                8,
                "a text in quotes",
            ),
            (
                "[[budget]]\nname = \"all\"\nmax-peak = 1",
                2,
                8,
                "another budget's",
            ),
            (
                "[[budget]]\nnam = \"x\"",
                2,
                1,
                "a budget has no nam: expected name",
            ),
            (
                "[[budget]]\nname = \"x\"\nmax-peak = 1\nwhere = 'size > 1 andd leaked'",
                4,
                19,
                "where: ",
            ),
            (
                "[[budget]]\nname = \"x\"\nwhere = 'leaked'\nmax-rss = 1",
                4,
                1,
                "of the whole process",
            ),
            (
                "[[budget]]\nname=\"x\"\nmax-peak=1\n[[budget]]\nname=\"x\"\nmax-peak=1",
                5,
                6,
                "another budget's",
            ),
        ] {
            let wrong = budgets_of(text).expect_err(text);
            assert_eq!(
                (wrong.line, wrong.column),
                (line, column),
                "{text}: {wrong}"
            );
            assert!(wrong.sentence.contains(told), "{text}: {wrong}");
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let whole = "max-peak = \"2GiB\"\n[[budget]]\nname = \"\u{e9}\"\nwhere = 'size > 1'\n";
        for (at, _) in whole.char_indices() {
            let _ = budgets_of(&whole[..at]);
            let _ = budgets_of(&format!("{}\u{1b}{}", &whole[..at], &whole[at..]));
        }
        let wrong = budgets_of("\u{1b}[31m = 1").expect_err("a name of control characters");
        assert!(!wrong.sentence.contains('\u{1b}'), "{wrong}");
    }
}
