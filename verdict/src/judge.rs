//! Runs against limits, and against what earlier runs had.

use crate::baseline::{Baseline, Had};
use crate::budget::Budget;
use crate::compare::{Compared, Outcome, compare};
use crate::measure::{Amounts, Measure};
use crate::report::{Against, State, Verdict};

/// What was measured in a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Of each budget, in their order.
    pub figures: Vec<Amounts>,
    /// Why it may have been more.
    pub gaps: Gaps,
    /// Of each budget, if its filter chose nothing, what is wrong with the names.
    pub without_names: Vec<Option<String>>,
}

/// Why figures of a run may be too low, in sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Of all that is counted by events.
    pub events: Option<String>,
    /// Of chosen blocks only.
    pub chosen: Option<String>,
    /// Of resident memory.
    pub rss: Option<String>,
}

impl Gaps {
    /// Of a measure of a budget.
    fn of(&self, measure: Measure, is_chosen: bool) -> Option<&String> {
        match measure.is_of_process() {
            true => self.rss.as_ref(),
            false => {
                let chosen = self.chosen.as_ref().filter(|_| is_chosen);
                self.events.as_ref().or(chosen)
            }
        }
    }

    /// Those that matter to any of these.
    pub fn of_verdicts(&self, verdicts: &[Verdict]) -> Vec<&String> {
        let gaps = verdicts
            .iter()
            .filter_map(|one| self.of(one.measure, one.filter.is_some()));
        let mut gaps: Vec<&String> = gaps.collect();
        gaps.sort_unstable();
        gaps.dedup();
        gaps
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &String> {
        [&self.events, &self.chosen, &self.rss]
            .into_iter()
            .flatten()
    }
}

/// What runs are judged by.
#[derive(Clone, Copy)]
pub struct Rule<'a> {
    /// Limits.
    pub budgets: &'a [Budget],
    /// What earlier runs had, how much more in percent is no growth, and the measures that
    /// are compared.
    pub baseline: Option<(&'a Baseline, f64, &'a [Measure])>,
    /// Whether a limit counts as held where events are missing.
    pub allows_gaps: bool,
}

/// The verdicts on a program's runs, of which there is at least one, and what is to be said
/// besides. Budgets have a name each.
pub fn judge(rule: &Rule, runs: &[Measured]) -> (Vec<Verdict>, Vec<String>) {
    let mut verdicts = limited(rule, runs);
    let Some(had) = rule.baseline else {
        return (verdicts, Vec::new());
    };
    verdicts.extend(compared(rule, had, runs));
    let is_gone = |had: &&Had| rule.budgets.iter().all(|budget| budget.name != had.name);
    let gone = had.0.budgets.iter().filter(is_gone);
    let notes = gone.map(|had| format!("the baseline has a budget {}, which is gone", had.name));
    (verdicts, notes.collect())
}

/// Against the limits.
fn limited(rule: &Rule, runs: &[Measured]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (place, budget) in rule.budgets.iter().enumerate() {
        for (measure, limit) in budget.limits.iter() {
            let runs = Runs::of(runs, (place, budget), measure);
            let over = runs.worst().is_some_and(|worst| worst > limit);
            let state = match over {
                true => State::Broken,
                false => runs.proven(rule),
            };
            verdicts.push(runs.verdict(Against::Limit(limit), state));
        }
    }
    verdicts
}

/// Against what earlier runs had. What cannot be compared has not stayed as it was, as far as
/// is known: nobody would see the growth.
fn compared(
    rule: &Rule,
    (baseline, tolerance, measures): (&Baseline, f64, &[Measure]),
    runs: &[Measured],
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (place, budget) in rule.budgets.iter().enumerate() {
        let is_chosen = budget.filter.is_some();
        let measures = measures.iter().copied();
        for measure in measures.filter(|one| !(is_chosen && one.is_of_process())) {
            let runs = Runs::of(runs, (place, budget), measure);
            let known: Option<Vec<u64>> = runs.amounts.iter().copied().collect();
            verdicts.push(match (base(baseline, budget, measure), known) {
                (Err(why), _) => runs.verdict(Against::Unknown, State::Unproven(why)),
                (_, None) => runs.verdict(Against::Unknown, runs.proven(rule)),
                (Ok(base), Some(new)) => {
                    runs.compared(rule, compare(measure, base, &new, tolerance))
                }
            });
        }
    }
    verdicts
}

/// What the runs of the baseline had of the same blocks, or why nobody knows.
fn base<'b>(
    baseline: &'b Baseline,
    budget: &Budget,
    measure: Measure,
) -> Result<&'b [u64], String> {
    let name = &budget.name;
    let had = baseline.of(name);
    let had = had.ok_or_else(|| {
        format!("the baseline has no budget {name}: write it anew with --write-baseline")
    })?;
    if had.filter != budget.filter {
        return Err(format!(
            "the budget {name} is of other blocks than in the baseline: write that anew with \
             --write-baseline"
        ));
    }
    had.of(measure).ok_or_else(|| {
        "the baseline lacks it: write it anew with --write-baseline, or leave it out of --compare"
            .to_owned()
    })
}

/// A measure of a budget in all runs.
struct Runs<'a> {
    budget: &'a Budget,
    place: usize,
    measure: Measure,
    amounts: Vec<Option<u64>>,
    gap: Option<&'a String>,
}

impl<'a> Runs<'a> {
    fn of(runs: &'a [Measured], (place, budget): (usize, &'a Budget), measure: Measure) -> Self {
        let amounts = runs.iter().map(|run| {
            let figures = run.figures.get(place);
            figures.and_then(|figures| figures.get(measure))
        });
        let is_chosen = budget.filter.is_some();
        let mut gaps = runs.iter().map(|run| {
            let without_names = run.without_names.get(place);
            let gap = run.gaps.of(measure, is_chosen);
            gap.or(without_names.and_then(Option::as_ref))
        });
        Self {
            budget,
            place,
            measure,
            amounts: amounts.collect(),
            gap: gaps.find_map(|gap| gap),
        }
    }

    fn worst(&self) -> Option<u64> {
        self.amounts.iter().copied().max().flatten()
    }

    /// It is within its limit, as far as is known.
    fn proven(&self, rule: &Rule) -> State {
        let is_known = self.amounts.iter().all(Option::is_some);
        match (is_known, self.gap) {
            (false, _) => State::Unproven("the log does not tell it".into()),
            (true, Some(gap)) if !rule.allows_gaps => State::Unproven(gap.clone()),
            _ => State::Held,
        }
    }

    /// That nothing is decided may be for want of events, too.
    fn compared(&self, rule: &Rule, compared: Compared) -> Verdict {
        let undecided = |why| match self.proven(rule) {
            State::Held => State::Undecided(why),
            unproven => unproven,
        };
        let state = match compared.outcome {
            Outcome::Grew | Outcome::GrewBeyondNoise(_) => State::Broken,
            Outcome::Within => self.proven(rule),
            Outcome::Noise(_) => undecided("the runs overlap as noise does".into()),
            Outcome::TooFew(enough) => undecided(format!(
                "so few runs cannot tell growth from noise, {enough} on both sides can: \
                 --repeat {enough}"
            )),
        };
        self.verdict(Against::Baseline(compared), state)
    }

    fn verdict(&self, against: Against, state: State) -> Verdict {
        let worst = self.worst();
        let run = self.amounts.iter().position(|amount| *amount == worst);
        Verdict {
            budget: self.budget.name.clone(),
            place: self.place,
            filter: self.budget.filter_text(),
            measure: self.measure,
            against,
            runs: self.amounts.clone(),
            worst: run.unwrap_or(0),
            state,
            places: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
