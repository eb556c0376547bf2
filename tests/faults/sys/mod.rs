//! Tracing a program and refusing its calls: registers differ by machine.

#[cfg(target_arch = "x86_64")]
mod x86_64;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{may_trace, run};

#[cfg(not(target_arch = "x86_64"))]
use std::path::Path;

/// Which call of the library fails, counted from 1, and how.
#[derive(Clone, Copy)]
pub struct Fault {
    /// Which.
    pub call: u64,
    /// The error's number.
    pub error: i32,
}

/// What a run was.
pub struct Outcome {
    /// As waitpid tells it.
    pub status: i32,
    /// What stood on stderr.
    pub errors: String,
    /// Calls of the library.
    pub calls: u64,
    /// The number of the system call that was refused, if it came so far.
    pub failed: Option<u64>,
}

/// Nobody has written down this machine's registers.
#[cfg(not(target_arch = "x86_64"))]
pub fn may_trace() -> bool {
    false
}

/// Is not asked for.
#[cfg(not(target_arch = "x86_64"))]
pub fn run(
    _: &Path,
    _: &[&str],
    _: &Path,
    _: &Path,
    _: &[(&str, &str)],
    _: Option<Fault>,
) -> Outcome {
    unreachable!("may_trace said no")
}
