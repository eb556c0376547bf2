//! ARM's own unwind tables: an index of all functions, sorted, and for each a
//! few instructions that undo its frame, which hold behind its prologue.
//!
//! ```text
//! .ARM.exidx   distance to the function, then  1: nobody unwinds it
//!                                              bit 31: up to 3 instructions
//!                                              else the distance to a record
//! .ARM.extab   bit 31: whose routine (0 to 2), how many words follow, and
//!                instructions;
//!              else the distance to a language's routine, then a word with how
//!                many follow, and instructions
//! ```
//! They hold behind the prologue and before the epilogue, so that a frame that was
//! interrupted somewhere else is stepped from otherwise ([`LEAF`]), or only to
//! where a call returns ([`follows_call`]).
//!
//! Distances have 31 bits; instructions are the bytes of words from the highest
//! down, and end with the words or with one that says so.
#![allow(unsafe_code)]
//! # Safety
//! Cursors are made over the mapped range of a module.

use super::cfi::{Common, Description};
use super::row::{Cfa, Row};
use crate::platform::arch;
use crate::platform::bytes::Cursor;
use crate::platform::elf::image::ElfImage;
use crate::platform::rules::Saved;

/// Registers by number: r0 to r15.
const COUNT: usize = 16;
const SP: usize = 13;
const LR: usize = 14;
const PC: usize = 15;
/// Bytes of an entry of the index.
const ENTRY: u64 = 8;
/// Where a program begins no more code than this is its own.
const START_BYTES: u64 = 64;
/// In the place of instructions: nobody unwinds this.
const CANNOT: u32 = 1;

/// The description of an address of a module. Of what nobody unwinds there is
/// one only of where a program begins: elsewhere a caller is lost there.
pub fn describe(image: &ElfImage, address: u64) -> Option<Description> {
    let table = image.header..image.header.checked_add(image.header_bytes)?;
    if !(image.tables_start..=image.tables_end).contains(&table.end) {
        return None;
    }
    // SAFETY: a segment of a mapped module, and the table inside it.
    let bytes = unsafe { Cursor::new(table.start, image.tables_end) };
    let (start, end, second) = search(bytes, image.header_bytes / ENTRY, address)?;
    let mut found = Description {
        start,
        end: end.unwrap_or(image.high),
        ..Description::default()
    };
    let mut word = bytes;
    word.skip(second.checked_sub(bytes.at)?)?;
    let mut at_word = word;
    match at_word.u32()? {
        CANNOT => {
            // Neighbours that nobody unwinds have one entry.
            let first = image.entry..image.entry.saturating_add(START_BYTES).min(found.end);
            return first.contains(&address).then_some(found);
        }
        inline if inline >> 31 == 1 => {
            found.instructions = word.take(4)?;
            found.common = leaving(1);
        }
        distance => {
            let at = along(second, distance);
            let is_inside = (image.tables_start..image.tables_end).contains(&at);
            // SAFETY: inside that segment.
            let record = unsafe { Cursor::new(at, image.tables_end) };
            let (instructions, left_out) = is_inside.then(|| open(record)).flatten()?;
            found.instructions = instructions;
            found.common = leaving(left_out);
        }
    }
    // The C library's return trampolines, which are not unwound as functions.
    found.common.is_signal = undo(&found).is_some_and(|undone| undone.takes_sp);
    Some(found)
}

fn leaving(left_out: u8) -> Common {
    let mut common = Common::default();
    common.encoding = left_out;
    common
}

/// The address that a word of 31 bits says the distance to.
fn along(at: u64, word: u32) -> u64 {
    let distance = ((word << 1) as i32) >> 1;
    at.wrapping_add_signed(distance.into())
}

/// The last entry that starts at or before the address: its function, where the
/// next begins if there is one, and where its second word lies.
fn search(table: Cursor, count: u64, address: u64) -> Option<(u64, Option<u64>, u64)> {
    let start_of = |index: u64| {
        let mut bytes = table;
        bytes.skip(index.checked_mul(ENTRY)?)?;
        let at = bytes.at;
        Some(along(at, bytes.u32()?))
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        match start_of(middle)? <= address {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let index = low.checked_sub(1)?;
    let next = if low < count { start_of(low) } else { None };
    Some((start_of(index)?, next, table.at + index * ENTRY + 4))
}

/// The words of a record that have instructions, and how many bytes of the first
/// have none.
fn open(mut record: Cursor) -> Option<(Cursor, u8)> {
    let whole = record;
    let first = record.u32()?;
    let (mut words, left_out, more) = match (first >> 31, first >> 24 & 0x7f) {
        (1, 0) => (whole, 1, 0),
        (1, 1 | 2) => (whole, 2, first >> 16 & 0xff),
        (1, _) => return None,
        _ => (record, 1, {
            let mut peeked = record;
            peeked.u32()? >> 24
        }),
    };
    Some((words.take(4 + 4 * u64::from(more))?, left_out))
}

/// The instructions of a description, one byte after the other.
struct Instructions {
    words: Cursor,
    word: u32,
    left: u32,
}

impl Instructions {
    fn of(description: &Description) -> Option<Self> {
        let mut words = description.instructions;
        let left_out = u32::from(description.common.encoding);
        let word = words.u32()?.checked_shl(8 * left_out)?;
        Some(Self {
            words,
            word,
            left: 4 - left_out,
        })
    }

    fn next(&mut self) -> Option<u8> {
        if self.left == 0 {
            (self.word, self.left) = (self.words.u32()?, 4);
        }
        let byte = (self.word >> 24) as u8;
        (self.word, self.left) = (self.word << 8, self.left - 1);
        Some(byte)
    }

    fn uleb(&mut self) -> Option<u64> {
        let (mut value, mut shift) = (0u64, 0u32);
        loop {
            let byte = self.next()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte < 0x80 {
                return Some(value);
            }
        }
    }
}

/// What undoing a frame comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undone {
    /// The register that the caller's sp is found by, and how far from it that is.
    pub base: usize,
    /// See there.
    pub up: i64,
    /// Where the caller's registers are saved, from `base`.
    pub saved: [Option<i64>; COUNT],
    /// Whether sp was one of them: then all of this is about another frame.
    pub takes_sp: bool,
}

impl Undone {
    fn pop(&mut self, first: usize, mask: u32) {
        for (number, place) in self.saved.iter_mut().enumerate().skip(first) {
            if mask >> (number - first) & 1 == 0 {
                continue;
            }
            self.takes_sp |= number == SP;
            *place = Some(self.up);
            self.up = self.up.wrapping_add(4);
        }
    }

    fn skip(&mut self, bytes: u64) {
        self.up = self.up.wrapping_add_unsigned(bytes);
    }
}

/// Runs the instructions of a description; nothing if one is not known, or if
/// registers are saved at two places that are known from different registers.
pub fn undo(description: &Description) -> Option<Undone> {
    let mut undone = Undone {
        base: SP,
        up: 0,
        saved: [None; COUNT],
        takes_sp: false,
    };
    let mut instructions = Instructions::of(description)?;
    while let Some(byte) = instructions.next() {
        let low = u32::from(byte & 7);
        match byte {
            0x00..=0x3f => undone.skip(u64::from(byte) * 4 + 4),
            0x40..=0x7f => undone.up = undone.up.wrapping_sub(i64::from(byte & 0x3f) * 4 + 4),
            0x80..=0x8f => {
                let mask = u32::from(byte & 15) << 8 | u32::from(instructions.next()?);
                if mask == 0 {
                    return None;
                }
                undone.pop(4, mask);
            }
            0x90..=0x9f => {
                let number = usize::from(byte & 15);
                if matches!(number, SP | PC) || undone.saved.iter().any(Option::is_some) {
                    return None;
                }
                (undone.base, undone.up) = (number, 0);
            }
            0xa0..=0xa7 => undone.pop(4, (2 << low) - 1),
            0xa8..=0xaf => {
                undone.pop(4, (2 << low) - 1);
                undone.pop(LR, 1);
            }
            0xb0 => break,
            0xb1 => match u32::from(instructions.next()?) {
                mask @ 1..=15 => undone.pop(0, mask),
                _ => return None,
            },
            0xb2 => undone.skip(instructions.uleb()?.checked_mul(4)?.checked_add(0x204)?),
            _ => undone.skip(coprocessor_bytes(byte, &mut instructions)?),
        }
    }
    Some(undone)
}

/// Bytes that registers of floating point and the like take on the stack; their
/// values are nobody's business here.
fn coprocessor_bytes(byte: u8, instructions: &mut Instructions) -> Option<u64> {
    let some = u64::from(byte & 7) + 1;
    Some(match byte {
        // What a return address is signed with.
        0xb4 => 4,
        0xb5 => 0,
        0xb3 => 8 * (u64::from(instructions.next()? & 15) + 1) + 4,
        0xb8..=0xbf => 8 * some + 4,
        0xc0..=0xc5 | 0xd0..=0xd7 => 8 * some,
        0xc6 | 0xc8 | 0xc9 => 8 * (u64::from(instructions.next()? & 15) + 1),
        0xc7 => match instructions.next()? {
            mask @ 1..=15 => 4 * u64::from(mask.count_ones()),
            _ => return None,
        },
        _ => return None,
    })
}

/// The row of a function's first instruction: nothing is done yet.
pub const LEAF: Row = Row {
    cfa: Cfa::Register(arch::SP as u64, 0),
    ..Row::EMPTY
};

/// Whether what lies before an address is a call, so that one can return there:
/// `bl`, or `blx` by a distance or a register, as ARM's word or Thumb's two
/// halves, of which the last by a register is one.
pub fn follows_call(before: [u8; 4]) -> bool {
    let word = u32::from_le_bytes(before);
    let (first, second) = (word as u16, (word >> 16) as u16);
    let is_arm = word & 0x0f00_0000 == 0x0b00_0000
        || word & 0xfe00_0000 == 0xfa00_0000
        || word & 0x0fff_fff0 == 0x012f_ff30;
    let is_thumb = first & 0xf800 == 0xf000
        && (second & 0xd000 == 0xd000 || second & 0xd001 == 0xc000)
        || second & 0xff87 == 0x4780;
    is_arm || is_thumb
}

/// The row of a description; of where a program begins one that says so.
pub fn row(description: &Description) -> Option<Row> {
    let mut row = Row::EMPTY;
    if description.instructions == Cursor::default() {
        *row.saved.get_mut(arch::RA)? = Saved::Undefined;
        return Some(row);
    }
    let undone = undo(description)?;
    if undone.takes_sp {
        return None;
    }
    row.cfa = Cfa::Register(undone.base as u64, undone.up);
    let [registers @ .., return_address, pc] = undone.saved;
    let from_cfa = |place: i64| Saved::At(place.wrapping_sub(undone.up));
    for (place, saved) in row.saved.iter_mut().zip(registers) {
        *place = saved.map_or(Saved::Unset, from_cfa);
    }
    // Popped into the pc or not, it is where the caller goes on.
    if let (Some(place), Some(saved)) = (row.saved.get_mut(arch::RA), pc.or(return_address)) {
        *place = from_cfa(saved);
    }
    Some(row)
}
