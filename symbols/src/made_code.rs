//! Names of code that a program made at run time, as its compiler wrote them
//! down: perf's map of a process, and jitdump.
//!
//! Only the addresses that are asked for are kept, so what there is of a file
//! of many megabytes is as small as the log. An address may have been several
//! functions' in turn: all their names are kept, for a log does not say when a
//! frame was seen first.

mod jitdump;
mod perf_map;

use std::collections::BTreeMap;

/// Names that one address keeps.
const MOST_NAMES: usize = 3;
/// Bytes of a name.
const MOST_BYTES: usize = 1024;

/// What is known of an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeCode {
    /// The function; where there were several, `one or another`.
    pub name: Vec<u8>,
    /// Its file, empty where unknown.
    pub file: Vec<u8>,
    /// The line in that, or 0.
    pub line: u32,
}

#[derive(Clone, Debug, Default)]
struct Found {
    names: Vec<Vec<u8>>,
    has_more: bool,
    /// Of the last function that was there.
    file: Vec<u8>,
    line: u32,
}

/// Names for the addresses that were asked for.
#[derive(Clone, Debug, Default)]
pub struct MadeNames {
    found: BTreeMap<u64, Found>,
}

impl MadeNames {
    /// Nothing is known yet of these addresses; of a caller it is the byte
    /// before the return address.
    pub fn of(addresses: impl IntoIterator<Item = u64>) -> Self {
        let found = addresses
            .into_iter()
            .map(|address| (address, Found::default()));
        Self {
            found: found.collect(),
        }
    }

    /// Takes what `perf-PID.map` says; lines that say nothing are passed over.
    pub fn take_perf_map(&mut self, text: &[u8]) {
        for (low, size, name) in perf_map::entries(text) {
            self.name(low, size, name, |_| None);
        }
    }

    /// Takes what `jit-PID.dump` says, up to where it is damaged or ends.
    pub fn take_jitdump(&mut self, bytes: &[u8]) -> Result<(), String> {
        jitdump::read(bytes, self)
    }

    /// The addresses that have no name yet.
    pub fn nameless(&self) -> impl Iterator<Item = u64> {
        let found = self.found.iter();
        found.filter_map(|(&address, found)| found.names.is_empty().then_some(address))
    }

    /// Takes over what others know.
    pub fn join(&mut self, others: Self) {
        self.found.extend(others.found);
    }

    /// What was found, by address.
    pub fn all(&self) -> impl Iterator<Item = (u64, MadeCode)> {
        let named = self.found.iter().filter(|(_, it)| !it.names.is_empty());
        named.map(|(&address, found)| {
            let mut name = found.names.join(&b" or "[..]);
            if found.has_more {
                name.extend(b" or others");
            }
            let code = MadeCode {
                name,
                file: found.file.clone(),
                line: found.line,
            };
            (address, code)
        })
    }

    /// A function lies there, or did.
    fn name<'a>(
        &mut self,
        low: u64,
        size: u64,
        name: &[u8],
        line: impl Fn(u64) -> Option<(&'a [u8], u32)>,
    ) {
        let Some(high) = low.checked_add(size).filter(|_| !name.is_empty()) else {
            return;
        };
        let name = &name[..name.len().min(MOST_BYTES)];
        for (&address, found) in self.found.range_mut(low..high) {
            let (file, line) = line(address).unwrap_or_default();
            found.file = file[..file.len().min(MOST_BYTES)].to_vec();
            found.line = line;
            if found.names.iter().any(|known| known == name) {
                continue;
            }
            match found.names.len() < MOST_NAMES {
                true => found.names.push(name.to_vec()),
                false => found.has_more = true,
            }
        }
    }
}

#[cfg(test)]
mod tests;
