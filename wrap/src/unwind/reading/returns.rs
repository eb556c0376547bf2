//! Whether a function is seen to return: whether a way leads from its beginning to
//! a return, and past no call but of functions of which the same is seen.
//!
//! Where that is not found out it is taken for one that never returns, which can
//! only cost a proof. A call through a register is taken to return, and one by an
//! address that lies somewhere, but for who asks to be sure.

use super::pieces::{CodePieces, word_at};
use super::visited::Visited;
use crate::platform::rules::Effect;

/// How deep calls are followed.
const DEPTH: usize = 3;
/// Instructions of one function that are read, at most.
const INSTRUCTIONS: usize = 400;
/// Room for those that were visited: a power of two, and more than are read.
const VISITED: usize = 1024;
const WAYS: usize = 64;
/// Functions that are remembered: a power of two.
const REMEMBERED: usize = 512;

/// One function that is read.
struct Level {
    ways: [u64; WAYS],
    waiting: usize,
    visited: Visited<VISITED>,
}

/// Zeros are a valid beginning.
pub(super) struct Returns {
    levels: [Level; DEPTH],
    /// Functions, shifted, as they were asked for; the lowest bit is set for those
    /// that return.
    known: [u64; REMEMBERED],
    /// Whether a call by an address that lies somewhere is looked at.
    is_sure: bool,
    /// Whether the search came by a stub, which may lead elsewhere once the loader
    /// has bound it.
    is_bound_later: bool,
    /// Whether the search went as deep or as far as it may.
    is_cut: bool,
}

impl Returns {
    /// Whether this function returns, as far as it may be read.
    pub(super) fn is_seen(&mut self, start: u64, is_sure: bool, code: &mut CodePieces) -> bool {
        (self.is_cut, self.is_sure, self.is_bound_later) = (false, is_sure, false);
        self.look(start, 0, code)
    }

    #[inline(never)]
    fn look(&mut self, start: u64, depth: usize, code: &mut CodePieces) -> bool {
        let name = start ^ u64::from(self.is_sure) << 62;
        let index = (name.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % REMEMBERED;
        let known = self.known.get(index).copied().unwrap_or(0);
        if known >> 1 == name {
            return known & 1 != 0;
        }
        let Some(level) = self.levels.get_mut(depth) else {
            self.is_cut = true;
            return false;
        };
        level.begin(start);
        let is_seen = self.search(depth, code);
        // What was too deep from here may not be from elsewhere.
        let is_final = !self.is_bound_later && (!self.is_cut || depth == 0 && code.left > 0);
        if (is_seen || is_final)
            && let Some(place) = self.known.get_mut(index)
        {
            *place = name << 1 | u64::from(is_seen);
        }
        is_seen
    }

    fn search(&mut self, depth: usize, code: &mut CodePieces) -> bool {
        while let Some(mut at) = self.levels.get_mut(depth).and_then(Level::next) {
            loop {
                let is_new = self
                    .levels
                    .get_mut(depth)
                    .is_some_and(|level| level.visited.is_new(at));
                if !is_new {
                    break;
                }
                let Some((length, effect)) = code.instruction(at) else {
                    self.is_cut |= code.left == 0;
                    break;
                };
                at = at.wrapping_add(length as u64);
                let target = |distance: i64| at.wrapping_add_signed(distance);
                match effect {
                    Effect::Return => return true,
                    Effect::Jump(distance) => at = target(distance),
                    Effect::Branch(distance) => {
                        if let Some(level) = self.levels.get_mut(depth) {
                            level.put_off(target(distance));
                        }
                    }
                    Effect::Away(Some(distance)) => {
                        self.is_bound_later = true;
                        match word_at(target(distance)) {
                            Some(target) => at = target,
                            None => break,
                        }
                    }
                    Effect::Away(None) | Effect::Dead => break,
                    Effect::Call(Some(distance))
                        if !self.look(target(distance), depth + 1, code) =>
                    {
                        break;
                    }
                    Effect::CallAt(distance)
                        if self.is_sure
                            && !word_at(target(distance))
                                .is_some_and(|start| self.look(start, depth + 1, code)) =>
                    {
                        break;
                    }
                    _ => {}
                }
            }
        }
        false
    }
}

impl Level {
    fn begin(&mut self, start: u64) {
        self.waiting = 0;
        self.visited.begin(INSTRUCTIONS);
        self.put_off(start);
    }

    fn put_off(&mut self, at: u64) {
        if let Some(place) = self.ways.get_mut(self.waiting) {
            *place = at;
            self.waiting += 1;
        }
    }

    fn next(&mut self) -> Option<u64> {
        self.waiting = self.waiting.checked_sub(1)?;
        self.ways.get(self.waiting).copied()
    }
}
