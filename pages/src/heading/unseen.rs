//! The largest mapping of the peak that no recorded call explains, in words.

use memlog_analysis::Tally;
use memlog_answers::{Then, Unseen, largest_unseen};
use memlog_format::meta::Key;
use memlog_read::Log;

use crate::words::{Sizes, clean};

/// Nothing where it is smaller than `least` bytes, or none was read about the peak.
pub fn largest(log: &Log, tally: &Tally, sizes: Sizes, least: u64) -> Option<String> {
    let largest = log.censuses().iter();
    let largest = largest.filter(|resident| resident.census.is_whole);
    let resident = largest.max_by_key(|resident| resident.census.resident_kb)?;
    let path = log.text(Key::LogPath).unwrap_or_default();
    let then = Then {
        mapped: &resident.mapped,
        event: 0,
        mapped_event: 0,
        page_bytes: log.start()?.page_bytes.into(),
        log_path: path.rsplit(|&byte| byte == b'/').next().unwrap_or_default(),
        resident: resident.census.resident_kb.saturating_mul(1024),
        own: resident.census.own_kb.saturating_mul(1024),
        is_counted: resident.census.is_counted,
    };
    let (what, bytes) = largest_unseen(&then, |low, high| tally.unreached(low, high))?;
    let size = sizes.of(bytes);
    (bytes >= least).then(|| match what {
        Unseen::File(path) => format!("{size} of {}", clean(&path)),
        Unseen::Stacks => format!("{size} stacks of threads"),
        Unseen::Nameless(low, high) => {
            format!("{size} that no recorded call mapped, at {low:x}-{high:x}")
        }
    })
}
