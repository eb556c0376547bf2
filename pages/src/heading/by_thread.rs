//! Which threads asked for what was live when the process was biggest.

use std::collections::HashMap;

use memlog_analysis::{Held, Moment, Summary};
use memlog_read::Log;
use serde_json::{Value, json};

use crate::facts::when_biggest;
use crate::open::Analysis;
use crate::words::{clean, counted, grouped, percentage};

/// Names are told of so many; the others together.
pub(super) const MOST_NAMED: usize = 4;
/// What holds less is no name to know.
pub(super) const LEAST_PERCENT: f64 = 1.0;

/// Of what the first share is one.
pub(super) fn of_live(log: &Log, summary: &Summary) -> String {
    format!(" of what was live {} allocated", when_biggest(log, summary))
}

/// Threads that are told of as one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Who {
    /// The one that the process began with.
    Main,
    /// Those of a name.
    Named(String),
    /// Those without one.
    Nameless,
    /// A forked child's parent, whose threads are not the child's.
    Parent,
}

impl Who {
    fn of(log: &Log, analysis: &Analysis, tid: u32) -> Self {
        if log.start().is_some_and(|start| start.pid == tid) {
            return Who::Main;
        }
        match analysis.tally.threads().get(tid) {
            Some(thread) if thread.name.is_empty() => Who::Nameless,
            Some(thread) => Who::Named(clean(&thread.name)),
            None if log.parent_pid().is_some() => Who::Parent,
            None => Who::Nameless,
        }
    }

    fn told(&self, threads: u64) -> String {
        let name = match self {
            Who::Main => return "the main thread".into(),
            Who::Parent => return "threads of before the fork".into(),
            Who::Nameless => "threads without a name",
            Who::Named(name) => name,
        };
        match threads {
            1 => name.into(),
            _ => format!("{name} ({})", counted(threads, "thread")),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Group {
    threads: u64,
    held: Held,
}

/// Their shares, those who asked for most first; nothing where the main thread
/// asked for all.
pub fn parts(log: &Log, analysis: &Analysis) -> Vec<String> {
    let mut groups: HashMap<Who, Group> = HashMap::new();
    let mut total = 0u64;
    for (tid, held) in analysis.tally.held_by_thread(Moment::RssPeak) {
        let group = groups.entry(Who::of(log, analysis, tid)).or_default();
        group.threads += 1;
        group.held = group.held.plus(held);
        total = total.saturating_add(held.bytes);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(who, group)| (u64::MAX - group.held.bytes, who.told(group.threads)));
    let percent = |group: &Group| percentage(group.held.bytes, total);
    let is_told = |group: &Group| percent(group) >= LEAST_PERCENT;
    let count = groups.iter().filter(|(_, group)| is_told(group)).count();
    let told = count.min(MOST_NAMED);
    if count == 0 || (count == 1 && groups[0].0 == Who::Main) {
        return Vec::new();
    }
    let rest = groups.split_off(told);
    let mut parts = Vec::new();
    for (who, group) in &groups {
        let of = match parts.is_empty() {
            true => of_live(log, &analysis.summary),
            false => String::new(),
        };
        let told = who.told(group.threads);
        parts.push(format!("{:.1} %{of} by {told}", percent(group)));
    }
    let rest = rest.iter().fold(Group::default(), |sum, (_, group)| Group {
        threads: sum.threads + group.threads,
        held: sum.held.plus(group.held),
    });
    if percent(&rest) >= 0.05 {
        let threads = grouped(rest.threads);
        parts.push(format!("{:.1} % by {threads} more", percent(&rest)));
    }
    parts
}

/// All of them, those who asked for most first.
pub fn figures(analysis: &Analysis) -> Value {
    let mut threads: Vec<_> = analysis.tally.held_by_thread(Moment::RssPeak).collect();
    threads.sort_by_key(|&(tid, held)| (u64::MAX - held.bytes, tid));
    let told = threads.iter().map(|(tid, held)| {
        let name = analysis.tally.threads().get(*tid);
        json!({
            "tid": tid,
            "name": name.map(|thread| clean(&thread.name)),
            "bytes": held.bytes,
            "blocks": held.blocks,
        })
    });
    told.collect()
}
