//! The loader's list of objects in another process, and the tables of each.

use std::collections::HashSet;
use std::fs;

use crate::elf::*;
use crate::memory::{Memory, half_in, quarter_in, text_in, word_in};
use crate::{Outcome, Refusal};

/// A version that only who names it gets.
const HIDDEN: u16 = 0x8000;

/// An object of the list.
pub struct Object {
    /// Its path; empty for the program.
    pub name: String,
    /// What is added to its own addresses.
    pub bias: u64,
    /// All that it defines or asks for.
    pub symbols: Vec<Symbol>,
    /// Words that the loader fills with addresses of functions and data.
    pub slots: Vec<Slot>,
    /// Its data: where it lies, and how long it is.
    pub data: Vec<(u64, u64)>,
    /// What runs when the program ends: where it lies, and how long it is.
    pub last: Option<(u64, u64)>,
    /// The highest minor number of a glibc version that it names.
    pub glibc: Option<u32>,
}

/// A symbol of an object.
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Where its value stands.
    pub value_at: u64,
    /// Its address; nothing if the object only asks for it.
    pub address: Option<u64>,
    /// It is a plain function.
    pub is_function: bool,
    /// Only who names its version gets it.
    pub is_old: bool,
}

/// A word that the loader fills.
pub struct Slot {
    /// Where it is.
    pub at: u64,
    /// The number of the symbol that it is filled with.
    pub symbol: usize,
}

/// What the kernel told a program when it began.
pub struct Auxiliary {
    words: Vec<(u64, u64)>,
}

impl Auxiliary {
    pub const HEADERS: u64 = 3;
    pub const COUNT: u64 = 5;
    pub const LOADER: u64 = 7;
    pub const SECURE: u64 = 23;

    /// Reads it.
    pub fn of(pid: u32) -> Option<Self> {
        let bytes = fs::read(format!("/proc/{pid}/auxv")).ok()?;
        let words = bytes.chunks_exact(16);
        let words = words.filter_map(|pair| Some((word_in(pair, 0)?, word_in(pair, 8)?)));
        let words: Vec<_> = words.collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// What it says of this.
    pub fn get(&self, key: u64) -> Option<u64> {
        let mut words = self.words.iter();
        words.find(|word| word.0 == key).map(|word| word.1)
    }
}

/// The word of the loader to debuggers.
pub struct Loader {
    debug: u64,
    /// The program's headers.
    program: Vec<Part>,
}

impl Loader {
    /// Finds it by what the kernel told the program.
    pub fn find(memory: &Memory, told: &Auxiliary) -> Outcome<Self> {
        let odd = || {
            Refusal::new(
                "the list of its libraries is not where it should be",
                "start it with `memlog record`",
            )
        };
        let headers = told.get(Auxiliary::HEADERS).ok_or_else(odd)?;
        let count = told.get(Auxiliary::COUNT).ok_or_else(odd)?;
        let parts = parts(&memory.bytes(headers, count.min(4096) * HEADER as u64)?);
        let of = |kind| parts.iter().find(|part| part.kind == kind);
        if of(PT_INTERP).is_none() {
            return Err(Refusal::new(
                "it is linked statically, or was started as `ld.so PROGRAM`: no word that could \
                 be changed leads to malloc",
                "link it with `memlog ldflags --static`",
            ));
        }
        let (Some(own), Some(dynamic)) = (of(PT_PHDR), of(PT_DYNAMIC)) else {
            return Err(odd());
        };
        let bias = headers.wrapping_sub(own.at);
        let section = memory.bytes(bias.wrapping_add(dynamic.at), dynamic.bytes)?;
        let debug = entry(&section, DT_DEBUG)
            .filter(|&at| at != 0)
            .ok_or_else(odd)?;
        Ok(Self {
            debug,
            program: parts,
        })
    }

    /// Whether nobody is changing the list.
    pub fn is_consistent(&self, memory: &Memory) -> Outcome<bool> {
        Ok(memory.word(self.debug.wrapping_add(24))? as u32 == 0)
    }

    /// The nodes of the list: where they are, and the bias of each.
    pub fn nodes(&self, memory: &Memory) -> Outcome<Vec<(u64, u64)>> {
        const MOST: usize = 16384;
        let mut nodes = Vec::new();
        let mut node = memory.word(self.debug.wrapping_add(8))?;
        let mut seen = HashSet::new();
        while node != 0 && nodes.len() < MOST && seen.insert(node) {
            nodes.push((node, memory.word(node)?));
            node = memory.word(node.wrapping_add(24))?;
        }
        Ok(nodes)
    }

    /// The objects of the list.
    pub fn objects(&self, memory: &Memory) -> Outcome<Vec<Object>> {
        let nodes = self.nodes(memory)?.into_iter();
        let objects = nodes.enumerate().map(|(index, (node, bias))| {
            let name = memory.text(memory.word(node.wrapping_add(8))?)?;
            let dynamic = memory.word(node.wrapping_add(16))?;
            let mut object = Object::read(memory, name, bias, dynamic)?;
            if index == 0 {
                // Its own numbering may begin anywhere.
                object.data = data_of(&self.program, bias);
            }
            Ok(object)
        });
        objects.collect()
    }
}

/// A dynamic section, whose length nobody says.
fn section_at(memory: &Memory, at: u64) -> Outcome<Vec<u8>> {
    const MOST: u64 = 512;
    let mut section = Vec::new();
    for index in 0..MOST {
        let pair = memory.bytes(at.wrapping_add(16 * index), 16)?;
        let is_last = word_in(&pair, 0) == Some(0);
        section.extend(pair);
        if is_last {
            break;
        }
    }
    Ok(section)
}

impl Object {
    /// Reads the tables of an object whose dynamic section lies there.
    pub fn read(memory: &Memory, name: String, bias: u64, dynamic: u64) -> Outcome<Self> {
        let mut object = Self {
            name,
            bias,
            symbols: Vec::new(),
            slots: Vec::new(),
            data: Vec::new(),
            last: None,
            glibc: None,
        };
        if dynamic == 0 {
            return Ok(object);
        }
        let section = section_at(memory, dynamic)?;
        let number = |tag| entry(&section, tag).unwrap_or(0);
        // glibc relocates these in place, musl and the vDSO do not.
        let address = |tag| {
            entry(&section, tag).map(|value| match value < bias {
                true => value.wrapping_add(bias),
                false => value,
            })
        };
        let (Some(symbols), Some(strings)) = (address(DT_SYMTAB), address(DT_STRTAB)) else {
            return Ok(object);
        };
        let strings = memory.bytes(strings, number(DT_STRSZ))?;
        object.glibc = newest_glibc(&strings);
        let mut most = 0;
        let tables = [
            (address(DT_RELA), number(DT_RELASZ)),
            (address(DT_JMPREL), number(DT_PLTRELSZ)),
        ];
        for (at, bytes) in tables {
            let Some(at) = at else { continue };
            let table = memory.bytes(at, bytes)?;
            for line in table.chunks_exact(RELOCATION) {
                let (Some(place), Some(info)) = (word_in(line, 0), word_in(line, 8)) else {
                    continue;
                };
                let symbol = (info >> 32) as usize;
                if symbol != 0 && is_filled(info as u32, word_in(line, 16)) {
                    most = most.max(symbol as u64 + 1);
                    let at = bias.wrapping_add(place);
                    object.slots.push(Slot { at, symbol });
                }
            }
        }
        let defined = match (address(DT_GNU_HASH), address(DT_HASH)) {
            (Some(at), _) => count_gnu(memory, at)?,
            (None, Some(at)) => memory.word(at)? >> 32,
            (None, None) => 0,
        };
        let count = most.max(defined);
        let table = memory.bytes(symbols, count * SYMBOL)?;
        let versions = match address(DT_VERSYM) {
            Some(at) => memory.bytes(at, 2 * count)?,
            None => Vec::new(),
        };
        for (index, line) in table.chunks_exact(SYMBOL as usize).enumerate() {
            let version = quarter_in(&versions, 2 * index).unwrap_or(1);
            let (Some(name), Some(value), Some(section)) =
                (half_in(line, 0), word_in(line, 8), quarter_in(line, 6))
            else {
                continue;
            };
            let is_defined = section != 0 && value != 0 && version != 0;
            object.symbols.push(Symbol {
                name: name_in(&strings, name as usize).unwrap_or("").to_owned(),
                value_at: symbols.wrapping_add(SYMBOL * index as u64 + 8),
                address: is_defined.then_some(bias.wrapping_add(value)),
                is_function: line.get(4).is_some_and(|info| info & 15 == 2),
                is_old: version & HIDDEN != 0,
            });
        }
        object.last = address(DT_FINI_ARRAY).map(|at| (at, number(DT_FINI_ARRAYSZ)));
        object.data = data_of(&headers_of(memory, bias).unwrap_or_default(), bias);
        Ok(object)
    }

    /// The symbol that others are bound to by this name.
    pub fn definition(&self, name: &str) -> Option<&Symbol> {
        let is_it = |symbol: &&Symbol| symbol.name == name && symbol.address.is_some();
        let all = || self.symbols.iter().filter(is_it);
        all().find(|symbol| !symbol.is_old).or_else(|| all().next())
    }

    /// The same of a function.
    pub fn function(&self, name: &str) -> Option<u64> {
        let found = self.definition(name).filter(|symbol| symbol.is_function)?;
        found.address
    }
}

/// A name, if it is as short as all are that are looked for.
fn name_in(strings: &[u8], at: usize) -> Option<&str> {
    const LONGEST: usize = 64;
    let end = at.saturating_add(LONGEST).min(strings.len());
    text_in(strings.get(..end)?, at)
}

/// Whether a relocation fills its word with the plain address of a symbol.
fn is_filled(kind: u32, addend: Option<u64>) -> bool {
    kind == R_GLOBAL || kind == R_JUMP || kind == R_WORD && addend == Some(0)
}

/// How many symbols a GNU hash table leads to.
fn count_gnu(memory: &Memory, at: u64) -> Outcome<u64> {
    let head = memory.bytes(at, 16)?;
    let head = |index: usize| half_in(&head, 4 * index).unwrap_or(0);
    let (buckets, first, bloom) = (head(0), head(1), head(2));
    let table = at.wrapping_add(16 + 8 * u64::from(bloom));
    let bytes = memory.bytes(table, 4 * u64::from(buckets))?;
    let all = bytes.chunks_exact(4).filter_map(|chunk| half_in(chunk, 0));
    let mut last = u64::from(all.max().unwrap_or(0));
    if last < u64::from(first) {
        return Ok(u64::from(first));
    }
    let chains = table.wrapping_add(4 * u64::from(buckets));
    loop {
        let mut hash = [0; 4];
        let place = chains.wrapping_add(4 * (last - u64::from(first)));
        if memory.read(place, &mut hash).is_err() || hash[0] & 1 != 0 {
            return Ok(last + 1);
        }
        last += 1;
    }
}

/// The minor number of the newest version of glibc that is named.
fn newest_glibc(strings: &[u8]) -> Option<u32> {
    let texts = strings.split(|&byte| byte == 0);
    let minors = texts.filter_map(|text| {
        let text = std::str::from_utf8(text).ok()?;
        let version = text.strip_prefix("GLIBC_2.")?;
        version.split('.').next()?.parse().ok()
    });
    minors.max()
}

/// The program headers of an object, whose head lies at the start of its own numbering.
fn headers_of(memory: &Memory, bias: u64) -> Option<Vec<Part>> {
    let head = memory.bytes(bias, 64).ok()?;
    if !head.starts_with(b"\x7fELF") {
        return None;
    }
    let (table, bytes) = headers_in(&head)?;
    let bytes = memory.bytes(bias.wrapping_add(table), bytes).ok()?;
    Some(parts(&bytes))
}

/// The writable parts of an object.
fn data_of(parts: &[Part], bias: u64) -> Vec<(u64, u64)> {
    /// Of what begins as zeros no more is looked at.
    const MOST: u64 = 64 << 20;
    let data = parts
        .iter()
        .filter(|part| part.kind == PT_LOAD && part.flags & WRITABLE != 0)
        .map(|part| (bias.wrapping_add(part.at), part.bytes.min(MOST)));
    data.collect()
}
