//! Questions to the table of a log's blocks. Each command here chooses rows by
//! `--where` and `--at`, and makes a page of what `memlog_answers` says of them.

pub mod annotate;
pub mod chains;
pub mod fragmentation;
pub mod function;
pub mod histogram;
mod listed;
pub mod locate;
pub mod table;
pub mod threads;
pub mod timeline;
mod world;

use std::process::ExitCode;

use memlog_analysis::Moment;
use memlog_answers::{Choice, Damaged, Test, Unanswered, World, test_of};
use memlog_export::When;
use memlog_query::{Expr, parse};
use memlog_table::Table;
use serde_json::{Map, Value, json};

use crate::choose::chosen;
use crate::facts::is_running;
use crate::moment::{Span, check as check_moment};
use crate::names::{NameStore, Names, symbol_options};
use crate::open::{Files, Interrupt, Sidecar, Watch, make_table};
use crate::page::rows::Rows;
use crate::page::{OnNames, Page, Part};
use crate::screen::Screen;
use crate::shown::{Asked, Framed, INTERRUPTED, framed, interrupted, names_over, printed};
use crate::words::{Advice, Sizes};
use world::Kept;

/// Which blocks, of which log, and how the answer looks.
#[derive(clap::Args)]
pub struct Question {
    /// Only blocks for which this holds, as 'size >= 1MiB and leaked'; doc/FILTERS.md
    /// has the language
    #[arg(short = 'w', long = "where", value_name = "EXPRESSION")]
    #[arg(value_parser = filter)]
    filter: Option<Expr>,
    /// Only blocks live at this moment: rss-peak, heap-peak, end, or a time since the
    /// start as 12.5, 12.5s, 300ms or 2m
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    at: Option<When>,
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
}

/// What is wrong with a filter is said with its place.
fn filter(text: &str) -> Result<Expr, String> {
    parse(text).map_err(|error| format!("{error}\n{}", error.caret()))
}

/// What an answer is made of.
pub struct Told<'w, 't, 'b> {
    /// The table, named.
    pub world: &'w World<'t, 'b>,
    /// Which rows.
    pub choice: &'w Choice,
    /// All rows of the moment, whatever the filter says.
    pub moment: &'w Choice,
    /// How sizes are told.
    pub sizes: Sizes,
    /// Bytes of a page of the program's memory.
    pub page_bytes: u64,
    /// When recording began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Which blocks those are, as the end of a sentence: ` live at rss-peak`.
    pub about: &'w str,
}

/// An answer.
#[derive(Default)]
pub struct Answer {
    /// For programs, by key.
    pub figures: Map<String, Value>,
    /// For people.
    pub rows: Rows,
}

/// What stands around an answer.
pub struct Around {
    kept: Kept,
    on_names: OnNames,
    /// How far the log was read, in words of JSON.
    interrupted: Value,
    screen: Screen,
    /// Ctrl-C ends the process by now, unless this is told otherwise.
    interrupt: Option<Interrupt>,
}

/// The log's table is found or made, asked, and the answer shown. `schema` is the
/// version of the keys.
pub fn ask(
    question: &Question,
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, Damaged>,
) -> anyhow::Result<ExitCode> {
    answered(question, needs_names, answer, |answer, around| {
        let mut page = framed(Framed {
            schema,
            interrupted: around.interrupted,
            heading: around.kept.heading(),
            stats: around.kept.stats,
            notes: around.kept.notes,
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
pub fn answered<A>(
    question: &Question,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<A, Damaged>,
    show: impl Fn(A, Around) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let once = |is_again| ask_once(question, needs_names, &answer, &show, is_again);
    // That bytes of a kept table have changed is seen where they are read. One that
    // cannot be removed is not looked at again.
    let code = match once(false)? {
        None => once(true)?,
        code => code,
    };
    code.ok_or_else(damaged)
}

/// Nothing if the table was damaged: that one is not kept any more.
fn ask_once<A>(
    question: &Question,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<A, Damaged>,
    show: impl Fn(A, Around) -> anyhow::Result<()>,
    is_again: bool,
) -> anyhow::Result<Option<ExitCode>> {
    let options = symbol_options(&question.asked.symbol_files)?;
    let file = &chosen(&question.asked.file)?;
    let watch = Watch::interruptible();
    let files = Files::load(file)?;
    let family = files.family()?;
    let log = family.own();
    let sidecar = Sidecar::of(file, &family, is_running(log));
    let found = (!is_again).then(|| sidecar.found()).flatten();
    let (bytes, part) = match found {
        Some(bytes) => (bytes, None),
        None => {
            let figures = |analysis: &_| world::kept(&family, file, analysis, &question.asked);
            let made = make_table(&family, &sidecar, &watch, figures);
            let made = made.map_err(|error| {
                Advice::error(
                    format!("cannot make the table of its blocks: {error}"),
                    "it takes memory, or room in the folder of the log, about as much as the log",
                )
            })?;
            (made.bytes, made.analysis.part)
        }
    };
    let damaged = || {
        sidecar.forget();
        Ok(None)
    };
    let Ok(table) = Table::open(&bytes, sidecar.key()) else {
        return damaged();
    };
    let kept = Kept::read(table.figures());
    let store = NameStore::default();
    let needs_names = needs_names
        || question
            .filter
            .as_ref()
            .is_some_and(memlog_answers::needs_names);
    let names = Names::new(&store, &options, log, file).until(names_over(part, &watch));
    let (world, on_names) = world::named(&table, &kept, &family, needs_names.then_some(names));
    let mut choice = Choice::all();
    if let Some(when) = question.at {
        let span = Span {
            from_seconds: kept.events_from(),
            end_seconds: log.seconds(table.end_tick()),
            has_end: log.end().is_some(),
            is_part: part.is_some(),
        };
        check_moment(when, &span)?;
        choice = choice.and(Test::LiveAt(event_of(when, &world)));
    }
    let moment = choice.clone();
    if let Some(filter) = &question.filter {
        let start = log.start().map_or(0, |start| start.wall_ns);
        match test_of(filter, &world, start) {
            Ok(test) => choice = choice.and(test),
            Err(Unanswered::Damaged) => return damaged(),
            Err(why) => return Err(unanswered(why)),
        }
    }
    let screen = Screen::new(&question.asked.look);
    let about = about(question);
    let told = Told {
        about: &about,
        start_unix_ns: log.start().map_or(0, |start| start.wall_ns),
        world: &world,
        choice: &choice,
        moment: &moment,
        sizes: screen.sizes,
        page_bytes: log.start().map_or(4096, |start| start.page_bytes.into()),
    };
    let Ok(answer) = answer(&told) else {
        return damaged();
    };
    let is_part = part.is_some() || on_names.cut_short.is_some();
    let around = Around {
        interrupted: interrupted(log, part),
        kept,
        on_names,
        screen,
        interrupt: watch.end(),
    };
    show(answer, around)?;
    Ok(Some(match is_part {
        true => ExitCode::from(INTERRUPTED),
        false => ExitCode::SUCCESS,
    }))
}

fn unanswered(why: Unanswered) -> anyhow::Error {
    Advice::error(format!("--where: {why}"), "doc/FILTERS.md has all fields")
}

fn damaged() -> anyhow::Error {
    Advice::error(
        "the table of the log's blocks changed while it was read",
        "ask again: it will be made anew",
    )
}

/// After which event a moment is.
fn event_of(when: When, world: &World) -> u64 {
    match (when, when.chosen_tick(world.tick_ns)) {
        (_, Some(tick)) => world.table.steps().event_at(tick).min(world.end()),
        (When::Known(Moment::HeapPeak), _) => world.moments.heap_peak,
        (When::Known(Moment::End), _) => world.end(),
        _ => world.moments.rss_peak,
    }
}

/// What was asked for, for programs.
fn asked(question: &Question) -> Map<String, Value> {
    let filter = question.filter.as_ref();
    Page::keyed([
        ("at", question.at.map(|at| at.to_string()).into()),
        ("where", filter.map(ToString::to_string).into()),
    ])
}

/// The same as the end of a sentence.
fn about(question: &Question) -> String {
    let at = question.at.map(|at| format!(" live at {at}"));
    let filter = question
        .filter
        .as_ref()
        .map(|filter| format!(" where {filter}"));
    at.into_iter().chain(filter).collect()
}

/// Frames from a line out, for programs.
fn frames(told: &Told, line: u32) -> Vec<Value> {
    let frames = told.world.named(line).map(|name| {
        json!({
            "function": name.function,
            "location": name.location,
            "module": name.module,
        })
    });
    frames.collect()
}
