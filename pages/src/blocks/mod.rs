//! Questions to the table of a log's blocks. Each command here chooses rows by
//! `--where` and `--at`, and makes a page of what `memlog_answers` says of them.

pub mod annotate;
pub mod chains;
pub mod fragmentation;
pub mod function;
pub mod histogram;
mod listed;
pub mod locate;
pub mod maps;
pub mod table;
pub mod threads;
pub mod timeline;
mod world;

use std::path::Path;
use std::process::ExitCode;

use memlog_analysis::Moment;
use memlog_answers::{Choice, Of, Test, Unanswered, World, test_of};
use memlog_export::When;
use memlog_query::{Expr, parse};
use memlog_table::Table;
use serde_json::{Map, Value, json};

use crate::choose::chosen;
use crate::facts::is_running;
use crate::moment::{Span, check as check_moment};
use crate::names::{NameStore, Names, symbol_options};
use crate::open::{FileBytes, Files, Sidecar, Watch, make_table};
use crate::page::rows::Rows;
use crate::page::{Page, Part};
use crate::screen::Screen;
use crate::shown::{Asked, Framed, INTERRUPTED, framed, interrupted, names_over, printed};
use crate::words::{Advice, Sizes, tell_note};
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
}

/// An answer.
#[derive(Default)]
pub struct Answer {
    /// For programs, by key.
    pub figures: Map<String, Value>,
    /// For people.
    pub rows: Rows,
}

/// The log's table is found or made, and asked. `schema` is the version of the keys.
pub fn ask<E: Into<Unanswered>>(
    question: &Question,
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, E>,
) -> anyhow::Result<ExitCode> {
    ask_of(Of::Blocks, question, schema, needs_names, answer)
}

/// The same of blocks or of mappings.
fn ask_of<E: Into<Unanswered>>(
    of: Of,
    question: &Question,
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, E>,
) -> anyhow::Result<ExitCode> {
    let once = |is_again| ask_once((of, question), schema, needs_names, &answer, is_again);
    // That bytes of a kept table have changed is seen where they are read. One that
    // cannot be removed is not looked at again.
    let code = match once(false)? {
        None => once(true)?,
        code => code,
    };
    code.ok_or_else(damaged)
}

/// Nothing if the table was damaged: that one is not kept any more.
fn ask_once<E: Into<Unanswered>>(
    (of, question): (Of, &Question),
    schema: &str,
    needs_names: bool,
    answer: impl Fn(&Told) -> Result<Answer, E>,
    is_again: bool,
) -> anyhow::Result<Option<ExitCode>> {
    let options = symbol_options(&question.asked.symbol_files)?;
    let file = &chosen(&question.asked.file)?;
    let watch = Watch::interruptible();
    let kept = (!is_again).then(|| kept_table(file)).flatten();
    let (files, kept) = match kept {
        Some((files, table)) => (files, Some(table)),
        None => (Files::load(file)?, None),
    };
    let family = files.family()?;
    let log = family.own();
    let sidecar = Sidecar::of(file, &family, is_running(log));
    let (bytes, part) = match kept {
        Some(table) => (table, None),
        None => {
            let figures = |analysis: &_| world::kept(&family, file, analysis, &question.asked);
            let made = make_table(&family, &sidecar, &watch, figures);
            let made = made.map_err(|error| {
                Advice::error(
                    format!("cannot make the table of its blocks: {error}"),
                    "it takes memory, or room in the folder of the log, about as much as the log",
                )
            })?;
            if let Some(why) = made.table.not_kept {
                tell_note(&format!(
                    "the table of its blocks was not kept, so the next question will read \
                     the whole log again: {why}"
                ));
            }
            (made.table.bytes, made.analysis.part)
        }
    };
    let damaged = || {
        sidecar.forget();
        Ok(None)
    };
    let Ok(blocks) = Table::open(&bytes, sidecar.key()) else {
        return damaged();
    };
    let Ok(mappings) = Table::open(blocks.mappings(), sidecar.key()) else {
        return damaged();
    };
    let kept = Kept::read(blocks.figures());
    let table = match of {
        Of::Blocks => &blocks,
        Of::Mappings => &mappings,
    };
    let store = NameStore::default();
    let needs_names = needs_names
        || question
            .filter
            .as_ref()
            .is_some_and(memlog_answers::needs_names);
    let names = Names::new(&store, &options, log, file).until(names_over(part, &watch));
    let names = needs_names.then_some(names);
    let Ok((world, on_names)) = world::named(table, of, &kept, &family, names) else {
        return damaged();
    };
    let mut moment = Choice::all();
    if let Some(when) = question.at {
        let span = Span {
            from_seconds: kept.events_from(),
            end_seconds: log.seconds(table.end_tick()),
            has_end: log.end().is_some(),
            is_part: part.is_some(),
        };
        check_moment(when, &span)?;
        moment = moment.and(Test::LiveAt(event_of(when, &world)));
    }
    let (mut choice, mut filtered) = (moment.clone(), Choice::all());
    if let Some(filter) = &question.filter {
        let start = log.start().map_or(0, |start| start.wall_ns);
        match test_of(filter, &world, start) {
            Ok(test) => {
                choice = choice.and(test.clone());
                filtered = filtered.and(test);
            }
            Err(Unanswered::Damaged) => return damaged(),
            Err(why) => return Err(unanswered("--where", why)),
        }
    }
    let screen = Screen::new(&question.asked.look);
    let (at, filter) = about(question);
    let told = Told {
        about: &format!("{at}{filter}"),
        about_filter: &filter,
        start_unix_ns: log.start().map_or(0, |start| start.wall_ns),
        world: &world,
        choice: &choice,
        moment: &moment,
        filtered: &filtered,
        mappings: &mappings,
        columns: screen.columns(),
        sizes: screen.sizes,
        page_bytes: log.start().map_or(4096, |start| start.page_bytes.into()),
    };
    let answer = match answer(&told).map_err(Into::into) {
        Ok(answer) => answer,
        Err(Unanswered::Damaged) => return damaged(),
        Err(why) => return Err(unanswered("--by", why)),
    };
    let mut page = framed(Framed {
        schema,
        interrupted: interrupted(log, part),
        heading: kept.heading(),
        stats: kept.stats,
        notes: kept.notes,
        on_names,
        parts: vec![Part::Rows(answer.rows)],
    });
    page.figures.extend(asked(question));
    page.figures.extend(answer.figures);
    screen.show(&printed(&page, question.json, &screen), watch.end())?;
    let is_part = part.is_some() || page.on_names.cut_short.is_some();
    Ok(Some(match is_part {
        true => ExitCode::from(INTERRUPTED),
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

fn unanswered(option: &str, why: Unanswered) -> anyhow::Error {
    Advice::error(format!("{option}: {why}"), "doc/FILTERS.md has all fields")
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

/// The same as the end of a sentence: the moment and the filter.
fn about(question: &Question) -> (String, String) {
    let at = question.at.map(|at| format!(" live at {at}"));
    let filter = question.filter.as_ref();
    let filter = filter.map(|filter| format!(" where {filter}"));
    (at.unwrap_or_default(), filter.unwrap_or_default())
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
