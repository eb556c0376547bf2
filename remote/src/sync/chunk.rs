//! What the receiver has of a chunk.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Kind, checksum};
use memlog_format::table::{CODE_SIZE, NODE_SIZE};

/// What is compared and sent as one.
pub const PAGE: usize = 4096;
/// So many are a chunk.
pub const PAGES: usize = CHUNK_SIZE / PAGE;

/// Of one chunk that may still change.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Up to where its records are there.
    pub sent: usize,
    /// Its header as it was told.
    pub header: Header64,
    /// What its pages hold, where that is known.
    pages: Option<Box<[Page; PAGES]>>,
}

/// Bytes of a header.
pub type Header64 = [u8; HEADER_SIZE];

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Page {
    /// Nothing was written there.
    #[default]
    Empty,
    /// Nobody knows.
    Unknown,
    /// Bytes with this checksum.
    Holds(u64),
}

impl Default for Chunk {
    /// One of which nothing is there.
    fn default() -> Self {
        Self {
            sent: 0,
            header: [0; HEADER_SIZE],
            pages: None,
        }
    }
}

impl Chunk {
    /// One that may hold anything.
    pub fn unknown() -> Self {
        Self {
            pages: Some(Box::new([Page::Unknown; PAGES])),
            ..Self::default()
        }
    }

    /// Whether nobody knows which chunk it is.
    pub fn is_unknown(&self) -> bool {
        self.header == [0; HEADER_SIZE]
    }

    /// One that has just these bytes.
    pub fn holding(bytes: &[u8], committed: usize) -> Self {
        let mut pages = [Page::Empty; PAGES];
        for (page, bytes) in pages.iter_mut().zip(bytes.chunks(PAGE)) {
            *page = Page::Holds(checksum(bytes));
        }
        let mut header = [0; HEADER_SIZE];
        header.copy_from_slice(&bytes[..HEADER_SIZE]);
        Self {
            sent: committed,
            header,
            pages: Some(Box::new(pages)),
        }
    }

    /// The bytes to send if a page holds others now: from then on it holds them.
    pub fn changed<'b>(&mut self, page: usize, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let pages = self.pages.get_or_insert_default();
        let before = std::mem::replace(&mut pages[page], Page::Holds(checksum(bytes)));
        if before == pages[page] {
            return None;
        }
        match before {
            Page::Empty => Some(without_zeros(bytes)).filter(|rest| !rest.is_empty()),
            Page::Unknown | Page::Holds(_) => Some(bytes),
        }
    }
}

/// Without the zeros at the end.
pub fn without_zeros(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&byte| byte != 0);
    &bytes[..end.map_or(0, |last| last + 1)]
}

/// Whether each place of a table's chunk has a record: those are never changed.
pub fn is_full_table(kind: Option<Kind>, chunk: &[u8]) -> bool {
    let size = match kind {
        Some(Kind::Nodes) => NODE_SIZE,
        Some(Kind::Codes) => CODE_SIZE,
        _ => return false,
    };
    let mut records = chunk[HEADER_SIZE..].chunks_exact(size);
    records.all(|record| record.iter().any(|&byte| byte != 0))
}

/// One bit for each chunk.
#[derive(Debug, Default)]
pub struct Bits(Vec<u64>);

impl Bits {
    /// Sets one.
    pub fn set(&mut self, index: u32) {
        let word = index as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    /// Clears all.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Those of the first `count` that are not set.
    pub fn zeros(&self, count: u32) -> Vec<u32> {
        let words = count.div_ceil(64);
        let word = |at: u32| self.0.get(at as usize).copied().unwrap_or(0);
        let of_word = |at: u32| {
            let clear = !word(at);
            (0..64)
                .filter(move |bit| clear >> bit & 1 != 0)
                .map(move |bit| at * 64 + bit)
        };
        let some = (0..words).filter(|&at| word(at) != u64::MAX);
        some.flat_map(of_word)
            .filter(|&index| index < count)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_not_set_are_found() {
        let mut bits = Bits::default();
        for index in [0, 5, 63, 64, 130] {
            bits.set(index);
        }
        let zeros = bits.zeros(132);
        assert_eq!(zeros.len(), 132 - 5);
        assert!(!zeros.contains(&130) && zeros.contains(&131) && zeros.contains(&1));
        assert!(bits.zeros(1).is_empty());
    }

    #[test]
    fn pages_are_sent_when_they_change() {
        let mut chunk = Chunk::default();
        let mut page = [0; PAGE];
        assert_eq!(chunk.changed(0, &page), None);
        page[7] = 1;
        // It was looked at before, so all of it is sent.
        assert_eq!(chunk.changed(0, &page).map(<[u8]>::len), Some(PAGE));
        assert_eq!(chunk.changed(0, &page), None);
        // In one of which nothing was written, zeros are there.
        assert_eq!(chunk.changed(1, &page).map(<[u8]>::len), Some(8));
        page[7] = 0;
        assert_eq!(chunk.changed(1, &page).map(<[u8]>::len), Some(PAGE));
        let mut unknown = Chunk::unknown();
        assert_eq!(unknown.changed(0, &page).map(<[u8]>::len), Some(PAGE));
    }
}
