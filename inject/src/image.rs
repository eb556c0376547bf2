//! libmemlog.so as the loader would have it in memory: it needs no other library, asks
//! for a few names that may be missing, and for one thread-local word.

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
    dynamic: Vec<(u64, u64)>,
}

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_RELRO: u32 = 0x6474_e552;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_RELA: u64 = 7;
const DT_RELASZ: u64 = 8;
const DT_PLTRELSZ: u64 = 2;
const DT_RELR: u64 = 36;

const R_WORD: u32 = 1;
const R_GLOBAL: u32 = 6;
const R_RELATIVE: u32 = 8;
const R_THREAD: u32 = 18;

impl Image {
    /// Lays it out.
    pub fn of(file: &[u8]) -> Outcome<Self> {
        Self::lay_out(file).ok_or_else(odd)
    }

    fn lay_out(file: &[u8]) -> Option<Self> {
        let (table, count) = (word_in(file, 32)? as usize, quarter_in(file, 56)?);
        let mut image = Self {
            bytes: Vec::new(),
            parts: Vec::new(),
            dynamic: Vec::new(),
        };
        for index in 0..usize::from(count) {
            let at = table + 56 * index;
            let (kind, flags) = (half_in(file, at)?, half_in(file, at + 4)?);
            let [offset, address, stored, whole] = [8, 16, 32, 40].map(|to| word_in(file, at + to));
            let (offset, address, stored) = (offset? as usize, address?, stored? as usize);
            let end = address + whole?;
            match kind {
                PT_LOAD => {
                    let length = end.next_multiple_of(PAGE) as usize;
                    image.bytes.resize(image.bytes.len().max(length), 0);
                    let from = file.get(offset..offset + stored)?;
                    let at = address as usize;
                    image.bytes.get_mut(at..at + stored)?.copy_from_slice(from);
                    // Readable 4, writable 2, executable 1 there; 1, 2 and 4 here.
                    let rights = u64::from(flags & 4 != 0)
                        | u64::from(flags & 2)
                        | (u64::from(flags & 1) << 2);
                    let low = address / PAGE * PAGE;
                    image
                        .parts
                        .push((low, end.next_multiple_of(PAGE) - low, rights));
                }
                PT_DYNAMIC => {
                    let section = file.get(offset..offset + stored)?;
                    let pairs = section.chunks_exact(16);
                    let pairs =
                        pairs.filter_map(|pair| Some((word_in(pair, 0)?, word_in(pair, 8)?)));
                    image.dynamic = pairs.collect();
                }
                PT_RELRO => {
                    let (low, high) = (address / PAGE * PAGE, end / PAGE * PAGE);
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
        let mut pairs = self.dynamic.iter();
        pairs.find(|pair| pair.0 == tag).map(|pair| pair.1)
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
        for at in (table..table + size? as usize).step_by(24) {
            let (place, info) = (word_in(&self.bytes, at)?, word_in(&self.bytes, at + 8)?);
            let addend = word_in(&self.bytes, at + 16)?;
            let symbol = symbols + 24 * (info >> 32) as usize;
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
        let (table, count) = (word_in(file, 32)? as usize, quarter_in(file, 56)?);
        (0..usize::from(count)).find_map(|index| {
            let at = table + 56 * index;
            (half_in(file, at)? == PT_DYNAMIC).then(|| word_in(file, at + 16))?
        })
    }
}

fn odd() -> Refusal {
    Refusal::new(
        "this memlog has a libmemlog.so that only the system's loader can load",
        "start the program with `memlog record`",
    )
}
