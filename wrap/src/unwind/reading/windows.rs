//! Code, a piece at a time. Asked of the kernel: a way that went wrong may lead to
//! where there is no memory.

use crate::platform::arch::code;
use crate::platform::rules::Effect;
use crate::platform::sys::{Os, Sys};

/// Pieces that are kept: functions and those that they call.
const WINDOWS: usize = 8;
const BYTES: usize = 256;
/// What asking the kernel costs, in instructions.
const READ_COST: usize = 40;
const PAGE: u64 = 4096;

#[derive(Clone, Copy)]
struct Window {
    at: u64,
    bytes: [u8; BYTES],
}

/// Zeros are a valid beginning.
pub(super) struct Windows {
    windows: [Window; WINDOWS],
    next: usize,
    /// Instructions that may still be read.
    pub(super) left: usize,
}

impl Windows {
    /// Begins anew: what was read may have changed, and so much may be.
    pub(super) fn renew(&mut self, left: usize) {
        self.left = left;
        for window in &mut self.windows {
            window.at = 0;
        }
    }

    /// The instruction at an address: its bytes, and what it does.
    pub(super) fn instruction(&mut self, at: u64) -> Option<(usize, Effect)> {
        let wanted = code::LONGEST as u64;
        self.left = self.left.checked_sub(1)?;
        let holds = |window: &Window| {
            let inside = at.wrapping_sub(window.at);
            window.at != 0 && inside <= BYTES as u64 - wanted
        };
        let known = self.windows.iter().position(holds);
        let index = known.unwrap_or_else(|| {
            self.next = (self.next + 1) % WINDOWS;
            self.next
        });
        let window = self.windows.get_mut(index)?;
        if known.is_none() {
            self.left = self.left.saturating_sub(READ_COST);
            window.read(at)?;
        }
        code::decode(window.bytes.get((at - window.at) as usize..)?)
    }
}

impl Window {
    /// What lies in the next page may not be there, nor be needed.
    fn read(&mut self, at: u64) -> Option<()> {
        self.at = 0;
        self.bytes.fill(0);
        let here = ((PAGE - at % PAGE) as usize).min(BYTES);
        let (first, second) = self.bytes.split_at_mut(here);
        if !Os::read_memory(at, first) {
            return None;
        }
        if !second.is_empty() && !Os::read_memory(at.wrapping_add(here as u64), second) {
            second.fill(0);
        }
        self.at = at;
        Some(())
    }
}

/// A word that code goes by.
pub fn word_at(address: u64) -> Option<u64> {
    let mut word = [0; 8];
    Os::read_memory(address, &mut word).then_some(u64::from_ne_bytes(word))
}
