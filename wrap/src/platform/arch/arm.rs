//! 32-bit ARM of version 7, little-endian, whose code may be Thumb's.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: the caller's registers as they were.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    r4_to_r11: [usize; 8],
    return_address: usize,
    mark: UnsafeCell<usize>,
    _aligned: usize,
}

/// The registers that unwinding follows, by DWARF number: r0 to r15.
pub const REGISTERS: usize = 16;
/// DWARF number of the stack pointer.
pub const SP: usize = 13;
/// DWARF number of the frame pointer: Thumb's, for ARM's is r11.
pub const FP: usize = 7;
/// DWARF column of the return address.
pub const RA: usize = 14;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 15;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = false;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = true;
/// Bytes of a word.
pub const WORD: u64 = 4;
/// The ELF machine number.
pub const MACHINE: u16 = 40;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        strip(self.return_address as u64)
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        (self as *const Self as usize + size_of::<Self>()) as u64
    }

    /// The caller's frame pointer.
    #[inline]
    pub fn fp(&self) -> u64 {
        self.r4_to_r11[FP - 4] as u64
    }

    /// Bytes from the caller's sp down to the mark.
    pub const MARK_BELOW: u64 = 2 * size_of::<usize>() as u64;

    /// What marks a live frame at this depth: a word.
    #[inline]
    pub const fn mark_of(sp: u64) -> u64 {
        (sp as usize ^ 0x6d65_6d6c) as u64
    }

    /// Marks the frame as one whose call has not returned.
    #[inline]
    pub fn mark(&self) {
        // SAFETY: the frame is on this thread's stack, and only it looks.
        unsafe { *self.mark.get() = Self::mark_of(self.sp()) as usize };
    }

    /// All the registers a caller can count on, by DWARF number.
    pub fn registers(&self) -> [u64; REGISTERS] {
        let mut all = [0; REGISTERS];
        for (place, value) in all.iter_mut().skip(4).zip(self.r4_to_r11) {
            *place = value as u64;
        }
        (all[SP], all[RA]) = (self.sp(), self.pc());
        all
    }
}

/// The pure code address in a return address word: the lowest bit says that the
/// code there is Thumb's.
#[inline]
pub const fn strip(address: u64) -> u64 {
    address & !1
}

/// Bytes from the canonical frame address down to the caller's sp.
pub const SP_BELOW_CFA: u64 = 0;
/// What tables may say of the caller's sp where it is just there.
pub const SAVED_SP: Saved = Saved::Unset;

/// Whether the return address lies right below the CFA, and so inside whatever
/// bounds the CFA is in.
pub const RETURN_IS_NEXT: bool = false;
/// Whether return addresses in memory may carry a signature: Thumb's bit is one
/// in that what is read is not the address.
pub const RETURN_IS_SIGNED: bool = true;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp; nothing where that is not as nearly all frames do it: the
/// address under the arguments that a function of any number of them keeps, fp
/// under it with r8 to r11 between them at most; or the address alone.
/// The lowest three bits are the words from the address down to fp, or none; the
/// others are the words from the CFA down to the address.
#[inline]
pub const fn saved_words(return_address: Saved, fp: Saved) -> Option<u64> {
    let Saved::At(at @ ..0) = return_address else {
        return None;
    };
    if at % 4 != 0 || at < -4 * (1 << 16) {
        return None;
    }
    let words = at.unsigned_abs() / 4;
    match fp {
        Saved::At(fp) if fp < at && fp >= at - 4 * 7 && (at - fp) % 4 == 0 => {
            Some((words << 3) | ((at - fp) as u64 / 4))
        }
        Saved::Unset | Saved::Same | Saved::Undefined => Some(words << 3),
        _ => None,
    }
}

/// Bytes from the CFA down to the return address.
#[inline(always)]
pub const fn return_below(saved: u64) -> u64 {
    (saved >> 3).wrapping_mul(4)
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(saved: u64) -> u64 {
    match saved & 7 {
        0 => 0,
        further => return_below(saved).wrapping_add(further.wrapping_mul(4)),
    }
}

/// Where r0 of a signal's frame lies above the sp of the return trampoline of a
/// handler with siginfo: behind that (128), flags, link and stack (20), trap,
/// error and mask (12). The fifteen others follow.
const GENERAL: u64 = 128 + 20 + 12;

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline.
pub const INTERRUPTED: &[(usize, u64)] = &{
    let mut all = [(0, GENERAL); REGISTERS];
    let mut number = 0;
    while number < REGISTERS {
        all[number] = (number, GENERAL + 4 * number as u64);
        number += 1;
    }
    all
};
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [
    GENERAL + 4 * PC as u64,
    GENERAL + 4 * SP as u64,
    GENERAL + 4 * FP as u64,
];

/// Whether code is known by its bytes before any table is asked for it.
pub const CODE_FIRST: bool = false;
/// Whether return trampolines lie outside of all modules too: the kernel has
/// some for who names none.
pub const HAS_TRAMPOLINES_APART: bool = true;
/// Return trampolines, and how much lower than usual their frame keeps what was
/// interrupted: `mov r7, #173; svc 0`, and of a handler without siginfo
/// `mov r7, #119; svc 0`; then both as Thumb's.
pub const TRAMPOLINES: &[(&[u8], u64)] = &[
    (&[0xad, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef], 0),
    (&[0x77, 0x70, 0xa0, 0xe3, 0, 0, 0, 0xef], 128),
    (&[0xad, 0x27, 0, 0xdf], 0),
    (&[0x77, 0x27, 0, 0xdf], 128),
    (&[0x4f, 0xf0, 0xad, 0x07, 0, 0xdf], 0),
    (&[0x4f, 0xf0, 0x77, 0x07, 0, 0xdf], 128),
];

/// What a hand-made stack returns to if no table describes it, and ends there.
pub const LAST: &[&[u8]] = &[];

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 4096;

/// The vDSO's clock, the one whose seconds do not end in 2038.
pub const VDSO_CLOCK: &[u8] = b"__vdso_clock_gettime64";
/// Whether code without unwind tables may be crossed by its frame pointers: which
/// register has one, and what lies between it and the caller's sp, would have to
/// be guessed.
pub const HAS_FRAME_POINTERS: bool = false;
/// Whether a null frame pointer marks the outermost frame where such code begins a
/// program: what has no tables
/// keeps anything in that register.
pub const NULL_FP_ENDS: bool = false;

/// Whether the words at these addresses have these values.
///
/// # Safety
/// The words can be read.
#[inline(always)]
pub unsafe fn are_same(at: &[u64], was: &[u64]) -> bool {
    let mut sum = 0;
    for (&at, was) in at.iter().zip(was) {
        // SAFETY: by the caller.
        sum |= unsafe { (at as *const usize).read() } as u64 ^ was;
    }
    sum == 0
}

/// Fetches a line that will be read soon.
#[inline]
pub fn expect<T>(_: &T) {}

#[cfg(test)]
impl DoorFrame {
    /// The words of a frame, for a made-up stack.
    pub fn made_up(pc: u64, fp: u64) -> [u64; 13] {
        let mut words = [0; 13];
        [words[5], words[10]] = [fp, pc];
        words
    }
}
