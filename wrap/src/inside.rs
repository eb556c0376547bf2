//! What a program that has the recorder linked into it can be known by: an ELF
//! note, which linkers keep and `strip` leaves.

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
