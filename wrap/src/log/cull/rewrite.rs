//! A chunk without the blocks that go, and what is told in their place.
//!
//! What stays is what it was, in its order, each with its time. Blocks that go are
//! counted by all that they have but time and address, at the end. Whoever reads it takes
//! such a count for an allocation: what came before it is not the thread's last one any
//! more. So where that one stays, and is the last as yet, the count stands before it; and
//! where it is not, and no count says so, a count of no blocks does. Another says before
//! each moment that blocks went since the one before.

use super::pairs::{Records, is_moment};
use super::scratch::{Came, Scratch};
use memlog_format::api::Api;
use memlog_format::chunk::{HEADER_SIZE, Header};
use memlog_format::event::{Alloc, Deltas, Event, Release};
use memlog_format::ext::Ext;
use memlog_format::passed::Passed;
use memlog_format::table::StackId;
use memlog_format::varint::Writer;

/// A chunk that was written anew.
pub struct Written {
    /// How much of it is valid.
    pub committed: u32,
    /// What the next record is relative to.
    pub deltas: Deltas,
    /// Bytes of blocks that went and were live at one moment, at most.
    pub most_bytes: u64,
}

/// No address: what is known of the last allocation that stays.
const NONE: u64 = 0;
const UNKNOWN: u64 = u64::MAX;

struct Rewrite<'s, 'o> {
    scratch: &'s mut Scratch,
    out: &'o mut [u8],
    /// Where the next record goes.
    at: usize,
    is_full: bool,
    deltas: Deltas,
    /// Allocations and releases so far.
    event: u16,
    /// The thread's last allocation, by its number, as long as it lives.
    last: u16,
    /// The same of those that stay, by its address, as a reader will have it.
    last_told: u64,
    /// Where its record is.
    last_at: usize,
    /// Whether others came since that are not told yet.
    others: bool,
    /// Whether blocks went since the last moment.
    went: bool,
    live_bytes: u64,
    most_bytes: u64,
}

/// Writes the records of a chunk into `out`, which begins with a header: those before
/// `from` as they are, and those that [`find`](super::pairs::find) left of the others.
/// Nothing where there is no room.
pub fn rewrite(
    scratch: &mut Scratch,
    header: &Header,
    (bytes, from): (&[u8], usize),
    out: &mut [u8],
) -> Option<Written> {
    let mut records = Records::new(header, bytes);
    if !records.pass(from) {
        return None;
    }
    let kept = out.get_mut(HEADER_SIZE..from)?;
    for (place, &byte) in kept.iter_mut().zip(bytes.get(HEADER_SIZE..from)?) {
        *place = byte;
    }
    let mut rewrite = Rewrite {
        scratch,
        out,
        at: from,
        is_full: false,
        deltas: records.deltas,
        event: 0,
        last: 0,
        last_told: UNKNOWN,
        last_at: 0,
        others: false,
        went: false,
        live_bytes: 0,
        most_bytes: 0,
    };
    while records.has_more() {
        let event = records.next()?;
        rewrite.take(&event, &records)?;
    }
    rewrite.tell_sums(records.deltas.tick);
    if rewrite.others {
        rewrite.tell_others(records.deltas.tick);
    }
    rewrite.be_at(records.deltas.tick);
    (!rewrite.is_full).then_some(Written {
        committed: rewrite.at as u32,
        deltas: rewrite.deltas,
        most_bytes: rewrite.most_bytes,
    })
}

impl Rewrite<'_, '_> {
    fn take(&mut self, event: &Event, records: &Records) -> Option<()> {
        let tick = records.deltas.tick;
        match event {
            Event::Alloc(alloc) => self.alloc(alloc, tick),
            Event::Release(release) if records.happened(release)? => {
                self.release(release, (records.tid, tick))?;
            }
            Event::Release(release) => {
                self.be_at(tick);
                self.put(|deltas, out| deltas.put_release(out, release));
            }
            Event::Revoke => self.put(|deltas, out| deltas.put_revoke(out)),
            // Time is told where it is needed.
            Event::Tick(_) => {}
            Event::Stamp(stamp) => {
                self.be_at(tick);
                self.put(|deltas, out| deltas.put_stamp(out, *stamp));
            }
            // Told with those that go now.
            Event::Ext(Ext::Passed(passed)) => {
                (self.last, self.others, self.went) = (0, true, true);
                if passed.blocks > 0 {
                    self.sum(passed, tick);
                }
            }
            Event::Ext(ext) => {
                if is_moment(event, true) && core::mem::take(&mut self.went) {
                    self.tell_others(tick);
                }
                self.be_at(tick);
                self.put(|deltas, out| deltas.put_ext(out, ext));
            }
        }
        Some(())
    }

    /// Whose the next event is.
    fn next(&mut self) -> (u16, Option<Came>) {
        let number = self.scratch.number_of(self.event);
        self.event += 1;
        (number, self.scratch.came(number).copied())
    }

    fn alloc(&mut self, alloc: &Alloc, tick: u64) {
        let (number, came) = self.next();
        self.last = number;
        if came.is_some_and(|came| came.goes) {
            (self.others, self.went) = (true, true);
            self.live_bytes = self.live_bytes.saturating_add(alloc.size);
            self.most_bytes = self.most_bytes.max(self.live_bytes);
            return;
        }
        self.be_at(tick);
        (self.last_told, self.last_at, self.others) = (alloc.address, self.at, false);
        self.put(|deltas, out| deltas.put_alloc(out, alloc));
    }

    fn release(&mut self, release: &Release, (releaser, tick): (u32, u64)) -> Option<()> {
        let (number, came) = self.next();
        let is_last = number != 0 && number == self.last;
        if is_last {
            self.last = 0;
        }
        match came.filter(|came| came.goes) {
            Some(came) => {
                self.live_bytes = self.live_bytes.saturating_sub(came.size);
                let passed = Passed {
                    tid: came.tid,
                    api: Api::from_number(came.api)?,
                    alignment_log2: came.alignment_log2,
                    size: came.size,
                    usable: came.usable,
                    stack: StackId(came.stack),
                    releaser,
                    release_stack: release.stack,
                    temporary: is_last,
                    // Perhaps it was announced before what it became went.
                    moved: release.api.is_realloc(),
                    blocks: 1,
                };
                self.sum(&passed, tick);
            }
            None => self.stays(release, tick),
        }
        Some(())
    }

    /// A release that stays.
    fn stays(&mut self, release: &Release, tick: u64) {
        let is_last = self.last_told == release.address;
        if self.others && (is_last || self.last_told == UNKNOWN) {
            self.tell_others(tick);
        }
        if is_last {
            self.last_told = NONE;
        }
        // What its block became may be gone, and then nothing says that it happened.
        let next = self.scratch.came(self.scratch.number_of(self.event));
        let release = Release {
            announced: release.announced && !next.is_some_and(|next| next.goes),
            ..*release
        };
        self.be_at(tick);
        self.put(|deltas, out| deltas.put_release(out, &release));
    }

    fn be_at(&mut self, tick: u64) {
        self.put(|deltas, out| deltas.put_tick(out, tick));
    }

    fn put(&mut self, put: impl FnOnce(&mut Deltas, &mut Writer)) {
        let mut out = Writer::new(self.out.get_mut(self.at..).unwrap_or(&mut []));
        put(&mut self.deltas, &mut out);
        match out.finish() {
            Some(bytes) => self.at += bytes,
            None => self.is_full = true,
        }
    }

    fn sum(&mut self, passed: &Passed, tick: u64) {
        if !self.scratch.sum(passed) {
            self.tell_sums(tick);
            self.scratch.sum(passed);
        }
    }

    /// Tells of the blocks that went so far.
    fn tell_sums(&mut self, tick: u64) {
        if self.scratch.has_no_sums() {
            return;
        }
        let bytes = self.out.get_mut(self.at..).unwrap_or(&mut []);
        let mut out = Writer::new(bytes);
        let deltas = &mut self.deltas;
        // Time is told where it is not told already.
        let is_behind_last = self.others || matches!(self.last_told, NONE | UNKNOWN);
        if is_behind_last {
            deltas.put_tick(&mut out, tick);
        }
        self.scratch
            .each_sum(|passed| deltas.put_ext(&mut out, &Ext::Passed(passed)));
        self.scratch.forget_sums();
        let bytes = out.finish();
        self.told(bytes, is_behind_last);
    }

    fn tell_others(&mut self, tick: u64) {
        let is_behind_last = self.others || matches!(self.last_told, NONE | UNKNOWN);
        if is_behind_last {
            self.be_at(tick);
        }
        let mut out = Writer::new(self.out.get_mut(self.at..).unwrap_or(&mut []));
        self.deltas.put_ext(&mut out, &Ext::Passed(Passed::OTHERS));
        let bytes = out.finish();
        self.told(bytes, is_behind_last);
    }

    /// So many bytes tell of blocks that went. They are to stand before the thread's last
    /// allocation, if that is there and lives: no record is relative to one of these.
    fn told(&mut self, bytes: Option<usize>, is_behind_last: bool) {
        let Some(bytes) = bytes else {
            self.is_full = true;
            return;
        };
        self.at += bytes;
        if is_behind_last {
            (self.last_told, self.others) = (NONE, false);
            return;
        }
        let moved = self.out.get_mut(self.last_at..self.at);
        rotate(moved.unwrap_or(&mut []), bytes);
        self.last_at += bytes;
    }
}

/// Moves the last so many bytes to the front.
fn rotate(bytes: &mut [u8], last: usize) {
    bytes.reverse();
    if let Some((front, rest)) = bytes.split_at_mut_checked(last) {
        front.reverse();
        rest.reverse();
    }
}
