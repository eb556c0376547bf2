//! Bad input, on both sides: what the reading commands say of it, and that a
//! program under the recorder never notices.

mod reading;
mod room;
#[path = "../runnable/mod.rs"]
mod runnable;
mod settings;
#[path = "../sites/mod.rs"]
mod sites;

/// Any user but root, and not the one that runs the tests.
const NOBODY: u32 = 65534;
/// Blocks enough for several windows of a log.
const MANY: u64 = 120_000;
