//! What the sink has: its windows, private chunks, and the file itself.
#![allow(unsafe_code)]
//! # Safety
//! Windows are mapped here and carved into chunks that are each given out
//! once; nothing here touches a chunk that somebody holds.

use super::Mode;
use super::chunk::{Chunk, Use, ready_next};
use super::grow::{Refused, failed};
use super::ready::{map_first, put, whole, written};
use super::room::Room;
use crate::log::Wanted;
use crate::log::streams::MAX_STREAMS;
use crate::platform::ground::Ground;
use crate::platform::sys::{Errno, Fd, FileId, Os, SinkKind, Sys};
use crate::platform::text::MAX_PATH;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE};
use memlog_format::refusal::{Refusal, Step};

/// Bytes of the first window, and of a deferred child's private one.
pub(super) const FIRST_WINDOW: usize = 4 * CHUNK_SIZE;
/// No window is larger, but for one that is stocked.
pub(super) const LARGEST_WINDOW: u64 = 8 << 20;
/// Private chunks kept for the next holder, at most.
const SPARES: usize = 64;

/// Whether the log is this process's: a child of a handler's fork may go on
/// with what its parent was doing to the file.
pub(super) fn is_own(ground: &Ground) -> Result<(), Errno> {
    match ground.is_parted() {
        true => Err(Errno(libc::ECHILD)),
        false => Ok(()),
    }
}

/// Gives a log's file another length. It is asked right before whose it is: a
/// parent may have made it longer since, and what it maps must not be cut off.
pub(super) fn set_length(ground: &Ground, fd: Fd, bytes: u64) -> Result<(), Errno> {
    is_own(ground)?;
    Os::set_length(fd, bytes)
}

/// A part of the file in memory, behind the present window.
pub(super) struct Window {
    pub(super) at: *mut u8,
    pub(super) bytes: usize,
    /// Whether it is made ready by whoever takes a chunk of it.
    pub(super) is_sparse: bool,
}

/// What the lock guards.
pub(super) struct State {
    pub(super) ground: &'static Ground,
    pub(super) room: &'static Room,
    pub(super) mode: Mode,
    pub(super) path: [u8; MAX_PATH],
    pub(super) path_length: usize,
    pub(super) identity: FileId,
    pub(super) window: *mut u8,
    pub(super) window_offset: u64,
    pub(super) window_bytes: usize,
    /// Whether the window is made ready by whoever takes a chunk of it.
    pub(super) is_sparse: bool,
    pub(super) carved: usize,
    /// What follows it, as far as that was mapped already.
    pub(super) next: [Option<Window>; 2],
    /// The end was near: nothing is stocked any more.
    pub(super) is_cut: bool,
    /// In a forked child: another thread of its parent was at work on all this.
    pub(super) is_torn: bool,
    /// Where the next window begins, a page of the file; or null.
    pub(super) foothold: *mut u8,
    /// How long the file is: ahead of the windows where that costs nothing.
    pub(super) file_bytes: u64,
    /// How far ahead; 0 where the file is made longer as it is needed.
    pub(super) ahead_bytes: u64,
    pub(super) max_bytes: u64,
    pub(super) may_map: bool,
    /// The kernel cannot map a log, or make its pages ready. It will not learn
    /// that either.
    cannot_map: bool,
    /// Sealed chunks are the flight recorder's, and stay mapped.
    pub(super) keeps_sealed: bool,
    /// Whether a filter was there, or coming, when that was last asked.
    pub(super) was_quiet: bool,
    /// A deferred child's first chunks, once it has a file.
    pub(super) first: *mut u8,
    pub(super) first_bytes: usize,
    /// Set when growing failed; the file may be full, or may not be ours.
    pub(super) refused: Option<Refused>,
    /// Private chunks that were written and can be used again.
    pub(super) spare: [*mut u8; SPARES],
    pub(super) spare_count: usize,
    /// By stream, the chunk that it writes to; its memory is used again once
    /// the stream is done with it, so others write it out only behind the lock.
    held: *mut Chunk,
    /// How many of those were ever used.
    held_count: usize,
}

// SAFETY: the raw pointer is memory of the process, used under the lock.
unsafe impl Send for State {}

impl State {
    /// A sink that gives nothing.
    pub(super) const fn new(ground: &'static Ground, room: &'static Room) -> Self {
        Self {
            ground,
            room,
            mode: Mode::Closed,
            path: [0; MAX_PATH],
            path_length: 0,
            identity: FileId {
                device: 0,
                inode: 0,
            },
            window: core::ptr::null_mut(),
            window_offset: 0,
            window_bytes: 0,
            is_sparse: false,
            carved: 0,
            next: [None, None],
            is_cut: false,
            is_torn: false,
            foothold: core::ptr::null_mut(),
            file_bytes: 0,
            ahead_bytes: 0,
            max_bytes: u64::MAX,
            may_map: true,
            cannot_map: false,
            keeps_sealed: false,
            was_quiet: false,
            first: core::ptr::null_mut(),
            first_bytes: 0,
            refused: None,
            spare: [core::ptr::null_mut(); SPARES],
            spare_count: 0,
            held: core::ptr::null_mut(),
            held_count: 0,
        }
    }

    /// In a forked child: gives up the mappings of the parent's log. A state that
    /// is torn may name what is unmapped already, where by now something else may
    /// lie: then all stays, which takes no memory.
    pub(super) fn leave_parent(&mut self) {
        if self.mode != Mode::Mapped || self.is_torn {
            return;
        }
        if !self.first.is_null() {
            let tables = self.first.wrapping_add(CHUNK_SIZE);
            // SAFETY: a copy of the parent's beginning: its tables, which were
            // forgotten before. Its header is told of this child.
            unsafe { Os::unmap(tables, FIRST_WINDOW - CHUNK_SIZE) };
        }
        self.leave_foothold();
        self.leave_next();
        let rest = self.window_bytes.saturating_sub(self.carved);
        if rest > 0 {
            // SAFETY: the child's mapping of what nobody holds.
            unsafe { Os::unmap(self.window.wrapping_add(self.carved), rest) };
        }
    }

    pub(super) fn forget(&mut self) {
        self.mode = Mode::Closed;
        self.path_length = 0;
        self.window = core::ptr::null_mut();
        (self.window_offset, self.window_bytes, self.carved) = (0, 0, 0);
        (self.next, self.foothold) = ([None, None], core::ptr::null_mut());
        (self.is_sparse, self.was_quiet) = (false, false);
        (self.is_cut, self.is_torn) = (false, false);
        (self.file_bytes, self.ahead_bytes) = (0, 0);
        self.refused = None;
        self.spare_count = 0;
        self.held().fill(Chunk::NONE);
        self.held_count = 0;
        (self.first, self.first_bytes) = (core::ptr::null_mut(), 0);
    }

    pub(super) fn obey(&mut self, wanted: &Wanted) {
        self.max_bytes = wanted.max_bytes.max(FIRST_WINDOW as u64);
        self.keeps_sealed = wanted.flight_bytes > 0;
        self.may_map = Os::SINK == SinkKind::Mapped && !wanted.is_written && !self.cannot_map;
    }

    pub(super) fn remember(&mut self, path: &[u8], fd: Fd) -> Result<(), Errno> {
        self.identity = Os::identity(fd)?;
        for (place, &byte) in self.path.iter_mut().zip(path) {
            *place = byte;
        }
        self.path_length = path.len().min(MAX_PATH);
        Ok(())
    }

    pub(super) fn take_file(&mut self, path: &[u8], fd: Fd, over: *mut u8) -> Result<Mode, Errno> {
        self.remember(path, fd)?;
        self.bound(FIRST_WINDOW as u64)
            .map_err(|_| Errno(libc::EFBIG))?;
        // What is written later takes its room when it is written.
        if self.may_map && !self.room.total.take_first(ready_next(0)) {
            return Err(Errno(libc::EFBIG));
        }
        if self.may_map {
            set_length(self.ground, fd, FIRST_WINDOW as u64)?;
            match map_first(fd, over, FIRST_WINDOW, 1) {
                Ok(window) => {
                    self.window = window;
                    self.window_bytes = FIRST_WINDOW;
                    self.is_sparse = true;
                    self.file_bytes = FIRST_WINDOW as u64;
                    self.mode = Mode::Mapped;
                    self.begin_ahead(fd);
                    return Ok(self.mode);
                }
                Err(Errno(libc::ENOSPC)) => return Err(Errno(libc::ENOSPC)),
                // No shared mappings here, or no such advice: write instead, and
                // so do children.
                Err(_) => {
                    self.cannot_map = true;
                    self.room.total.settle(0);
                    set_length(self.ground, fd, 0)?;
                }
            }
        }
        self.mode = Mode::Written;
        Ok(self.mode)
    }

    /// Gives the deferred log a file that gets its name when all is in it: who
    /// is killed on the way leaves none.
    pub(super) fn materialize_whole(&mut self, path: &[u8]) -> Result<Mode, Errno> {
        let folder = path.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        for (place, &byte) in self.path.iter_mut().zip(path.get(..folder).unwrap_or(&[])) {
            *place = byte;
        }
        if let Some(end) = self.path.get_mut(folder) {
            *end = 0;
        }
        let folder = self.path.get(..=folder).unwrap_or(&[]);
        let fd = Os::create_unnamed(folder)?;
        let mut is_named = false;
        let mode = self.take_deferred(path, fd, &mut is_named);
        Os::close(fd);
        if mode.is_err() && is_named {
            Os::unlink(path);
        }
        mode
    }

    /// The same with a file that has its name from the start.
    pub(super) fn materialize_named(&mut self, path: &[u8]) -> Result<Mode, Errno> {
        let fd = Os::create(path)?;
        let mode = self.take_deferred(path, fd, &mut true);
        Os::close(fd);
        if mode.is_err() {
            Os::unlink(path);
        }
        mode
    }

    /// Gives the deferred log its file. Its first chunks stay in private memory
    /// and are written out when they are sealed, flushed, and now; only the
    /// header, which nobody writes outside its lock, comes to lie in the file.
    fn take_deferred(&mut self, path: &[u8], fd: Fd, is_named: &mut bool) -> Result<Mode, Errno> {
        self.remember(path, fd)?;
        self.bound(FIRST_WINDOW as u64)
            .map_err(|_| Errno(libc::EFBIG))?;
        let window = self.window;
        // SAFETY: the private window is FIRST_WINDOW bytes and stays for ever.
        let bytes = unsafe { core::slice::from_raw_parts(window, self.carved) };
        // The header last: who is killed on the way, and has given the file its
        // name before, leaves one that says nothing, not half a log.
        let (header, rest) = bytes.split_at_checked(HEADER_SIZE).unwrap_or((bytes, &[]));
        let (first, others) = bytes.split_at_checked(CHUNK_SIZE).unwrap_or((bytes, &[]));
        let used = written(first).len();
        let taken = others.chunks(CHUNK_SIZE).map(|chunk| written(chunk).len());
        let taken = match self.may_map {
            true => used + taken.sum::<usize>(),
            false => bytes.len(),
        };
        if !self.room.total.take_first(taken) {
            return Err(Errno(libc::EFBIG));
        }
        if self.may_map {
            put(fd, first.get(HEADER_SIZE..used).unwrap_or(&[]), HEADER_SIZE)?;
            for (index, chunk) in others.chunks(CHUNK_SIZE).enumerate() {
                put(fd, written(chunk), (index + 1) * CHUNK_SIZE)?;
            }
        } else {
            put(fd, rest, HEADER_SIZE)?;
        }
        put(fd, header, 0)?;
        if self.may_map {
            set_length(self.ground, fd, FIRST_WINDOW as u64)?;
        }
        if !*is_named {
            Os::give_name(fd, path)?;
            *is_named = true;
        }
        if self.may_map {
            map_first(fd, window, CHUNK_SIZE, used)?;
        }
        self.mode = match self.may_map {
            true => Mode::Mapped,
            false => Mode::Written,
        };
        (self.first, self.first_bytes) = (window, self.carved);
        (self.window, self.window_bytes, self.carved) = (core::ptr::null_mut(), 0, 0);
        self.window_offset = FIRST_WINDOW as u64;
        self.file_bytes = FIRST_WINDOW as u64;
        if self.may_map {
            self.begin_ahead(fd);
        }
        Ok(self.mode)
    }

    /// Takes back what part of a chunk was written: its events are counted as
    /// lost, and are not to be found half.
    pub(super) fn void(&mut self, chunk: Chunk) {
        let offset = u64::from(chunk.index) * CHUNK_SIZE as u64;
        if !self.ground.is_quiet()
            && self.bound(offset + HEADER_SIZE as u64).is_ok()
            && let Ok(fd) = self.reopen()
        {
            let _ = Os::write_at(fd, &[0; HEADER_SIZE], offset);
            Os::close(fd);
        }
    }

    /// Takes the room of the first window in a file that is written to, so that
    /// what is recorded first can be kept; false if there is none.
    pub(super) fn take_room(&mut self) -> bool {
        let at = self.take_spare();
        if at.is_null() || !self.room.total.take_first(FIRST_WINDOW) {
            return false;
        }
        let count = (FIRST_WINDOW / CHUNK_SIZE) as u32;
        let taken = (1..count).all(|index| self.write_out(whole(at, index)));
        self.keep_spare(at);
        taken
    }

    /// Whether a chunk of a mapped log lies in private memory all the same.
    pub(super) fn is_private(&self, chunk: Chunk) -> bool {
        let offset = (chunk.at as usize).wrapping_sub(self.first as usize);
        !self.first.is_null() && (CHUNK_SIZE..self.first_bytes).contains(&offset)
    }

    /// Writes out the private chunks of a mapped log.
    pub(super) fn write_private(&mut self) {
        for index in 1..self.first_bytes / CHUNK_SIZE {
            let at = self.first.wrapping_add(index * CHUNK_SIZE);
            self.write_out(whole(at, index as u32));
        }
    }

    pub(super) fn carve(&mut self, usage: Use, streams: u32) -> Option<Chunk> {
        if self.mode == Mode::Written {
            return self.carve_private();
        }
        // Under a filter the room of a page is not asked for: to ask may kill.
        let is_unsure = self.ground.is_quiet() && self.is_sparse;
        let is_over = self.carved + CHUNK_SIZE > self.window_bytes;
        if (is_unsure || is_over) && !self.grow(usage, streams) {
            return None;
        }
        let at = self.window.wrapping_add(self.carved);
        let chunk = Chunk {
            at,
            index: ((self.window_offset + self.carved as u64) / CHUNK_SIZE as u64) as u32,
            ready: self.make_ready(at, usage)? as u32,
        };
        self.carved += CHUNK_SIZE;
        Some(chunk)
    }

    pub(super) fn carve_private(&mut self) -> Option<Chunk> {
        if self.is_refused() {
            return None;
        }
        if let Err(refusal) = self.bound(self.file_bytes + CHUNK_SIZE as u64) {
            return self.refuse(refusal);
        }
        // The first window's room was taken at the start.
        let is_first = self.file_bytes < FIRST_WINDOW as u64;
        if !is_first && !self.room.total.take(CHUNK_SIZE) {
            return self.refuse(failed(Step::LogsTotal, Errno(libc::EFBIG)));
        }
        let at = self.take_spare();
        if at.is_null() {
            return None;
        }
        let index = (self.file_bytes / CHUNK_SIZE as u64) as u32;
        self.file_bytes += CHUNK_SIZE as u64;
        self.refused = None;
        let ready = CHUNK_SIZE as u32;
        Some(Chunk { at, index, ready })
    }

    /// The places of `held` that were used.
    fn held(&mut self) -> &'static mut [Chunk] {
        if self.held.is_null() {
            return &mut [];
        }
        // SAFETY: memory of MAX_STREAMS chunks that is never given back; zeros
        // are no chunk, and no more than so many are counted.
        unsafe { core::slice::from_raw_parts_mut(self.held, self.held_count) }
    }

    /// Notes which chunk a stream writes to from now on, if any.
    pub(super) fn hold(&mut self, stream: u32, chunk: Chunk) {
        if self.held.is_null() {
            self.held = Os::memory(MAX_STREAMS * size_of::<Chunk>()).cast();
        }
        let count = (stream as usize + 1).max(self.held_count);
        if self.held.is_null() || count > MAX_STREAMS {
            return;
        }
        self.held_count = count;
        if let Some(place) = self.held().get_mut(stream as usize) {
            *place = chunk;
        }
    }

    /// Writes out what a stream has in its chunk so far.
    pub(super) fn write_held(&mut self, stream: u32) {
        let held = self.held().get(stream as usize).copied();
        if let Some(chunk) = held.filter(|chunk| !chunk.at.is_null()) {
            self.write_out(chunk);
        }
    }

    pub(super) fn keep_spare(&mut self, at: *mut u8) {
        if let Some(place) = self.spare.get_mut(self.spare_count) {
            *place = at;
            self.spare_count += 1;
        }
    }

    pub(super) fn take_spare(&mut self) -> *mut u8 {
        let Some(last) = self.spare_count.checked_sub(1) else {
            return match self.ground.is_quiet() {
                true => core::ptr::null_mut(),
                false => Os::memory(CHUNK_SIZE),
            };
        };
        self.spare_count = last;
        let at = self
            .spare
            .get(last)
            .copied()
            .unwrap_or(core::ptr::null_mut());
        if !at.is_null() {
            // SAFETY: a whole private chunk that nobody holds.
            unsafe { at.write_bytes(0, CHUNK_SIZE) };
        }
        at
    }

    /// Writes a chunk out; false if it cannot.
    pub(super) fn write_out(&mut self, chunk: Chunk) -> bool {
        match self.try_write_out(chunk) {
            Ok(()) => true,
            Err(refusal) if self.mode == Mode::Written => self.refuse(refusal),
            Err(refusal) => {
                self.note(refusal);
                false
            }
        }
    }

    fn try_write_out(&mut self, chunk: Chunk) -> Result<(), Refusal> {
        if self.ground.is_quiet() {
            return Err(failed(Step::Filter, Errno(0)));
        }
        // SAFETY: chunks are CHUNK_SIZE bytes and live as long as the process.
        let bytes = unsafe { core::slice::from_raw_parts(chunk.at, CHUNK_SIZE) };
        let mut offset = u64::from(chunk.index) * CHUNK_SIZE as u64;
        // A limit that was set since is a signal to who writes beyond it.
        self.bound(offset + CHUNK_SIZE as u64)?;
        let fd = self.reopen()?;
        // Of a file that is sparse nothing is written that is zero already.
        let mut rest = match self.mode {
            Mode::Mapped => written(bytes),
            _ => bytes,
        };
        let mut done = Ok(());
        while !rest.is_empty() && done.is_ok() {
            match is_own(self.ground).and_then(|()| Os::write_at(fd, rest, offset)) {
                Ok(0) => done = Err(failed(Step::Write, Errno(libc::ENOSPC))),
                Ok(count) => {
                    offset += count as u64;
                    rest = rest.get(count..).unwrap_or(&[]);
                }
                Err(error) => done = Err(failed(Step::Write, error)),
            }
        }
        Os::close(fd);
        done
    }
}
