//! Snapshots as pmem wrote them: a text of the stacks that did something and still hold
//! memory, with bytes where pmem counted calls.
//!
//! ```text
//! [  3]=========================================================
//! churn=1049211/1048576
//!
//! {ca9f786f088a4a78} live:5436, alloc:5/12000, free:6564/6564
//!   {0} take+28
//!   {1} main+17
//! ```
//!
//! The last one is of the end of the log, and its churn is less than the threshold:
//! pmem lacked it. Snapshots that are taken by time say when: `churn=1049211 at 30.000 s`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use memlog_analysis::{Held, Snapshot, StackChange};

use super::filter::Filter;
use super::held::Lines;
use crate::names::Labels;
use crate::subject::Subject;

/// A stack since the log's beginning.
#[derive(Clone, Copy, Default)]
struct Source {
    live: Held,
    came: Held,
    went: Held,
}

/// All stacks that ever held memory, snapshot by snapshot.
pub struct Sources {
    threshold: Option<u64>,
    /// Nanoseconds of a tick, where each says when it is.
    tick_ns: Option<u64>,
    index: usize,
    sources: HashMap<u32, Source>,
    /// Their ids and frames, as they are printed, once they were.
    texts: HashMap<u32, (u64, String)>,
}

impl Sources {
    /// None yet but what each stack held before the first event. There is a snapshot each
    /// time that so many bytes came and went, if that is given.
    pub fn new(base: &[(u32, Held)], threshold: Option<u64>, tick_ns: Option<u64>) -> Self {
        let source = |&(stack, live): &(u32, Held)| {
            let source = Source {
                live,
                ..Source::default()
            };
            (stack, source)
        };
        Self {
            threshold,
            tick_ns,
            index: 0,
            sources: base.iter().map(source).collect(),
            texts: HashMap::new(),
        }
    }

    /// The text of the next one; `keeps` says which stacks are wanted.
    pub fn next(
        &mut self,
        (one, changes): (&Snapshot, &[StackChange]),
        labels: &mut Labels,
        mut keeps: impl FnMut(u32, &mut Labels) -> bool,
    ) -> String {
        let threshold = self.threshold.map(|bytes| format!("/{bytes}"));
        let seconds = self.tick_ns.map(|ns| one.tick as f64 * ns as f64 / 1e9);
        let when = seconds.map(|seconds| format!(" at {seconds:.3} s"));
        let mut text = format!(
            "\n[{:3}]{:=<57}\nchurn={}{}{}\n",
            self.index,
            "",
            one.churn(),
            threshold.unwrap_or_default(),
            when.unwrap_or_default(),
        );
        self.index += 1;
        for change in changes {
            let source = self.sources.entry(change.stack).or_default();
            source.live = source.live.plus(change.came).minus(change.went);
            source.came = source.came.plus(change.came);
            source.went = source.went.plus(change.went);
            // Without live memory it is nothing that grows.
            if source.live.blocks == 0 || !keeps(change.stack, labels) {
                continue;
            }
            let texts = self.texts.entry(change.stack);
            let (id, frames) = texts.or_insert_with(|| labels.source(change.stack));
            // A String takes everything.
            let _ = writeln!(
                text,
                "\n{{{id:x}}} live:{}, alloc:{}/{}, free:{}/{}\n{frames}",
                source.live.bytes,
                change.came.bytes,
                source.came.bytes,
                change.went.bytes,
                source.went.bytes,
                frames = frames.trim_end(),
            );
        }
        text
    }
}

/// Writes all snapshots of a log that was read for them.
pub fn print_sources(
    subject: &Subject,
    threshold: u64,
    filter: &Filter,
    (labels, out): (&mut Labels, &mut impl Write),
) -> io::Result<()> {
    let Some(snapshots) = &subject.analysis.snapshots else {
        return Ok(());
    };
    let base = snapshots.base();
    let changed = snapshots.all().flat_map(|(_, changes)| changes);
    let stacks = base.iter().map(|&(stack, _)| stack);
    let stacks = stacks.chain(changed.map(|change| change.stack));
    let lines = Lines::of(stacks, filter, true, labels);
    let mut sources = Sources::new(base, Some(threshold), None);
    for one in snapshots.all() {
        let keeps = |stack, _: &mut Labels| lines.end_of(stack).is_some();
        out.write_all(sources.next(one, labels, keeps).as_bytes())?;
    }
    out.flush()
}
