//! 32-bit x86, from the Pentium 4 on: 64-bit atomics are one instruction there.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: the caller's registers as they were.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    ebx: usize,
    esi: usize,
    edi: usize,
    ebp: usize,
    mark: UnsafeCell<usize>,
    return_address: usize,
}

/// The registers that unwinding follows, by DWARF number: eax, ecx, edx, ebx,
/// esp, ebp, esi, edi, eip.
pub const REGISTERS: usize = 9;
/// DWARF number of the stack pointer.
pub const SP: usize = 4;
/// DWARF number of the frame pointer.
pub const FP: usize = 5;
/// DWARF column of the return address.
pub const RA: usize = 8;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 8;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = false;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = false;
/// Bytes of a word.
pub const WORD: u64 = 4;
/// The ELF machine number.
pub const MACHINE: u16 = 3;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.return_address as u64
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        (self as *const Self as usize + size_of::<Self>()) as u64
    }

    /// The caller's frame pointer.
    #[inline]
    pub fn fp(&self) -> u64 {
        self.ebp as u64
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
        let kept = [self.ebx, self.ebp, self.esi, self.edi].map(|value| value as u64);
        let [ebx, ebp, esi, edi] = kept;
        [0, 0, 0, ebx, self.sp(), ebp, esi, edi, self.pc()]
    }
}

/// The pure code address in a return address word.
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
pub const RETURN_IS_NEXT: bool = true;
/// Whether return addresses in memory may carry a signature.
pub const RETURN_IS_SIGNED: bool = false;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp; nothing where that is not as nearly all frames do it. Here the
/// call itself pushed the address, and fp lies so many words below the CFA.
#[inline]
pub const fn saved_words(return_address: Saved, fp: Saved) -> Option<u64> {
    match (return_address, fp) {
        (Saved::At(-4), Saved::At(offset @ ..0)) if offset % 4 == 0 => {
            Some(offset.unsigned_abs() / 4)
        }
        (Saved::At(-4), Saved::Unset | Saved::Same | Saved::Undefined) => Some(0),
        _ => None,
    }
}

/// Bytes from the CFA down to the return address.
#[inline(always)]
pub const fn return_below(_: u64) -> u64 {
    4
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(saved: u64) -> u64 {
    saved.wrapping_mul(4)
}

/// Where the kernel's sigcontext lies above the sp of the return trampoline of
/// a handler with siginfo: behind the handler's three arguments (12), the
/// siginfo (128), flags, link and stack (20).
const CONTEXT: u64 = 12 + 128 + 20;

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline. Four segment registers come first:
/// edi, esi, ebp, esp, ebx, edx, ecx, eax, trap, error, eip.
pub const INTERRUPTED: &[(usize, u64)] = &[
    (7, CONTEXT + 16),
    (6, CONTEXT + 20),
    (5, CONTEXT + 24),
    (4, CONTEXT + 28),
    (3, CONTEXT + 32),
    (2, CONTEXT + 36),
    (1, CONTEXT + 40),
    (0, CONTEXT + 44),
    (8, CONTEXT + 56),
];
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [CONTEXT + 56, CONTEXT + 28, CONTEXT + 24];

/// Whether code is known by its bytes before any table is asked for it.
pub const CODE_FIRST: bool = false;
/// Whether return trampolines lie outside of all modules too: they may be an
/// emulator's.
pub const HAS_TRAMPOLINES_APART: bool = true;
/// Return trampolines, and how much lower than usual their frame keeps what was
/// interrupted: `movl $173, %eax; int $0x80`; and, of a handler without siginfo,
/// to which only its signal is handed, `popl %eax; movl $119, %eax; int $0x80`.
pub const TRAMPOLINES: &[(&[u8], u64)] = &[
    (&[0xb8, 0xad, 0, 0, 0, 0xcd, 0x80], 0),
    (&[0x58, 0xb8, 0x77, 0, 0, 0, 0xcd, 0x80], CONTEXT - 4),
];

/// What a hand-made stack returns to if no table describes it, and ends there.
pub const LAST: &[&[u8]] = &[];

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 4096;

/// The vDSO's clock, the one whose seconds do not end in 2038.
pub const VDSO_CLOCK: &[u8] = b"__vdso_clock_gettime64";
/// Whether code without unwind tables may be crossed by its frame pointers.
pub const HAS_FRAME_POINTERS: bool = true;
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
    pub fn made_up(pc: u64, fp: u64) -> [u64; 8] {
        [0, 0, 0, 0, 0, fp, 0, pc]
    }
}
