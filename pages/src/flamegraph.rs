//! What `memlog flamegraph` draws: a log as a tree with all its figures.

use std::path::Path;
use std::process::ExitCode;

use memlog_analysis::{Moment, UNKNOWN};
use memlog_export::When;
use memlog_export::flame::Flame;
use memlog_format::counter::Counter;
use memlog_format::meta::Lack;
use serde_json::{Map, Value};

use crate::calls::{self, Filter, Stacks, check};
use crate::facts::{Imported, is_unknown};
use crate::figures::figures;
use crate::heading::{heading, notes};
use crate::moment::At;
use crate::names::{Labels, SymbolFiles};
use crate::open::Interrupt;
use crate::page::tree::By;
use crate::rests::Rests;
use crate::shown::read;
use crate::subject::Subject;
use crate::words::Sizes;
use crate::world::{Counted, Where};

/// What is to be drawn.
pub struct Wanted<'a> {
    /// The log.
    pub file: &'a Path,
    /// Where the names are.
    pub symbol_files: &'a SymbolFiles,
    /// The moment, and the option that asks for it.
    pub at: Option<(&'a At, &'a str)>,
    /// What is counted at first.
    pub by: By,
    /// Which stacks count.
    pub filter: &'a Filter,
    /// Which blocks count.
    pub blocks: &'a Where,
    /// Whether what called main is shown.
    pub show_below_main: bool,
    /// Whether all that can be counted is shown: what is not known is left out.
    pub is_of_all: bool,
    /// Whether it is told in which scopes, if the log has any.
    pub with_scopes: bool,
}

impl Wanted<'_> {
    /// Whether all of it can be had together.
    pub fn check(&self) -> anyhow::Result<()> {
        check(self.by, self.at.map(|(_, option)| option))
    }
}

/// What was made of a log.
pub struct Drawn {
    /// The tree.
    pub flame: Flame,
    /// The log's figures by name.
    pub figures: Map<String, Value>,
    /// Seconds, and the most that the heap and resident memory were until the next.
    pub timeline: Vec<(f64, Option<u64>, Option<u64>)>,
    /// Whether the log was read to its end.
    pub exit: ExitCode,
    /// Whether it was not, or not all names were looked up.
    pub is_part: bool,
    interrupt: Option<Interrupt>,
}

impl Drawn {
    /// The file that ran, without its folder.
    pub fn program(&self) -> &str {
        let path = self.figures.get("executable").and_then(Value::as_str);
        path.and_then(|path| path.rsplit('/').next())
            .unwrap_or_default()
    }

    /// From now on Ctrl-C is no concern of what read the log.
    pub fn leave_interrupt(&self) {
        if let Some(interrupt) = &self.interrupt {
            interrupt.ignore();
        }
    }
}

/// Reads a log, or what of it comes before Ctrl-C. [`Wanted::check`] comes before
/// anything is prepared for it.
pub fn flame(wanted: &Wanted) -> anyhow::Result<Drawn> {
    let stacks = |when| Stacks {
        when,
        by: wanted.by,
        filter: wanted.filter,
        show_below_main: wanted.show_below_main,
    };
    let counted = Counted {
        blocks: wanted.blocks,
        by: wanted.by,
        with_times: false,
        with_scopes: wanted.with_scopes,
    };
    let read = read(
        (wanted.file, wanted.symbol_files, counted),
        Sizes::Rounded,
        |family, watch| match (wanted.at, wanted.is_of_all) {
            (None, true) => Ok(When::Known(Moment::RssPeak)),
            (at, _) => {
                let rests = Rests::default().counting(wanted.by);
                rests.check(family.own())?;
                at.map_or(&At::RSS_PEAK, |(at, _)| at).look(family, watch)
            }
        },
        |when| Some(*when),
        |subject, labels, when| {
            let flame = made(subject, &stacks(*when), labels);
            let figures = figures(subject.family, subject.analysis);
            let is_part = subject.analysis.part.is_some() || labels.cut_short().is_some();
            (flame, figures, over_time(subject), is_part)
        },
    )?;
    let (flame, figures, timeline, is_part) = read.made;
    Ok(Drawn {
        flame,
        figures,
        timeline,
        exit: read.exit,
        is_part,
        interrupt: read.interrupt,
    })
}

fn over_time(subject: &Subject) -> Vec<(f64, Option<u64>, Option<u64>)> {
    let log = subject.family.own();
    if [Lack::Course, Lack::Live]
        .iter()
        .any(|lack| is_unknown(log, *lack))
    {
        return Vec::new();
    }
    let known = |bytes: u64| (bytes != UNKNOWN).then_some(bytes);
    let steps = subject.analysis.tally.history().steps();
    // Where nobody read it, it is not 0.
    let has_rss = log.counter(Counter::Stamps) > 0 || Imported::of(log).is_none();
    let resident = |bytes: u64| known(bytes).filter(|_| has_rss);
    let points = steps.map(|(tick, heap, rss)| (log.seconds(tick), known(heap), resident(rss)));
    points.collect()
}

fn made(subject: &Subject, stacks: &Stacks, labels: &mut Labels) -> Flame {
    let flame = calls::flame(subject, stacks, labels);
    let mut notes = notes(subject.family, subject.analysis);
    if !stacks.filter.is_none() {
        notes.push("only stacks that the filter let through".to_owned());
    }
    if let Some(chosen) = &subject.analysis.chosen {
        notes.push(format!("only blocks where {}", chosen.filter));
    }
    let lacks_counts = is_unknown(subject.family.own(), Lack::Counts);
    if lacks_counts {
        notes.push("it is not known how many blocks there were: numbers are of sums".to_owned());
    }
    notes.extend(labels.remarks().map(str::to_owned));
    notes.extend(labels.cut_short().map(str::to_owned));
    Flame {
        heading: heading(subject).told(),
        notes,
        lacks_counts,
        ..flame
    }
}
