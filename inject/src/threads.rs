//! All threads of a process, stopped for a moment.
//!
//! A thread is seized, which by itself does nothing to it, and then stopped without any
//! signal. Signals of its own that come meanwhile it gets as if nobody looked. A system
//! call that was waiting goes on waiting when the thread goes on.

use std::time::{Duration, Instant};

use crate::arch::{Registers, SYSTEM_CALL, is_dispatched, request, sequence, trace};
use crate::memory::{Memory, word_in};
use crate::tasks::{may_stop, status, tids};
use crate::{Outcome, Refusal, patiently};

/// System calls are told apart from a debugger's signal.
const TELL_CALLS: u64 = 1;
/// Of a stop that is no signal's, or is told by this bit.
const STOPPED: i32 = 128;
/// How long a thread takes to stop that can stop.
const AT_ONCE: Duration = Duration::from_millis(100);

/// A thread that is traced.
pub struct Thread {
    /// Its number here.
    pub tid: u32,
    /// Its registers, once it has been stopped.
    pub registers: Option<Registers>,
}

/// How a thread stopped.
pub enum Stop {
    /// As was asked for, or with its process by a signal.
    Asked { by_signal: bool },
    /// At the beginning or the end of a system call.
    Call,
    /// It is not there any more.
    Gone,
}

impl Thread {
    /// Begins to trace it; nothing if it is gone.
    pub fn seize(pid: u32, tid: u32) -> Outcome<Option<Self>> {
        let thread = Self {
            tid,
            registers: None,
        };
        let Err(error) = trace(request::SEIZE, tid, 0, TELL_CALLS) else {
            return Ok(Some(thread));
        };
        let Some(status) = status(pid, tid) else {
            return Ok(None);
        };
        let tracer = status.number("TracerPid").unwrap_or(0);
        match () {
            () if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
            // It did not stop when it was asked before.
            () if tracer == own_number() => Ok(Some(thread)),
            () if tracer != 0 => Err(Refusal::for_now(
                format!("process {tracer} traces it, and there can be only one"),
                "end that debugger or strace first",
            )),
            // Just ending, perhaps.
            () => Err(Refusal::for_now(
                format!("the kernel does not let it be traced: {error}"),
                "run memlog as root, or in a container with `--cap-add SYS_PTRACE`",
            )),
        }
    }

    /// Whether it can make calls for us: it is not in a sequence that must begin anew when
    /// it is interrupted, of which the kernel would lose sight, and its calls are the
    /// kernel's.
    pub fn can_call(&self, memory: &Memory) -> bool {
        let Some(registers) = self.registers else {
            return false;
        };
        if is_dispatched(self.tid) {
            return false;
        }
        let told = sequence(self.tid).map(|at| memory.word(at.wrapping_add(8)));
        match told {
            None | Some(Ok(0)) => true,
            Some(Ok(at)) => {
                let within = |bytes: &[u8]| {
                    let (start, length) = (word_in(bytes, 8)?, word_in(bytes, 16)?);
                    Some(registers.pc().wrapping_sub(start) < length)
                };
                let bytes = memory.bytes(at, 32);
                bytes.is_ok_and(|bytes| within(&bytes) == Some(false))
            }
            Some(Err(_)) => false,
        }
    }

    /// Asks it to stop.
    pub fn interrupt(&self) {
        // It may be gone: the wait says so.
        let _ = trace(request::INTERRUPT, self.tid, 0, 0);
    }

    /// Lets it go on in this way, with a signal if it has one to take.
    pub fn go_on(&self, request: u32, signal: i32) {
        let _ = trace(request, self.tid, 0, signal as u64);
    }

    /// Waits until it stops in a way that was asked for, or until this moment; after a
    /// signal of its own it goes on by this request.
    pub fn wait(&self, request: u32, end: Option<Instant>) -> Outcome<Stop> {
        let mut pause = Duration::from_micros(5);
        loop {
            let mut status = 0;
            // SAFETY: the status is one word.
            #[allow(unsafe_code)]
            let got = unsafe {
                libc::waitpid(
                    self.tid as libc::pid_t,
                    &raw mut status,
                    libc::__WALL | libc::WNOHANG,
                )
            };
            if got < 0 || got > 0 && !libc::WIFSTOPPED(status) {
                return Ok(Stop::Gone);
            }
            if got == 0 {
                if end.is_some_and(|end| Instant::now() >= end) {
                    return Err(Refusal::for_now(
                        format!("its thread {} does not stop", self.tid),
                        "it waits for a disk, or for a child of vfork: try again later",
                    ));
                }
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_micros(500));
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            if status >> 16 == STOPPED {
                let by_signal = signal != libc::SIGTRAP;
                return Ok(Stop::Asked { by_signal });
            }
            if signal == libc::SIGTRAP | 0x80 {
                return Ok(Stop::Call);
            }
            // A signal of its own, which it is to get.
            self.go_on(request, signal);
        }
    }
}

/// The threads of a process.
pub struct Threads {
    pid: u32,
    /// Those that are stopped.
    pub all: Vec<Thread>,
    /// Those that did not stop when they were asked.
    late: Vec<Thread>,
    /// When they began to stand still.
    pub since: Option<Instant>,
}

impl Threads {
    /// None yet.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            all: Vec::new(),
            late: Vec::new(),
            since: None,
        }
    }

    /// Stops one that can do system calls for us.
    pub fn stop_one(&mut self, memory: &Memory, patience: Duration) -> Outcome<()> {
        let pid = self.pid;
        patiently(Instant::now() + patience, || {
            let mut why = None;
            for tid in tids(pid) {
                match self.stop_for_calls(tid, memory) {
                    Ok(true) => return Ok(()),
                    Ok(false) => {}
                    Err(refusal) => why = Some(refusal),
                }
                self.release();
            }
            Err(why.unwrap_or_else(|| match tids(pid).is_empty() {
                true => ended(),
                false => Refusal::for_now(
                    "none of its threads can make a system call for memlog: they dispatch them \
                     themselves, or are amid what cannot be interrupted",
                    "start the program with `memlog record`",
                ),
            }))
        })
    }

    fn stop_for_calls(&mut self, tid: u32, memory: &Memory) -> Outcome<bool> {
        may_stop(self.pid, tid)?;
        let Some(thread) = Thread::seize(self.pid, tid)? else {
            return Ok(false);
        };
        thread.interrupt();
        let is_stopped = self.stopped(thread, memory)?;
        Ok(is_stopped
            && self
                .all
                .last()
                .is_some_and(|thread| thread.can_call(memory)))
    }

    /// Stops all of them, those that come meanwhile too.
    pub fn stop_all(&mut self, memory: &Memory) -> Outcome<()> {
        loop {
            let mut new = tids(self.pid);
            new.retain(|&tid| self.all.iter().all(|thread| thread.tid != tid));
            for &tid in &new {
                may_stop(self.pid, tid)?;
            }
            let mut asked = Vec::new();
            for tid in new {
                if let Some(thread) = Thread::seize(self.pid, tid)? {
                    self.since.get_or_insert_with(Instant::now);
                    thread.interrupt();
                    asked.push(thread);
                }
            }
            if asked.is_empty() {
                break;
            }
            let mut outcome = Ok(());
            for thread in asked {
                // The others were asked as well, and are let go with them.
                let stopped = self.stopped(thread, memory).map(|_| ());
                outcome = outcome.and(stopped);
            }
            outcome?;
        }
        match self.all.is_empty() {
            true => Err(ended()),
            false => Ok(()),
        }
    }

    /// Waits for one; false if it is gone.
    fn stopped(&mut self, mut thread: Thread, memory: &Memory) -> Outcome<bool> {
        let stop = match thread.wait(request::GO_ON, Some(Instant::now() + AT_ONCE)) {
            Ok(stop) => stop,
            Err(refusal) => {
                self.late.push(thread);
                return Err(refusal);
            }
        };
        match stop {
            Stop::Gone => return Ok(false),
            Stop::Call => {}
            Stop::Asked { by_signal: true } => {
                self.all.push(thread);
                return Err(Refusal::new(
                    "it is stopped by a signal",
                    format!("let it go on first: kill -CONT {}", self.pid),
                ));
            }
            Stop::Asked { by_signal: false } => {}
        }
        let Ok(mut registers) = Registers::of(thread.tid) else {
            return Ok(false);
        };
        if let Some(again) = registers.waiting_again() {
            let mut bytes = [0; 2];
            let is_read = memory.read(registers.before(), &mut bytes).is_ok();
            if is_read && bytes == SYSTEM_CALL && again.set(thread.tid).is_ok() {
                registers = again;
            }
        }
        thread.registers = Some(registers);
        self.all.push(thread);
        Ok(true)
    }

    /// Lets go of all of them.
    pub fn release(&mut self) {
        for thread in self.all.drain(..) {
            thread.go_on(request::DETACH, 0);
        }
        for thread in self.late.drain(..) {
            // It stops as soon as it can, and the kernel lets only those go that stand.
            let end = Instant::now() + AT_ONCE;
            if thread.wait(request::GO_ON, Some(end)).is_ok() {
                thread.go_on(request::DETACH, 0);
            }
        }
        self.since = None;
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.release();
    }
}

fn ended() -> Refusal {
    Refusal::new("it has ended", "there is nothing to record")
}

/// The number of this thread, which is the one that traces.
fn own_number() -> u64 {
    // SAFETY: takes nothing.
    #[allow(unsafe_code)]
    let number = unsafe { libc::gettid() };
    number as u64
}
