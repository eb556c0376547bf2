//! Function descriptors of ppc64 ELFv1: there a function's symbol points into `.opd`, where the
//! first of three words is the address of its code.
//!
//! ```text
//! symbol main = 0x10020          .opd at 0x10000
//!   0x10020: 00 00 00 00 00 00 06 54   code address      <- what a stack has
//!   0x10028: 00 00 00 00 00 01 80 00   TOC pointer
//!   0x10030: 00 00 00 00 00 00 00 00   environment
//! ```
//! In a shared library the word may be zero in the file and stand in a RELATIVE relocation.

use std::collections::BTreeMap;

use object::read::{Architecture, Object, ObjectSection, RelocationFlags};
use object::{FileFlags, elf};

use crate::elf_file::ElfFile;

pub(crate) struct Descriptors<'a> {
    address: u64,
    data: &'a [u8],
    little_endian: bool,
    /// Descriptor address -> code address, from relocations.
    relocated: BTreeMap<u64, u64>,
}

impl<'a> Descriptors<'a> {
    /// The descriptors of a file, or `None` if its symbols point at code.
    pub(crate) fn of(image: &ElfFile<'a>) -> Option<Self> {
        if image.elf.architecture() != Architecture::PowerPc64 || is_elf_v2(image) {
            return None;
        }
        let section = image.elf.section_by_name(".opd")?;
        let data = section.data().ok().filter(|data| !data.is_empty())?;
        let address = section.address();
        let end = address.saturating_add(data.len() as u64);
        let mut relocated = BTreeMap::new();
        for (at, relocation) in image.elf.dynamic_relocations().into_iter().flatten() {
            let relative = matches!(relocation.flags(),
                RelocationFlags::Elf { r_type } if r_type == elf::R_PPC64_RELATIVE);
            if relative && (address..end).contains(&at) {
                relocated.insert(at, relocation.addend() as u64);
            }
        }
        Some(Self {
            address,
            data,
            little_endian: image.elf.is_little_endian(),
            relocated,
        })
    }

    /// Where the code of the function with this symbol value is. A value outside `.opd` is code
    /// already (a dot symbol of old compilers, a label).
    pub(crate) fn code_address(&self, symbol: u64) -> u64 {
        let Some(word) = self.word(symbol) else {
            return symbol;
        };
        match self.relocated.get(&symbol) {
            Some(&code) if word == 0 => code,
            _ => word,
        }
    }

    fn word(&self, address: u64) -> Option<u64> {
        let at = usize::try_from(address.checked_sub(self.address)?).ok()?;
        let word = self.data.get(at..)?.first_chunk::<8>()?;
        Some(if self.little_endian {
            u64::from_le_bytes(*word)
        } else {
            u64::from_be_bytes(*word)
        })
    }
}

fn is_elf_v2(image: &ElfFile<'_>) -> bool {
    match image.elf.flags() {
        FileFlags::Elf { e_flags, .. } => e_flags.0 & 3 == 2,
        _ => false,
    }
}
