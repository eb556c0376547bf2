//! The command line.

use std::path::{Path, PathBuf};

use clap::{ArgAction, Parser, ValueEnum};
use memlog_export::draw::Paper;
use memlog_export::percent;
use memlog_pages::graph::Wanted;
use memlog_pages::{Advice, At, SymbolFiles, Where};

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
    /// Memory live at this moment: rss-peak, heap-peak, start, end, a time since the start
    /// as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME'
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// Leave out of the picture what holds less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = percent)]
    pub(crate) threshold: f64,
    /// Draw so many boxes at most, the heaviest; 0: all that -t leaves, up to 300
    #[arg(long, value_name = "N", default_value = "60")]
    pub(crate) max_boxes: usize,
    /// Give each line of a function a box of its own
    #[arg(long)]
    pub(crate) lines: bool,
    /// Give each place of a run that only passes on a box of its own
    #[arg(long)]
    pub(crate) no_fold: bool,
    /// Leave out what the program mapped itself, which is in no heap
    #[arg(long)]
    no_mapped: bool,
    /// Add the linker's symbol and the offset in it to every place; each has a box of its own then
    #[arg(long)]
    pub(crate) print_symbol_names: bool,
    /// Write only these, with commas: dot, txt, ps, pdf, svg
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    format: Vec<Format>,
    /// Open the picture that was drawn, by $BROWSER or xdg-open
    #[arg(long)]
    pub(crate) open: bool,
    /// What PDF and PS are printed on: a4 or letter [default: letter where the
    /// locale is of the USA or Canada, else a4]
    #[arg(long, value_name = "PAPER")]
    paper: Option<Paper>,
    /// Who draws: memlog itself, or Graphviz
    #[arg(long, value_name = "WHO", default_value = "built-in")]
    pub(crate) draw: Draw,
    #[command(flatten)]
    blocks: Where,
    /// Where the files with the names are.
    #[command(flatten)]
    pub(crate) symbol_files: SymbolFiles,
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
    /// memlog.
    BuiltIn,
    /// Graphviz or nobody.
    Graphviz,
    /// Graphviz if it is there and does it, else memlog.
    Auto,
}

/// A file that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// The graph in Graphviz's language.
    Dot,
    /// The page as text.
    Txt,
    /// The picture as PostScript.
    Ps,
    /// The picture as PDF.
    Pdf,
    /// The picture as SVG.
    Svg,
}

impl Format {
    /// What its file ends in.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Self::Dot => "dot",
            Self::Txt => "txt",
            Self::Ps => "ps",
            Self::Pdf => "pdf",
            Self::Svg => "svg",
        }
    }

    /// Whether it needs no drawing.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Dot | Self::Txt)
    }
}

impl Args {
    /// A pattern that was not quoted gives many names.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.open && self.formats().into_iter().all(Format::is_text) {
            return Err(Advice::error(
                "--open opens a picture, and --format names none",
                "name one, as in --format svg, or leave --format out",
            ));
        }
        let on_paper = |format| matches!(format, Format::Ps | Format::Pdf);
        if self.paper.is_some() && !self.formats().into_iter().any(on_paper) {
            return Err(Advice::error(
                "--paper is for pdf and ps, and --format names neither",
                "name one, as in --format pdf, or leave --paper out",
            ));
        }
        if self.more.is_empty() {
            return Ok(());
        }
        let count = self.more.len() + 2;
        Err(Advice::error(
            format!("memlog2dot takes a log and a folder, and {count} names were given"),
            "quote the pattern, as in memlog2dot '*.memlog'; then the log with the highest RSS \
             peak is taken",
        ))
    }

    pub(crate) fn folder(&self) -> &Path {
        let given = self.output.as_deref().or(self.dir.as_deref());
        given.unwrap_or(Path::new("."))
    }

    /// What is written, in the order in which it is.
    pub(crate) fn formats(&self) -> Vec<Format> {
        let mut all = Format::value_variants().to_vec();
        all.retain(|format| self.format.is_empty() || self.format.contains(format));
        all
    }

    pub(crate) fn wanted(&self) -> Wanted<'_> {
        Wanted {
            at: self.at(),
            with_symbols: self.print_symbol_names,
            with_mapped: !self.no_mapped,
            blocks: &self.blocks,
        }
    }

    pub(crate) fn paper(&self) -> Paper {
        // As the C library does: the first that says anything.
        let names = ["LC_ALL", "LC_PAPER", "LANG"];
        let locales = names.into_iter().filter_map(std::env::var_os);
        let mut said = locales.filter(|locale| !locale.is_empty());
        let of_locale = || Paper::of_locale(&said.next().unwrap_or_default().to_string_lossy());
        self.paper.unwrap_or_else(of_locale)
    }

    fn at(&self) -> &At {
        match self.leaks {
            true => &At::END,
            false => self.at.as_ref().unwrap_or(&At::RSS_PEAK),
        }
    }
}
