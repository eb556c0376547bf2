//! The words for each part of a filter.

use memlog_answers::Of;
use memlog_query::{
    Amount, CountField, Expr, Flag, Length, Matcher, Moment, MomentField, OrderedField, Share,
    Span, Test, TextField, from_old,
};

use super::quoted;
use crate::tables::{
    Compared, OF_BLOCKS, OF_BOTH, PATTERNS, PLAIN_OF_BLOCKS, PLAIN_OF_BOTH, PLAIN_OF_MAPS, Side,
};
use crate::time::Duration;

/// What calls choose the same, if there are any.
pub(super) fn calls(part: &Expr, of: Of) -> Option<Vec<String>> {
    if *part == Expr::Test(Test::All) {
        return Some(Vec::new());
    }
    if let Some(word) = plain(part, of) {
        return Some(vec![format!("{word}()")]);
    }
    match part {
        Expr::Test(test) => of_test(test, of),
        Expr::Not(inner) => match &**inner {
            Expr::Test(test) => of_negated(test),
            _ => None,
        },
        Expr::Or(parts) => of_any(parts),
        Expr::And(_) => None,
    }
}

/// A word without a value that is the same filter.
fn plain(part: &Expr, of: Of) -> Option<&'static str> {
    let own: &[_] = match of {
        Of::Blocks => &PLAIN_OF_BLOCKS,
        Of::Mappings => &PLAIN_OF_MAPS,
    };
    let all = PLAIN_OF_BOTH.iter().chain(own);
    // What is all is no call.
    let mut fitting = all.filter(|(word, old, value)| {
        *word != "only_bytehound" && from_old(old, value).is_ok_and(|filter| filter == *part)
    });
    fitting.next().map(|(word, ..)| *word)
}

fn of_test(test: &Test, of: Of) -> Option<Vec<String>> {
    match test {
        Test::Size { field, span } => {
            let number = |bytes: &memlog_query::Bytes| Some(bytes.0);
            compared(of, OrderedField::Size(*field), &whole(span, number)?, |n| {
                integer(*n)
            })
        }
        Test::Address(span) => {
            let number = |address: &memlog_query::Address| Some(address.0);
            compared(of, OrderedField::Address, &whole(span, number)?, |n| {
                integer(*n)
            })
        }
        Test::Count { field, span } => of_count(*field, span, of),
        Test::Length { field, span } => {
            compared(of, OrderedField::Length(*field), span, |length| {
                Some(match length {
                    Length::Ns(ns) => Duration { ns: *ns }.code(),
                    Length::Share(share) => of_run(*share),
                })
            })
        }
        Test::Moment { field, span } => compared(of, OrderedField::Moment(*field), span, moment),
        Test::GroupLeaked(span) => {
            compared(of, OrderedField::GroupLeaked, span, |amount| match amount {
                Amount::Count(count) => integer(*count),
                Amount::Share(share) => Some(part(*share)),
            })
        }
        Test::Alive { from, to } if from == to => {
            Some(vec![format!("only_alive_at([{}])", moment(from)?)])
        }
        Test::Text { field, matcher } => of_text(*field, matcher, false),
        _ => None,
    }
}

fn of_negated(test: &Test) -> Option<Vec<String>> {
    match test {
        Test::Text { field, matcher } => of_text(*field, matcher, true),
        Test::Count { field, span } => {
            let word = match field {
                CountField::Stack => "only_not_matching_backtraces",
                CountField::FreedStack => "only_not_matching_deallocation_backtraces",
                _ => return None,
            };
            Some(vec![format!("{word}([{}])", single(span)?)])
        }
        _ => None,
    }
}

fn of_any(parts: &[Expr]) -> Option<Vec<String>> {
    // That one of several stacks asked, or released.
    let number = |part: &Expr, wanted: CountField| match part {
        Expr::Test(Test::Count { field, span }) if *field == wanted => single(span),
        _ => None,
    };
    for (field, word) in [
        (CountField::Stack, "only_matching_backtraces"),
        (
            CountField::FreedStack,
            "only_matching_deallocation_backtraces",
        ),
        (CountField::Map, "only_from_maps"),
    ] {
        let numbers: Option<Vec<String>> = parts.iter().map(|part| number(part, field)).collect();
        if let Some(numbers) = numbers {
            return Some(vec![format!("{word}([{}])", numbers.join(", "))]);
        }
    }
    match parts {
        [
            Expr::Test(Test::Flag(Flag::Leaked)),
            Expr::Test(Test::Moment {
                field: MomentField::Died,
                span: Span::MoreThan(after),
            }),
        ] => Some(vec![format!(
            "only_leaked_or_deallocated_after({})",
            moment(after)?
        )]),
        _ => None,
    }
}

fn of_text(field: TextField, matcher: &Matcher, is_not: bool) -> Option<Vec<String>> {
    let old = match (field, is_not) {
        (TextField::Function, false) => "function_regex",
        (TextField::Function, true) => "negative_function_regex",
        (TextField::File, false) => "source_regex",
        (TextField::File, true) => "negative_source_regex",
        (TextField::LastMark, false) => {
            let Matcher::Is(name) = matcher else {
                return None;
            };
            return Some(vec![format!("only_with_marker({})", quoted(name))]);
        }
        _ => return None,
    };
    let Matcher::Like(pattern) = matcher else {
        return None;
    };
    let (word, _) = PATTERNS.iter().find(|(_, of)| *of == old)?;
    Some(vec![format!("{word}({})", quoted(pattern.as_str()))])
}

fn of_count(field: CountField, span: &Span<u64>, of: Of) -> Option<Vec<String>> {
    let word = match field {
        CountField::Stack => "only_matching_backtraces",
        CountField::FreedStack => "only_matching_deallocation_backtraces",
        CountField::Map if of == Of::Blocks => "only_from_maps",
        _ => {
            let span = whole(span, |count| Some(*count))?;
            return compared(of, OrderedField::Count(field), &span, |n| integer(*n));
        }
    };
    Some(vec![format!("{word}([{}])", single(span)?)])
}

/// One number, of a span that has no other.
fn single(span: &Span<u64>) -> Option<String> {
    match span {
        Span::Between(first, last) if first == last => integer(*first),
        _ => None,
    }
}

/// Of whole numbers more than 4 is at least 5.
fn whole<T>(span: &Span<T>, of: impl Fn(&T) -> Option<u64>) -> Option<Span<u64>> {
    Some(match span {
        Span::AtLeast(end) => Span::AtLeast(of(end)?),
        Span::MoreThan(end) => Span::MoreThan(of(end)?),
        Span::AtMost(end) => Span::AtMost(of(end)?),
        Span::LessThan(end) => Span::LessThan(of(end)?),
        Span::Between(first, last) => Span::Between(of(first)?, of(last)?),
    })
}

/// The calls of a comparison.
fn compared<T: Clone + Next>(
    of: Of,
    field: OrderedField,
    span: &Span<T>,
    told: impl Fn(&T) -> Option<String>,
) -> Option<Vec<String>> {
    let own: &[Compared] = match of {
        Of::Blocks => &OF_BLOCKS,
        Of::Mappings => &[],
    };
    let call = |side: Side, end: &T| {
        let mut all = OF_BOTH.iter().chain(own);
        let known = all.find(|(_, known, on)| *known == field && *on == side);
        match (known, side) {
            (Some((word, ..)), _) => Some(format!("{word}({})", told(end)?)),
            _ => None,
        }
    };
    let one = |call: Option<String>| call.map(|call| vec![call]);
    match span {
        Span::AtLeast(end) => one(call(Side::AtLeast, end)),
        Span::AtMost(end) => one(call(Side::AtMost, end)),
        Span::MoreThan(end) => {
            one(call(Side::MoreThan, end).or_else(|| call(Side::AtLeast, &end.next()?)))
        }
        Span::LessThan(end) => {
            one(call(Side::LessThan, end).or_else(|| call(Side::AtMost, &end.before()?)))
        }
        Span::Between(first, last) => {
            Some(vec![call(Side::AtLeast, first)?, call(Side::AtMost, last)?])
        }
    }
}

/// What has neighbours.
trait Next: Sized {
    fn next(&self) -> Option<Self> {
        None
    }

    fn before(&self) -> Option<Self> {
        None
    }
}

impl Next for u64 {
    fn next(&self) -> Option<Self> {
        self.checked_add(1)
    }

    fn before(&self) -> Option<Self> {
        self.checked_sub(1)
    }
}

impl Next for Length {}
impl Next for Moment {}
impl Next for Amount {}

/// Scripts have no larger numbers.
fn integer(number: u64) -> Option<String> {
    i64::try_from(number).ok().map(|number| number.to_string())
}

fn moment(moment: &Moment) -> Option<String> {
    match moment {
        Moment::SinceStartNs(ns) => Some(Duration { ns: *ns }.code()),
        Moment::Share(share) => Some(of_run(*share)),
        _ => None,
    }
}

fn of_run(share: Share) -> String {
    format!("data().runtime() * {}", part(share))
}

/// A part of a whole, which is no whole number even if it is all.
fn part(share: Share) -> String {
    format!("{:?}", share.per_billion() as f64 / 1e9)
}
