//! The filters of bytehound's server and scripts, in today's words.
//!
//! They mean what they mean there, also where a word is used otherwise here: its
//! `only_temporary` is all that was released, and a bare moment is milliseconds
//! since 1970.

use crate::error::{Fault, ParseError, Problem, shown};
use crate::expr::Expr;
use crate::field::{
    CountField, Flag, LengthField, MomentField, OrderedField, SizeField, TextField,
};
use crate::literal::literal;
use crate::span::Span;
use crate::test::{MAX_TEXT, Matcher, Pattern, Patterns, Test};
use crate::value::Moment;

/// A name of bytehound's.
#[derive(Clone, Copy, Debug)]
pub struct OldName {
    /// As it stands in a query of its server.
    pub name: &'static str,
    /// The same in today's words; `V` is the value. Of some values one: what each of
    /// them stands for, in their order.
    pub now: &'static str,
    how: How,
}

/// What becomes of the value.
#[derive(Clone, Copy, Debug)]
enum How {
    AtLeast(OrderedField),
    AtMost(OrderedField),
    Only(CountField),
    Is(TextField),
    Like(TextField),
    Unlike(TextField),
    AliveAt,
    /// Of some words one: what each stands for, and all of them for a message.
    Choice(fn(&str) -> Option<Expr>, &'static str),
    /// It cannot be said, and why.
    Missing(&'static str),
}

const fn old(name: &'static str, now: &'static str, how: How) -> OldName {
    OldName { name, now, how }
}

const SIZE: OrderedField = OrderedField::Size(SizeField::Size);
const FIRST_SIZE: OrderedField = OrderedField::Size(SizeField::FirstSize);
const LAST_SIZE: OrderedField = OrderedField::Size(SizeField::LastSize);
const DEPTH: OrderedField = OrderedField::Count(CountField::Depth);
const GROUP_ALLOCATIONS: OrderedField = OrderedField::Count(CountField::GroupAllocations);
const CHAIN_LENGTH: OrderedField = OrderedField::Count(CountField::ChainLength);
const CHAIN_POSITION: OrderedField = OrderedField::Count(CountField::ChainPosition);
const LIFETIME: OrderedField = OrderedField::Length(LengthField::Lifetime);
const CHAIN_LIFETIME: OrderedField = OrderedField::Length(LengthField::ChainLifetime);
const GROUP_INTERVAL: OrderedField = OrderedField::Length(LengthField::GroupInterval);
const BORN: OrderedField = OrderedField::Moment(MomentField::Born);
const GROUP_PEAK: OrderedField = OrderedField::Moment(MomentField::GroupPeak);

/// All of them, in the order of bytehound's.
#[rustfmt::skip] // a table
pub const OLD_NAMES: [OldName; 49] = [
    old("from", "born >= V", How::AtLeast(BORN)),
    old("to", "born <= V", How::AtMost(BORN)),
    old("lifetime", "all; leaked; chain-leaked; not leaked; group-all-leaked", How::Choice(of_lifetime, "all, only_leaked, only_chain_leaked, only_temporary or only_whole_group_leaked")),
    old("address_min", "address >= V", How::AtLeast(OrderedField::Address)),
    old("address_max", "address <= V", How::AtMost(OrderedField::Address)),
    old("size_min", "size >= V", How::AtLeast(SIZE)),
    old("size_max", "size <= V", How::AtMost(SIZE)),
    old("first_size_min", "first-size >= V", How::AtLeast(FIRST_SIZE)),
    old("first_size_max", "first-size <= V", How::AtMost(FIRST_SIZE)),
    old("last_size_min", "last-size >= V", How::AtLeast(LAST_SIZE)),
    old("last_size_max", "last-size <= V", How::AtMost(LAST_SIZE)),
    old("lifetime_min", "lifetime >= V", How::AtLeast(LIFETIME)),
    old("lifetime_max", "lifetime <= V", How::AtMost(LIFETIME)),
    old("backtrace_depth_min", "depth >= V", How::AtLeast(DEPTH)),
    old("backtrace_depth_max", "depth <= V", How::AtMost(DEPTH)),
    old("backtraces", "stack = V", How::Only(CountField::Stack)),
    old("deallocation_backtraces", "freed-stack = V", How::Only(CountField::FreedStack)),
    old("mmaped", r#"mmapped; not mmapped and not kind ~ "^(_rjem|je)_""#, How::Choice(of_mmaped, "yes or no")),
    old("jemalloc", r#"kind ~ "^(_rjem|je)_"; not kind ~ "^(_rjem|je)_"; kind ~ "^(_rjem|je)_"; not kind ~ "^(_rjem|je)_""#, How::Choice(of_jemalloc, "yes, no, only_true or only_false")),
    old("arena", r#"main-arena; not main-arena and not kind ~ "^(_rjem|je)_""#, How::Choice(of_arena, "main or non_main")),
    old("function_regex", "function ~ V", How::Like(TextField::Function)),
    old("source_regex", "file ~ V", How::Like(TextField::File)),
    old("negative_function_regex", "not function ~ V", How::Unlike(TextField::Function)),
    old("negative_source_regex", "not file ~ V", How::Unlike(TextField::File)),
    old("marker", "last-mark = V", How::Is(TextField::LastMark)),
    old("group_interval_min", "group-interval >= V", How::AtLeast(GROUP_INTERVAL)),
    old("group_interval_max", "group-interval <= V", How::AtMost(GROUP_INTERVAL)),
    old("group_max_total_usage_first_seen_min", "group-peak >= V", How::AtLeast(GROUP_PEAK)),
    old("group_max_total_usage_first_seen_max", "group-peak <= V", How::AtMost(GROUP_PEAK)),
    old("group_leaked_allocations_min", "group-leaked >= V", How::AtLeast(OrderedField::GroupLeaked)),
    old("group_leaked_allocations_max", "group-leaked <= V", How::AtMost(OrderedField::GroupLeaked)),
    old("group_allocations_min", "group-allocations >= V", How::AtLeast(GROUP_ALLOCATIONS)),
    old("group_allocations_max", "group-allocations <= V", How::AtMost(GROUP_ALLOCATIONS)),
    old("chain_length_min", "chain-length >= V", How::AtLeast(CHAIN_LENGTH)),
    old("chain_length_max", "chain-length <= V", How::AtMost(CHAIN_LENGTH)),
    old("chain_lifetime_min", "chain-lifetime >= V", How::AtLeast(CHAIN_LIFETIME)),
    old("chain_lifetime_max", "chain-lifetime <= V", How::AtMost(CHAIN_LIFETIME)),
    old("position_in_chain_min", "chain-position >= V", How::AtLeast(CHAIN_POSITION)),
    old("position_in_chain_max", "chain-position <= V", How::AtMost(CHAIN_POSITION)),
    old("alive_at", "alive at V", How::AliveAt),
    old("alive_at_2", "alive at V", How::AliveAt),
    old("from_map", "map = V", How::Only(CountField::Map)),
    old("custom_filter", "", How::Missing("it is a script, and scripts are run by `memlog script`; most that such scripts ask can be said in this language")),
    // Those of maps that are not of blocks too.
    old("peak_rss_min", "", How::Missing(NO_PEAK_RSS)),
    old("peak_rss_max", "", How::Missing(NO_PEAK_RSS)),
    old("bytehound", "not all; all", How::Choice(of_own, "only_true or only_false")),
    old("readable", "readable; not readable", How::Choice(of_readable, "only_true or only_false")),
    old("writable", "writable; not writable", How::Choice(of_writable, "only_true or only_false")),
    old("executable", "executable; not executable", How::Choice(of_executable, "only_true or only_false")),
];

const NO_PEAK_RSS: &str =
    "filters do not ask what was resident of a mapping; `memlog rss` tells it";

/// A filter of bytehound's in today's words. The columns of an error are those of
/// the value.
pub fn from_old(name: &str, value: &str) -> Result<Expr, ParseError> {
    let known = OLD_NAMES.iter().find(|old| old.name == name);
    let expr = match known {
        _ if value.len() > MAX_TEXT => Err((1, Problem::TooLong(MAX_TEXT))),
        Some(old) => old.translated(value, 1, &mut Patterns::default()),
        None => {
            let name = shown(name);
            let reason = "bytehound has no filter of this name either";
            Err((1, Problem::NoSuchFilter { name, reason }))
        }
    };
    expr.map_err(|(column, problem)| ParseError::new(value, column, problem))
}

impl OldName {
    /// The same, of a value that stands at a column.
    pub(crate) fn translated(
        &self,
        value: &str,
        column: usize,
        patterns: &mut Patterns,
    ) -> Result<Expr, Fault> {
        let text = |field, matcher| Expr::Test(Test::Text { field, matcher });
        let mut pattern = || patterns.next(value, column).map(Matcher::Like);
        let test = match self.how {
            How::AtLeast(field) => compared(field, Side::AtLeast, value, column)?,
            How::AtMost(field) => compared(field, Side::AtMost, value, column)?,
            How::Only(field) => Test::Count {
                field,
                span: Span::only(literal(value, column)?),
            },
            How::Is(field) => return Ok(text(field, Matcher::Is(value.to_owned()))),
            How::Like(field) => return Ok(text(field, pattern()?)),
            How::Unlike(field) => return Ok(text(field, pattern()?).negated()),
            How::AliveAt => {
                let moment = moment(value, column, Side::AtLeast)?;
                Test::Alive {
                    from: moment.clone(),
                    to: moment,
                }
            }
            How::Choice(of, expected) => {
                let found = Some(shown(value));
                let problem = Problem::Unexpected { found, expected };
                return of(value).ok_or((column, problem));
            }
            How::Missing(reason) => {
                let name = self.name.to_owned();
                return Err((column, Problem::NoSuchFilter { name, reason }));
            }
        };
        Ok(Expr::Test(test))
    }
}

/// Which end of its values a filter gives.
#[derive(Clone, Copy)]
enum Side {
    AtLeast,
    AtMost,
}

impl Side {
    fn span<T>(self, end: T) -> Span<T> {
        match self {
            Self::AtLeast => Span::AtLeast(end),
            Self::AtMost => Span::AtMost(end),
        }
    }
}

fn compared(field: OrderedField, side: Side, value: &str, column: usize) -> Result<Test, Fault> {
    // Bytehound leaves out what is blank in a duration.
    let joined = value.replace(' ', "");
    Ok(match field {
        OrderedField::Size(field) => Test::Size {
            field,
            span: side.span(literal(value, column)?),
        },
        OrderedField::Count(field) => Test::Count {
            field,
            span: side.span(literal(value, column)?),
        },
        OrderedField::Length(field) => Test::Length {
            field,
            span: side.span(literal(&joined, column)?),
        },
        OrderedField::Moment(field) => Test::Moment {
            field,
            span: side.span(moment(value, column, side)?),
        },
        OrderedField::Address => Test::Address(side.span(literal(value, column)?)),
        OrderedField::GroupLeaked => Test::GroupLeaked(side.span(literal(value, column)?)),
    })
}

/// A bare number is milliseconds since 1970, the last of which counts whole.
fn moment(value: &str, column: usize, side: Side) -> Result<Moment, Fault> {
    const MS: u64 = 1_000_000;
    let Ok(milliseconds) = value.parse::<u64>() else {
        return literal(value, column);
    };
    let more = match side {
        Side::AtLeast => 0,
        Side::AtMost => MS - 1,
    };
    let ns = milliseconds
        .checked_mul(MS)
        .and_then(|ns| ns.checked_add(more));
    let ns = ns.ok_or_else(|| {
        (
            column,
            Problem::TooLarge {
                found: shown(value),
            },
        )
    })?;
    Ok(Moment::UnixNs(ns))
}

fn flag(flag: Flag) -> Expr {
    Expr::Test(Test::Flag(flag))
}

fn of_lifetime(word: &str) -> Option<Expr> {
    Some(match word {
        "all" => Expr::Test(Test::All),
        "only_leaked" => flag(Flag::Leaked),
        "only_chain_leaked" => flag(Flag::ChainLeaked),
        "only_temporary" => flag(Flag::Leaked).negated(),
        "only_whole_group_leaked" => flag(Flag::GroupAllLeaked),
        _ => return None,
    })
}

/// Whether it came from a function that bytehound's recorder takes for jemalloc's.
fn is_jemalloc() -> Expr {
    let text = Pattern::new("^(_rjem|je)_").map(Matcher::Like);
    let matcher = text.unwrap_or_else(Matcher::Is);
    Expr::Test(Test::Text {
        field: TextField::Kind,
        matcher,
    })
}

fn of_jemalloc(word: &str) -> Option<Expr> {
    match word {
        "yes" | "only_true" => Some(is_jemalloc()),
        "no" | "only_false" => Some(is_jemalloc().negated()),
        _ => None,
    }
}

fn only(is: Expr, word: &str) -> Option<Expr> {
    match word {
        "only_true" => Some(is),
        "only_false" => Some(is.negated()),
        _ => None,
    }
}

/// The recorder's own mappings are in no list here.
fn of_own(word: &str) -> Option<Expr> {
    let all = Expr::Test(Test::All);
    match word {
        "only_true" => Some(all.negated()),
        "only_false" => Some(all),
        _ => None,
    }
}

fn of_readable(word: &str) -> Option<Expr> {
    only(flag(Flag::Readable), word)
}

fn of_writable(word: &str) -> Option<Expr> {
    only(flag(Flag::Writable), word)
}

fn of_executable(word: &str) -> Option<Expr> {
    only(flag(Flag::Executable), word)
}

/// What glibc does is asked of glibc's blocks only.
fn of_mmaped(word: &str) -> Option<Expr> {
    match word {
        "yes" => Some(flag(Flag::Mmapped)),
        "no" => Some(glibc_without(Flag::Mmapped)),
        _ => None,
    }
}

fn of_arena(word: &str) -> Option<Expr> {
    match word {
        "main" => Some(flag(Flag::MainArena)),
        "non_main" => Some(glibc_without(Flag::MainArena)),
        _ => None,
    }
}

fn glibc_without(of: Flag) -> Expr {
    Expr::And(vec![flag(of).negated(), is_jemalloc().negated()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(name: &str, value: &str) -> String {
        match from_old(name, value) {
            Ok(expr) => expr.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn old_values_mean_what_they_meant() {
        for (name, value, text) in [
            ("from", "20%", "born >= 20%"),
            ("from", "1700000000123", "born >= unix 1700000000123ms"),
            ("to", "1700000000123", "born <= unix 1700000000123999999ns"),
            ("to", "4h3m2s", "born <= 14582s"),
            ("lifetime", "all", "all"),
            ("lifetime", "only_temporary", "not leaked"),
            ("lifetime", "only_whole_group_leaked", "group-all-leaked"),
            ("lifetime_min", "4h 3m 2s", "lifetime >= 14582s"),
            ("lifetime_max", "100us", "lifetime <= 100us"),
            ("address_max", "140000000000", "address <= 0x2098a67800"),
            ("size_min", "4096", "size >= 4KiB"),
            ("mmaped", "yes", "mmapped"),
            (
                "mmaped",
                "no",
                r#"not mmapped and not kind ~ "^(_rjem|je)_""#,
            ),
            (
                "arena",
                "non_main",
                r#"not main-arena and not kind ~ "^(_rjem|je)_""#,
            ),
            ("jemalloc", "yes", r#"kind ~ "^(_rjem|je)_""#),
            ("negative_source_regex", r"\.rs$", r#"not file ~ "\\.rs$""#),
            ("marker", "7", r#"last-mark = "7""#),
            ("group_interval_min", "20%", "group-interval >= 20%"),
            ("group_leaked_allocations_max", "50%", "group-leaked <= 50%"),
            ("group_leaked_allocations_min", "3", "group-leaked >= 3"),
            (
                "group_max_total_usage_first_seen_max",
                "30%",
                "group-peak <= 30%",
            ),
            ("position_in_chain_min", "1", "chain-position >= 1"),
            ("alive_at_2", "20%", "alive at 20%"),
            ("from_map", "3", "map = 3"),
            ("readable", "only_false", "not readable"),
            ("executable", "only_true", "executable"),
            ("bytehound", "only_false", "all"),
        ] {
            assert_eq!(now(name, value), text, "{name}={value}");
        }
    }

    #[test]
    fn every_name_has_a_value_that_it_takes() {
        for old in &OLD_NAMES {
            let values = ["1", "20%", "yes", "main", "all", "only_true"];
            let takes = values.iter().any(|value| from_old(old.name, value).is_ok());
            let is_missing = old.name == "custom_filter" || old.name.starts_with("peak_rss");
            assert_eq!(takes, !is_missing, "{}", old.name);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(
            now("size_min", "many"),
            "column 1: expected a size such as 4096, 64K or 1.5MiB, found `many`"
        );
        assert_eq!(
            now("arena", "yes"),
            "column 1: expected main or non_main, found `yes`"
        );
        assert!(
            now("custom_filter", "x")
                .starts_with("column 1: there is no `custom_filter`: it is a script")
        );
        assert!(now("colour", "x").starts_with("column 1: there is no `colour`: bytehound has no"));
        assert_eq!(
            now("to", "18446744073709551615"),
            "column 1: `18446744073709551615` is too large: it does not fit into 64 bits"
        );
    }
}
