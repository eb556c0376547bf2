//! 64-bit PowerPC, both byte orders.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: what its caller needs to be walked from.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    return_address: u64,
    stack_pointer: u64,
    mark: UnsafeCell<u64>,
}

/// The registers that unwinding follows, by DWARF number.
pub const REGISTERS: usize = 67;
/// DWARF number of the stack pointer.
pub const SP: usize = 1;
/// DWARF number of the frame pointer.
pub const FP: usize = 31;
/// DWARF column of the return address.
pub const RA: usize = 65;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 66;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = true;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = false;
/// Bytes of a word.
pub const WORD: u64 = 8;
/// The ELF machine number.
pub const MACHINE: u16 = 21;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.return_address
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        self.stack_pointer
    }

    /// The caller's frame pointer: the back chain needs none.
    #[inline]
    pub fn fp(&self) -> u64 {
        0
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

    /// All the registers a caller can count on, by DWARF number: with a back
    /// chain nothing asks for more than these two.
    pub fn registers(&self) -> [u64; REGISTERS] {
        let mut all = [0; REGISTERS];
        for (number, value) in [(SP, self.stack_pointer), (RA, self.return_address)] {
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

/// Bytes from the canonical frame address down to the caller's sp.
pub const SP_BELOW_CFA: u64 = 0;
/// What tables may say of the caller's sp where it is just there.
pub const SAVED_SP: Saved = Saved::Unset;
/// Whether the return address lies right below the CFA, and so inside whatever
/// bounds the CFA is in.
pub const RETURN_IS_NEXT: bool = false;
/// Whether return addresses in memory may carry a signature.
pub const RETURN_IS_SIGNED: bool = false;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp: the back chain needs no rules.
#[inline]
pub const fn saved_words(_: Saved, _: Saved) -> Option<u64> {
    None
}

/// Bytes from the caller's sp down to the return address, which lies above it.
#[inline(always)]
pub const fn return_below(_: u64) -> u64 {
    16u64.wrapping_neg()
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(_: u64) -> u64 {
    0
}

/// Where the general registers of a signal's frame lie above the sp of the
/// return trampoline: 128 bytes below the kernel's ucontext, of which the first
/// 168 are flags, link, stack and masks, and 64 more come before them.
const GENERAL: u64 = 128 + 168 + 64;

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline. r0 to r31, then nip, msr, the first
/// argument, ctr and lr.
pub const INTERRUPTED: &[(usize, u64)] = &{
    let mut all = [(0, 0); 34];
    let mut number = 0;
    while number < 32 {
        all[number] = (number, GENERAL + 8 * number as u64);
        number += 1;
    }
    all[32] = (PC, GENERAL + 8 * 32);
    all[33] = (RA, GENERAL + 8 * 36);
    all
};
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [
    GENERAL + 8 * 32,
    GENERAL + 8 * SP as u64,
    GENERAL + 8 * FP as u64,
];

/// Whether code is known by its bytes before any table is asked for it: none is
/// for what was called.
pub const CODE_FIRST: bool = true;
/// Whether return trampolines lie outside of all modules too: they are the
/// kernel's, or an emulator's.
pub const HAS_TRAMPOLINES_APART: bool = true;
/// Return trampolines, and how much lower than usual their frame keeps what was
/// interrupted: `[addi r1, r1, 128;] li r0, 172; sc`. The second is qemu's, who
/// leaves two words more than the kernel below the ucontext.
pub const TRAMPOLINES: &[(&[u8], u64)] = &[
    (&words::<12>([0x3821_0080, 0x3800_00ac, 0x4400_0002]), 0),
    (
        &words::<8>([0x3800_00ac, 0x4400_0002, 0]),
        16u64.wrapping_neg(),
    ),
];

/// What a hand-made stack returns to if no table describes it, and ends there:
/// glibc's makecontext leaves the words above unwritten. `ld r1, 0(r1)`.
pub const LAST: &[&[u8]] = &[&words::<4>([0xe821_0000, 0, 0])];

/// Instructions as they lie in memory.
const fn words<const N: usize>(instructions: [u32; 3]) -> [u8; N] {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        bytes[at] = instructions[at / 4].to_ne_bytes()[at % 4];
        at += 1;
    }
    bytes
}

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 65536;
/// The vDSO's clock: its functions have no descriptors, so it is not called.
pub const VDSO_CLOCK: &[u8] = b"";
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
