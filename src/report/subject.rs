//! A log, read, named, and shown.

use std::io::{Result, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_export::When;
use memlog2dot::Elsewhere;
use serde_json::{Map, Value, json};

use super::failed;
use super::labels::Labels;
use super::moment::check as check_moment;
use super::notes::notes;
use crate::dot::chosen;
use crate::elsewhere;
use crate::kernel::is_running;
use crate::names::{NameStore, Names};
use crate::open::{Analysis, Family, Files, Over, Watch, counted};
use crate::screen::{Look, Screen};
use crate::stats;

/// Exit code of what Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// A log that was read, and where it is shown.
pub struct Subject<'a> {
    pub file: &'a Path,
    pub elsewhere: &'a Elsewhere,
    pub family: &'a Family<'a>,
    pub analysis: &'a Analysis,
    pub screen: &'a Screen,
    /// Whether the program runs still: then the log's end is but now.
    pub is_running: bool,
    /// What there is to say of calls that got no memory.
    pub failed: Vec<String>,
}

/// What a command that shows a page is asked.
pub struct Asked<'a> {
    pub file: &'a Path,
    pub elsewhere: &'a Elsewhere,
    pub look: &'a Look,
}

/// Reads a log, has a page made of it, and shows that. `at` is a moment that
/// the page will ask for.
pub fn show(
    asked: &Asked,
    at: Option<When>,
    make: impl FnOnce(&Subject, &mut Labels) -> Result<Vec<u8>>,
) -> anyhow::Result<ExitCode> {
    let whole = |_: &Family, _: &Watch| at;
    show_after(
        asked,
        whole,
        |at| *at,
        |subject, labels, _| make(subject, labels),
    )
}

/// The same, where the moment that the page will ask for is found by a first
/// look at the log.
pub fn show_after<T>(
    asked: &Asked,
    first: impl FnOnce(&Family, &Watch) -> T,
    moment: impl FnOnce(&T) -> Option<When>,
    make: impl FnOnce(&Subject, &mut Labels, &T) -> Result<Vec<u8>>,
) -> anyhow::Result<ExitCode> {
    let options = elsewhere::options(asked.elsewhere)?;
    let file = &chosen(asked.file)?;
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
    let mut labels = Labels::new(names, analysis.fold.stacks());
    let screen = Screen::new(asked.look);
    let failed = failed::parts(family.own(), &analysis, &mut labels);
    let subject = Subject {
        file,
        elsewhere: asked.elsewhere,
        family: &family,
        analysis: &analysis,
        screen: &screen,
        is_running,
        failed,
    };
    let page = make(&subject, &mut labels, &found)?;
    screen.show(&page, watch.end())?;
    Ok(
        match analysis.part.is_some() || labels.cut_short().is_some() {
            true => ExitCode::from(INTERRUPTED),
            false => ExitCode::SUCCESS,
        },
    )
}

impl Subject<'_> {
    /// What was wrong with the names, below a page.
    pub fn print_remarks(&self, out: &mut impl Write, labels: &Labels) -> Result<()> {
        let remarks = labels.remarks().chain(labels.cut_short());
        for (index, remark) in remarks.enumerate() {
            if index == 0 {
                writeln!(out)?;
            }
            writeln!(out, "{}", self.screen.note(remark))?;
        }
        Ok(())
    }

    /// The same in one line.
    pub fn count_remarks(&self, out: &mut impl Write, labels: &Labels) -> Result<()> {
        let count = labels.remarks().count() as u64;
        if count > 0 {
            let files = counted(count, "file");
            let sentence =
                format!("{files} of names gone, rebuilt or not taken; memlog report says which");
            writeln!(out, "{}", self.screen.note(&sentence))?;
        }
        Ok(())
    }

    /// What every page tells programs: of which log it is, and of what part.
    pub fn as_json(&self, schema: &str, labels: &Labels) -> Map<String, Value> {
        let log = self.family.own();
        let notes = notes(self.family, self.analysis).into_iter();
        let remarks = labels.remarks().chain(labels.cut_short());
        let remarks = remarks.map(str::to_owned);
        let part = self.analysis.part.map(|part| {
            json!({
                "read_up_to_seconds": log.seconds(part.tick),
                "read_percent": part.percent,
            })
        });
        let all = [
            ("schema", schema.into()),
            ("interrupted", part.into()),
            ("stats", stats::figures(self.family, self.analysis).into()),
            ("notes", notes.chain(remarks).collect()),
        ];
        all.map(|(name, value): (&str, Value)| (name.to_owned(), value))
            .into_iter()
            .collect()
    }
}

/// JSON as it is printed.
pub fn json_page(value: &Map<String, Value>) -> Result<Vec<u8>> {
    let mut page = serde_json::to_vec_pretty(value)?;
    page.push(b'\n');
    Ok(page)
}
