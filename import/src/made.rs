//! What a writer is told, and what it tells.

use memlog_format::meta::Lack;

use crate::segments::Segments;

/// How to import.
#[derive(Clone, Copy, Debug, Default)]
pub struct Settings {
    /// Of sums only what is live at some moment is made blocks.
    pub held_only: bool,
    /// Where the parts of a file of code lie, if that is here.
    pub segments: Option<Segments>,
}

/// A module of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModuleId(pub(crate) u32);

/// Blocks that are of a sum.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Held {
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) blocks: u64,
    pub(crate) bytes: u64,
}

/// What was made.
#[derive(Debug, Default)]
pub struct Made {
    /// The form it was made from.
    pub tool: &'static str,
    /// Blocks that came.
    pub allocations: u64,
    /// Blocks that went.
    pub releases: u64,
    /// Blocks that are live at the end, and their bytes.
    pub live: (u64, u64),
    /// Releases of blocks that the file does not have, which are left out.
    pub unknown_releases: u64,
    /// Blocks that came where one was live already, which is taken as gone.
    pub replaced: u64,
    /// Times that went back, which are taken as the time before.
    pub times_back: u64,
    /// Chunks of the log.
    pub chunks: u32,
    /// Lines or records that were not understood, and left out.
    pub left_out: u64,
    /// The first of them, and other remarks: a sentence each.
    pub remarks: Vec<String>,
    /// What the source does not know.
    pub lacks: Vec<Lack>,
}

impl Held {
    /// The block of this number: where it lies, and how large it is.
    pub(crate) fn block(&self, index: u64) -> (u64, u64) {
        let size = self.bytes / self.blocks;
        let is_longer = index < self.bytes % self.blocks;
        let address = self.first + index * self.step;
        (address, size + u64::from(is_longer))
    }
}
