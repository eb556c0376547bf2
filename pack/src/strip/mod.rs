//! A log without the events of blocks that lived shortly.
//!
//! It is read in the order of what happened, to see which blocks go (`choose`) and in which
//! order the others are (`order`); and then stream by stream, to write what stays (`write`). Stacks, names, readings and all else stay
//! as they are. Of the blocks that go their stream tells how many of each size and stack there
//! were: of the first of them in its place, and of the others in that of the last.

mod choose;
mod cuts;
mod layout;
mod order;
mod write;

use std::io;

use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::event::Event;
use memlog_format::meta::ForkPoint;
use memlog_format::stripped::Stripped;
use memlog_read::{Fate, Log, Record};

pub use choose::{Gone, Progress, choose};
use layout::{Metas, tables};
pub use order::Order;
use write::Writer;

/// Which blocks stay whatever their lifetime.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// Blocks that lived less than so many ticks go; without it all that went.
    pub below_ticks: Option<u64>,
    /// Those that were live after so many allocations and releases stay.
    pub moments: Vec<u64>,
    /// And those that a forked process inherited: where the log's streams stood at each fork.
    pub forks: Vec<Vec<ForkPoint>>,
}

/// A log as it is to be written.
pub struct Plan<'p, 'a> {
    bytes: &'a [u8],
    log: &'p Log<'a>,
    gone: &'p Gone,
    order: &'p Order,
    rule: &'p Rule,
    /// Chunks of events.
    chunks: usize,
    forks: Vec<Vec<ForkPoint>>,
}

impl<'p, 'a> Plan<'p, 'a> {
    /// Finds out where everything will lie in the log of these bytes.
    pub fn new(
        bytes: &'a [u8],
        log: &'p Log<'a>,
        (gone, order): (&'p Gone, &'p Order),
        rule: &'p Rule,
    ) -> Self {
        let mut plan = Self {
            bytes,
            log,
            gone,
            order,
            rule,
            chunks: 0,
            forks: Vec::new(),
        };
        let mut chunks = 0;
        let count = &mut |_: &[u8]| {
            chunks += 1;
            Ok(())
        };
        // Counting fails at nothing.
        plan.forks = plan.events(count).unwrap_or_default();
        plan.chunks = chunks;
        plan
    }

    /// Where its streams stand at each of the forks.
    pub fn forks(&self) -> &[Vec<ForkPoint>] {
        &self.forks
    }

    /// Writes it, and what it says of itself. `forks` are the log's own fork points, if its
    /// parent's log is stripped too.
    pub fn write(
        &self,
        stripped: Stripped,
        forks: Option<&[ForkPoint]>,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let stripped = Stripped {
            with_parent: forks.is_some(),
            ..stripped
        };
        let tables: Vec<&[u8]> = tables(self.bytes).collect();
        let before = 1 + self.chunks + tables.len();
        let metas = Metas::new(self.bytes, stripped, forks, before);
        let (first, others) = metas.split();
        out.write_all(first)?;
        self.events(&mut |chunk| out.write_all(chunk))?;
        for table in tables {
            out.write_all(table)?;
            // The last of a file that was cut.
            out.write_all(&vec![0; CHUNK_SIZE - table.len()])?;
        }
        others.iter().try_for_each(|chunk| out.write_all(chunk))
    }

    /// Writes the chunks of events; where the streams stand at each of the forks.
    fn events(
        &self,
        out: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Vec<Vec<ForkPoint>>> {
        let mut forks = vec![Vec::new(); self.rule.forks.len()];
        for (stream, records) in self.log.streams() {
            let mut cuts = cuts::of(stream, &self.rule.forks);
            let mut writer = Writer::new(stream, self.gone, self.order, &mut *out);
            for record in records {
                while let Some(cut) = cuts.next_if(|cut| cut.is_through(&record)) {
                    forks[cut.fork].push(writer.place());
                }
                writer.take(&record)?;
            }
            let end = writer.place();
            cuts.for_each(|cut| forks[cut.fork].push(end));
            writer.finish()?;
        }
        Ok(forks)
    }
}

/// Whether a record is an allocation or a release that happened: those have numbers.
fn has_number(record: &Record) -> bool {
    match record.event {
        Event::Alloc(_) => true,
        Event::Release(_) => matches!(record.fate, None | Some((Fate::Happened, _))),
        _ => false,
    }
}
