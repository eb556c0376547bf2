//! A log that was read, and where it is shown.

use std::io::{Result, Write};
use std::path::Path;

use crate::names::{Labels, SymbolFiles};
use crate::open::{Analysis, Family};
use crate::screen::Screen;
use crate::words::counted;

/// A log that was read, and where it is shown.
pub struct Subject<'a> {
    /// The log.
    pub file: &'a Path,
    /// Where the names were looked for.
    pub symbol_files: &'a SymbolFiles,
    /// The log and its parents'.
    pub family: &'a Family<'a>,
    /// What it tells.
    pub analysis: &'a Analysis,
    /// Where it is shown.
    pub screen: &'a Screen,
    /// Whether the program runs still: then the log's end is but now.
    pub is_running: bool,
    /// What there is to say of calls that got no memory.
    pub failed: Vec<String>,
}

impl Subject<'_> {
    /// What was wrong with the names, below a page.
    pub fn print_remarks(&self, out: &mut impl Write, labels: &Labels) -> Result<()> {
        let remarks = labels.remarks().chain(labels.cut_short());
        for (index, remark) in remarks.enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", self.screen.note(remark))?;
        }
        Ok(())
    }

    /// The same in one line.
    pub fn count_remarks(&self, out: &mut impl Write, labels: &Labels) -> Result<()> {
        let count = labels.remarks().count() as u64;
        if count > 0 {
            let files = counted(count, "file");
            let sentence =
                format!("{files} of names gone, rebuilt or not taken; memlog report says which");
            writeln!(out, "{}", self.screen.note(&sentence))?;
        }
        Ok(())
    }
}
