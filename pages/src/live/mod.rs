//! What a log that grows says now, and since the last look: for who looks at it again and again.
//!
//! * `find`: what a word of the command line stands for
//! * `look`: the figures of a look, and what changed since the one before
//! * `source`: lines of a source file around a place
//! * `told`: the figures of a look as lines of text: mem-trace's top ten, Prometheus

mod find;
mod look;
mod source;
mod told;

use std::path::Path;
use std::time::Duration;

use memlog_analysis::Tally;
pub use memlog_analysis::{Every, Held, Snapshots, Totals};

use crate::names::SymbolFiles;
use crate::names::{Labels, Name, NameStore, Names, Rested, symbol_options};
use crate::open::{Following, Life, Seen, outline};
pub use find::{Target, target};
use look::Figures;
pub use look::{Look, SiteRow, ThreadRow};
pub use source::around;
pub use told::{prometheus, top_ten};

/// A log that is looked at again and again, with names.
pub struct Live<'n> {
    store: &'n NameStore,
    symbol_files: SymbolFiles,
    following: Following,
    names: Option<Rested<'n>>,
    /// By stack the place that asked, once it is known: none where a filter keeps it out.
    places: Vec<Option<Option<u32>>>,
    /// What the look before found, and the first one.
    before: Option<Figures>,
    first: Option<Vec<Held>>,
}

impl<'n> Live<'n> {
    /// Opens a log.
    pub fn open(
        path: &Path,
        symbol_files: &SymbolFiles,
        store: &'n NameStore,
    ) -> anyhow::Result<Self> {
        symbol_options(symbol_files)?;
        Ok(Self {
            store,
            symbol_files: symbol_files.clone(),
            following: Following::open(path)?,
            names: None,
            places: Vec::new(),
            before: None,
            first: None,
        })
    }

    /// The log.
    pub fn path(&self) -> &Path {
        self.following.path()
    }

    /// What the log says besides figures.
    pub fn seen(&self) -> &Seen {
        self.following.seen()
    }

    /// Whether the process lives.
    pub fn life(&self) -> &Life {
        self.following.life()
    }

    /// Whether nothing more comes.
    pub fn is_over(&self) -> bool {
        self.following.is_over()
    }

    /// What is live and what came and went by now, without names.
    pub fn figures(&self) -> (Held, Totals) {
        let tally = self.following.tally();
        (tally.live(), *tally.totals())
    }

    /// Reads what came, without summing it up; whether the log says yet what it is of. `each`
    /// is handed the snapshots that were taken, and drains them.
    pub fn read(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        each: &mut Each,
    ) -> anyhow::Result<bool> {
        let (names, store, files) = (&mut self.names, self.store, &self.symbol_files);
        let path = self.following.path().to_owned();
        let mut told = Ok(());
        let is_begun = self.following.look(snapshots, &mut |tally, snapshots| {
            if let Some(snapshots) = snapshots
                && told.is_ok()
                && !snapshots.taken().is_empty()
            {
                told = lent(names, &path, (store, files), tally, |labels| {
                    each(snapshots, labels)
                });
            }
        })?;
        told?;
        Ok(is_begun)
    }

    /// Time has passed without events: takes the snapshots that are due by now, and the last
    /// one at the end.
    pub fn pass_time(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        is_last: bool,
        each: &mut Each,
    ) -> anyhow::Result<()> {
        let Some(snapshots) = snapshots else {
            return Ok(());
        };
        let (seen, tally) = (self.following.seen(), self.following.tally());
        if is_last {
            snapshots.end(tally.tick(), true, tally);
        } else if *self.following.life() == Life::Running && seen.tick_ns > 0 {
            // What a thread did just now may be written down with a time that is a little late.
            let now = (seconds_since(seen.start_unix_ns) - LATE_SECONDS).max(0.0);
            snapshots.before((now * 1e9) as u64 / seen.tick_ns, tally);
        }
        if snapshots.taken().is_empty() {
            return Ok(());
        }
        let path = self.following.path().to_owned();
        let store = (self.store, &self.symbol_files);
        lent(&mut self.names, &path, store, tally, |labels| {
            each(snapshots, labels)
        })
    }

    /// Lends the stacks with their names.
    fn with_labels<R>(&mut self, ask: impl FnOnce(&mut Labels<'n, '_>) -> R) -> anyhow::Result<R> {
        let path = self.following.path().to_owned();
        let (store, tally) = ((self.store, &self.symbol_files), self.following.tally());
        lent(&mut self.names, &path, store, tally, |labels| {
            Ok(ask(labels))
        })
    }

    /// The name of a place.
    pub fn name(&self, label: u32) -> Option<&Name> {
        self.names.as_ref()?.names().get(label as usize)
    }

    /// The functions of a stack, the innermost first.
    pub fn frames(&mut self, stack: u32) -> anyhow::Result<Vec<Name>> {
        self.with_labels(|labels| {
            let mut cursor = labels.start(stack);
            let mut frames = Vec::new();
            while let Some((label, next)) = labels.step(cursor) {
                frames.push(labels.names()[label as usize].clone());
                cursor = next;
            }
            frames
        })
    }
}

/// Is handed snapshots, and the names of their stacks.
pub type Each<'e> = dyn FnMut(&mut Snapshots, &mut Labels) -> anyhow::Result<()> + 'e;

/// So late a time may be written down.
const LATE_SECONDS: f64 = 1.0;

/// Lends the stacks of a tally with their names, which are looked for the first time.
fn lent<'n, R>(
    names: &mut Option<Rested<'n>>,
    path: &Path,
    (store, symbol_files): (&'n NameStore, &SymbolFiles),
    tally: &Tally,
    ask: impl FnOnce(&mut Labels<'n, '_>) -> anyhow::Result<R>,
) -> anyhow::Result<R> {
    let known = match names.take() {
        Some(known) => known,
        None => {
            let options = symbol_options(symbol_files)?;
            let files = outline(path)?;
            let family = files.family()?;
            Rested::new(Names::new(store, &options, family.own(), path))
        }
    };
    let mut labels = known.on(tally.stacks());
    let made = ask(&mut labels);
    *names = Some(labels.rest());
    made
}

fn seconds_since(unix_ns: u64) -> f64 {
    let began = std::time::UNIX_EPOCH + Duration::from_nanos(unix_ns);
    began.elapsed().map_or(0.0, |since| since.as_secs_f64())
}
