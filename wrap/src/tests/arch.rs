//! The pure rules of every processor, on whatever this runs on: what a packed
//! rule keeps comes out again, and a signal's frame is read where the kernel
//! writes it, by a second description of its structs.
#![allow(unsafe_code)]
//! # Safety
//! A door's frame is made of words that live as long as it is looked at.

use crate::platform::arch::{
    aarch64, arm, mips64, mips64_elf, powerpc64, riscv64, s390x, x86, x86_64,
};
use crate::platform::rules::Saved;
use crate::unwind::rule::Rule;
use std::collections::HashSet;
use std::mem::offset_of;

const UNTOUCHED: [Saved; 3] = [Saved::Unset, Saved::Same, Saved::Undefined];

#[test]
fn x86_pushes_the_address_and_saves_fp_anywhere() {
    for (word, return_below, fp_below, saved_words) in [
        (
            8,
            x86_64::return_below as fn(u64) -> u64,
            x86_64::fp_below as fn(u64) -> u64,
            x86_64::saved_words as fn(Saved, Saved) -> Option<u64>,
        ),
        (4, x86::return_below, x86::fp_below, x86::saved_words),
    ] {
        let unsigned = word as u64;
        for fp in UNTOUCHED {
            let saved = saved_words(Saved::At(-word), fp).unwrap();
            assert_eq!((return_below(saved), fp_below(saved)), (unsigned, 0));
        }
        for below in [2 * word, 3 * word, 4096] {
            let saved = saved_words(Saved::At(-word), Saved::At(-below)).unwrap();
            assert_eq!(
                (return_below(saved), fp_below(saved)),
                (unsigned, below as u64)
            );
        }
        let half = word / 2;
        for (address, fp) in
            [(-4, -6), (2, -4), (-2, 2), (-2, -3)].map(|(at, fp)| (at * half, fp * half))
        {
            assert_eq!(saved_words(Saved::At(address), Saved::At(fp)), None);
        }
        assert_eq!(saved_words(Saved::Same, Saved::Unset), None);
        assert_eq!(saved_words(Saved::At(-word), Saved::In(3)), None);
    }
}

#[test]
fn arm_saves_fp_a_few_words_below_the_address() {
    use arm::{fp_below, return_below, saved_words};
    // The second below four arguments that a function of any number keeps.
    for below in [4, 20, 4092, 4 * 1023] {
        for further in 1..8 {
            let fp = Saved::At(-below - 4 * further);
            let both = saved_words(Saved::At(-below), fp).unwrap();
            let wanted = (below as u64, (below + 4 * further) as u64);
            assert_eq!((return_below(both), fp_below(both)), wanted);
        }
        for fp in UNTOUCHED {
            let one = saved_words(Saved::At(-below), fp).unwrap();
            assert_eq!((return_below(one), fp_below(one)), (below as u64, 0));
        }
        for fp in [-below - 32, -below + 4, -below, -below - 6].map(Saved::At) {
            assert_eq!(saved_words(Saved::At(-below), fp), None);
        }
    }
    // A leaf that was interrupted has its address in the register still.
    for address in [Saved::Unset, Saved::Same, Saved::At(0), Saved::At(-6)] {
        assert_eq!(saved_words(address, Saved::Unset), None);
    }
    assert_eq!(arm::strip(0x1235), 0x1234);
}

#[test]
fn both_are_saved_beside_each_other_or_the_address_alone() {
    for (return_below, fp_below, saved_words) in [
        (
            aarch64::return_below as fn(u64) -> u64,
            aarch64::fp_below as fn(u64) -> u64,
            aarch64::saved_words as fn(Saved, Saved) -> Option<u64>,
        ),
        (mips64::return_below, mips64::fp_below, mips64::saved_words),
        (
            riscv64::return_below,
            riscv64::fp_below,
            riscv64::saved_words,
        ),
    ] {
        // On some below eight arguments that a function of any number keeps.
        for below in [8, 16, 24, 72, 4096, 8 * 4095] {
            let both = saved_words(Saved::At(-below), Saved::At(-below - 8)).unwrap();
            let wanted = (below as u64, below as u64 + 8);
            assert_eq!((return_below(both), fp_below(both)), wanted);
            for fp in UNTOUCHED {
                let one = saved_words(Saved::At(-below), fp).unwrap();
                assert_eq!((return_below(one), fp_below(one)), (below as u64, 0));
            }
            let others = [
                Saved::At(-below - 16),
                Saved::At(-below + 8),
                Saved::In(9),
                Saved::In(16),
            ];
            for fp in others {
                assert_eq!(saved_words(Saved::At(-below), fp), None);
            }
        }
        // A leaf that was interrupted has its address in the register still.
        let others = [0, 8, -12, i64::MIN].map(Saved::At);
        for address in others.into_iter().chain([Saved::Unset, Saved::Same]) {
            assert_eq!(saved_words(address, Saved::Unset), None);
        }
    }
}

#[test]
fn s390x_saves_all_in_the_callers_area() {
    use s390x::{fp_below, return_below, saved_words};
    let both = saved_words(Saved::At(-48), Saved::At(-72)).unwrap();
    assert_eq!((return_below(both), fp_below(both)), (48, 72));
    for fp in UNTOUCHED {
        let one = saved_words(Saved::At(-48), fp).unwrap();
        assert_eq!((return_below(one), fp_below(one)), (48, 0));
    }
    // Leaf functions keep registers in those of floating point.
    assert_eq!(saved_words(Saved::In(16), Saved::Unset), None);
    assert_eq!(saved_words(Saved::At(-48), Saved::In(17)), None);
    assert_eq!(saved_words(Saved::At(-56), Saved::Unset), None);
}

#[test]
fn powerpc64_needs_no_rule() {
    use powerpc64::{BACK_CHAIN, return_below, saved_words};
    const { assert!(BACK_CHAIN) };
    assert_eq!(saved_words(Saved::At(16), Saved::Unset), None);
    let sp = 4096u64;
    assert_eq!(sp.wrapping_sub(return_below(0)), sp + 16);
}

/// What all kernels' user contexts begin with.
#[repr(C)]
struct Common {
    flags: u64,
    link: u64,
    stack: [u64; 3],
}

/// Places of registers in a signal's frame, by DWARF number.
fn check(
    found: &[(usize, u64)],
    at: [u64; 3],
    wanted: &[(usize, usize)],
    [pc, sp, fp]: [usize; 3],
) {
    let numbers: HashSet<usize> = found.iter().map(|&(number, _)| number).collect();
    assert_eq!(numbers.len(), found.len(), "a register twice");
    assert_eq!(found.len(), wanted.len());
    let place = |wanted| {
        found
            .iter()
            .find(|&&(number, _)| number == wanted)
            .unwrap()
            .1
    };
    for &(number, offset) in wanted {
        assert_eq!(place(number), offset as u64, "register {number}");
    }
    assert_eq!(at, [place(pc), place(sp), place(fp)]);
}

#[test]
fn x86_64_signals() {
    #[repr(C)]
    struct Frame {
        common: Common,
        // r8 to r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip
        general: [u64; 17],
    }
    let order = [8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16];
    let place = |index| offset_of!(Frame, general) + 8 * index;
    let wanted: Vec<_> = order
        .into_iter()
        .enumerate()
        .map(|(index, number)| (number, place(index)))
        .collect();
    check(
        x86_64::INTERRUPTED,
        x86_64::INTERRUPTED_AT,
        &wanted,
        [x86_64::PC, x86_64::SP, x86_64::FP],
    );
}

#[test]
fn arm_signals() {
    #[repr(C)]
    struct Context {
        flags: u32,
        link: u32,
        stack: [u32; 3],
        trap: [u32; 3],
        general: [u32; 16],
    }
    #[repr(C)]
    struct Frame {
        info: [u8; 128],
        context: Context,
    }
    let general = offset_of!(Frame, context) + offset_of!(Context, general);
    let wanted: Vec<_> = (0..16)
        .map(|number| (number, general + 4 * number))
        .collect();
    let [pc, sp, fp] = [arm::PC, arm::SP, arm::FP];
    check(arm::INTERRUPTED, arm::INTERRUPTED_AT, &wanted, [pc, sp, fp]);
    // The others' frame is that without its beginning; ARM's words and Thumb's.
    let info = size_of::<[u8; 128]>() as u64;
    let of = |number: u32| [0xe3a0_7000 | number, 0xef00_0000].map(u32::to_le_bytes);
    let narrow = |number: u16| [0x2700 | number, 0xdf00].map(u16::to_le_bytes);
    for (number, lower) in [(173, 0), (119, info)] {
        let rule = |code: &[u8]| {
            let mut known = arm::TRAMPOLINES.iter();
            known.find(|(bytes, _)| code.starts_with(bytes)).unwrap().1
        };
        assert_eq!(rule(of(number).as_flattened()), lower);
        assert_eq!(rule(narrow(number as u16).as_flattened()), lower);
        assert_eq!(Rule::signal(lower).lower(), lower);
    }
}

/// What the kernel calls sigcontext_32.
#[repr(C)]
struct X86Context {
    segments: [u32; 4],
    // edi, esi, ebp, esp, ebx, edx, ecx, eax, trap, error, eip
    general: [u32; 11],
}

#[test]
fn x86_signals() {
    #[repr(C)]
    struct Frame {
        number: u32,
        pointers: [u32; 2],
        info: [u8; 128],
        flags: u32,
        link: u32,
        stack: [u32; 3],
        context: X86Context,
    }
    let general = offset_of!(Frame, context) + offset_of!(X86Context, general);
    let order = [
        (0, 7),
        (1, 6),
        (2, 5),
        (3, 4),
        (4, 3),
        (5, 2),
        (6, 1),
        (7, 0),
        (10, 8),
    ];
    let wanted = order.map(|(index, number)| (number, general + 4 * index));
    check(
        x86::INTERRUPTED,
        x86::INTERRUPTED_AT,
        &wanted,
        [x86::PC, x86::SP, x86::FP],
    );
}

#[test]
fn x86_signals_without_siginfo() {
    #[repr(C)]
    struct Frame {
        number: u32,
        context: X86Context,
    }
    let popl_and_call = [0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80];
    let mut known = x86::TRAMPOLINES.iter();
    let &(_, lower) = known
        .find(|(code, _)| popl_and_call.starts_with(code))
        .unwrap();
    assert_eq!(Rule::signal(lower).lower(), lower);
    let place = x86::INTERRUPTED_AT[0] - lower;
    let general = offset_of!(Frame, context) + offset_of!(X86Context, general);
    assert_eq!(place as usize, general + 4 * 10);
}

#[test]
fn aarch64_signals() {
    #[repr(C, align(16))]
    struct Context {
        fault: u64,
        general: [u64; 31],
        sp: u64,
        pc: u64,
    }
    #[repr(C)]
    struct Frame {
        info: [u8; 128],
        common: Common,
        mask: [u8; 128],
        context: Context,
    }
    let place = |index| offset_of!(Frame, context) + offset_of!(Context, general) + 8 * index;
    let wanted: Vec<_> = (0..33).map(|number| (number, place(number))).collect();
    check(
        aarch64::INTERRUPTED,
        aarch64::INTERRUPTED_AT,
        &wanted,
        [aarch64::PC, aarch64::SP, aarch64::FP],
    );
}

#[test]
fn riscv64_signals() {
    #[repr(C, align(16))]
    struct Context {
        pc: u64,
        x1_to_x31: [u64; 31],
    }
    #[repr(C)]
    struct Frame {
        info: [u8; 128],
        common: Common,
        mask: [u8; 128],
        context: Context,
    }
    let place = |offset| offset_of!(Frame, context) + offset;
    let first = offset_of!(Context, x1_to_x31);
    let general = (1..32).map(|number| (number, place(first + 8 * (number - 1))));
    let mut wanted: Vec<_> = general.collect();
    wanted.push((riscv64::PC, place(offset_of!(Context, pc))));
    check(
        riscv64::INTERRUPTED,
        riscv64::INTERRUPTED_AT,
        &wanted,
        [riscv64::PC, riscv64::SP, riscv64::FP],
    );
}

#[test]
fn mips64_signals() {
    #[repr(C)]
    struct Context {
        general: [u64; 32],
        floating: [u64; 32],
        high_and_low: [[u64; 4]; 2],
        pc: u64,
    }
    #[repr(C)]
    struct Frame {
        arguments: [u32; 4],
        trampoline: [u32; 2],
        info: [u8; 128],
        common: Common,
        context: Context,
    }
    let place = |offset| offset_of!(Frame, context) + offset;
    let first = offset_of!(Context, general);
    let general = (1..32).map(|number| (number, place(first + 8 * number)));
    let mut wanted: Vec<_> = general.collect();
    wanted.push((mips64::PC, place(offset_of!(Context, pc))));
    check(
        mips64::INTERRUPTED,
        mips64::INTERRUPTED_AT,
        &wanted,
        [mips64::PC, mips64::SP, mips64::FP],
    );
}

/// The code that is known by its bytes, by the fields of the instructions.
#[test]
fn mips64_code() {
    let bytes = |words: &[u32]| -> Vec<u8> {
        let each = words.iter().map(|word| word.to_le_bytes());
        each.flatten().collect()
    };
    let nop = 0;
    let immediate =
        |operation: u32, s: u32, t: u32, value: u32| operation << 26 | s << 21 | t << 16 | value;
    let trampoline = bytes(&[immediate(9, 0, 2, 5211), 12]);
    assert_eq!(mips64::TRAMPOLINES, [(trampoline.as_slice(), 0)]);
    let to_itself = bytes(&[immediate(4, 0, 0, 0xffff), nop]);
    assert_eq!(mips64_elf::BEHIND_ENTRY, [to_itself.as_slice()]);
    // or, daddu
    for (last, function) in mips64::LAST.iter().zip([0x25_u32, 0x2d]) {
        let moved = |to: u32, from: u32| from << 21 | to << 11 | function;
        let wanted = bytes(&[moved(28, 17), immediate(4, 16, 0, 6), moved(4, 0)]);
        assert_eq!(*last, wanted);
    }
}

#[repr(C)]
struct StatusAndRegisters {
    mask: u64,
    address: u64,
    general: [u64; 16],
    access: [u32; 16],
    control: u64,
    floating: [u64; 16],
}

#[test]
fn s390x_signals() {
    #[repr(C)]
    struct Frame {
        area: [u8; 160],
        instruction: u16,
        info: [u64; 16],
        common: Common,
        context: StatusAndRegisters,
    }
    let place = |offset| offset_of!(Frame, context) + offset;
    let general = |index| place(offset_of!(StatusAndRegisters, general) + 8 * index);
    let floating = |index| place(offset_of!(StatusAndRegisters, floating) + 8 * index);
    let mut wanted: Vec<_> = (0..16).map(|number| (number, general(number))).collect();
    let order = [0usize, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
    for (number, register) in order.into_iter().enumerate() {
        wanted.push((16 + number, floating(register)));
    }
    wanted.push((s390x::PC, place(offset_of!(StatusAndRegisters, address))));
    check(
        s390x::INTERRUPTED,
        s390x::INTERRUPTED_AT,
        &wanted,
        [s390x::PC, s390x::SP, s390x::FP],
    );
}

#[test]
fn s390x_signals_without_siginfo() {
    #[repr(C)]
    struct Frame {
        area: [u8; 160],
        mask: u64,
        pointer: u64,
        context: StatusAndRegisters,
    }
    let (_, lower) = s390x::TRAMPOLINES[1];
    let place = s390x::INTERRUPTED_AT[0] - lower;
    assert_eq!(
        place as usize,
        offset_of!(Frame, context) + offset_of!(StatusAndRegisters, address)
    );
}

#[test]
fn powerpc64_signals() {
    #[repr(C)]
    struct Frame {
        area: [u8; 128],
        common: Common,
        mask: [u64; 16],
        reserved: [u64; 4],
        signal: [u32; 2],
        handler: u64,
        old_mask: u64,
        registers: u64,
        general: [u64; 48],
    }
    let place = |index| offset_of!(Frame, general) + 8 * index;
    let mut wanted: Vec<_> = (0..32).map(|number| (number, place(number))).collect();
    wanted.extend([(powerpc64::PC, place(32)), (powerpc64::RA, place(36))]);
    let [pc, sp, fp] = [powerpc64::PC, powerpc64::SP, powerpc64::FP];
    check(
        powerpc64::INTERRUPTED,
        powerpc64::INTERRUPTED_AT,
        &wanted,
        [pc, sp, fp],
    );
}

/// The trampoline of an emulator that puts its frame 16 bytes further up.
#[test]
fn powerpc64_signals_under_qemu() {
    let bytes: Vec<_> = [0x3800_00ac_u32, 0x4400_0002]
        .iter()
        .flat_map(|word| word.to_ne_bytes())
        .collect();
    let mut known = powerpc64::TRAMPOLINES.iter();
    let &(_, lower) = known.find(|(code, _)| bytes.starts_with(code)).unwrap();
    assert_eq!(Rule::signal(lower).lower() as i64, -16);
    assert_eq!(Rule::signal(0).lower(), 0);
    assert_eq!(Rule::signal(4096).lower(), 4096);
}

/// A made-up door's frame says what was put into it, and its mark stands where
/// who looks for it looks.
macro_rules! doors {
    ($($arch:ident)*) => {$(
        #[test]
        fn $arch() {
            use crate::platform::arch::$arch::{DoorFrame, FP, RA, SP};
            let words = DoorFrame::made_up(0x1234, 0x5678);
            let at = words.as_ptr();
            // SAFETY: the words of one.
            let frame = unsafe { &*at.cast::<DoorFrame>() };
            let end = at as u64 + 8 * words.len() as u64;
            assert_eq!((frame.pc(), frame.sp(), frame.fp()), (0x1234, end, 0x5678));
            let registers = frame.registers();
            assert_eq!([registers[RA], registers[SP], registers[FP]], [0x1234, end, 0x5678]);
            frame.mark();
            // SAFETY: a word of the array, which the frame may write to.
            let mark = unsafe { ((end - DoorFrame::MARK_BELOW) as *const u64).read_volatile() };
            assert_eq!(mark, DoorFrame::mark_of(end));
        }
    )*};
}

mod doors {
    doors!(aarch64 arm mips64 riscv64 s390x x86 x86_64);
}
