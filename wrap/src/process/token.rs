//! The token: what this thread is doing inside the recorder, so that a call
//! that comes meanwhile is understood.
//!
//! * *InReal*: the real allocator is at work. A nested call is its own detail
//!   (musl's calloc calling malloc, reallocarray calling realloc) and is not
//!   an event; a nested mmap is its backing.
//! * *InRecorder*: a nested call is a signal handler's. It is recorded through
//!   another stream, so that nothing of ours has to be re-entrant.
//!
//! The word holds the caller's sp beside the phase: a call from the same depth
//! or further out means that the holder was jumped out of and will not return.

use crate::platform::bounds::Bounds;

/// In a thread's word, in the place of its stream's slot, while that is being
/// claimed.
pub const CLAIMING: u64 = 1;

/// What the thread is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the real allocator.
    InReal,
    /// In the recorder's own code.
    InRecorder,
}

/// How a call finds the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenState {
    /// Free: an ordinary call.
    Free,
    /// Held by a call further out on this stack.
    Nested(Phase),
    /// Held by a call that will never return.
    Abandoned,
}

/// The word of a phase. Stack pointers are multiples of 4 on every machine.
#[inline]
pub const fn word(phase: Phase, sp: u64) -> u64 {
    (sp & !3) | phase as u64 | 2
}

/// The depth in a word.
#[inline]
pub const fn sp(busy: u64) -> u64 {
    busy & !3
}

/// The phase in a word.
#[inline]
pub const fn phase(busy: u64) -> Option<Phase> {
    match busy {
        0 => None,
        _ if busy & 1 == 0 => Some(Phase::InReal),
        _ => Some(Phase::InRecorder),
    }
}

/// Reads the word for a call from `sp`.
#[inline]
pub fn read(busy: u64, sp: u64, stack: &Bounds) -> TokenState {
    if busy == 0 {
        return TokenState::Free;
    }
    let outer = busy & !3;
    let phase = if busy & 1 == 0 {
        Phase::InReal
    } else {
        Phase::InRecorder
    };
    let own = stack.low..stack.high;
    match (own.contains(&outer), own.contains(&sp)) {
        // Two depths of one stack can be compared.
        (true, true) if sp >= outer => TokenState::Abandoned,
        (true, true) => TokenState::Nested(phase),
        // A signal's own stack, or a coroutine's: whoever holds the token may
        // well come back. The allocator's own calls stay on its stack.
        (true, false) | (false, true) => TokenState::Nested(Phase::InRecorder),
        // Neither is known: a call further in is the likelier, and safe.
        (false, false) if sp < outer => TokenState::Nested(phase),
        (false, false) => TokenState::Nested(Phase::InRecorder),
    }
}
