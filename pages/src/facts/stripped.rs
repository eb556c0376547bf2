//! Logs without the events of blocks that lived shortly, and what they do not know of those.

use memlog_format::meta::Lack;
use memlog_read::LeftOut;

use crate::words::lasted;

/// What such a log does not know.
pub const UNKNOWN: [Lack; 4] = [
    Lack::Addresses,
    Lack::Lifetimes,
    Lack::Reallocs,
    Lack::Course,
];

/// Which blocks it left out, in words that stand behind their count.
pub fn left_out(left_out: LeftOut) -> String {
    match left_out.below_ns {
        Some(ns) => format!("that lived less than {}", lasted(ns as f64 / 1e9)),
        None => "that were freed".to_owned(),
    }
}
