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
