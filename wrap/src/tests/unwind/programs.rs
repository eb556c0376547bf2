//! Random unwind programs: every instruction of DWARF, in any order, with any
//! operand, against gimli. Real files use a dozen of them.
#![allow(unsafe_code)]
//! # Safety
//! Tables are leaked, so what points into them stays readable.

use super::same::{Slice, difference};
use crate::platform::arch::RA;
use crate::platform::bytes::Cursor;
use crate::platform::rules::Saved;
use crate::tests::memory::Zeroed;
use crate::tests::random::Random;
use crate::unwind::cfi::{Common, Description, describe_in_table};
use crate::unwind::row::{Cfa, Machine};
use gimli::{BaseAddresses, EhFrame, NativeEndian, UnwindContext, UnwindSection};

/// The code that the tables speak of; there is nothing there.
pub const START: u64 = 0x10_0000;
const LENGTH: u64 = 1 << 24;

pub fn uleb(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn sleb(out: &mut Vec<u8>, mut value: i64) {
    while !(-64..64).contains(&value) {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8 & 0x7f);
}

/// What a table has at its head.
struct Shape {
    version: u8,
    code_factor: u64,
    data_factor: i64,
    /// Encoding of addresses: absolute or relative, of several sizes.
    encoding: u8,
    is_signal: bool,
}

/// Appends an address in an encoding that stands at `place`.
fn address(out: &mut Vec<u8>, encoding: u8, value: u64, place: u64) {
    let value = if encoding & 0xf0 == 0x10 {
        value.wrapping_sub(place)
    } else {
        value
    };
    match encoding & 0x0f {
        0x0 | 0x4 | 0xc => out.extend(value.to_ne_bytes()),
        0x3 | 0xb => out.extend((value as u32).to_ne_bytes()),
        other => panic!("no such encoding here: {other}"),
    }
}

/// A record with its length in front, padded as assemblers do.
fn record(out: &mut Vec<u8>, content: &[u8]) {
    let bytes = (content.len() as u32).next_multiple_of(8) + 4;
    out.extend(bytes.to_ne_bytes());
    out.extend(content);
    out.resize(out.len().next_multiple_of(4), 0);
    let missing = (bytes as usize + 4) - (content.len().next_multiple_of(4) + 4);
    out.resize(out.len() + missing, 0);
}

/// A whole table with one description, in memory that stays.
fn table(shape: &Shape, common: &[u8], program: &[u8]) -> &'static [u8] {
    // Relative addresses depend on the place: the room is taken first.
    let room = vec![0u8; 4096 + 2 * (common.len() + program.len())].leak();
    let mut out = Vec::new();
    let mut head = vec![0, 0, 0, 0, shape.version];
    head.extend(if shape.is_signal {
        &b"zRS\0"[..]
    } else {
        b"zR\0"
    });
    uleb(&mut head, shape.code_factor);
    sleb(&mut head, shape.data_factor);
    head.push(16);
    head.extend([1, shape.encoding]);
    head.extend(common);
    record(&mut out, &head);
    let mut body = Vec::new();
    let place = out.len() as u64 + 4;
    body.extend((place as u32).to_ne_bytes());
    address(
        &mut body,
        shape.encoding,
        START,
        room.as_ptr() as u64 + place + 4,
    );
    address(&mut body, shape.encoding & 0x0f, LENGTH, 0);
    body.push(0);
    body.extend(program);
    record(&mut out, &body);
    out.extend([0; 4]);
    room[..out.len()].copy_from_slice(&out);
    &room[..out.len()]
}

/// Writes one random instruction. gimli remembers rows to a smaller depth than
/// the recorder, so programs stay below that.
fn instruction(out: &mut Vec<u8>, random: &mut Random, depth: &mut u32) {
    let register = random.below(24);
    let small = random.below(300);
    let signed = random.below(600) as i64 - 300;
    match random.below(24) {
        0 => out.push(0),
        1..=3 => out.push(0x40 | random.below(64) as u8),
        4 => out.extend([0x02, small as u8]),
        5 => {
            out.push(0x03);
            out.extend((small as u16).to_ne_bytes());
        }
        6 => {
            out.push(0x04);
            out.extend((small as u32).to_ne_bytes());
        }
        7 | 8 => {
            out.push(0x80 | register as u8);
            uleb(out, small);
        }
        9 => out.push(0xc0 | register as u8),
        10 => operands(out, 0x05, &[register, small]),
        11 => operands(out, 0x06, &[register]),
        12 => operands(out, 0x07 + random.below(2) as u8, &[register]),
        13 => operands(out, 0x09, &[register, random.below(20)]),
        14 if *depth < 2 => {
            *depth += 1;
            out.push(0x0a);
        }
        15 if *depth > 0 => {
            *depth -= 1;
            out.push(0x0b);
        }
        16 => operands(out, 0x0c, &[register, small]),
        17 => operands(out, 0x0d, &[register]),
        18 => operands(out, 0x0e, &[small]),
        19 => signed_operands(
            out,
            [0x11, 0x12, 0x15][random.below(3) as usize],
            register,
            signed,
        ),
        20 => {
            out.push(0x13);
            sleb(out, signed);
        }
        21 => operands(out, 0x14, &[register, small]),
        22 => expression(out, random, register),
        _ => operands(out, 0x2e, &[small]),
    }
}

fn operands(out: &mut Vec<u8>, operation: u8, values: &[u64]) {
    out.push(operation);
    values.iter().for_each(|&value| uleb(out, value));
}

fn signed_operands(out: &mut Vec<u8>, operation: u8, register: u64, value: i64) {
    operands(out, operation, &[register]);
    sleb(out, value);
}

/// One of the three instructions with an expression; what it says is opaque.
fn expression(out: &mut Vec<u8>, random: &mut Random, register: u64) {
    let operation = [0x0f, 0x10, 0x16][random.below(3) as usize];
    let bytes: Vec<u8> = (0..random.below(12)).map(|_| random.next() as u8).collect();
    let registers: &[u64] = if operation == 0x0f { &[] } else { &[register] };
    operands(out, operation, registers);
    uleb(out, bytes.len() as u64);
    out.extend(bytes);
}

fn random_shape(random: &mut Random) -> Shape {
    Shape {
        version: [1, 3][random.below(2) as usize],
        code_factor: [1, 1, 4][random.below(3) as usize],
        data_factor: [-8, -4, 1][random.below(3) as usize],
        encoding: [0x00, 0x03, 0x04, 0x0b, 0x10, 0x1c][random.below(6) as usize],
        is_signal: random.below(2) == 0,
    }
}

/// Compares all rows; how many, and whether gimli met an error.
fn compare(bytes: &'static [u8], machine: &mut Machine) -> (usize, bool) {
    let (start, end) = (
        bytes.as_ptr() as u64,
        bytes.as_ptr() as u64 + bytes.len() as u64,
    );
    let section = EhFrame::new(bytes, NativeEndian);
    let bases = BaseAddresses::default().set_eh_frame(start);
    let theirs = section
        .fde_for_address(&bases, START, EhFrame::<Slice>::cie_from_offset)
        .unwrap();
    let ours = describe_in_table(start, end, START).expect("the description");
    assert_eq!(
        (ours.start, ours.end),
        (theirs.initial_address(), theirs.end_address())
    );
    assert_eq!(ours.common.is_signal, theirs.is_signal_trampoline());
    let mut context = UnwindContext::new();
    let Ok(mut rows) = theirs.rows(&section, &bases, &mut context) else {
        return (0, true);
    };
    let (mut compared, mut next) = (0, START);
    loop {
        match rows.next_row() {
            Ok(None) => return (compared, false),
            Err(_) => {
                assert!(
                    machine.run(&ours, next).is_none(),
                    "gimli refuses the row at {next:#x}: {bytes:x?}"
                );
                return (compared, true);
            }
            Ok(Some(row)) => {
                next = row.end_address();
                for at in [row.start_address(), next.wrapping_sub(1)] {
                    if row.start_address() < next {
                        let mine = machine.run(&ours, at);
                        let mine = mine.unwrap_or_else(|| panic!("no row at {at:#x}: {bytes:x?}"));
                        let differs = difference(&section, mine, row);
                        assert!(
                            differs.is_none(),
                            "{at:#x}: {} in {bytes:x?}",
                            differs.unwrap()
                        );
                        compared += 1;
                    }
                }
            }
        }
    }
}

#[test]
fn random_programs() {
    let mut random = Random::new(11);
    let mut machine = Machine::zeroed();
    let (mut compared, mut whole) = (0, 0);
    for _ in 0..20_000 {
        let shape = random_shape(&mut random);
        let (mut common, mut program, mut depth) = (Vec::new(), Vec::new(), 0);
        operands(&mut common, 0x0c, &[7, 8]);
        operands(&mut common, 0x90, &[1]);
        for _ in 0..random.below(4) {
            operands(
                &mut common,
                0x80 | random.below(16) as u8,
                &[random.below(9)],
            );
        }
        for _ in 0..1 + random.below(40) {
            instruction(&mut program, &mut random, &mut depth);
        }
        let (rows, refused) = compare(table(&shape, &common, &program), &mut machine);
        compared += rows;
        whole += usize::from(!refused);
    }
    println!("{compared} rows, {whole} programs to their end");
    assert!(compared > 100_000 && whole > 5_000);
}

#[test]
fn moves_to_an_address() {
    let mut machine = Machine::zeroed();
    for encoding in [0x00, 0x03, 0x04, 0x0b] {
        let shape = Shape {
            version: 1,
            code_factor: 4,
            data_factor: -8,
            encoding,
            is_signal: false,
        };
        let mut program = vec![0x01];
        address(&mut program, encoding, START + 100, 0);
        operands(&mut program, 0x0e, &[16]);
        let bytes = table(&shape, &[0x0c, 7, 8], &program);
        assert_eq!(compare(bytes, &mut machine), (4, false), "{encoding:#x}");
    }
}

/// A description of this program and nothing before it.
pub fn described(program: &[u8]) -> Description {
    let bytes: &'static [u8] = program.to_vec().leak();
    let at = bytes.as_ptr() as u64;
    // SAFETY: leaked.
    let instructions = unsafe { Cursor::new(at, at + bytes.len() as u64) };
    let mut common = Common::default();
    (common.code_factor, common.data_factor) = (1, -8);
    common.return_register = RA as u64;
    Description {
        common,
        start: START,
        end: START + LENGTH,
        instructions,
    }
}

#[test]
fn a_register_alone_is_the_frame_address() {
    let mut machine = Machine::zeroed();
    let alone = described(&[0x0d, 2, 0x41, 0x0e, 16]);
    assert_eq!(machine.run(&alone, START).unwrap().cfa, Cfa::Register(2, 0));
    assert_eq!(
        machine.run(&alone, START + 1).unwrap().cfa,
        Cfa::Register(2, 16)
    );
}

#[test]
fn other_return_addresses_are_refused() {
    let mut machine = Machine::zeroed();
    let mut other = described(&[0x0c, 7, 8]);
    assert!(machine.run(&other, START).is_some());
    other.common.return_register = 5;
    assert!(machine.run(&other, START).is_none());
}

/// GNU's and other vendors' instructions, which gimli does not know here.
#[test]
fn instructions_of_vendors() {
    let mut machine = Machine::zeroed();
    let negative = described(&[0x2f, 3, 2]);
    assert_eq!(machine.run(&negative, START).unwrap().of(3), Saved::At(16));
    let signed = described(&[0x2d, 0x0c, 7, 8]);
    assert_eq!(
        machine.run(&signed, START).unwrap().cfa,
        Cfa::Register(7, 8)
    );
    let far = described(&[0x0c, 7, 8, 0x1d, 9, 0, 0, 0, 0, 0, 0, 0, 0x0e, 16]);
    assert_eq!(
        machine.run(&far, START + 8).unwrap().cfa,
        Cfa::Register(7, 8)
    );
    let big_endian = u64::from_ne_bytes([9, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(
        machine.run(&far, START + big_endian).unwrap().cfa,
        Cfa::Register(7, 16)
    );
}

#[test]
fn what_is_not_known_is_refused() {
    let mut machine = Machine::zeroed();
    let refused: [&[u8]; 9] = [
        &[0x17],
        &[0x3f],
        &[0x0b],
        &[0x0a; 9],
        &[0x0f, 0, 0x0d, 7],
        &[0x0e, 8],
        &[0x0f, 5, 0],
        &[0x0c, 0x80],
        &[0x04, 1, 2],
    ];
    for program in refused {
        assert!(
            machine.run(&described(program), START + 1).is_none(),
            "{program:x?}"
        );
        // And nothing of it is left behind.
        let next = described(&[0x0c, 7, 8]);
        let row = machine.run(&next, START).unwrap();
        assert_eq!(row.cfa, Cfa::Register(7, 8));
        assert!(row.saved.iter().all(|saved| *saved == Saved::Unset));
    }
}
