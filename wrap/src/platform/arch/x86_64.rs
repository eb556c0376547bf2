//! x86_64.

use crate::platform::rules::Saved;
use core::cell::UnsafeCell;

/// What a door hands its handler: the caller's registers as they were.
#[repr(C)]
pub struct DoorFrame {
    /// What stands in this thread's word, 0 unless life is On.
    pub word: u64,
    /// The next definition of the door's function, 0 if not known yet.
    pub real: usize,
    rbx: u64,
    r12: u64,
    r13: u64,
    r14: u64,
    r15: u64,
    rbp: u64,
    mark: UnsafeCell<u64>,
    return_address: u64,
}

/// The registers that unwinding follows, by DWARF number.
pub const REGISTERS: usize = 17;
/// DWARF number of the stack pointer.
pub const SP: usize = 7;
/// DWARF number of the frame pointer.
pub const FP: usize = 6;
/// DWARF column of the return address.
pub const RA: usize = 16;
/// Where the pc of an interrupted frame is put.
pub const PC: usize = 16;
/// Whether stacks are walked by the ABI's back chain instead of tables.
pub const BACK_CHAIN: bool = false;
/// Whether the tables are ARM's own index, .ARM.exidx.
pub const HAS_EXIDX: bool = false;
/// Bytes of a word.
pub const WORD: u64 = 8;
/// The ELF machine number.
pub const MACHINE: u16 = 62;

impl DoorFrame {
    /// The return address: the frame that called the door.
    #[inline]
    pub fn pc(&self) -> u64 {
        self.return_address
    }

    /// The caller's stack pointer.
    #[inline]
    pub fn sp(&self) -> u64 {
        self as *const Self as u64 + 80
    }

    /// The caller's frame pointer.
    #[inline]
    pub fn fp(&self) -> u64 {
        self.rbp
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
        let known = [
            (3, self.rbx),
            (6, self.rbp),
            (7, self.sp()),
            (12, self.r12),
            (13, self.r13),
            (14, self.r14),
            (15, self.r15),
            (16, self.return_address),
        ];
        for (number, value) in known {
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
pub const RETURN_IS_NEXT: bool = true;
/// Whether return addresses in memory may carry a signature.
pub const RETURN_IS_SIGNED: bool = false;

/// What a packed rule keeps of where a frame saved the return address and the
/// caller's fp; nothing where that is not as nearly all frames do it. Here the
/// call itself pushed the address, and fp lies so many words below the CFA.
#[inline]
pub const fn saved_words(return_address: Saved, fp: Saved) -> Option<u64> {
    match (return_address, fp) {
        (Saved::At(-8), Saved::At(offset @ ..0)) if offset % 8 == 0 => {
            Some(offset.unsigned_abs() / 8)
        }
        (Saved::At(-8), Saved::Unset | Saved::Same | Saved::Undefined) => Some(0),
        _ => None,
    }
}

/// Bytes from the CFA down to the return address.
#[inline(always)]
pub const fn return_below(_: u64) -> u64 {
    8
}

/// Bytes from the CFA down to the caller's fp; 0: it is still in its register.
#[inline(always)]
pub const fn fp_below(saved: u64) -> u64 {
    saved.wrapping_mul(8)
}

/// Where a signal's frame keeps what it interrupted: DWARF number, and bytes
/// above the sp of the return trampoline. The kernel's ucontext stands there,
/// with the general registers 40 bytes into it: r8 to r15, rdi, rsi, rbp, rbx,
/// rdx, rax, rcx, rsp, rip.
pub const INTERRUPTED: &[(usize, u64)] = &[
    (8, 40),
    (9, 48),
    (10, 56),
    (11, 64),
    (12, 72),
    (13, 80),
    (14, 88),
    (15, 96),
    (5, 104),
    (4, 112),
    (6, 120),
    (3, 128),
    (1, 136),
    (0, 144),
    (2, 152),
    (7, 160),
    (16, 168),
];
/// The same of the pc, sp and fp.
pub const INTERRUPTED_AT: [u64; 3] = [168, 160, 120];

/// Whether code is known by its bytes before any table is asked for it.
pub const CODE_FIRST: bool = false;
/// Whether return trampolines lie outside of all modules too: they are libc's.
pub const HAS_TRAMPOLINES_APART: bool = false;
/// See there.
pub const TRAMPOLINES: &[(&[u8], u64)] = &[(&[0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05], 0)];

/// What a hand-made stack returns to if no table describes it, and ends there.
pub const LAST: &[&[u8]] = &[];

/// Bytes of the page that fork wipes: the largest page of the machine.
pub const LIFE_BYTES: usize = 4096;

/// The vDSO's clock.
pub const VDSO_CLOCK: &[u8] = b"__vdso_clock_gettime";
/// Whether code without unwind tables may be crossed by its frame pointers.
pub const HAS_FRAME_POINTERS: bool = true;
/// Whether a null frame pointer marks the outermost frame where such code begins a
/// program.
pub const NULL_FP_ENDS: bool = true;

/// Whether the words at these addresses have these values; two at once in a
/// register of SSE2, which every x86_64 has.
///
/// # Safety
/// The words can be read, and the values begin at a multiple of 16.
#[inline(always)]
pub unsafe fn are_same(at: &[u64], was: &[u64]) -> bool {
    use core::arch::x86_64::{
        _mm_castpd_si128, _mm_cmpeq_epi8, _mm_load_sd, _mm_load_si128, _mm_loadh_pd,
        _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_setzero_si128, _mm_xor_si128,
    };
    let (eights, rest) = at.as_chunks::<8>();
    let (eights_were, rest_were) = was.as_chunks::<8>();
    let mut other = 0;
    for (&at, was) in rest.iter().zip(rest_were) {
        // SAFETY: by the caller.
        other |= unsafe { (at as *const u64).read() } ^ was;
    }
    // SAFETY: by the caller; each two values begin at a multiple of 16 as all do.
    unsafe {
        let both = |at: [u64; 2], was: &u64| {
            let now = _mm_loadh_pd(_mm_load_sd(at[0] as *const f64), at[1] as *const f64);
            let was = _mm_load_si128((was as *const u64).cast());
            _mm_xor_si128(_mm_castpd_si128(now), was)
        };
        let mut sum = _mm_set_epi64x(0, other as i64);
        for (&[a, b, c, d, e, f, g, h], were) in eights.iter().zip(eights_were) {
            let [first, _, third, _, fifth, _, seventh, _] = were;
            let here = _mm_or_si128(both([a, b], first), both([c, d], third));
            let there = _mm_or_si128(both([e, f], fifth), both([g, h], seventh));
            sum = _mm_or_si128(sum, _mm_or_si128(here, there));
        }
        _mm_movemask_epi8(_mm_cmpeq_epi8(sum, _mm_setzero_si128())) == 0xffff
    }
}

/// Fetches a line that will be read soon.
#[inline]
pub fn expect<T>(place: &T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch changes nothing, whatever the address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>((place as *const T).cast()) };
}

#[cfg(test)]
impl DoorFrame {
    /// The words of a frame, for a made-up stack.
    pub fn made_up(pc: u64, fp: u64) -> [u64; 10] {
        [0, 0, 0, 0, 0, 0, 0, fp, 0, pc]
    }
}
