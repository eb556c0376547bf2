//! A frame's rule, proven by instructions: for code that no table describes, as
//! all of musl.
//!
//! Who calls says where a function begins: the call before a return address
//! names it. So a word of the stack proposes a frame, a candidate, which can be
//! checked:
//!
//! ```text
//! a candidate (pc, where its function begins, where its return address lies):
//!   follow the ways from the beginning, until one comes to pc at this depth
//!     a branch: its target is another way
//!     push, sub ..: the stack pointer moves
//!     a register that calls preserve is stored for the first time: there lies
//!       the caller's; is loaded again from there: it is the caller's once more
//!   the way out (pc) must tell the same row of rules:
//!     follow the ways from pc, and note where those registers are loaded from
//!     each return tells a row, and all must tell the same; those that come
//!       before a call, or if there are none, all
//!     a jump through a register may be one into another function: if so, it
//!       tells that row, and else nothing
//! ```
//!
//! No way goes on behind a call of a function that is not seen to return
//! ([`returns`]): what lies there is another function, or the middle of one. So
//! the frame's pc is reached through its own call alone. Nothing is guessed:
//! what cannot be read, or says two things, proves nothing.

mod jumps;
mod pieces;
mod pointer;
mod returns;
mod visited;
mod way;

use super::row::Row;
use crate::platform::arch;
use crate::platform::rules::Effect;
use crate::platform::sys::{Os, Sys};
use pieces::CodePieces;
pub use pieces::word_at;
pub use pointer::{Keeps, Leads};
use returns::Returns;
use visited::Visited;
use way::{Base, Reads, Way};

/// Ways that are put off, at most.
const WAYS: usize = 128;
/// Instructions that are read in one go, at most.
const INSTRUCTIONS: usize = 3000;
/// Room for those that were visited: a power of two, and more than are read.
const VISITED: usize = 4096;
const WORD: i64 = arch::WORD as i64;

/// A frame, if its return address lies where somebody says; distances are from
/// there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Where its code is.
    pub pc: u64,
    /// Where its function begins.
    pub start: u64,
    /// Its stack pointer.
    pub sp: i64,
    /// Its frame pointer, by which alone the stack pointer may be known.
    pub fp: i64,
    /// Whether its function is one that returns.
    pub returns: bool,
    /// Whether it was left by a call.
    pub is_left: bool,
}

/// Reads code. Zeros are a valid beginning. What it works with lies here: the
/// stack is the program's.
pub struct Reader {
    /// The rules of the frame that was proven last.
    pub row: Row,
    /// Whether the function that was claimed last leads to the frame's pc.
    pub leads_there: bool,
    candidate: Candidate,
    /// The claimed frame, by sp and by fp, and what a way out tells of it.
    claimed: [Row; 2],
    told: Row,
    way: Way,
    ways: [Way; WAYS],
    waiting: usize,
    /// Where ways have been, and the stack pointer there.
    visited: Visited<VISITED>,
    reads: Reads,
    /// Where the reading began.
    from: u64,
    /// How far fp is above sp where `keeps_fp` begins.
    fp: Option<i64>,
    /// Behind which calls ways go on.
    behind: Behind,
    /// Whether what they do to fp is looked for, wherever sp is.
    is_by_fp: bool,
    /// Whether a way to where the frame pointer was given back passed no call of a
    /// function that has a name.
    is_straight: bool,
    /// Whether some way was lost before its end.
    is_torn: bool,
    /// Whether the last way ended with a jump through a register.
    is_case: bool,
    code: CodePieces,
    returns: Returns,
}

/// What ways say of a candidate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    Nothing,
    Same,
    Other,
}

/// Behind which calls a way goes on.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Behind {
    #[default]
    None,
    /// Of functions that are seen to return, and of unknown ones.
    Returning,
    /// Of functions that are seen to return, past calls of such alone.
    Sure,
    /// The same, and of those in a register: where the compiler knew that one does
    /// not return it had a name.
    Named,
    All,
}

/// What an instruction leads to.
enum Next {
    /// The next one.
    On,
    /// What was looked for: the claimed frame, or out of the function.
    Reached,
    /// Nothing that is known.
    Lost,
}

impl Reader {
    /// Begins anew: so many instructions may be read for all that comes.
    pub fn renew(&mut self, budget: usize) {
        self.code.renew(budget);
    }

    /// How many of them are left.
    pub fn left(&self) -> usize {
        self.code.left
    }

    /// Whether a candidate is true; the frame's row is in place then.
    #[inline(never)]
    pub fn proves(&mut self, candidate: &Candidate) -> bool {
        self.candidate = *candidate;
        self.leads_there = false;
        self.begin(candidate.start, Reads::In, Behind::Returning);
        if !self.follow() {
            return false;
        }
        let [by_sp, by_fp] = &mut self.claimed;
        let is_by_sp = self.way.row_inside(arch::SP, by_sp);
        let is_by_fp = self.way.row_inside(arch::FP, by_fp);
        if !candidate.returns {
            self.row = if is_by_sp { *by_sp } else { *by_fp };
            return is_by_sp || is_by_fp;
        }
        match self.way_out(Behind::None) {
            Told::Nothing => self.way_out(Behind::Returning) == Told::Same,
            told => told == Told::Same,
        }
    }

    /// What the ways of the frame to its end say of what is claimed of it. The
    /// row that they tell is in place then.
    fn way_out(&mut self, behind: Behind) -> Told {
        self.begin(self.candidate.pc, Reads::Out, behind);
        self.row = Row::EMPTY;
        while self.follow() {
            let is_row = self.way.row_at_return(&mut self.told);
            let is_claimed = is_row && self.claimed.contains(&self.told);
            // Through a register another function is jumped to, or a case.
            if !is_claimed && self.is_case {
                continue;
            }
            let is_same = self.row == Row::EMPTY || self.row == self.told;
            if !is_claimed || !is_same {
                return Told::Other;
            }
            self.row = self.told;
        }
        match self.row == Row::EMPTY {
            // What was not read may say otherwise.
            _ if self.visited.left == 0 || self.code.left == 0 => Told::Other,
            true => Told::Nothing,
            false => Told::Same,
        }
    }

    /// Whether code leads to a place straight on, soon: with calls, but without
    /// a branch or a move of the stack pointer.
    #[inline(never)]
    pub fn leads_straight(&mut self, from: u64, is_there: impl Fn(u64) -> bool) -> bool {
        const SOON: usize = 12;
        const BUDGET: usize = 256;
        self.renew(BUDGET);
        let mut at = from;
        for _ in 0..SOON {
            if is_there(at) {
                return true;
            }
            let Some((length, effect)) = self.code.instruction(at) else {
                return false;
            };
            match effect {
                Effect::Nothing | Effect::FpLost | Effect::AddressOf(_) => {}
                Effect::Call(_) | Effect::CallAt(_) => {}
                Effect::LoadBySp(..) | Effect::StoreBySp(..) => {}
                _ => return false,
            }
            at = at.wrapping_add(length as u64);
        }
        false
    }

    /// Where a function begins, or the one that its stub jumps to.
    #[inline(never)]
    pub fn behind_stub(&mut self, start: u64) -> u64 {
        let mut at = start;
        for _ in 0..2 {
            match self.code.instruction(at) {
                Some((length, Effect::Nothing)) => at = at.wrapping_add(length as u64),
                Some((length, Effect::Away(Some(distance)))) => {
                    let place = at.wrapping_add(length as u64).wrapping_add_signed(distance);
                    return word_at(place).unwrap_or(start);
                }
                _ => break,
            }
        }
        start
    }

    fn begin(&mut self, at: u64, reads: Reads, behind: Behind) {
        (self.reads, self.behind, self.waiting) = (reads, behind, 0);
        (self.is_by_fp, self.is_torn, self.from) = (false, false, at);
        self.visited.begin(INSTRUCTIONS);
        self.way = Way::at(0);
        self.put_off(at);
    }

    /// The way at hand, from elsewhere on.
    fn put_off(&mut self, at: u64) {
        match self.ways.get_mut(self.waiting) {
            Some(place) => {
                *place = self.way;
                place.at = at;
                self.waiting += 1;
            }
            None => self.visited.left = 0,
        }
    }

    /// Follows ways until one comes to the claimed frame, or out of it.
    fn follow(&mut self) -> bool {
        while let Some(waiting) = self.waiting.checked_sub(1) {
            if self.is_by_fp {
                self.take_nearest();
            }
            self.waiting = waiting;
            let Some(way) = self.ways.get(waiting) else {
                return false;
            };
            self.way = *way;
            loop {
                match self.step() {
                    Next::On => {}
                    Next::Reached => return true,
                    Next::Lost => break,
                }
            }
        }
        false
    }

    /// Whether the way is at the frame, which a call is left through.
    fn is_there(&mut self, is_call: bool) -> bool {
        let Self { candidate, way, .. } = self;
        let is_at =
            self.reads == Reads::In && way.at == candidate.pc && candidate.is_left == is_call;
        self.leads_there |= is_at;
        is_at && way.is_deep(candidate)
    }

    /// One instruction of the way.
    fn step(&mut self) -> Next {
        if self.is_there(false) {
            return Next::Reached;
        }
        if !self.is_new() {
            return Next::Lost;
        }
        let Some((length, effect)) = self.code.instruction(self.way.at) else {
            self.is_torn = true;
            return Next::Lost;
        };
        if self.leaves_by_fp(effect) {
            return Next::Reached;
        }
        self.way.at = self.way.at.wrapping_add(length as u64);
        let at = self.way.at;
        let target = |distance: i64| at.wrapping_add_signed(distance);
        match effect {
            Effect::Jump(distance) => self.way.at = target(distance),
            Effect::Branch(distance) => self.put_off(target(distance)),
            // A function of another module.
            Effect::Away(Some(distance)) => match word_at(target(distance)) {
                Some(target) => self.way.at = target,
                None => {
                    self.is_torn = true;
                    return Next::Lost;
                }
            },
            Effect::Away(None) | Effect::Return if self.reads == Reads::Out => {
                self.is_case = effect != Effect::Return;
                if self.is_case {
                    self.put_off_cases();
                }
                return Next::Reached;
            }
            Effect::Away(None) => {
                // What looks like a table need not be one.
                self.is_torn = true;
                self.put_off_cases();
                return Next::Lost;
            }
            Effect::Return | Effect::Dead => return Next::Lost,
            Effect::AddressOf(distance) => self.way.table = Some(target(distance)),
            Effect::Call(_) | Effect::CallAt(_) if self.is_there(true) => return Next::Reached,
            Effect::Call(function) if !self.is_passed(function.map(target)) => return Next::Lost,
            Effect::CallAt(distance) if !self.is_passed_by(target(distance)) => return Next::Lost,
            Effect::Call(Some(_)) | Effect::CallAt(_) => self.way.has_passed = true,
            other => {
                if self.way.obey(other, self.reads).is_none() {
                    return Next::Lost;
                }
            }
        }
        Next::On
    }

    /// Whether ways go on behind a call of a function, or of nobody knows which.
    fn is_passed(&mut self, function: Option<u64>) -> bool {
        let Self { code, returns, .. } = self;
        match (self.behind, function) {
            (Behind::None, _) | (Behind::Sure, None) => false,
            (Behind::Returning | Behind::Named, None) | (Behind::All, _) => true,
            (Behind::Returning, Some(start)) => returns.is_seen(start, false, code),
            (Behind::Sure | Behind::Named, Some(start)) => returns.is_seen(start, true, code),
        }
    }

    /// The same of a function whose address lies there.
    fn is_passed_by(&mut self, place: u64) -> bool {
        match self.behind {
            Behind::Sure | Behind::Named => {
                word_at(place).is_some_and(|start| self.is_passed(Some(start)))
            }
            _ => self.is_passed(None),
        }
    }

    /// A jump through a table of cases, as compilers make them: distances from
    /// the table itself, as many as the number before them was compared with.
    /// If it is something else, these ways lead nowhere.
    fn put_off_cases(&mut self) {
        const MOST_CASES: u32 = 256;
        let (Some(last), Some(table)) = (self.way.cases, self.way.table) else {
            return;
        };
        for index in 0..=last.min(MOST_CASES) {
            let mut distance = [0; 4];
            if !Os::read_memory(table.wrapping_add(u64::from(index) * 4), &mut distance) {
                return;
            }
            let at = table.wrapping_add_signed(i64::from(i32::from_ne_bytes(distance)));
            let is_new = self
                .ways
                .get(..self.waiting)
                .is_some_and(|ways| ways.iter().all(|way| way.at != at));
            if is_new {
                self.put_off(at);
            }
        }
    }

    /// Whether no way was here before with the same stack pointer. To a frame
    /// pointer that one is nothing: it drifts where functions pop what their
    /// callers pushed.
    fn is_new(&mut self) -> bool {
        let sp = match self.way.sp {
            _ if self.is_by_fp => 0,
            Some((Base::Sp, sp)) => sp,
            Some((Base::Fp, sp)) => sp ^ 1,
            None => 2,
        };
        let key = self.way.at ^ (sp as u64) << 48 | 1 << 63;
        self.visited.is_new(key)
    }
}
