//! Whether a process made few events, as most do of those that a build starts,
//! found out without reading much of a large log.

use std::fs::File;
use std::io;

use memlog_format::chunk::{CHUNK_SIZE, Header, Kind};
use memlog_format::event::Event;
use memlog_format::ext::Ext;
use memlog_read::records;

use super::{Glance, chunks, complete, given_bytes, is_flight};

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
