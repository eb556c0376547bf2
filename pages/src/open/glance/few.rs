//! Whether a process did little, as most do of those that a build starts, found
//! out without reading much of a large log.

use std::fs::File;
use std::io;

use memlog_format::chunk::{CHUNK_SIZE, Header, Kind};
use memlog_format::counter::{ALL, Counter};
use memlog_format::event::Event;
use memlog_format::ext::Ext;
use memlog_format::meta::Key;
use memlog_read::{Log, records};

use super::{Glance, chunks, complete, given_bytes, is_flight};

/// Fewer events are few.
pub const FEW_EVENTS: u64 = 100;
/// A resident set below this is small.
const SMALL_BYTES: u64 = 16 << 20;

/// Whether there is more to say of a log than what was allocated: it is a rank's,
/// or it lacks events, or its process got no memory, or was killed. A rank's
/// children are like any others.
pub fn says_more(log: &Log) -> bool {
    let is_rank = log.text(Key::Rank).is_some() && log.rank_parent().is_none();
    let is_there = |counter| log.counter(counter) != 0;
    let mut losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
    losses.any(|(counter, _)| is_there(*counter))
        || is_there(Counter::AllocationsFailed)
        || is_there(Counter::QuietSince)
        || log.death().is_some()
        || is_rank
}

/// What a process did that did little.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Few {
    /// Allocations and releases.
    pub events: u64,
    /// The children that it forked, 0 where the number was not known.
    pub forked: Vec<u32>,
}

/// In so many bytes, and so many for each, are that many events most likely.
const FIRST_BYTES: u64 = 2048;
const BYTES_AN_EVENT: u64 = 12;

impl Glance {
    /// What its process did, where that were fewer events than `limit` and all
    /// of them can be read. A flight recorder's log is for large programs.
    pub fn few(&self, limit: u64) -> io::Result<Option<Few>> {
        if is_flight(&self.metas) {
            return Ok(None);
        }
        let mut few = Few::default();
        for (at, header) in chunks(&self.file, self.length, given_bytes(&self.metas)) {
            if let Some(header) = header.filter(|header| header.kind == Kind::Events)
                && !few.take(&self.file, at, &header, limit)?
            {
                return Ok(None);
            }
        }
        Ok(Some(few))
    }
}

impl Few {
    /// Whether a process of this peak of resident memory did little. Who lived so
    /// shortly that its size was never read was not large.
    pub fn is_little(&self, rss_peak_bytes: u64) -> bool {
        self.events < FEW_EVENTS && rss_peak_bytes < SMALL_BYTES
    }

    /// Adds those of a chunk; false if they are not few.
    fn take(&mut self, file: &File, at: u64, header: &Header, limit: u64) -> io::Result<bool> {
        let committed = (header.committed as usize).min(CHUNK_SIZE);
        let likely = FIRST_BYTES.saturating_add(limit.saturating_mul(BYTES_AN_EVENT));
        let likely = committed.min(usize::try_from(likely).unwrap_or(committed));
        let mut chunk = Vec::with_capacity(likely);
        complete(file, at, &mut chunk, likely)?;
        let mut found = Self::of(header, &chunk);
        if likely < committed && self.events + found.0.events < limit {
            complete(file, at, &mut chunk, committed)?;
            found = Self::of(header, &chunk);
        }
        let (found, is_whole) = found;
        self.events += found.events;
        self.forked.extend(found.forked);
        Ok(is_whole && chunk.len() == committed && self.events < limit)
    }

    /// Those of a chunk, and whether all of it could be read.
    fn of(header: &Header, chunk: &[u8]) -> (Self, bool) {
        let mut few = Self::default();
        for record in records(header, chunk) {
            match record {
                Ok(Event::Alloc(_) | Event::Release(_)) => few.events += 1,
                Ok(Event::Ext(Ext::Fork { child })) => few.forked.push(child),
                Ok(_) => {}
                Err(_) => return (few, false),
            }
        }
        (few, true)
    }
}
