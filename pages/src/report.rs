//! `memlog report`: who held the memory at a moment.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_analysis::{Every, Moment};
use memlog_export::{When, percent};

use crate::calls::{Filter, Form, Shape, SnapshotArgs, Taken, print_sources, tree};
use crate::heading::{failed_askers, notes};
use crate::moment::snapshots::{Pace, typed as typed_every};
use crate::moment::{At, Moments, Wanted};
use crate::names::Labels;
use crate::page::tree::{By, Direction};
use crate::page::{Page, Part};
use crate::screen::out;
use crate::shown::{self, Asked, read, show};
use crate::subject::Subject;
use crate::words::{Advice, Sizes, tell_note, typed};
use crate::world::{Counted, Where};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-report-1";

/// Say who held the memory, and who called them.
#[derive(clap::Args)]
pub struct Args {
    /// Memory live at the end, as --at end
    #[arg(long, visible_alias = "leaks")]
    show_leaks: bool,
    /// Memory live when most bytes were, as --at heap-peak
    #[arg(long)]
    show_maximum: bool,
    /// Memory live at this moment: rss-peak, heap-peak, start, end, a time since the start
    /// as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME'
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    #[command(flatten)]
    snapshots: SnapshotArgs,
    /// Print snapshots as pmem wrote them, with bytes for its calls, without a heading
    /// [--every: 1MiB]
    #[arg(long = "as", value_name = "FORM", value_enum, conflicts_with_all = [
        "show_snapshots", "show_snapshot_deltas", "show_cumulative_snapshot_delta",
        "show_leaks", "show_maximum", "at", "threshold", "by", "mapped", "no_fold",
        "show_below_main", "json", "output_graphs",
    ])]
    form_of: Option<FormOf>,
    /// Write each tree for gprof2dot, into this folder or the current one: all of its
    /// stacks, as LOG.LABEL.json with the label that --json has
    #[arg(long, value_name = "DIR", num_args = 0..=1, require_equals = true,
          default_missing_value = ".")]
    pub output_graphs: Option<PathBuf>,
    /// Sum up what is less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    threshold: f64,
    #[command(flatten)]
    form: Form,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    blocks: Where,
    /// Print it as JSON, schema memlog-report-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
    /// More than one log, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
}

/// Forms of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FormOf {
    /// That of pmem's logs.
    Pmem,
}

/// What pmem was built with.
const PMEM_THRESHOLD: u64 = 1 << 20;

/// Shows the heading and a tree for each moment asked for. `write` is told the log, and
/// the label and the text of each file for gprof2dot, if those were asked for.
pub fn run(
    args: &Args,
    mut write: impl FnMut(&Path, String, &str) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    if !args.more.is_empty() {
        return Err(several(args));
    }
    let blocks = &args.blocks;
    let by = args.form.by();
    let option = args.form_of.map(|_| "--as pmem");
    let option = option.or(args.snapshots.option());
    // What was allocated can be told up to a snapshot.
    let of_snapshots = option.filter(|_| !matches!(by, By::Allocated | By::Count));
    let moment = moment_option(args).or(of_snapshots);
    args.form.check(moment, blocks.filter().is_some())?;
    if let Some(FormOf::Pmem) = args.form_of {
        return as_pmem(args);
    }
    if let Some(option) = option.filter(|_| args.form.mapped) {
        return Err(Advice::error(
            format!("{option} is of the heap, and --mapped is of what lies outside it"),
            format!("leave out --mapped; or leave out {option}, and give --at for a moment"),
        ));
    }
    let wanted = Wanted {
        at: args.at.as_ref(),
        snapshots: args.snapshots.pace(),
        by: Some(by),
    };
    let mut written = Ok(());
    let exit = show(
        &args.asked,
        Counted {
            by,
            ..blocks.into()
        },
        wanted,
        args.json,
        |subject, labels, at| {
            let page = page(args, at, subject, labels);
            written = graphs(&page).try_for_each(|(label, text)| write(subject.file, label, text));
            page
        },
    )?;
    written?;
    Ok(exit)
}

/// The trees for gprof2dot, by their labels.
fn graphs(page: &Page) -> impl Iterator<Item = (String, &str)> {
    let trees = page.parts.iter().filter_map(|part| match part {
        Part::OneTree(tree) => Some(tree),
        _ => None,
    });
    trees.filter_map(|tree| Some((tree.label(), tree.graph.as_deref()?)))
}

/// Prints snapshots in another's form; what is to be said of the log goes to stderr.
fn as_pmem(args: &Args) -> anyhow::Result<ExitCode> {
    let threshold = match args.snapshots.every {
        None => PMEM_THRESHOLD,
        Some(Every::Churn(bytes)) => bytes,
        Some(Every::Ns(_)) => {
            return Err(Advice::error(
                "--as pmem takes snapshots by bytes that came and went, not by time",
                "give --every with bytes, as --every 1MiB",
            ));
        }
    };
    let moments = Moments {
        at: None,
        snapshots: Some(Pace::Every(Every::Churn(threshold))),
    };
    let read = read(
        (
            &*args.asked.file,
            &args.asked.symbol_files,
            (&args.blocks).into(),
        ),
        Sizes::Exact,
        |_, _| Ok(()),
        |()| moments,
        |subject, labels, ()| {
            for note in notes(subject.family, subject.analysis) {
                tell_note(&note);
            }
            if let Some(part) = subject.analysis.part {
                let to = subject.family.own().seconds(part.tick);
                tell_note(&format!("Ctrl-C ended the reading at {to:.3} s"));
            }
            let printed = print_sources(subject, threshold, &args.filter, (labels, &mut out()));
            for remark in labels.remarks().chain(labels.cut_short()) {
                tell_note(remark);
            }
            printed
        },
    )?;
    read.made?;
    Ok(read.exit)
}

fn several(args: &Args) -> anyhow::Error {
    let count = args.more.len() + 1;
    Advice::error(
        format!("report takes one log, and {count} were given"),
        format!(
            "memlog report {}, then each of the others",
            typed(&args.asked.file)
        ),
    )
}

/// An option that asks for one moment.
fn moment_option(args: &Args) -> Option<&'static str> {
    match args {
        Args { at: Some(_), .. } => Some("--at"),
        Args {
            show_leaks: true, ..
        } => Some("--show-leaks"),
        Args {
            show_maximum: true, ..
        } => Some("--show-maximum"),
        _ => None,
    }
}

fn page(args: &Args, at: Option<When>, subject: &Subject, labels: &mut Labels) -> Page {
    let moments = moments(args, at);
    let count = moments.len();
    let shape = match args.json {
        true => shape(args).whole(),
        false => shape(args),
    };
    let trees = moments.into_iter().enumerate().map(|(index, when)| {
        let part = (index + 1, count);
        Part::OneTree(tree(subject, (when, part), &shape, labels))
    });
    let trees: Vec<Part> = trees.collect();
    let shown = Taken::of(subject, &args.snapshots, &shape, labels).map(|taken| taken.shown());
    let (mut parts, figures) = shown.map_or_else(Default::default, |shown| {
        let every = args.snapshots.every.map(typed_every);
        let figures = [("every", every.into()), ("snapshots", shown.figures.into())];
        (shown.parts, Page::keyed(figures))
    });
    parts.extend(trees);
    parts.push(Part::Failed(failed_askers(subject, labels)));
    let mut page = shown::page(subject, SCHEMA, labels, parts);
    page.figures.extend(figures);
    page
}

fn shape(args: &Args) -> Shape<'_> {
    Shape {
        direction: Direction::BottomUp,
        form: args.form,
        threshold: args.threshold,
        filter: &args.filter,
        has_graph: args.output_graphs.is_some(),
    }
}

/// The single moments asked for, each once.
fn moments(args: &Args, at: Option<When>) -> Vec<When> {
    let mut moments = Vec::from_iter(at);
    let switches = [
        (args.show_maximum, Moment::HeapPeak),
        (args.show_leaks, Moment::End),
    ];
    for (wanted, moment) in switches {
        if wanted && !moments.contains(&When::Known(moment)) {
            moments.push(When::Known(moment));
        }
    }
    if moments.is_empty() && args.snapshots.pace().is_none() {
        moments.push(When::Known(Moment::RssPeak));
    }
    moments
}
