//! The recorder goes into a program that runs already, and comes to rest there again.
//!
//! Nothing of the program is called for it, neither its loader nor its allocator: whoever
//! of its threads is stopped may be amid either, and would wait for itself for ever. So
//! the library is loaded from outside ([`image`]), and words that lead to malloc are made
//! to lead to the recorder's doors ([`redirect`]) while all threads stand still
//! ([`threads`]). All that the program does for it are a few system calls ([`remote`]).
//!
//! ```text
//! checks ──> redirect ──> image ──> remote ──> threads ──> memory
//!                    └──> objects ────────────────────────────┘
//! ```

mod arch;
mod checks;
mod elf;
mod folder;
mod image;
mod library;
mod load;
mod lock;
mod memory;
mod objects;
mod process;
mod redirect;
mod remote;
mod signals;
mod tasks;
mod threads;

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub use redirect::{Attached, State};

/// Why nothing was done, and what can be done about it.
#[derive(Debug)]
pub struct Refusal {
    /// The reason, as the rest of a sentence that begins with the process.
    pub why: String,
    /// The advice.
    pub advice: String,
    /// It may be otherwise in a moment.
    may_pass: bool,
}

impl Refusal {
    fn new(why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            advice: advice.into(),
            may_pass: false,
        }
    }

    fn for_now(why: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            may_pass: true,
            ..Self::new(why, advice)
        }
    }
}

/// Tries for so long what may not be possible just now.
fn patiently<T>(end: Instant, mut work: impl FnMut() -> Outcome<T>) -> Outcome<T> {
    let mut pause = Duration::from_millis(1);
    loop {
        match work() {
            Err(refusal) if refusal.may_pass && Instant::now() < end => {}
            outcome => return outcome,
        }
        sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Either that, or a refusal.
pub type Outcome<T> = Result<T, Refusal>;

/// What attaching takes.
pub struct Wanted<'a> {
    /// The bytes of libmemlog.so.
    pub library: &'a [u8],
    /// The recorder's settings, `NAME=VALUE` each.
    pub settings: &'a [String],
    /// The folder that the log goes to, as the process sees it.
    pub folder: &'a Path,
    /// How long to look for a moment at which all threads can be stopped.
    pub patience: Duration,
}

/// Leads the calls of a process to a recorder: to the one that came with an earlier
/// attaching, or to a new one.
pub fn attach(pid: u32, wanted: &Wanted) -> Outcome<Attached> {
    alone(pid, wanted.patience, || {
        checks::look(pid)?;
        redirect::attach(pid, wanted)
    })
}

/// Leads them past it again; `for_good` where it could not say in its log that recording is
/// off.
pub fn detach(pid: u32, patience: Duration, for_good: bool) -> Outcome<Attached> {
    alone(pid, patience, || {
        checks::may_trace(pid)?;
        redirect::detach(pid, patience, for_good)
    })
}

/// What the recorder does in a process that was attached to; nothing if none was.
pub fn state(pid: u32) -> Option<State> {
    redirect::state(pid)
}

/// Does the work while no other memlog does any with this process, and no signal ends
/// this one amid it.
///
/// In a thread of its own: the kernel lets go of all that a thread traces when it ends, in
/// whatever state they are.
fn alone<T: Send>(
    pid: u32,
    patience: Duration,
    work: impl FnOnce() -> Outcome<T> + Send,
) -> Outcome<T> {
    let end = Instant::now() + patience;
    let _lock = patiently(end, || lock::of(pid))?;
    let _kept_back = signals::keep_back();
    std::thread::scope(|scope| match scope.spawn(work).join() {
        Ok(outcome) => outcome,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}
