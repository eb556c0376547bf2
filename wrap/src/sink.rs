//! Where chunks come from and how they reach the file.
//!
//! *Mapped*: the file itself lies in memory, so what is committed survives any
//! death. It is mapped in windows that start at 128 KiB and double to 8 MiB,
//! each at a file offset that is a multiple of its size; the descriptor is
//! closed at once and the file re-opened by name, device and inode compared,
//! when it must grow. *Written*: chunks are private and go out by one large
//! write each when full. *Deferred*: a forked child that may be about to exec
//! has its first chunks in private memory; when it turns out to live, they
//! become the first window of a file, at the same addresses.
#![allow(unsafe_code)]
//! # Safety
//! Chunk memory is handed out once and as raw pointers; who holds a [`Chunk`]
//! is its only writer. Windows are unmapped a chunk at a time, by the holder.

use crate::commit::Committed;
use crate::lock::{Bounded, Patience};
use crate::settings::Settings;
use crate::sync::AtomicU32;
use crate::sys::{Errno, Fd, FileId, Os, SinkKind, Sys};
use memlog_format::chunk::{self, CHUNK_SIZE, COMMITTED_AT, HEADER_SIZE, Header, Kind};

/// Bytes of the first window, and of a deferred child's private one.
const FIRST_WINDOW: usize = 4 * CHUNK_SIZE;
/// No window is larger.
const LARGEST_WINDOW: u64 = 8 << 20;
/// Private chunks kept for the next holder, at most.
const SPARES: usize = 64;
/// Longest path of a log, its zero byte included.
pub const MAX_PATH: usize = 4096;

/// A chunk in memory, and its place in the file.
#[derive(Clone, Copy)]
pub struct Chunk {
    /// First byte.
    pub at: *mut u8,
    /// Its number in the file.
    pub index: u32,
}

/// What the sink is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// No log, or no more of it.
    Closed,
    /// Private until it proves worth a file.
    Deferred,
    /// Chunks lie in the file.
    Mapped,
    /// Chunks are written when full.
    Written,
}

/// The sink behind its lock.
pub struct Sink(Bounded<State>);

struct State {
    mode: Mode,
    path: [u8; MAX_PATH],
    path_length: usize,
    identity: FileId,
    window: *mut u8,
    window_offset: u64,
    window_bytes: usize,
    carved: usize,
    file_bytes: u64,
    max_bytes: u64,
    may_map: bool,
    /// Set when growing failed; the file may be full, or may not be ours.
    refused: Option<Errno>,
    /// Private chunks that were written and can be used again.
    spare: [*mut u8; SPARES],
    spare_count: usize,
}

// SAFETY: the raw pointer is memory of the process, used under the lock.
unsafe impl Send for State {}

impl Sink {
    /// A sink that gives nothing.
    pub const fn new() -> Self {
        Self(Bounded::new(State {
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
            carved: 0,
            file_bytes: 0,
            max_bytes: u64::MAX,
            may_map: true,
            refused: None,
            spare: [core::ptr::null_mut(); SPARES],
            spare_count: 0,
        }))
    }

    /// Makes the log `path` (a C string) and its first window. The error is
    /// the creation's; `EEXIST` asks for another name.
    pub fn create(&self, path: &[u8], settings: &Settings) -> Result<Mode, Errno> {
        let made = self.0.with(Patience::Bounded, |state| {
            state.forget();
            state.obey(settings);
            let fd = Os::create(path)?;
            let made = state.take_file(path, fd, core::ptr::null_mut());
            Os::close(fd);
            if made.is_err() {
                Os::unlink(path);
            }
            made
        });
        made.unwrap_or(Err(Errno(0)))
    }

    /// Starts privately, for a child that may only exec.
    pub fn defer(&self, settings: &Settings) -> bool {
        let done = self.0.with(Patience::Bounded, |state| {
            state.forget();
            state.obey(settings);
            state.window = Os::memory(FIRST_WINDOW);
            if state.window.is_null() {
                return false;
            }
            state.window_bytes = FIRST_WINDOW;
            state.mode = Mode::Deferred;
            true
        });
        done.unwrap_or(false)
    }

    /// Gives a deferred log its file. Nobody may be writing meanwhile.
    pub fn materialize(&self, path: &[u8]) -> Result<Mode, Errno> {
        let made = self.0.with(Patience::Bounded, |state| {
            if state.mode != Mode::Deferred {
                return Ok(state.mode);
            }
            let fd = Os::create(path)?;
            let window = state.window;
            let made = state.take_deferred(path, fd, window);
            Os::close(fd);
            if made.is_err() {
                Os::unlink(path);
            }
            made
        });
        made.unwrap_or(Err(Errno(0)))
    }

    /// What the sink is doing.
    pub fn mode(&self) -> Mode {
        let mode = self.0.with(Patience::Bounded, |state| state.mode);
        mode.unwrap_or(Mode::Closed)
    }

    /// The next chunk of the file, zeroed, or nothing.
    pub fn carve(&self, patience: Patience) -> Option<Chunk> {
        self.0.with(patience, State::carve)?
    }

    /// A full or finished chunk of events: its holder is done with it. False
    /// if its bytes could not be kept.
    ///
    /// # Safety
    /// The caller holds the chunk and uses it no more.
    pub unsafe fn seal(&self, chunk: Chunk, header: &Header) -> bool {
        // SAFETY: the caller holds the whole chunk.
        let bytes = unsafe { core::slice::from_raw_parts_mut(chunk.at, CHUNK_SIZE) };
        seal_header(bytes, header);
        let kept = self.0.with(Patience::Bounded, |state| match state.mode {
            Mode::Mapped => {
                // SAFETY: the chunk lies whole in a window, unused.
                unsafe { Os::unmap(chunk.at, CHUNK_SIZE) };
                true
            }
            Mode::Written => {
                let kept = state.write_out(chunk);
                state.keep_spare(chunk.at);
                kept
            }
            Mode::Deferred | Mode::Closed => true,
        });
        kept.unwrap_or(true)
    }

    /// Writes a chunk out, where the file is not the memory.
    pub fn write(&self, chunk: Chunk) {
        self.0.with(Patience::Bounded, |state| {
            if state.mode == Mode::Written {
                state.write_out(chunk);
            }
        });
    }

    /// Cuts the file after the last chunk given out.
    pub fn trim(&self) {
        self.0.with(Patience::Bounded, |state| {
            if state.mode != Mode::Mapped {
                return;
            }
            let end = state.window_offset + state.carved as u64;
            if let Ok(fd) = state.reopen() {
                // Later growth starts behind the cut: pages past a file's end
                // must not be touched.
                let rest = state.window_bytes - state.carved;
                if Os::set_length(fd, end).is_ok() && rest > 0 {
                    // SAFETY: the rest of the window was given to nobody.
                    unsafe { Os::unmap(state.window.wrapping_add(state.carved), rest) };
                    state.window_bytes = state.carved;
                    state.file_bytes = end;
                }
                Os::close(fd);
            }
        });
    }

    /// Stops growing: a filter may kill us for the calls it takes.
    pub fn freeze(&self) {
        self.0.with(Patience::Bounded, |state| state.refused = Some(Errno(libc::EPERM)));
    }

    /// The log's path, a C string, into `into`; its length without the zero.
    pub fn path(&self, into: &mut [u8]) -> usize {
        let length = self.0.with(Patience::Bounded, |state| {
            let path = state.path.get(..state.path_length).unwrap_or(&[]);
            for (place, &byte) in into.iter_mut().zip(path) {
                *place = byte;
            }
            state.path_length.saturating_sub(1)
        });
        length.unwrap_or(0)
    }

    /// Bytes of the current window that nobody holds yet.
    pub fn unused_window_bytes(&self) -> u64 {
        let unused = self.0.with(Patience::None, |state| match state.mode {
            Mode::Mapped => (state.window_bytes - state.carved) as u64,
            _ => 0,
        });
        unused.unwrap_or(0)
    }

    /// Opens the lock in a forked child, before anything else is asked.
    ///
    /// # Safety
    /// No other thread of this process can be in the sink.
    pub unsafe fn force_open(&self) {
        // SAFETY: by the caller.
        unsafe { self.0.force_open() };
    }

    /// A forked child's copy: the parent's windows and lock are not its own.
    ///
    /// # Safety
    /// No other thread of this process can be in the sink.
    pub unsafe fn reset_in_child(&self) {
        // SAFETY: by the caller.
        unsafe { self.0.force_open() };
        self.0.with(Patience::Bounded, |state| {
            if state.mode == Mode::Mapped && state.window_bytes > state.carved {
                let rest = state.window_bytes - state.carved;
                // SAFETY: the child's mapping of what nobody holds.
                unsafe { Os::unmap(state.window.wrapping_add(state.carved), rest) };
            }
            state.forget();
        });
    }
}

impl Default for Sink {
    fn default() -> Self {
        Self::new()
    }
}

/// Marks a chunk as complete: the checksum first, then the flag that makes it
/// count, so that a death in between leaves an unsealed chunk.
fn seal_header(bytes: &mut [u8], header: &Header) {
    let end = (header.committed as usize).min(CHUNK_SIZE);
    let summed = Header {
        checksum: chunk::checksum(bytes.get(HEADER_SIZE..end).unwrap_or(&[])),
        ..*header
    };
    copy_into(bytes, &summed.encode());
    core::sync::atomic::fence(core::sync::atomic::Ordering::Release);
    let sealed = Header {
        flags: header.flags | chunk::SEALED,
        ..summed
    };
    copy_into(bytes, &sealed.encode());
}

fn copy_into(out: &mut [u8], bytes: &[u8]) {
    for (place, &byte) in out.iter_mut().zip(bytes) {
        *place = byte;
    }
}

impl State {
    fn forget(&mut self) {
        self.mode = Mode::Closed;
        self.path_length = 0;
        self.window = core::ptr::null_mut();
        (self.window_offset, self.window_bytes, self.carved) = (0, 0, 0);
        self.file_bytes = 0;
        self.refused = None;
        self.spare_count = 0;
    }

    fn obey(&mut self, settings: &Settings) {
        self.max_bytes = settings.max_log.max(FIRST_WINDOW as u64);
        self.may_map = Os::SINK == SinkKind::Mapped && !settings.written;
    }

    fn remember(&mut self, path: &[u8], fd: Fd) -> Result<(), Errno> {
        self.identity = Os::identity(fd)?;
        for (place, &byte) in self.path.iter_mut().zip(path) {
            *place = byte;
        }
        self.path_length = path.len().min(MAX_PATH);
        Ok(())
    }

    fn take_file(&mut self, path: &[u8], fd: Fd, over: *mut u8) -> Result<Mode, Errno> {
        self.remember(path, fd)?;
        self.room_for(FIRST_WINDOW as u64)?;
        if self.may_map {
            Os::set_length(fd, FIRST_WINDOW as u64)?;
            match Os::map_window(fd, 0, FIRST_WINDOW, over) {
                Ok(window) => {
                    self.window = window;
                    self.window_bytes = FIRST_WINDOW;
                    self.file_bytes = FIRST_WINDOW as u64;
                    self.mode = Mode::Mapped;
                    return Ok(self.mode);
                }
                Err(Errno(libc::ENOSPC)) => return Err(Errno(libc::ENOSPC)),
                // No shared mappings here, or no such advice: write instead.
                Err(_) => Os::set_length(fd, 0)?,
            }
        }
        self.mode = Mode::Written;
        Ok(self.mode)
    }

    fn take_deferred(&mut self, path: &[u8], fd: Fd, window: *mut u8) -> Result<Mode, Errno> {
        self.remember(path, fd)?;
        // SAFETY: the private window is FIRST_WINDOW bytes, and quiet.
        let bytes = unsafe { core::slice::from_raw_parts(window, FIRST_WINDOW) };
        let bytes = bytes.get(..self.carved).unwrap_or(&[]);
        self.room_for(FIRST_WINDOW as u64)?;
        if Os::write_at(fd, bytes, 0)? < bytes.len() {
            return Err(Errno(libc::ENOSPC));
        }
        if self.may_map {
            Os::set_length(fd, FIRST_WINDOW as u64)?;
            Os::map_window(fd, 0, FIRST_WINDOW, window)?;
            self.mode = Mode::Mapped;
        } else {
            self.mode = Mode::Written;
        }
        self.file_bytes = FIRST_WINDOW as u64;
        Ok(self.mode)
    }

    fn carve(&mut self) -> Option<Chunk> {
        if self.mode == Mode::Written {
            return self.carve_private();
        }
        if self.carved + CHUNK_SIZE > self.window_bytes && !self.grow() {
            return None;
        }
        let chunk = Chunk {
            at: self.window.wrapping_add(self.carved),
            index: ((self.window_offset + self.carved as u64) / CHUNK_SIZE as u64) as u32,
        };
        self.carved += CHUNK_SIZE;
        Some(chunk)
    }

    /// Whether the file may be this long.
    fn room_for(&self, bytes: u64) -> Result<(), Errno> {
        match bytes <= self.allowed_bytes() {
            true => Ok(()),
            false => Err(Errno(libc::EFBIG)),
        }
    }

    fn allowed_bytes(&self) -> u64 {
        self.max_bytes.min(Os::file_limit())
    }

    fn carve_private(&mut self) -> Option<Chunk> {
        if self.refused.is_some() {
            return None;
        }
        self.room_for(self.file_bytes + CHUNK_SIZE as u64).ok()?;
        let at = self.take_spare();
        if at.is_null() {
            return None;
        }
        let index = (self.file_bytes / CHUNK_SIZE as u64) as u32;
        self.file_bytes += CHUNK_SIZE as u64;
        Some(Chunk { at, index })
    }

    fn keep_spare(&mut self, at: *mut u8) {
        if let Some(place) = self.spare.get_mut(self.spare_count) {
            *place = at;
            self.spare_count += 1;
        }
    }

    fn take_spare(&mut self) -> *mut u8 {
        let Some(last) = self.spare_count.checked_sub(1) else {
            return Os::memory(CHUNK_SIZE);
        };
        self.spare_count = last;
        let at = self.spare.get(last).copied().unwrap_or(core::ptr::null_mut());
        if !at.is_null() {
            // SAFETY: a whole private chunk that nobody holds.
            unsafe { at.write_bytes(0, CHUNK_SIZE) };
        }
        at
    }

    fn grow(&mut self) -> bool {
        if self.mode != Mode::Mapped || self.refused.is_some() {
            return false;
        }
        match self.next_window() {
            Ok(()) => true,
            Err(error) => {
                self.refused = Some(error);
                false
            }
        }
    }

    fn next_window(&mut self) -> Result<(), Errno> {
        let offset = self.window_offset + self.window_bytes as u64;
        // The largest power of two that the offset is a multiple of keeps
        // windows aligned in the file also after a trim.
        let alignment = offset & offset.wrapping_neg();
        let bytes = alignment.clamp(CHUNK_SIZE as u64, LARGEST_WINDOW);
        let room = self.allowed_bytes().saturating_sub(offset);
        let bytes = bytes.min(room) & !(CHUNK_SIZE as u64 - 1);
        if bytes == 0 {
            return Err(Errno(libc::EFBIG));
        }
        let fd = self.reopen()?;
        let grown = self.map_next(fd, offset, bytes);
        Os::close(fd);
        let (window, bytes) = grown?;
        self.window = window;
        (self.window_offset, self.window_bytes) = (offset, bytes as usize);
        (self.carved, self.file_bytes) = (0, offset + bytes);
        Ok(())
    }

    /// Maps what follows: as much as there is room for.
    fn map_next(&self, fd: Fd, offset: u64, mut bytes: u64) -> Result<(*mut u8, u64), Errno> {
        loop {
            let window = Os::set_length(fd, offset + bytes)
                .and_then(|()| Os::map_window(fd, offset, bytes as usize, core::ptr::null_mut()));
            match window {
                Ok(window) => return Ok((window, bytes)),
                Err(Errno(libc::ENOSPC)) if bytes > CHUNK_SIZE as u64 => {
                    bytes = (bytes / 2) & !(CHUNK_SIZE as u64 - 1);
                }
                Err(error) => {
                    let _ = Os::set_length(fd, self.file_bytes);
                    return Err(error);
                }
            }
        }
    }

    /// Opens the log again, if its name still means the same file.
    fn reopen(&mut self) -> Result<Fd, Errno> {
        let path = self.path.get(..self.path_length).unwrap_or(&[]);
        let fd = Os::open_log(path)?;
        if Os::identity(fd) == Ok(self.identity) {
            return Ok(fd);
        }
        Os::close(fd);
        Err(Errno(libc::ESTALE))
    }

    fn write_out(&mut self, chunk: Chunk) -> bool {
        // SAFETY: chunks are CHUNK_SIZE bytes and live as long as the process.
        let bytes = unsafe { core::slice::from_raw_parts(chunk.at, CHUNK_SIZE) };
        let Ok(fd) = self.reopen() else {
            return false;
        };
        let mut offset = u64::from(chunk.index) * CHUNK_SIZE as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            match Os::write_at(fd, rest, offset) {
                Ok(0) | Err(_) => {
                    self.refused = Some(Errno(libc::ENOSPC));
                    break;
                }
                Ok(count) => {
                    offset += count as u64;
                    rest = rest.get(count..).unwrap_or(&[]);
                }
            }
        }
        Os::close(fd);
        rest.is_empty()
    }
}

/// Publishes how much of a chunk is valid: the one release store of an event.
///
/// # Safety
/// `at` is the start of a chunk the caller holds.
#[inline]
pub unsafe fn commit(at: *mut u8, committed: u32) {
    // SAFETY: chunks are aligned far beyond a word, and the word is inside.
    let word = unsafe { &*at.add(COMMITTED_AT).cast::<AtomicU32>() };
    Committed(word).publish(committed);
}

/// Writes the header of a fresh chunk.
///
/// # Safety
/// `chunk` is held by the caller and unused so far.
pub unsafe fn begin(chunk: Chunk, header: &Header) {
    // SAFETY: the caller holds the whole chunk.
    let bytes = unsafe { core::slice::from_raw_parts_mut(chunk.at, HEADER_SIZE) };
    let unborn = Header {
        committed: 0,
        ..*header
    };
    copy_into(bytes, &unborn.encode());
    // SAFETY: as above. Without a committed length the chunk counts as unused.
    unsafe { commit(chunk.at, header.committed) };
}

/// A chunk of a table: valid record by record, so all of it is committed.
pub fn table_header(kind: Kind, ordinal: u32) -> Header {
    Header {
        committed: CHUNK_SIZE as u32,
        ..Header::new(kind, ordinal, ordinal)
    }
}
