//! A frame's rule found in its instructions: for code that no table describes
//! and that keeps no frame pointers, as all of musl.
//!
//! How far the stack pointer is below the return address is the same whichever
//! way the processor came, or the function could not return. So any way from
//! the frame's pc to a return tells it:
//!
//! ```text
//! read(pc):
//!   ways = [pc, the stack pointer where it is]
//!   while there is a way: follow it, instruction by instruction
//!     a branch: its target is another way
//!     push, pop, add ..: the stack pointer moves; a preserved register that is
//!       loaded from the stack is its caller's if no later load says otherwise
//!     a call: goes on behind it, if the stack is aligned as the ABI has it
//!     a return, a jump through a register: this is the frame, if the caller's
//!       stack was aligned as well
//!   all ways that lead to a return must tell the same
//! ```
//!
//! Nothing is guessed. Behind a call that never returns another function
//! begins, and reading on there would tell that one's frame: but it is entered
//! with the stack 8 bytes off what the call before it had, so that none of its
//! returns fits. What cannot be read ends the stack, and the root says so.
//!
//! Who never returns has no such way. Of these are known: the outermost frame,
//! which hands what main or a thread's function returned to exit or
//! pthread_exit, and those functions themselves, which are read from their
//! beginning.

use super::row::{Cfa, Row, Saved};
use super::walk::Pc;
use crate::arch::{self, code};
use crate::sys::{Os, Sys};

/// What an instruction does to the way; distances are in bytes, those of jumps
/// from the next instruction. Registers have their DWARF numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing that matters here.
    Nothing,
    /// What a call returned becomes the first argument of the next.
    HandOn,
    /// A register, or something else, is pushed.
    Push(Option<u8>),
    /// The other way round.
    Pop(Option<u8>),
    /// The stack pointer moves.
    Add(i64),
    /// It becomes the frame pointer plus a distance.
    SpFromFp(i64),
    /// The frame pointer becomes the stack pointer plus a distance.
    FpFromSp(i64),
    /// The stack pointer becomes the frame pointer, which is popped.
    Leave,
    /// The stack pointer becomes something else.
    SpLost,
    /// A register is loaded from the stack pointer plus a distance.
    LoadBySp(u8, i64),
    /// The same by the frame pointer.
    LoadByFp(u8, i64),
    /// A call, and where to if that is said.
    Call(Option<i64>),
    /// A jump.
    Jump(i64),
    /// A jump that may not happen.
    Branch(i64),
    /// A jump that nobody knows where to; whether through a word at a fixed
    /// place, which is how other modules are reached.
    Away(bool),
    /// A return.
    Return,
    /// No instruction comes after it.
    Dead,
}

/// Ways that are put off, at most.
const WAYS: usize = 32;
/// Instructions that are read of one function, at most.
const INSTRUCTIONS: usize = 1500;
/// Room for those that were seen: a power of two, and more than are read.
const SEEN: usize = 2048;
const WINDOW: usize = 256;
/// How far from a function of libc the outermost frame is looked for.
const BESIDE: u64 = 4096;
/// Instructions between the return to the outermost frame and its last call.
const LAST_WORDS: usize = 12;

/// What the stack pointer is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Base {
    #[default]
    Sp,
    Fp,
    Lost,
}

/// Where a way stands.
#[derive(Clone, Copy)]
struct Way {
    at: u64,
    base: Base,
    /// The stack pointer, from its base.
    sp: i64,
    /// Up to here the stack was given back, from the same base: what is loaded
    /// from below is not from this frame any more (a jump into another function
    /// was a call and return in one).
    released: i64,
    /// Where the frame pointer was set to, from the stack pointer's base.
    fp: Option<i64>,
    /// What the stack pointer was aligned to at a call, counted as it is.
    aligned: Option<i64>,
    /// Where the preserved registers are loaded from, or were pushed to.
    kept: [Option<(Base, i64)>; code::PRESERVED.len()],
}

/// Reads code. Zeros are a valid beginning.
pub struct Reader {
    /// The rule of the frame that was read last.
    pub row: Row,
    is_found: bool,
    ways: [Way; WAYS],
    waiting: usize,
    /// Where ways have been, and the stack pointer there.
    seen: [u64; SEEN],
    left: usize,
    window: [u8; WINDOW],
    window_at: u64,
    low: u64,
    high: u64,
}

/// Whether a way goes on.
enum Next {
    On,
    Ended,
}

impl Reader {
    /// Reads the frame that is at `pc`, in a module between these addresses;
    /// false if its rule cannot be found.
    #[inline(never)]
    pub fn read(&mut self, pc: Pc, low: u64, high: u64) -> bool {
        self.begin(low, high);
        let aligned = (!pc.is_exact()).then_some(0);
        self.put_off(Way::new(pc.address(), aligned));
        self.follow_all(None);
        self.is_found || self.read_from_beginning(pc)
    }

    /// Whether the frame is one that hands what was returned to it to exit: is
    /// about to, or has done so.
    #[inline(never)]
    pub fn is_outermost(&mut self, pc: Pc, low: u64, high: u64) -> bool {
        self.begin(low, high);
        let before = pc
            .address()
            .wrapping_sub(code::CALL_BYTES + code::HAND_ON_BYTES);
        self.hands_on(before, 2) || self.hands_on(pc.address(), LAST_WORDS)
    }

    /// Whether libc is in the module that was read: one without tables has no
    /// frame pointers either, and what lies in their register says nothing.
    pub fn is_of_libc(&self) -> bool {
        let mut ends = code::endings().into_iter();
        ends.any(|(end, _)| (self.low..self.high).contains(&end))
    }

    /// Whether so many instructions end with handing a result to exit.
    fn hands_on(&mut self, mut at: u64, most: usize) -> bool {
        let mut is_handed = false;
        for _ in 0..most {
            let Some((length, effect)) = self.instruction(at) else {
                return false;
            };
            at = at.wrapping_add(length as u64);
            match effect {
                Effect::Nothing | Effect::Call(None) => is_handed = false,
                Effect::HandOn => is_handed = true,
                Effect::Call(Some(distance)) => {
                    let target = at.wrapping_add_signed(distance);
                    let is_beside = |mark: u64| mark != 0 && at.abs_diff(mark) < BESIDE;
                    let mut ends = code::endings().into_iter();
                    return is_handed && ends.any(|(end, mark)| end == target && is_beside(mark));
                }
                _ => return false,
            }
        }
        false
    }

    /// The same as [`read`](Self::read) of functions that never return.
    fn read_from_beginning(&mut self, pc: Pc) -> bool {
        for (start, _) in code::endings() {
            let distance = pc.address().wrapping_sub(start);
            if start == 0 || pc.is_exact() || distance >= BESIDE {
                continue;
            }
            self.begin(self.low, self.high);
            let entered = code::CALL_ALIGNMENT - arch::WORD as i64;
            self.put_off(Way::new(start, Some(entered)));
            self.follow_all(Some(pc.address()));
            if self.is_found {
                return true;
            }
        }
        false
    }

    fn begin(&mut self, low: u64, high: u64) {
        (self.low, self.high) = (low, high);
        (self.is_found, self.waiting, self.left) = (false, 0, INSTRUCTIONS);
        self.seen.fill(0);
        self.window_at = 0;
    }

    fn put_off(&mut self, way: Way) {
        if let Some(place) = self.ways.get_mut(self.waiting) {
            *place = way;
            self.waiting += 1;
        }
    }

    /// Follows all ways; to their returns, or to a goal inside the function.
    fn follow_all(&mut self, goal: Option<u64>) {
        while let Some(waiting) = self.waiting.checked_sub(1) {
            self.waiting = waiting;
            let Some(mut way) = self.ways.get(waiting).copied() else {
                return;
            };
            while self
                .step(&mut way, goal)
                .is_some_and(|next| matches!(next, Next::On))
            {}
        }
    }

    /// One instruction of a way; nothing where it leads no further.
    fn step(&mut self, way: &mut Way, goal: Option<u64>) -> Option<Next> {
        if goal == Some(way.at) {
            return self.found(way.row_at_goal()?);
        }
        if !self.is_new(way) {
            return None;
        }
        let (length, effect) = self.instruction(way.at)?;
        way.at = way.at.wrapping_add(length as u64);
        match effect {
            Effect::Jump(distance) => way.at = way.at.wrapping_add_signed(distance),
            Effect::Branch(distance) => self.put_off(Way {
                at: way.at.wrapping_add_signed(distance),
                ..*way
            }),
            Effect::Return if goal.is_none() => return self.found(way.row_at_return(false)?),
            Effect::Away(fixed) if goal.is_none() => {
                return self.found(way.row_at_return(!fixed)?);
            }
            Effect::Return | Effect::Away(_) | Effect::Dead => return None,
            other => way.obey(other, goal.is_some())?,
        }
        Some(Next::On)
    }

    /// A way told a rule: all must tell the same.
    fn found(&mut self, row: Row) -> Option<Next> {
        if self.is_found && row != self.row {
            (self.is_found, self.waiting, self.left) = (false, 0, 0);
            return None;
        }
        (self.row, self.is_found) = (row, true);
        Some(Next::Ended)
    }

    /// Whether no way was here before with the same stack pointer.
    fn is_new(&mut self, way: &Way) -> bool {
        let key = way.at ^ (way.sp as u64) << 48 | 1 << 63;
        let start = (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        for probe in 0..SEEN {
            let place = start.wrapping_add(probe) % SEEN;
            match self.seen.get_mut(place) {
                Some(seen) if *seen == 0 => {
                    *seen = key;
                    let left = self.left.checked_sub(1);
                    self.left = left.unwrap_or(0);
                    return left.is_some();
                }
                Some(seen) if *seen != key => {}
                _ => return false,
            }
        }
        false
    }

    /// The instruction at an address. Asked of the kernel: a way that went
    /// wrong may lead to where there is no memory.
    fn instruction(&mut self, at: u64) -> Option<(usize, Effect)> {
        if !(self.low..self.high).contains(&at) {
            return None;
        }
        let wanted = code::LONGEST as u64;
        if self.window_at == 0
            || at < self.window_at
            || at + wanted > self.window_at + WINDOW as u64
        {
            self.window_at = 0;
            let there = (self.high - at).min(WINDOW as u64) as usize;
            self.window.fill(0);
            if !Os::read_memory(at, self.window.get_mut(..there)?) {
                return None;
            }
            self.window_at = at;
        }
        code::decode(self.window.get((at - self.window_at) as usize..)?)
    }
}

impl Way {
    fn new(at: u64, aligned: Option<i64>) -> Self {
        Self {
            at,
            base: Base::Sp,
            sp: 0,
            released: 0,
            fp: None,
            aligned,
            kept: [None; code::PRESERVED.len()],
        }
    }

    /// Does what an instruction does that leads to the next one.
    fn obey(&mut self, effect: Effect, from_beginning: bool) -> Option<()> {
        const WORD: i64 = arch::WORD as i64;
        match effect {
            Effect::Push(register) => {
                self.sp = self.sp.checked_sub(WORD)?;
                if from_beginning {
                    self.keep_first(register);
                }
            }
            Effect::Pop(register) => {
                if let Some(register) = register.filter(|_| !from_beginning) {
                    self.load(register, self.base, self.sp);
                }
                self.add(WORD)?;
            }
            Effect::Add(distance) => self.add(distance)?,
            Effect::SpFromFp(distance) => self.sp_from_fp(distance)?,
            Effect::FpFromSp(distance) => match self.base {
                Base::Sp => self.fp = Some(self.sp.checked_add(distance)?),
                _ => return None,
            },
            Effect::Leave => {
                self.sp_from_fp(0)?;
                self.obey(Effect::Pop(Some(arch::FP as u8)), from_beginning)?;
            }
            Effect::SpLost => self.base = Base::Lost,
            Effect::LoadBySp(register, distance) if !from_beginning => {
                self.load(register, self.base, self.sp.checked_add(distance)?);
            }
            Effect::LoadByFp(register, distance) if !from_beginning => match self.fp {
                Some(fp) => self.load(register, Base::Sp, fp.checked_add(distance)?),
                None => self.load(register, Base::Fp, distance),
            },
            Effect::Call(_) if self.base == Base::Sp => {
                let now = self.sp.rem_euclid(code::CALL_ALIGNMENT);
                if *self.aligned.get_or_insert(now) != now {
                    return None;
                }
            }
            _ => {}
        }
        Some(())
    }

    fn add(&mut self, distance: i64) -> Option<()> {
        self.sp = self.sp.checked_add(distance)?;
        self.released = self.released.max(self.sp);
        Some(())
    }

    fn sp_from_fp(&mut self, distance: i64) -> Option<()> {
        match self.fp {
            Some(fp) => {
                (self.base, self.sp) = (Base::Sp, fp.checked_add(distance)?);
                self.released = self.released.max(self.sp);
            }
            None => {
                (self.base, self.sp) = (Base::Fp, distance);
                self.released = distance;
            }
        }
        Some(())
    }

    fn load(&mut self, register: u8, base: Base, at: i64) {
        if base == self.base && at < self.released {
            return;
        }
        let names = code::PRESERVED.iter().zip(&mut self.kept);
        for (_, kept) in names.filter(|(name, _)| **name == usize::from(register)) {
            *kept = Some((base, at));
        }
    }

    fn keep_first(&mut self, register: Option<u8>) {
        let names = code::PRESERVED.iter().zip(&mut self.kept);
        for (_, kept) in names.filter(|(name, _)| Some(**name as u8) == register) {
            *kept = kept.or(Some((Base::Sp, self.sp)));
        }
    }

    /// The frame, where it is left; whether only if the alignment says so.
    fn row_at_return(&self, needs_alignment: bool) -> Option<Row> {
        let cfa = self.sp.checked_add(arch::WORD as i64)?;
        let register = match self.base {
            Base::Sp if cfa > 0 => arch::SP,
            Base::Fp => arch::FP,
            _ => return None,
        };
        let aligned = self.aligned.filter(|_| self.base == Base::Sp);
        let is_aligned = aligned.map(|aligned| cfa.rem_euclid(code::CALL_ALIGNMENT) == aligned);
        if !is_aligned.unwrap_or(!needs_alignment) {
            return None;
        }
        self.row(register, cfa, self.base)
    }

    /// The frame, where the way from its beginning has come to its pc.
    fn row_at_goal(&self) -> Option<Row> {
        let entered = arch::WORD as i64;
        let cfa = entered.checked_sub(self.sp)?;
        let mut moved = *self;
        for (_, at) in moved.kept.iter_mut().flatten() {
            *at = at.checked_sub(self.sp)?;
        }
        match self.base == Base::Sp && cfa > 0 {
            true => moved.row(arch::SP, cfa, Base::Sp),
            false => None,
        }
    }

    fn row(&self, register: usize, cfa: i64, base: Base) -> Option<Row> {
        let mut row = Row::EMPTY;
        row.cfa = Cfa::Register(register as u64, cfa);
        *row.saved.get_mut(arch::RA)? = Saved::At(-(arch::WORD as i64));
        for (&name, kept) in code::PRESERVED.iter().zip(&self.kept) {
            let Some((of, at)) = *kept else {
                continue;
            };
            if of != base {
                return None;
            }
            // Below the stack pointer it is not pushed yet.
            if base == Base::Fp || at >= 0 {
                *row.saved.get_mut(name)? = Saved::At(at.checked_sub(cfa)?);
            }
        }
        Some(row)
    }
}
