//! `memlog export`: the stacks of a log in the forms of other tools.

mod dataset;
mod packing;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::ValueEnum;
use memlog_export::flame::Flame;
use memlog_export::forms::{
    callgrind, csv, folded, gprof2dot::gprof2dot, hatchet, json, pprof, speedscope,
};
use memlog_pages::blocks::exported::{Chosen, dhat, firefox, heaptrack, massif, perfetto};
use memlog_pages::flamegraph::{Drawn, Wanted, flame};
use memlog_pages::{Advice, At, By, Filter, SymbolFiles, Where, choose, one_more, shown};

use crate::flamegraph;
use crate::output::Output;
use crate::replay::written;
use packing::Packing;

/// Write the stacks of a log for another tool
#[derive(clap::Args)]
pub struct Args {
    /// The tool's form
    #[arg(value_enum)]
    format: Format,
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak.
    /// parquet takes many
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Write it there, packed if the name ends in .gz or .zst; - is standard output [default: FILE
    /// with an ending of its form, in the current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Memory live at this moment: rss-peak, heap-peak, start, end, a time since the start as
    /// 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME' [default: rss-peak]
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// What is counted: who holds memory, or of the whole run who allocated most bytes, who made
    /// most allocations, most temporary ones, or who freed most bytes. json has all but the last,
    /// pprof what was live and what was allocated
    #[arg(long, value_name = "WHAT", default_value = "live", value_enum)]
    by: By,
    /// Keep what called main, or the first function of a thread
    #[arg(long)]
    show_below_main: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    blocks: Where,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Every event: heaptrack_print, heaptrack_gui
    Heaptrack,
    /// A line for each stack and a number: flamegraph.pl, scripts
    Folded,
    /// speedscope.app
    Speedscope,
    /// go tool pprof, Pyroscope
    Pprof,
    /// gprof2dot -f json
    Gprof2dot,
    /// KCachegrind, callgrind_annotate
    Callgrind,
    /// hatchet and Thicket, in hatchet's literal form
    Hatchet,
    /// The heap over time, with who held it: ms_print, massif-visualizer
    Massif,
    /// Places that allocate, and how long their blocks lived: dh_view.html
    Dhat,
    /// Each allocation and release: profiler.firefox.com
    Firefox,
    /// What stacks hold at some moments, and the heap over time: ui.perfetto.dev
    Perfetto,
    /// What memlog flamegraph writes: a page, or by -o OUT.svg a picture
    Flamegraph,
    /// Tables for DuckDB, Spark, Dask and others, of many logs in one folder
    Parquet,
    /// The same tables as statements for SQLite: sqlite3 FILE.db <FILE.sql
    #[value(alias = "sql")]
    Sqlite,
    /// A row for each stack
    Csv,
    /// All that is counted, by stack, schema memlog-stacks-1
    Json,
    /// Every call without its stack, for memlog replay
    Replay,
}

/// Whether a word is the name of a form.
pub fn is_form(word: &str) -> bool {
    Format::from_str(word, false).is_ok()
}

const ELSEWHERE: &str = "give another name: memlog export FORMAT FILE -o OUT";

/// Writes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: ELSEWHERE,
    };
    args.check()?;
    let Some(make) = args.format.make() else {
        return dataset::write(args, &output);
    };
    let log = choose(args.file()?, |line: &str| output.say(line))?;
    let named = |log: &str| args.format.file(log);
    let path = output.would_write(&log, named)?;
    let packing = Packing::of(path.as_deref());
    let packing = args.format.packing(packing)?;
    let (exit, _) = output.write(&log, named, |out| {
        packing.write(out, |out| make(args, &log, out))
    })?;
    Ok(exit)
}

impl Args {
    /// Whether all of it can be had together.
    fn check(&self) -> anyhow::Result<()> {
        let is_chosen = self.at.is_some() || self.by != By::Live || self.show_below_main;
        let has_filter = !self.filter.is_none();
        let (is_refused, advice) = match self.format {
            Format::Heaptrack
            | Format::Massif
            | Format::Dhat
            | Format::Firefox
            | Format::Perfetto => (
                is_chosen || has_filter,
                "leave out --at, --by and the filters; --where 'function ~ \"parse\"' chooses blocks",
            ),
            Format::Parquet | Format::Sqlite => (
                is_chosen,
                "leave out --at and --by: its tables have the peaks, the end and the whole run",
            ),
            Format::Replay => (
                is_chosen || has_filter || self.blocks.filter().is_some(),
                "leave out --at, --by, --where and the filters: it has every call",
            ),
            Format::Pprof if matches!(self.by, By::Temporary | By::Freed | By::Mapped) => {
                return Err(Advice::error(
                    "pprof's form has what was live and what was allocated",
                    "leave out --by, or take --by live or allocated",
                ));
            }
            Format::Flamegraph => {
                self.flame_graph()?;
                return self.wanted(self.file()?).check();
            }
            _ => return self.wanted(self.file()?).check(),
        };
        match is_refused {
            false => Ok(()),
            true => Err(Advice::error(
                format!("{}'s form is of the whole run", self.format.name()),
                advice,
            )),
        }
    }

    /// The one that most forms are of.
    fn file(&self) -> anyhow::Result<&Path> {
        match &self.files[..] {
            [file] => Ok(file),
            files => {
                let more = files.get(1).map(shown);
                let more = more.map_or_else(String::new, |more| more.to_string());
                Err(one_more(&format!("export {}", self.format.name()), &more))
            }
        }
    }

    /// A page or a picture, by the name of the file.
    fn flame_graph(&self) -> anyhow::Result<flamegraph::Format> {
        flamegraph::Format::of(None, self.output.as_deref(), "give such a name")
    }

    fn chosen<'a>(&'a self, log: &'a Path) -> Chosen<'a> {
        Chosen {
            file: log,
            symbol_files: &self.symbol_files,
            blocks: &self.blocks,
        }
    }

    /// The tree that a form is made of.
    fn wanted<'a>(&'a self, log: &'a Path) -> Wanted<'a> {
        Wanted {
            file: log,
            symbol_files: &self.symbol_files,
            at: self.at.as_ref().map(|at| (at, "--at")),
            by: self.by,
            filter: &self.filter,
            blocks: &self.blocks,
            show_below_main: self.show_below_main,
            with_scopes: matches!(self.format, Format::Pprof),
            is_of_all: matches!(self.format, Format::Json | Format::Parquet | Format::Sqlite),
        }
    }

    /// Writes a form of the tree.
    fn of_tree(
        &self,
        log: &Path,
        out: &mut dyn Write,
        form: impl FnOnce(&Drawn) -> std::io::Result<Vec<u8>>,
    ) -> anyhow::Result<ExitCode> {
        let drawn = flame(&self.wanted(log))?;
        let bytes = form(&drawn)?;
        drawn.leave_interrupt();
        out.write_all(&bytes)?;
        Ok(drawn.exit)
    }

    /// The same of one that is text.
    fn of_text(
        &self,
        log: &Path,
        out: &mut dyn Write,
        form: fn(&Flame) -> String,
    ) -> anyhow::Result<ExitCode> {
        self.of_tree(log, out, |drawn| Ok(form(&drawn.flame).into_bytes()))
    }

    fn pprof(&self, drawn: &Drawn) -> std::io::Result<Vec<u8>> {
        let flame = &drawn.flame;
        let shown = flame.metrics.get(flame.shown).map(|metric| metric.key);
        let live = shown.filter(|_| self.by == By::Live).unwrap_or("rss-peak");
        pprof(flame, (live, By::Allocated.name()), drawn.program())
    }
}

/// What makes a form's file of a log.
type Make = fn(&Args, &Path, &mut dyn Write) -> anyhow::Result<ExitCode>;

impl Format {
    /// What makes its file; nothing where it is a folder of files.
    fn make(self) -> Option<Make> {
        Some(match self {
            Self::Parquet => return None,
            Self::Heaptrack => |args, log, out| heaptrack(&args.chosen(log), out),
            Self::Perfetto => |args, log, out| perfetto(&args.chosen(log), out),
            Self::Flamegraph => {
                |args, log, out| args.of_text(log, out, args.flame_graph()?.usual())
            }
            Self::Sqlite => |args, log, out| {
                args.of_tree(log, out, |drawn| Ok(dataset::sql(drawn, log).into_bytes()))
            },
            Self::Massif => |args, log, out| massif(&args.chosen(log), out),
            Self::Dhat => |args, log, out| dhat(&args.chosen(log), out),
            Self::Firefox => |args, log, out| firefox(&args.chosen(log), out),
            Self::Replay => |_, log, out| {
                std::io::copy(&mut written(log)?, out)?;
                Ok(ExitCode::SUCCESS)
            },
            Self::Pprof => |args, log, out| args.of_tree(log, out, |drawn| args.pprof(drawn)),
            Self::Folded => |args, log, out| args.of_text(log, out, folded),
            Self::Speedscope => |args, log, out| args.of_text(log, out, speedscope),
            Self::Gprof2dot => |args, log, out| args.of_text(log, out, gprof2dot),
            Self::Callgrind => |args, log, out| args.of_text(log, out, callgrind),
            Self::Hatchet => |args, log, out| args.of_text(log, out, hatchet),
            Self::Csv => |args, log, out| args.of_text(log, out, csv),
            Self::Json => |args, log, out| args.of_text(log, out, json),
        })
    }

    /// As it is typed.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// How it is packed in a file whose name asks for that.
    fn packing(self, asked: Packing) -> anyhow::Result<Packing> {
        match (self, asked) {
            // It is packed by itself.
            (Self::Pprof, Packing::Gzip) => Ok(Packing::None),
            (Self::Pprof | Self::Replay, Packing::Gzip | Packing::Zstd) => Err(Advice::error(
                format!("who reads {}'s form does not unpack it", self.name()),
                "give a name that ends in neither .gz nor .zst",
            )),
            _ => Ok(asked),
        }
    }

    /// As its tool looks for it. What a log is packed by is no part of its name.
    fn file(self, log: &str) -> String {
        let log = [".gz", ".zst", ".tar"].iter().fold(log, |name, ending| {
            name.strip_suffix(ending).unwrap_or(name)
        });
        match self {
            Self::Heaptrack => format!("heaptrack.{log}"),
            Self::Folded => format!("{log}.folded"),
            Self::Speedscope => format!("{log}.speedscope.json"),
            Self::Pprof => format!("{log}.pb.gz"),
            Self::Gprof2dot => format!("{log}.gprof2dot.json"),
            Self::Callgrind => format!("callgrind.out.{log}"),
            Self::Hatchet => format!("{log}.hatchet.json"),
            Self::Massif => format!("massif.out.{log}"),
            Self::Dhat => format!("dhat.out.{log}"),
            Self::Firefox => format!("{log}.firefox.json"),
            Self::Perfetto => format!("{log}.perfetto-trace"),
            Self::Flamegraph => format!("{log}.flame.html"),
            Self::Sqlite => format!("{log}.sql"),
            Self::Parquet => dataset::FOLDER.to_owned(),
            Self::Csv => format!("{log}.stacks.csv"),
            Self::Json => format!("{log}.stacks.json"),
            Self::Replay => format!("{log}.replay"),
        }
    }
}
