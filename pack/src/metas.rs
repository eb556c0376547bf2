//! The meta chunks of a log: their records in order, and chunks made of records.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::meta::Record;
use memlog_format::varint::Reader;

/// No record takes more, as doc/FORMAT.md says.
const MAX_RECORD: usize = 8448;

/// The bytes of a record.
pub(crate) fn encoded(record: &Record) -> Vec<u8> {
    let mut bytes = vec![0; MAX_RECORD];
    let length = record.encode(&mut bytes).unwrap_or(0);
    bytes.truncate(length);
    bytes
}

/// The places in the file at which meta chunks lie, in the order of their records.
pub(crate) fn places(log: &[u8]) -> Vec<(usize, Header)> {
    let chunks = log.chunks(CHUNK_SIZE).enumerate();
    let metas = chunks.filter_map(|(place, chunk)| {
        let header = Header::decode(chunk).ok().flatten()?;
        (header.kind == Kind::Meta).then_some((place, header))
    });
    let mut metas: Vec<_> = metas.collect();
    metas.sort_by_key(|(_, header)| header.sequence);
    metas
}

/// Hands out the records of a meta chunk with their bytes, up to one that cannot be read.
pub(crate) fn each<'a>(
    log: &'a [u8],
    place: usize,
    header: &Header,
    mut take: impl FnMut(Record<'a>, &'a [u8]),
) {
    let start = place * CHUNK_SIZE;
    let from = start + if place == 0 { AREA_END } else { HEADER_SIZE };
    let end = (start + header.committed as usize).min(log.len());
    let bytes = log.get(from..end).unwrap_or(&[]);
    let mut records = Reader::new(bytes);
    let mut at = 0;
    while let Ok(Some(record)) = Record::next(&mut records) {
        take(record, &bytes[at..records.at()]);
        at = records.at();
    }
}

/// Meta chunks that are being filled.
pub(crate) struct Chunks {
    /// Where chunks may lie; then come those behind the log.
    places: std::vec::IntoIter<usize>,
    next_place: usize,
    sequence: u32,
    made: Vec<(usize, Box<[u8]>)>,
    at: usize,
    version: u8,
}

impl Chunks {
    /// In place of those at `places`, with the counters of the log; further ones lie behind
    /// the log's last place.
    pub(crate) fn instead(log: &[u8], places: Vec<usize>, behind: usize) -> Self {
        let mut first = vec![0; CHUNK_SIZE].into_boxed_slice();
        let counters = log.get(HEADER_SIZE..AREA_END).unwrap_or(&[]);
        first[HEADER_SIZE..][..counters.len()].copy_from_slice(counters);
        let version = Header::decode(log).ok().flatten();
        let others: Vec<_> = places.into_iter().filter(|&place| place != 0).collect();
        Self {
            places: others.into_iter(),
            next_place: behind,
            sequence: 0,
            made: vec![(0, first)],
            at: AREA_END,
            version: version.map_or(memlog_format::FIRST_VERSION, |header| header.version),
        }
    }

    /// Behind the log alone.
    pub(crate) fn behind(sequence: u32, behind: usize) -> Self {
        Self {
            places: Vec::new().into_iter(),
            next_place: behind,
            sequence,
            made: Vec::new(),
            at: CHUNK_SIZE,
            version: memlog_format::FIRST_VERSION,
        }
    }

    /// Appends a record.
    pub(crate) fn push(&mut self, record: &[u8]) {
        if self.at + record.len() > CHUNK_SIZE {
            self.seal();
            if !self.made.is_empty() {
                self.sequence += 1;
            }
            let place = self.places.next().unwrap_or_else(|| {
                self.next_place += 1;
                self.next_place - 1
            });
            self.made
                .push((place, vec![0; CHUNK_SIZE].into_boxed_slice()));
            self.at = HEADER_SIZE;
        }
        if let Some((_, chunk)) = self.made.last_mut() {
            chunk[self.at..][..record.len()].copy_from_slice(record);
            self.at += record.len();
        }
    }

    /// How many there are but the first.
    pub(crate) fn others(&self) -> usize {
        self.made.len().saturating_sub(1)
    }

    /// Sets a counter in the first.
    pub(crate) fn set(&mut self, counter: Counter, value: u64) {
        if let Some((_, chunk)) = self.made.first_mut() {
            counter.write(chunk, value);
        }
    }

    /// All of them, by their place. Places that are not needed any more are unused.
    pub(crate) fn finish(mut self) -> Vec<(usize, Box<[u8]>)> {
        self.seal();
        let unused = self
            .places
            .map(|place| (place, vec![0; CHUNK_SIZE].into_boxed_slice()));
        self.made.extend(unused);
        self.made
    }

    fn seal(&mut self) {
        let Some((place, chunk)) = self.made.last_mut() else {
            return;
        };
        let mut header = Header::new(Kind::Meta, 0, self.sequence);
        if *place == 0 {
            header.version = self.version;
        }
        let header = header.over(&chunk[HEADER_SIZE..self.at], true);
        chunk[..HEADER_SIZE].copy_from_slice(&header.encode());
    }
}
