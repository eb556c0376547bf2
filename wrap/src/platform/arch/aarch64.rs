//! 64-bit ARM.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: the caller's registers as they were.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    x19_to_x28: [u64; 10],
    x29: u64,
    return_address: u64,
    mark: UnsafeCell<u64>,
    unused: u64,
}

/// The registers that unwinding follows, by DWARF number: x0 to x30, sp, pc.
pub const REGISTERS: usize = 33;
/// DWARF number of the stack pointer.
pub const SP: usize = 31;
/// DWARF number of the frame pointer.
pub const FP: usize = 29;
/// DWARF column of the return address.
pub const RA: usize = 30;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 32;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = false;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = false;
/// Bytes of a word.
pub const WORD: u64 = 8;
/// The ELF machine number.
pub const MACHINE: u16 = 183;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.return_address
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        self as *const Self as u64 + 128
    }

    /// The caller's frame pointer.
    #[inline]
    pub fn fp(&self) -> u64 {
        self.x29
    }

    /// Bytes from the caller's sp down to the mark.
    pub const MARK_BELOW: u64 = 16;

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
        for (place, value) in all.iter_mut().skip(19).zip(self.x19_to_x28) {
            *place = value;
        }
        let known = [(FP, self.x29), (RA, self.return_address), (SP, self.sp())];
        for (number, value) in known {
            if let Some(place) = all.get_mut(number) {
                *place = value;
            }
        }
        all
    }
}

/// The pure code address in a return address word, which may be signed. By the
/// processor: how many bits the signature has depends on the kernel. Where
/// there are no signatures the instruction does nothing.
#[cfg(target_arch = "aarch64")]
#[inline]
pub fn strip(address: u64) -> u64 {
    let mut pure = address;
    // SAFETY: changes x30 alone (xpaclri).
    unsafe {
        core::arch::asm!("hint #7", inout("x30") pure, options(nomem, nostack, preserves_flags));
    }
    pure
}

/// Elsewhere no signature can be told from an address.
#[cfg(not(target_arch = "aarch64"))]
#[inline]
pub const fn strip(address: u64) -> u64 {
    address
}

/// Bytes from the canonical frame address down to the caller's sp.
pub const SP_BELOW_CFA: u64 = 0;
/// What tables may say of the caller's sp where it is just there.
pub const SAVED_SP: Saved = Saved::Unset;
/// Whether the return address lies right below the CFA, and so inside whatever
/// bounds the CFA is in.
pub const RETURN_IS_NEXT: bool = false;
/// Whether return addresses in memory may carry a signature.
pub const RETURN_IS_SIGNED: bool = true;

pub use super::beside::{fp_below, return_below, saved_words};

/// Where the general registers of a signal's frame lie above the sp of the
/// return trampoline: behind a siginfo (128), flags, link, stack, masks and
/// padding (176) and the fault's address (8).
const GENERAL: u64 = 128 + 176 + 8;

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline. x0 to x30, sp, pc.
pub const INTERRUPTED: &[(usize, u64)] = &{
    let mut all = [(0, 0); REGISTERS];
    let mut number = 0;
    while number < REGISTERS {
        all[number] = (number, GENERAL + 8 * number as u64);
        number += 1;
    }
    all
};
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [
    GENERAL + 8 * PC as u64,
    GENERAL + 8 * SP as u64,
    GENERAL + 8 * FP as u64,
];

/// Whether code is known by its bytes before any table is asked for it.
pub const CODE_FIRST: bool = false;
/// Whether return trampolines lie outside of all modules too: they are the
/// kernel's, or an emulator's.
pub const HAS_TRAMPOLINES_APART: bool = true;
/// Return trampolines, and how much lower than usual their frame keeps what was
/// interrupted: `mov x8, #139; svc #0`.
pub const TRAMPOLINES: &[(&[u8], u64)] = &[(&[0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4], 0)];

/// What a hand-made stack returns to if no table describes it, and ends there.
pub const LAST: &[&[u8]] = &[];

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 65536;
/// The vDSO's clock.
pub const VDSO_CLOCK: &[u8] = b"__kernel_clock_gettime";
/// Whether code without unwind tables may be crossed by its frame pointers: a
/// frame's record may lie anywhere in it, so that sp would have to be guessed.
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
    pub fn made_up(pc: u64, fp: u64) -> [u64; 16] {
        let mut words = [0; 16];
        [words[12], words[13]] = [fp, pc];
        words
    }
}
