//! 64-bit little-endian ELF, as `elf.h` has it: what the library and the objects of a
//! process have in common.

use crate::memory::{half_in, quarter_in, word_in};

pub const PT_LOAD: u32 = 1;
pub const PT_DYNAMIC: u32 = 2;
pub const PT_INTERP: u32 = 3;
pub const PT_PHDR: u32 = 6;
pub const PT_RELRO: u32 = 0x6474_e552;
/// Of a program header: its bytes may be executed, written, read.
pub const EXECUTABLE: u32 = 1;
pub const WRITABLE: u32 = 2;
pub const READABLE: u32 = 4;

pub const DT_PLTRELSZ: u64 = 2;
pub const DT_HASH: u64 = 4;
pub const DT_STRTAB: u64 = 5;
pub const DT_SYMTAB: u64 = 6;
pub const DT_RELA: u64 = 7;
pub const DT_RELASZ: u64 = 8;
pub const DT_STRSZ: u64 = 10;
pub const DT_DEBUG: u64 = 21;
pub const DT_JMPREL: u64 = 23;
pub const DT_FINI_ARRAY: u64 = 26;
pub const DT_FINI_ARRAYSZ: u64 = 28;
pub const DT_RELR: u64 = 36;
pub const DT_GNU_HASH: u64 = 0x6fff_fef5;
pub const DT_VERSYM: u64 = 0x6fff_fff0;

pub const R_WORD: u32 = 1;
pub const R_GLOBAL: u32 = 6;
pub const R_JUMP: u32 = 7;
pub const R_RELATIVE: u32 = 8;
pub const R_THREAD: u32 = 18;

/// Bytes of a program header, an entry of a symbol table, one of a relocation table.
pub const HEADER: usize = 56;
pub const SYMBOL: u64 = 24;
pub const RELOCATION: usize = 24;

/// A program header.
pub struct Part {
    pub kind: u32,
    pub flags: u32,
    /// Where it lies in the file, and how many bytes of it do.
    pub offset: u64,
    pub stored: u64,
    /// Where it lies in memory, by the object's own numbering, and how long it is.
    pub at: u64,
    pub bytes: u64,
}

/// The program headers of a table.
pub fn parts(table: &[u8]) -> Vec<Part> {
    let headers = table.chunks_exact(HEADER);
    let parts = headers.filter_map(|header| {
        Some(Part {
            kind: half_in(header, 0)?,
            flags: half_in(header, 4)?,
            offset: word_in(header, 8)?,
            stored: word_in(header, 32)?,
            at: word_in(header, 16)?,
            bytes: word_in(header, 40)?,
        })
    });
    parts.collect()
}

/// Where a head says that its program headers lie in the file, and how long they are.
pub fn headers_in(head: &[u8]) -> Option<(u64, u64)> {
    let (table, count) = (word_in(head, 32)?, quarter_in(head, 56)?);
    Some((table, u64::from(count) * HEADER as u64))
}

/// What a dynamic section says of this.
pub fn entry(section: &[u8], tag: u64) -> Option<u64> {
    let mut pairs = section
        .chunks_exact(16)
        .map_while(|pair| match word_in(pair, 0) {
            None | Some(0) => None,
            Some(tag) => Some((tag, word_in(pair, 8)?)),
        });
    pairs.find(|pair| pair.0 == tag).map(|pair| pair.1)
}
