//! The page by which the processes of a tree share a bound on all their logs,
//! MEMLOG_MAX_LOGS_TOTAL. `memlog record` makes it, and it is gone with the run:
//! words of the machine's own order, and no part of any log.

/// The first word, by which another machine's page is known too: an emulator may
/// run programs of one beside those of this.
pub const MAGIC: u64 = u64::from_le_bytes(*b"MLOGSUM1");
/// Bytes of the file.
pub const PAGE_BYTES: usize = 512;
/// What a log takes at least that says anything.
pub const LEAST_BYTES: u64 = 16 << 10;

/// Its words of 64 bits, by their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Word {
    /// Bytes that all logs may take.
    Limit = 1,
    /// Bytes that they have taken.
    Taken = 2,
    /// Processes whose log was cut for that.
    Cut = 3,
    /// Processes that have none for that.
    WithoutLog = 4,
}

impl Word {
    /// Its value in the bytes of the page.
    pub fn read(self, page: &[u8; PAGE_BYTES]) -> u64 {
        let at = 8 * self as usize;
        let mut bytes = [0; 8];
        for (place, byte) in bytes.iter_mut().zip(page.iter().skip(at)) {
            *place = *byte;
        }
        u64::from_ne_bytes(bytes)
    }
}

/// A page of a run that begins.
pub fn page(limit_bytes: u64) -> [u8; PAGE_BYTES] {
    let mut page = [0; PAGE_BYTES];
    let words = [MAGIC, limit_bytes].map(u64::to_ne_bytes);
    for (place, byte) in page.iter_mut().zip(words.iter().flatten()) {
        *place = *byte;
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_begins_with_its_bound_and_nothing_taken() {
        let page = page(12345);
        assert!(page.starts_with(&MAGIC.to_ne_bytes()));
        assert_eq!(Word::Limit.read(&page), 12345);
        for word in [Word::Taken, Word::Cut, Word::WithoutLog] {
            assert_eq!(word.read(&page), 0);
            assert!(8 * (word as usize + 1) <= PAGE_BYTES);
        }
    }
}
