//! All that a tree can count, in one tree: what a flame graph shows.

use memlog_analysis::{Moment, Name, Scopes, without_outside};
use memlog_answers::World;
use memlog_export::When;
use memlog_export::flame::{Flame, Label, Metric, Node, Scoped, Series};
use memlog_format::meta::Lack;

use super::filter::Filter;
use super::held::{Lines, counted};
use super::paths::{END, Line};
use super::{moment, title};
use crate::names::Labels;
use crate::page::tree::{By, NO_FRAMES};
use crate::rests::Rests;
use crate::subject::Subject;

/// Which stacks a flame graph shows, and how much of each.
pub struct Stacks<'f> {
    /// The moment that is asked for.
    pub when: When,
    /// What is counted at first.
    pub by: By,
    /// Which stacks count.
    pub filter: &'f Filter,
    /// Whether what called main is shown.
    pub show_below_main: bool,
}

/// The tree from main down, without heading and notes.
pub fn flame(subject: &Subject, stacks: &Stacks, labels: &mut Labels) -> Flame {
    let counts = counts(subject, stacks);
    let by_stack = counts.iter();
    let by_stack = by_stack.map(|count| counted(subject.analysis, count.when, count.by));
    let by_stack: Vec<_> = by_stack.collect();
    let all = by_stack.iter().flatten().map(|&(stack, _)| stack);
    let lines = Lines::of(all, stacks.filter, stacks.show_below_main, labels);
    let held = by_stack.into_iter().map(|counted| lines.held(counted));
    let mut names = lines.names.clone();
    let nodes = nodes(&lines.lines, names.len());
    names.push(Name {
        function: NO_FRAMES.to_owned(),
        location: None,
        module: None,
    });
    let series = counts.iter().zip(held).map(|(count, held)| Series {
        thing: count.by.thing(),
        own: held.get(1..).unwrap_or_default().to_vec(),
    });
    let (metrics, shown) = metrics(subject, &counts, stacks);
    Flame {
        scoped: scoped(subject, &lines),
        names,
        nodes,
        series: series.collect(),
        metrics,
        shown,
        ..Flame::default()
    }
}

/// What ends at the places of the tree by scope.
fn scoped(subject: &Subject, lines: &Lines) -> Vec<Scoped> {
    let all = subject.analysis.scoped.iter();
    let all = all.filter_map(|(scope, one)| {
        Some(Scoped {
            node: lines.end_of(one.stack)?.checked_sub(1)?,
            scope: (one.scope != usize::from(Scopes::NONE)).then(|| scope.clone()),
            allocated: one.allocated,
            live: one.live,
        })
    });
    all.collect()
}

/// Lines as the places of a tree, each one less than its line: the first line is the end of
/// all, and no place.
fn nodes(lines: &[Line], names: usize) -> Vec<Node> {
    let nodes = lines.iter().skip(1).map(|line| Node {
        label: Label::Named(line.label.min(names as u32)),
        caller: (line.callers != END).then(|| line.callers - 1),
    });
    nodes.collect()
}

/// The tree of a table's stacks, whose outermost functions are main and the first ones of
/// threads; and where each stack ends in it.
pub fn outermost_at_main<'w>(
    world: &'w World,
) -> (Vec<Node>, impl Fn(usize) -> Option<usize> + use<'w>) {
    let (lines, numbers) = without_outside(&world.lines, &world.names);
    let end_of = move |stack: usize| {
        let line = numbers.get(world.stacks.get(stack)?.asker as usize)?;
        (*line as usize).checked_sub(1)
    };
    (nodes(&lines, world.names.len()), end_of)
}

/// What is counted, and at which moment if it is of one.
#[derive(Clone, Copy, PartialEq)]
struct Count {
    by: By,
    when: When,
}

fn counts(subject: &Subject, stacks: &Stacks) -> Vec<Count> {
    let moments = [Moment::RssPeak, Moment::HeapPeak, Moment::End];
    let known = moments.map(When::Known).into_iter();
    let chosen = Some(stacks.when).filter(|when| when.moment() == Moment::Chosen);
    let live = known.chain(chosen).map(|when| Count { by: By::Live, when });
    let of = |by| Count {
        by,
        when: stacks.when,
    };
    let mapped = [of(By::Mapped)].into_iter();
    let mapped = mapped.filter(|count| {
        let mut held = counted(subject.analysis, count.when, count.by).into_iter();
        held.any(|(_, held)| held.blocks > 0)
    });
    let run = [of(By::Allocated), of(By::Temporary)].into_iter();
    // By the stacks of others than the rest.
    let freed = Some(of(By::Freed)).filter(|_| stacks.by == By::Freed);
    let all = live.chain(run).chain(freed).chain(mapped);
    all.filter(|count| is_known(subject, *count)).collect()
}

/// Whether what the log was made of knew it.
fn is_known(subject: &Subject, count: Count) -> bool {
    let log = subject.family.own();
    let is_peak = match count.when.moment() {
        Moment::HeapPeak => true,
        // Without a reading it would be the heap's.
        Moment::RssPeak => !subject.analysis.summary.shows_rss_peak(),
        _ => false,
    };
    let mut rests = Rests::default().counting(count.by);
    if count.by == By::Live && is_peak {
        rests = rests.on(&[Lack::Peak]);
    }
    rests.check(log).is_ok()
}

/// What can be looked at, and which of it first.
fn metrics(subject: &Subject, counts: &[Count], stacks: &Stacks) -> (Vec<Metric>, usize) {
    let run = title::run(subject);
    let mut metrics = Vec::new();
    let mut shown = 0;
    for (series, count) in counts.iter().enumerate() {
        let at = title::moment(subject, count.when);
        let ways = match count.by {
            By::Live => vec![(By::Live, moment(count.when), format!("live {at}"))],
            By::Mapped => {
                let name = format!("mapped by the program itself {at}");
                vec![(By::Mapped, By::Mapped.name(), name)]
            }
            By::Allocated | By::Count => [(By::Allocated, "allocated"), (By::Count, "allocations")]
                .map(|(by, what)| (by, by.name(), format!("{what} {run}")))
                .to_vec(),
            By::Temporary => {
                let name = format!("temporary allocations {run}");
                vec![(By::Temporary, By::Temporary.name(), name)]
            }
            By::Freed => {
                let name = format!("freed {run}, by who freed it");
                vec![(By::Freed, By::Freed.name(), name)]
            }
        };
        for (by, key, name) in ways {
            if by == stacks.by && (by != By::Live || count.when == stacks.when) {
                shown = metrics.len();
            }
            metrics.push(Metric {
                key,
                name,
                series,
                measure: by.measure(),
            });
        }
    }
    (metrics, shown)
}
