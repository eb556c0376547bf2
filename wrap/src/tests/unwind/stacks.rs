//! Whole stacks of this very process: stepped through with all registers, each
//! packed rule checked on the way, and compared with the C library's walk and
//! with framehop's.
#![allow(unsafe_code)]
//! # Safety
//! A context is taken and walked inside the function that took it, so its
//! stack lives; handlers do what the test needs and nothing of it is reentrant.

use super::framehop;
use crate::platform::arch::{self, FP, RA, SP};
use crate::platform::bounds::Bounds;
use crate::platform::ground::Ground;
use crate::platform::maps::region_of;
use crate::tests::memory::{Zeroed, maps_at_rest};
use crate::unwind::cfi::{FrameIndexes, describe};
use crate::unwind::full::{Registers, Step, step};
use crate::unwind::modules::Modules;
use crate::unwind::row::Machine;
use crate::unwind::rule::{Kind, Rule};
use crate::unwind::signal;
use std::hint::black_box;
use std::mem::MaybeUninit;
use std::sync::Mutex;

const DEEP: usize = 512;
/// Frames of the handler's own, each of several functions.
const HANDLERS_DEPTH: u32 = 3;

/// One stack as three walks found it.
#[derive(Default)]
struct Captured {
    ours: Vec<u64>,
    c_library: Vec<u64>,
    framehop: Option<Vec<u64>>,
}

/// What the last capture found.
static CAPTURED: Mutex<Captured> = Mutex::new(Captured {
    ours: Vec::new(),
    c_library: Vec::new(),
    framehop: None,
});

/// Registers and memory of a walk.
struct Walker {
    modules: Box<Modules>,
    indexes: Box<FrameIndexes>,
    machine: Box<Machine>,
    registers: Registers,
    bounds: Bounds,
}

impl Walker {
    /// Checks that the packed rule, where there is one, leads where the step
    /// with all registers led.
    fn check_packed(&self, rule: (Kind, u64, u64), before: &Registers) {
        let (kind, offset, saved) = rule;
        let from = match kind {
            Kind::Sp => before[SP],
            Kind::Fp => before[FP],
            _ => return,
        };
        let cfa = from + offset * arch::WORD;
        assert_eq!(self.registers[SP], cfa - arch::SP_BELOW_CFA);
        assert_eq!(
            self.registers[RA],
            self.bounds.read(cfa - arch::return_below(saved)).unwrap()
        );
        let fp = match arch::fp_below(saved) {
            0 => before[FP],
            below => self.bounds.read(cfa - below).unwrap(),
        };
        assert_eq!(self.registers[FP], fp);
    }

    /// One frame outwards; whether there was one, and whether it had been
    /// interrupted by a signal.
    fn step(&mut self, lookup: u64) -> Option<bool> {
        let module = *self.modules.find(lookup).expect("code lies in a module");
        let description = describe(&module, lookup, &mut self.indexes)?;
        if description.common.is_signal {
            self.registers =
                signal::registers(self.registers[SP], Rule::signal(0), &self.bounds).unwrap();
            return Some(true);
        }
        let rule = self.machine.run(&description, lookup).unwrap().pack();
        let rule = (rule.kind(), rule.offset_words(), rule.saved_words());
        let before = self.registers;
        let (registers, bounds) = (&mut self.registers, &self.bounds);
        match step(self.machine.run(&description, lookup), registers, bounds) {
            Step::Caller => {
                self.check_packed(rule, &before);
                Some(false)
            }
            Step::Outermost => {
                assert_eq!(rule.0, Kind::End);
                None
            }
            Step::Failed => panic!("{lookup:#x} cannot be stepped from"),
        }
    }

    /// The return addresses from here outwards.
    fn walk(mut self) -> Vec<u64> {
        let (mut found, mut exact) = (Vec::new(), true);
        while found.len() < DEEP {
            let address = self.registers[RA];
            found.push(address);
            match self.step(address - u64::from(!exact)) {
                Some(interrupted) => exact = interrupted,
                None => break,
            }
        }
        found
    }
}

/// Walks both ways from here, innermost frame left out: each walk begins at
/// its own place in this function.
#[inline(never)]
fn capture() {
    let mut context = MaybeUninit::<libc::ucontext_t>::zeroed();
    let mut theirs = [0u64; DEEP];
    // SAFETY: both write into the variables above, at most their size.
    let count = unsafe {
        assert_eq!(libc::getcontext(context.as_mut_ptr()), 0);
        libc::backtrace(theirs.as_mut_ptr().cast(), DEEP as libc::c_int)
    };
    let at = context.as_ptr() as u64;
    let around = Bounds {
        low: at,
        high: at + size_of::<libc::ucontext_t>() as u64,
    };
    let registers = signal::registers(at, Rule::signal(0), &around).unwrap();
    let mut modules = Modules::zeroed();
    modules.refresh(&Ground::new(), |_| ());
    let region = region_of(&Ground::new(), registers[SP], modules.buffer());
    let walker = Walker {
        modules,
        indexes: FrameIndexes::zeroed(),
        machine: Machine::zeroed(),
        registers,
        bounds: Bounds {
            low: registers[SP],
            high: region.high,
        },
    };
    let framehop = framehop::walk(&walker.registers, &walker.bounds);
    *CAPTURED.lock().unwrap() = Captured {
        ours: walker.walk()[1..].to_vec(),
        c_library: theirs[1..count as usize].to_vec(),
        framehop: framehop.map(|frames| frames[1..].to_vec()),
    };
}

/// Frames of different sizes.
#[inline(never)]
fn recurse(depth: u32, innermost: fn()) -> u64 {
    let mut room = [u64::from(depth); 40];
    black_box(&mut room);
    let below = match depth {
        0 => {
            innermost();
            0
        }
        _ if depth.is_multiple_of(2) => (0..1).map(|_| recurse(depth - 1, innermost)).sum(),
        _ => std::panic::catch_unwind(|| recurse(depth - 1, innermost)).unwrap(),
    };
    below + black_box(room)[0]
}

extern "C" fn compare(left: *const libc::c_void, right: *const libc::c_void) -> libc::c_int {
    recurse(2, capture);
    (left as usize).cmp(&(right as usize)) as libc::c_int
}

/// Called back out of the C library.
fn sort() {
    let mut two = [2u64, 1];
    // SAFETY: two elements of eight bytes.
    unsafe { libc::qsort(two.as_mut_ptr().cast(), 2, 8, Some(compare)) };
}

extern "C" fn handle(_: libc::c_int) {
    recurse(HANDLERS_DEPTH, capture);
}

/// A handler's frames stand on the kernel's, and those on the interrupted one's.
fn signal() {
    // SAFETY: the handler is a function of this file; the signal is nobody
    // else's here.
    unsafe {
        libc::signal(libc::SIGURG, handle as *const () as libc::sighandler_t);
        libc::raise(libc::SIGURG);
        libc::signal(libc::SIGURG, libc::SIG_DFL);
    }
}

#[test]
fn stacks_are_those_of_the_c_library() {
    let _rest = maps_at_rest();
    for (depth, innermost, is_signal) in [
        (0, capture as fn(), false),
        (7, capture, false),
        (60, capture, false),
        (5, sort, false),
        (6, signal, true),
    ] {
        recurse(depth, innermost);
        let found = std::mem::take(&mut *CAPTURED.lock().unwrap());
        let ours = found.ours;
        assert!(ours.len() > depth as usize + 4, "{} frames", ours.len());
        assert_eq!(ours, found.c_library, "depth {depth}");
        let Some(framehop) = found.framehop else {
            continue;
        };
        // It does not read a signal's frame, and goes on somewhere by chance.
        let known = match is_signal {
            // At least one frame a level.
            true => HANDLERS_DEPTH as usize,
            false => ours.len().max(framehop.len()),
        };
        let [ours, framehop] = [ours, framehop].map(|all| all.into_iter().take(known));
        assert!(
            ours.eq(framehop),
            "depth {depth}: framehop's walk is another"
        );
    }
}
