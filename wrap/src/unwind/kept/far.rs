//! Steps by a register other than sp and fp, or by a word in memory: out of
//! functions that align their stack. Intel's compilers find the caller by rbx,
//! gcc by a word below fp where the frame's size varies, the dynamic linker by
//! rbx as well.
//!
//! ```text
//! step(the new frames so far, of which the last is such a one):
//!   CFA and fp as the tables say; a register that calls preserve lies where
//!     the nearest frame further in that saved it has put it, or else is as the
//!     door found it
//! ```
//!
//! What the tables say of an address is asked for once and kept by the thread:
//! asking takes a lock and as long as a hundred steps. What this cannot do is
//! left to the full unwinder, which is its judge where captures are verified.

use super::frame::FreshFrame;
use crate::platform::arch::{self, DoorFrame};
use crate::platform::bounds::Bounds;
use crate::platform::bytes::Cursor;
use crate::platform::rules::Saved;
use crate::platform::sys::{Os, Sys};
use crate::unwind::full::value_of;
use crate::unwind::row::{Cfa, Row};
use crate::unwind::rule::Kind;
use crate::unwind::walk::{Pc, Resolver, WalkState};

/// Entries of a thread's cache.
const ENTRIES: usize = Os::SIZES.far_codes;

/// What the tables say of a frame, as far as a far step goes.
#[derive(Clone, Copy)]
pub struct Far {
    cfa: Location,
    fp: Location,
    /// The return address's, from the CFA.
    return_at: i16,
    /// Where the caller's registers are saved.
    saved: [Location; arch::REGISTERS],
}

/// Where something is found; a distance is in bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
enum Location {
    /// Nowhere that is followed here.
    #[default]
    Unknown,
    /// It is as it was.
    Same,
    /// A register plus a distance.
    Register(u8, i16),
    /// The word at the CFA plus a distance.
    AtCfa(i16),
    /// The word at fp plus a distance.
    AtFp(i16),
}

impl Far {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self {
        cfa: Location::Unknown,
        fp: Location::Unknown,
        return_at: 0,
        saved: [Location::Unknown; arch::REGISTERS],
    };

    /// Of a row; nothing if the return address is not right below the CFA.
    pub fn of(row: &Row) -> Option<Self> {
        let Saved::At(return_at) = row.of(arch::RA) else {
            return None;
        };
        let is_sp_usual =
            matches!(row.of(arch::SP), Saved::Unset) || row.of(arch::SP) == arch::SAVED_SP;
        if !is_sp_usual || arch::BACK_CHAIN {
            return None;
        }
        let cfa = match row.cfa {
            Cfa::Register(register, offset) => {
                Location::Register(u8::try_from(register).ok()?, i16::try_from(offset).ok()?)
            }
            Cfa::Expression(code) => Location::AtFp(word_at_fp(code, true)?),
            Cfa::Unset => return None,
        };
        let mut saved = [Location::Unknown; arch::REGISTERS];
        for (location, how) in saved.iter_mut().zip(&row.saved) {
            *location = Location::of(*how);
        }
        let fp = saved.get(arch::FP).copied()?;
        let return_at = i16::try_from(return_at).ok()?;
        Some(Self {
            cfa,
            fp,
            return_at,
            saved,
        })
    }
}

impl Location {
    fn of(saved: Saved) -> Self {
        match saved {
            Saved::Unset | Saved::Same => Self::Same,
            Saved::At(offset) => i16::try_from(offset).map_or(Self::Unknown, Self::AtCfa),
            Saved::AtExpression(code) => word_at_fp(code, false).map_or(Self::Unknown, Self::AtFp),
            _ => Self::Unknown,
        }
    }
}

/// The distance in the expression of an address that is fp plus a distance; or,
/// where it is `read`, of the word there.
fn word_at_fp(mut code: Cursor, read: bool) -> Option<i16> {
    const FP_PLUS: u8 = 0x70 + arch::FP as u8;
    const DEREFERENCE: u8 = 0x06;
    if code.u8()? != FP_PLUS {
        return None;
    }
    let distance = code.sleb()?;
    if read && code.u8()? != DEREFERENCE {
        return None;
    }
    match code.u8() {
        None => i16::try_from(distance).ok(),
        Some(_) => None,
    }
}

/// What a thread knows of addresses. Zeros are nothing: no code is at 0.
pub(super) struct FarCache {
    is_used: bool,
    entries: [(Pc, Far); ENTRIES],
}

impl FarCache {
    pub(super) fn clear(&mut self) {
        if self.is_used {
            self.entries.fill((Pc::default(), Far::UNKNOWN));
            self.is_used = false;
        }
    }

    fn look_up(&mut self, pc: Pc, resolver: &mut impl Resolver) -> Option<&Far> {
        let key = pc.key();
        let index = (key >> 3 ^ key >> 11) as usize % ENTRIES;
        let entry = self.entries.get_mut(index)?;
        if entry.0 != pc {
            let far = resolver.far(pc)?;
            // First: whoever jumps out of here leaves the entry half written.
            self.is_used = true;
            *entry = (pc, far);
        }
        Some(&entry.1)
    }

    /// The caller's state of the last of these frames.
    #[cold]
    #[inline(never)]
    pub(super) fn step(
        &mut self,
        frames: &[FreshFrame],
        door: &DoorFrame,
        bounds: &Bounds,
        resolver: &mut impl Resolver,
    ) -> Option<WalkState> {
        let (frame, inside) = frames.split_last()?;
        // To another stack, whose frames are nobody's to keep.
        if frame.known.rule.is(Kind::NoTables) {
            return None;
        }
        let WalkState { pc, sp, fp } = frame.state;
        let far = *self.look_up(pc, resolver)?;
        let Far {
            cfa,
            fp: fp_at,
            return_at,
            ..
        } = far;
        let cfa = match cfa {
            Location::AtFp(distance) => bounds.read(fp.wrapping_add_signed(distance.into()))?,
            Location::Register(register, distance) => {
                let value = match usize::from(register) {
                    arch::SP => sp,
                    arch::FP => fp,
                    other => self.preserved(other, inside, sp, door, bounds, resolver)?,
                };
                value.wrapping_add_signed(distance.into())
            }
            _ => return None,
        };
        let caller_sp = cfa.wrapping_sub(arch::SP_BELOW_CFA);
        let is_inside = sp < caller_sp && cfa <= bounds.high && cfa.is_multiple_of(arch::WORD);
        let caller_fp = match fp_at {
            Location::Same => fp,
            Location::AtCfa(distance) => bounds.read(cfa.wrapping_add_signed(distance.into()))?,
            Location::AtFp(distance) => bounds.read(fp.wrapping_add_signed(distance.into()))?,
            _ => return None,
        };
        let address = bounds.read(cfa.wrapping_add_signed(return_at.into()))?;
        let address = arch::strip(address);
        // Where stacks end is for the full unwinder to say.
        (is_inside && address as i64 > 0).then_some(WalkState {
            pc: Pc::returned(address),
            sp: caller_sp,
            fp: caller_fp,
        })
    }

    /// A register's value in the caller, whose sp is given, of these frames.
    fn preserved(
        &mut self,
        register: usize,
        inside: &[FreshFrame],
        mut caller_sp: u64,
        door: &DoorFrame,
        bounds: &Bounds,
        resolver: &mut impl Resolver,
    ) -> Option<u64> {
        for frame in inside.iter().rev() {
            let rule = frame.known.rule;
            if rule.is(Kind::Signal) || rule.is(Kind::NoTables) {
                return None;
            }
            let far = self.look_up(frame.state.pc, resolver)?;
            match far.saved.get(register)? {
                Location::Same => caller_sp = frame.state.sp,
                Location::AtCfa(distance) => {
                    let cfa = caller_sp.wrapping_add(arch::SP_BELOW_CFA);
                    return bounds.read(cfa.wrapping_add_signed((*distance).into()));
                }
                _ => return None,
            }
        }
        value_of(&door.registers(), register)
    }
}
