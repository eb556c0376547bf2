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
/// In pagemap: it is resident, it is a file's or shared, it is this process's alone.
const PRESENT: u64 = 1 << 63;
const OF_FILE: u64 = 1 << 61;
const ALONE: u64 = 1 << 56;

/// Room to read them in.
pub struct Pages {
    bytes: [u8; AT_ONCE],
    runs: [u8; RUNS],
    /// Bytes of runs that may still come.
    left: usize,
    /// When there is no more time.
    until_ns: u64,
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

/// What pagemap tells of a mapping.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    /// Pages that are resident.
    pub resident: u64,
    /// Those of them that were written to, and are the file's no more.
    pub anonymous: u64,
    /// Those of them that no other process has, nor are the kernel's page of zeros.
    pub alone: u64,
}

impl Pages {
    /// A census begins, which has time until then: a mapping may have billions of pages.
    pub fn begin(&mut self, until_ns: u64) {
        (self.left, self.until_ns) = (MOST, until_ns);
    }

    /// Whether there is no more time.
    pub fn is_late(&self) -> bool {
        Os::ticks_ns() > self.until_ns
    }

    /// The runs of a range of no file, or of as much of its beginning as there is room
    /// for; nothing if that cannot be told. With a pagemap only pages that are this
    /// process's alone are there.
    pub fn runs(&mut self, low: u64, high: u64, pagemap: Option<Fd>) -> Option<Runs<'_>> {
        let page_bytes = sys::page_bytes();
        let Self {
            bytes,
            runs,
            left,
            until_ns,
        } = self;
        let mut out = Writer::new(runs);
        let has_room = *left > 2 * VARINT;
        let most = RUNS.min(*left).saturating_sub(2 * VARINT);
        let (mut at, mut resident, mut written) = (low, 0, 0);
        let (mut is_run_there, mut run) = (false, 0u64);
        'asking: while at < high {
            for byte in next(bytes, (at, high), pagemap, *until_ns)? {
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

    /// Whether mincore takes more for resident than the kernel counts, which are
    /// `counted` bytes, and pagemap tells which are not.
    pub fn has_zeros(&mut self, pagemap: Fd, low: u64, high: u64, counted: u64) -> bool {
        let page_bytes = sys::page_bytes();
        let (mut at, mut there) = (low, 0);
        while at < high {
            let Some(found) = next(&mut self.bytes, (at, high), None, self.until_ns) else {
                return false;
            };
            there += found.iter().filter(|byte| **byte & 1 != 0).count() as u64;
            at += found.len() as u64 * page_bytes;
        }
        let is_told = |counts: Counts| counts.alone * page_bytes == counted;
        there * page_bytes > counted && self.count(pagemap, low, high).is_some_and(is_told)
    }

    /// Pages of a mapping.
    pub fn count(&mut self, pagemap: Fd, low: u64, high: u64) -> Option<Counts> {
        let page_bytes = sys::page_bytes();
        let mut counts = Counts::default();
        let mut at = low;
        while at < high {
            let pages = words(&mut self.bytes, (at, high), pagemap, self.until_ns)?;
            for place in 0..pages {
                let word = word(&self.bytes, place)?;
                let is_there = word & PRESENT != 0;
                counts.resident += u64::from(is_there);
                counts.anonymous += u64::from(is_there && word & OF_FILE == 0);
                counts.alone += u64::from(is_there && word & ALONE != 0);
            }
            at += pages as u64 * page_bytes;
        }
        Some(counts)
    }
}

/// Of the next pages a byte each, whose lowest bit says whether it is there.
fn next(
    bytes: &mut [u8],
    (at, high): (u64, u64),
    pagemap: Option<Fd>,
    until_ns: u64,
) -> Option<&[u8]> {
    let pages = match pagemap {
        None => {
            let left = (high - at).checked_div(sys::page_bytes())?;
            let pages = left.min(AT_ONCE as u64) as usize;
            let is_late = pages == 0 || Os::ticks_ns() > until_ns;
            let is_told = !is_late && Os::pages_there(at, bytes.get_mut(..pages)?);
            is_told.then_some(pages)?
        }
        Some(pagemap) => {
            let pages = words(bytes, (at, high), pagemap, until_ns)?;
            // Each byte lies before the words that are still to be read.
            for place in 0..pages {
                let is_there = word(bytes, place)? & (PRESENT | ALONE) == PRESENT | ALONE;
                *bytes.get_mut(place)? = u8::from(is_there);
            }
            pages
        }
    };
    bytes.get(..pages)
}

/// Reads what pagemap has of the next pages; how many these are.
fn words(bytes: &mut [u8], (at, high): (u64, u64), pagemap: Fd, until_ns: u64) -> Option<usize> {
    let page_bytes = sys::page_bytes();
    let left = (high - at).checked_div(page_bytes)?;
    let pages = left.min((AT_ONCE / WORD) as u64) as usize;
    let bytes = bytes.get_mut(..pages * WORD)?;
    let offset = at.checked_div(page_bytes)? * WORD as u64;
    let is_late = pages == 0 || Os::ticks_ns() > until_ns;
    let is_told = !is_late && Os::read_at(pagemap, bytes, offset) == Ok(bytes.len());
    is_told.then_some(pages)
}

fn word(bytes: &[u8], place: usize) -> Option<u64> {
    let word = bytes.get(place * WORD..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*word))
}

/// Of a varint.
fn length_of(number: u64) -> usize {
    (64 - (number | 1).leading_zeros() as usize).div_ceil(7)
}
