//! Sizes, times and paths as people read and type them.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;

use memlog_export::quoted;

use crate::open::grouped;

/// `64.0 KiB`
pub fn sized(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let step = bytes.max(1).ilog2() / 10;
    let unit = units.get(step as usize).unwrap_or(&"bytes");
    match step {
        0 => format!("{bytes} {unit}"),
        _ => format!("{:.1} {unit}", bytes as f64 / (1u64 << (10 * step)) as f64),
    }
}

/// How sizes are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// `27.6 MiB`
    Rounded,
    /// `28,940,697B`
    Exact,
}

impl Sizes {
    pub fn of(self, bytes: u64) -> String {
        match self {
            Self::Rounded => sized(bytes),
            Self::Exact => format!("{}B", grouped(bytes)),
        }
    }
}

/// How long something took: `0.4 ms`, `12 ms`, `1.3 s`.
pub fn lasted(seconds: f64) -> String {
    match seconds {
        ..0.01 => format!("{:.1} ms", seconds * 1e3),
        0.01..1.0 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// A longer time: `12.3 s`, `2 min 05 s`, `3 h 02 min`.
pub fn span(seconds: f64) -> String {
    let whole = seconds as u64;
    match whole {
        ..60 => lasted(seconds),
        60..3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// A part of a whole in percent; nothing of nothing is 0.
pub fn percentage(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64 * 100.0,
    }
}

/// A signal by number and name: `9 (SIGKILL)`.
pub fn signal(number: u8) -> String {
    let status = ExitStatus::from_raw(i32::from(number & 0x7F)).to_string();
    status.trim_start_matches("signal: ").to_owned()
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
    fn sizes_are_for_people() {
        assert_eq!(sized(0), "0 bytes");
        assert_eq!(sized(65536), "64.0 KiB");
        assert_eq!(sized(3 << 29), "1.5 GiB");
        assert_eq!(sized(u64::MAX), "16.0 EiB");
        assert_eq!(Sizes::Rounded.of(65536), "64.0 KiB");
        assert_eq!(Sizes::Exact.of(65536), "65,536B");
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal(9), "9 (SIGKILL)");
        assert_eq!(signal(11), "11 (SIGSEGV)");
    }

    #[test]
    fn spans_of_time_are_short() {
        assert_eq!(lasted(0.000_42), "0.4 ms");
        assert_eq!(lasted(0.012_3), "12 ms");
        assert_eq!(lasted(1.26), "1.3 s");
        assert_eq!(span(12.34), "12.3 s");
        assert_eq!(span(125.9), "2 min 05 s");
        assert_eq!(span(10_979.0), "3 h 02 min");
    }

    #[test]
    fn paths_are_as_seen_from_here() {
        let here = std::env::current_dir().expect("a folder");
        assert_eq!(typed(&here.join("a b")), "'a b'");
        assert_eq!(typed(&here.join("-x")), "./-x");
        assert_eq!(typed(Path::new("/nowhere/x")), "/nowhere/x");
    }
}
