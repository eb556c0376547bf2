//! Code, a piece at a time. Asked of the kernel: a way that went wrong may lead to
//! where there is no memory.

use crate::platform::arch::code;
use crate::platform::rules::Effect;
use crate::platform::sys::{Os, Sys};

/// Pieces that are kept: functions and those that they call.
const PIECES: usize = 8;
const BYTES: usize = 256;
/// What asking the kernel costs, in instructions.
const READ_COST: usize = 40;
const PAGE: u64 = 4096;

#[derive(Clone, Copy)]
struct CodePiece {
    at: u64,
    bytes: [u8; BYTES],
}

/// Zeros are a valid beginning.
pub(super) struct CodePieces {
    pieces: [CodePiece; PIECES],
    next: usize,
    /// Instructions that may still be read.
    pub(super) left: usize,
}

impl CodePieces {
    /// Begins anew: what was read may have changed, and so much may be.
    pub(super) fn renew(&mut self, left: usize) {
        self.left = left;
        for piece in &mut self.pieces {
            piece.at = 0;
        }
    }

    /// The instruction at an address: its bytes, and what it does.
    pub(super) fn instruction(&mut self, at: u64) -> Option<(usize, Effect)> {
        let wanted = code::LONGEST as u64;
        self.left = self.left.checked_sub(1)?;
        let holds = |piece: &CodePiece| {
            let inside = at.wrapping_sub(piece.at);
            piece.at != 0 && inside <= BYTES as u64 - wanted
        };
        let known = self.pieces.iter().position(holds);
        let index = known.unwrap_or_else(|| {
            self.next = (self.next + 1) % PIECES;
            self.next
        });
        let piece = self.pieces.get_mut(index)?;
        if known.is_none() {
            self.left = self.left.saturating_sub(READ_COST);
            piece.read(at)?;
        }
        code::decode(piece.bytes.get((at - piece.at) as usize..)?)
    }
}

impl CodePiece {
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
