//! One log that is open: threads of its own hold its desk, and do there what is asked.
//! What they borrow of the log never leaves them.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use memlog_pages::blocks::{Desk, Failure, Opened, Size};
use memlog_pages::{Far, SymbolFiles, Watch, left_seconds};
use serde_json::Value;

use crate::reply::Refusal;

/// What is done at a desk.
pub type Job = Box<dyn FnOnce(&Place) + Send>;

/// Where it is done.
pub struct Place<'w, 'd, 't, 'b> {
    /// The desk.
    pub desk: &'d Desk<'t, 'b>,
    is_damaged: &'w AtomicBool,
}

impl Place<'_, '_, '_, '_> {
    /// Its log is opened again. Who asks once more after this asks the new one.
    pub fn damage(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }
}

/// What is to be done.
struct Jobs {
    coming: Receiver<Job>,
    /// What came too late for a damaged table.
    left: Vec<Job>,
}

impl Jobs {
    fn next(&mut self) -> Result<Job, RecvTimeoutError> {
        match self.left.pop() {
            Some(job) => Ok(job),
            None => self.coming.recv_timeout(PATIENCE),
        }
    }
}

/// Threads that answer: one may wait for its client's disk, and the other goes on.
const WORKERS: usize = 2;
/// How often a thread without work looks whether the desk is still there.
const PATIENCE: Duration = Duration::from_millis(200);
/// A file that changes each time before it is open is given up.
const MOST_VAIN: u32 = 3;
/// Less done tells nothing of what is left.
const TELLING_PART: f64 = 0.02;

/// How far a log is open.
#[derive(Clone)]
pub enum Phase {
    Reading,
    Ready(Arc<Ready>),
    Failed(Refusal),
}

/// What is known of an open log.
pub struct Ready {
    /// See [`Desk::overview`].
    pub overview: Value,
    /// When it was opened, and how long that took.
    pub size: Size,
    pub took: Duration,
}

/// A log that is opened, or open. Where nobody has it any more it is closed.
pub struct Reader {
    jobs: Mutex<Sender<Job>>,
    state: Arc<State>,
}

struct State {
    phase: Mutex<Phase>,
    far: Arc<Far>,
    began: Instant,
    /// How often it was open.
    times: AtomicU64,
}

impl Reader {
    /// Opens a log. `told` hears of each change of its phase.
    pub fn open(
        path: PathBuf,
        symbol_files: SymbolFiles,
        told: impl Fn() + Send + 'static,
    ) -> Self {
        let (sender, jobs) = channel();
        let state = Arc::new(State {
            phase: Mutex::new(Phase::Reading),
            far: Arc::default(),
            began: Instant::now(),
            times: AtomicU64::new(0),
        });
        let shared = Arc::clone(&state);
        let main = move || {
            let left = Vec::new();
            let jobs = Mutex::new(Jobs { coming: jobs, left });
            let read = || shared.read((&path, &symbol_files), &jobs, &told);
            let read = catch_unwind(AssertUnwindSafe(read));
            let broken = |_| Err(anyhow::anyhow!("reading the log went wrong"));
            if let Err(error) = read.unwrap_or_else(broken) {
                shared.set(Phase::Failed(error.into()));
                told();
            }
        };
        if let Err(error) = std::thread::Builder::new().spawn(main) {
            let error = anyhow::anyhow!("cannot start a thread: {error}");
            state.set(Phase::Failed(error.into()));
        }
        Self {
            jobs: Mutex::new(sender),
            state,
        }
    }

    /// Has something done at the desk, once it is there. Where the log cannot be opened
    /// it is forgotten.
    pub fn give(&self, job: Job) {
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = jobs.send(job);
    }

    /// How often it was opened again, since a file of it had changed.
    pub fn times_again(&self) -> u64 {
        self.state.times.load(Ordering::Relaxed).saturating_sub(1)
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        self.state.phase()
    }

    /// How much is done of opening it, and for how many seconds that will go on, where
    /// that can be told.
    pub fn progress(&self) -> (f64, Option<f64>) {
        let part = self.state.far.part();
        let seconds = self.state.began.elapsed().as_secs_f64();
        let left = (part >= TELLING_PART).then(|| left_seconds(seconds, part));
        (100.0 * part, left)
    }
}

impl State {
    fn phase(&self) -> Phase {
        let phase = self.phase.lock();
        phase.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, phase: Phase) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    }

    fn read(
        &self,
        (path, symbol_files): (&Path, &SymbolFiles),
        jobs: &Mutex<Jobs>,
        told: &impl Fn(),
    ) -> anyhow::Result<()> {
        let (mut is_again, mut vain, was_changed) = (false, 0, Cell::new(false));
        loop {
            let before = self.times.load(Ordering::Relaxed);
            let watch = Watch::told(&self.far);
            let opened = Opened {
                file: path,
                symbol_files,
                watch: &watch,
                is_again,
            };
            let done = opened.work(
                |_| Ok(()),
                |desk| {
                    // The first answers wait for the names.
                    desk.world(memlog_answers::Of::Blocks, true)?;
                    if !desk.is_sound() {
                        was_changed.set(true);
                        return Err(Failure::Damaged);
                    }
                    self.times.fetch_add(1, Ordering::Relaxed);
                    self.set(Phase::Ready(Arc::new(Ready {
                        overview: desk.overview(),
                        size: desk.size(),
                        took: self.began.elapsed(),
                    })));
                    told();
                    let done = work(desk, jobs);
                    was_changed.set(!desk.is_sound());
                    done
                },
            )?;
            if done.is_some() {
                return Ok(());
            }
            // What is damaged though nobody changed it is damaged the second time, too.
            vain = if self.times.load(Ordering::Relaxed) > before {
                0
            } else {
                vain + 1
            };
            let may_go_on = was_changed.take() && vain < MOST_VAIN || !is_again;
            anyhow::ensure!(may_go_on, "the table of the log's blocks cannot be read");
            is_again = true;
            self.set(Phase::Reading);
            told();
        }
    }
}

/// Does what is asked until nobody can ask any more, or the table turns out damaged.
fn work(desk: &Desk, jobs: &Mutex<Jobs>) -> Result<(), Failure> {
    let is_damaged = AtomicBool::new(false);
    let place = Place {
        desk,
        is_damaged: &is_damaged,
    };
    let worker = || {
        loop {
            let mut jobs = jobs.lock().unwrap_or_else(PoisonError::into_inner);
            let job = jobs.next();
            if is_damaged.load(Ordering::Relaxed) {
                jobs.left.extend(job);
                return;
            }
            drop(jobs);
            match job {
                Ok(job) => {
                    let done = catch_unwind(AssertUnwindSafe(|| job(&place)));
                    // Who asked hears that there is no answer. A file that was changed may be why.
                    if done.is_err() && !desk.is_sound() {
                        place.damage();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(worker);
        }
    });
    match is_damaged.into_inner() {
        true => Err(Failure::Damaged),
        false => Ok(()),
    }
}
