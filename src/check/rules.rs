//! What is checked: limits, a baseline and suppressions, from options and files. All of it
//! is read before any program is run.

use std::fs;
use std::path::{Path, PathBuf};

use memlog_pages::blocks::measure::Chosen;
use memlog_pages::{Advice, Where, grouped, shown};
use memlog_verdict::{Amounts, Baseline, Budget, Had, MOST_RUNS, Measure, Rule, budgets_of};

use super::Args;
use super::runs::Tried;

/// What is checked.
pub struct Rules {
    budgets: Vec<Budget>,
    chosen: Vec<Chosen>,
    baseline: Option<Baseline>,
}

/// How much more than a baseline is no growth, in percent.
const TOLERANCE: f64 = 5.0;

impl Rules {
    /// As a command line says.
    pub fn of(args: &Args) -> anyhow::Result<Self> {
        if args.files.is_empty() && args.program.is_empty() {
            return Err(Advice::error(
                "there is nothing to check: neither a log nor a program",
                "memlog check --max-peak 64MiB FILE.memlog, or memlog check --max-peak 64MiB -- \
                 ./program args",
            ));
        }
        refuse_of_program(args)?;
        let mut budgets = args.budget.as_deref().map_or(Ok(Vec::new()), of_file)?;
        refuse_two_suppressions(args, &budgets)?;
        if let Some(given) = of_options(args)? {
            add(&mut budgets, given);
        }
        let compares = args.baseline.is_some() || args.write_baseline.is_some();
        if budgets.is_empty() && !compares {
            return Err(Advice::error(
                "there is no limit to check",
                "give one, as --max-peak 64MiB or --max-leaked 0, or --budget FILE, or --baseline \
                 FILE",
            ));
        }
        // What is compared may have no limit.
        if compares && !budgets.iter().any(|budget| budget.filter.is_none()) {
            budgets.insert(0, Budget::of_all(Amounts::default()));
        }
        let chosen = budgets.iter().map(|budget| {
            let blocks = budget.filter.clone().map(Where::from).unwrap_or_default();
            let given = args.suppressions.clone();
            let own = budget.suppressions.as_ref().map(|name| beside(args, name));
            Chosen::new(blocks, own.or(given).as_deref())
        });
        Ok(Self {
            chosen: chosen.collect::<anyhow::Result<_>>()?,
            baseline: args.baseline.as_deref().map(baseline).transpose()?,
            budgets,
        })
    }

    /// The same as it is judged by.
    pub fn rule<'a>(&'a self, args: &'a Args) -> Rule<'a> {
        let tolerance = args.tolerance.unwrap_or(TOLERANCE);
        let baseline = self.baseline.as_ref();
        Rule {
            budgets: &self.budgets,
            baseline: baseline.map(|baseline| (baseline, tolerance, args.compare.as_slice())),
            allows_gaps: args.allow_incomplete,
        }
    }

    /// The blocks of each budget.
    pub fn all_chosen(&self) -> &[Chosen] {
        &self.chosen
    }

    /// How often a program is run: as often as for the baseline.
    pub fn repeat(&self, args: &Args) -> u8 {
        let baseline = self.baseline.as_ref().map(Baseline::runs);
        let usual = baseline.and_then(|runs| u8::try_from(runs).ok());
        args.repeat.or(usual).unwrap_or(1).max(1)
    }

    /// Whether several logs are runs of one program.
    pub fn is_of_one_program(&self, args: &Args) -> bool {
        self.baseline.is_some() || args.write_baseline.is_some()
    }

    /// With a baseline logs are runs, and there is an end to how many are compared.
    pub fn refuse_many(&self, args: &Args, logs: usize) -> anyhow::Result<()> {
        match self.is_of_one_program(args) && logs > MOST_RUNS {
            false => Ok(()),
            true => Err(Advice::error(
                format!(
                    "{} are more runs than the {MOST_RUNS} that a baseline may have",
                    grouped(logs as u64)
                ),
                "give fewer: five tell as much",
            )),
        }
    }

    /// Runs are of one program, and a baseline is of that one.
    pub fn refuse_others(&self, args: &Args, tried: &Tried) -> anyhow::Result<()> {
        const OTHER: &str = "write the baseline of this program anew with --write-baseline; or if \
            it is the same under another name, put that into the baseline's \"program\"";
        if !self.is_of_one_program(args) {
            return Ok(());
        }
        let name = tried.name();
        if let Some(baseline) = self.baseline.as_ref().filter(|one| !one.is_of(&name)) {
            let other = &baseline.program;
            return Err(Advice::error(
                format!("the baseline is of the program {other}, and this is {name}"),
                OTHER,
            ));
        }
        match tried.runs.iter().find(|run| run.name() != name) {
            None => Ok(()),
            Some(run) => Err(Advice::error(
                format!(
                    "with a baseline all logs are runs of one program, and {} is of {}, not of {name}",
                    shown(&run.log),
                    run.name()
                ),
                "give the logs of one program",
            )),
        }
    }

    /// Writes what the runs had.
    pub fn write_baseline(&self, args: &Args, path: &Path, tried: &Tried) -> anyhow::Result<()> {
        let runs = tried.runs.iter().map(|run| &run.run.measured);
        let gap = runs
            .flat_map(|run| run.gaps.all().chain(run.without_names.iter().flatten()))
            .next();
        if let Some(gap) = gap.filter(|_| !args.allow_incomplete) {
            return Err(Advice::error(
                format!("no baseline is made of runs that may have had more: {gap}"),
                "record the program again so that nothing is missing, or give --allow-incomplete",
            ));
        }
        let mut budgets: Vec<Had> = Vec::new();
        for (place, budget) in self.budgets.iter().enumerate() {
            let of = |measure| {
                let figures = tried.runs.iter().map(|run| &run.run.measured.figures);
                let runs: Option<Vec<u64>> = figures
                    .map(|figures| figures.get(place)?.get(measure))
                    .collect();
                Some((measure, runs?))
            };
            let is_chosen = budget.filter.is_some();
            let measures = Measure::ALL.into_iter();
            let measures = measures.filter(|one| !(is_chosen && one.is_of_process()));
            budgets.push(Had {
                name: budget.name.clone(),
                filter: budget.filter.clone(),
                runs: measures.filter_map(of).collect(),
            });
        }
        let baseline = Baseline {
            program: tried.name(),
            budgets,
        };
        fs::write(path, baseline.text()).map_err(|error| {
            Advice::error(
                format!("the baseline {} cannot be written: {error}", shown(path)),
                "give another name: --write-baseline FILE",
            )
        })
    }
}

/// What is of a program that is run here means nothing of logs.
fn refuse_of_program(args: &Args) -> anyhow::Result<()> {
    let options = [
        (args.repeat.is_some(), "--repeat"),
        (args.children, "--children"),
        (args.logs.is_some(), "--logs"),
    ];
    let given = options.iter().find(|(is_given, _)| *is_given);
    match given.filter(|_| args.program.is_empty()) {
        Some((_, option)) => Err(Advice::error(
            format!("{option} is of a program that is run, and these are logs"),
            "leave it out, or give a program behind --",
        )),
        None => Ok(()),
    }
}

/// Adds what options limit: of all blocks it is the file's, the lower limit of both counts.
fn add(budgets: &mut Vec<Budget>, given: Budget) {
    let all = budgets.iter_mut().find(|budget| budget.name == Budget::ALL);
    match (all, given.name == Budget::ALL) {
        (Some(all), true) => {
            for (measure, limit) in given.limits.iter() {
                let limit = all.limits.get(measure).map_or(limit, |own| own.min(limit));
                all.limits.set(measure, Some(limit));
            }
        }
        (all, _) => {
            let suppressions = all.and_then(|all| all.suppressions.clone());
            budgets.insert(
                0,
                Budget {
                    suppressions,
                    ..given
                },
            );
        }
    }
}

/// Which of both would count is no question for a gate.
fn refuse_two_suppressions(args: &Args, budgets: &[Budget]) -> anyhow::Result<()> {
    let own = budgets.iter().find_map(|one| one.suppressions.as_ref());
    match (own, &args.suppressions) {
        (Some(own), Some(given)) => Err(Advice::error(
            format!(
                "the budgets have suppressions of their own, {}, and --suppressions gives {}",
                shown(Path::new(own)),
                shown(given)
            ),
            "leave out --suppressions, or put its lines into that file",
        )),
        _ => Ok(()),
    }
}

/// The budget that options make.
fn of_options(args: &Args) -> anyhow::Result<Option<Budget>> {
    let mut limits = Amounts::default();
    for (measure, limit) in [
        (Measure::Peak, args.max_peak),
        (Measure::Leaked, args.max_leaked),
        (Measure::Rss, args.max_rss),
        (Measure::Allocations, args.max_allocations),
        (Measure::Total, args.max_total),
    ] {
        limits.set(measure, limit);
    }
    let filter = args.blocks.filter();
    if filter.is_some() && args.max_rss.is_some() {
        return Err(Advice::error(
            "--max-rss is of the whole process, and --where chooses blocks",
            "leave out --where, or put one of both into a budget of its own: --budget FILE",
        ));
    }
    let compares = args.baseline.is_some() || args.write_baseline.is_some();
    match (filter, limits.is_empty()) {
        (None, true) => Ok(None),
        (Some(_), true) if !compares => Err(Advice::error(
            "--where chooses blocks, and there is no limit for them",
            "give one, as --max-peak 64MiB or --max-leaked 0",
        )),
        (None, false) => Ok(Some(Budget::of_all(limits))),
        (Some(filter), _) => Ok(Some(Budget {
            name: Budget::CHOSEN.to_owned(),
            filter: Some(filter.clone()),
            ..Budget::of_all(limits)
        })),
    }
}

fn of_file(path: &Path) -> anyhow::Result<Vec<Budget>> {
    let text = read(
        path,
        "the budgets",
        "give a TOML file with limits: doc/CHECK.md",
    )?;
    budgets_of(&text).map_err(|wrong| {
        Advice::error(
            format!("{}, {wrong}", shown(path)),
            "doc/CHECK.md has all keys, and doc/FILTERS.md the language of where",
        )
    })
}

fn baseline(path: &Path) -> anyhow::Result<Baseline> {
    const MAKE: &str = "make it with memlog check --write-baseline FILE";
    let text = read(path, "the baseline", MAKE)?;
    Baseline::read(&text)
        .map_err(|wrong| Advice::error(format!("{} is no baseline: {wrong}", shown(path)), MAKE))
}

fn read(path: &Path, what: &str, hint: &'static str) -> anyhow::Result<String> {
    fs::read_to_string(path).map_err(|error| {
        Advice::error(format!("cannot read {what} {}: {error}", shown(path)), hint)
    })
}

/// A file that a file of budgets names lies beside that.
fn beside(args: &Args, name: &str) -> PathBuf {
    let folder = args.budget.as_deref().and_then(Path::parent);
    folder.unwrap_or(Path::new("")).join(name)
}
