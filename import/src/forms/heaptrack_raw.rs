//! Where files lie in a program that heaptrack's recorder wrote of.

use std::collections::HashMap;

use super::heaptrack::Fields;
use crate::writer::{LogWriter, ModuleId};

/// What is mapped at the moment.
pub(super) struct Mapped {
    executable: Box<[u8]>,
    /// By path and place.
    known: HashMap<(Box<[u8]>, u64), ModuleId>,
    /// First byte, first byte past it; sorted where they are asked for.
    ranges: Vec<(u64, u64, ModuleId)>,
}

impl Mapped {
    pub(super) fn new(executable: &[u8]) -> Self {
        Self {
            executable: executable.into(),
            known: HashMap::new(),
            ranges: Vec::new(),
        }
    }

    /// One file and where its parts lie, or that all are told anew.
    pub(super) fn take(
        &mut self,
        mut fields: Fields,
        is_sized: bool,
        log: &mut LogWriter,
    ) -> Option<()> {
        if fields.0 == b"-" {
            self.ranges.clear();
            return Some(());
        }
        let path = if is_sized {
            fields.sized()?
        } else {
            fields.word()?
        };
        let path: Box<[u8]> = match path {
            b"x" => self.executable.clone(),
            path => path.into(),
        };
        let bias = fields.hex()?;
        let mut parts = Vec::new();
        while let Some(offset) = fields.hex() {
            let first = bias.wrapping_add(offset);
            parts.push((first, first.saturating_add(fields.hex()?)));
        }
        let low = parts.iter().map(|part| part.0).min().unwrap_or(0);
        let high = parts.iter().map(|part| part.1).max().unwrap_or(0);
        let module = *self
            .known
            .entry((path.clone(), bias))
            .or_insert_with(|| log.module(&path, b"", bias, low..high));
        let ranges = parts.into_iter().map(|(first, end)| (first, end, module));
        self.ranges.extend(ranges);
        self.ranges.sort_unstable_by_key(|range| range.0);
        Some(())
    }

    /// The file at an address.
    pub(super) fn at(&self, address: u64) -> Option<ModuleId> {
        let behind = self.ranges.partition_point(|range| range.0 <= address);
        let (_, end, module) = *self.ranges.get(behind.checked_sub(1)?)?;
        (address < end).then_some(module)
    }
}
