//! `memlog dot`, and memlog started as memlog2dot or memlog_analyze.

use std::path::Path;
use std::process::ExitCode;

/// The names under which the one binary is the old command.
const NAMES: [&str; 2] = ["memlog2dot", "memlog_analyze"];

/// Whether the command was started under one of its old names.
pub fn is_name(started_as: &Path) -> bool {
    let name = started_as.file_name();
    NAMES.iter().any(|old| name == Some(old.as_ref()))
}

/// Writes the files.
pub fn run(args: &memlog2dot::Args) -> anyhow::Result<ExitCode> {
    memlog2dot::run(args)?;
    Ok(ExitCode::SUCCESS)
}
