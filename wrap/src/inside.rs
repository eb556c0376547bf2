//! Whether a recorder is linked into the program: an ELF note says so, which
//! linkers keep and `strip` leaves.
#![allow(unsafe_code)]
//! # Safety
//! Where the program's headers and notes lie is the kernel's word.

use crate::auxiliary::{beginnings, program_headers};
use crate::sys::width::elf::program_header::{PT_NOTE, PT_PHDR, ProgramHeader};
use crate::sys::width::wide;

/// A note without a description.
#[repr(C, align(4))]
pub struct Note {
    name_bytes: u32,
    described_bytes: u32,
    kind: u32,
    name: [u8; 8],
}

/// What the static recorder has in it.
pub const NOTE: Note = Note {
    name_bytes: 7,
    described_bytes: 0,
    kind: 1,
    name: *b"memlog\0\0",
};

/// A program has a dozen of either.
const MOST: u64 = 64;

/// Whether the program itself has the note.
pub fn is_in_program() -> bool {
    let (headers, count) = program_headers();
    let mut bias = 0;
    for index in 0..count.min(MOST) {
        let at = headers.wrapping_add(index.wrapping_mul(size_of::<ProgramHeader>() as u64));
        // SAFETY: one of as many headers as the kernel counted.
        let part = unsafe { (at as usize as *const ProgramHeader).read_unaligned() };
        let address = wide(part.p_vaddr);
        match part.p_type {
            // It comes before the others.
            PT_PHDR => bias = headers.wrapping_sub(address),
            // SAFETY: a segment of the program, which the kernel has mapped.
            PT_NOTE if unsafe { has_note(bias.wrapping_add(address), wide(part.p_filesz)) } => {
                return true;
            }
            _ => {}
        }
    }
    false
}

/// # Safety
/// So many bytes can be read there.
unsafe fn has_note(mut at: u64, bytes: u64) -> bool {
    let end = at.saturating_add(bytes);
    for _ in 0..MOST {
        if at.saturating_add(size_of::<Note>() as u64) > end {
            return false;
        }
        // SAFETY: it lies before the end.
        let note = unsafe { (at as usize as *const Note).read_unaligned() };
        let is_ours = note.kind == NOTE.kind && note.name_bytes == NOTE.name_bytes;
        if is_ours && note.name == NOTE.name {
            return true;
        }
        let padded = |bytes: u32| (u64::from(bytes) + 3) & !3;
        at = at.saturating_add(12 + padded(note.name_bytes) + padded(note.described_bytes));
    }
    false
}

/// Whether a loader brought libraries along.
pub fn has_libraries() -> bool {
    beginnings().0 != 0
}
