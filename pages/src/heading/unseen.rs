//! The largest mapping of the peak that no recorded call explains, in words.

use memlog_analysis::Tally;
use memlog_answers::{Unseen, largest_unseen};
use memlog_read::Log;

use crate::facts::log_name;
use crate::words::{Sizes, clean};

/// Nothing where it is smaller than `least` bytes, or none was read about the peak.
pub fn largest(log: &Log, tally: &Tally, sizes: Sizes, least: u64) -> Option<String> {
    let largest = log.censuses().iter();
    let largest = largest.filter(|resident| resident.census.is_whole);
    let resident = largest.max_by_key(|resident| resident.census.resident_kb)?;
    let page_bytes = log.start()?.page_bytes.into();
    let unreached = |low, high| tally.unreached(low, high);
    let of = (log_name(log), page_bytes);
    let (what, bytes) = largest_unseen(&resident.mapped, of, unreached)?;
    let size = sizes.of(bytes);
    (bytes >= least).then(|| match what {
        Unseen::File(path) => format!("{size} of {}", clean(&path)),
        Unseen::Stacks => format!("{size} stacks of threads"),
        Unseen::Nameless(low, high) => {
            format!("{size} that no recorded call mapped, at {low:x}-{high:x}")
        }
    })
}
