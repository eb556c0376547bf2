//! Sizes, times, names and paths as people read and type them, and errors that
//! say what to do.

mod advice;
mod bars;

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

pub use memlog_export::numbers::{Sizes, counted, grouped, lasted, percentage, sized, span};
use memlog_export::quoted;
pub use memlog_export::{clean, shown};

pub use advice::Advice;
pub use bars::{bar, bars};

/// Says it on stderr; where that is gone nobody can be told.
pub fn tell_note(sentence: &str) {
    let sentence = clean(sentence.as_bytes());
    let _ = writeln!(std::io::stderr().lock(), "memlog: note: {sentence}");
}

/// A signal by number and name: `9 (SIGKILL)`.
pub fn signal(number: u8) -> String {
    let status = ExitStatus::from_raw(i32::from(number & 0x7F)).to_string();
    status.trim_start_matches("signal: ").to_owned()
}

/// `12.5 GiB`; no number where it is as good as all there is.
pub fn asked(bytes: u64) -> String {
    match bytes {
        u64::MAX => "more bytes than there are numbers for".into(),
        bytes => sized(bytes),
    }
}

/// What is said of a call that did not fail for want of memory.
pub fn no_memory_but(errno: u32) -> &'static str {
    match errno as i32 {
        libc::EINVAL => " (EINVAL: with an alignment that is none)",
        _ => "",
    }
}

/// How many bytes more or less: `+1.5 MiB`.
pub fn change(sizes: Sizes, from: u64, to: u64) -> String {
    let sign = if to < from { "-" } else { "+" };
    format!("{sign}{}", sizes.of(from.abs_diff(to)))
}

/// How many digits a second has behind its point, where an event is told with its time:
/// all that the clock has, if that is fine, and else the usual ones.
pub fn second_digits(tick_ns: u64, usual: usize) -> usize {
    const FINE: usize = 8;
    match tick_ns {
        0..1000 => FINE,
        _ => usual,
    }
}

/// A path as one would type it into a shell here.
pub fn typed(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    quoted(path.strip_prefix(here).unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names() {
        assert_eq!(signal(9), "9 (SIGKILL)");
        assert_eq!(signal(11), "11 (SIGSEGV)");
    }

    #[test]
    fn paths_are_as_seen_from_here() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(typed(&here.join("a b")), "'a b'");
        assert_eq!(typed(&here.join("-x")), "./-x");
        assert_eq!(typed(Path::new("/nowhere/x")), "/nowhere/x");
    }
}
