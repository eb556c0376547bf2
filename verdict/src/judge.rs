//! Runs against limits, and against what earlier runs had.

use crate::baseline::{Baseline, Had};
use crate::budget::Budget;
use crate::compare::{Outcome, compare};
use crate::measure::{Amounts, Measure};
use crate::report::{Against, State, Verdict};

/// What was measured in a run.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Of each budget, in their order.
    pub figures: Vec<Amounts>,
    /// Why it may have been more.
    pub gaps: Gaps,
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
/// besides.
pub fn judge(rule: &Rule, runs: &[Measured]) -> (Vec<Verdict>, Vec<String>) {
    let (mut verdicts, mut notes) = (Vec::new(), Vec::new());
    for (place, budget) in rule.budgets.iter().enumerate() {
        let of = |measure| Runs::of(runs, (place, budget), measure);
        for (measure, limit) in budget.limits.iter() {
            let runs = of(measure);
            let over = runs.worst().is_some_and(|worst| worst > limit);
            let state = match over {
                true => State::Broken,
                false => runs.proven(rule),
            };
            verdicts.push(runs.verdict(Against::Limit(limit), state));
        }
    }
    let Some((baseline, tolerance, measures)) = rule.baseline else {
        return (verdicts, notes);
    };
    let mut met: Vec<&str> = Vec::new();
    for (place, budget) in rule.budgets.iter().enumerate() {
        // Two of the same name have the same figures.
        if met.contains(&budget.name.as_str()) {
            continue;
        }
        met.push(&budget.name);
        let Some(had) = same(baseline, budget, &mut notes) else {
            continue;
        };
        let is_chosen = budget.filter.is_some();
        let measures = measures.iter().copied();
        for measure in measures.filter(|one| !(is_chosen && one.is_of_process())) {
            let runs = Runs::of(runs, (place, budget), measure);
            let known: Option<Vec<u64>> = runs.amounts.iter().copied().collect();
            let (Some(base), Some(new)) = (had.of(measure), known) else {
                continue;
            };
            let compared = compare(measure, base, &new, tolerance);
            let state = match compared.outcome {
                Outcome::Grew | Outcome::GrewBeyondNoise(_) => State::Broken,
                Outcome::Within => runs.proven(rule),
                Outcome::Noise(_) => State::Undecided("the runs overlap as noise does".into()),
                Outcome::TooFew(enough) => State::Undecided(format!(
                    "so few runs cannot tell growth from noise, {enough} on both sides can: \
                     --repeat {enough}"
                )),
            };
            verdicts.push(runs.verdict(Against::Baseline(compared), state));
        }
    }
    let is_gone = |had: &&Had| !met.contains(&had.name.as_str());
    let gone = baseline.budgets.iter().filter(is_gone);
    notes.extend(gone.map(|had| format!("the baseline has a budget {}, which is gone", had.name)));
    (verdicts, notes)
}

/// What the baseline has of a budget, if it is of the same blocks.
fn same<'b>(baseline: &'b Baseline, budget: &Budget, notes: &mut Vec<String>) -> Option<&'b Had> {
    let name = &budget.name;
    let Some(had) = baseline.of(name) else {
        notes.push(format!(
            "the baseline has no budget {name}: it is not compared"
        ));
        return None;
    };
    let is_same = had.filter == budget.filter_text();
    if !is_same {
        notes.push(format!(
            "the budget {name} is of other blocks than in the baseline: it is not compared"
        ));
    }
    Some(had).filter(|_| is_same)
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
        let mut gaps = runs.iter().map(|run| run.gaps.of(measure, is_chosen));
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
mod tests {
    use super::*;

    fn amounts(of: &[(Measure, u64)]) -> Amounts {
        let mut amounts = Amounts::default();
        for (measure, amount) in of {
            amounts.set(*measure, Some(*amount));
        }
        amounts
    }

    fn run(of: &[(Measure, u64)]) -> Measured {
        Measured {
            figures: vec![amounts(of)],
            gaps: Gaps::default(),
        }
    }

    fn rule(budgets: &[Budget]) -> Rule<'_> {
        Rule {
            budgets,
            baseline: None,
            allows_gaps: false,
        }
    }

    #[test]
    fn a_limit_is_kept_by_each_run() {
        let budgets = [Budget::of_all(amounts(&[(Measure::Peak, 100)]))];
        let states = |peaks: &[u64]| {
            let runs: Vec<_> = peaks
                .iter()
                .map(|&peak| run(&[(Measure::Peak, peak)]))
                .collect();
            let (verdicts, _) = judge(&rule(&budgets), &runs);
            let [verdict] = &verdicts[..] else {
                panic!("{verdicts:?}")
            };
            (verdict.state.clone(), verdict.measured(), verdict.worst)
        };
        assert_eq!(states(&[100]), (State::Held, Some(100), 0));
        assert_eq!(states(&[101]), (State::Broken, Some(101), 0));
        assert_eq!(states(&[1, 101, 100]), (State::Broken, Some(101), 1));
    }

    #[test]
    fn a_limit_that_only_gaps_keep_is_not_held() {
        let limits = amounts(&[(Measure::Peak, 100), (Measure::Rss, 100)]);
        let budgets = [Budget::of_all(limits)];
        let figures = |peak| vec![amounts(&[(Measure::Peak, peak), (Measure::Rss, 50)])];
        let gaps = Gaps {
            events: Some("3 events were lost".into()),
            ..Gaps::default()
        };
        let states = |peak, allows_gaps| {
            let rule = Rule {
                allows_gaps,
                ..rule(&budgets)
            };
            let run = Measured {
                figures: figures(peak),
                gaps: gaps.clone(),
            };
            let (verdicts, _) = judge(&rule, &[run]);
            verdicts
                .into_iter()
                .map(|one| one.state)
                .collect::<Vec<_>>()
        };
        let unproven = State::Unproven("3 events were lost".into());
        // Resident memory is the kernel's figure.
        assert_eq!(states(50, false), [unproven, State::Held]);
        assert_eq!(states(50, true), [State::Held, State::Held]);
        assert_eq!(states(101, true), [State::Broken, State::Held]);
        // What is not known is not held.
        let nothing = Measured {
            figures: vec![Amounts::default()],
            gaps: Gaps::default(),
        };
        let (verdicts, _) = judge(&rule(&budgets), &[nothing]);
        assert!(
            verdicts
                .iter()
                .all(|one| matches!(one.state, State::Unproven(_)))
        );
    }

    #[test]
    fn a_baseline_is_compared_with_its_own_budget() {
        let mut budgets = vec![Budget::of_all(Amounts::default())];
        budgets.push(Budget {
            name: "new".into(),
            ..budgets[0].clone()
        });
        budgets.push(Budget {
            name: "other".into(),
            ..budgets[0].clone()
        });
        let had = |name: &str, filter: Option<&str>| Had {
            name: name.to_owned(),
            filter: filter.map(str::to_owned),
            runs: vec![(Measure::Peak, vec![100]), (Measure::Leaked, vec![0])],
        };
        let baseline = Baseline {
            program: "x".into(),
            budgets: vec![
                had("all", None),
                had("other", Some("leaked")),
                had("old", None),
            ],
        };
        let measures = [Measure::Peak, Measure::Leaked, Measure::Rss];
        let rule = Rule {
            baseline: Some((&baseline, 5.0, &measures)),
            ..rule(&budgets)
        };
        let figures = amounts(&[
            (Measure::Peak, 120),
            (Measure::Leaked, 0),
            (Measure::Rss, 1),
        ]);
        let run = Measured {
            figures: vec![figures; 3],
            gaps: Gaps::default(),
        };
        let (verdicts, notes) = judge(&rule, &[run]);
        let told: Vec<_> = verdicts
            .iter()
            .map(|one| (one.budget.as_str(), one.measure, one.word()))
            .collect();
        let expected = [
            ("all", Measure::Peak, "BROKEN"),
            ("all", Measure::Leaked, "held"),
        ];
        assert_eq!(told, expected);
        assert_eq!(notes.len(), 3, "{notes:?}");
    }
}
