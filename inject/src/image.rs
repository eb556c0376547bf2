//! libmemlog.so as the loader would have it in memory: it needs no other library, asks
//! for a few names that may be missing, and for one thread-local word.

use crate::elf::*;
use crate::memory::{half_in, quarter_in, text_in, word_in};
use crate::{Outcome, Refusal};

/// What memory is protected by.
pub const PAGE: u64 = 4096;

/// The library.
pub struct Image {
    /// Its memory, as it is to be.
    pub bytes: Vec<u8>,
    /// Parts of it: where they lie in it, how long they are, and their rights.
    pub parts: Vec<(u64, u64, u64)>,
    dynamic: Vec<u8>,
}

impl Image {
    /// Lays it out.
    pub fn of(file: &[u8]) -> Outcome<Self> {
        Self::lay_out(file).ok_or_else(odd)
    }

    fn lay_out(file: &[u8]) -> Option<Self> {
        let mut image = Self {
            bytes: Vec::new(),
            parts: Vec::new(),
            dynamic: Vec::new(),
        };
        for part in parts_of(file)? {
            let end = part.at + part.bytes;
            let low = part.at / PAGE * PAGE;
            let stored = part.offset as usize..(part.offset + part.stored) as usize;
            match part.kind {
                PT_LOAD => {
                    let length = end.next_multiple_of(PAGE) as usize;
                    image.bytes.resize(image.bytes.len().max(length), 0);
                    let from = file.get(stored)?;
                    let at = part.at as usize;
                    image
                        .bytes
                        .get_mut(at..at + from.len())?
                        .copy_from_slice(from);
                    // As mprotect has them.
                    let has = |flag: u32| u64::from(part.flags & flag != 0);
                    let rights = has(READABLE) | has(WRITABLE) << 1 | has(EXECUTABLE) << 2;
                    image
                        .parts
                        .push((low, end.next_multiple_of(PAGE) - low, rights));
                }
                PT_DYNAMIC => image.dynamic = file.get(stored)?.to_vec(),
                PT_RELRO => {
                    let high = end / PAGE * PAGE;
                    if low < high {
                        image.parts.push((low, high - low, 1));
                    }
                }
                _ => {}
            }
        }
        Some(image)
    }

    fn number(&self, tag: u64) -> Option<u64> {
        entry(&self.dynamic, tag)
    }

    /// Fills in addresses, for where it will lie: what it asks for by name, and where a
    /// thread's word is from what the C library keeps of the thread.
    pub fn relocate(
        &mut self,
        base: u64,
        thread_word: u64,
        find: impl Fn(&str) -> Option<u64>,
    ) -> Outcome<()> {
        if self.number(DT_RELR).is_some() || self.number(DT_PLTRELSZ).is_some_and(|size| size > 0) {
            return Err(odd());
        }
        self.relocated(base, thread_word, find).ok_or_else(odd)
    }

    fn relocated(
        &mut self,
        base: u64,
        thread_word: u64,
        find: impl Fn(&str) -> Option<u64>,
    ) -> Option<()> {
        let [table, size, symbols, strings] =
            [DT_RELA, DT_RELASZ, DT_SYMTAB, DT_STRTAB].map(|tag| self.number(tag));
        let (table, symbols, strings) = (table? as usize, symbols? as usize, strings? as usize);
        for at in (table..table + size? as usize).step_by(RELOCATION) {
            let (place, info) = (word_in(&self.bytes, at)?, word_in(&self.bytes, at + 8)?);
            let addend = word_in(&self.bytes, at + 16)?;
            let symbol = symbols + SYMBOL as usize * (info >> 32) as usize;
            let value = match info as u32 {
                R_RELATIVE => base.wrapping_add(addend),
                R_THREAD => thread_word.wrapping_add(addend),
                R_GLOBAL | R_WORD => {
                    let name = strings + half_in(&self.bytes, symbol)? as usize;
                    let found = match quarter_in(&self.bytes, symbol + 6)? {
                        0 => find(text_in(&self.bytes, name)?).unwrap_or(0),
                        _ => base.wrapping_add(word_in(&self.bytes, symbol + 8)?),
                    };
                    found.wrapping_add(addend)
                }
                _ => return None,
            };
            let at = place as usize;
            let word = self.bytes.get_mut(at..at + 8)?;
            word.copy_from_slice(&value.to_le_bytes());
        }
        Some(())
    }

    /// Where its dynamic section lies in it.
    pub fn section(file: &[u8]) -> Option<u64> {
        let parts = parts_of(file)?;
        let part = parts.iter().find(|part| part.kind == PT_DYNAMIC)?;
        Some(part.at)
    }
}

/// The program headers of a file, or of its first page.
fn parts_of(file: &[u8]) -> Option<Vec<Part>> {
    let (table, bytes) = headers_in(file)?;
    let end = table.checked_add(bytes)?;
    Some(parts(file.get(table as usize..end as usize)?))
}

fn odd() -> Refusal {
    Refusal::new(
        "this memlog has a libmemlog.so that only the system's loader can load",
        "start the program with `memlog record`",
    )
}
