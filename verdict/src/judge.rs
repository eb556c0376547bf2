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
            ..Measured::default()
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
                ..Measured::default()
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
            ..Measured::default()
        };
        let (verdicts, _) = judge(&rule(&budgets), &[nothing]);
        assert!(
            verdicts
                .iter()
                .all(|one| matches!(one.state, State::Unproven(_)))
        );
    }

    #[test]
    fn gaps_are_of_what_they_leave_open() {
        let all = [Measure::Peak, Measure::Leaked, Measure::Rss].map(|measure| (measure, 9));
        let budgets = [
            Budget::of_all(amounts(&all)),
            Budget {
                limits: amounts(&all[..2]),
                ..named("chosen", Some("leaked"))
            },
        ];
        let words = |gaps: Gaps, without_names: Option<&str>| {
            let run = Measured {
                figures: vec![amounts(&all); 2],
                gaps,
                without_names: vec![None, without_names.map(str::to_owned)],
            };
            let (verdicts, _) = judge(&rule(&budgets), &[run]);
            let words = verdicts.iter().map(|one| match one.state {
                State::Held => '.',
                State::Unproven(_) => '?',
                _ => '!',
            });
            words.collect::<String>()
        };
        let why = || Some("why".to_owned());
        let none = Gaps::default;
        assert_eq!(words(none(), None), ".....");
        assert_eq!(words(none(), Some("it was rebuilt since")), "...??");
        assert_eq!(
            words(
                Gaps {
                    events: why(),
                    ..none()
                },
                None
            ),
            "??.??"
        );
        assert_eq!(
            words(
                Gaps {
                    chosen: why(),
                    ..none()
                },
                None
            ),
            "...??"
        );
        assert_eq!(
            words(
                Gaps {
                    rss: why(),
                    ..none()
                },
                None
            ),
            "..?.."
        );
    }

    /// A baseline against figures that have grown by a fifth, and the states that come of it.
    fn grown(baseline: &Baseline, budgets: &[Budget], run: Measured) -> (Vec<Told>, Vec<String>) {
        let measures = [Measure::Peak, Measure::Leaked, Measure::Rss];
        let rule = Rule {
            baseline: Some((baseline, 5.0, &measures)),
            allows_gaps: true,
            ..rule(budgets)
        };
        let (verdicts, notes) = judge(&rule, &[run]);
        let told = verdicts.into_iter();
        let told = told.map(|one| (one.budget.clone(), one.measure, one.word(), one.sentence()));
        (told.collect(), notes)
    }

    type Told = (String, Measure, &'static str, String);

    fn named(name: &str, filter: Option<&str>) -> Budget {
        Budget {
            name: name.into(),
            filter: filter.map(|filter| memlog_query::parse(filter).expect("a filter")),
            ..Budget::of_all(Amounts::default())
        }
    }

    fn had(name: &str, filter: Option<&str>) -> Had {
        Had {
            name: name.to_owned(),
            filter: named(name, filter).filter,
            runs: vec![(Measure::Peak, vec![100]), (Measure::Leaked, vec![0])],
        }
    }

    /// What a baseline does not tell of is not held, even where gaps are allowed.
    #[test]
    fn a_baseline_is_compared_with_its_own_budget() {
        let budgets = ["all", "new", "other", "same"];
        let budgets = budgets.map(|name| match name {
            "same" => named(name, Some("size > 1024 and leaked")),
            "other" => named(name, Some("leaked")),
            _ => named(name, None),
        });
        let baseline = Baseline {
            program: "x".into(),
            budgets: vec![
                had("all", None),
                had("other", Some("size > 1")),
                had("same", Some("size>1KiB and  (leaked)")),
                had("old", None),
            ],
        };
        let figures = amounts(&[
            (Measure::Peak, 120),
            (Measure::Leaked, 0),
            (Measure::Rss, 1),
        ]);
        let run = Measured {
            figures: vec![figures; 4],
            ..Measured::default()
        };
        let (told, notes) = grown(&baseline, &budgets, run);
        let states: Vec<_> = told
            .iter()
            .map(|(budget, measure, word, _)| (budget.as_str(), *measure, *word))
            .collect();
        let expected = [
            ("all", Measure::Peak, "BROKEN"),
            ("all", Measure::Leaked, "held"),
            ("all", Measure::Rss, "UNPROVEN"),
            ("new", Measure::Peak, "UNPROVEN"),
            ("new", Measure::Leaked, "UNPROVEN"),
            ("new", Measure::Rss, "UNPROVEN"),
            ("other", Measure::Peak, "UNPROVEN"),
            ("other", Measure::Leaked, "UNPROVEN"),
            ("same", Measure::Peak, "BROKEN"),
            ("same", Measure::Leaked, "held"),
        ];
        assert_eq!(states, expected);
        for (place, why) in [
            (2, "the baseline lacks it"),
            (3, "has no budget new"),
            (6, "other is of other blocks"),
        ] {
            assert!(told[place].3.contains(why), "{}", told[place].3);
        }
        assert_eq!(notes.len(), 1, "{notes:?}");
    }

    #[test]
    fn nothing_compared_is_nothing_held() {
        let budgets = [named("all", None)];
        let figures = |figures| Measured {
            figures: vec![figures],
            ..Measured::default()
        };
        let empty = Baseline::default();
        let known = amounts(&[(Measure::Peak, 1), (Measure::Leaked, 0), (Measure::Rss, 1)]);
        let (told, _) = grown(&empty, &budgets, figures(known));
        assert_eq!(told.len(), 3);
        assert!(told.iter().all(|one| one.2 == "UNPROVEN"), "{told:?}");
        // The new run's figure is not known.
        let baseline = Baseline {
            program: "x".into(),
            budgets: vec![had("all", None)],
        };
        let (told, _) = grown(&baseline, &budgets, figures(Amounts::default()));
        assert!(told.iter().all(|one| one.2 == "UNPROVEN"), "{told:?}");
        assert_eq!(
            told[0].3,
            "not known, baseline not known; the log does not tell it"
        );
    }

    /// A figure that is too low may be beyond the tolerance already, in too few runs to say so.
    #[test]
    fn what_is_undecided_for_want_of_events_is_unproven() {
        let budgets = [named("all", None)];
        let baseline = Baseline {
            program: "x".into(),
            budgets: vec![Had {
                runs: vec![(Measure::Peak, vec![100, 101])],
                ..had("all", None)
            }],
        };
        let state = |gap: Option<&str>, allows_gaps, peaks: &[u64]| {
            let rule = Rule {
                baseline: Some((&baseline, 5.0, &[Measure::Peak])),
                allows_gaps,
                ..rule(&budgets)
            };
            let runs = peaks.iter().map(|&peak| Measured {
                figures: vec![amounts(&[(Measure::Peak, peak)])],
                gaps: Gaps {
                    events: gap.map(str::to_owned),
                    ..Gaps::default()
                },
                ..Measured::default()
            });
            let runs: Vec<_> = runs.collect();
            judge(&rule, &runs).0[0].word()
        };
        let few = [200, 201];
        assert_eq!(state(None, false, &few), "undecided");
        assert_eq!(state(Some("3 events lost"), false, &few), "UNPROVEN");
        assert_eq!(state(Some("3 events lost"), true, &few), "undecided");
        // Ranks that overlap, of runs enough.
        let many = [90, 200, 200, 200, 95, 200, 200];
        assert_eq!(state(Some("3 events lost"), false, &many), "UNPROVEN");
    }
}
