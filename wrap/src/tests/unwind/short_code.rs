//! What a few instructions prove of a frame, and what they say of the frame pointer.

use crate::platform::arch::{self, code};
use crate::platform::rules::Saved;
use crate::tests::memory::Zeroed;
use crate::unwind::reading::{Candidate, Keeps, Leads, Reader};
use crate::unwind::row::{Cfa, Row};

/// Instructions that are read for one candidate.
const BUDGET: usize = 10_000;

/// What code at an address proves of a frame in it.
fn candidate(code: &[u8], start: usize, pc: usize, depth: i64) -> Option<Row> {
    let base = code.as_ptr() as u64;
    let mut reader = Reader::zeroed();
    let candidate = Candidate {
        pc: base + pc as u64,
        start: base + start as u64,
        sp: -depth,
        fp: i64::MIN,
        returns: true,
        is_left: true,
    };
    reader.renew(BUDGET);
    reader.proves(&candidate).then_some(reader.row)
}

const CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];
const PUSH_BX: u8 = 0x53;
const POP_BX: u8 = 0x5b;
const RET: u8 = 0xc3;

/// The first function never comes back from its call; behind it lies another.
#[test]
fn a_call_that_never_returns_leads_nowhere() {
    if !code::READS_CODE {
        return;
    }
    let outer = [&[0x48, 0x83, 0xec, 0x08][..], &CALL].concat();
    let inner = [&[PUSH_BX], &CALL[..], &[POP_BX, RET]].concat();
    let (begins, code) = (outer.len(), [outer, inner].concat());
    let pc = begins + 1 + CALL.len();
    let row = candidate(&code, begins, pc, 8).expect("it is the inner one's frame");
    assert_eq!(row.cfa, Cfa::Register(arch::SP as u64, 16));
    assert_eq!(row.of(3), Saved::At(-16));
    assert_eq!(
        candidate(&code, 0, pc, 16),
        None,
        "as a part of the outer one"
    );
    assert_eq!(candidate(&code, 0, pc, 8), None);
    assert_eq!(candidate(&code, begins, pc, 24), None);
    assert_eq!(
        candidate(&code, 0, begins, 8),
        None,
        "the outer one never returns"
    );
}

#[test]
fn what_says_two_things_proves_nothing() {
    if !code::READS_CODE {
        return;
    }
    // push; call; je past the pop; pop; ret: by one way the stack is left as it
    // was, by the other it is not.
    let code = [&[PUSH_BX], &CALL[..], &[0x74, 1, POP_BX, RET]].concat();
    assert_eq!(candidate(&code, 0, 1 + CALL.len(), 8), None);
    // The same with two pops.
    let right = [&[PUSH_BX], &CALL[..], &[0x74, 2, POP_BX, RET, POP_BX, RET]].concat();
    assert!(candidate(&right, 0, 1 + CALL.len(), 8).is_some());
    // A register that is not given back.
    let kept = [&[PUSH_BX], &CALL[..], &[0x59, RET]].concat();
    assert_eq!(candidate(&kept, 0, 1 + CALL.len(), 8), None);
}

#[test]
fn code_without_an_end_is_given_up() {
    if !code::READS_CODE {
        return;
    }
    let mut code = vec![0x90; 8000];
    code[0] = PUSH_BX;
    code[4000..4005].copy_from_slice(&CALL);
    *code.last_mut().unwrap() = RET;
    assert_eq!(candidate(&code, 0, 4005, 8), None);
    // Nor is what cannot be read.
    assert_eq!(candidate(&[PUSH_BX, 0x06, RET], 0, 1, 8), None);
}

/// Whatever was read before, and how much.
#[test]
fn what_leads_straight_on_is_looked_at_anew() {
    if !code::READS_CODE {
        return;
    }
    let code = [&[0x90], &CALL[..], &[0x90, RET]].concat();
    let base = code.as_ptr() as u64;
    let mut reader = Reader::zeroed();
    for _ in 0..2 {
        assert!(reader.leads_straight(base, |at| at == base + 7));
        assert!(
            !reader.leads_straight(base, |at| at == base + 8),
            "past a return"
        );
        reader.renew(0);
    }
}

/// A function left by its frame pointer, however it is told; one that has none
/// is not, nor is one that begins behind a call that does not return.
#[test]
fn a_frame_pointer_is_kept_where_it_is_given_back() {
    const NOTHING: &[u8] = &[0x90; 16];
    const ANY: i64 = i64::MIN;
    let cases: [(&str, &[u8], i64, Keeps); 21] = [
        ("leave; ret", &[0xc9, 0xc3], ANY, Keeps::Surely),
        (
            "mov %rbp,%rsp; pop %rbp; pop %r10; lea (%rsp,%r8,8),%rsp; push %r10; ret",
            &[
                0x48, 0x8b, 0xe5, 0x5d, 0x41, 0x5a, 0x4a, 0x8d, 0x24, 0xc4, 0x41, 0x52, 0xc3,
            ],
            ANY,
            Keeps::Surely,
        ),
        (
            "lea -8(%rbp),%rsp; pop %rbx; pop %rbp; ret",
            &[0x48, 0x8d, 0x65, 0xf8, 0x5b, 0x5d, 0xc3],
            ANY,
            Keeps::Surely,
        ),
        (
            "shr $2,%eax; leave; ret",
            &[0xc1, 0xe8, 0x02, 0xc9, 0xc3],
            ANY,
            Keeps::Surely,
        ),
        (
            "add $24,%rsp; pop %rbp; ret",
            &[0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3],
            24,
            Keeps::Surely,
        ),
        (
            "the same, and fp leads elsewhere",
            &[0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3],
            32,
            Keeps::Not,
        ),
        (
            "the same, and nobody knows",
            &[0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3],
            ANY,
            Keeps::Not,
        ),
        (
            "add $24,%rsp; ret",
            &[0x48, 0x83, 0xc4, 0x18, 0xc3],
            24,
            Keeps::Never,
        ),
        (
            "je to leave; ret, else add $24,%rsp; ret",
            &[0x74, 0x05, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0xc9, 0xc3],
            ANY,
            Keeps::Never,
        ),
        (
            "mov -64(%rbp),%r13; add $8,%rsp; ret",
            &[0x4c, 0x8b, 0x6d, 0xc0, 0x48, 0x83, 0xc4, 0x08, 0xc3],
            ANY,
            Keeps::Not,
        ),
        (
            "je to leave; ret, else another function's end",
            &[0x74, 0x01, 0xc3, 0xc9, 0xc3],
            ANY,
            Keeps::Surely,
        ),
        (
            "call; push %rbp; mov %rsp,%rbp; leave; ret",
            &[0xff, 0xd0, 0x55, 0x48, 0x89, 0xe5, 0xc9, 0xc3],
            0,
            Keeps::Not,
        ),
        (
            "call of one that never returns; leave; ret",
            &[0xe8, 2, 0, 0, 0, 0xc9, 0xc3, 0x0f, 0x0b],
            ANY,
            Keeps::Perhaps,
        ),
        (
            "je to what is not known; call of one that never returns; leave; ret",
            &[0x74, 0x09, 0xe8, 2, 0, 0, 0, 0xc9, 0xc3, 0x0f, 0x0b, 0x62],
            ANY,
            Keeps::Unread,
        ),
        (
            "call *%rax; leave; ret",
            &[0xff, 0xd0, 0xc9, 0xc3],
            ANY,
            Keeps::Surely,
        ),
        (
            "call *0(%rip), nobody knows where; leave; ret",
            &[0xff, 0x15, 0, 0, 0, 0, 0xc9, 0xc3],
            ANY,
            Keeps::Perhaps,
        ),
        (
            "mov -8(%rbp),%r10; leave; lea -8(%r10),%rsp; ret",
            &[0x4c, 0x8b, 0x55, 0xf8, 0xc9, 0x49, 0x8d, 0x62, 0xf8, 0xc3],
            ANY,
            Keeps::Not,
        ),
        (
            "mov (%rbp),%rbp; add $40,%rsp; jmp *%rcx",
            &[0x48, 0x8b, 0x6d, 0x00, 0x48, 0x83, 0xc4, 0x28, 0xff, 0xe1],
            32,
            Keeps::Surely,
        ),
        (
            "the same, and what was called took an argument",
            &[0x48, 0x8b, 0x6d, 0x00, 0x48, 0x83, 0xc4, 0x28, 0xff, 0xe1],
            40,
            Keeps::Surely,
        ),
        (
            "the same without the room",
            &[0x48, 0x8b, 0x6d, 0x00, 0xff, 0xe1],
            32,
            Keeps::Not,
        ),
        (
            "mov (%rbp),%rbp; add $24,%rsp; pop %rbp; ret",
            &[0x48, 0x8b, 0x6d, 0x00, 0x48, 0x83, 0xc4, 0x18, 0x5d, 0xc3],
            0,
            Keeps::Not,
        ),
    ];
    if !code::READS_CODE {
        return;
    }
    let mut reader = Reader::zeroed();
    for (name, bytes, fp, keeps) in cases {
        let code = [bytes, NOTHING].concat();
        reader.renew(BUDGET);
        assert_eq!(reader.keeps_fp(code.as_ptr() as u64, fp), keeps, "{name}");
    }
}

/// What leads from where a function begins to a frame with a frame pointer.
#[test]
fn a_call_leads_to_a_frame_or_elsewhere() {
    if !code::READS_CODE {
        return;
    }
    const CALL_NEXT: [u8; 5] = [0xe8, 0, 0, 0, 0];
    let frame = [0x55, 0x48, 0x89, 0xe5];
    let room = [0x48, 0x83, 0xec, 0x10];
    let told = |code: &[u8], pc: usize, sp: i64| {
        let start = code.as_ptr() as u64;
        let candidate = Candidate {
            pc: start + pc as u64,
            start,
            sp,
            fp: -8,
            returns: true,
            is_left: true,
        };
        let mut reader = Reader::zeroed();
        reader.renew(BUDGET);
        reader.leads(&candidate)
    };
    // push %rbp; mov %rsp,%rbp; sub $16,%rsp; call
    let own = [&frame[..], &room, &CALL_NEXT, &[0xc9, 0xc3, 0xcc]].concat();
    let pc = own.len() - 3;
    assert_eq!(told(&own, pc, -24), Leads::Surely);
    assert_eq!(told(&own, pc, -32), Leads::Otherwise, "another depth");
    assert_eq!(told(&own, pc + 1, -24), Leads::Nowhere, "not behind a call");
    // The same behind a call of one that never returns, by itself: ud2.
    let never = [
        &frame[..],
        &room,
        &[0xe8, 8, 0, 0, 0],
        &CALL_NEXT,
        &[0xc9, 0xc3, 0xcc, 0x0f, 0x0b],
    ]
    .concat();
    assert_eq!(told(&never, 18, -24), Leads::Perhaps);
    assert_eq!(told(&never, 13, -24), Leads::Surely, "the call itself");
    // One that makes no frame: sub $8,%rsp; call
    let bare = [
        &[0x48, 0x83, 0xec, 0x08],
        &CALL_NEXT[..],
        &[0x48, 0x83, 0xc4, 0x08, 0xc3, 0xcc],
    ]
    .concat();
    assert_eq!(told(&bare, 9, -8), Leads::Otherwise);
    // jmp *%rax: nobody knows.
    assert_eq!(
        told(&[0xff, 0xe0, 0x90, 0x90, 0x90, 0x90], 5, -8),
        Leads::Unread
    );
}

/// Where a program begins the caller's frame pointer is dropped, and kept by all
/// that has a caller.
#[test]
fn what_drops_its_callers_frame_pointer_has_none() {
    if !code::READS_CODE {
        return;
    }
    let drops = |code: &[u8], to: usize| {
        let (from, mut reader) = (code.as_ptr() as u64, Reader::zeroed());
        reader.renew(BUDGET);
        reader.drops_callers_fp(from, from + to as u64)
    };
    // mov %rsp,%rdi; call; and $-16,%rsp; xor %ebp,%ebp; call
    let loader = [
        &[0x48, 0x89, 0xe7],
        &CALL[..],
        &[0x48, 0x83, 0xe4, 0xf0, 0x31, 0xed],
        &CALL,
        &[0; 16],
    ]
    .concat();
    assert!(drops(&loader, 19));
    assert!(!drops(&loader, 8), "not yet");
    assert!(!drops(&loader, 18), "inside of an instruction");
    // push %rbp; xor %ebp,%ebp; call
    let counts = [&[0x55, 0x31, 0xed], &CALL[..], &[0; 16]].concat();
    assert!(!drops(&counts, 8));
    // sub $8,%rsp; call
    assert!(!drops(
        &[&[0x48, 0x83, 0xec, 0x08], &CALL[..], &[0; 16]].concat(),
        9
    ));
    // xor %ebp,%ebp; ret; call: the next function
    assert!(!drops(
        &[&[0x31, 0xed, 0xc3], &CALL[..], &[0; 16]].concat(),
        8
    ));
    // As glibc's newest loader, over something: test; je over; syscall; over: xor %ebp,%ebp; call
    let over = [
        &[0x85, 0xd2, 0x74, 0x02, 0x0f, 0x05, 0x31, 0xed],
        &CALL[..],
        &[0; 16],
    ]
    .concat();
    assert!(drops(&over, 13));
    // test; je over; xor %ebp,%ebp; over: call
    let around = [&[0x85, 0xd2, 0x74, 0x02, 0x31, 0xed], &CALL[..], &[0; 16]].concat();
    assert!(!drops(&around, 11), "not by all ways");
    // xor %ebp,%ebp; test; je behind; call
    let behind = [&[0x31, 0xed, 0x85, 0xd2, 0x74, 0x10], &CALL[..], &[0; 16]].concat();
    assert!(!drops(&behind, 11), "there may be another end");
}

/// A loop that pops less than it pushes, as where functions pop their own
/// arguments, hides no way out.
#[test]
fn a_drifting_stack_pointer_hides_no_frame_pointer() {
    if !code::READS_CODE {
        return;
    }
    // push; test; je out; call; jmp back; int3; out: leave; ret
    let mut code = vec![
        0x50_u8, 0x85, 0xc0, 0x74, 0x05, 0xff, 0xd0, 0xeb, 0xf7, 0xcc, 0xc9, 0xc3,
    ];
    code.resize(32, 0x90);
    let mut reader = Reader::zeroed();
    reader.renew(BUDGET);
    assert_eq!(reader.keeps_fp(code.as_ptr() as u64, 0), Keeps::Surely);
}
