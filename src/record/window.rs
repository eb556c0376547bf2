//! `record --start-disabled`, `--after`, `--for`, `--signal`: when events are recorded.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use memlog_pages::strip::nanoseconds;

/// When events are recorded, and who may say so.
#[derive(clap::Args)]
pub struct Window {
    /// Begin with recording off; `memlog ctl PID start`, memlog_start or a signal switches it on
    #[arg(long)]
    start_disabled: bool,
    /// Begin to record after this time, such as 90s or 5m
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, conflicts_with = "start_disabled")]
    after: Option<u64>,
    /// Record for this time, then go on without recording
    #[arg(long = "for", value_name = "TIME", value_parser = nanoseconds, conflicts_with = "start_disabled")]
    lasts: Option<u64>,
    /// What a signal does to recording: start, stop, toggle or snapshot, such as USR2=toggle. A signal that the program handles stays its own. May be given several times
    #[arg(long, value_name = "SIGNAL=ACT", value_parser = signal_of)]
    signal: Vec<String>,
}

impl Window {
    /// Hands it to the program. Times are of the clock on the wall: programs that it starts
    /// later begin and end with it.
    pub fn set(&self, command: &mut Command) {
        if self.start_disabled {
            command.env("MEMLOG_START_DISABLED", "1");
        }
        if self.after.is_some() || self.lasts.is_some() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let begin = now.unwrap_or_default() + Duration::from_nanos(self.after.unwrap_or(0));
            command.env("MEMLOG_AFTER", format!("@{}", seconds(begin)));
        }
        if let Some(lasts) = self.lasts {
            command.env("MEMLOG_FOR", seconds(Duration::from_nanos(lasts)));
        }
        if !self.signal.is_empty() {
            command.env("MEMLOG_SIGNALS", self.signal.join(","));
        }
    }

    /// Whether an option says what a variable would.
    pub fn has(&self, variable: &str) -> bool {
        match variable {
            "MEMLOG_START_DISABLED" => self.start_disabled,
            "MEMLOG_AFTER" => self.after.is_some() || self.lasts.is_some(),
            "MEMLOG_FOR" => self.lasts.is_some(),
            "MEMLOG_SIGNALS" => !self.signal.is_empty(),
            _ => false,
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{}.{:09}", time.as_secs(), time.subsec_nanos())
}

/// What the recorder knows to watch; the numbers are those of real-time signals.
const SIGNALS: [&str; 9] = [
    "USR1", "USR2", "HUP", "URG", "WINCH", "IO", "PROF", "VTALRM", "QUIT",
];
/// What a signal can do.
const ACTS: [&str; 4] = ["start", "stop", "toggle", "snapshot"];

/// How it is written.
pub const EXPECTED: &str = "expected a signal and what it does, such as USR2=toggle: USR1, USR2, \
    HUP, URG, WINCH, IO, PROF, VTALRM, QUIT or a number from 35 to 64, and start, stop, toggle or \
    snapshot";

/// A signal and its act, as the recorder takes it.
pub fn signal_of(text: &str) -> Result<String, String> {
    let known = text.split_once('=').and_then(|(name, act)| {
        let name = name.strip_prefix("SIG").unwrap_or(name);
        let is_number = || {
            name.parse()
                .is_ok_and(|number: u32| (35..=64).contains(&number))
        };
        let is_known = SIGNALS.contains(&name) || is_number();
        (is_known && ACTS.contains(&act)).then(|| format!("{name}={act}"))
    });
    known.ok_or_else(|| EXPECTED.to_owned())
}

/// Seconds, as the recorder takes them.
pub fn is_seconds(text: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, part)) => is_digits(whole) && is_digits(part),
        None => is_digits(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_known_or_refused() {
        for good in ["USR2=toggle", "SIGUSR1=start", "40=snapshot", "HUP=stop"] {
            assert!(signal_of(good).is_ok(), "{good}");
        }
        assert_eq!(signal_of("SIGUSR1=start").as_deref(), Ok("USR1=start"));
        let bad = [
            "",
            "USR2",
            "USR2=",
            "=toggle",
            "KILL=stop",
            "STOP=stop",
            "SEGV=start",
            "34=stop",
            "65=stop",
            "usr1=toggle",
            "USR1=mark",
        ];
        for bad in bad {
            assert!(signal_of(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn seconds_are_numbers() {
        for good in ["0", "5", "5.25", "1700000000.000000001"] {
            assert!(is_seconds(good), "{good}");
        }
        for bad in ["", ".", "5.", ".5", "-1", "1e3", "5s"] {
            assert!(!is_seconds(bad), "{bad}");
        }
    }
}
