//! Steps out of functions without tables that have left one stack for another:
//! Go's assembly, between its routines and C. Their instructions say how they go
//! back (`arch::routines`, `codemap::switched`); what they will read then is read
//! here, once it is known to be memory.
//!
//! A walk that goes to another stack is not kept for the next one: whose stack it
//! is may have changed, and only a whole walk asks again.

use super::rule::{Kind, Rule};
use super::walk::{Pc, Stop, WalkState};
use crate::platform::arch;
use crate::platform::bounds::Bounds;
use crate::platform::rules::Back;
use core::cell::Cell;
use memlog_format::table::StackId;

const FRAMED: u32 = 3;
const SAVED: u32 = 4;
const ROUTINE: u32 = 5;
const PLACE_BITS: u32 = 6;

impl Back {
    /// The same as a rule.
    pub const fn rule(self) -> Rule {
        match self {
            Self::Framed => Rule::of_no_tables(FRAMED, 0),
            Self::Saved { at } => Rule::of_no_tables(SAVED, at as u32),
            Self::Routine { routine, depth } => {
                Rule::of_no_tables(ROUTINE, (routine as u32) << PLACE_BITS | depth as u32)
            }
        }
    }

    /// The other way round.
    pub fn of(rule: Rule) -> Option<Self> {
        const MASK: u64 = (1 << PLACE_BITS) - 1;
        let places = rule.saved_words();
        let [first, second] = [places >> PLACE_BITS & MASK, places & MASK].map(|place| place as u8);
        match rule.offset_words() as u32 {
            _ if !rule.is(Kind::NoTables) => None,
            FRAMED => Some(Self::Framed),
            SAVED => Some(Self::Saved { at: second }),
            ROUTINE => Some(Self::Routine {
                routine: first,
                depth: second,
            }),
            _ => None,
        }
    }

    /// Goes back. `region`: what is mapped around an address; nothing if nobody
    /// could be asked.
    pub fn step(
        self,
        state: &mut WalkState,
        bounds: &mut Bounds,
        mut region: impl FnMut(u64) -> Option<Bounds>,
    ) -> Result<(), Stop> {
        const CUT: Stop = Stop::Root(StackId::CUT_BAD_FRAME);
        const BUSY: Stop = Stop::Root(StackId::CUT_BUSY);
        let sp = state.sp;
        let word = |at: u8| {
            let at = sp.wrapping_add(u64::from(at) * arch::WORD);
            bounds.read(at).ok_or(CUT)
        };
        let (at, within) = match self {
            Self::Framed => {
                let around = region(state.fp).ok_or(BUSY)?;
                let saved = around.read(state.fp).ok_or(CUT)?;
                let at = state.fp.wrapping_add(arch::WORD);
                state.fp = saved;
                (at, around)
            }
            Self::Saved { at } => {
                let at = word(at)?;
                // The stack must rise, or a walk could go round for ever.
                if at <= sp {
                    return Err(CUT);
                }
                (at, *bounds)
            }
            Self::Routine { routine, depth } => {
                let (routine, depth) = (word(routine)?, word(depth)?);
                let around = region(routine).ok_or(BUSY)?;
                let low = around.read(routine).ok_or(CUT)?;
                let above = routine.wrapping_add(arch::WORD);
                let high = around.read(above).ok_or(CUT)?;
                let at = high.wrapping_sub(depth);
                if !is_routines_stack(low, high) || !(low..high).contains(&at) {
                    return Err(CUT);
                }
                let around = match (around.low..=around.high).contains(&high) && around.low <= at {
                    true => around,
                    false => region(at).ok_or(BUSY)?,
                };
                let is_there = around.low <= at && high <= around.high;
                if !is_there {
                    return Err(CUT);
                }
                (at, Bounds { low: at, high })
            }
        };
        let address = arch::strip(within.read(at).ok_or(CUT)?);
        if address as i64 <= 0 {
            return Err(CUT);
        }
        state.pc = Pc::returned(address);
        state.sp = at.wrapping_add(arch::WORD);
        *bounds = Bounds {
            low: at,
            high: within.high,
        };
        Ok(())
    }
}

/// The memory that a thread met last in which routines and their stacks lie. Go
/// gives none of it back.
#[derive(Default)]
#[repr(C)]
pub struct Mapped {
    kept: [Cell<Bounds>; 8],
    next: Cell<usize>,
}

impl Mapped {
    /// Forgets all.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What is mapped around an address, asked for if it is not known. A system's
    /// stack may be given back, and is asked for every time.
    pub fn around(
        &self,
        at: u64,
        back: Back,
        ask: impl FnOnce(u64) -> Option<Bounds>,
    ) -> Option<Bounds> {
        let holds = |bounds: &Bounds| (bounds.low..bounds.high).contains(&at);
        if let Some(known) = self.kept.iter().map(Cell::get).find(holds) {
            return Some(known);
        }
        let found = ask(at)?;
        if back != Back::Framed {
            self.next.set((self.next.get() + 1) % self.kept.len());
            if let Some(place) = self.kept.get(self.next.get()) {
                place.set(found);
            }
        }
        Some(found)
    }
}

/// Go makes stacks of powers of two, and puts them where as many bytes are aligned
/// as the smallest has.
fn is_routines_stack(low: u64, high: u64) -> bool {
    const SMALLEST: u64 = 2048;
    let size = high.wrapping_sub(low);
    low < high && size >= SMALLEST && size.is_power_of_two() && low.is_multiple_of(SMALLEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A system's stack of eight words, and a routine with its stack of 2048 bytes.
    #[repr(C, align(2048))]
    struct Memory {
        stack: [usize; 256],
        system: [usize; 8],
        routine: [usize; 2],
    }

    const DEPTH: usize = 64;
    const RETURNS_TO: usize = 0x1234_5678;
    const BACK: Back = Back::Routine {
        routine: 6,
        depth: 5,
    };

    fn around<T>(memory: &T) -> Bounds {
        let low = core::ptr::from_ref(memory) as u64;
        Bounds {
            low,
            high: low + size_of::<T>() as u64,
        }
    }

    fn memory() -> Box<Memory> {
        let mut memory = Box::new(Memory {
            stack: [7; 256],
            system: [0; 8],
            routine: [0; 2],
        });
        let Bounds { low, high } = around(&memory.stack);
        memory.routine = [low as usize, high as usize];
        memory.stack[256 - DEPTH / 8] = RETURNS_TO;
        memory.system[6] = memory.routine.as_ptr() as usize;
        memory.system[5] = DEPTH;
        memory
    }

    fn step(back: Back, memory: &Memory, fp: u64) -> (Result<(), Stop>, WalkState, Bounds) {
        let mut bounds = around(&memory.system);
        let mut state = WalkState {
            pc: Pc::returned(1),
            sp: bounds.low,
            fp,
        };
        let mapped = around(memory);
        let region = |at: u64| match (mapped.low..mapped.high).contains(&at) {
            true => Some(mapped),
            false => Some(Bounds::default()),
        };
        let done = back.step(&mut state, &mut bounds, region);
        (done, state, bounds)
    }

    #[test]
    fn a_rule_says_how_to_go_back() {
        let saved = Back::Saved { at: 5 };
        for back in [Back::Framed, saved, BACK] {
            assert_eq!(Back::of(back.rule()), Some(back));
        }
        for rule in [Rule::BARE, Rule::GIVEN_UP, Rule::plain(Kind::NoTables)] {
            assert_eq!(Back::of(rule), None);
        }
        assert_eq!(Back::of(Rule(FRAMED << 3 | Kind::Sp as u32)), None);
    }

    #[test]
    fn a_routine_is_found_on_its_own_stack() {
        let memory = memory();
        let (done, state, bounds) = step(BACK, &memory, 99);
        let high = memory.routine[1] as u64;
        assert_eq!(done, Ok(()));
        assert_eq!(state.pc, Pc::returned(RETURNS_TO as u64));
        assert_eq!((state.sp, state.fp), (high - DEPTH as u64 + 8, 99));
        assert_eq!((bounds.low, bounds.high), (high - DEPTH as u64, high));
    }

    #[test]
    fn what_is_no_routine_leads_nowhere() {
        let spoil: [fn(&mut Memory); 8] = [
            |memory| memory.system[6] = 0,
            |memory| memory.system[6] += 1,
            |memory| memory.system[6] = 0x7fff_0000_0000,
            |memory| memory.system[5] = 4096,
            |memory| memory.system[5] += 4,
            |memory| memory.routine[1] -= 16,
            |memory| memory.routine.swap(0, 1),
            |memory| memory.stack[256 - DEPTH / 8] = 0,
        ];
        for (number, spoil) in spoil.into_iter().enumerate() {
            let mut memory = memory();
            spoil(&mut memory);
            let cut = Err(Stop::Root(StackId::CUT_BAD_FRAME));
            assert_eq!(step(BACK, &memory, 0).0, cut, "{number}");
        }
    }

    #[test]
    fn a_saved_stack_pointer_lies_above() {
        let mut memory = memory();
        let place = &raw const memory.system[7] as usize;
        (memory.system[5], memory.system[7]) = (place, RETURNS_TO);
        let saved = Back::Saved { at: 5 };
        let (done, state, bounds) = step(saved, &memory, 0);
        assert_eq!((done, state.sp), (Ok(()), place as u64 + 8));
        assert_eq!(bounds.high, around(&memory.system).high);
        for other in [0, place + 8, place - 4, memory.system.as_ptr() as usize] {
            memory.system[5] = other;
            assert!(step(saved, &memory, 0).0.is_err(), "{other:#x}");
        }
    }

    #[test]
    fn a_frame_pointer_leads_to_the_other_stack() {
        let mut memory = memory();
        let fp = &raw const memory.stack[10] as u64;
        (memory.stack[10], memory.stack[11]) = (33, RETURNS_TO);
        let (done, state, _) = step(Back::Framed, &memory, fp);
        assert_eq!((done, state.sp, state.fp), (Ok(()), fp + 16, 33));
        assert!(step(Back::Framed, &memory, fp + 4).0.is_err());
        assert!(step(Back::Framed, &memory, 8).0.is_err());
    }
}
