//! Chunks of a log without what they tell of its user. Nothing in them may move: fork points
//! and folds name offsets. So a text is written over with one of the same length.

use std::collections::HashMap;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, SEALED, checksum};
use memlog_format::event::{Deltas, Event};
use memlog_format::ext::Ext;
use memlog_format::varint::Reader;

use crate::hide::{Hidden, Hider, masked};

/// What becomes of each text.
pub(crate) struct Scrub {
    hidden: Hidden,
    secrets: Vec<Vec<u8>>,
    threads: HashMap<Vec<u8>, Vec<u8>>,
    marks: HashMap<Vec<u8>, Vec<u8>>,
    scopes: HashMap<Vec<u8>, Vec<u8>>,
}

impl Scrub {
    /// As that hides.
    pub(crate) fn new(hider: &Hider) -> Self {
        Self {
            hidden: hider.hidden(),
            secrets: hider.secrets().to_vec(),
            threads: HashMap::new(),
            marks: HashMap::new(),
            scopes: HashMap::new(),
        }
    }

    /// A chunk as it may be seen. What is no part of the log, and what cannot be read of it,
    /// is zeros.
    pub(crate) fn chunk(&mut self, chunk: &[u8]) -> Vec<u8> {
        match Header::decode(chunk) {
            Ok(Some(header)) if header.kind == Kind::Events => self.events(chunk, &header),
            // Numbers alone.
            Ok(Some(header)) if header.kind != Kind::Meta => chunk.to_vec(),
            _ => vec![0; chunk.len()],
        }
    }

    fn events(&mut self, chunk: &[u8], header: &Header) -> Vec<u8> {
        let end = (header.committed as usize).min(chunk.len());
        let mut out = chunk[..end].to_vec();
        let mut records = Reader::new(&chunk[HEADER_SIZE..end]);
        let mut deltas = Deltas::at_start(header.base_tick, header.base_stamp);
        loop {
            let at = HEADER_SIZE + records.at();
            match deltas.next(&mut records) {
                Ok(Some(Event::Ext(ext))) => {
                    if let Some((text, instead)) = self.instead(&ext) {
                        let after = HEADER_SIZE + records.at();
                        put(&mut out, at..after, text, &instead);
                    }
                }
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => {
                    out[at..].fill(0);
                    break;
                }
            }
        }
        let body = HEADER_SIZE..end;
        let was_intact = header.is_sealed() && checksum(&chunk[body.clone()]) == header.checksum;
        if was_intact && end == header.committed as usize {
            let header = Header {
                flags: header.flags | SEALED,
                checksum: checksum(&out[body]),
                ..*header
            };
            out[..HEADER_SIZE].copy_from_slice(&header.encode());
        }
        out.resize(chunk.len().min(CHUNK_SIZE), 0);
        out
    }

    /// A text of a record that is not to be seen, and what stands there instead.
    fn instead<'e>(&mut self, ext: &Ext<'e>) -> Option<(&'e [u8], Vec<u8>)> {
        let (text, kind): (&[u8], _) = match ext {
            Ext::Thread { name, .. } => (name, Some((&mut self.threads, "thread"))),
            Ext::Mark(text) => (text, Some((&mut self.marks, "mark"))),
            Ext::Scope(text) => (text, Some((&mut self.scopes, "scope"))),
            Ext::Limit(limit) => (limit.name, None),
            Ext::Unknown { payload, .. } => return Some((payload, vec![b'x'; payload.len()])),
            _ => return None,
        };
        let instead = match (self.hidden, kind) {
            (Hidden::Nothing, _) => return None,
            (Hidden::Partial, _) => masked(text, &self.secrets),
            (Hidden::Full, Some((known, word))) => {
                let number = known.len() + 1;
                let known = known.entry(text.to_vec());
                known
                    .or_insert_with(|| numbered(word, number, text.len()))
                    .clone()
            }
            (Hidden::Full, None) => vec![b'x'; text.len()],
        };
        Some((text, instead))
    }
}

/// Writes over a text where it stands in its record: at the end of it, as texts do.
fn put(out: &mut [u8], record: std::ops::Range<usize>, text: &[u8], instead: &[u8]) {
    let record = &mut out[record];
    let found = record
        .windows(text.len().max(1))
        .rposition(|bytes| bytes == text);
    if let Some(at) = found.filter(|_| !text.is_empty()) {
        record[at..][..text.len()].copy_from_slice(instead);
    }
}

/// A name of that length: `thread-0012`, or what of it there is room for.
fn numbered(word: &str, number: usize, length: usize) -> Vec<u8> {
    let starts = [&format!("{word}-"), &word[..1], ""];
    let mut names = starts.into_iter().map(|start| {
        let digits = length.saturating_sub(start.len());
        format!("{start}{number:0digits$}")
    });
    let name = names.find(|name| name.len() == length);
    name.unwrap_or_else(|| "x".repeat(length)).into_bytes()
}
