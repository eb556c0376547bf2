//! The file, read.

use std::sync::atomic::{AtomicU16, Ordering};

use memlog_format::table::StackId;

use crate::chunk::{self, Bounds, Extent, Rows};
use crate::column::Columns;
use crate::layout::{self, Unfit};
use crate::pack::{Bytes, put_text, put_var};
use crate::places::StackKey;
use crate::steps::Steps;

/// When a block went that never did.
pub const NEVER: u64 = u64::MAX;

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's id.
    pub tid: u32,
    /// Its last name; empty where none was told.
    pub name: Vec<u8>,
}

/// A moment that the program or its user marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// After so many events.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// What it was called.
    pub name: Vec<u8>,
}

/// Resident memory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// After so many events.
    pub event: u64,
    /// When.
    pub tick: u64,
    /// Resident now, or the most so far where only that was told, in kilobytes.
    pub kb: u64,
    /// The recorder's part of it.
    pub own_kb: u64,
    /// Whether it is the most so far.
    pub is_mark: bool,
    /// Its place in the order of the log's stamps.
    pub stamp: u64,
}

/// What a stack held at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes that are live.
    pub(crate) live: u64,
    /// The most that were.
    pub most: u64,
    /// After which event they first were.
    pub event: u64,
}

/// All that a table has besides its rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tail {
    pub events: u64,
    pub rows: u64,
    pub end_tick: u64,
    pub extents: Vec<Extent>,
    pub stacks: Vec<StackKey>,
    pub held: Vec<Held>,
    pub threads: Vec<Thread>,
    pub scopes: Vec<Vec<u8>>,
    pub marks: Vec<Mark>,
    pub readings: Vec<Reading>,
}

impl Tail {
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_var(out, self.events);
        put_var(out, self.rows);
        put_var(out, self.end_tick);
        put_var(out, self.extents.len() as u64);
        self.extents.iter().for_each(|extent| extent.put(out));
        put_var(out, self.stacks.len() as u64);
        for (stack, held) in self.stacks.iter().zip(&self.held) {
            put_var(out, stack.log.into());
            put_var(out, stack.id.0.into());
            put_var(out, held.most);
            put_var(out, held.event);
        }
        put_var(out, self.threads.len() as u64);
        for thread in &self.threads {
            put_var(out, thread.tid.into());
            put_text(out, &thread.name);
        }
        put_var(out, self.scopes.len() as u64);
        self.scopes.iter().for_each(|scope| put_text(out, scope));
        put_var(out, self.marks.len() as u64);
        for mark in &self.marks {
            put_var(out, mark.event);
            put_var(out, mark.tick);
            put_text(out, &mark.name);
        }
        put_var(out, self.readings.len() as u64);
        let (mut event, mut tick) = (0, 0);
        for reading in &self.readings {
            put_var(
                out,
                reading.event - std::mem::replace(&mut event, reading.event),
            );
            put_var(
                out,
                reading.tick - std::mem::replace(&mut tick, reading.tick),
            );
            put_var(out, reading.kb << 1 | u64::from(reading.is_mark));
            put_var(out, reading.stamp);
            put_var(out, reading.own_kb);
        }
    }

    fn read(bytes: &mut Bytes) -> Option<Self> {
        let mut tail = Self {
            events: bytes.var()?,
            rows: bytes.var()?,
            end_tick: bytes.var()?,
            ..Self::default()
        };
        // A list grows as it is read: a number says nothing of what there is.
        let mut end = 0;
        for _ in 0..bytes.var()? {
            let extent = Extent::read(bytes)?;
            // Each lies behind the one before, so rows are bound by bytes.
            end = extent.piece.end_behind(end)?;
            tail.extents.push(extent);
        }
        for _ in 0..bytes.var()? {
            tail.stacks.push(StackKey {
                log: u32::try_from(bytes.var()?).ok()?,
                id: StackId(u32::try_from(bytes.var()?).ok()?),
            });
            tail.held.push(Held {
                live: 0,
                most: bytes.var()?,
                event: bytes.var()?,
            });
        }
        for _ in 0..bytes.var()? {
            tail.threads.push(Thread {
                tid: u32::try_from(bytes.var()?).ok()?,
                name: bytes.text()?.to_vec(),
            });
        }
        for _ in 0..bytes.var()? {
            tail.scopes.push(bytes.text()?.to_vec());
        }
        for _ in 0..bytes.var()? {
            tail.marks.push(Mark {
                event: bytes.var()?,
                tick: bytes.var()?,
                name: bytes.text()?.to_vec(),
            });
        }
        let (mut event, mut tick) = (0u64, 0u64);
        for _ in 0..bytes.var()? {
            event = event.checked_add(bytes.var()?)?;
            tick = tick.checked_add(bytes.var()?)?;
            let (kb, stamp, own_kb) = (bytes.var()?, bytes.var()?, bytes.var()?);
            tail.readings.push(Reading {
                event,
                tick,
                kb: kb >> 1,
                own_kb,
                is_mark: kb & 1 != 0,
                stamp,
            });
        }
        let rows: u64 = tail.extents.iter().map(|extent| extent.rows).sum();
        (rows == tail.rows).then_some(tail)
    }
}

/// A log's blocks.
pub struct Table<'b> {
    file: &'b [u8],
    tail: Tail,
    /// Of each chunk, columns that were found to be sound together, as bits; none before the
    /// chunk was found whole. A server passes over the same chunks all day.
    proven: Vec<AtomicU16>,
    steps: Steps<'b>,
    figures: &'b [u8],
    mappings: &'b [u8],
}

impl<'b> Table<'b> {
    /// Reads a table that was made with this key, of a log that has no more events than
    /// these. A checksum tells what was torn, and nothing of who wrote it.
    pub fn open(file: &'b [u8], key: &[u8], most_events: u64) -> Result<Self, Unfit> {
        let mut bytes = layout::tail(file, key)?;
        let read = |bytes: &mut Bytes<'b>| {
            let tail = Tail::read(bytes)?;
            Some(Self {
                file,
                proven: tail.extents.iter().map(|_| AtomicU16::new(0)).collect(),
                tail,
                steps: Steps::read(bytes, file)?,
                figures: bytes.text()?,
                mappings: bytes.text()?,
            })
        };
        let table = read(&mut bytes).ok_or(Unfit::Torn)?;
        // An event takes a bit of memory where blocks are marked by it.
        match table.tail.events <= most_events {
            true => Ok(table),
            false => Err(Unfit::Torn),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> u64 {
        self.tail.rows
    }

    /// How many events the log has.
    pub fn events(&self) -> u64 {
        self.tail.events
    }

    /// When the log ended.
    pub fn end_tick(&self) -> u64 {
        self.tail.end_tick
    }

    /// The pieces that its rows are read in.
    pub fn chunks(&self) -> &[Extent] {
        &self.tail.extents
    }

    /// Reads so many columns of the rows of the chunk at this place; nothing if the file was
    /// not what was written when they were first read, or rows name what the table does not
    /// have.
    pub fn read(&self, place: usize, columns: Columns, rows: &mut Rows) -> Result<(), Unfit> {
        let chunk = self.tail.extents.get(place).ok_or(Unfit::Torn)?;
        let proven = self.proven.get(place).ok_or(Unfit::Torn)?;
        // No other memory hangs on it: who sees an old value looks once more.
        let known = Columns(proven.load(Ordering::Relaxed));
        let is_known = known.and(columns) == known;
        // The checksum is of all columns.
        if known == Columns::NONE && !chunk.piece.is_whole(self.file) {
            return Err(Unfit::Torn);
        }
        chunk::read(self.file, chunk, columns, rows).ok_or(Unfit::Torn)?;
        if is_known {
            return Ok(());
        }
        let bounds = Bounds {
            events: self.tail.events,
            stacks: self.tail.stacks.len() as u64,
            threads: self.tail.threads.len() as u64,
            scopes: self.tail.scopes.len() as u64,
        };
        if !rows.are_within(&bounds) {
            return Err(Unfit::Torn);
        }
        // Columns are compared with each other, so two sets that are sound are not one.
        if known.and(columns) == columns {
            proven.store(columns.0, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The stacks that rows name.
    pub fn stacks(&self) -> &[StackKey] {
        &self.tail.stacks
    }

    /// What each of them held at most.
    pub fn held(&self) -> &[Held] {
        &self.tail.held
    }

    /// The threads that rows name.
    pub fn threads(&self) -> &[Thread] {
        &self.tail.threads
    }

    /// The tags that rows name, each the names of the scopes that a thread was in. The
    /// first says that there was none, and the two behind it that nobody knows which.
    pub fn scopes(&self) -> &[Vec<u8>] {
        &self.tail.scopes
    }

    /// What was marked.
    pub fn marks(&self) -> &[Mark] {
        &self.tail.marks
    }

    /// What the kernel said of resident memory.
    pub fn readings(&self) -> &[Reading] {
        &self.tail.readings
    }

    /// What happened when.
    pub fn steps(&self) -> &Steps<'b> {
        &self.steps
    }

    /// What its owner wanted to keep with it.
    pub fn figures(&self) -> &'b [u8] {
        self.figures
    }

    /// What the program mapped: a table with the same key, whose rows are parts of
    /// mappings, and whose events are the calls that mapped and unmapped.
    pub fn mappings(&self) -> &'b [u8] {
        self.mappings
    }
}
