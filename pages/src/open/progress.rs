//! What takes long says how far it is, in one run from 0 to 100, and how long it may
//! take: a line on the terminal behind stderr, which is gone when the work is done; or
//! whoever else wants to know.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// What takes less says nothing.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(200);

/// A thread of its own shows the line: the work never waits for a terminal.
pub struct Progress {
    state: Arc<Far>,
    thread: Option<JoinHandle<()>>,
}

/// How far work is.
#[derive(Default)]
pub struct Far {
    whole: AtomicU64,
    done: AtomicU64,
    events: AtomicU64,
    names: AtomicBool,
    imports: AtomicBool,
    is_done: AtomicBool,
}

impl Progress {
    /// From now on; nothing where nobody looks or the line could not be erased.
    pub fn start() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !std::io::stderr().is_terminal() {
            return None;
        }
        let state = Arc::new(Far::default());
        let shown = Arc::clone(&state);
        let thread = std::thread::Builder::new().spawn(move || show(&shown));
        Some(Self {
            state,
            thread: thread.ok(),
        })
    }

    /// Nobody is told but who looks there.
    pub fn silent(far: Arc<Far>) -> Self {
        Self {
            state: far,
            thread: None,
        }
    }

    /// So much of the work is done, with so many events read.
    pub fn at(&self, done: u64, whole: u64, events: u64) {
        self.state.whole.store(whole, Ordering::Relaxed);
        self.state.done.store(done, Ordering::Relaxed);
        self.state.events.store(events, Ordering::Relaxed);
    }

    /// So much of another tool's file is read.
    pub fn imported(&self, done: u64, whole: u64) {
        self.state.imports.store(done < whole, Ordering::Relaxed);
        self.at(done, whole, 0);
    }

    /// The log is through; names are looked up.
    pub fn names(&self) {
        self.state.names.store(true, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.state.is_done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // It cannot fail but by a panic of its own, which was told.
            let _ = thread.join();
        }
    }
}

fn show(state: &Far) {
    let start = Instant::now();
    let mut was_shown = false;
    while !state.is_done.load(Ordering::Relaxed) {
        if start.elapsed() >= PATIENCE {
            let line = state.line(start.elapsed().as_secs_f64());
            // A terminal that is gone is not to be helped.
            let _ = write!(std::io::stderr(), "\r{line}\x1b[K");
            was_shown = true;
        }
        std::thread::park_timeout(STEP);
    }
    if was_shown {
        let _ = write!(std::io::stderr(), "\r\x1b[K");
    }
}

impl Far {
    /// How much is done, from 0 to 1.
    pub fn part(&self) -> f64 {
        let [done, whole] =
            [&self.done, &self.whole].map(|value| value.load(Ordering::Relaxed) as f64);
        (done / whole.max(1.0)).min(1.0)
    }

    /// Fits into 80 columns.
    fn line(&self, seconds: f64) -> String {
        let [done, events] =
            [&self.done, &self.events].map(|value| value.load(Ordering::Relaxed) as f64);
        let part = self.part();
        let percent = (part * 100.0).floor();
        let left = left(seconds, part);
        match (self.names.load(Ordering::Relaxed), events > 0.0) {
            (true, _) => "memlog: looking up names".into(),
            _ if self.imports.load(Ordering::Relaxed) => {
                format!("memlog: {percent} %, importing the file{left}")
            }
            (_, false) if done > 0.0 => {
                format!("memlog: {percent} %, putting the threads in order{left}")
            }
            (_, false) => "memlog: opening the log".into(),
            _ => format!(
                "memlog: {percent} %, read {:.1} million events, {:.1} million/s{left}",
                events / 1e6,
                events / 1e6 / seconds,
            ),
        }
    }
}

/// How long the rest may take after so long.
pub fn left_seconds(seconds: f64, part: f64) -> f64 {
    seconds / part - seconds
}

/// The same in words, where enough was done to tell.
fn left(seconds: f64, part: f64) -> String {
    if part < 0.02 {
        return String::new();
    }
    let left = left_seconds(seconds, part);
    match left < 120.0 {
        true => format!(", {left:.0} s left"),
        false => format!(", {:.0} min left", left / 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_fast() {
        let state = Far::default();
        assert_eq!(state.line(1.0), "memlog: opening the log");
        state.whole.store(3 << 30, Ordering::Relaxed);
        state.done.store(1 << 24, Ordering::Relaxed);
        assert_eq!(
            state.line(1.1),
            "memlog: 0 %, putting the threads in order",
            "nobody knows yet"
        );
        state.done.store(1 << 30, Ordering::Relaxed);
        assert_eq!(
            state.line(2.0),
            "memlog: 33 %, putting the threads in order, 4 s left"
        );
        state.events.store(300_000_000, Ordering::Relaxed);
        let line = state.line(50.0);
        assert_eq!(
            line,
            "memlog: 33 %, read 300.0 million events, 6.0 million/s, 100 s left"
        );
        assert_eq!(left(90.0, 0.25), ", 4 min left");
        assert_eq!(left(90.0, 1.0), ", 0 s left");
        assert!(line.len() < 80);
        state.names.store(true, Ordering::Relaxed);
        assert_eq!(state.line(50.0), "memlog: looking up names");
    }
}
