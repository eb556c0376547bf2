//! `memlog check`: fails where memory is above its limits, or above what it was.
//!
//! * `rules`: limits, baseline and suppressions, from options and files
//! * `runs`: logs that are there, or of a program that is run

mod rules;
mod runs;

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memlog_pages::blocks::measure::places;
use memlog_pages::{Advice, SymbolFiles, Where, counted, shown, sized};
use memlog_verdict::{Against, Measure, Report, Subject, Verdict, amount_of, forms, judge};

use crate::output::Output;
use rules::Rules;
use runs::{Logged, Tried};

/// Fail where memory is above its limits, or above what it was
#[derive(clap::Args)]
pub struct Args {
    /// Logs, each checked by itself, or with a baseline as runs of one program; a folder or a
    /// quoted pattern stands for all logs in it
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A program and its arguments, which is run and recorded
    #[arg(last = true, value_name = "PROG", conflicts_with = "files")]
    program: Vec<OsString>,
    /// The most that may be live at once, as 64MiB
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| amount_of(Measure::Peak, text))]
    max_peak: Option<u64>,
    /// The most that may be never freed, as 0
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| amount_of(Measure::Leaked, text))]
    max_leaked: Option<u64>,
    /// The most that may be resident, without memlog's own
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| amount_of(Measure::Rss, text))]
    max_rss: Option<u64>,
    /// The most allocations, as 1e6
    #[arg(long, value_name = "N", value_parser = |text: &str| amount_of(Measure::Allocations, text))]
    max_allocations: Option<u64>,
    /// The most that may be allocated in the whole run
    #[arg(long, value_name = "SIZE", value_parser = |text: &str| amount_of(Measure::Total, text))]
    max_total: Option<u64>,
    #[command(flatten)]
    blocks: Where,
    /// Budgets of a TOML file; doc/CHECK.md has its keys
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,
    /// What this file of LeakSanitizer's suppressions covers is no leak: lines as leak:PATTERN
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// No more than the runs of this file had
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write what the runs have into this file, for --baseline
    #[arg(long, value_name = "FILE", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// How much more than the baseline is no growth [default: 5%]
    #[arg(long, value_name = "PCT", value_parser = percent, requires = "baseline")]
    tolerance: Option<f64>,
    /// What is compared with the baseline
    #[arg(
        long,
        value_name = "WHAT,...",
        value_parser = measure_of,
        value_delimiter = ',',
        default_value = "peak,leaked,rss",
        requires = "baseline"
    )]
    compare: Vec<Measure>,
    /// How often the program is run [default: as often as for the baseline, or once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=100))]
    repeat: Option<u8>,
    /// Check each process that the program started too, each by itself
    #[arg(long, conflicts_with_all = ["baseline", "write_baseline"])]
    children: bool,
    /// A limit counts as held where events are missing, too
    #[arg(long)]
    allow_incomplete: bool,
    /// The form of the report
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// Write it there, and the text to standard output; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Keep the logs of the program in this folder [default: only where a check fails, in a
    /// temporary one]
    #[arg(long, value_name = "DIR")]
    logs: Option<PathBuf>,
    /// How many places are told of what is broken
    #[arg(short = 'n', long, value_name = "N", default_value = "5")]
    top: usize,
    /// The folder of the sources, for lines in SARIF and annotations [default: the current one]
    #[arg(long, value_name = "DIR")]
    source_root: Option<PathBuf>,
    #[command(flatten)]
    symbol_files: SymbolFiles,
}

/// A form of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For scripts, schema memlog-check-1
    Json,
    /// Test reports: Jenkins, GitLab
    Junit,
    /// Code scanners, version 2.1.0
    Sarif,
    /// A comment on a change
    Markdown,
    /// Annotations of GitHub's workflows
    Github,
}

const ELSEWHERE: &str = "give another name: memlog check ... -o OUT";
/// Where a limit is broken.
const BROKEN: u8 = 1;

/// How much more than a baseline is no growth.
fn percent(text: &str) -> Result<f64, &'static str> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent = number.parse::<f64>().ok();
    let percent = percent.filter(|percent| (0.0..=1000.0).contains(percent));
    percent.ok_or("a percentage is expected, as 5% or 2.5%")
}

fn measure_of(word: &str) -> Result<Measure, &'static str> {
    Measure::of(word).ok_or("peak, leaked, rss, allocations or total is expected")
}

/// Checks it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let rules = Rules::of(args)?;
    let root = root(args)?;
    let mut report = Report {
        budgets: budgets(args, &root),
        root,
        ..Report::default()
    };
    let mut all = match args.program.is_empty() {
        true => runs::of_files(args, &rules)?,
        false => runs::of_program(args, &rules)?,
    };
    for tried in &all.tried {
        rules.refuse_others(args, tried)?;
        report.subjects.push(subject(args, &rules, tried)?);
    }
    if let (Some(path), Some(tried)) = (&args.write_baseline, all.tried.first()) {
        match report.is_held() {
            true => {
                rules.write_baseline(args, path, tried)?;
                let runs = counted(tried.runs.len() as u64, "run");
                let note = format!("the baseline {} was written, of {runs}", shown(path));
                report.notes.push(note);
            }
            false => report.notes.push("no baseline was written".to_owned()),
        }
    }
    report.notes.append(&mut all.notes);
    match tell(args, &report, all.first_log()) {
        // Who read it had enough: what came out stays.
        Err(error) if error.chain().any(is_broken_pipe) => {}
        told => told?,
    }
    all.end(report.is_held());
    Ok(match report.is_held() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(BROKEN),
    })
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Where the sources are.
fn root(args: &Args) -> anyhow::Result<String> {
    let folder = match &args.source_root {
        Some(folder) => folder.canonicalize().map_err(|error| {
            Advice::error(
                format!("--source-root {} cannot be used: {error}", shown(folder)),
                "give the folder that the files of the report lie below",
            )
        })?,
        None => std::env::current_dir()?,
    };
    Ok(folder.to_string_lossy().into_owned())
}

/// The file of the budgets, if it is one of the sources.
fn budgets(args: &Args, root: &str) -> Option<String> {
    let file = args.budget.as_deref()?.canonicalize().ok()?;
    let below = file.strip_prefix(root).ok()?;
    Some(below.to_string_lossy().into_owned())
}

/// The verdicts on a program's runs, and who had what is not as it should be.
fn subject(args: &Args, rules: &Rules, tried: &Tried) -> anyhow::Result<Subject> {
    let measured: Vec<_> = tried
        .runs
        .iter()
        .map(|run| run.run.measured.clone())
        .collect();
    let (mut verdicts, mut notes) = judge(&rules.rule(args), &measured);
    for (place, run) in tried.runs.iter().enumerate() {
        // Each budget has its own choice of blocks.
        let wrong = verdicts.iter_mut();
        let wrong = wrong.filter(|one| one.worst == place && !one.is_fine());
        let (mut wrong, wanted): (Vec<_>, Vec<_>) = wrong
            .filter_map(|one| {
                let wanted = (rules.all_chosen().get(one.place)?, one.measure);
                Some((one, wanted))
            })
            .unzip();
        if wanted.is_empty() {
            continue;
        }
        let lists = places(&run.log, &args.symbol_files, &wanted, args.top)?;
        for (verdict, list) in wrong.iter_mut().zip(lists) {
            verdict.places = list;
        }
    }
    for (place, run) in tried.runs.iter().enumerate() {
        notes.extend(run.run.notes.iter().cloned());
        let gaps = run.run.measured.gaps.of_verdicts(&verdicts).into_iter();
        notes.extend(gaps.map(|gap| format!("{}: {gap}", shown(&run.log))));
        notes.extend(verdicts.iter().find_map(|one| inexact(one, place, run)));
    }
    Ok(Subject {
        name: tried.name(),
        logs: tried.runs.iter().map(|run| shown(&run.log)).collect(),
        failures: tried.failures.clone(),
        verdicts,
        notes,
    })
}

/// The order of threads is known only in part, and with it the heap's peak.
fn inexact(verdict: &Verdict, place: usize, run: &Logged) -> Option<String> {
    let Against::Limit(limit) = verdict.against else {
        return None;
    };
    let error = run.run.peak_error_bytes;
    let measured = verdict.runs.get(place).copied().flatten()?;
    let is_near = verdict.measure == Measure::Peak && limit.abs_diff(measured) <= error;
    (is_near && error > 0).then(|| {
        let (log, error) = (shown(&run.log), sized(error));
        format!("{log}: the heap peak may be off by {error}, as threads ran side by side, and its limit is as near")
    })
}

/// Writes the report where it goes; who waits at the terminal has the text anyway.
fn tell(args: &Args, report: &Report, log: &Path) -> anyhow::Result<()> {
    let content = match args.format {
        Format::Text => forms::text(report),
        Format::Json => forms::json(report),
        Format::Junit => forms::junit(report),
        Format::Sarif => forms::sarif(report, env!("CARGO_PKG_VERSION")),
        Format::Markdown => forms::markdown(report),
        Format::Github => forms::github(report),
    };
    let stdout = Path::new("-");
    let output = Output {
        path: Some(args.output.as_deref().unwrap_or(stdout)),
        is_quiet: output_is_stdout(args),
        elsewhere: ELSEWHERE,
    };
    let ending = args.format.ending();
    output.write(
        log,
        |log| format!("{log}.check.{ending}"),
        |out| {
            out.write_all(content.as_bytes())?;
            Ok(ExitCode::SUCCESS)
        },
    )?;
    if !output_is_stdout(args) {
        let mut out = memlog_pages::out();
        out.write_all(forms::text(report).as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

fn output_is_stdout(args: &Args) -> bool {
    args.output
        .as_deref()
        .is_none_or(|path| path == Path::new("-"))
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Text => "txt",
            Self::Json => "json",
            Self::Junit => "xml",
            Self::Sarif => "sarif",
            Self::Markdown => "md",
            Self::Github => "github.txt",
        }
    }
}

#[cfg(test)]
mod tests {
    use memlog_pages::blocks::measure::Run;
    use memlog_verdict::{Measured, State};

    use super::*;

    fn verdict(measure: Measure, limit: u64, runs: &[u64]) -> Verdict {
        Verdict {
            budget: "all".to_owned(),
            place: 0,
            filter: None,
            measure,
            against: Against::Limit(limit),
            runs: runs.iter().copied().map(Some).collect(),
            worst: 1,
            state: State::Held,
            places: Vec::new(),
        }
    }

    /// Each run has its own peak and its own error.
    #[test]
    fn a_limit_is_near_a_run() {
        let run = |peak_error_bytes| Logged {
            log: PathBuf::from("a.memlog"),
            run: Run {
                measured: Measured::default(),
                program: String::new(),
                has_end: true,
                peak_error_bytes,
                notes: Vec::new(),
            },
        };
        let peaks = verdict(Measure::Peak, 100, &[90, 100]);
        let is_near = |place, error| inexact(&peaks, place, &run(error)).is_some();
        // The worst run is at the limit, and known to the byte.
        assert!(!is_near(0, 9) && is_near(0, 10));
        assert!(!is_near(1, 0) && is_near(1, 1));
        assert!(!is_near(2, 50));
        let leaks = verdict(Measure::Leaked, 100, &[90, 100]);
        assert!(inexact(&leaks, 0, &run(50)).is_none());
    }
}
