//! What a command is asked, how it answers, and how the answer becomes a page.

use std::process::ExitCode;
use std::sync::Arc;

use memlog_answers::{Choice, Damaged, Of, Test, Unanswered, World};
use memlog_format::meta::Lack;
use memlog_query::Expr;
use serde_json::{Map, Value};

use super::desk::{Desk, Opened};
use super::unknown;
use crate::moment::{At, Span};
use crate::open::{Interrupt, Watch};
use crate::page::rows::Rows;
use crate::page::{OnNames, Page, Part};
use crate::rests::Rests;
use crate::screen::{Look, Screen};
use crate::shown::{Asked, Framed, framed, printed};
use crate::words::Sizes;
use crate::world::{Kept, Where, damaged, unanswered};

/// Which blocks, of which log, and how the answer looks.
#[derive(clap::Args)]
pub struct Question {
    #[command(flatten)]
    pub(super) blocks: Where,
    /// Only blocks live at this moment: rss-peak, heap-peak, start, end, a time since the
    /// start as 12.5s, 300ms or 2m, a part of the run as 50%, or 'mark NAME'
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    pub(super) at: Option<At>,
    /// Print it as JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) asked: Asked,
}

impl Question {
    /// One for programs, of a log that is open.
    pub fn of(filter: Option<Expr>) -> Self {
        Self {
            blocks: filter.map(Where::from).unwrap_or_default(),
            at: None,
            json: true,
            asked: Asked {
                file: Default::default(),
                symbol_files: Default::default(),
                look: Look::plain(),
            },
        }
    }

    /// The filter.
    pub fn filter(&self) -> Option<&Expr> {
        self.blocks.filter()
    }

    /// The moment.
    pub fn at(&self) -> Option<&At> {
        self.at.as_ref()
    }

    /// What sums of its blocks rest on: without a moment, on all that went.
    pub(super) fn sums_rest(&self) -> Rests {
        Rests::from(true).on(match self.at {
            None => &[Lack::Gone],
            Some(_) => &[],
        })
    }

    /// Whether names are looked up for its filter.
    pub(super) fn needs_names(&self) -> bool {
        self.blocks.needs_names()
    }

    /// What its filter asks of rows; nothing if the table is damaged.
    pub(super) fn test(&self, world: &World, start_unix_ns: u64) -> anyhow::Result<Option<Test>> {
        self.blocks.test(world, start_unix_ns)
    }
}

/// A command with its options, as it answers.
pub trait Ask {
    /// The version of the keys; `doc/STATS.md` says what they mean.
    fn schema(&self) -> &'static str;

    /// Of which blocks, and when.
    fn question(&self) -> &Question;

    /// What it rests on.
    fn rests(&self) -> Rests;

    /// The answer.
    fn answer(&self, told: &Told) -> Result<Answer, Failure>;

    /// Whether it is of blocks or of mappings.
    fn of(&self) -> Of {
        Of::Blocks
    }

    /// Refuses options that do not go together, before anything is read.
    fn check(&self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// What an answer is made of.
#[derive(Clone, Copy)]
pub struct Told<'w, 't, 'b> {
    /// The table, named.
    pub world: &'w World<'t, 'b>,
    /// Which rows.
    pub choice: &'w Choice,
    /// All rows of the moment, whatever the filter says.
    pub moment: &'w Choice,
    /// All rows that the filter lets through, whatever the moment.
    pub filtered: &'w Choice,
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
    pub(super) desk: &'w Desk<'t, 'b>,
    pub(super) span: &'w Span,
}

/// Why there is no answer.
#[derive(Debug)]
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
    /// More of them, below.
    pub more: Vec<Rows>,
    /// What a reader has to know besides.
    pub note: Option<String>,
    /// What to do where most has no name.
    pub names_hint: Option<String>,
    /// Whether it is to be told what may hold the rest.
    pub explains_little: bool,
}

/// What stands around an answer.
pub(super) struct Around {
    pub kept: Arc<Kept>,
    /// What is to be known of the filter.
    pub note: Option<String>,
    pub on_names: OnNames,
    /// How far the log was read, in words of JSON.
    pub interrupted: Value,
    /// Whether it was not read to its end.
    pub is_part: bool,
    pub screen: Screen,
    /// Ctrl-C ends the process by now, unless this is told otherwise.
    pub interrupt: Option<Interrupt>,
}

/// The log's table is found or made, asked, and the answer shown.
pub fn ask(asks: &dyn Ask) -> anyhow::Result<ExitCode> {
    asks.check()?;
    let question = asks.question();
    let told = (asks.of(), question);
    answered(
        told,
        asks.rests(),
        |told| asks.answer(told),
        |answer, mut around| {
            let interrupt = around.interrupt.take();
            let (page, screen) = page(asks, answer, around);
            Ok(screen.show(&printed(&page, question.json, &screen), interrupt)?)
        },
    )
}

/// The page of an answer, and where it goes.
pub(super) fn page(asks: &dyn Ask, mut answer: Answer, mut around: Around) -> (Page, Screen) {
    // A remark on a file of names says what to do with that.
    let is_plain = around.on_names.remarks.is_empty();
    around.on_names.hint = answer.names_hint.filter(|_| is_plain);
    let kept = &around.kept;
    unknown::hide(&kept.stats, &mut answer.figures, &mut answer.rows);
    let mut notes = kept.notes.clone();
    notes.extend(answer.note.or(around.note));
    let rows = std::iter::once(answer.rows).chain(answer.more);
    let mut page = framed(Framed {
        schema: asks.schema(),
        interrupted: around.interrupted,
        heading: kept.heading(),
        stats: kept.stats.clone(),
        notes,
        on_names: around.on_names,
        parts: rows.map(Part::Rows).collect(),
    });
    if answer.explains_little {
        page.notes.extend(kept.holders.iter().cloned());
    }
    page.figures.extend(asked(asks.question()));
    page.figures.extend(answer.figures);
    (page, around.screen)
}

/// The same of an answer of any kind, and what becomes of it.
pub(super) fn answered<A, E: Into<Failure>>(
    of: (Of, &Question),
    rests: impl Into<Rests>,
    answer: impl Fn(&Told) -> Result<A, E>,
    show: impl Fn(A, Around) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
    let rests = rests.into();
    let once = |is_again| ask_once(of, &rests, &answer, is_again);
    // That bytes of a kept table have changed is seen where they are read. One that
    // cannot be removed is not looked at again.
    let made = match once(false)? {
        None => once(true)?,
        made => made,
    };
    let (answer, around) = made.ok_or_else(damaged)?;
    let is_part = around.is_part || around.on_names.cut_short.is_some();
    show(answer, around)?;
    Ok(match is_part {
        true => ExitCode::from(crate::open::INTERRUPTED),
        false => ExitCode::SUCCESS,
    })
}

/// Nothing if the table was damaged.
fn ask_once<A, E: Into<Failure>>(
    (of, question): (Of, &Question),
    rests: &Rests,
    answer: impl Fn(&Told) -> Result<A, E>,
    is_again: bool,
) -> anyhow::Result<Option<(A, Around)>> {
    let watch = Watch::interruptible();
    let opened = Opened {
        file: &question.asked.file,
        symbol_files: &question.asked.symbol_files,
        watch: &watch,
        is_again,
    };
    let made = opened.work(
        |log| rests.clone().filtered(question.filter()).check(log),
        |desk| {
            let screen = Screen::new(&question.asked.look);
            desk.answer((of, question), rests, screen, answer)
        },
    )?;
    Ok(made.map(|(answer, mut around)| {
        around.interrupt = watch.end();
        (answer, around)
    }))
}

/// What was asked for, for programs.
pub(super) fn asked(question: &Question) -> Map<String, Value> {
    let filter = question.filter();
    Page::keyed([
        ("at", question.at.as_ref().map(ToString::to_string).into()),
        ("where", filter.map(ToString::to_string).into()),
    ])
}

/// The same as the end of a sentence: the moment and the filter.
pub(super) fn about(question: &Question) -> (String, String) {
    let at = question.at.as_ref();
    let at = at.map(|at| format!(" live at {at}"));
    let filter = question.filter();
    let filter = filter.map(|filter| format!(" where {filter}"));
    (at.unwrap_or_default(), filter.unwrap_or_default())
}
