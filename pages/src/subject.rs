//! A log that was read.

use std::path::Path;

use crate::names::SymbolFiles;
use crate::open::{Analysis, Family};
use crate::words::Sizes;

/// A log that was read, and what a page of it is told by.
pub struct Subject<'a> {
    /// The log.
    pub file: &'a Path,
    /// Where the names were looked for.
    pub symbol_files: &'a SymbolFiles,
    /// The log and its parents'.
    pub family: &'a Family<'a>,
    /// What it tells.
    pub analysis: &'a Analysis,
    /// How sizes are told.
    pub sizes: Sizes,
    /// Whether the program runs still: then the log's end is but now.
    pub is_running: bool,
    /// What there is to say of calls that got no memory.
    pub failed: Vec<String>,
}
