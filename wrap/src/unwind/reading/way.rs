//! Where a way through instructions stands: how far sp and fp are from where it
//! began, and where the registers lie that calls preserve.

use super::{Candidate, WORD};
use crate::platform::arch::{self, code};
use crate::platform::rules::Effect;
use crate::platform::rules::Saved;
use crate::unwind::row::{Cfa, Row};

/// What values are counted from: what lay in sp or fp where the reading began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    #[default]
    Sp,
    Fp,
}

/// So far from a base.
pub(super) type Value = (Base, i64);

/// Where a way stands.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) at: u64,
    pub(super) sp: Option<Value>,
    fp: Option<Value>,
    /// The last number that something was compared with, and the last address
    /// that was taken: those of a table of cases, where one follows.
    pub(super) cases: Option<u32>,
    pub(super) table: Option<u64>,
    /// Whether it went on behind a call of a function that has a name.
    pub(super) has_passed: bool,
    /// Up to here the stack was given back: what is loaded from below is not
    /// the caller's.
    released: Value,
    /// Where the preserved registers lie: were stored since the function began,
    /// or will be loaded from until it ends.
    kept: [Option<Value>; code::PRESERVED.len()],
}

/// Which way is read: from where a function begins, or to where it ends.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Reads {
    #[default]
    In,
    Out,
}

impl Way {
    /// Nothing is known but where it is.
    pub(super) fn at(at: u64) -> Self {
        Self {
            at,
            sp: Some((Base::Sp, 0)),
            fp: Some((Base::Fp, 0)),
            cases: None,
            table: None,
            has_passed: false,
            released: (Base::Sp, 0),
            kept: [None; code::PRESERVED.len()],
        }
    }

    /// Whether it stands as deep as is claimed.
    pub(super) fn is_deep(&self, candidate: &Candidate) -> bool {
        match (self.sp, self.fp) {
            (Some(sp), _) => sp == (Base::Sp, candidate.sp),
            (None, fp) => fp == Some((Base::Sp, candidate.fp)),
        }
    }

    /// Does what an instruction does that leads to the next one.
    pub(super) fn obey(&mut self, effect: Effect, reads: Reads) -> Option<()> {
        match effect {
            Effect::Push(register) => {
                self.sp = sum(self.sp, -WORD);
                self.store(register, self.sp, reads);
            }
            Effect::Pop(register) => {
                self.load(register, self.sp, reads);
                self.move_sp(sum(self.sp, WORD));
            }
            Effect::Add(distance) => self.move_sp(sum(self.sp, distance)),
            Effect::SpFromFp(distance) => self.move_sp(sum(self.fp, distance)),
            Effect::FpFromSp(distance) => self.fp = sum(self.sp, distance),
            Effect::Leave => {
                self.move_sp(self.fp);
                self.obey(Effect::Pop(Some(arch::FP as u8)), reads)?;
            }
            Effect::Compare(number) => self.cases = Some(number),
            Effect::SpLost => self.sp = None,
            Effect::FpLost => self.fp = None,
            Effect::LoadBySp(register, at) => self.load(Some(register), sum(self.sp, at), reads),
            Effect::LoadByFp(register, at) => self.load(Some(register), sum(self.fp, at), reads),
            Effect::StoreBySp(register, at) => self.store(Some(register), sum(self.sp, at), reads),
            Effect::StoreByFp(register, at) => self.store(Some(register), sum(self.fp, at), reads),
            _ => {}
        }
        // What lies above the return address is the caller's.
        let is_inside = reads == Reads::Out || !matches!(self.sp, Some((_, 1..)));
        is_inside.then_some(())
    }

    fn move_sp(&mut self, to: Option<Value>) {
        self.sp = to;
        if let Some((base, sp)) = to {
            self.released = match self.released {
                (same, released) if same == base => (base, released.max(sp)),
                _ => (base, sp),
            };
        }
    }

    fn kept_of(&mut self, register: Option<u8>) -> Option<&mut Option<Value>> {
        let register = usize::from(register?);
        let mut names = code::PRESERVED.iter().zip(&mut self.kept);
        let found = names.find(|(name, _)| **name == register);
        found.map(|(_, kept)| kept)
    }

    /// The first time since the function began, it is the caller's.
    fn store(&mut self, register: Option<u8>, at: Option<Value>, reads: Reads) {
        const NOWHERE: Value = (Base::Fp, i64::MAX);
        if reads == Reads::In
            && let Some(kept) = self.kept_of(register)
        {
            *kept = kept.or(at).or(Some(NOWHERE));
        }
    }

    /// The last time before the function ends, it is the caller's.
    fn load(&mut self, register: Option<u8>, at: Option<Value>, reads: Reads) {
        if register == Some(arch::FP as u8) {
            self.fp = None;
        }
        let (base, released) = self.released;
        let is_ours = at.is_none_or(|(of, at)| of != base || at >= released);
        if let Some(kept) = self.kept_of(register) {
            match reads {
                Reads::In if *kept == at => *kept = None,
                Reads::Out if is_ours => *kept = at,
                _ => {}
            }
        }
    }

    /// Whether registers were loaded from the stack that calls preserve.
    pub(super) fn has_loaded(&self) -> bool {
        self.kept.iter().any(Option::is_some)
    }

    /// Whether the caller's frame pointer was loaded from where the frame's own
    /// leads, which may be known to be so far above sp, and sp is right above it.
    pub(super) fn is_left_by_fp(&self, fp_above_sp: Option<i64>) -> bool {
        let above = fp_above_sp.and_then(|fp| fp.checked_add(WORD));
        let by_sp = above.map(|at| (Base::Sp, at));
        match self.fp_loaded() {
            _ if self.sp.is_none() => false,
            Some((Base::Fp, 0)) => self.sp == Some((Base::Fp, WORD)) || self.sp == by_sp,
            Some((Base::Sp, at)) => Some(at) == fp_above_sp && self.sp == by_sp,
            _ => false,
        }
    }

    /// The same where the function ends, and what it called may have taken what was
    /// pushed for it: then sp is higher than it was.
    pub(super) fn ends_by_fp(&self, fp_above_sp: Option<i64>) -> bool {
        let is_by_fp = self.fp_loaded() == Some((Base::Fp, 0));
        self.is_left_by_fp(fp_above_sp) || is_by_fp && self.returns_by_sp()
    }

    /// Whether something was done with it: it was loaded or lost, or others that
    /// calls preserve were loaded by it.
    pub(super) fn is_fp_used(&self) -> bool {
        let is_by_fp = |kept: &Option<Value>| matches!(kept, Some((Base::Fp, _)));
        self.fp != Some((Base::Fp, 0))
            || self.fp_loaded().is_some()
            || self.kept.iter().any(is_by_fp)
    }

    fn fp_loaded(&self) -> Option<Value> {
        let mut names = code::PRESERVED.iter().zip(&self.kept);
        names.find_map(|(&name, kept)| (name == arch::FP).then_some(*kept)?)
    }

    /// Whether the frame pointer leads to where the caller's was pushed, right below
    /// the return address.
    pub(super) fn has_frame(&self) -> bool {
        self.fp == Some((Base::Sp, -WORD))
    }

    /// Whether a frame that takes room is left here by the stack pointer alone.
    pub(super) fn returns_by_sp(&self) -> bool {
        matches!(self.sp, Some((Base::Sp, 1..)))
    }

    /// Writes the frame where a way from its function's beginning is, by sp or
    /// by fp; whether it is known.
    pub(super) fn row_inside(&self, register: usize, row: &mut Row) -> bool {
        let value = match register {
            arch::SP => self.sp,
            _ => self.fp,
        };
        *row = Row::EMPTY;
        let Some((Base::Sp, value)) = value else {
            return false;
        };
        let offset = WORD.wrapping_sub(value);
        self.write_row(row, register, offset, (Base::Sp, WORD))
    }

    /// The same of the frame that a way began in, where it comes to a return.
    pub(super) fn row_at_return(&self, row: &mut Row) -> bool {
        *row = Row::EMPTY;
        let Some((base, sp)) = self.sp else {
            return false;
        };
        let register = match base {
            Base::Sp => arch::SP,
            Base::Fp => arch::FP,
        };
        let cfa = sp.wrapping_add(WORD);
        cfa > 0 && self.write_row(row, register, cfa, (base, cfa))
    }

    /// The row of a CFA so far from a register, and as a value.
    fn write_row(&self, row: &mut Row, register: usize, offset: i64, (base, cfa): Value) -> bool {
        row.cfa = Cfa::Register(register as u64, offset);
        let known = code::PRESERVED.iter().zip(&self.kept);
        let known = known.filter_map(|(&name, kept)| kept.map(|kept| (name, kept)));
        for (name, (of, at)) in known.chain([(arch::RA, (base, cfa.wrapping_sub(WORD)))]) {
            match row.saved.get_mut(name) {
                Some(place) if of == base => *place = Saved::At(at.wrapping_sub(cfa)),
                _ => {
                    *row = Row::EMPTY;
                    return false;
                }
            }
        }
        true
    }
}

fn sum(value: Option<Value>, distance: i64) -> Option<Value> {
    let (base, at) = value?;
    Some((base, at.checked_add(distance)?))
}
