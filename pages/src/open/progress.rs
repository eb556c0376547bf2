//! What takes long says how far it is: a line on the terminal behind stderr,
//! which is gone when the work is done.

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
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    whole_bytes: AtomicU64,
    bytes: AtomicU64,
    events: AtomicU64,
    names: AtomicBool,
    is_done: AtomicBool,
}

impl Progress {
    /// From now on; nothing where nobody looks or the line could not be erased.
    pub fn start() -> Option<Self> {
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        if is_dumb || !std::io::stderr().is_terminal() {
            return None;
        }
        let state = Arc::new(State::default());
        let shown = Arc::clone(&state);
        let thread = std::thread::Builder::new().spawn(move || show(&shown));
        Some(Self {
            state,
            thread: thread.ok(),
        })
    }

    /// So much of a log's events has been read to put them in order.
    pub fn survey(&self, bytes: u64, whole_bytes: u64) {
        self.read(bytes, whole_bytes, 0);
    }

    /// So much of a log's events has been read.
    pub fn read(&self, bytes: u64, whole_bytes: u64, events: u64) {
        self.state.whole_bytes.store(whole_bytes, Ordering::Relaxed);
        self.state.bytes.store(bytes, Ordering::Relaxed);
        self.state.events.store(events, Ordering::Relaxed);
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

fn show(state: &State) {
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

impl State {
    /// Fits into 80 columns.
    fn line(&self, seconds: f64) -> String {
        let [bytes, whole, events] = [&self.bytes, &self.whole_bytes, &self.events]
            .map(|value| value.load(Ordering::Relaxed) as f64);
        let percent = (bytes / whole.max(1.0) * 100.0).min(100.0);
        match (self.names.load(Ordering::Relaxed), events > 0.0) {
            (true, _) => "memlog: looking up names".into(),
            (_, false) if bytes > 0.0 => {
                format!("memlog: first pass, which puts the threads in order: {percent:.0} %")
            }
            (_, false) => "memlog: opening the log".into(),
            _ => format!(
                "memlog: read {percent:.0} % of the log, {:.1} million events, {:.1} million/s",
                events / 1e6,
                events / 1e6 / seconds,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_and_how_fast() {
        let state = State::default();
        assert_eq!(state.line(1.0), "memlog: opening the log");
        state.whole_bytes.store(3 << 30, Ordering::Relaxed);
        state.bytes.store(1 << 30, Ordering::Relaxed);
        assert_eq!(
            state.line(2.0),
            "memlog: first pass, which puts the threads in order: 33 %"
        );
        state.events.store(300_000_000, Ordering::Relaxed);
        let line = state.line(50.0);
        assert_eq!(
            line,
            "memlog: read 33 % of the log, 300.0 million events, 6.0 million/s"
        );
        assert!(line.len() < 80);
        state.names.store(true, Ordering::Relaxed);
        assert_eq!(state.line(50.0), "memlog: looking up names");
    }
}
