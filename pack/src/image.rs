//! The bytes of a log with other meta chunks. Chunks stay where they lie: a flight
//! recorder's folds name places.

use std::collections::BTreeMap;
use std::io::Read;

use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::meta::{Key, Record};

use crate::hide::{Hidden, Hider};
use crate::metas::{Chunks, each, encoded, places};
use crate::scrub::Scrub;

/// A log as it is to be written.
pub struct Image<'a> {
    log: &'a [u8],
    made: BTreeMap<usize, Box<[u8]>>,
    places: usize,
    scrub: Option<Scrub>,
    /// What is next to be handed out.
    next: usize,
    current: Vec<u8>,
    given: usize,
}

impl<'a> Image<'a> {
    /// The log with these names behind it. Of one that has such names already they are put
    /// in their place.
    pub fn new(log: &'a [u8], names: &[Vec<u8>], hider: &mut Hider) -> Self {
        let metas = places(log);
        let behind = log.len().div_ceil(CHUNK_SIZE);
        let mut is_packed = false;
        let mut length = log.len().to_string().into_bytes();
        for (place, header) in &metas {
            each(log, *place, header, |record, _| {
                if let Record::Text(Key::Packed, text) = record {
                    is_packed = true;
                    length = text.to_vec();
                }
            });
        }
        let is_hidden = hider.hidden() != Hidden::Nothing;
        let mut chunks = match is_packed || is_hidden {
            true => {
                let own = metas.iter().map(|(place, _)| *place).collect();
                let mut chunks = Chunks::instead(log, own, behind);
                for (place, header) in &metas {
                    each(log, *place, header, |record, bytes| {
                        if let Some(record) = hider.record(record, bytes) {
                            chunks.push(&record);
                        }
                    });
                }
                chunks
            }
            false => {
                let last = metas.last().map_or(0, |(_, header)| header.sequence);
                Chunks::behind(last.saturating_add(1), behind)
            }
        };
        chunks.push(&encoded(&Record::Text(Key::Packed, &length)));
        if let Some(word) = hider.word() {
            chunks.push(&encoded(&Record::Text(Key::Anonymized, word)));
        }
        names.iter().for_each(|record| chunks.push(record));
        let made: BTreeMap<_, _> = chunks.finish().into_iter().collect();
        let last = made.keys().last().map_or(0, |place| place + 1);
        Self {
            log,
            made,
            places: behind.max(last),
            scrub: is_hidden.then(|| Scrub::new(hider)),
            next: 0,
            current: Vec::new(),
            given: 0,
        }
    }

    /// How many bytes it has.
    pub fn length(&self) -> u64 {
        (self.places * CHUNK_SIZE) as u64
    }

    fn chunk(&mut self, place: usize) -> Vec<u8> {
        if let Some(made) = self.made.get(&place) {
            return made.to_vec();
        }
        let from = (place * CHUNK_SIZE).min(self.log.len());
        let to = (from + CHUNK_SIZE).min(self.log.len());
        let chunk = &self.log[from..to];
        let mut chunk = match &mut self.scrub {
            Some(scrub) => scrub.chunk(chunk),
            None => chunk.to_vec(),
        };
        chunk.resize(CHUNK_SIZE, 0);
        chunk
    }
}

impl Read for Image<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.given == self.current.len() {
            if self.next == self.places {
                return Ok(0);
            }
            self.current = self.chunk(self.next);
            self.next += 1;
            self.given = 0;
        }
        let rest = &self.current[self.given..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.given += count;
        Ok(count)
    }
}
