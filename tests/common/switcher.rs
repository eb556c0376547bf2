//! Switches recording in programs that run, as `memlog ctl` does: by words of the log that
//! both map. A command a request would be too slow to hit what takes microseconds.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use memlog_format::control::{Asked, State, Verb, Word};

use super::tools::Random;

/// The longest pause between two requests.
const PAUSE_US: u64 = 2000;

/// Who asks, until it is ended.
pub struct Switcher {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Switcher {
    /// Asks the programs of all logs in a folder, those too that come later.
    pub fn start(folder: &Path, seed: u64) -> Self {
        let is_over = Arc::<AtomicBool>::default();
        let (folder, ends) = (folder.to_owned(), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let (mut random, mut asked) = (Random::new(seed), 0);
            while !ends.load(Ordering::Relaxed) {
                let logs = logs(&folder);
                if !logs.is_empty() {
                    let log = &logs[random.below(logs.len() as u64) as usize];
                    asked += u64::from(ask(log).is_some());
                }
                std::thread::sleep(Duration::from_micros(random.below(PAUSE_US)));
            }
            asked
        });
        Self { is_over, thread }
    }

    /// How often it asked.
    pub fn end(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("it asks")
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "memlog"))
        .collect()
}

/// For the other state than that which there is.
fn ask(log: &Path) -> Option<()> {
    let log = OpenOptions::new().read(true).write(true).open(log).ok()?;
    let word = |word: Word| {
        let mut bytes = [0; 8];
        log.read_exact_at(&mut bytes, word.at() as u64).ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let verb = match State::from_word(word(Word::State)?) {
        State::On => Verb::Stop,
        State::Off => Verb::Start,
        State::Deaf | State::Stopped => return None,
    };
    let asked = Asked(word(Word::Asked)?).next(verb);
    log.write_all_at(&asked.0.to_le_bytes(), Word::Asked.at() as u64)
        .ok()
}
