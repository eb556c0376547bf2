//! A thread that reads logs and makes views of them. Names and figures stay with it: what it
//! sends are values. So keys are answered while it reads a log of gigabytes.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use memlog_pages::live::{Live, Look, Target};
use memlog_pages::{Filter, NameStore, SymbolFiles, logs_of};

use crate::view::{Detail, LogRow, StackView, View, push};

/// What the user wants to see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// The inside of a log of the folder, or all of them.
    Open(Option<PathBuf>),
    /// The stacks of a site, or of none.
    Stacks(Option<u32>),
    /// No looks until the next of these.
    Pause(bool),
}

/// More logs of a folder are not followed: each takes the memory of its blocks.
const MOST_LOGS: usize = 512;
/// So many stacks of a site are shown.
const MOST_STACKS: usize = 20;
/// A folder is looked through this often at most.
const FOLDER_STEP: Duration = Duration::from_secs(2);

/// The thread's two ends.
pub struct Reader {
    pub requests: Sender<Request>,
    pub views: Receiver<View>,
}

impl Reader {
    /// Begins to look, a look each `delay`.
    pub fn start(target: Target, files: &SymbolFiles, delay: Duration) -> std::io::Result<Self> {
        let (requests, asked) = channel();
        let (told, views) = channel();
        let files = files.clone();
        let read = move || {
            let store = NameStore::default();
            Reading::new(target, &files, &store, delay).run(&asked, &told);
        };
        thread::Builder::new().name("reader".into()).spawn(read)?;
        Ok(Self { requests, views })
    }
}

struct Reading<'r> {
    folder: Option<PathBuf>,
    files: &'r SymbolFiles,
    store: &'r NameStore,
    delay: Duration,
    logs: BTreeMap<PathBuf, Followed<'r>>,
    refused: HashSet<PathBuf>,
    left_out: usize,
    looked_through: Option<Instant>,
    open: Option<PathBuf>,
    stacks: Option<u32>,
    error: Option<String>,
    is_paused: bool,
}

struct Followed<'r> {
    live: Live<'r>,
    is_begun: bool,
    before: Option<(Instant, u64, u64)>,
    row: LogRow,
    heap: VecDeque<u64>,
    resident: VecDeque<u64>,
    /// The last one that was summed up.
    look: Option<Look>,
}

impl<'r> Reading<'r> {
    fn new(target: Target, files: &'r SymbolFiles, store: &'r NameStore, delay: Duration) -> Self {
        let (folder, open) = match target {
            Target::Log(path) => (None, Some(path)),
            Target::Several(path) => (Some(path), None),
            Target::Process(_) => (None, None),
        };
        let mut reading = Self {
            folder,
            files,
            store,
            delay,
            logs: BTreeMap::new(),
            refused: HashSet::new(),
            left_out: 0,
            looked_through: None,
            open: open.clone(),
            stacks: None,
            error: None,
            is_paused: false,
        };
        if let Some(path) = open {
            reading.add(path);
        }
        reading
    }

    /// Looks until nobody hears it any more.
    fn run(mut self, asked: &Receiver<Request>, told: &Sender<View>) {
        let mut next = Instant::now();
        loop {
            if !self.is_paused && Instant::now() >= next {
                self.look();
                // What takes long does not follow at once.
                next = Instant::now() + self.delay;
                if told.send(self.view(true)).is_err() {
                    return;
                }
            }
            let left = match self.is_paused {
                true => Duration::from_secs(3600),
                false => next.saturating_duration_since(Instant::now()),
            };
            match asked.recv_timeout(left) {
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
                Ok(Request::Pause(is_paused)) => {
                    self.is_paused = is_paused;
                    next = Instant::now();
                }
                Ok(request) => {
                    match request {
                        Request::Open(path) => (self.open, self.stacks) = (path, None),
                        Request::Stacks(label) => self.stacks = label,
                        Request::Pause(_) => {}
                    }
                    if told.send(self.view(false)).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn add(&mut self, path: PathBuf) {
        match Live::open(&path, self.files, self.store) {
            Ok(live) => {
                let row = LogRow {
                    path: path.clone(),
                    ..LogRow::default()
                };
                let followed = Followed {
                    live,
                    is_begun: false,
                    before: None,
                    row,
                    heap: VecDeque::new(),
                    resident: VecDeque::new(),
                    look: None,
                };
                self.logs.insert(path, followed);
            }
            Err(error) => {
                if self.folder.is_none() {
                    self.error = Some(format!("{error:#}"));
                }
                self.refused.insert(path);
            }
        }
    }

    fn look(&mut self) {
        self.look_through();
        for followed in self.logs.values_mut() {
            followed.look();
        }
    }

    /// Finds the logs of a folder; those whose file went are no more shown.
    fn look_through(&mut self) {
        let Some(folder) = &self.folder else {
            return;
        };
        let is_due = |at: Instant| at.elapsed() >= FOLDER_STEP;
        if !self.looked_through.is_none_or(is_due) {
            return;
        }
        self.looked_through = Some(Instant::now());
        let paths = match logs_of(folder) {
            Ok(paths) => paths,
            Err(error) => {
                self.error = Some(format!("{error:#}"));
                return;
            }
        };
        self.error = None;
        self.logs.retain(|path, _| path.exists());
        self.left_out = 0;
        for path in paths {
            if self.logs.contains_key(&path) || self.refused.contains(&path) {
                continue;
            }
            match self.logs.len() < MOST_LOGS {
                true => self.add(path),
                false => self.left_out += 1,
            }
        }
    }

    fn view(&mut self, is_new: bool) -> View {
        let rows = self.folder.as_ref().map(|_| {
            let begun = self
                .logs
                .values()
                .filter(|one| one.is_begun || one.row.error.is_some());
            begun.map(|one| one.row.clone()).collect()
        });
        let stacks = self.stacks;
        let open = self.open.clone().and_then(|path| self.logs.get_mut(&path));
        let mut error = self.error.clone();
        let detail = open.filter(|one| one.is_begun).and_then(|one| {
            let made = one.detail(stacks, is_new);
            made.map_err(|why| error = Some(format!("{why:#}"))).ok()
        });
        if let Some(one) = self.open.as_ref().and_then(|path| self.logs.get(path)) {
            error = error.or(one.row.error.clone());
        }
        View {
            logs: rows,
            left_out: self.left_out,
            detail,
            error,
        }
    }
}

impl Followed<'_> {
    fn look(&mut self) {
        // Nothing more comes.
        if self.live.is_over() && self.is_begun {
            self.row.grown = 0;
            self.row.rate = 0.0;
            self.note();
            return;
        }
        match self.live.read(&mut None, &mut |_, _| Ok(())) {
            Ok(is_begun) => self.is_begun |= is_begun,
            Err(error) => self.row.error = Some(format!("{error:#}")),
        }
        self.note();
    }

    fn note(&mut self) {
        let (live, totals) = self.live.figures();
        let now = Instant::now();
        if let Some((at, bytes, allocations)) = self.before {
            let seconds = now.duration_since(at).as_secs_f64().max(1e-3);
            self.row.grown = (live.bytes as i64).wrapping_sub(bytes as i64);
            self.row.rate = totals.allocations.saturating_sub(allocations) as f64 / seconds;
        }
        self.before = Some((now, live.bytes, totals.allocations));
        self.row.seen = self.live.seen().clone();
        self.row.life = self.live.life().clone();
        self.row.is_over = self.live.is_over();
        self.row.live = live;
        if self.is_begun {
            push(&mut self.heap, live.bytes);
            let resident = self.row.seen.resident.map_or(0, |resident| resident.bytes);
            push(&mut self.resident, resident);
        }
    }

    /// The inside of the log. What was looked at before is told once more while nothing is new.
    fn detail(&mut self, stacks: Option<u32>, is_new: bool) -> anyhow::Result<Detail> {
        let known = self.look.take().filter(|_| !is_new || self.live.is_over());
        let look = match known {
            Some(look) => look,
            None => self.live.sum_up(&Filter::default())?,
        };
        self.look = Some(look.clone());
        let names = look.sites.iter().map(|site| {
            let name = self.live.name(site.label).cloned();
            name.unwrap_or_else(|| memlog_pages::Name {
                function: "?".into(),
                location: None,
                module: None,
            })
        });
        let names = names.collect();
        let wanted = stacks.and_then(|label| look.sites.iter().find(|site| site.label == label));
        let wanted = wanted.map(|site| (site.label, site.stacks.clone()));
        let mut told = None;
        if let Some((label, stacks)) = wanted {
            let mut views = Vec::new();
            for (stack, held) in stacks.into_iter().take(MOST_STACKS) {
                let frames = self.live.frames(stack)?;
                views.push(StackView { held, frames });
            }
            told = Some((label, views));
        }
        Ok(Detail {
            seen: self.row.seen.clone(),
            life: self.row.life.clone(),
            is_over: self.row.is_over,
            look,
            names,
            heap: self.heap.clone(),
            resident: self.resident.clone(),
            stacks: told,
        })
    }
}

/// The name of a log without its folder.
pub fn short(path: &Path) -> String {
    let name = path.file_name().map(Path::new).unwrap_or(path);
    memlog_pages::shown(name)
}
