//! Questions to the table of a log's blocks. Each command here chooses rows by
//! `--where` and `--at`, and makes a page of what `memlog_answers` says of them.

pub mod annotate;
mod beside;
pub mod chains;
pub mod diff;
pub mod exported;
pub mod fragmentation;
pub mod function;
pub mod histogram;
pub mod leaks;
mod lifetimes;
mod list;
mod listed;
pub mod locate;
pub mod maps;
pub mod measure;
pub mod ranks;
pub mod rss;
pub mod table;
pub mod threads;
pub mod timeline;

use std::path::Path;
use std::process::ExitCode;

use memlog_analysis::StackTable;
use memlog_answers::{Choice, Damaged, Of, Test, Unanswered, World};
use memlog_format::counter::Counter;
use memlog_read::Log;
use memlog_table::Table;
use serde_json::{Map, Value};

use crate::choose::chosen;
use crate::facts::is_running;
use crate::figures::place;
use crate::moment::{At, Span, Times, check as check_moment};
use crate::names::{NameStore, Names, symbol_options};
use crate::open::{Family, FileBytes, Files, Interrupt, Sidecar, Watch};
use crate::page::rows::Rows;
use crate::page::{OnNames, Page, Part};
use crate::screen::Screen;
use crate::shown::{Asked, Framed, framed, interrupted, names_over, printed};
use crate::words::Sizes;
use crate::world::{Found, Kept, Named, Where, damaged, event_of, find, named, unanswered};

/// Which blocks, of which log, and how the answer looks.
#[derive(clap::Args)]
pub struct Question {
    #[command(flatten)]
    blocks: Where,
    /// Only blocks live at this moment: rss-peak, heap-peak, start, end, a time since the
    /// start as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME'
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<At>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
}

/// What an answer is made of.
pub struct Told<'w, 't, 'b> {
    /// The table, named.
    pub world: &'w World<'t, 'b>,
    /// Which rows.
    pub choice: &'w Choice,
    /// All rows of the moment, whatever the filter says.
    pub moment: &'w Choice,
    /// All rows that the filter lets through, whatever the moment.
    pub filtered: &'w Choice,
    /// The mappings, where the world is of blocks.
    pub mappings: &'w Table<'b>,
    /// How wide lines should be, if that matters.
    pub columns: Option<usize>,
    /// How sizes are told.
    pub sizes: Sizes,
    /// Bytes of a page of the program's memory.
    pub page_bytes: u64,
    /// When recording began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Which blocks those are, as the end of a sentence: ` live at rss-peak`.
    pub about: &'w str,
    /// The part of it that is of the filter.
    pub about_filter: &'w str,
    /// What the program had resident before its first recorded call.
    pub started_with: u64,
    /// The mappings with the names of their stacks.
    pub name_mappings: &'w dyn Fn() -> Result<World<'t, 'b>, Damaged>,
    log: &'w Log<'b>,
    family: &'w Family<'b>,
    span: &'w Span,
    /// What the log told as a whole.
    kept: &'w Kept,
}

impl Told<'_, '_, '_> {
    /// After which event a moment is.
    pub fn event(&self, at: &At) -> anyhow::Result<u64> {
        let when = at.when(self.log, &Times::of(self.world.table))?;
        check_moment(when, self.span)?;
        Ok(event_of(self.world, when))
    }
}

/// Why there is no answer.
pub enum Failure {
    /// See [`Damaged`].
    Damaged,
    /// A sentence says it.
    Said(anyhow::Error),
}

impl From<Damaged> for Failure {
    fn from(Damaged: Damaged) -> Self {
        Self::Damaged
    }
}

impl From<Unanswered> for Failure {
    fn from(why: Unanswered) -> Self {
        match why {
            Unanswered::Damaged => Self::Damaged,
            why => Self::Said(unanswered("--by", &why)),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Said(error)
    }
}

/// An answer.
#[derive(Default)]
pub struct Answer {
    /// For programs, by key.
    pub figures: Map<String, Value>,
    /// For people.
    pub rows: Rows,
    /// What a reader has to know besides.
    pub note: Option<String>,
}

/// What stands around an answer.
struct Around {
    kept: Kept,
    /// What is to be known of the filter.
    note: Option<String>,
    on_names: OnNames,
    /// How far the log was read, in words of JSON.
    interrupted: Value,
    screen: Screen,
    /// Ctrl-C ends the process by now, unless this is told otherwise.
    interrupt: Option<Interrupt>,
}

/// The log's table is found or made, asked, and the answer shown. `schema` is the
/// version of the keys.
pub fn ask<E: Into<Failure>>(
    question: &Question,
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, E>,
) -> anyhow::Result<ExitCode> {
    ask_of(Of::Blocks, question, schema, needs_names, answer)
}

/// The same of blocks or of mappings.
fn ask_of<E: Into<Failure>>(
    of: Of,
    question: &Question,
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, E>,
) -> anyhow::Result<ExitCode> {
    answered((of, question), needs_names, answer, |answer, around| {
        let mut notes = around.kept.notes.clone();
        notes.extend(answer.note.or(around.note));
        let mut page = framed(Framed {
            schema,
            interrupted: around.interrupted,
            heading: around.kept.heading(),
            stats: around.kept.stats,
            notes,
            on_names: around.on_names,
            parts: vec![Part::Rows(answer.rows)],
        });
        page.figures.extend(asked(question));
        page.figures.extend(answer.figures);
        let screen = around.screen;
        Ok(screen.show(&printed(&page, question.json, &screen), around.interrupt)?)
    })
}

/// The same of an answer of any kind, and what becomes of it.
fn answered<A, E: Into<Failure>>(
    of: (Of, &Question),
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<A, E>,
    show: impl Fn(A, Around) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let once = |is_again| ask_once(of, needs_names, &answer, &show, is_again);
    // That bytes of a kept table have changed is seen where they are read. One that
    // cannot be removed is not looked at again.
    let code = match once(false)? {
        None => once(true)?,
        code => code,
    };
    code.ok_or_else(damaged)
}

/// Nothing if the table was damaged: that one is not kept any more.
fn ask_once<A, E: Into<Failure>>(
    (of, question): (Of, &Question),
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<A, E>,
    show: impl Fn(A, Around) -> anyhow::Result<()>,
    is_again: bool,
) -> anyhow::Result<Option<ExitCode>> {
    let options = symbol_options(&question.asked.symbol_files)?;
    let file = &chosen(&question.asked.file)?;
    let watch = Watch::interruptible();
    let kept = (!is_again).then(|| kept_table(file)).flatten();
    let (files, kept) = match kept {
        Some((files, table)) => (files, Some(table)),
        None => (Files::load(file, &watch)?, None),
    };
    let family = files.family()?;
    let log = family.own();
    let sidecar = Sidecar::of(file, &family, is_running(log));
    let symbol_files = &question.asked.symbol_files;
    let Found { bytes, analysis } = match kept {
        Some(bytes) => Found {
            bytes,
            analysis: None,
        },
        None => {
            let at = ((None, None), is_again);
            find((&family, file), symbol_files, &sidecar, &watch, at)?
        }
    };
    let part = analysis.and_then(|analysis| analysis.part);
    let damaged = || {
        sidecar.forget();
        Ok(None)
    };
    let Ok(blocks) = sidecar.table(&bytes) else {
        return damaged();
    };
    let Ok(mappings) = sidecar.table(blocks.mappings()) else {
        return damaged();
    };
    let kept = Kept::read(blocks.figures());
    let table = match of {
        Of::Blocks => &blocks,
        Of::Mappings => &mappings,
    };
    let store = NameStore::default();
    let needs_names = needs_names || question.blocks.needs_names();
    let names = Names::new(&store, &options, log, file).until(names_over(part, &watch));
    let names = needs_names.then_some(names);
    let (moments, known) = (kept.moments(of), StackTable::default());
    let Ok(found) = named(table, (of, moments), &family, names, known) else {
        return damaged();
    };
    let Named {
        mut world,
        on_names,
        ..
    } = found;
    let mapped = (Of::Mappings, kept.moments(Of::Mappings));
    let name_mappings = || {
        let names = Names::new(&store, &options, log, file).until(names_over(part, &watch));
        let known = StackTable::default();
        Ok(named(&mappings, mapped, &family, Some(names), known)?.world)
    };
    world.mappings = (of == Of::Blocks).then_some(&mappings);
    let mut moment = Choice::all();
    let span = Span {
        from_seconds: kept.events_from(),
        end_seconds: log.seconds(blocks.end_tick()),
        has_end: log.end().is_some(),
        is_part: part.is_some(),
    };
    if let Some(at) = &question.at {
        let when = at.when(log, &Times::of(&blocks))?;
        check_moment(when, &span)?;
        moment = moment.and(Test::LiveAt(event_of(&world, when)));
    }
    let start_unix_ns = log.start().map_or(0, |start| start.wall_ns);
    let Some(test) = question.blocks.test(&world, start_unix_ns)? else {
        return damaged();
    };
    let choice = moment.clone().and(test.clone());
    let filtered = Choice::of(test);
    let screen = Screen::new(&question.asked.look);
    let (at, filter) = about(question);
    let told = Told {
        about: &format!("{at}{filter}"),
        about_filter: &filter,
        start_unix_ns,
        world: &world,
        choice: &choice,
        moment: &moment,
        filtered: &filtered,
        mappings: &mappings,
        log,
        family: &family,
        span: &span,
        kept: &kept,
        columns: screen.columns(),
        started_with: log.counter(Counter::StartRssKb).saturating_mul(1024),
        name_mappings: &name_mappings,
        sizes: screen.sizes,
        page_bytes: log.start().map_or(4096, |start| start.page_bytes.into()),
    };
    let answer = match answer(&told).map_err(Into::into) {
        Ok(answer) => answer,
        Err(Failure::Damaged) => return damaged(),
        Err(Failure::Said(error)) => return Err(error),
    };
    let is_part = part.is_some() || on_names.cut_short.is_some();
    let around = Around {
        note: lifetimes::note_on_filter(&world, question.blocks.filter()),
        interrupted: interrupted(log, part),
        kept,
        on_names,
        screen,
        interrupt: watch.end(),
    };
    show(answer, around)?;
    Ok(Some(match is_part {
        true => ExitCode::from(crate::open::INTERRUPTED),
        false => ExitCode::SUCCESS,
    }))
}

/// The table that was kept of a log, and the log without its events.
fn kept_table(file: &Path) -> Option<(Files, FileBytes)> {
    // What is wrong with it is told by whoever reads all of it.
    let files = Files::outline(file).ok()?;
    let family = files.family().ok()?;
    let table = Sidecar::of(file, &family, is_running(family.own())).found();
    Some((files, table?))
}

/// What was asked for, for programs.
fn asked(question: &Question) -> Map<String, Value> {
    let filter = question.blocks.filter();
    Page::keyed([
        ("at", question.at.as_ref().map(ToString::to_string).into()),
        ("where", filter.map(ToString::to_string).into()),
    ])
}

/// The same as the end of a sentence: the moment and the filter.
fn about(question: &Question) -> (String, String) {
    let at = question.at.as_ref();
    let at = at.map(|at| format!(" live at {at}"));
    let filter = question.blocks.filter();
    let filter = filter.map(|filter| format!(" where {filter}"));
    (at.unwrap_or_default(), filter.unwrap_or_default())
}

/// Frames from a line out, for programs.
fn frames(told: &Told, line: u32) -> Vec<Value> {
    told.world.named(line).map(place).collect()
}
