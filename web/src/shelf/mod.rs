//! The logs that are served. Each has a number; it is opened when somebody asks it, and
//! a few are open at a time.

mod answers;
mod list;
mod pictures;
mod reader;
mod shelved;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use memlog_pages::{SymbolFiles, each, each_once};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

pub use list::complete;
pub use pictures::Pictures;
pub use reader::{Phase, Reader};
pub use shelved::Shelved;

/// Logs that are open at once. Each takes the memory of its names.
pub const MOST_OPEN: usize = 8;
/// Files of other tools that are made at once: each reads a log anew.
const MOST_EXPORTS: usize = 2;
/// More of them are not told each time that one changes.
const MANY: usize = 200;
/// How often files are looked at, and how much longer than that takes to rest at least.
const STEP: Duration = Duration::from_secs(1);
const REST: u32 = 20;

/// All of them.
pub struct Shelf {
    names: Vec<PathBuf>,
    symbol_files: SymbolFiles,
    logs: RwLock<Vec<Arc<Shelved>>>,
    /// Files that are there and are no log.
    refused: Mutex<HashSet<PathBuf>>,
    changes: watch::Sender<u64>,
    /// What scripts drew.
    pub pictures: Pictures,
    /// Who makes a file of another tool has a place.
    exports: Arc<Semaphore>,
}

impl Shelf {
    /// Those that the names stand for now.
    pub fn of(names: Vec<PathBuf>, symbol_files: SymbolFiles) -> anyhow::Result<Arc<Self>> {
        let paths = each_once(&names)?;
        let shelf = Arc::new(Self {
            names,
            symbol_files,
            logs: RwLock::default(),
            refused: Mutex::default(),
            changes: watch::Sender::new(0),
            pictures: Pictures::default(),
            exports: Arc::new(Semaphore::new(MOST_EXPORTS)),
        });
        let why = shelf.add(paths);
        if let ([], Some(why)) = (&shelf.all()[..], why) {
            return Err(why);
        }
        Ok(shelf)
    }

    /// The log of a number.
    pub fn get(&self, id: u32) -> Option<Arc<Shelved>> {
        let logs = self.logs.read().unwrap_or_else(PoisonError::into_inner);
        let place = id.checked_sub(1)?;
        logs.get(place as usize).cloned()
    }

    /// All, by number.
    pub fn all(&self) -> Vec<Arc<Shelved>> {
        let logs = self.logs.read();
        logs.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A place to make a file of another tool, once one is free.
    pub async fn export_place(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.exports).acquire_owned().await.ok()
    }

    /// All for programs.
    pub fn json(&self) -> Value {
        let logs: Vec<Value> = self.all().iter().map(|log| log.json()).collect();
        json!({ "count": logs.len(), "logs": list::related(logs) })
    }

    /// The same for who has all already: of many those only that are open.
    pub fn news(&self) -> Value {
        let mut all = self.json();
        if let Some(logs) = all["logs"].as_array_mut()
            && logs.len() > MANY
        {
            logs.retain(|log| log["state"] != "waiting");
        }
        all
    }

    /// Counts what has changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Looks at the files again and again, on a thread of its own.
    pub fn look_after(self: &Arc<Self>) {
        let shelf = Arc::clone(self);
        let look = move || {
            let mut took = Duration::ZERO;
            loop {
                // A folder of ten thousand logs is looked through less often.
                std::thread::sleep(STEP.max(took * REST));
                let begun = Instant::now();
                shelf.look();
                took = begun.elapsed();
            }
        };
        // Without it nothing is new, and all else works.
        let _ = std::thread::Builder::new().spawn(look);
    }

    fn look(&self) {
        if let Ok(paths) = each_once(&self.names) {
            self.add(paths);
        }
        let logs = self.all();
        let mut used: Vec<_> = logs.iter().filter_map(|log| log.used()).collect();
        used.sort_unstable();
        let closed_before = used.len().checked_sub(MOST_OPEN).map(|first| used[first]);
        let closed_before = closed_before.filter(|_| used.len() > MOST_OPEN);
        for log in &logs {
            log.look(closed_before);
        }
        // Who waits for one that is read sees how far it is.
        let is_reading = |log: &Arc<Shelved>| matches!(log.phase(), Some(Phase::Reading));
        if logs.iter().any(is_reading) {
            self.changes.send_modify(|count| *count += 1);
        }
    }

    /// Puts new ones behind the others; says why the first of them could not be.
    fn add(&self, paths: Vec<PathBuf>) -> Option<anyhow::Error> {
        let known: HashSet<PathBuf> = self.all().iter().map(|log| log.path().to_owned()).collect();
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = |path: &PathBuf| !known.contains(path) && !refused.contains(path);
        let new: Vec<PathBuf> = paths.into_iter().filter(is_new).collect();
        if new.is_empty() {
            return None;
        }
        let changes = self.changes.clone();
        let told: Arc<dyn Fn() + Send + Sync> =
            Arc::new(move || changes.send_modify(|count| *count += 1));
        let found = each(&new, |path| {
            let files = self.symbol_files.clone();
            Shelved::new(path.to_owned(), files, Arc::clone(&told))
        });
        let (mut why, mut number) = (None, known.len() as u32);
        let mut logs = self.logs.write().unwrap_or_else(PoisonError::into_inner);
        for (log, path) in found.into_iter().zip(&new) {
            match log {
                Ok(mut log) => {
                    number += 1;
                    log.id = number;
                    logs.push(Arc::new(log));
                }
                Err(error) => {
                    refused.insert(path.clone());
                    why = why.or(Some(error));
                }
            }
        }
        drop(logs);
        self.changes.send_modify(|count| *count += 1);
        why
    }
}
