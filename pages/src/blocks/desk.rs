//! A log that is open: its table is found or made, and named once that is asked for.
//! A command asks it once, a server as often as it likes.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use memlog_analysis::StackTable;
use memlog_answers::{Choice, Damaged, Of, Test, World};
use memlog_format::counter::Counter;
use memlog_read::Log;
use memlog_symbols::Options;
use memlog_table::Table;
use serde_json::{Value, json};

use super::ask::{Around, Ask, Failure, Question, Told, about, page};
use super::frames::Frames;
use super::grown::COURSE;
use super::lifetimes;
use crate::choose::chosen;
use crate::facts::is_running;
use crate::moment::{At, Span, Times, check as check_moment};
use crate::names::{NameStore, Names, SymbolFiles, symbol_options};
use crate::open::{Family, FileBytes, Files, Over, ReadPart, Sidecar, Watch};
use crate::page::heading::Says;
use crate::page::{OnNames, Page};
use crate::rests::Rests;
use crate::screen::Screen;
use crate::shown::{interrupted, names_over};
use crate::world::{Found, Kept, Named, event_of, find, named};

/// An open log.
pub struct Desk<'t, 'b> {
    pub(super) file: &'t Path,
    pub(super) options: Options,
    store: Mutex<NameStore>,
    /// When no more names are looked up.
    pub(super) over: Over,
    part: Option<ReadPart>,
    pub(super) family: &'t Family<'b>,
    files: &'t Files,
    table: &'t FileBytes,
    kept: Arc<Kept>,
    pub(super) blocks: &'t Table<'b>,
    pub(super) mappings: &'t Table<'b>,
    named: [OnceLock<(World<'t, 'b>, OnNames)>; 2],
    nameless: [OnceLock<World<'t, 'b>>; 2],
    pub(super) frames: [OnceLock<Frames>; 2],
}

/// Which log is opened, and how.
pub struct Opened<'o> {
    /// The log; or a folder or a pattern.
    pub file: &'o Path,
    /// Where the names are.
    pub symbol_files: &'o SymbolFiles,
    /// Looks after the reading.
    pub watch: &'o Watch,
    /// Whether the table that was kept is damaged.
    pub is_again: bool,
}

impl Opened<'_> {
    /// Work is done at the desk of the log, if `check` has nothing against it. Nothing if
    /// the log's table was damaged: that one is not kept any more.
    pub fn work<R>(
        &self,
        check: impl Fn(&Log) -> anyhow::Result<()>,
        work: impl FnOnce(&Desk) -> Result<R, Failure>,
    ) -> anyhow::Result<Option<R>> {
        let options = symbol_options(self.symbol_files)?;
        let file = &chosen(self.file)?;
        let kept = (!self.is_again).then(|| kept_table(file)).flatten();
        let (files, kept) = match kept {
            Some((files, table)) => (files, Some(table)),
            None => (Files::load(file, self.watch)?, None),
        };
        let family = files.family()?;
        check(family.own())?;
        let sidecar = Sidecar::of(file, &family, is_running(family.own()));
        let Found { bytes, analysis } = match kept {
            Some(bytes) => Found {
                bytes,
                analysis: None,
            },
            None => {
                let at = ((None, None), self.is_again);
                find((&family, file), self.symbol_files, &sidecar, self.watch, at)?
            }
        };
        let tables = || {
            let blocks = sidecar.table(&bytes).ok()?;
            let mappings = sidecar.table(blocks.mappings()).ok()?;
            Some((blocks, mappings))
        };
        let Some((blocks, mappings)) = tables() else {
            sidecar.forget();
            return Ok(None);
        };
        let part = analysis.and_then(|analysis| analysis.part);
        let desk = Desk {
            file,
            options,
            store: Mutex::default(),
            over: names_over(part, self.watch),
            part,
            family: &family,
            files: &files,
            table: &bytes,
            kept: Arc::new(Kept::read(blocks.figures())),
            blocks: &blocks,
            mappings: &mappings,
            named: Default::default(),
            nameless: Default::default(),
            frames: Default::default(),
        };
        match work(&desk) {
            Ok(made) => Ok(Some(made)),
            Err(Failure::Damaged) => {
                sidecar.forget();
                Ok(None)
            }
            Err(Failure::Said(error)) => Err(error),
        }
    }
}

/// How much there is of a log now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Of its events.
    pub event_bytes: u64,
    /// Whether its program runs.
    pub is_running: bool,
    /// Whether it says how its program ended. A program that does not run may have
    /// ended after its log was read.
    pub is_ended: bool,
}

impl Size {
    /// That of a log; nothing if it cannot be read.
    pub fn of(file: &Path) -> Option<Self> {
        let files = Files::outline(file).ok()?;
        let family = files.family().ok()?;
        Some(Self::of_log(family.own()))
    }

    fn of_log(log: &Log) -> Self {
        Self {
            event_bytes: log.size().event_bytes,
            is_running: is_running(log),
            is_ended: log.end().is_some() || log.death().is_some(),
        }
    }
}

/// The table that was kept of a log, and the log without its events.
pub fn kept_table(file: &Path) -> Option<(Files, FileBytes)> {
    // What is wrong with it is told by whoever reads all of it.
    let files = Files::outline(file).ok()?;
    let family = files.family().ok()?;
    let table = Sidecar::of(file, &family, is_running(family.own())).found();
    Some((files, table?))
}

impl<'t, 'b> Desk<'t, 'b> {
    /// The log.
    pub fn log(&self) -> &Log<'b> {
        self.family.own()
    }

    /// When recording began, in nanoseconds since 1970.
    pub fn start_unix_ns(&self) -> u64 {
        self.log().start().map_or(0, |start| start.wall_ns)
    }

    /// Whether Ctrl-C came before all of it was read.
    pub fn is_part(&self) -> bool {
        self.part.is_some()
    }

    /// How much there was of it when it was opened.
    pub fn size(&self) -> Size {
        Size::of_log(self.log())
    }

    /// Whether the files are as they were when it was opened: a log may have grown, and no
    /// more. What was read before somebody changed them is right.
    pub fn is_sound(&self) -> bool {
        !self.table.is_changed() && !self.files.are_cut()
    }

    /// Whether it is known what was live at each moment of the run.
    pub fn has_course(&self) -> bool {
        Rests::default().on(COURSE).check(self.log()).is_ok()
    }

    /// What stands above each answer, for programs.
    pub fn overview(&self) -> Value {
        let told = |name: &str, is_alarm: bool, parts: &[String]| json!({ "name": name, "alarm": is_alarm, "text": parts.join(", ") });
        let made_of = &self.kept.made_of;
        let mut lines = Vec::new();
        for line in self.kept.heading().lines {
            if let Says::Parts(parts) = line.says {
                lines.push(told(line.name, line.is_alarm, &parts));
            }
            // Tables have no room for it; who begins with the overview asks that first.
            if line.name == "RSS peak" && !made_of.is_empty() {
                lines.push(told("made of", false, made_of));
            }
        }
        json!({
            "has_course": self.has_course(),
            "heading": lines,
            "notes": self.kept.notes,
            "stats": self.kept.stats,
        })
    }

    /// The page that a command makes.
    pub fn page(&self, asks: &dyn Ask) -> Result<Page, Failure> {
        asks.check()?;
        let told = (asks.of(), asks.question());
        let (answer, around) = self.checked(told, &asks.rests(), |told| asks.answer(told))?;
        Ok(page(asks, answer, around).0)
    }

    /// Something that is made of blocks.
    pub fn tell<A>(
        &self,
        question: &Question,
        rests: &Rests,
        make: impl FnOnce(&Told) -> Result<A, Failure>,
    ) -> Result<A, Failure> {
        Ok(self.checked((Of::Blocks, question), rests, make)?.0)
    }

    /// An answer, where the log knows what it rests on.
    pub(super) fn checked<A>(
        &self,
        told: (Of, &Question),
        rests: &Rests,
        answer: impl FnOnce(&Told) -> Result<A, Failure>,
    ) -> Result<(A, Around), Failure> {
        let rests_on = rests.clone().filtered(told.1.filter());
        rests_on.check(self.log())?;
        self.answer(told, rests, Screen::plain(), answer)
    }

    /// An answer, and what stands around it.
    pub(super) fn answer<A, E: Into<Failure>>(
        &self,
        (of, question): (Of, &Question),
        rests: &Rests,
        screen: Screen,
        answer: impl FnOnce(&Told) -> Result<A, E>,
    ) -> Result<(A, Around), Failure> {
        let log = self.log();
        let needs_names = rests.names || question.needs_names();
        let world = self.world(of, needs_names)?;
        let span = Span {
            from_seconds: self.kept.events_from(),
            end_seconds: log.seconds(self.blocks.end_tick()),
            has_end: log.end().is_some(),
            is_part: self.part.is_some(),
        };
        let mut moment = Choice::all();
        if let Some(at) = question.at() {
            let when = at.when(log, &Times::of(self.blocks))?;
            check_moment(when, &span)?;
            moment = moment.and(Test::LiveAt(event_of(world, when)));
        }
        let start_unix_ns = self.start_unix_ns();
        let test = question.test(world, start_unix_ns)?.ok_or(Damaged)?;
        let choice = moment.clone().and(test.clone());
        let filtered = Choice::of(test);
        let (at, filter) = about(question);
        let told = Told {
            about: &format!("{at}{filter}"),
            about_filter: &filter,
            start_unix_ns,
            world,
            choice: &choice,
            moment: &moment,
            filtered: &filtered,
            desk: self,
            span: &span,
            columns: screen.columns(),
            started_with: log.counter(Counter::StartRssKb).saturating_mul(1024),
            sizes: screen.sizes,
            page_bytes: log.start().map_or(4096, |start| start.page_bytes.into()),
        };
        let answer = answer(&told).map_err(Into::into)?;
        let around = Around {
            note: lifetimes::note_on_filter(world, question.filter()),
            interrupted: interrupted(log, self.part),
            is_part: self.part.is_some(),
            kept: Arc::clone(&self.kept),
            on_names: match needs_names {
                true => self.on_names(of),
                false => OnNames::default(),
            },
            screen,
            interrupt: None,
        };
        Ok((answer, around))
    }

    /// A table with its moments, and with names if there have to be any.
    pub fn world(&self, of: Of, needs_names: bool) -> Result<&World<'t, 'b>, Damaged> {
        let place = usize::from(of == Of::Mappings);
        if let Some((world, _)) = self.named[place].get() {
            return Ok(world);
        }
        if needs_names {
            // Who comes second waits for the first one's names.
            let store = self.name_store();
            if self.named[place].get().is_none() {
                let names = Names::new(&store, &self.options, self.log(), self.file);
                let made = self.made(of, Some(names.until(self.over.clone())))?;
                let _ = self.named[place].set(made);
            }
            let made = self.named[place].get();
            return made.map(|(world, _)| world).ok_or(Damaged);
        }
        if self.nameless[place].get().is_none() {
            let _ = self.nameless[place].set(self.made(of, None)?.0);
        }
        self.nameless[place].get().ok_or(Damaged)
    }

    /// Whoever looks names up has it alone.
    pub(super) fn name_store(&self) -> MutexGuard<'_, NameStore> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn made(&self, of: Of, names: Option<Names>) -> Result<(World<'t, 'b>, OnNames), Damaged> {
        let table = match of {
            Of::Blocks => self.blocks,
            Of::Mappings => self.mappings,
        };
        let moments = (of, self.kept.moments(of));
        let Named {
            mut world,
            on_names,
            ..
        } = named(table, moments, self.family, names, StackTable::default())?;
        world.mappings = (of == Of::Blocks).then_some(self.mappings);
        Ok((world, on_names))
    }

    fn on_names(&self, of: Of) -> OnNames {
        let named = self.named[usize::from(of == Of::Mappings)].get();
        named
            .map(|(_, on_names)| on_names.clone())
            .unwrap_or_default()
    }
}

impl<'b> Told<'_, '_, 'b> {
    /// The log that is asked.
    pub fn log(&self) -> &Log<'b> {
        self.desk.log()
    }

    /// The log with those of its parents.
    pub fn family(&self) -> &Family<'b> {
        self.desk.family
    }

    /// What the log told as a whole.
    pub fn kept(&self) -> &Kept {
        &self.desk.kept
    }

    /// The mappings, where the world is of blocks.
    pub fn mappings(&self) -> &Table<'b> {
        self.desk.mappings
    }

    /// The mappings with the names of their stacks.
    pub fn name_mappings(&self) -> Result<&World<'_, 'b>, Damaged> {
        self.desk.world(Of::Mappings, true)
    }

    /// After which event a moment is.
    pub fn event(&self, at: &At) -> anyhow::Result<u64> {
        let when = at.when(self.log(), &Times::of(self.world.table))?;
        check_moment(when, self.span)?;
        Ok(event_of(self.world, when))
    }
}
