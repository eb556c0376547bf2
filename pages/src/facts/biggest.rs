//! Which moment stands for the process at its biggest.

use memlog_analysis::Summary;
use memlog_format::meta::Lack;
use memlog_read::Log;

use super::is_unknown;

/// What is known to have been live, it was so then: at the RSS peak, where that is known.
pub fn when_biggest(log: &Log, summary: &Summary) -> &'static str {
    match (summary.shows_rss_peak(), summary.window) {
        _ if is_unknown(log, Lack::Peak) => "at the one moment of the file",
        (true, _) => "at the RSS peak",
        (false, None) => "at the heap's maximum",
        (false, Some(_)) => "at the largest heap of the window",
    }
}
