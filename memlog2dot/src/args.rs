//! The command line.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser, ValueEnum};
use memlog_analysis::Moment;
use memlog_export::{When, percent};

use crate::{Elsewhere, Trouble};

/// The command of 2015, under a name of its own.
#[derive(Parser)]
#[command(
    name = "memlog2dot",
    version,
    about = "Draws who held the memory: FILE.dot, .txt, .ps, .pdf and .svg"
)]
pub struct Cli {
    /// What is asked.
    #[command(flatten)]
    pub args: Args,
}

/// Draw who held the memory: FILE.dot, .txt, .ps, .pdf and .svg
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    #[arg(value_name = "FILE|'GLOB'")]
    pub(crate) file: PathBuf,
    /// Where the files go; made if need be [default: the current folder]
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
    /// More names, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
    /// The same as DIR
    #[arg(short, long, value_name = "DIR", conflicts_with = "dir")]
    output: Option<PathBuf>,
    /// Memory live at the end, as --at end
    #[arg(long, visible_alias = "show-leaks", conflicts_with = "at")]
    leaks: bool,
    /// Memory live at this moment: rss-peak, heap-peak, end, or a time since
    /// the start as 12.5, 12.5s, 300ms or 2m
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<When>,
    /// Leave out of the picture what holds less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    pub(crate) threshold: f64,
    /// Give each place of a run that only passes on a box of its own
    #[arg(long)]
    pub(crate) no_fold: bool,
    /// Add the linker's symbol and the offset in it to every place; each has a box of its own then
    #[arg(long)]
    pub(crate) print_symbol_names: bool,
    /// Who draws: Graphviz if it is there, or memlog itself
    #[arg(long, value_name = "WHO", default_value = "auto")]
    pub(crate) draw: Draw,
    /// Where the files with the names are.
    #[command(flatten)]
    pub elsewhere: Elsewhere,
    /// Say nothing of what is written
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Print help
    #[arg(short, long, short_alias = '?', action = ArgAction::Help)]
    help: Option<bool>,
}

/// Who draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Draw {
    /// Graphviz if it is there and does it, else memlog.
    Auto,
    /// memlog.
    BuiltIn,
    /// Graphviz or nobody.
    Graphviz,
}

impl Args {
    /// A pattern that was not quoted gives many names.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.more.is_empty() {
            return Ok(());
        }
        let count = self.more.len() + 2;
        Err(Trouble::error(
            format!("memlog2dot takes a log and a folder, and {count} names were given"),
            "quote the pattern, as in memlog2dot '*.memlog'; then the log with the highest RSS \
             peak is taken",
        ))
    }

    pub(crate) fn folder(&self) -> &Path {
        let given = self.output.as_deref().or(self.dir.as_deref());
        given.unwrap_or(Path::new("."))
    }

    pub(crate) fn when(&self) -> When {
        match self.leaks {
            true => When::Known(Moment::End),
            false => self.at.unwrap_or(When::Known(Moment::RssPeak)),
        }
    }
}
