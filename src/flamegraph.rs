//! `memlog flamegraph`: every stack of a log in one page or one picture.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memlog_export::flame::{Flame, Least, View, html, svg};
use memlog_export::percent;
use memlog_pages::flamegraph::{Wanted, flame};
use memlog_pages::{Advice, At, By, Filter, SymbolFiles, Where, choose, shown};
use memlog2dot::open_file;

use crate::output::Output;

/// Draw every stack as a tower of its functions: a page to click in, or a picture
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Write it there: .html or .svg; - is standard output [default: FILE.flame.html in the
    /// current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// A page or a picture, whatever the name ends in
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Format>,
    /// Memory live at this moment first: rss-peak, heap-peak, start, end, a time since the
    /// start as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME' [default: rss-peak]
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// Memory live at the end, as --at end
    #[arg(long, visible_alias = "show-leaks", conflicts_with = "at")]
    leaks: bool,
    /// What widths go by at first: who holds memory, or of the whole run who allocated most bytes,
    /// who made most allocations, most temporary ones, or who freed most bytes
    #[arg(long, value_name = "WHAT", default_value = "live", value_enum)]
    by: By,
    /// From those who called the allocator to their callers
    #[arg(long)]
    reverse: bool,
    /// The outermost function above
    #[arg(long)]
    inverted: bool,
    /// Of a picture, in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = WIDTH, value_parser = clap::value_parser!(u32).range(200..=20_000))]
    width: u32,
    /// In a page sum up what is less than so many percent of every metric
    #[arg(short = 't', long, value_name = "PCT", default_value_t = THRESHOLD, value_parser = percent)]
    threshold: f64,
    /// In a page keep all, however little and however many
    #[arg(long, conflicts_with = "threshold")]
    all: bool,
    /// Show what called main, or the first function of a thread
    #[arg(long)]
    show_below_main: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    blocks: Where,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    /// Open it, by $BROWSER or xdg-open
    #[arg(long)]
    open: bool,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// A page for a browser.
    Html,
    /// A picture.
    Svg,
}

/// Of a picture, in pixels.
const WIDTH: u32 = 1200;
/// Percent.
const THRESHOLD: f64 = 0.01;

/// A page of more places would be slow.
const MOST_NODES: usize = 100_000;
const ELSEWHERE: &str = "give another name: memlog flamegraph FILE -o OUT.html";

/// Writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let at = match args.leaks {
        true => Some((&At::END, "--leaks")),
        false => args.at.as_ref().map(|at| (at, "--at")),
    };
    let output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: ELSEWHERE,
    };
    output.check_open(args.open)?;
    let log = choose(&args.file, |line: &str| output.say(line))?;
    let wanted = Wanted {
        with_scopes: false,
        file: &log,
        symbol_files: &args.symbol_files,
        at,
        by: args.by,
        filter: &args.filter,
        blocks: &args.blocks,
        show_below_main: args.show_below_main,
        is_of_all: false,
    };
    wanted.check()?;
    let format = args.format()?;
    let named = |log: &str| match format {
        Format::Html => format!("{log}.flame.html"),
        Format::Svg => format!("{log}.flame.svg"),
    };
    let (exit, path) = output.write(&log, named, |out| {
        let drawn = flame(&wanted)?;
        let text = args.text(&drawn.flame, format);
        drawn.leave_interrupt();
        out.write_all(text.as_bytes())?;
        Ok(drawn.exit)
    })?;
    if let Some(path) = path.filter(|_| args.open) {
        open_file(&path);
    }
    Ok(exit)
}

impl Args {
    fn format(&self) -> anyhow::Result<Format> {
        let advice = "give such a name, or --format html or svg";
        Format::of(self.format, self.output.as_deref(), advice)
    }

    fn text(&self, flame: &Flame, format: Format) -> String {
        let view = View {
            is_reversed: self.reverse,
            is_inverted: self.inverted,
        };
        match format {
            Format::Html => page(flame, view, (!self.all).then_some(self.threshold)),
            Format::Svg => svg(flame, view, f64::from(self.width)),
        }
    }
}

impl Format {
    /// As is asked for, or by the name's ending.
    pub fn of(
        asked: Option<Self>,
        output: Option<&Path>,
        advice: &'static str,
    ) -> anyhow::Result<Self> {
        let ending = output.and_then(Path::extension);
        let by_name = match ending.map(|ending| ending.to_ascii_lowercase()) {
            Some(ending) if ending == "svg" => Some(Self::Svg),
            Some(ending) if ending == "html" || ending == "htm" => Some(Self::Html),
            _ => None,
        };
        match (asked.or(by_name), output) {
            (Some(format), _) => Ok(format),
            (None, Some(path)) if path.as_os_str() != "-" && !path.is_dir() => Err(Advice::error(
                format!("{} ends neither in .html nor in .svg", shown(path)),
                advice,
            )),
            (None, _) => Ok(Self::Html),
        }
    }

    /// What makes it where nothing else is asked for.
    pub fn usual(self) -> fn(&Flame) -> String {
        match self {
            Self::Html => |flame| page(flame, View::default(), Some(THRESHOLD)),
            Self::Svg => |flame| svg(flame, View::default(), f64::from(WIDTH)),
        }
    }
}

/// A page with what is at least so many percent of any metric, or with all.
fn page(flame: &Flame, view: View, threshold: Option<f64>) -> String {
    let least = threshold.map(|percent| Least {
        percent,
        most_nodes: MOST_NODES,
    });
    html(flame, view, least)
}
