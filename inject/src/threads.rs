//! All threads of a process, stopped for a moment.
//!
//! A thread is seized, which by itself does nothing to it, and then stopped without any
//! signal. Signals of its own that come meanwhile it gets as if nobody looked. A system
//! call that was waiting goes on waiting when the thread goes on.

use std::fs;
use std::time::{Duration, Instant};

use crate::arch::{Registers, SYSTEM_CALL, request, trace};
use crate::memory::Memory;
use crate::{Outcome, Refusal};

/// System calls are told apart from a debugger's signal.
const TELL_CALLS: u64 = 1;
/// Of a stop that is no signal's, or is told by this bit.
const STOPPED: i32 = 128;
/// How long a thread takes to stop that can stop.
const AT_ONCE: Duration = Duration::from_millis(500);

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
    pub fn seize(tid: u32) -> Outcome<Option<Self>> {
        match trace(request::SEIZE, tid, 0, TELL_CALLS) {
            Ok(()) => Ok(Some(Self {
                tid,
                registers: None,
            })),
            Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
            Err(error) => Err(Refusal::new(
                format!("the kernel does not let it be traced: {error}"),
                "run memlog as root, or in a container with `--cap-add SYS_PTRACE`",
            )),
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

    /// Waits until it stops in a way that was asked for; after a signal of its own it goes
    /// on by this request.
    pub fn wait(&self, request: u32, end: Instant) -> Outcome<Stop> {
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
                if Instant::now() >= end {
                    return Err(Refusal::new(
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
    /// When they began to stand still.
    pub since: Option<Instant>,
}

impl Threads {
    /// None yet.
    pub fn of(pid: u32) -> Self {
        Self {
            pid,
            all: Vec::new(),
            since: None,
        }
    }

    /// Stops one that can do system calls for us.
    pub fn stop_one(&mut self, memory: &Memory) -> Outcome<()> {
        let mut why = None;
        for tid in tids(self.pid) {
            let Some(thread) = Thread::seize(tid)? else {
                continue;
            };
            thread.interrupt();
            match self.stopped(thread, memory) {
                Ok(true) => return Ok(()),
                Ok(false) => {}
                Err(refusal) => why = Some(refusal),
            }
        }
        Err(why.unwrap_or_else(ended))
    }

    /// Stops all of them, those that come meanwhile too.
    pub fn stop_all(&mut self, memory: &Memory) -> Outcome<()> {
        loop {
            let mut asked = Vec::new();
            for tid in tids(self.pid) {
                if !self.all.iter().any(|thread| thread.tid == tid)
                    && let Some(thread) = Thread::seize(tid)?
                {
                    self.since.get_or_insert_with(Instant::now);
                    thread.interrupt();
                    asked.push(thread);
                }
            }
            if asked.is_empty() {
                break;
            }
            for thread in asked {
                self.stopped(thread, memory)?;
            }
        }
        match self.all.is_empty() {
            true => Err(ended()),
            false => Ok(()),
        }
    }

    /// Waits for one; false if it is gone.
    fn stopped(&mut self, mut thread: Thread, memory: &Memory) -> Outcome<bool> {
        match thread.wait(request::GO_ON, Instant::now() + AT_ONCE)? {
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

/// The threads that there are now.
fn tids(pid: u32) -> Vec<u32> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let entries = entries.into_iter().flatten().flatten();
    let tids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    tids.collect()
}
