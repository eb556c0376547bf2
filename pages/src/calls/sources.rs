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
//! pmem lacked it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use memlog_analysis::{Held, Snapshots};

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

/// All stacks that ever held memory.
pub struct Sources<'s> {
    snapshots: &'s Snapshots,
    lines: Lines,
    threshold: u64,
    sources: HashMap<u32, Source>,
    /// Their ids and frames, as they are printed, once they were.
    texts: HashMap<u32, (u64, String)>,
}

impl<'s> Sources<'s> {
    /// Of a log that was read for snapshots each time that so many bytes came and went.
    pub fn of(
        subject: &Subject<'s>,
        threshold: u64,
        filter: &Filter,
        labels: &mut Labels,
    ) -> Option<Self> {
        let snapshots = subject.analysis.snapshots.as_ref()?;
        let base = snapshots.base();
        let changed = snapshots.all().flat_map(|(_, changes)| changes);
        let stacks = base.iter().map(|&(stack, _)| stack);
        let stacks = stacks.chain(changed.map(|change| change.stack));
        let source = |&(stack, live): &(u32, Held)| {
            let source = Source {
                live,
                ..Source::default()
            };
            (stack, source)
        };
        Some(Self {
            lines: Lines::of(stacks, filter, true, labels),
            sources: base.iter().map(source).collect(),
            texts: HashMap::new(),
            snapshots,
            threshold,
        })
    }

    /// Writes all of them.
    pub fn print(mut self, labels: &mut Labels, out: &mut impl Write) -> io::Result<()> {
        for (index, (one, changes)) in self.snapshots.all().enumerate() {
            let mut text = format!(
                "\n[{index:3}]{:=<57}\nchurn={}/{}\n",
                "",
                one.churn(),
                self.threshold
            );
            for change in changes {
                let source = self.sources.entry(change.stack).or_default();
                source.live = source.live.plus(change.came).minus(change.went);
                source.came = source.came.plus(change.came);
                source.went = source.went.plus(change.went);
                // Without live memory it is nothing that grows.
                if source.live.blocks == 0 || self.lines.end_of(change.stack).is_none() {
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
            out.write_all(text.as_bytes())?;
        }
        out.flush()
    }
}
