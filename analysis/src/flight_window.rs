//! What is known of the events that a flight recorder overwrote.

use memlog_format::live::Sums;

use crate::rss::Level;

/// The part of a recording that its log still holds event by event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlightWindow {
    /// All events after this tick are in the log, and some of before.
    pub horizon_tick: u64,
    /// Bytes of events that the log was given.
    pub bound_bytes: u64,
    /// Chunks of events that were overwritten.
    pub folded_chunks: u64,
    /// The reading of resident memory among them that is the highest without
    /// the recorder's own part.
    pub folded_rss: Level,
    /// When that was read.
    pub folded_rss_tick: u64,
    /// The most that was live as far as they tell, for they were looked at
    /// thread by thread.
    pub folded_peak_bytes: u64,
    /// When that was.
    pub folded_peak_tick: u64,
    /// Whether the peak of resident memory lies among them: what was live then
    /// is not known any more, and the figures are of the largest heap since.
    pub is_rss_peak_before: bool,
    /// Whether the largest heap lies among them.
    pub is_heap_peak_before: bool,
}

impl FlightWindow {
    pub(crate) fn new(sums: &Sums, bound_bytes: u64) -> Self {
        Self {
            horizon_tick: sums.horizon_tick,
            bound_bytes,
            folded_chunks: sums.chunks,
            folded_rss: Level {
                kb: sums.rss_kb,
                own_kb: sums.rss_own_kb,
            },
            folded_rss_tick: sums.rss_tick,
            folded_peak_bytes: sums.peak_bytes,
            folded_peak_tick: sums.peak_tick,
            ..Self::default()
        }
    }
}
