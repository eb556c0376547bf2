//! What an ELF file says without its unwind tables and its local symbols.

use object::elf;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Object, ObjectSection, ObjectSegment, ObjectSymbol, RelocationFlags, SectionFlags};
use object::{RelocationTarget, SymbolFlags};
use std::collections::HashMap;
use std::ops::Range;

/// What a word of the file will hold once it is loaded.
#[derive(Clone, Debug)]
pub enum Word {
    /// The address of something in this file.
    Own(u64),
    /// That of another file's, by name.
    Import(String),
    /// What a function chooses.
    Chosen,
}

/// The parts that are loaded.
pub struct Image<'a> {
    parts: Vec<(u64, &'a [u8])>,
    pub code: Vec<Range<u64>>,
    pub words: HashMap<u64, Word>,
    /// Functions that others may use, and their names.
    pub exported: Vec<(u64, String)>,
    /// Where it is begun and ended.
    pub entries: Vec<u64>,
    /// Addresses in data that lie in code.
    pub pointers: Vec<u64>,
    /// Whether addresses are final, and no relocation names them.
    pub is_fixed: bool,
}

const WORD: u64 = 8;

impl<'a> Image<'a> {
    pub fn read(file: &'a [u8]) -> Option<Self> {
        let elf = ElfFile64::<object::Endianness>::parse(file).ok()?;
        let header = elf.elf_header();
        if header.e_machine(elf.endian()) != elf::EM_X86_64 {
            return None;
        }
        let mut image = Self {
            parts: Vec::new(),
            code: Vec::new(),
            words: HashMap::new(),
            exported: Vec::new(),
            entries: vec![elf.entry()],
            pointers: Vec::new(),
            is_fixed: header.e_type(elf.endian()) == elf::ET_EXEC,
        };
        for segment in elf.segments() {
            image.parts.push((segment.address(), segment.data().ok()?));
        }
        for section in elf.sections() {
            let range = section.address()..section.address() + section.size();
            if let SectionFlags::Elf { sh_flags, .. } = section.flags()
                && sh_flags.contains(elf::SHF_EXECINSTR)
            {
                image.code.push(range);
            }
        }
        image.read_relocations(&elf);
        image.read_symbols(&elf);
        for section in elf.sections() {
            image.read_section(&section);
        }
        let code = std::mem::take(&mut image.code);
        let is_code = |at: &u64| code.iter().any(|range| range.contains(at));
        image.entries.retain(is_code);
        image.pointers.retain(is_code);
        image.exported.retain(|(at, _)| is_code(at));
        image.code = code;
        image.pointers.sort_unstable();
        image.pointers.dedup();
        Some(image)
    }

    fn read_relocations(&mut self, elf: &ElfFile64<'a>) {
        let symbols = elf.dynamic_symbol_table();
        for (at, relocation) in elf.dynamic_relocations().into_iter().flatten() {
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                continue;
            };
            let symbol = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    use object::ObjectSymbolTable;
                    symbols
                        .as_ref()
                        .and_then(|table| table.symbol_by_index(index).ok())
                }
                _ => None,
            };
            let word = match (r_type, symbol) {
                (elf::R_X86_64_RELATIVE, _) => Word::Own(relocation.addend() as u64),
                (elf::R_X86_64_IRELATIVE, _) => {
                    self.pointers.push(relocation.addend() as u64);
                    Word::Chosen
                }
                (
                    elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT | elf::R_X86_64_64,
                    Some(symbol),
                ) => match symbol.is_undefined() {
                    true => Word::Import(symbol.name().unwrap_or_default().to_string()),
                    false if is_chosen(symbol.flags()) => Word::Chosen,
                    false => Word::Own(symbol.address()),
                },
                _ => continue,
            };
            self.words.insert(at, word);
        }
    }

    fn read_symbols(&mut self, elf: &ElfFile64<'a>) {
        for symbol in elf
            .dynamic_symbols()
            .filter(|symbol| !symbol.is_undefined())
        {
            if let SymbolFlags::Elf { st_info, .. } = symbol.flags()
                && matches!(st_info.st_type(), elf::STT_FUNC | elf::STT_GNU_IFUNC)
            {
                let name = symbol.name().unwrap_or_default().to_string();
                self.exported.push((symbol.address(), name));
            }
        }
    }

    fn read_section(&mut self, section: &impl ObjectSection<'a>) {
        let (name, data) = (
            section.name().unwrap_or_default(),
            section.data().unwrap_or_default(),
        );
        match name {
            ".init" | ".fini" => self.entries.push(section.address()),
            ".relr.dyn" => self.read_packed(data),
            _ => {}
        }
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
            return;
        };
        let is_data = sh_flags.contains(elf::SHF_ALLOC)
            && !sh_flags.contains(elf::SHF_EXECINSTR)
            && !name.starts_with(".eh_frame");
        let is_array = matches!(name, ".preinit_array" | ".init_array" | ".fini_array");
        for (index, chunk) in data
            .chunks_exact(WORD as usize)
            .enumerate()
            .filter(|_| is_data)
        {
            let at = section.address() + index as u64 * WORD;
            let own = match self.words.get(&at) {
                Some(Word::Own(own)) => *own,
                None if self.is_fixed => u64::from_le_bytes(chunk.try_into().unwrap_or_default()),
                _ => continue,
            };
            match is_array {
                true => self.entries.push(own),
                false => self.pointers.push(own),
            }
        }
    }

    /// Relative relocations as DT_RELR has them: an address, then bits for the words
    /// behind it.
    fn read_packed(&mut self, data: &[u8]) {
        let mut at = 0;
        for chunk in data.chunks_exact(WORD as usize) {
            let entry = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
            let mut relocate = |at| {
                if let Some(own) = self.word(at) {
                    self.words.insert(at, Word::Own(own));
                }
            };
            if entry & 1 == 0 {
                relocate(entry);
                at = entry + WORD;
                continue;
            }
            (1..64)
                .filter(|bit| entry >> bit & 1 != 0)
                .for_each(|bit| relocate(at + (bit - 1) * WORD));
            at += 63 * WORD;
        }
    }

    pub fn is_code(&self, at: u64) -> bool {
        self.code.iter().any(|range| range.contains(&at))
    }

    pub fn code_bytes(&self) -> u64 {
        self.code.iter().map(|range| range.end - range.start).sum()
    }

    /// The bytes from an address to the end of its part.
    pub fn bytes(&self, at: u64) -> Option<&'a [u8]> {
        self.parts.iter().find_map(|(start, data)| {
            let inside = usize::try_from(at.checked_sub(*start)?).ok()?;
            data.get(inside..).filter(|rest| !rest.is_empty())
        })
    }

    pub fn word(&self, at: u64) -> Option<u64> {
        self.bytes(at)?
            .first_chunk()
            .map(|bytes| u64::from_le_bytes(*bytes))
    }

    pub fn half(&self, at: u64) -> Option<i32> {
        self.bytes(at)?
            .first_chunk()
            .map(|bytes| i32::from_le_bytes(*bytes))
    }
}

fn is_chosen(flags: SymbolFlags<object::SectionIndex, object::SymbolIndex>) -> bool {
    matches!(flags, SymbolFlags::Elf { st_info, .. } if st_info.st_type() == elf::STT_GNU_IFUNC)
}
