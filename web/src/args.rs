//! The command line.

use std::path::PathBuf;

use memlog_pages::SymbolFiles;

/// Show logs in a browser.
#[derive(clap::Args)]
pub struct Args {
    /// Logs; or folders and quoted patterns of them, which are looked through again and again
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The port on 127.0.0.1; 0: one that is free
    #[arg(
        short,
        long,
        value_name = "N",
        default_value = "0",
        conflicts_with = "socket"
    )]
    pub port: u16,
    /// Listen at this path instead of a port: for ssh -L 8080:PATH HOST
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
    /// Open the page in a browser
    #[arg(long, conflicts_with = "socket")]
    pub open: bool,
    /// A name that browsers may reach the server by besides localhost, behind a proxy; may be
    /// given again
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Where the names are.
    #[command(flatten)]
    pub symbol_files: SymbolFiles,
}
