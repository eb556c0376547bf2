//! The recorder as it lies in a process that was attached to.

use std::fs;

use memlog_format::attach::{MARK, SYMBOL, Word};

use crate::Outcome;
use crate::image::Image;
use crate::memory::{Memory, half_in, text_in, word_in};
use crate::objects::Object;

/// The life of a recorder that has stopped for good.
pub const STOPPED: u32 = 3;

/// A line of /proc/PID/maps.
pub struct Line {
    /// Where it begins and ends.
    pub low: u64,
    pub high: u64,
    /// Such as `r-xp`.
    pub rights: String,
    /// What it is of; empty if of nothing.
    pub path: String,
}

/// All of them.
pub fn lines(pid: u32) -> Vec<Line> {
    let text = fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = |line: &str| {
        let mut words = line.splitn(6, ' ');
        let (low, high) = words.next()?.split_once('-')?;
        Some(Line {
            low: u64::from_str_radix(low, 16).ok()?,
            high: u64::from_str_radix(high, 16).ok()?,
            rights: words.next()?.to_owned(),
            path: words.nth(3).unwrap_or("").trim().to_owned(),
        })
    };
    text.lines().filter_map(line).collect()
}

/// Where the code of the file lies that this address is in a mapping of.
pub fn code_of(lines: &[Line], address: u64) -> Option<(u64, u64)> {
    let mut all = lines.iter();
    let path = &all
        .find(|line| (line.low..line.high).contains(&address))?
        .path;
    let mut code = lines
        .iter()
        .filter(|line| line.path == *path && line.rights.contains('x'));
    code.next().map(|line| (line.low, line.high))
}

/// A recorder that lies there.
pub struct Library {
    /// What it has for others.
    pub object: Object,
    block: u64,
    /// The names of its doors.
    pub names: Vec<String>,
    /// Where those are.
    pub doors: Vec<u64>,
}

impl Library {
    /// Reads it; nothing if that is something else.
    pub fn at(memory: &Memory, base: u64) -> Outcome<Option<Self>> {
        let Ok(head) = memory.bytes(base, 4096) else {
            return Ok(None);
        };
        let section = Image::section(&head).filter(|_| head.starts_with(b"\x7fELF"));
        let Some(section) = section else {
            return Ok(None);
        };
        let dynamic = base.wrapping_add(section);
        let Ok(object) = Object::read(memory, String::new(), base, dynamic) else {
            return Ok(None);
        };
        let mut symbols = object.symbols.iter();
        let Some(block) = symbols
            .find(|one| one.name == SYMBOL)
            .and_then(|one| one.address)
        else {
            return Ok(None);
        };
        let mut library = Self {
            object,
            block,
            names: Vec::new(),
            doors: Vec::new(),
        };
        if library.word(memory, Word::Mark)? != MARK {
            return Ok(None);
        }
        let (names, count) = (
            library.word(memory, Word::Names)?,
            library.word(memory, Word::Count)?,
        );
        let table = memory.bytes(names, 16 * count.min(64))?;
        for pair in table.chunks_exact(16) {
            let (at, length) = (word_in(pair, 0).unwrap_or(0), half_in(pair, 8).unwrap_or(0));
            let mut name = memory.bytes(at, u64::from(length.min(64)))?;
            name.push(0);
            let name = text_in(&name, 0).unwrap_or("").to_owned();
            library
                .doors
                .push(library.object.function(&name).unwrap_or(0));
            library.names.push(name);
        }
        Ok(Some(library))
    }

    /// All that lie in a process.
    pub fn all(pid: u32, memory: &Memory) -> Outcome<Vec<Self>> {
        let mut found = Vec::new();
        for line in lines(pid) {
            let is_ours = line.path.is_empty() || line.path.starts_with("[anon:libmemlog");
            if is_ours && line.rights == "r--p" {
                found.extend(Self::at(memory, line.low)?);
            }
        }
        Ok(found)
    }

    /// Where a word of its block lies.
    pub fn place(&self, word: Word) -> u64 {
        self.block.wrapping_add(word.at())
    }

    /// Where its block lies.
    pub fn block(&self) -> u64 {
        self.block
    }

    /// A word of its block.
    pub fn word(&self, memory: &Memory, word: Word) -> Outcome<u64> {
        memory.word(self.place(word))
    }

    /// Sets it.
    pub fn set(&self, memory: &Memory, word: Word, value: u64) -> Outcome<()> {
        memory.write(self.place(word), &value.to_le_bytes())
    }

    /// The number of the life that it is in.
    pub fn life(&self, memory: &Memory) -> Outcome<u32> {
        Ok(memory.word(self.word(memory, Word::Life)?)? as u32)
    }

    /// Has it never begin, if it has not by now.
    pub fn stop_waiting(&self, memory: &Memory) -> Outcome<()> {
        match self.life(memory)? {
            0 => self.stop(memory),
            _ => Ok(()),
        }
    }

    /// Has it record no more.
    pub fn stop(&self, memory: &Memory) -> Outcome<()> {
        let at = self.word(memory, Word::Life)?;
        memory.write(at, &STOPPED.to_le_bytes())
    }

    /// The real functions behind its doors.
    pub fn reals(&self, memory: &Memory) -> Outcome<Vec<u64>> {
        let at = self.word(memory, Word::Reals)?;
        let bytes = memory.bytes(at, 8 * self.names.len() as u64)?;
        let words = bytes.chunks_exact(8).filter_map(|word| word_in(word, 0));
        Ok(words.collect())
    }
}
