//! Which pages are resident. Of a mapping of no file mincore tells it, ten to thirty
//! times as fast as smaps and pagemap; of a file it tells what the kernel has cached,
//! and so pagemap is asked.

use crate::platform::sys::{self, Fd, Os, Sys};
use memlog_format::varint::Writer;

/// Pages that are asked for at once, a byte each.
const AT_ONCE: usize = 8192;
/// In pagemap a page has so many bytes.
const WORD: usize = 8;
/// Bytes of runs in one record: none is longer than the log's chunks allow.
const RUNS: usize = 4096;
/// A varint is no longer.
const VARINT: usize = 10;
/// Bytes of runs in a census.
const MOST: usize = 64 << 10;
/// In pagemap: it is resident, and it is a file's or shared.
const PRESENT: u64 = 1 << 63;
const OF_FILE: u64 = 1 << 61;

/// Room to read them in.
pub struct Pages {
    bytes: [u8; AT_ONCE],
    runs: [u8; RUNS],
    /// Bytes of runs that may still come.
    left: usize,
}

/// Runs of pages.
pub struct Runs<'a> {
    /// Varints: not resident, resident, and so on. Empty where all are, or where there
    /// is no room for them.
    pub bytes: &'a [u8],
    /// Where they end.
    pub end: u64,
    /// Pages that are resident.
    pub resident: u64,
}

/// Of a file's mapping.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Pages that are resident.
    pub resident: u64,
    /// Those of them that were written to, and are the file's no more.
    pub anonymous: u64,
}

impl Pages {
    /// A census begins.
    pub fn begin(&mut self) {
        self.left = MOST;
    }

    /// The runs of a range of no file, or of as much of its beginning as there is room
    /// for; nothing if that cannot be told.
    pub fn runs(&mut self, low: u64, high: u64) -> Option<Runs<'_>> {
        let page_bytes = sys::page_bytes();
        let Self { bytes, runs, left } = self;
        let mut out = Writer::new(runs);
        let has_room = *left > 2 * VARINT;
        let most = RUNS.min(*left).saturating_sub(2 * VARINT);
        let (mut at, mut resident, mut written) = (low, 0, 0);
        let (mut is_run_there, mut run) = (false, 0u64);
        'asking: while at < high {
            let pages = ((high - at) / page_bytes).min(AT_ONCE as u64) as usize;
            let bytes = bytes.get_mut(..pages)?;
            if pages == 0 || !Os::pages_there(at, bytes) {
                return None;
            }
            for byte in bytes {
                let is_there = *byte & 1 != 0;
                if is_there != is_run_there && has_room {
                    if written >= most {
                        break 'asking;
                    }
                    out.var(run);
                    written += length_of(run);
                    (is_run_there, run) = (is_there, 0);
                }
                run += 1;
                resident += u64::from(is_there);
                at += page_bytes;
            }
        }
        out.var(run);
        let count = out.finish()?;
        let is_full = resident * page_bytes == at - low;
        let count = if has_room && !is_full { count } else { 0 };
        *left -= count.min(*left);
        Some(Runs {
            bytes: runs.get(..count)?,
            end: at,
            resident,
        })
    }

    /// Pages of a file's mapping.
    pub fn count(&mut self, pagemap: Fd, low: u64, high: u64) -> Option<Counts> {
        let page_bytes = sys::page_bytes();
        let mut counts = Counts::default();
        let mut at = low;
        while at < high {
            let pages = ((high - at) / page_bytes).min((AT_ONCE / WORD) as u64) as usize;
            let bytes = self.bytes.get_mut(..pages * WORD)?;
            let offset = at / page_bytes * WORD as u64;
            if pages == 0 || Os::read_at(pagemap, bytes, offset) != Ok(bytes.len()) {
                return None;
            }
            for word in bytes.chunks_exact(WORD) {
                let word = u64::from_ne_bytes(word.try_into().ok()?);
                let is_there = word & PRESENT != 0;
                counts.resident += u64::from(is_there);
                counts.anonymous += u64::from(is_there && word & OF_FILE == 0);
            }
            at += pages as u64 * page_bytes;
        }
        Some(counts)
    }
}

/// Of a varint.
fn length_of(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}
