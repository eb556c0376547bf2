//! How memlog fails: with a sentence, and where there is one, with a remedy.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind as Kind};
use memlog_pages::{Advice, clean, of_stdout, open_stdout};

/// Exit code of wrong usage and of failed input or output.
const USAGE_OR_IO: u8 = 2;

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
    let _ = writeln!(stderr, "memlog: error: {}", one_line(&format!("{error:#}")));
    for advice in error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<Advice>())
    {
        let _ = writeln!(stderr, "memlog: hint: {}", one_line(&advice.hint));
    }
    if let Some(remedy) = error.chain().find_map(remedy) {
        let _ = writeln!(stderr, "memlog: hint: {remedy}");
    }
    ExitCode::from(USAGE_OR_IO)
}

/// What can be done where the system alone says what is wrong.
fn remedy(cause: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    match cause.downcast_ref::<std::io::Error>()?.kind() {
        ErrorKind::NotConnected => Some("open it, as with > FILE or > /dev/null"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("make room there, or send the output elsewhere; the log is as it was")
        }
        _ => None,
    }
}

/// `--help` and `--version` come this way too: they are no errors.
fn tell_usage(usage: &clap::Error) -> ExitCode {
    if usage.use_stderr() {
        let _ = std::io::stderr()
            .lock()
            .write_all(wrong_usage(usage).as_bytes());
        return ExitCode::from(USAGE_OR_IO);
    }
    let printed = open_stdout().and_then(|()| {
        let printed = usage.print();
        printed.map_err(of_stdout)
    });
    match printed {
        Err(error) => tell(&error.into()),
        Ok(()) => ExitCode::SUCCESS,
    }
}

/// What the parser says of a line, as all other errors are said; a line
/// without any command is answered with the whole help.
fn wrong_usage(usage: &clap::Error) -> String {
    let text = usage.render().to_string();
    let lines: Vec<_> = text.split('\n').map(one_line).collect();
    let text = lines.join("\n");
    let Some(wrong) = text.strip_prefix("error: ") else {
        return text;
    };
    let (wrong, _) = wrong
        .split_once("\n\nFor more information")
        .unwrap_or((wrong, ""));
    let wrong = match usage.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(missing)) if usage.kind() == Kind::MissingRequiredArgument => {
            let (_, rest) = wrong.split_once("\n\n").unwrap_or_default();
            format!("{} is missing\n\n{rest}", missing.join(" and "))
        }
        _ => wrong.to_owned(),
    };
    let hint = crate::cli::help_for(std::env::args_os(), usage);
    format!(
        "memlog: error: {}\nmemlog: hint: {hint}\n",
        wrong.trim_end()
    )
}

/// Every name in it was made harmless where it was put in; this is for those
/// that a library put in.
fn one_line(text: &str) -> String {
    clean(text.as_bytes())
}

/// The reader of our output went away, as `head` does: it has what it wanted.
fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause
        .downcast_ref::<std::io::Error>()
        .is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
