//! The header chunks: what the log is of, modules, fork, end.

use memlog_format::counter::AREA_END;
use memlog_format::meta::{CodeName, Death, End, ForkPoint, Key, Module, Record, Start};
use memlog_format::resident::{Census, Mapped};
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
    /// Of a census whose end has not come.
    mapped: Vec<Mapped<'a>>,
}

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
            Record::Mapped(mapped) => self.mapped.push(mapped),
            Record::Census(census) => {
                let mapped = std::mem::take(&mut self.mapped);
                let is_same = |last: &Resident| last.census.stamp == census.stamp;
                if self.censuses.last().is_some_and(is_same) {
                    self.censuses.pop();
                }
                self.censuses.push(Resident { census, mapped });
            }
            Record::Unknown(_) => {}
        }
    }
}
