//! A log that is served: what its file says at a glance, and its desk once it is asked.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::body::Bytes;
use axum::http::StatusCode;
use memlog_answers::{Stop, until};
use memlog_pages::blocks::{Desk, Failure, Size};
use memlog_pages::{SymbolFiles, info};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::answers::Answers;
use super::list;
use super::reader::{Phase, Reader};
use crate::reply::Refusal;

/// A log of a program that runs is read again so much later at the soonest, and so many
/// times as late as reading takes.
const SOONEST: Duration = Duration::from_secs(2);
const TIMES_AS_LATE: u32 = 5;

/// A log by its number.
pub struct Shelved {
    /// From 1, in the order in which they were found; 0 before it is known.
    pub id: u32,
    path: PathBuf,
    symbol_files: SymbolFiles,
    /// See [`info::row`].
    row: Arc<Mutex<Value>>,
    desk: Mutex<Open>,
    answers: Mutex<Answers>,
    /// Hears that something is new.
    told: Arc<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Open {
    current: Option<Arc<Reader>>,
    /// The same log read again, for it grew.
    next: Option<Arc<Reader>>,
    /// See [`Open::generation`]: what it was when the current one was opened.
    generation: u64,
    opened: Option<Instant>,
    used: Option<Instant>,
    /// What the file was when it could not be opened.
    refused: Option<Stamp>,
    /// What it was when it was looked at for the last time, of a program that does not
    /// run, and whose log tells no end.
    looked: Option<Stamp>,
}

/// What there is to look at of a log's file.
enum Due {
    Nothing,
    /// It could not be read.
    Refused,
    /// Its program ran when it had this size; whether it may be read again.
    Running(Size, bool),
    /// The same of a program that is gone, or elsewhere, and whose log of this size tells
    /// no end: that may have come while it was read. Looked at when it was this.
    Endless(Size, bool, Option<Stamp>),
}

/// Who waits for an answer. It goes with the connection.
#[derive(Default)]
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What changes with a file: when it was written, and its length.
type Stamp = (SystemTime, u64);

impl Shelved {
    /// Nothing of it is read yet but a glance.
    pub fn new(
        path: PathBuf,
        symbol_files: SymbolFiles,
        told: Arc<dyn Fn() + Send + Sync>,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            id: 0,
            row: Arc::new(Mutex::new(info::row(&path)?)),
            path,
            symbol_files,
            desk: Mutex::default(),
            answers: Mutex::default(),
            told,
        })
    }

    /// Where its names are.
    pub fn symbol_files(&self) -> &SymbolFiles {
        &self.symbol_files
    }

    /// The log's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reader_of(&self) -> Arc<Reader> {
        let (row, told) = (Arc::clone(&self.row), Arc::clone(&self.told));
        let (path, files) = (self.path.clone(), self.symbol_files.clone());
        let file = path.clone();
        Arc::new(Reader::open(path, files, move || {
            // It may be another log by now.
            if let Ok(found) = info::row(&file) {
                *row.lock().unwrap_or_else(PoisonError::into_inner) = found;
            }
            told();
        }))
    }

    /// Its reader, which is begun where there is none.
    pub fn reader(&self) -> Arc<Reader> {
        let mut open = self.open();
        open.take_next();
        open.used = Some(Instant::now());
        if let Some(reader) = &open.current {
            return Arc::clone(reader);
        }
        let reader = self.reader_of();
        open.opened = Some(Instant::now());
        open.current = Some(Arc::clone(&reader));
        reader
    }

    /// Something is made at its desk.
    pub async fn ask<R: Send + 'static>(
        &self,
        make: impl Fn(&Desk) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Result<R, Refusal> {
        self.ask_at(&self.reader(), make).await
    }

    /// The same as the log was when that reader opened it: an answer of many parts is of
    /// one reading.
    pub async fn ask_at<R: Send + 'static>(
        &self,
        reader: &Reader,
        make: impl Fn(&Desk) -> Result<R, Failure> + Send + Sync + 'static,
    ) -> Result<R, Refusal> {
        let make = Arc::new(make);
        // A damaged table is made anew, once.
        for _ in 0..2 {
            let (answer, answered) = oneshot::channel();
            let make = Arc::clone(&make);
            let waiting = Waiting::default();
            let gone = Arc::clone(&waiting.0);
            reader.give(Box::new(move |place| {
                let is_gone = || gone.load(Ordering::Relaxed);
                // Nobody waits any more, or stops to while it is made. Stopped work looks like a damaged table.
                let made = (!is_gone()).then(|| until(&gone, || make(place.desk)));
                let Some(made) = made.filter(|_| !is_gone()) else {
                    return;
                };
                // What was made of a file that was changed meanwhile is of neither file.
                let made = match place.desk.is_sound() {
                    true => made,
                    false => Err(Failure::Damaged),
                };
                if matches!(made, Err(Failure::Damaged)) {
                    place.damage();
                }
                let _ = answer.send(made);
            }));
            match answered.await {
                Ok(Ok(made)) => return Ok(made),
                Ok(Err(Failure::Said(error))) => return Err(error.into()),
                Ok(Err(Failure::Damaged)) => {}
                Err(_) => return Err(self.why(reader)),
            }
        }
        Err(failed(
            "the table of the log's blocks changed while it was read",
        ))
    }

    /// The text that is made at its desk in answer to a question.
    pub async fn text(
        &self,
        question: String,
        make: impl Fn(&Desk) -> Result<String, Failure> + Send + Sync + 'static,
    ) -> Result<Bytes, Refusal> {
        let generation = self.open().generation();
        let known = self.answers().get(generation, &question);
        if let Some(known) = known {
            // Who looks at it wants to see it grow.
            self.reader();
            return Ok(known);
        }
        let answer = Bytes::from(self.ask(make).await?);
        // What was read again meanwhile has another number by now.
        if self.open().generation() == generation {
            self.answers().keep(generation, question, answer.clone());
        }
        Ok(answer)
    }

    fn answers(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why nobody answered.
    fn why(&self, reader: &Reader) -> Refusal {
        match reader.phase() {
            Phase::Failed(refusal) => refusal,
            _ => failed("the question could not be answered"),
        }
    }

    /// Looks at the file of a program that runs: what has grown is read again, and what
    /// could not be read once it is another. Those that nobody asked for so long are closed.
    pub fn look(&self, closed_before: Option<Instant>) {
        // No lock is held while a file is looked at: it may be far away.
        let due = match self.due(closed_before) {
            Due::Nothing => return,
            Due::Refused => {
                let stamp = stamp(&self.path);
                let mut open = self.open();
                match open.refused.is_some() && open.refused != stamp {
                    true => open.close(),
                    false => {
                        open.refused = stamp;
                        return;
                    }
                }
                drop(open);
                self.answers().clear();
                return (self.told)();
            }
            Due::Endless(size, is_due, looked) => {
                let stamp = stamp(&self.path);
                if !is_due || looked.is_some() && looked == stamp {
                    return;
                }
                self.open().looked = stamp;
                (size, true)
            }
            Due::Running(size, is_due) => (size, is_due),
        };
        // After the end nothing more comes.
        let (was, is_due) = due;
        let has_stopped = |now: Size| was.is_running && !now.is_running;
        let is_new = |now: Size| has_stopped(now) || is_due && now != was;
        if Size::of(&self.path).is_some_and(is_new) {
            let mut open = self.open();
            open.opened = Some(Instant::now());
            open.next = Some(self.reader_of());
        }
    }

    /// What there is to look at.
    fn due(&self, closed_before: Option<Instant>) -> Due {
        let mut open = self.open();
        if open.take_next() {
            (self.told)();
        }
        let is_old = |(used, before): (Instant, Instant)| used < before;
        if open.used.zip(closed_before).is_some_and(is_old) {
            open.close();
            drop(open);
            self.answers().clear();
            return Due::Nothing;
        }
        match open.current.as_ref().map(|reader| reader.phase()) {
            Some(Phase::Failed(_)) => Due::Refused,
            Some(Phase::Ready(ready)) if !ready.size.is_ended && open.next.is_none() => {
                let late = SOONEST.max(ready.took * TIMES_AS_LATE);
                let is_due = open.opened.is_none_or(|opened| opened.elapsed() >= late);
                match ready.size.is_running {
                    true => Due::Running(ready.size, is_due),
                    false => Due::Endless(ready.size, is_due, open.looked),
                }
            }
            _ => Due::Nothing,
        }
    }

    /// When it was last asked, if it is open.
    pub fn used(&self) -> Option<Instant> {
        self.open().used
    }

    /// How far it is open, if it is to be.
    pub fn phase(&self) -> Option<Phase> {
        let reader = self.open().current.clone();
        reader.map(|reader| reader.phase())
    }

    /// For programs.
    pub fn json(&self) -> Value {
        let mut row = self
            .row
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let open = self.open();
        let reader = open.current.clone();
        row["id"] = self.id.into();
        row["generation"] = open.generation().into();
        drop(open);
        let (mut state, mut stats) = (json!({ "state": "waiting" }), Value::Null);
        match reader.as_ref().map(|reader| (reader, reader.phase())) {
            None => {}
            Some((reader, Phase::Reading)) => {
                let (percent, left) = reader.progress();
                state = json!({ "state": "reading", "percent": percent, "seconds_left": left });
            }
            Some((_, Phase::Failed(refusal))) => {
                state = refusal.json();
                state["state"] = "failed".into();
            }
            Some((_, Phase::Ready(ready))) => {
                state = json!({
                    "state": "ready",
                    "is_running": ready.size.is_running,
                    "has_course": ready.overview["has_course"],
                });
                stats = ready.overview["stats"].clone();
            }
        }
        row["is_running"] = false.into();
        list::complete(&mut row, &stats);
        if let (Some(row), Value::Object(state)) = (row.as_object_mut(), state) {
            row.extend(state);
        }
        row
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}

impl Open {
    /// Goes up with what there is to see.
    fn generation(&self) -> u64 {
        let again = self.current.as_ref().map(|reader| reader.times_again());
        self.generation + again.unwrap_or(0)
    }

    /// It is opened again when it is asked again.
    fn close(&mut self) {
        *self = Self {
            // It may have grown by then.
            generation: self.generation() + 1,
            ..Self::default()
        };
    }

    /// What was read again takes the other's place when it is ready.
    fn take_next(&mut self) -> bool {
        let phase = self.next.as_ref().map(|next| next.phase());
        let is_over = !matches!(phase, None | Some(Phase::Reading));
        if is_over {
            let next = self.next.take();
            // What failed the second time was there the first.
            if matches!(phase, Some(Phase::Ready(_))) {
                self.generation = self.generation() + 1;
                self.current = next;
            }
        }
        is_over
    }
}

fn failed(sentence: &str) -> Refusal {
    Refusal {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        ..Refusal::asked(sentence, "ask again")
    }
}
