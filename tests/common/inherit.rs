//! What a forked child got from its parent.
//!
//! Both recorders say where the parent stood at the fork. The two points are not
//! made at one instant, but the child has only one: its own copy of memory. So
//! for each of the parent's threads the events before the one point are the
//! events before the other, but for the call that another thread was inside.

use std::collections::HashMap;

use memlog_read::Log;

use super::Event;
use super::compare::by_thread;
use super::logs::{Recorded, heap_event};
use super::pairs::{Family, Pair};

/// Compares every forked child's inheritance; returns how many blocks the
/// children released that they had inherited.
pub fn check(family: &Family, problems: &mut Vec<String>) -> u64 {
    let mut released = 0;
    for child in &family.pairs {
        if child.gold.parent.is_none() {
            continue;
        }
        match parent_of(child, family) {
            Some(parent) => {
                let said = compare_fork_points(child, parent);
                let name = child.ours.name();
                problems.extend(said.into_iter().map(|line| format!("{name}: {line}")));
            }
            None => problems.push(format!("{}: its parent has no pair", child.ours.name())),
        }
        match check_releases(child, family) {
            Ok(count) => released += count,
            Err(error) => problems.push(error),
        }
    }
    released
}

fn parent_of<'f>(child: &Pair, family: &'f Family) -> Option<&'f Pair> {
    let (path, _) = child.gold.parent.as_ref()?;
    family.pairs.iter().find(|pair| pair.gold.path == *path)
}

fn compare_fork_points(child: &Pair, parent: &Pair) -> Vec<String> {
    let point = child.gold.parent.as_ref().map_or(0, |(_, point)| *point);
    let mut said = Vec::new();
    if child.ours.parent_log.as_ref().map(|path| path.file_name())
        != Some(parent.ours.path.file_name())
    {
        let named = &child.ours.parent_log;
        said.push(format!("names {named:?} as its parent's log"));
    }
    let before: Vec<Event> = inherited_events(&child.ours, &parent.ours);
    let mut ours = by_thread(&before);
    let gold_before = parent.gold.heap.iter().filter(|event| event.mark < point);
    let gold = by_thread(&gold_before.copied().collect::<Vec<_>>());
    // Of a fork inside of libc nobody is told the number.
    let by = |number| move |(_, pid): &&(u32, u32)| *pid == number;
    let forks = || parent.ours.forks.iter();
    let forker = forks().find(by(child.ours.pid));
    let forker = forker.or_else(|| forks().find(by(0)));
    for (tid, gold) in gold {
        let ours = ours.remove(&tid).unwrap_or_default();
        let same = ours.iter().zip(&gold).take_while(|(o, g)| o.is_same(g));
        let same = same.count();
        let is_forker = forker.is_some_and(|(forker, _)| *forker == tid);
        // A realloc is two events.
        let slack = if is_forker { 0 } else { 2 };
        if same < ours.len().min(gold.len()) || ours.len().abs_diff(gold.len()) > slack {
            said.push(format!(
                "of its parent's thread {tid} it inherited {} events, by gold {}; the first \
                 {same} are the same",
                ours.len(),
                gold.len()
            ));
        }
    }
    for (tid, ours) in ours {
        if ours.len() > 1 {
            let count = ours.len();
            said.push(format!(
                "it inherited {count} events of thread {tid}, by gold none"
            ));
        }
    }
    if forker.is_none() {
        said.push("its parent's log has no FORK with its number".to_owned());
    }
    said
}

fn inherited_events(child: &Recorded, parent: &Recorded) -> Vec<Event> {
    let (child, parent): (Log, Log) = (child.log(), parent.log());
    let events = parent.events_until(child.fork_points());
    events.filter_map(|item| heap_event(&item)).collect()
}

/// Each release of a block that the child did not allocate must be of one that
/// memlog says it inherited.
fn check_releases(child: &Pair, family: &Family) -> Result<u64, String> {
    let mut own: HashMap<u64, ()> = HashMap::new();
    let mut foreign = Vec::new();
    for event in &child.ours.heap {
        if !event.is_release {
            own.insert(event.address, ());
        } else if own.remove(&event.address).is_none() {
            foreign.push(event.address);
        }
    }
    if foreign.is_empty() {
        return Ok(0);
    }
    let mut line = vec![child];
    while let Some(parent) = line.last().and_then(|pair| parent_of(pair, family)) {
        line.push(parent);
    }
    let mut live: HashMap<u64, ()> = HashMap::new();
    for generation in line.windows(2).rev() {
        for event in inherited_events(&generation[0].ours, &generation[1].ours) {
            match event.is_release {
                true => live.remove(&event.address),
                false => live.insert(event.address, ()),
            };
        }
    }
    for address in &foreign {
        if live.remove(address).is_none() {
            let name = child.ours.name();
            return Err(format!(
                "{name}: it released {address:#x}, which it neither allocated nor inherited"
            ));
        }
    }
    Ok(foreign.len() as u64)
}
