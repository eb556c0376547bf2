//! Finds the table of a log, or makes it.

use std::path::Path;

use memlog_analysis::{Instant, Snapshots};

use super::kept;
use crate::names::SymbolFiles;
use crate::open::{Analysis, Family, FileBytes, Sidecar, Watch, make_table};
use crate::words::{Advice, tell_note};

/// The bytes of a table, and what the log told as a whole if it was read for it.
pub struct Found {
    pub bytes: FileBytes,
    pub analysis: Option<Analysis>,
}

/// The table that was kept, unless `is_again`: then that one is not what it seemed.
/// `moments` are of interest if the log is read.
pub fn find(
    (family, file): (&Family, &Path),
    symbol_files: &SymbolFiles,
    sidecar: &Sidecar,
    watch: &Watch,
    (moments, is_again): ((Option<Instant>, Option<Snapshots>), bool),
) -> anyhow::Result<Found> {
    if let Some(bytes) = (!is_again).then(|| sidecar.found()).flatten() {
        return Ok(Found {
            bytes,
            analysis: None,
        });
    }
    let figures = |analysis: &_| kept(family, file, analysis, symbol_files);
    let made = make_table(family, sidecar, moments, watch, figures);
    let made = made.map_err(|error| {
        Advice::error(
            format!("cannot make the table of its blocks: {error}"),
            "it takes memory, or room in the folder of the log, about as much as the log",
        )
    })?;
    if let Some(why) = made.table.not_kept {
        tell_note(&format!(
            "the table of its blocks was not kept, so the next question will read the whole \
             log again: {why}"
        ));
    }
    Ok(Found {
        bytes: made.table.bytes,
        analysis: Some(made.analysis),
    })
}

/// What is said where even a new table changes while it is read.
pub fn damaged() -> anyhow::Error {
    Advice::error(
        "the table of the log's blocks changed while it was read",
        "ask again: it will be made anew",
    )
}
