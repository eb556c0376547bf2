//! Ctrl-C while a log is read: what was read so far is shown.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::SIGINT;
use signal_hook::low_level::unregister;
use signal_hook::{SigId, flag};

/// Exit code of what Ctrl-C ended.
pub const INTERRUPTED: u8 = 130;

/// Catches the first Ctrl-C; the second ends the process as it always does.
pub struct Interrupt {
    came: Arc<AtomicBool>,
    /// Whether the next one ends the process.
    is_deadly: Arc<AtomicBool>,
    arming: SigId,
}

impl Interrupt {
    /// From now on; nothing where the signal is ignored, as in the background
    /// of a script, or cannot be caught.
    pub fn catch() -> Option<Self> {
        if is_ignored() {
            return None;
        }
        let (came, is_deadly) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        // In this order: the signal that arms is not the one that kills.
        flag::register_conditional_default(SIGINT, Arc::clone(&is_deadly)).ok()?;
        let arming = flag::register(SIGINT, Arc::clone(&is_deadly)).ok()?;
        flag::register(SIGINT, Arc::clone(&came)).ok()?;
        Some(Self {
            came,
            is_deadly,
            arming,
        })
    }

    /// Whether it came.
    pub fn came(&self) -> bool {
        self.came.load(Ordering::Relaxed)
    }

    /// The same for those who ask later.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.came)
    }

    /// Nothing is left that could be shown early.
    pub fn let_kill(&self) {
        self.is_deadly.store(true, Ordering::SeqCst);
    }

    /// Someone else answers to it.
    pub fn ignore(&self) {
        unregister(self.arming);
        self.is_deadly.store(false, Ordering::SeqCst);
    }
}

/// What the kernel says of this process' signals.
fn is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & (1 << (SIGINT - 1)) != 0)
}
