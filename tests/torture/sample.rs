//! Some programs, others each time, for what takes too long with all of them: those that are
//! counted, and that take no long time by themselves.

use std::path::PathBuf;
use std::time::Duration;

use super::case::{self, Case};
use super::common::tools::{Random, is_long};
use super::judge;
use super::run::{self, RunOutput};

/// So many programs of an ordinary run.
const FEW: usize = 10;
/// Those that take longer by themselves are for the long runs.
const SHORT: Duration = Duration::from_millis(400);

/// A program, and what it does without memlog.
pub struct Native {
    /// What it is.
    pub case: Case,
    /// Where it was built.
    pub program: PathBuf,
    /// Its run.
    pub output: RunOutput,
    /// No run of it may take longer.
    pub most: Duration,
}

/// Some that `is_wanted`, or all in a long run; or the one of `MEMLOG_TORTURE`.
pub fn sample(
    random: &mut Random,
    is_wanted: fn(&Case) -> bool,
) -> impl Iterator<Item = Native> + use<> {
    let only = std::env::var("MEMLOG_TORTURE").ok();
    let mut cases = case::all();
    cases.retain(|case| {
        case.is_counted && is_wanted(case) && only.as_ref().is_none_or(|only| *only == case.name)
    });
    for place in (1..cases.len()).rev() {
        cases.swap(place, random.below(place as u64 + 1) as usize);
    }
    let count = if is_long() { cases.len() } else { FEW };
    cases.into_iter().filter_map(native).take(count)
}

fn native(case: Case) -> Option<Native> {
    let program = case.program()?;
    let output = run::native(&case, &program);
    let is_fine = judge::alone(&output).is_empty() && output.code != Some(77);
    let most = Duration::from_secs(5).max(output.took * 10);
    (is_fine && (output.took <= SHORT || is_long())).then_some(Native {
        case,
        program,
        output,
        most,
    })
}
