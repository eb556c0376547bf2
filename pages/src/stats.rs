//! `memlog stats`: the figures of a log, for people or as JSON.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::choose::chosen;
use crate::figures::figures;
use crate::open::{Files, Watch};
use crate::page::{Page, Part};
use crate::shown::print;

/// Print the figures of a log.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Print them as JSON, schema memlog-stats-1
    #[arg(long)]
    json: bool,
}

/// Prints the figures.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = chosen(&args.file)?;
    let watch = Watch::begin();
    let files = Files::load(&file, &watch)?;
    let family = files.family()?;
    let analysis = family.analyse(None, &watch);
    watch.end();
    let page = Page {
        figures: figures(&family, &analysis),
        parts: vec![Part::Figures],
        ..Page::default()
    };
    print(&page, args.json)?;
    Ok(ExitCode::SUCCESS)
}
