//! By what groups are made, and how many are shown.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use memlog_answers::{By, DIFF_BY};

use crate::page::rows::Rest;
use crate::words::grouped;

/// What a command that lists groups of stacks is asked.
#[derive(clap::Args)]
pub struct Listed {
    /// What blocks are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_parser = by_stacks())]
    pub by: By,
    /// How many groups are shown; 0: all. JSON has all
    #[arg(short = 'n', long, value_name = "N", default_value = "20")]
    top: usize,
}

impl Listed {
    /// How many of so many are shown.
    pub fn shown(&self, all: usize) -> usize {
        shown(self.top, all)
    }

    /// What is said of the others.
    pub fn rest(&self, all: usize) -> Option<Rest> {
        rest(self.top, all)
    }
}

/// How many rows of so many are shown, if that is to be so many; 0: all.
pub fn shown(top: usize, all: usize) -> usize {
    match top {
        0 => all,
        most => all.min(most),
    }
}

/// What is said of the others.
pub fn rest(top: usize, all: usize) -> Option<Rest> {
    let more = all - shown(top, all);
    (more > 0).then(|| format!("{} more; --top 0 shows all", grouped(more as u64)).into())
}

/// Each of them by its word.
pub fn by_any() -> impl TypedValueParser<Value = By> {
    of_words(|_| true)
}

fn by_stacks() -> impl TypedValueParser<Value = By> {
    of_words(By::is_of_askers)
}

/// What those can be put together by that have a stack, a thread and a function.
pub fn by_callers() -> impl TypedValueParser<Value = By> {
    of_words(|by| by != By::Type && by.is_of_askers() || matches!(by, By::Thread | By::Kind))
}

/// What two logs can be compared by.
pub fn by_both() -> impl TypedValueParser<Value = By> {
    of_words(|by| DIFF_BY.contains(&by))
}

/// What ranks can be compared by: threads are called by their numbers.
pub fn by_ranks() -> impl TypedValueParser<Value = By> {
    of_words(|by| by != By::Thread && DIFF_BY.contains(&by))
}

fn of_words(is_there: fn(By) -> bool) -> impl TypedValueParser<Value = By> {
    let words = By::ALL.into_iter().filter(|(_, by)| is_there(*by));
    let words = PossibleValuesParser::new(words.map(|(word, _)| word));
    words.try_map(|word| By::of(&word).ok_or("there is no such word"))
}
