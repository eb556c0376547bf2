//! Where chunks come from and how they reach the file.
//!
//! *Mapped*: the file itself lies in memory, so what is committed survives any
//! death. It is mapped in windows that start at 256 KiB and double to 8 MiB,
//! each at a file offset that is a multiple of its size, and either ready as a
//! whole or, for who will write little, by the page; the descriptor is closed
//! at once, and what comes next reached without one (`grow`). *Written*: chunks
//! are private and go out by one large
//! write each when full. *Deferred*: a forked child that may be about to exec
//! has its first chunks in private memory; when it turns out to live, they
//! become the first window of a file, at the same addresses.
#![allow(unsafe_code)]
//! # Safety
//! Chunk memory is handed out once and as raw pointers; who holds a [`Chunk`]
//! is its only writer. Windows are unmapped a chunk at a time, by the holder.

mod chunk;
mod grow;
mod parted;
mod ready;
mod room;
mod state;
mod total;

pub use chunk::{Chunk, Use, begin, commit, ready_next, renew, table_header};
pub use grow::Stock;
pub use parted::replace_windows;
pub use room::Room;

use super::Wanted;
use crate::platform::clock;
use crate::platform::ground::Ground;
use crate::platform::lock::{Bounded, Patience};
use crate::platform::sys::{Errno, Os, Sys};
use chunk::seal_header;
use core::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use grow::{Refused, failed};
use memlog_format::chunk::{CHUNK_SIZE, Header};
use memlog_format::counter::Counter;
use memlog_format::refusal::Step;
use state::{FIRST_WINDOW, State, set_length};

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
pub struct Sink {
    state: Bounded<State>,
    /// What it does, for those who cannot wait for the lock.
    mode: AtomicU8,
    /// Where there was no room: the millisecond from which on it is looked for again.
    retry_at: AtomicU64,
    ground: &'static Ground,
    room: &'static Room,
}

impl Sink {
    /// A sink that gives nothing.
    pub const fn new(ground: &'static Ground, room: &'static Room) -> Self {
        Self {
            state: Bounded::new(State::new(ground, room), ground),
            mode: AtomicU8::new(Mode::Closed as u8),
            retry_at: AtomicU64::new(0),
            ground,
            room,
        }
    }

    /// Makes the log `path` (a C string) and its first window. The error is
    /// the creation's; `EEXIST` asks for another name.
    pub fn create(&self, path: &[u8], wanted: &Wanted) -> Result<Mode, Errno> {
        let mode = self.state.with(Patience::Bounded, |state| {
            state.forget();
            state.obey(wanted);
            let fd = Os::create(path)?;
            let mode = state.take_file(path, fd, core::ptr::null_mut());
            self.publish(state);
            Os::close(fd);
            if mode.is_err() {
                Os::unlink(path);
                self.room.total.settle(0);
            }
            mode
        });
        mode.unwrap_or(Err(Errno(0)))
    }

    /// Starts privately, for a child that may only exec.
    pub fn defer(&self, wanted: &Wanted) -> bool {
        let done = self.state.with(Patience::Bounded, |state| {
            state.forget();
            state.obey(wanted);
            state.window = Os::memory(FIRST_WINDOW);
            if state.window.is_null() {
                return false;
            }
            state.window_bytes = FIRST_WINDOW;
            state.mode = Mode::Deferred;
            self.publish(state);
            true
        });
        done.unwrap_or(false)
    }

    /// Gives a deferred log its file. Others may go on writing to its private
    /// chunks; only the header's lock must be held.
    pub fn materialize(&self, path: &[u8]) -> Result<Mode, Errno> {
        let mode = self.state.with(Patience::Bounded, |state| {
            if state.mode != Mode::Deferred {
                return Ok(state.mode);
            }
            let mode = match state.materialize_whole(path) {
                // No such files here, or none that can be named later.
                Err(error) if error != Errno(libc::EEXIST) => state.materialize_named(path),
                mode => mode,
            };
            if mode.is_err() {
                self.room.total.settle(0);
            }
            self.publish(state);
            mode
        });
        mode.unwrap_or(Err(Errno(0)))
    }

    /// The log may take so many bytes from now on; false if nobody can be asked now.
    pub fn limit(&self, bytes: u64) -> bool {
        let told = self.state.with(Patience::Bounded, |state| {
            state.max_bytes = bytes.max(FIRST_WINDOW as u64);
            // It may have been in the way.
            state.refused = None;
            self.note_refusal(state);
        });
        told.is_some()
    }

    /// What the sink is doing.
    pub fn mode(&self) -> Mode {
        let mode = self.mode.load(Ordering::Acquire);
        let modes = [Mode::Deferred, Mode::Mapped, Mode::Written];
        let known = modes.into_iter().find(|known| *known as u8 == mode);
        known.unwrap_or(Mode::Closed)
    }

    fn publish(&self, state: &State) {
        self.mode.store(state.mode as u8, Ordering::Release);
        self.note_refusal(state);
        self.note_unused(state);
    }

    fn note_unused(&self, state: &State) {
        self.room.note_unused(state.unused_ready());
    }

    fn note_refusal(&self, state: &State) {
        let until = state.refused.as_ref().map_or(0, Refused::until);
        self.retry_at.store(until, Ordering::Relaxed);
    }

    /// Whether a chunk may be had: not where there was no room lately. Of all
    /// who ask then one looks for it again, once a second, and who loses an event
    /// pays for no lock and no system call.
    pub fn may_have_room(&self) -> bool {
        let order = Ordering::Relaxed;
        let at = self.retry_at.load(order);
        if at == 0 {
            return true;
        }
        let now = clock::ms();
        let later = Refused::later(now);
        now >= at
            && self
                .retry_at
                .compare_exchange(at, later, order, order)
                .is_ok()
    }

    /// Makes more of a chunk ready that may have room.
    pub fn make_ready(&self, at: *mut u8, bytes: usize) -> bool {
        if !self.room.total.take(bytes) {
            self.retry_at
                .store(Refused::later(clock::ms()), Ordering::Relaxed);
            let reason = failed(Step::LogsTotal, Errno(libc::EFBIG)).encode();
            self.ground.counters.set(Counter::LogRefused, reason);
            return false;
        }
        let made = Os::make_ready(at, bytes);
        let until = made.map_or_else(|_| Refused::later(clock::ms()), |()| 0);
        self.retry_at.store(until, Ordering::Relaxed);
        if let Err(error) = made {
            self.room.total.give_back(bytes);
            let reason = failed(Step::Map, error).encode();
            self.ground.counters.set(Counter::LogRefused, reason);
        }
        made.is_ok()
    }

    /// The next chunk of the file, zeroed, or nothing. `tell` is told in the
    /// order of the file.
    pub fn carve(
        &self,
        patience: Patience,
        usage: Use,
        streams: u32,
        tell: impl FnOnce(&Chunk),
    ) -> Option<Chunk> {
        self.state.with(patience, |state| {
            if self.ground.is_parted() {
                return None;
            }
            let chunk = state.carve(usage, streams);
            self.note_unused(state);
            let Some(chunk) = chunk else {
                self.note_refusal(state);
                return None;
            };
            self.retry_at.store(0, Ordering::Relaxed);
            // The fork may have come since.
            if self.ground.is_parted() {
                return None;
            }
            tell(&chunk);
            Some(chunk)
        })?
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
        let kept = self
            .state
            .with(Patience::Bounded, |state| match state.mode {
                Mode::Mapped if state.is_private(chunk) => state.write_out(chunk),
                Mode::Mapped => {
                    if !self.ground.is_quiet() && !state.keeps_sealed {
                        // SAFETY: the chunk lies whole in a window, unused.
                        unsafe { Os::unmap(chunk.at, CHUNK_SIZE) };
                    }
                    true
                }
                Mode::Written => {
                    state.hold(header.stream, Chunk::NONE);
                    let kept = state.write_out(chunk);
                    if !kept {
                        state.void(chunk);
                    }
                    state.keep_spare(chunk.at);
                    kept
                }
                Mode::Deferred | Mode::Closed => true,
            });
        kept.unwrap_or(true)
    }

    /// Whether a chunk of a mapped log lies in private memory all the same.
    pub fn is_private(&self, chunk: Chunk) -> bool {
        let is = self
            .state
            .with(Patience::Bounded, |state| state.is_private(chunk));
        is.unwrap_or(true)
    }

    /// Takes a chunk out of the file if it lies in private memory; whether it
    /// does.
    pub fn void_private(&self, chunk: Chunk) -> bool {
        let is = self.state.with(Patience::Bounded, |state| {
            let is = state.is_private(chunk);
            if is {
                state.void(chunk);
            }
            is
        });
        is.unwrap_or(true)
    }

    /// Writes a chunk out, where the file is not the memory; false if it
    /// cannot.
    pub fn write(&self, chunk: Chunk) -> bool {
        let written = self.state.with(Patience::Bounded, |state| {
            state.mode != Mode::Written || state.write_out(chunk)
        });
        written.unwrap_or(false)
    }

    /// Notes the chunk that a stream writes to, where it is to be written out.
    pub fn hold(&self, stream: u32, chunk: Chunk) {
        self.state.with(Patience::Bounded, |state| {
            if state.mode == Mode::Written {
                state.hold(stream, chunk);
            }
        });
    }

    /// Writes out what all streams have in their chunks so far, one at a time:
    /// others wait for the lock.
    pub fn write_held(&self, streams: u32) {
        for stream in 0..streams {
            self.state.with(Patience::Bounded, |state| {
                if state.mode == Mode::Written {
                    state.write_held(stream);
                }
            });
        }
    }

    /// Cuts the file after the last chunk given out, and sees to it that all
    /// of it is in the file.
    pub fn trim(&self) {
        self.state.with(Patience::Bounded, |state| {
            if state.mode != Mode::Mapped {
                return;
            }
            state.write_private();
            let end = state.window_offset + state.carved as u64;
            if let Ok(fd) = state.reopen() {
                // Later growth starts behind the cut: pages past a file's end
                // must not be touched.
                let rest = state.window_bytes - state.carved;
                if set_length(self.ground, fd, end).is_ok() {
                    state.leave_foothold();
                    self.room.total.give_back(state.leave_next());
                    state.is_cut = true;
                    if rest > 0 {
                        // SAFETY: the rest of the window was given to nobody.
                        unsafe { Os::unmap(state.window.wrapping_add(state.carved), rest) };
                    }
                    state.window_bytes = state.carved;
                    (state.file_bytes, state.ahead_bytes) = (end, 0);
                    // Of a sparse window nothing was taken that is not used.
                    if !state.is_sparse {
                        self.room.total.give_back(rest);
                    }
                    if let Ok(taken) = Os::taken_bytes(fd) {
                        self.room.total.settle_at_least(taken);
                    }
                }
                Os::close(fd);
            }
            self.note_unused(state);
        });
    }

    /// Takes the room of the first window in a file that is written to.
    pub fn take_room(&self) -> bool {
        let taken = self
            .state
            .with(Patience::Bounded, |state| state.take_room());
        taken.unwrap_or(false)
    }

    /// Maps windows ahead while it is allowed.
    pub fn stock_up(&self, stock: Stock, streams: u32) {
        self.state.with(Patience::Bounded, |state| {
            state.stock_up(stock, streams);
            self.note_unused(state);
        });
    }

    /// Makes the file longer by far: the rights to do so are about to go.
    pub fn reach_far(&self) {
        self.state.with(Patience::Bounded, State::reach_far);
    }

    /// Stops growing where a filter may kill us for the calls it takes, and goes
    /// on where none came. Whoever grows has grown.
    pub fn heed_quiet(&self) {
        self.state.with(Patience::Bounded, |state| {
            let is_quiet = self.ground.is_quiet();
            let was_quiet = core::mem::replace(&mut state.was_quiet, is_quiet);
            if was_quiet && !is_quiet {
                // What was refused meanwhile was so for that reason alone.
                state.refused = None;
                self.note_refusal(state);
            }
        });
    }

    /// The log's path, a C string, into `into`; its length without the zero.
    pub fn path(&self, into: &mut [u8]) -> usize {
        let length = self.state.with(Patience::Bounded, |state| {
            let path = state.path.get(..state.path_length).unwrap_or(&[]);
            for (place, &byte) in into.iter_mut().zip(path) {
                *place = byte;
            }
            state.path_length.saturating_sub(1)
        });
        length.unwrap_or(0)
    }

    /// Whether somebody is at work on it.
    pub fn is_held(&self) -> bool {
        self.state.is_held()
    }

    /// Opens the lock in a forked child, before anything else is asked. If it was
    /// held, what it guards is as the fork met it, amid the holder's work.
    ///
    /// # Safety
    /// No other thread of this process can be in the sink.
    pub unsafe fn force_open(&self) {
        let was_held = self.state.is_held();
        // SAFETY: by the caller.
        unsafe { self.state.force_open() };
        self.state
            .with(Patience::Bounded, |state| state.is_torn = was_held);
    }

    /// A forked child's copy, open already: the parent's windows are not its own.
    pub fn reset_in_child(&self) {
        self.state.with(Patience::Bounded, |state| {
            state.leave_parent();
            state.forget();
            self.room.total.forget();
            self.publish(state);
        });
    }
}
