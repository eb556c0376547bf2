//! 64-bit PowerPC, both byte orders.

use crate::unwind::full::Bounds;
use crate::unwind::rule::Kind;
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
pub const REGISTERS: usize = 66;
/// DWARF number of the stack pointer.
pub const SP: usize = 1;
/// DWARF number of the frame pointer.
pub const FP: usize = 31;
/// DWARF column of the return address.
pub const RA: usize = 65;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = true;
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

/// Bytes from the canonical frame address down to the return address.
pub const RA_BELOW_CFA: i64 = -16;

/// What a signal frame is stepped by: the kernel chains it like any other.
pub const SIGNAL_RULE: Kind = Kind::NoTables;

/// The frame that a signal interrupted.
pub struct Interrupted {
    /// The very instruction.
    pub pc: u64,
    /// Its stack pointer.
    pub sp: u64,
    /// Its frame pointer.
    pub fp: u64,
}

/// Not asked here: the back chain leads over signal frames.
pub const fn interrupted_at(_: u64) -> Option<[u64; 3]> {
    None
}

/// Not read here.
pub fn interrupted(_: u64, _: &Bounds) -> Option<Interrupted> {
    None
}

/// Not read here.
pub fn interrupted_registers(_: u64, _: &Bounds) -> Option<[u64; REGISTERS]> {
    None
}

/// `li r0, 172; sc`: a return trampoline that no table describes.
pub const SIGRETURN: [u8; 8] = {
    let [a, b, c, d] = 0x3800_00ac_u32.to_ne_bytes();
    let [e, f, g, h] = 0x4400_0002_u32.to_ne_bytes();
    [a, b, c, d, e, f, g, h]
};

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 65536;
/// The vDSO's clock: its functions have no descriptors, so it is not called.
pub const VDSO_CLOCK: &[u8] = b"";
/// Whether code without unwind tables may be crossed by its frame pointers.
pub const HAS_FRAME_POINTERS: bool = false;

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
