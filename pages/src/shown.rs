//! How a page comes about: the log is found and read, its page is made, shown.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_export::When;
use serde_json::json;

use crate::choose::chosen;
use crate::facts::is_running;
use crate::figures::figures;
use crate::heading::{failed_parts, heading, notes};
use crate::json;
use crate::moment::check as check_moment;
use crate::names::{Labels, NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Family, Files, Interrupt, Over, Watch};
use crate::page::{OnNames, Page, Part};
use crate::screen::{Look, Screen};
use crate::subject::Subject;
use crate::text;
use crate::words::Sizes;

/// Exit code of what Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

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

/// Reads a log, has a page made of it, and shows that, as text or as JSON. `at` is a
/// moment that the page will ask for.
pub fn show(
    asked: &Asked,
    at: Option<When>,
    is_json: bool,
    make: impl FnOnce(&Subject, &mut Labels) -> Page,
) -> anyhow::Result<ExitCode> {
    let whole = |_: &Family, _: &Watch| at;
    show_after(
        asked,
        whole,
        |at| *at,
        is_json,
        |subject, labels, _| make(subject, labels),
    )
}

/// The same, where the moment that the page will ask for is found by a first
/// look at the log.
pub fn show_after<T>(
    asked: &Asked,
    first: impl FnOnce(&Family, &Watch) -> T,
    moment: impl FnOnce(&T) -> Option<When>,
    is_json: bool,
    make: impl FnOnce(&Subject, &mut Labels, &T) -> Page,
) -> anyhow::Result<ExitCode> {
    let screen = Screen::new(&asked.look);
    let file = (&*asked.file, &asked.symbol_files);
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
pub fn read<T, R>(
    (file, symbol_files): (&Path, &SymbolFiles),
    sizes: Sizes,
    first: impl FnOnce(&Family, &Watch) -> T,
    moment: impl FnOnce(&T) -> Option<When>,
    make: impl FnOnce(&Subject, &mut Labels, &T) -> R,
) -> anyhow::Result<Read<R>> {
    let options = symbol_options(symbol_files)?;
    let file = &chosen(file)?;
    let watch = Watch::interruptible();
    let files = Files::load(file)?;
    let family = files.family()?;
    let is_running = is_running(family.own());
    let found = first(&family, &watch);
    let at = moment(&found);
    let tick_ns = family.own().tick_ns();
    let chosen = at.and_then(|when| when.chosen_tick(tick_ns));
    let analysis = family.analyse(chosen, &watch);
    if let Some(when) = at {
        check_moment(when, family.own(), &analysis)?;
    }
    let store = NameStore::default();
    // A page of a part has its names: who wants less ends it with another Ctrl-C.
    let over = match analysis.part {
        Some(_) => Over::default(),
        None => watch.over(),
    };
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
            true => ExitCode::from(INTERRUPTED),
            false => ExitCode::SUCCESS,
        },
        interrupt: watch.end(),
    })
}

/// What every page of a log has: its heading, notes and figures, and these parts.
/// `schema` is the version of its keys.
pub fn page(subject: &Subject, schema: &str, labels: &Labels, parts: Vec<Part>) -> Page {
    let log = subject.family.own();
    let interrupted = subject.analysis.part.map(|part| {
        json!({
            "read_up_to_seconds": log.seconds(part.tick),
            "read_percent": part.percent,
        })
    });
    let on_names = OnNames {
        remarks: labels.remarks().map(str::to_owned).collect(),
        cut_short: labels.cut_short().map(str::to_owned),
        ..OnNames::default()
    };
    let notes = notes(subject.family, subject.analysis);
    let all = notes.iter().chain(&on_names.remarks);
    let all: Vec<_> = all.chain(&on_names.cut_short).collect();
    Page {
        figures: Page::keyed([
            ("schema", schema.into()),
            ("interrupted", interrupted.into()),
            ("stats", figures(subject.family, subject.analysis).into()),
            ("notes", json!(all)),
        ]),
        heading: heading(subject),
        notes,
        on_names,
        parts,
        ..Page::default()
    }
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
