//! How a mapped log grows, and what keeps it from that.
//!
//! The file is made longer ahead of its use, while there is a descriptor: at
//! its creation. So the next window is had from a page that is mapped where it
//! begins (`foothold`), without a descriptor, and a program that gave up its
//! rights, its root folder or all its descriptors goes on. What is ahead takes
//! no room on the disk, and is cut off at the end; where it would take room,
//! and when it is used up, the file is opened again by its name.
#![allow(unsafe_code)]
//! # Safety
//! The foothold is a page of the sink's own, which nobody refers to.

use super::Mode;
use super::chunk::Use;
use super::state::{FIRST_WINDOW, LARGEST_WINDOW, State, Window, is_own, set_length};
use crate::platform::clock;
use crate::platform::sys::{Errno, Fd, Os, Sys};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::counter::Counter;
use memlog_format::refusal::{Refusal, Step};

/// How far ahead a file is made longer, at least; later by as much as it has.
const AHEAD: u64 = 64 << 20;
/// The same of a program that is about to give up its rights.
const FAR_AHEAD: u64 = 64 << 30;
/// The smaller stock. A log that is longer grows anyway, and has the larger one.
const LEAST_STOCK: u64 = LARGEST_WINDOW / 4;
/// A stock takes no more than this part of what the disk has free: the program
/// may want to write there too.
const PART_OF_FREE: u64 = 8;
/// A stock has a chunk for each stream besides, which may have one that is ready
/// in part only, and is no larger than this.
const LARGEST_STOCK: u64 = 64 << 20;
/// A large one ends where the windows that follow are cheapest.
const STOCK_ENDS_AT: u64 = 2 << 20;
/// What a file may take that is this much longer than what was written to it:
/// where it takes more, being long is not for nothing.
const TRIED: u64 = 1 << 20;

/// How much is mapped ahead, ready as a whole, for a time when nothing can be had.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Stock {
    /// For a filter that may never come: some 700,000 events. To make a MiB ready
    /// takes milliseconds.
    Little,
    /// For one that is coming, or a log that grows anyway: some two million.
    Much,
}

/// When growing failed. A disk may have room again, a program descriptors.
pub(super) struct Refused {
    at_ms: u64,
}

impl Refused {
    /// Milliseconds until it is tried again.
    const WAIT_MS: u64 = 1000;

    /// The millisecond from which on it is tried again.
    pub(super) fn until(&self) -> u64 {
        Self::later(self.at_ms)
    }

    /// The same, should it fail at this one.
    pub(super) fn later(at_ms: u64) -> u64 {
        at_ms.saturating_add(Self::WAIT_MS)
    }
}

/// What could not be done, and the kernel's reason.
pub(super) fn failed(step: Step, Errno(errno): Errno) -> Refusal {
    let errno = errno as u32;
    Refusal { step, errno }
}

impl State {
    /// Whether growing failed not long ago.
    pub(super) fn is_refused(&self) -> bool {
        let refused = self.refused.as_ref();
        refused.is_some_and(|refused| clock::ms() < refused.until())
    }

    /// There is no room, for this reason.
    pub(super) fn refuse<T: Default>(&mut self, refusal: Refusal) -> T {
        let at_ms = clock::ms();
        self.refused = Some(Refused { at_ms });
        self.note(refusal);
        T::default()
    }

    /// Writes down what was in the way.
    pub(super) fn note(&self, refusal: Refusal) {
        let reason = refusal.encode();
        self.ground.counters.set(Counter::LogRefused, reason);
    }

    /// Whether the file may be this long.
    pub(super) fn bound(&self, bytes: u64) -> Result<(), Refusal> {
        let step = match () {
            () if bytes > self.max_bytes => Step::MaxLog,
            () if bytes > Os::file_limit() => Step::FileLimit,
            () => return Ok(()),
        };
        Err(failed(step, Errno(libc::EFBIG)))
    }

    /// How far windows may reach. The limit on files is one on writing and on making
    /// them longer: what the file is long already may be mapped.
    fn allowed_bytes(&self) -> u64 {
        let limit = Os::file_limit().max(self.file_bytes);
        self.max_bytes.min(limit) & !(CHUNK_SIZE as u64 - 1)
    }

    /// Where the next window begins.
    fn end(&self) -> u64 {
        self.window_offset + (self.window_bytes + self.stocked_bytes()) as u64
    }

    fn stocked_bytes(&self) -> usize {
        self.next.iter().flatten().map(|next| next.bytes).sum()
    }

    /// Bytes that are ready, and that nobody holds yet.
    pub(super) fn unused_ready(&self) -> usize {
        let present = match self.mode {
            Mode::Mapped if !self.is_sparse => self.window_bytes - self.carved,
            _ => 0,
        };
        present + self.stocked_ready()
    }

    /// Of what was mapped ahead the bytes that are ready.
    fn stocked_ready(&self) -> usize {
        let ready = self.next.iter().flatten().filter(|next| !next.is_sparse);
        ready.map(|next| next.bytes).sum()
    }

    /// Makes a new file longer ahead of its use, where that takes no room.
    pub(super) fn begin_ahead(&mut self, fd: Fd) {
        let tried = FIRST_WINDOW as u64 + TRIED;
        if self.bound(tried).is_err() || set_length(self.ground, fd, tried).is_err() {
            return;
        }
        let takes_room = Os::taken_bytes(fd).map_or(true, |taken| taken > tried - TRIED / 2);
        if takes_room {
            let _ = set_length(self.ground, fd, self.file_bytes);
            return;
        }
        self.file_bytes = tried;
        self.ahead_bytes = AHEAD;
        let _ = self.lengthen(fd, self.end());
        self.find_foothold(fd);
    }

    /// Makes the file long enough to end here, or longer.
    fn lengthen(&mut self, fd: Fd, end: u64) -> Result<(), Errno> {
        let ahead = match self.ahead_bytes {
            0 => end,
            ahead => ahead.max(end.saturating_mul(2)).min(self.allowed_bytes()),
        };
        let long = ahead.max(end);
        if long > self.file_bytes {
            // A file system may not have files so long.
            match set_length(self.ground, fd, long) {
                Err(_) if long > end && end > self.file_bytes => {
                    set_length(self.ground, fd, end)?;
                    self.file_bytes = end;
                }
                done => {
                    done?;
                    self.file_bytes = long;
                }
            }
        }
        Ok(())
    }

    /// Keeps a page where the next window begins, if the file goes on there.
    fn find_foothold(&mut self, fd: Fd) {
        self.leave_foothold();
        if self.file_bytes > self.end() {
            let found = Os::map_foothold(fd, self.end());
            self.foothold = found.unwrap_or(core::ptr::null_mut());
        }
    }

    /// Unmaps the page where the next window would begin.
    pub(super) fn leave_foothold(&mut self) {
        if !self.foothold.is_null() {
            // SAFETY: the page is the sink's own.
            unsafe { Os::unmap(self.foothold, crate::platform::sys::page_bytes() as usize) };
            self.foothold = core::ptr::null_mut();
        }
    }

    /// Makes the file longer by far, while that is allowed.
    pub(super) fn reach_far(&mut self) {
        if self.mode != Mode::Mapped || self.ahead_bytes == 0 || self.ahead_bytes == FAR_AHEAD {
            return;
        }
        if let Ok(fd) = self.reopen() {
            self.ahead_bytes = FAR_AHEAD;
            let _ = self.lengthen(fd, self.end());
            self.find_foothold(fd);
            Os::close(fd);
        }
    }

    /// Goes on in the next window. Where a filter may come unseen the one after
    /// that is there as well before it is needed.
    pub(super) fn grow(&mut self, usage: Use, streams: u32) -> bool {
        if self.mode != Mode::Mapped {
            return false;
        }
        if matches!(self.next, [None, _]) {
            if self.is_refused() {
                return false;
            }
            if self.ground.is_quiet() {
                return self.refuse(failed(Step::Filter, Errno(0)));
            }
            if let Err(refusal) = self.next_window(usage) {
                return self.refuse(refusal);
            }
        }
        self.refused = None;
        self.advance();
        if self.ground.is_heralded() {
            let stock = match self.window_offset < LEAST_STOCK {
                true => Stock::Little,
                false => Stock::Much,
            };
            self.stock_up(stock, streams);
        }
        true
    }

    /// Leaves the present window, whatever is left of it.
    fn advance(&mut self) {
        let [first, second] = core::mem::take(&mut self.next);
        self.next = [second, None];
        if let Some(next) = first {
            self.window_offset += self.window_bytes as u64;
            (self.window, self.window_bytes, self.carved) = (next.at, next.bytes, 0);
            self.is_sparse = next.is_sparse;
        }
    }

    /// Maps what follows the present window ahead of its use, unless so much is
    /// there. As much as there is room for.
    pub(super) fn stock_up(&mut self, stock: Stock, streams: u32) {
        let may_grow = self.mode == Mode::Mapped && !self.ground.is_quiet() && !self.is_cut;
        if !may_grow || matches!(self.next, [_, Some(_)]) {
            return;
        }
        // Of what all logs together may still take only a part is taken: many
        // processes have a stock, and do not come to use it.
        let (least, ends_at, part) = match stock {
            Stock::Little => (LEAST_STOCK, CHUNK_SIZE as u64, 64),
            Stock::Much => (LARGEST_WINDOW, STOCK_ENDS_AT, 8),
        };
        let streams = u64::from(streams) * CHUNK_SIZE as u64;
        let wanted = (least + streams).min(LARGEST_STOCK);
        if (self.stocked_bytes() as u64) < wanted {
            let end = (self.end() + wanted).next_multiple_of(ends_at);
            let left = self.room.total.left() / part;
            let bytes = (end - self.end())
                .min(left)
                .min(self.free_bytes() / PART_OF_FREE);
            let bytes = bytes & !(CHUNK_SIZE as u64 - 1);
            if bytes > 0 {
                let _ = self.next_window_of(bytes, Use::Much);
            }
        }
    }

    /// What the disk has room for, as far as that can be asked.
    fn free_bytes(&mut self) -> u64 {
        let Ok(fd) = self.reopen() else {
            return u64::MAX;
        };
        let free = Os::free_bytes(fd);
        Os::close(fd);
        free.unwrap_or(u64::MAX)
    }

    /// Gives up what was mapped behind the present window; its bytes that were
    /// ready.
    pub(super) fn leave_next(&mut self) -> usize {
        let ready = self.stocked_ready();
        for next in core::mem::take(&mut self.next).into_iter().flatten() {
            // SAFETY: the window was given to nobody.
            unsafe { Os::unmap(next.at, next.bytes) };
        }
        ready
    }

    fn next_window(&mut self, usage: Use) -> Result<(), Refusal> {
        let offset = self.end();
        // The largest power of two that the offset is a multiple of keeps
        // windows aligned in the file also after a trim.
        let alignment = offset & offset.wrapping_neg();
        self.next_window_of(alignment.clamp(CHUNK_SIZE as u64, LARGEST_WINDOW), usage)
    }

    fn next_window_of(&mut self, bytes: u64, usage: Use) -> Result<(), Refusal> {
        let offset = self.end();
        let (least, mut allowed) = (offset + CHUNK_SIZE as u64, self.allowed_bytes());
        if least > allowed {
            // The limit may have been raised since it was asked for.
            self.bound(least)?;
            allowed = least;
        }
        let bytes = bytes.min(allowed - offset);
        if usage == Use::Little {
            return self.next_window_within(offset, bytes, usage);
        }
        let total = &self.room.total;
        let taken = total.take_up_to(bytes as usize, CHUNK_SIZE);
        if taken == 0 {
            return Err(failed(Step::LogsTotal, Errno(libc::EFBIG)));
        }
        self.room.expect_unused(taken);
        let before = self.stocked_bytes();
        let done = self.next_window_within(offset, taken as u64, usage);
        let used = self.stocked_bytes() - before;
        total.give_back(taken.saturating_sub(used));
        done
    }

    fn next_window_within(&mut self, offset: u64, bytes: u64, usage: Use) -> Result<(), Refusal> {
        let within = self.file_bytes.saturating_sub(offset).min(bytes);
        if within == bytes
            && let Some(done) = self.step_forward(within, usage)
        {
            return done;
        }
        let fd = match self.reopen() {
            Ok(fd) => fd,
            Err(refusal) => {
                // What is left of the file's length, then.
                let done = self.step_forward(within, usage);
                return done.unwrap_or(Err(refusal));
            }
        };
        let grown = self.map_next(fd, offset, bytes, usage);
        if grown.is_ok() {
            self.find_foothold(fd);
        }
        Os::close(fd);
        grown
    }

    /// A window without a descriptor; nothing where that cannot be.
    fn step_forward(&mut self, bytes: u64, usage: Use) -> Option<Result<(), Refusal>> {
        if self.foothold.is_null() || bytes == 0 || is_own(self.ground).is_err() {
            return None;
        }
        let (bytes, ready) = (bytes as usize, usage == Use::Much);
        // SAFETY: the foothold is the sink's own.
        let stepped = unsafe { Os::step_forward(&mut self.foothold, bytes, CHUNK_SIZE, ready) };
        match stepped {
            Ok((window, bytes)) => {
                self.keep_next(window, bytes, usage);
                Some(Ok(()))
            }
            // The page is still there, and the file has no room.
            Err(Errno(libc::ENOSPC)) => Some(Err(failed(Step::Map, Errno(libc::ENOSPC)))),
            Err(_) => None,
        }
    }

    fn keep_next(&mut self, at: *mut u8, bytes: usize, usage: Use) {
        let is_sparse = usage == Use::Little;
        let next = Window {
            at,
            bytes,
            is_sparse,
        };
        if let Some(place) = self.next.iter_mut().find(|place| place.is_none()) {
            *place = Some(next);
        }
    }

    /// Maps what follows by a descriptor: as much as there is room for.
    fn map_next(&mut self, fd: Fd, offset: u64, mut bytes: u64, usage: Use) -> Result<(), Refusal> {
        let before = self.file_bytes;
        loop {
            let (mut step, end) = (Step::Lengthen, offset + bytes);
            let window = self.lengthen(fd, end).and_then(|()| {
                step = Step::Map;
                let ready = usage == Use::Much;
                Os::map_window(fd, offset, bytes as usize, ready)
            });
            // The fork may have come since.
            match is_own(self.ground).and(window) {
                Ok(window) => {
                    self.keep_next(window, bytes as usize, usage);
                    return Ok(());
                }
                Err(Errno(libc::ENOSPC)) if bytes > CHUNK_SIZE as u64 => {
                    bytes = (bytes / 2) & !(CHUNK_SIZE as u64 - 1);
                }
                Err(error) => {
                    if set_length(self.ground, fd, before).is_ok() {
                        self.file_bytes = before;
                    }
                    return Err(failed(step, error));
                }
            }
        }
    }

    /// Opens the log again, if its name still means the same file.
    pub(super) fn reopen(&mut self) -> Result<Fd, Refusal> {
        let path = self.path.get(..self.path_length).unwrap_or(&[]);
        let fd = Os::open_log(path).map_err(|error| failed(Step::Open, error))?;
        if Os::identity(fd) == Ok(self.identity) && is_own(self.ground).is_ok() {
            return Ok(fd);
        }
        Os::close(fd);
        Err(failed(Step::Open, Errno(libc::ESTALE)))
    }
}
