//! A log that is followed as it grows: each look reads what came since the last one.
//!
//! A flight recorder's log is read as a whole each time, out of a copy: it takes its oldest
//! chunks again while it is read, and it is of a bounded length. So is a log whose recorder
//! leaves out short lives: it writes its newest chunks anew.

mod life;

use std::fs::File;
use std::path::{Path, PathBuf};

use memlog_analysis::{Held, Moment, Snapshots, Tally};
use memlog_format::chunk::CHUNK_SIZE;
use memlog_format::control::State;
use memlog_format::counter::{ALL, Counter};
use memlog_format::event::{Alloc, Release, Usual};
use memlog_format::meta::Key;
use memlog_read::{
    EventStream, Findings, Flight, Follower, Item, Kind, Log, Look, Place, ReadError, Taker,
};

use super::analysis::{Feed, begin};
use super::map::{FileBytes, open as open_file, watch_file};
use super::packed::is_packed;
use super::snapping::Snapping;
use super::steady::has_moved;
use super::{Files, LogTables, Watch, extent, form_of, outlive_cut_files, unreadable};
use crate::facts::{is_off, program, started_as};
use crate::words::{Advice, clean, shown, typed};
pub use life::Life;

/// A log and how far it was read.
pub struct Following {
    path: PathBuf,
    file: File,
    follower: Follower,
    tally: Tally,
    base: Vec<(u32, Held)>,
    is_begun: bool,
    /// Whether nothing more can come.
    is_over: bool,
    seen: Seen,
    life: life::Watched,
}

/// What a log says of its process by now, besides figures.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The program's file, without its folder.
    pub program: String,
    /// The name it was started as, where that says more.
    pub started_as: Option<String>,
    /// Of the process.
    pub pid: u32,
    /// The machine that it runs on.
    pub host: String,
    /// When it began, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Nanoseconds of a tick.
    pub tick_ns: u64,
    /// The last reading of resident memory.
    pub resident: Option<Resident>,
    /// The most that resident memory was in a reading, with the recorder's part.
    pub resident_peak_bytes: u64,
    /// The last mark, and how many there were.
    pub mark: Option<(u64, String)>,
    /// How many marks there were.
    pub marks: u64,
    /// Whether recording is off, for now or for good.
    pub is_off: bool,
    /// Events that the recorder had no room for.
    pub lost_events: u64,
    /// Whether the log's recorder writes over events: it is a flight recorder, or leaves out
    /// short lives.
    pub is_rewritten: bool,
    /// Why what was inherited is not known, in a sentence.
    pub missing_parent: Option<String>,
    /// Parts of the log that cannot be read.
    pub damages: u64,
}

/// A reading of resident memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// When.
    pub tick: u64,
    /// With the recorder's part.
    pub bytes: u64,
    /// The recorder's part.
    pub own_bytes: u64,
}

impl Following {
    /// Opens a log; nothing of it is read yet.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let unread = |error| unreadable(path, &error);
        if let Some(form) = form_of(path) {
            return Err(Advice::error(
                format!("{} is a {} file and no log", shown(path), form.tool),
                "give the log of a program that memlog records",
            ));
        }
        if is_packed(path) {
            return Err(Advice::error(
                format!("{} is a packed log, which does not grow", shown(path)),
                format!("memlog summary {}", typed(path)),
            ));
        }
        // A program that ends cuts its log while it is read.
        outlive_cut_files();
        Ok(Self {
            file: open_file(path).map_err(unread)?,
            path: path.to_owned(),
            follower: Follower::default(),
            tally: Tally::new(Default::default()),
            base: Vec::new(),
            is_begun: false,
            is_over: false,
            seen: Seen::default(),
            life: life::Watched::default(),
        })
    }

    /// Reads what came since the last look; `between` is asked now and then, and after the
    /// last event, with the events so far in the tally. Whether the log says yet what it is of.
    pub fn look(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        between: &mut Between,
    ) -> anyhow::Result<bool> {
        if !self.read(snapshots, between)? {
            return Ok(false);
        }
        if self.life.is_over() && !self.is_over {
            // What was written between the look and the end.
            self.is_over = true;
            self.read(snapshots, between)?;
        }
        Ok(true)
    }

    fn read(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        between: &mut Between,
    ) -> anyhow::Result<bool> {
        let mut marked = Ok(());
        for _ in 0..2 {
            let Some(bytes) = self.bytes()? else {
                return Ok(false);
            };
            marked = marked.and_then(|()| self.follower.mark(&bytes));
        }
        // As long as it is behind the marks.
        let Some(bytes) = self.bytes()? else {
            return Ok(false);
        };
        let is_rewritten = |bytes: &[u8]| Follower::is_flight(bytes) || has_moved(bytes);
        if is_rewritten(&bytes) {
            drop(bytes);
            return self.read_whole(snapshots, between);
        }
        let look = match marked.and_then(|()| self.follower.look(&bytes, self.is_over)) {
            Ok(look) => look,
            Err(ReadError::Empty | ReadError::TooShort { .. } | ReadError::Unwritten)
                if !self.is_begun =>
            {
                return Ok(false);
            }
            Err(error) => {
                let sentence = format!("cannot read {}: {error}", shown(&self.path));
                return Err(Advice::error(sentence, error.remedy()));
            }
        };
        let Look {
            log,
            mut events,
            streams,
        } = look;
        if !self.is_begun {
            self.life.look(&log);
            // Before its first event a log says all of what it is of.
            let comes = !self.life.is_over() && log.state() != State::Off;
            if log.start().is_none() || streams.is_empty() && comes {
                self.follower = Follower::default();
                return Ok(false);
            }
            self.begin(&log, snapshots)?;
        }
        self.take(&log, &mut events, snapshots, between);
        let findings = self.follower.keep(events, &streams);
        if is_rewritten(&bytes) {
            // The first time, while it was read.
            return self.read_whole(snapshots, between);
        }
        self.seen.note(&log, damages(&findings));
        self.life.look(&log);
        // The recorder cuts off what it never used.
        let given = Counter::Chunks
            .read(&bytes)
            .saturating_mul(CHUNK_SIZE as u64);
        let length = self.file.metadata().map_or(0, |found| found.len());
        match length < given.min(bytes.len() as u64) {
            true => Err(Advice::error(
                format!("{} got shorter while it was read", shown(&self.path)),
                "give a log that nobody writes to but its program",
            )),
            false => Ok(true),
        }
    }

    /// The log's file in memory, as long as it is now; nothing while it is empty.
    fn bytes(&self) -> anyhow::Result<Option<FileBytes>> {
        let unread = |error| unreadable(&self.path, &error);
        let length = extent::of(&self.file).map_err(unread)?.bytes;
        if length == 0 {
            return Ok(None);
        }
        watch_file(&self.file, Some(length))
            .map(Some)
            .map_err(unread)
    }

    /// What there is before the first event.
    fn begin(&mut self, log: &Log, snapshots: &mut Option<Snapshots>) -> anyhow::Result<()> {
        match log.parent_pid() {
            None => self.begin_with(log, |_| {}),
            Some(_) => {
                let files = self.files(Files::load_silently)?;
                let family = files.family()?;
                let inherit = |tally: &mut Tally| family.inherit(tally, &Watch::silent());
                self.begin_with(log, inherit);
                self.seen.missing_parent = family.missing_parent.map(str::to_owned);
            }
        }
        if let Some(snapshots) = snapshots {
            snapshots.set_tick_ns(log.tick_ns());
            snapshots.begin(&self.tally);
        }
        Ok(())
    }

    fn begin_with(&mut self, log: &Log, inherit: impl FnOnce(&mut Tally)) {
        let stacks = self.tally.take_stacks();
        self.tally = begin(log, None, stacks, inherit);
        self.base = self.tally.held(Moment::End).collect();
        self.is_begun = true;
    }

    fn files(&self, load: impl Fn(&Path) -> anyhow::Result<Files>) -> anyhow::Result<Files> {
        loaded(&self.path, load)
    }

    /// Reads a log anew that its recorder writes over.
    fn read_whole(
        &mut self,
        snapshots: &mut Option<Snapshots>,
        between: &mut Between,
    ) -> anyhow::Result<bool> {
        // What was taken from single events is of no use any more.
        *snapshots = None;
        let mut files = self.files(Files::copy)?;
        for _ in 1..TRIES {
            let is_torn = |flight: &Flight| flight.is_torn();
            if !files.family()?.own().flight().is_some_and(is_torn) {
                break;
            }
            files = self.files(Files::copy)?;
        }
        let family = files.family()?;
        let log = family.own();
        self.begin_with(log, |tally| family.inherit(tally, &Watch::silent()));
        self.seen.marks = 0;
        self.take(log, &mut log.events(), &mut None, between);
        self.seen.is_rewritten = true;
        self.seen.note(log, 0);
        self.life.look(log);
        Ok(true)
    }

    /// Takes events to the tally.
    fn take<'a>(
        &mut self,
        log: &Log<'a>,
        events: &mut EventStream<'a>,
        snapshots: &mut Option<Snapshots>,
        between: &mut Between,
    ) {
        let mut taking = Taking {
            feed: Feed {
                tally: &mut self.tally,
                tables: &LogTables::new(log),
                mapped: None,
            },
            seen: &mut self.seen,
            snapshots,
        };
        taking.all(events, between);
        self.tally.take_unknown();
    }

    /// The log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of the events so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// What each stack held before the log's first event.
    pub fn base(&self) -> &[(u32, Held)] {
        &self.base
    }

    /// What the log says besides figures.
    pub fn seen(&self) -> &Seen {
        &self.seen
    }

    /// Whether the process lives.
    pub fn life(&self) -> &Life {
        self.life.now()
    }

    /// Whether nothing more comes.
    pub fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Asked between events, with what is known of those before.
type Between<'b> = dyn FnMut(&Tally, &mut Option<Snapshots>) + 'b;

/// So often a flight recorder's log is copied, until it is not in the middle of a fold.
const TRIES: usize = 5;
/// Events from one question to the next.
const STRIDE: u64 = 1 << 13;

/// A log that may grow, without its events.
pub fn outline(path: &Path) -> anyhow::Result<Files> {
    loaded(path, Files::outline)
}

/// A log and those of its parents. A program that ends cuts its log, also while it is copied.
fn loaded(path: &Path, load: impl Fn(&Path) -> anyhow::Result<Files>) -> anyhow::Result<Files> {
    let mut loaded = load(path);
    for _ in 1..TRIES {
        if loaded.is_ok() {
            break;
        }
        loaded = load(path);
    }
    loaded
}

/// How many findings say that a part is missing or spoilt.
fn damages(findings: &Findings) -> u64 {
    let usual = findings.list().iter().filter(|finding| finding.is_usual());
    findings.count() - usual.count() as u64
}

impl Seen {
    /// What the process does, in a few words.
    pub fn word(&self, life: &Life) -> String {
        match (life, self.is_off) {
            (Life::Running, true) => "running, recording is off".into(),
            _ => life.word(),
        }
    }

    fn note(&mut self, log: &Log, damages: u64) {
        if self.tick_ns == 0 {
            self.program = program(log).unwrap_or_default();
            self.started_as = started_as(log);
            self.host = log.text(Key::Host).map(clean).unwrap_or_default();
            self.tick_ns = log.tick_ns();
            if let Some(start) = log.start() {
                self.pid = start.pid;
                self.start_unix_ns = start.wall_ns;
            }
        }
        let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
        let lost = losses.map(|&(counter, _)| log.counter(counter));
        self.lost_events = lost.fold(0, u64::saturating_add);
        self.damages += damages;
        self.is_off = is_off(log);
        let most = log.end().map_or(0, |end| end.vm_hwm_kb);
        let most = most.max(log.counter(Counter::VmHwmKb)).saturating_mul(1024);
        self.resident_peak_bytes = self.resident_peak_bytes.max(most);
    }

    fn take(&mut self, item: &Item) {
        match &item.kind {
            Kind::Rss(rss) => {
                let kb = if rss.now_kb == 0 {
                    rss.peak_kb
                } else {
                    rss.now_kb
                };
                let bytes = kb.saturating_mul(1024);
                self.resident_peak_bytes = self.resident_peak_bytes.max(bytes);
                self.resident = Some(Resident {
                    tick: item.tick,
                    bytes,
                    own_bytes: rss.own_kb.saturating_mul(1024).min(bytes),
                });
            }
            Kind::Mark(text) => {
                self.marks += 1;
                self.mark = Some((item.tick, clean(text)));
            }
            _ => {}
        }
    }
}

/// Takes each event to the tally, with an eye on what stands besides, and on snapshots.
struct Taking<'t, 'l, 'a> {
    feed: Feed<'t, 'l, 'a>,
    seen: &'t mut Seen,
    snapshots: &'t mut Option<Snapshots>,
}

impl<'a> Taking<'_, '_, 'a> {
    fn all(&mut self, events: &mut EventStream<'a>, between: &mut Between) {
        loop {
            let goes_on = match self.snapshots {
                Some(snapshots) => {
                    let mut snapping = Snapping::go_on(&mut self.feed, snapshots);
                    events.hand_out(STRIDE, &mut Noting(self.seen, &mut snapping))
                }
                None => events.hand_out(STRIDE, &mut Noting(self.seen, &mut self.feed)),
            };
            between(self.feed.tally, self.snapshots);
            if !goes_on {
                return;
            }
        }
    }
}

/// Notes what stands besides, and hands all on.
struct Noting<'n, T>(&'n mut Seen, &'n mut T);

impl<'a, T: Taker<'a>> Taker<'a> for Noting<'_, T> {
    fn soon(&mut self, events: &[(Place, Usual)]) {
        self.1.soon(events);
    }

    #[inline]
    fn alloc(&mut self, place: Place, alloc: &Alloc) {
        self.1.alloc(place, alloc);
    }

    #[inline]
    fn release(&mut self, place: Place, release: &Release) {
        self.1.release(place, release);
    }

    fn item(&mut self, item: &Item<'a>) {
        self.0.take(item);
        self.1.item(item);
    }
}
