//! How memlog fails: with a sentence, and where there is one, with a remedy.

use std::fmt::{Display, Formatter};
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

/// Exit code of wrong usage and of failed input or output.
const USAGE_OR_IO: u8 = 2;

/// What is wrong, and what to do about it.
#[derive(Debug)]
pub struct Advice {
    /// A sentence without a full stop.
    pub wrong: String,
    /// What the user can do.
    pub hint: String,
}

impl Advice {
    /// An error that carries a remedy.
    pub fn error(wrong: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
        let (wrong, hint) = (wrong.into(), hint.into());
        Self { wrong, hint }.into()
    }
}

impl Display for Advice {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.wrong)
    }
}

impl std::error::Error for Advice {}

/// Says the error on stderr and gives the code to exit with.
pub fn tell(error: &anyhow::Error) -> ExitCode {
    if let Some(usage) = error.downcast_ref::<clap::Error>() {
        return tell_usage(usage);
    }
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    // Nothing is left to be done when stderr is gone as well.
    let mut stderr = std::io::stderr().lock();
    let _ = writeln!(stderr, "memlog: error: {error:#}");
    for advice in error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<Advice>())
    {
        let _ = writeln!(stderr, "memlog: hint: {}", advice.hint);
    }
    if let Some(remedy) = error.chain().find_map(remedy) {
        let _ = writeln!(stderr, "memlog: hint: {remedy}");
    }
    ExitCode::from(USAGE_OR_IO)
}

/// What can be done where the system alone says what is wrong.
fn remedy(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match cause.downcast_ref::<std::io::Error>()?.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("make room there, or send the output elsewhere; the log is as it was")
        }
        _ => None,
    }
}

/// `--help` and `--version` come this way too: they are no errors.
fn tell_usage(usage: &clap::Error) -> ExitCode {
    if usage.use_stderr() {
        let text = usage.render().to_string();
        let who = if text.starts_with("error") {
            "memlog: "
        } else {
            ""
        };
        let _ = write!(std::io::stderr().lock(), "{who}{text}");
        return ExitCode::from(USAGE_OR_IO);
    }
    match usage.print() {
        Err(error) => tell(&crate::screen::of_stdout(error).into()),
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// The reader of our output went away, as `head` does: it has what it wanted.
fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
