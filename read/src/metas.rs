//! The header chunks: what the log is of, modules, fork, end.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memlog_format::counter::AREA_END;
use memlog_format::kept::{KeptFile, Place, Word};
use memlog_format::meta::{CodeName, Death, End, ForkPoint, Key, Module, Record, Start};
use memlog_format::resident::{Census, Mapped};
use memlog_format::tuned::Tuned;
use memlog_format::varint::Reader;

use crate::error::{Finding, Findings};
use crate::grid::Span;

/// What was resident at a moment, mapping by mapping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resident<'a> {
    /// When, and what the kernel counted.
    pub census: Census,
    /// Where, by their addresses.
    pub mapped: Vec<Mapped<'a>>,
}

/// Names that were put into a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept<'a> {
    words: HashMap<u32, Cow<'a, [u8]>>,
    /// Files of code.
    pub files: Vec<KeptFile<'a>>,
    /// Addresses in them.
    pub places: Vec<Place<'a>>,
}

impl<'a> Kept<'a> {
    /// The text of this number.
    pub fn word(&self, number: u32) -> Option<&[u8]> {
        self.words.get(&number).map(|text| &**text)
    }

    fn take(&mut self, word: Word<'a>) {
        match self.words.entry(word.number) {
            Entry::Vacant(place) => {
                place.insert(Cow::Borrowed(word.text));
            }
            Entry::Occupied(mut text) => {
                text.get_mut().to_mut().extend_from_slice(word.text);
            }
        }
    }
}

/// Everything that the header chunks say.
#[derive(Debug, Default)]
pub(crate) struct Metas<'a> {
    pub start: Option<Start>,
    pub texts: Vec<(Key, &'a [u8])>,
    pub modules: Vec<Module<'a>>,
    pub unloads: Vec<(u32, u64)>,
    pub parent: Option<u32>,
    pub fork_points: Vec<ForkPoint>,
    pub end: Option<End>,
    pub death: Option<Death>,
    pub code_names: Vec<CodeName<'a>>,
    pub censuses: Vec<Resident<'a>>,
    pub tunings: Vec<Tuned>,
    pub kept: Kept<'a>,
    /// Of a census whose end has not come.
    mapped: Vec<Mapped<'a>>,
}

/// Among so many censuses one of the same reading is looked for.
const RECENT: usize = 4;

impl<'a> Metas<'a> {
    /// Reads the chunks in their order.
    pub(crate) fn read(bytes: &'a [u8], spans: &[Span], findings: &mut Findings) -> Self {
        let mut metas = Self::default();
        for span in spans {
            if !span.is_intact(bytes) {
                let offset = span.offset;
                findings.push(Finding::BadChecksum { offset });
            }
            // In chunk 0 the counters come first.
            let start = match span.offset {
                0 => AREA_END.min(span.end),
                offset => (offset + memlog_format::chunk::HEADER_SIZE).min(span.end),
            };
            let records = bytes.get(start..span.end).unwrap_or(&[]);
            metas.read_records(Reader::new(records), start, findings);
        }
        if metas.start.is_none() {
            findings.push(Finding::NoStart);
        }
        metas
    }

    fn read_records(&mut self, mut records: Reader<'a>, start: usize, findings: &mut Findings) {
        loop {
            match Record::next(&mut records) {
                Ok(Some(record)) => self.take(record),
                Ok(None) => return,
                Err(error) => {
                    findings.push(Finding::BadMeta {
                        offset: start + error.offset,
                        expected: error.expected,
                    });
                    return;
                }
            }
        }
    }

    fn take(&mut self, record: Record<'a>) {
        match record {
            Record::Start(start) => self.start = self.start.or(Some(start)),
            Record::Text(key, text) => self.texts.push((key, text)),
            Record::Module(module) => self.modules.push(module),
            Record::Unload { id, tick } => self.unloads.push((id, tick)),
            Record::Parent { pid } => self.parent = Some(pid),
            Record::ForkPoint(point) => self.fork_points.push(point),
            Record::End(end) => self.end = Some(end),
            Record::Death(death) => self.death = Some(death),
            Record::CodeName(code) => self.code_names.push(code),
            Record::Mapped(mapped) => {
                // They rise: those before are of a census that has no end.
                let last = self.mapped.last();
                if last.is_some_and(|last| mapped.low_kb <= last.low_kb) {
                    self.mapped.clear();
                }
                self.mapped.push(mapped);
            }
            Record::Census(census) => {
                let mapped = std::mem::take(&mut self.mapped);
                let is_same = |last: &Resident| last.census.stamp == census.stamp;
                // Another thread's may have come between.
                let recent = self.censuses.len().saturating_sub(RECENT);
                let same = self.censuses[recent..].iter().position(is_same);
                if let Some(place) = same.map(|place| recent + place) {
                    if self.censuses[place].census.is_whole && !census.is_whole {
                        return;
                    }
                    self.censuses[place] = Resident { census, mapped };
                    return;
                }
                self.censuses.push(Resident { census, mapped });
            }
            Record::Tuned(tuned) => self.tunings.push(tuned),
            Record::Word(word) => self.kept.take(word),
            Record::KeptFile(file) => self.kept.files.push(file),
            Record::Place(place) => self.kept.places.push(place),
            Record::Unknown(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(records: &[Record]) -> Vec<(u64, Vec<u64>)> {
        let mut bytes = Vec::new();
        for record in records {
            let mut room = [0; 300];
            let length = record.encode(&mut room).expect("room");
            bytes.extend(&room[..length]);
        }
        let mut findings = Findings::default();
        let mut metas = Metas::default();
        metas.read_records(Reader::new(&bytes), 0, &mut findings);
        let told = metas.censuses.iter().map(|one| {
            let lows = one.mapped.iter().map(|mapped| mapped.low_kb);
            (one.census.stamp, lows.collect())
        });
        told.collect()
    }

    fn mapped(low_kb: u64) -> Record<'static> {
        Record::Mapped(Mapped {
            low_kb,
            ..Mapped::default()
        })
    }

    fn census(stamp: u64, is_whole: bool) -> Record<'static> {
        Record::Census(Census {
            stamp,
            is_whole,
            ..Census::default()
        })
    }

    #[test]
    fn mappings_without_an_end_are_of_no_census() {
        let records = [mapped(5), mapped(9), mapped(3), mapped(7), census(1, true)];
        assert_eq!(read(&records), [(1, vec![3, 7])]);
        assert!(read(&records[..4]).is_empty());
        // It had begun with the same mapping.
        let records = [mapped(3), mapped(3), mapped(7), census(1, true)];
        assert_eq!(read(&records), [(1, vec![3, 7])]);
    }

    #[test]
    fn of_two_of_one_reading_the_second_counts() {
        let second = |is_whole| {
            let first = [mapped(1), census(7, true), mapped(2), census(8, true)];
            read(&[&first[..], &[mapped(3), census(7, is_whole)]].concat())
        };
        assert_eq!(second(true), [(7, vec![3]), (8, vec![2])]);
        assert_eq!(second(false), [(7, vec![1]), (8, vec![2])]);
    }
}
