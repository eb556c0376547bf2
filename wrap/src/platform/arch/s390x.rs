//! 64-bit IBM Z, big-endian.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: the caller's registers as they were.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    r6_to_r13: [u64; 8],
    return_address: u64,
    mark: UnsafeCell<u64>,
}

/// The registers that unwinding follows, by DWARF number: r0 to r15, the
/// floating-point ones, in which leaf functions keep others, and the pc.
pub const REGISTERS: usize = 33;
/// DWARF number of the stack pointer.
pub const SP: usize = 15;
/// DWARF number of the frame pointer.
pub const FP: usize = 11;
/// DWARF column of the return address.
pub const RA: usize = 14;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 32;
/// Whether stacks are walked by the ABI's back chain instead of tables: this
/// one is optional, and hardly anybody has it.
pub const BACK_CHAIN: bool = false;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = false;
/// Bytes of a word.
pub const WORD: u64 = 8;
/// The ELF machine number.
pub const MACHINE: u16 = 22;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.return_address
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        self as *const Self as u64 + 96
    }

    /// The caller's frame pointer.
    #[inline]
    pub fn fp(&self) -> u64 {
        let [_, _, _, _, _, r11, _, _] = self.r6_to_r13;
        r11
    }

    /// Bytes from the caller's sp down to the mark.
    pub const MARK_BELOW: u64 = 8;

    /// What marks a live frame at this depth.
    #[inline]
    pub const fn mark_of(sp: u64) -> u64 {
        sp ^ 0x6d65_6d6c_6f67_2e2e
    }

    /// Marks the frame as one whose call has not returned.
    #[inline]
    pub fn mark(&self) {
        // SAFETY: the frame is on this thread's stack, and only it looks.
        unsafe { *self.mark.get() = Self::mark_of(self.sp()) };
    }

    /// All the registers a caller can count on, by DWARF number.
    pub fn registers(&self) -> [u64; REGISTERS] {
        let mut all = [0; REGISTERS];
        for (place, value) in all.iter_mut().skip(6).zip(self.r6_to_r13) {
            *place = value;
        }
        for (number, value) in [(RA, self.return_address), (SP, self.sp())] {
            if let Some(place) = all.get_mut(number) {
                *place = value;
            }
        }
        all
    }
}

/// The pure code address in a return address word.
#[inline]
pub const fn strip(address: u64) -> u64 {
    address
}

/// Bytes from the canonical frame address down to the caller's sp: the ABI puts
/// the area between, in which a function saves its caller's registers.
pub const SP_BELOW_CFA: u64 = 160;
/// What tables may say of the caller's sp where it is just there: r15 is saved
/// with the others.
pub const SAVED_SP: Saved = Saved::At(-40);
/// Whether the return address lies right below the CFA, and so inside whatever
/// bounds the CFA is in.
pub const RETURN_IS_NEXT: bool = false;
/// Whether return addresses in memory may carry a signature.
pub const RETURN_IS_SIGNED: bool = false;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp; nothing where that is not as nearly all frames do it: each
/// register has its place in the caller's area.
#[inline]
pub const fn saved_words(return_address: Saved, fp: Saved) -> Option<u64> {
    match (return_address, fp) {
        (Saved::At(-48), Saved::At(-72)) => Some(9),
        (Saved::At(-48), Saved::Unset | Saved::Same | Saved::Undefined) => Some(0),
        _ => None,
    }
}

/// Bytes from the CFA down to the return address.
#[inline(always)]
pub const fn return_below(_: u64) -> u64 {
    48
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(saved: u64) -> u64 {
    saved.wrapping_mul(8)
}

/// Where the registers of a signal's frame lie above the sp of the return
/// trampoline: behind the handler's own area (160), an instruction (2, and 6
/// of padding), a siginfo (128), flags, link and stack (40).
const MACHINE_CONTEXT: u64 = 160 + 8 + 128 + 40;
const GENERAL: u64 = MACHINE_CONTEXT + 16;
/// Behind the access registers and the control word.
const FLOATING: u64 = GENERAL + 16 * 8 + 16 * 4 + 8;

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline. The address in the status word, r0 to
/// r15, f0 to f15, which DWARF counts in an order of its own.
pub const INTERRUPTED: &[(usize, u64)] = &{
    const FLOATING_ORDER: [u64; 16] = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
    let mut all = [(0, 0); REGISTERS];
    let mut number = 0;
    while number < 16 {
        all[number] = (number, GENERAL + 8 * number as u64);
        all[16 + number] = (16 + number, FLOATING + 8 * FLOATING_ORDER[number]);
        number += 1;
    }
    all[32] = (PC, MACHINE_CONTEXT + 8);
    all
};
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [
    MACHINE_CONTEXT + 8,
    GENERAL + 8 * SP as u64,
    GENERAL + 8 * FP as u64,
];

/// Whether code is known by its bytes before any table is asked for it: the
/// kernel's table of its own trampolines says that they were called.
pub const CODE_FIRST: bool = true;
/// Whether return trampolines lie outside of all modules too: they are the
/// kernel's, or an emulator's.
pub const HAS_TRAMPOLINES_APART: bool = true;
/// Return trampolines, and how much lower than usual their frame keeps what was
/// interrupted: `svc 173`; and `svc 119`, where the handler takes no siginfo and
/// only a mask and a pointer lie before the context.
pub const TRAMPOLINES: &[(&[u8], u64)] =
    &[(&[0x0a, 0xad], 0), (&[0x0a, 0x77], MACHINE_CONTEXT - 176)];

/// What a hand-made stack returns to if no table describes it, and ends there.
pub const LAST: &[&[u8]] = &[];

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 4096;
/// The vDSO's clock.
pub const VDSO_CLOCK: &[u8] = b"__kernel_clock_gettime";
/// Whether code without unwind tables may be crossed by its frame pointers.
pub const HAS_FRAME_POINTERS: bool = false;
/// Whether a null frame pointer marks the outermost frame where such code begins a
/// program.
pub const NULL_FP_ENDS: bool = true;

/// Whether the words at these addresses have these values.
///
/// # Safety
/// The words can be read.
#[inline(always)]
pub unsafe fn are_same(at: &[u64], was: &[u64]) -> bool {
    let mut sum = 0;
    for (&at, was) in at.iter().zip(was) {
        // SAFETY: by the caller.
        sum |= unsafe { (at as *const u64).read() } ^ was;
    }
    sum == 0
}

/// Fetches a line that will be read soon.
#[inline]
pub fn expect<T>(_: &T) {}

#[cfg(test)]
impl DoorFrame {
    /// The words of a frame, for a made-up stack.
    pub fn made_up(pc: u64, fp: u64) -> [u64; 12] {
        [0, 0, 0, 0, 0, 0, 0, fp, 0, 0, pc, 0]
    }
}
