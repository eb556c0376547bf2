//! `memlog ranks`: what the ranks of a job held, all together, and what grew from one job to
//! another. Each log is read by itself, and what it says is merged
//! ([`memlog_answers::Ranks`]); a file may have the answer of some (`part`).

mod growth;
mod inputs;
mod page;
pub mod part;
mod read;

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::OnceLock;

use memlog_analysis::PassedOver;
use memlog_answers::{By, Ranks};
use memlog_query::parse;

use super::listed::by_ranks;
use crate::moment::At;
use crate::names::{SymbolFiles, symbol_options, symbol_words};
use crate::page::Page;
use crate::screen::{Look, Screen};
use crate::shown::printed;
use crate::words::{Advice, counted, shown, tell_note, typed};
use crate::world::{Where, damaged};
use inputs::{Inputs, check_once, found};
use part::{Settings, Taken};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-ranks-1";

/// Say what the ranks of a job held, all together
#[derive(clap::Args)]
pub struct Args {
    /// Logs of ranks, folders of them, quoted patterns, or answers that -o wrote
    #[arg(required_unless_present = "against")]
    files: Vec<PathBuf>,
    /// Say what grew from the ranks of another job; the same as for FILES, which come first
    #[arg(long, value_name = "FILES", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Of several jobs this one; none: outside a job
    #[arg(long, value_name = "JOB")]
    job: Option<String>,
    /// The same of --against
    #[arg(long, value_name = "JOB", requires = "against")]
    against_job: Option<String>,
    /// What is live at this moment of each rank: rss-peak, heap-peak, start, end, a time since its
    /// start as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME' [default: rss-peak]
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// What blocks are put together by [default: function]
    #[arg(long, value_name = "WHAT", value_parser = by_ranks())]
    by: Option<By>,
    #[command(flatten)]
    blocks: Where,
    /// How many rows are shown [default: 20]; 0: all. Without it JSON has all
    #[arg(short = 'n', long, value_name = "N")]
    top: Option<usize>,
    /// Print it as JSON, schema memlog-ranks-1
    #[arg(long)]
    json: bool,
    /// Write the answer into a file, to be merged with those of other nodes:
    /// memlog ranks *.ranks
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["against", "json", "top"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    symbol_files: SymbolFiles,
    #[command(flatten)]
    look: Look,
}

const USUAL: usize = 20;

/// The ranks of a job.
struct Side {
    taken: Taken,
    of_other_jobs: u64,
}

impl Args {
    /// How many of so many rows programs are given, and people.
    fn shown(&self, all: usize) -> (usize, usize) {
        let most = |top| super::listed::shown(top, all);
        (most(self.top.unwrap_or(0)), most(self.top.unwrap_or(USUAL)))
    }

    /// What is asked: what options do not say is as the first answer has it.
    fn settings(&self, inputs: &Inputs) -> Settings {
        let first = inputs.parts.first().map(|(_, part)| &part.settings);
        let filter = self.blocks.filter().map(ToString::to_string);
        let at = self.at.as_ref().map(ToString::to_string);
        let at_of_first = || first.map(|first| first.at.clone());
        let by_first = || first.map(|first| first.by);
        Settings {
            by: self.by.or_else(by_first).unwrap_or(By::Function),
            at: at
                .or_else(at_of_first)
                .unwrap_or_else(|| At::RSS_PEAK.to_string()),
            filter: filter.or_else(|| first?.filter.clone()),
        }
    }

    /// The ranks that the names stand for.
    fn side(&self, passed_over: &OnceLock<PassedOver>) -> anyhow::Result<Side> {
        if self.files.is_empty() {
            return Err(self.nothing_new());
        }
        let inputs = found(&self.files, self.job.as_deref(), "--job")?;
        let settings = self.settings(&inputs);
        self.gathered(inputs, settings, passed_over)
    }

    /// That --against took all names that there are.
    fn nothing_new(&self) -> anyhow::Error {
        let (new, old) = match &self.against[..] {
            [old @ .., new] if !old.is_empty() => (typed(new), old),
            all => ("NEW".to_owned(), all),
        };
        let old: Vec<String> = old.iter().map(|path| typed(path)).collect();
        Advice::error(
            "the logs of the new job are missing: --against takes all names that follow it",
            format!("memlog ranks {new} --against {}", old.join(" ")),
        )
    }

    /// Answers have their names: files of names are of no use to them.
    fn check_symbol_files(&self, inputs: &Inputs) {
        let words = symbol_words(&self.symbol_files);
        if inputs.logs.is_empty() && !words.is_empty() {
            tell_note(&format!(
                "{}does nothing here: the answers that -o wrote have their names; give it where \
                 they are written",
                words
            ));
        }
    }

    /// Those that they are compared with, past the same functions.
    fn other_side(
        &self,
        settings: &Settings,
        passed_over: &OnceLock<PassedOver>,
    ) -> anyhow::Result<Side> {
        let job = self.against_job.as_deref();
        self.gathered(
            found(&self.against, job, "--against-job")?,
            settings.clone(),
            passed_over,
        )
    }

    fn gathered(
        &self,
        inputs: Inputs,
        settings: Settings,
        passed_over: &OnceLock<PassedOver>,
    ) -> anyhow::Result<Side> {
        for (path, part) in &inputs.parts {
            if part.settings != settings {
                return Err(Advice::error(
                    format!(
                        "{} is {}, and what is asked is {}",
                        shown(path),
                        part.settings.told(),
                        settings.told()
                    ),
                    "merge answers to the same question: -o with the same --by, --at and --where",
                ));
            }
        }
        self.check_symbol_files(&inputs);
        let at = At::from_str(&settings.at).map_err(anyhow::Error::msg)?;
        let asked = read::Asked {
            by: settings.by,
            at: &at,
            blocks: &settings.blocks()?,
            symbol_files: &self.symbol_files,
            options: symbol_options(&self.symbol_files)?,
            passed_over,
        };
        let ranks = read::all(&asked, &inputs.logs).merge(inputs.left_out);
        let parts = inputs.parts.into_iter().map(|(_, part)| part.ranks);
        let ranks = parts.fold(ranks, Ranks::merge).sorted();
        check_once(&ranks)?;
        if ranks.processes().is_empty() {
            return Err(unanswered(&ranks));
        }
        Ok(Side {
            taken: Taken {
                job: inputs.job.unwrap_or_default(),
                settings,
                ranks,
            },
            of_other_jobs: inputs.of_other_jobs,
        })
    }
}

impl Settings {
    fn told(&self) -> String {
        let filter = self.filter.as_ref();
        let filter = filter.map(|filter| format!(" where {filter}"));
        let (by, at) = (self.by.word(), &self.at);
        format!("by {by} at {at}{}", filter.unwrap_or_default())
    }

    fn blocks(&self) -> anyhow::Result<Where> {
        let filter = self.filter.as_deref().map(parse).transpose();
        let filter = filter.map_err(|error| anyhow::Error::msg(error.to_string()))?;
        Ok(filter.map(Where::from).unwrap_or_default())
    }
}

/// Why no rank answered.
fn unanswered(ranks: &Ranks) -> anyhow::Error {
    match ranks.left_out().get(inputs::UNANSWERED) {
        None => damaged(),
        Some(files) => Advice::error(
            format!(
                "{} cannot be asked that; the first, {}: {}",
                counted(files.count, "rank"),
                files.first,
                files.says
            ),
            "memlog info says of a log what it has",
        ),
    }
}

/// Shows what the ranks held, or what grew.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(&args.look);
    let passed_over = OnceLock::new();
    let side = args.side(&passed_over)?;
    let page: Page = match args.against.is_empty() {
        true => page::page(args, &side, screen.sizes),
        false => {
            let before = args.other_side(&side.taken.settings, &passed_over)?;
            growth::page(args, [&before, &side], screen.sizes)
        }
    };
    screen.show(&printed(&page, args.json, &screen), None)?;
    Ok(ExitCode::SUCCESS)
}

/// The bytes of a file with the answer, and what there is to say of it.
pub fn answer(args: &Args) -> anyhow::Result<(Vec<u8>, String)> {
    let side = args.side(&OnceLock::new())?;
    let ranks = &side.taken.ranks;
    let count = counted(ranks.processes().len() as u64, "rank");
    let told = format!("{count}, {}", side.taken.settings.told());
    Ok((part::encode(&side.taken), told))
}
