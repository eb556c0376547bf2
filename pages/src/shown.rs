//! How a page comes about: the log is found and read, its page is made, shown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_export::When;
use memlog_format::meta::Lack;
use memlog_read::Log;
use serde_json::{Value, json};

use crate::choose::chosen;
use crate::facts::{is_running, is_unknown};
use crate::figures::figures;
use crate::heading::{failed_parts, heading, notes};
use crate::json;
use crate::moment::snapshots::{check as check_snapshots, taken};
use crate::moment::{Moments, Span, Wanted, check as check_moment};
use crate::names::{Labels, NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Family, Files, Interrupt, Over, ReadPart, Watch};
use crate::page::heading::Heading;
use crate::page::{OnNames, Page, Part};
use crate::rests::Rests;
use crate::screen::{Look, Screen};
use crate::subject::Subject;
use crate::text;
use crate::words::Sizes;
use crate::world::{Counted, Reading, analyse};

/// What a command that shows a page is asked: of which log, named by which
/// files, and how it looks.
#[derive(clap::Args)]
pub struct Asked {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    pub file: PathBuf,
    #[command(flatten)]
    pub symbol_files: SymbolFiles,
    #[command(flatten)]
    pub look: Look,
}

/// Reads a log, has a page made of it, and shows that, as text or as JSON. `wanted`
/// are the moments that the page will ask for.
pub fn show<'a, 'c>(
    asked: &Asked,
    counted: impl Into<Counted<'c>>,
    wanted: impl Into<Wanted<'a>>,
    is_json: bool,
    make: impl FnOnce(&Subject, &mut Labels, Option<When>) -> Page,
) -> anyhow::Result<ExitCode> {
    let wanted = wanted.into();
    show_after(
        (asked, counted.into()),
        |family, watch| wanted.look(family, watch),
        |moments| *moments,
        is_json,
        |subject, labels, moments| make(subject, labels, moments.at),
    )
}

/// The same, where the moment that the page will ask for is found by a first
/// look at the log.
pub fn show_after<T, M: Into<Moments>>(
    (asked, counted): (&Asked, Counted),
    first: impl FnOnce(&Family, &Watch) -> anyhow::Result<T>,
    moment: impl FnOnce(&T) -> M,
    is_json: bool,
    make: impl FnOnce(&Subject, &mut Labels, &T) -> Page,
) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(&asked.look);
    let file = (&*asked.file, &asked.symbol_files, counted);
    let read = read(file, screen.sizes, first, moment, make)?;
    screen.show(&printed(&read.made, is_json, &screen), read.interrupt)?;
    Ok(read.exit)
}

/// What was made of a log.
pub struct Read<R> {
    pub made: R,
    /// Whether it is of all that was asked for.
    pub exit: ExitCode,
    /// Ctrl-C ends the process by now, unless this is told otherwise.
    pub interrupt: Option<Interrupt>,
}

/// Reads a log and has something made of it. Of a log that Ctrl-C cut short it
/// is made of the part that was read.
pub fn read<T, M: Into<Moments>, R>(
    (file, symbol_files, counted): (&Path, &SymbolFiles, Counted),
    sizes: Sizes,
    first: impl FnOnce(&Family, &Watch) -> anyhow::Result<T>,
    moment: impl FnOnce(&T) -> M,
    make: impl FnOnce(&Subject, &mut Labels, &T) -> R,
) -> anyhow::Result<Read<R>> {
    let options = symbol_options(symbol_files)?;
    let file = &chosen(file)?;
    let watch = Watch::interruptible();
    let files = Files::load(file, &watch)?;
    let family = files.family()?;
    let is_running = is_running(family.own());
    let mut rests = Rests::default().filtered(counted.blocks.filter());
    if counted.with_times {
        rests = rests.on(&[Lack::Times, Lack::Course]);
    }
    rests.check(family.own())?;
    let found = first(&family, &watch)?;
    let Moments { at, snapshots } = moment(&found).into();
    let taken = snapshots.map(|pace| taken(pace, family.own().tick_ns()));
    let store = NameStore::default();
    let reading = Reading {
        file,
        symbol_files,
        options: &options,
        store: &store,
        counted,
    };
    let analysis = analyse(&family, &reading, (at, taken.transpose()?), &watch)?;
    if let Some(when) = at {
        check_moment(when, &Span::of(family.own(), &analysis))?;
    }
    if let Some(pace) = snapshots {
        check_snapshots(pace, &analysis)?;
    }
    let over = names_over(analysis.part, &watch);
    let names = Names::new(&store, &options, family.own(), file).until(over);
    let mut labels = Labels::new(names, analysis.tally.stacks());
    let failed = failed_parts(family.own(), &analysis, &mut labels);
    let subject = Subject {
        file,
        symbol_files,
        family: &family,
        analysis: &analysis,
        sizes,
        is_running,
        failed,
    };
    let made = make(&subject, &mut labels, &found);
    Ok(Read {
        made,
        exit: match analysis.part.is_some() || labels.cut_short().is_some() {
            true => ExitCode::from(crate::open::INTERRUPTED),
            false => ExitCode::SUCCESS,
        },
        interrupt: watch.end(),
    })
}

/// When no more names are looked up. A page of a part has its names: who wants less
/// ends it with another Ctrl-C.
pub fn names_over(part: Option<ReadPart>, watch: &Watch) -> Over {
    match part {
        Some(_) => Over::default(),
        None => watch.over(),
    }
}

/// What every page of a log has: its heading, notes and figures, and these parts.
/// `schema` is the version of its keys.
pub fn page(subject: &Subject, schema: &str, labels: &Labels, parts: Vec<Part>) -> Page {
    let interrupted = interrupted(subject.family.own(), subject.analysis.part);
    let mut page = framed(Framed {
        schema,
        interrupted,
        stats: figures(subject.family, subject.analysis).into(),
        heading: heading(subject),
        notes: notes(subject.family, subject.analysis),
        on_names: OnNames::of(labels),
        parts,
    });
    if let Some(chosen) = &subject.analysis.chosen {
        page.figures
            .insert("where".into(), chosen.filter.as_str().into());
    }
    if is_unknown(subject.family.own(), Lack::Counts) {
        page.hide_counts();
    }
    page
}

/// What stands around the parts of a page of a log.
pub struct Framed<'s> {
    /// The version of its keys.
    pub schema: &'s str,
    /// How far the log was read, in words of JSON.
    pub interrupted: Value,
    /// Its figures.
    pub stats: Value,
    pub heading: Heading,
    pub notes: Vec<String>,
    pub on_names: OnNames,
    pub parts: Vec<Part>,
}

/// A page with all of that.
pub fn framed(framed: Framed) -> Page {
    let (notes, on_names) = (framed.notes, framed.on_names);
    let all = notes.iter().chain(&on_names.remarks);
    let all = all.chain(&on_names.cut_short);
    let all: Vec<_> = all.chain(&on_names.hint).collect();
    Page {
        figures: Page::keyed([
            ("schema", framed.schema.into()),
            ("interrupted", framed.interrupted),
            ("stats", framed.stats),
            ("notes", json!(all)),
        ]),
        heading: framed.heading,
        notes,
        on_names,
        parts: framed.parts,
        ..Page::default()
    }
}

/// How far a log was read, where that was not to its end.
pub fn interrupted(log: &Log, part: Option<ReadPart>) -> Value {
    let part = part.map(|part| {
        json!({
            "read_up_to_seconds": log.seconds(part.tick),
            "read_percent": part.percent,
        })
    });
    part.into()
}

/// Prints a page that no screen is asked for: whole, in lines of any width.
pub fn print(page: &Page, is_json: bool) -> std::io::Result<()> {
    let screen = Screen::plain();
    screen.show(&printed(page, is_json, &screen), None)
}

/// As a command prints it.
pub fn printed(page: &Page, is_json: bool, screen: &Screen) -> String {
    match is_json {
        true => json::of(page),
        false => text::of(page, screen),
    }
}
