//! System calls that a stopped thread of another process makes for us.
//!
//! It makes them with all signals kept back. At the end it is stopped once more where the
//! kernel looks at what it was in before: a system call that was waiting there goes on
//! waiting, as after any other stop.

use std::io;

use crate::arch::{Registers, SYSTEM_CALL, mask, request, set_mask};
use crate::memory::Memory;
use crate::threads::{Stop, Thread};
use crate::{Outcome, Refusal};

/// A thread that makes calls for us.
pub struct Remote<'a> {
    thread: &'a Thread,
    before: Registers,
    mask: u64,
    instruction: u64,
    is_over: bool,
}

impl<'a> Remote<'a> {
    /// Takes a thread that is stopped; `code` is where a system call's instruction can be
    /// looked for.
    pub fn of(thread: &'a Thread, memory: &Memory, code: (u64, u64)) -> Outcome<Self> {
        let instruction = find(memory, code)?;
        let before = thread.registers.ok_or_else(gone)?;
        let mask = mask(thread.tid).map_err(failed)?;
        set_mask(thread.tid, u64::MAX).map_err(failed)?;
        Ok(Self {
            thread,
            before,
            mask,
            instruction,
            is_over: false,
        })
    }

    /// Makes a call; its result, or its error.
    pub fn call(&mut self, number: u64, arguments: [u64; 6]) -> Outcome<Result<u64, i32>> {
        let tid = self.thread.tid;
        let ready = self.before.calling(self.instruction, number, arguments);
        ready.set(tid).map_err(failed)?;
        for _ in 0..2 {
            self.step()?;
        }
        let result = Registers::of(tid).map_err(failed)?.result();
        Ok(match result {
            -4095..=-1 => Err(-result as i32),
            _ => Ok(result as u64),
        })
    }

    /// To the beginning or the end of a call, however long that takes: a thread that is let
    /// go amid it has registers of ours.
    fn step(&mut self) -> Outcome<()> {
        self.thread.go_on(request::TO_CALL, 0);
        loop {
            match self.thread.wait(request::TO_CALL, None)? {
                Stop::Call => return Ok(()),
                Stop::Gone => return Err(gone()),
                // With its process, by a signal: the kernel sees to it when we are gone.
                Stop::Asked { .. } => self.thread.go_on(request::TO_CALL, 0),
            }
        }
    }

    /// Puts the thread back to where it was.
    pub fn end(mut self) -> Outcome<()> {
        self.put_back()
    }

    fn put_back(&mut self) -> Outcome<()> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let tid = self.thread.tid;
        self.thread.interrupt();
        self.thread.go_on(request::GO_ON, 0);
        loop {
            match self.thread.wait(request::GO_ON, None)? {
                Stop::Asked { .. } => break,
                Stop::Gone => return Err(gone()),
                Stop::Call => self.thread.go_on(request::GO_ON, 0),
            }
        }
        self.before.set(tid).map_err(failed)?;
        set_mask(tid, self.mask).map_err(failed)
    }
}

impl Drop for Remote<'_> {
    fn drop(&mut self) {
        // It is gone, or the same was tried before.
        let _ = self.put_back();
    }
}

/// Finds an instruction that makes a system call.
fn find(memory: &Memory, (low, high): (u64, u64)) -> Outcome<u64> {
    const PIECE: u64 = 1 << 20;
    let mut at = low;
    while at < high {
        let bytes = memory.bytes(at, PIECE.min(high - at))?;
        let mut pairs = bytes.windows(2);
        if let Some(found) = pairs.position(|pair| pair == SYSTEM_CALL) {
            return Ok(at + found as u64);
        }
        at += PIECE;
    }
    Err(Refusal::new(
        "its C library makes no system calls that are known here",
        "start the program with `memlog record`",
    ))
}

fn gone() -> Refusal {
    Refusal::new("it ended meanwhile", "there is nothing to record")
}

fn failed(error: io::Error) -> Refusal {
    Refusal::new(
        format!("the kernel does not let its registers be set: {error}"),
        "it may have ended meanwhile: try again",
    )
}
