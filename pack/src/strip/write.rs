//! One stream's records, those that stay, in chunks of their own.

use std::io;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::Ext;
use memlog_format::filling::{Filling, ROOM};
use memlog_format::meta::ForkPoint;
use memlog_format::passed::Passed;
use memlog_format::varint;
use memlog_read::{Fate, Record};

use super::choose::{Gone, Instead};
use super::has_number;
use super::order::{Order, Run, is_told};

type Out<'o> = &'o mut dyn FnMut(&[u8]) -> io::Result<()>;

/// Writes the records of a stream.
pub(super) struct Writer<'w> {
    stream: u32,
    gone: &'w Gone,
    out: Out<'w>,
    chunk: Box<[u8]>,
    filling: Filling,
    thread: u32,
    /// What a chunk has to tell anew at its beginning.
    scope: Vec<u8>,
    tick: u64,
    /// How many allocations and releases came.
    number: u64,
    /// The allocation that the stream had last of those that stay, 0 where it went.
    last: u64,
    /// Whether others came since.
    others: bool,
    /// What is to be told in place of allocations that are still to come.
    instead: std::slice::Iter<'w, Instead>,
    /// The runs that are still to come; nothing where this stream is the only one.
    runs: Option<std::slice::Iter<'w, Run>>,
    /// How many records came that are counted.
    told: u64,
    /// The number of the next stamp.
    stamp: u64,
}

impl<'w> Writer<'w> {
    pub fn new(stream: u32, gone: &'w Gone, order: &'w Order, out: Out<'w>) -> Self {
        Self {
            stream,
            gone,
            out,
            chunk: vec![0; CHUNK_SIZE].into_boxed_slice(),
            filling: Filling::new(stream),
            thread: 0,
            scope: Vec::new(),
            tick: 0,
            number: 0,
            last: 0,
            others: false,
            instead: gone.instead(stream).iter(),
            runs: order.runs(stream).map(<[Run]>::iter),
            told: 0,
            stamp: 0,
        }
    }

    /// Where the stream stands.
    pub fn place(&self) -> ForkPoint {
        let (sequence, committed) = self.filling.place();
        ForkPoint {
            stream: self.stream,
            sequence,
            committed: committed as u32,
        }
    }

    /// Takes the next record.
    pub fn take(&mut self, record: &Record) -> io::Result<()> {
        if record.thread != 0 && record.at == HEADER_SIZE && record.thread != self.thread {
            self.thread = record.thread;
            // A chunk's header has the thread that begins it.
            self.flush(true)?;
        }
        if record.at == HEADER_SIZE {
            self.leave_scope()?;
        }
        self.tick = record.tick;
        if !is_told(record) || self.runs.is_none() {
            return self.put_record(record);
        }
        let number = self.told;
        self.told += 1;
        let run = self.runs.as_ref().and_then(|runs| runs.as_slice().first());
        let run = run.copied().filter(|run| run.first <= number);
        if let Some(run) = run.filter(|run| run.first == number) {
            self.put(0, |deltas, out| deltas.put_stamp(out, run.stamp))?;
            self.stamp = run.stamp + 1;
        }
        self.put_record(record)?;
        if let Some(run) = run.filter(|run| run.last == number) {
            let stamp = self.stamp;
            self.put(0, |deltas, out| deltas.put_stamp(out, stamp))?;
            self.runs.as_mut().and_then(Iterator::next);
            debug_assert!(run.stamp < stamp);
        }
        Ok(())
    }

    fn put_record(&mut self, record: &Record) -> io::Result<()> {
        let goes = has_number(record) && {
            self.number += 1;
            self.gone.has(self.stream, self.number - 1)
        };
        match record.event {
            Event::Alloc(_) if goes => self.instead(),
            Event::Release(_) if goes => Ok(()),
            Event::Alloc(alloc) => {
                (self.last, self.others) = (alloc.address, false);
                let alloc = Alloc {
                    order: self.order(alloc.order),
                    ..alloc
                };
                self.put(0, |deltas, out| deltas.put_alloc(out, &alloc))
            }
            Event::Release(release) => self.release(&release, record.fate),
            // Time is put where it is needed, and what was revoked did not happen.
            Event::Tick(_) | Event::Revoke => Ok(()),
            // It stood before what was none of its, which may go.
            Event::Ext(Ext::Custom) => Ok(()),
            Event::Stamp(_) if self.runs.is_some() => Ok(()),
            Event::Stamp(stamp) => self.put(0, |deltas, out| deltas.put_stamp(out, stamp)),
            Event::Ext(mut ext) => {
                match &mut ext {
                    Ext::Thread { tid, .. } => {
                        self.thread = *tid;
                        self.scope.clear();
                    }
                    Ext::Scope(text) => self.scope = text.to_vec(),
                    Ext::Passed(_) => self.last = 0,
                    Ext::Rss(rss) if self.runs.is_some() => {
                        rss.stamp = self.stamp;
                        self.stamp += 1;
                    }
                    Ext::Switch(switch) if self.runs.is_some() => {
                        switch.stamp = self.stamp;
                        self.stamp += 1;
                    }
                    _ => {}
                }
                self.put(0, |deltas, out| deltas.put_ext(out, &ext))
            }
        }
    }

    /// An allocation goes, in the place of which blocks alike may be told.
    fn instead(&mut self) -> io::Result<()> {
        self.others = true;
        let number = self.number - 1;
        while let Some(&next) = self.instead.as_slice().first()
            && next.number == number
        {
            self.instead.next();
            // Who reads it takes it for another allocation.
            (self.last, self.others) = (0, false);
            let mut left = next.blocks;
            while left > 0 {
                let blocks = left.min(Passed::MOST);
                left -= blocks;
                let passed = Passed {
                    blocks,
                    ..next.passed
                };
                self.put(0, |deltas, out| deltas.put_ext(out, &Ext::Passed(passed)))?;
            }
        }
        Ok(())
    }

    /// The number of an event: none is needed where stamps tell the order.
    fn order(&self, number: Option<u64>) -> Option<u64> {
        number.filter(|_| self.runs.is_none())
    }

    fn release(&mut self, release: &Release, fate: Option<(Fate, usize)>) -> io::Result<()> {
        let release = &Release {
            order: self.order(release.order),
            ..*release
        };
        match fate {
            Some((Fate::Revoked, _)) => return Ok(()),
            // What comes next is not to be taken for its second half.
            Some((Fate::Unfinished, _)) => {
                self.put(0, |deltas, out| deltas.put_release(out, release))?;
                return self.flush(true);
            }
            Some((Fate::Unseen, second)) => {
                return self.put(second + ROOM, |deltas, out| {
                    deltas.put_release(out, release)
                });
            }
            _ => {}
        }
        if release.address == self.last {
            if self.others {
                self.put(0, |deltas, out| {
                    deltas.put_ext(out, &Ext::Passed(Passed::OTHERS));
                })?;
            }
            (self.last, self.others) = (0, false);
        }
        // Its second half is to stand in the same chunk, if that stays.
        let second = fate.map_or(0, |(_, bytes)| bytes);
        let is_last = self.gone.has(self.stream, self.number);
        let release = Release {
            announced: release.announced && !is_last && second + ROOM < CHUNK_SIZE - HEADER_SIZE,
            ..*release
        };
        let room = if release.announced { second + ROOM } else { 0 };
        self.put(room, |deltas, out| deltas.put_release(out, &release))
    }

    /// Writes what is not written yet. A stream of which nothing stays is there all the same.
    pub fn finish(mut self) -> io::Result<()> {
        if !self.filling.is_begun() && self.filling.place().0 == 0 {
            self.filling.begin(self.thread, self.tick);
        }
        // A seal would be a sign of a next one.
        self.flush(false)
    }

    /// A chunk as it was ends here, and with it the scope that it told; the chunk that is
    /// being filled goes on.
    fn leave_scope(&mut self) -> io::Result<()> {
        let was_in = !std::mem::take(&mut self.scope).is_empty();
        match was_in && self.filling.is_begun() {
            true => self.put(0, |deltas, out| deltas.put_ext(out, &Ext::Scope(&[]))),
            false => Ok(()),
        }
    }

    /// Writes a record where there is `room` behind it.
    fn put(
        &mut self,
        room: usize,
        record: impl Fn(&mut Deltas, &mut varint::Writer),
    ) -> io::Result<()> {
        let now = (self.thread, self.tick);
        // What takes nearly all of a chunk has it for itself.
        let is_usual = room < CHUNK_SIZE / 2;
        if is_usual && !self.filling.is_begun() && !self.scope.is_empty() {
            let scope = std::mem::take(&mut self.scope);
            let put = |deltas: &mut Deltas, out: &mut varint::Writer| {
                deltas.put_ext(out, &Ext::Scope(&scope));
            };
            self.filling.put(&mut self.chunk, now, room, put);
            self.scope = scope;
        }
        while !self.filling.put(&mut self.chunk, now, room, &record) {
            self.flush(true)?;
        }
        Ok(())
    }

    fn flush(&mut self, is_complete: bool) -> io::Result<()> {
        if self.filling.is_begun() {
            let header = self.filling.close(&self.chunk, is_complete);
            self.chunk[..HEADER_SIZE].copy_from_slice(&header.encode());
            (self.out)(&self.chunk)?;
            self.chunk.fill(0);
        }
        Ok(())
    }
}
