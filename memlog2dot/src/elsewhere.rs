//! What every command is asked that shows names: where the files with the names are.

use std::path::PathBuf;

/// Files of another machine, or moved since.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Elsewhere {
    /// Folder below which the files of the machine that ran the program lie as they lay there;
    /// also $MEMLOG_SYSROOT
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// Folder to look in for programs, libraries and their debug files, by build-id, path and
    /// name, or one such file; may be given again; also $MEMLOG_DEBUG_SYMBOLS, with colons
    #[arg(long, value_name = "DIR|FILE")]
    pub debug_symbols: Vec<PathBuf>,
}
