//! `memlog strip`: logs without the events of blocks that lived shortly.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use memlog_analysis::Summary;
use memlog_format::meta::ForkPoint;
use memlog_format::stripped::Stripped;
use memlog_pack::strip::{Gone, Order, Plan, Rule, choose};
use memlog_query::{Length, parse_length};
use memlog_read::Log;

use crate::open::{Family, Files, Watch, form_of, is_archive};
use crate::words::{Advice, lasted, shown};

/// What of a log was left out.
pub struct Left {
    /// Blocks that went.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blocks whose events are there.
    pub stay: u64,
    /// What its readers have to know.
    pub remark: Option<String>,
}

/// A time as it is typed, in nanoseconds: `10ms`, `1.5s`.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    match parse_length(text) {
        Ok(Length::Ns(ns)) => Ok(ns),
        Ok(Length::Share(_)) => Err("it is a time, such as 10ms or 1.5s".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// Strips logs, each process behind the one that forked it. `write` is handed each log's
/// path and what writes the stripped one; `told` what was left out.
pub fn strip(
    paths: &[PathBuf],
    below_ns: Option<u64>,
    mut write: impl FnMut(&Path, &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()>,
    mut told: impl FnMut(&Left),
) -> anyhow::Result<()> {
    let logs = paths.iter().map(|path| Member::open(path));
    let logs: Vec<Member> = logs.collect::<anyhow::Result<_>>()?;
    let parents = parents(paths, &logs)?;
    let mut forks: HashMap<usize, Vec<ForkPoint>> = HashMap::new();
    for place in in_order(&parents) {
        let member = &logs[place];
        let family = member.files.family()?;
        let log = family.own();
        let children: Vec<usize> = (0..logs.len())
            .filter(|&child| parents[child] == Some(place))
            .collect();
        let children_forks = children.iter().map(|&child| {
            let family = logs[child].files.family()?;
            Ok(family.own().fork_points().to_vec())
        });
        let below_ticks = below_ns.map(|ns| ns / log.tick_ns());
        if below_ticks == Some(0) {
            return Err(too_short(log.tick_ns()));
        }
        let mut rule = Rule {
            below_ticks,
            moments: Vec::new(),
            forks: children_forks.collect::<anyhow::Result<_>>()?,
        };
        let watch = Watch::begin();
        let (gone, order, figures) = chosen(&paths[place], &family, &mut rule, &watch)?;
        watch.end();
        let Some((_, bytes)) = member.files.logs().next() else {
            continue;
        };
        let plan = Plan::new(bytes, log, (&gone, &order), &rule);
        forks.extend(children.iter().copied().zip(plan.forks().iter().cloned()));
        let stripped = Stripped {
            below_ns: below(log, below_ns),
            with_parent: false,
            error_bytes: figures.heap_peak.error_bytes,
            bracket_events: figures.rss_peak.bracket.events,
            bracket_low_bytes: figures.rss_peak.bracket.low_heap_bytes,
            peak_reading: figures.rss_peak.reading,
        };
        let own = forks.get(&place).map(Vec::as_slice);
        write(&paths[place], &mut |out| plan.write(stripped, own, out))?;
        told(&Left {
            blocks: gone.blocks,
            bytes: gone.bytes,
            stay: gone.stay,
            remark: remark(&family, own.is_some()),
        });
    }
    Ok(())
}

/// What goes of a log. The moments that pages show stay as they are.
fn chosen(
    path: &Path,
    family: &Family,
    rule: &mut Rule,
    watch: &Watch,
) -> anyhow::Result<(Gone, Order, Summary)> {
    let analysis = family.analyse(None, watch);
    if analysis.damages() > 0 {
        // What is written anew has no damage that would tell what is missing.
        return Err(Advice::error(
            format!("{} is damaged", shown(path)),
            "keep it as it is: memlog info says what is missing",
        ));
    }
    let summary = analysis.summary;
    rule.moments = vec![summary.heap_peak.event, summary.rss_peak.event];
    rule.moments
        .extend(summary.first_reading.map(|first| first.event));
    let progress = &mut |events, bytes| {
        watch.goes_on_after(events, bytes);
    };
    let gone = choose(family.own(), rule, progress);
    let order = Order::of(family.own(), &gone, progress);
    Ok((gone, order, summary))
}

/// Of a log that was stripped or culled before the longer time counts.
fn below(log: &Log, below_ns: Option<u64>) -> Option<u64> {
    match (log.left_out(), below_ns) {
        (Some(before), Some(ns)) => before.below_ns.map(|before| before.max(ns)),
        (_, ns) => ns,
    }
}

/// What lives from one tick to the next may have lived longer than that.
fn too_short(tick_ns: u64) -> anyhow::Error {
    let tick = lasted(tick_ns as f64 / 1e9);
    Advice::error(
        format!("the log's clock has steps of {tick}, which are longer than the threshold"),
        "give a longer one, or record with --fine-time",
    )
}

fn remark(family: &Family, is_with_parent: bool) -> Option<String> {
    let pid = family.own().parent_pid().filter(|_| !is_with_parent)?;
    Some(format!(
        "the process was forked by {pid}: what it inherited is in that one's log, which has to \
         stay as it is, or to be stripped in the same call"
    ))
}

struct Member {
    files: Files,
}

impl Member {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let refuse = |what: &str, hint: &'static str| {
            Err(Advice::error(format!("{} {what}", shown(path)), hint))
        };
        if is_archive(path) {
            return refuse(
                "is a packed file",
                "take its logs out first: memlog extract FILE",
            );
        }
        if form_of(path).is_some() {
            return refuse(
                "is another tool's file",
                "make a log of it first: memlog import FILE",
            );
        }
        let files = Files::load(path, &Watch::silent())?;
        let family = files.family()?;
        if family.own().flight().is_some() {
            return refuse(
                "is a flight recorder's log, which is bounded as it is",
                "give a log that was recorded without --flight-recorder",
            );
        }
        drop(family);
        Ok(Self { files })
    }
}

/// The place of each log's parent among them.
fn parents(paths: &[PathBuf], logs: &[Member]) -> anyhow::Result<Vec<Option<usize>>> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let all: Vec<PathBuf> = paths.iter().map(|path| real(path)).collect();
    let of = |member: &Member| {
        let family = member.files.family()?;
        let parent = family.parent.map(real);
        Ok(parent.and_then(|parent| all.iter().position(|path| *path == parent)))
    };
    logs.iter().map(of).collect()
}

/// Those of parents before those of their children.
fn in_order(parents: &[Option<usize>]) -> Vec<usize> {
    let depth = |mut place: usize| {
        let mut depth = 0;
        while let Some(parent) = parents[place].filter(|_| depth < parents.len()) {
            (place, depth) = (parent, depth + 1);
        }
        depth
    };
    let mut all: Vec<usize> = (0..parents.len()).collect();
    all.sort_by_key(|&place| depth(place));
    all
}
