//! Signals that would leave files under names of their own wait until those
//! have their places.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

/// The signals by which a user ends a program.
pub(crate) struct Signals {
    /// Whether the next one ends the process as it always does.
    are_deadly: Arc<AtomicBool>,
    /// The last one that came, or 0.
    came: Arc<AtomicUsize>,
}

impl Signals {
    /// All but those that are ignored, as under nohup.
    pub(crate) fn caught() -> Self {
        let signals = Self {
            are_deadly: Arc::new(AtomicBool::new(true)),
            came: Arc::default(),
        };
        let ignored = ignored();
        for signal in [SIGHUP, SIGINT, SIGTERM] {
            if ignored & (1 << (signal - 1)) == 0 {
                signals.register(signal);
            }
        }
        signals
    }

    /// What cannot be caught acts as ever.
    fn register(&self, signal: c_int) {
        // In this order: the one that arms is not the one that kills.
        let deadly = || Arc::clone(&self.are_deadly);
        if flag::register_conditional_default(signal, deadly()).is_ok() {
            let _ = flag::register(signal, deadly());
            let _ = flag::register_usize(signal, Arc::clone(&self.came), signal as usize);
        }
    }

    /// Does work that the first signal does not break off: it acts afterwards.
    pub(crate) fn held_during<T>(&self, work: impl FnOnce() -> T) -> T {
        self.are_deadly.store(false, Ordering::SeqCst);
        let done = work();
        self.are_deadly.store(true, Ordering::SeqCst);
        match self.came.load(Ordering::SeqCst) {
            0 => {}
            signal => {
                let _ = emulate_default_handler(signal as c_int);
            }
        }
        done
    }
}

/// What the kernel says of this process, a bit for each signal.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.unwrap_or(0)
}
