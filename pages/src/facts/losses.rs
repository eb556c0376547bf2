//! Why events are missing from a log, in words, as far as the log knows it.

use std::io;

use memlog_format::counter::Counter;
use memlog_format::refusal::{Refusal, Step};

use crate::words::grouped;

/// What bounds a log, as its settings say.
#[derive(Clone, Copy, Default)]
pub struct Bounds {
    /// It has a MEMLOG_MAX_LOG.
    pub has_size: bool,
    /// It has a MEMLOG_FLIGHT_RECORDER.
    pub has_flight: bool,
    /// What kept it from growing, where it says so.
    pub refusal: Option<Refusal>,
}

impl Bounds {
    /// Of a log with these settings.
    pub fn of<'a>(settings: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut bounds = Self::default();
        settings.into_iter().for_each(|text| bounds.take(text));
        bounds
    }

    /// Takes a setting.
    pub fn take(&mut self, setting: &[u8]) {
        self.has_size |= setting.starts_with(b"MEMLOG_MAX_LOG=");
        self.has_flight |= setting.starts_with(b"MEMLOG_FLIGHT_RECORDER=");
    }

    /// With what its counter of that name says.
    pub fn refused(mut self, counter: u64) -> Self {
        self.refusal = Refusal::decode(counter);
        self
    }

    /// What was in the way of events that found no room.
    fn in_the_way(self) -> String {
        match self.refusal {
            Some(refusal) => obstacle(refusal),
            None => self.guessed().to_owned(),
        }
    }

    /// The same of logs that do not say which it was.
    fn guessed(self) -> &'static str {
        match (self.has_size, self.has_flight) {
            (true, _) => ", which had reached MEMLOG_MAX_LOG or filled the disk",
            (false, true) => ": the flight recorder's table of what is live or the disk was full",
            (false, false) => ": the disk was full, or a quota or a limit on files was reached",
        }
    }
}

/// What was in the way, behind a thing that could not be had.
fn obstacle(refusal: Refusal) -> String {
    let what = match refusal.step {
        Step::Open if refusal.errno == libc::ESTALE as u32 => {
            return ": its name is another file's now".to_owned();
        }
        Step::Open => "its file could not be opened again",
        Step::Lengthen => "its file could not be made longer",
        Step::Map => "its file had no room to give",
        Step::Write => "its file could not be written to",
        Step::Create => "it could not be made",
        Step::MaxLog => return ", which had reached MEMLOG_MAX_LOG".to_owned(),
        Step::FileLimit => {
            return ", which had reached the limit on files (RLIMIT_FSIZE)".to_owned();
        }
        Step::LogsTotal => {
            return ", for all logs together had reached MEMLOG_MAX_LOGS_TOTAL".to_owned();
        }
        Step::Filter => {
            return ": under a seccomp filter its file is not made longer".to_owned();
        }
    };
    format!(": {what}: {}", error_words(refusal.errno))
}

/// What the kernel's number of an error means, with its name where all machines
/// number it alike: `Permission denied (EACCES)`.
fn error_words(errno: u32) -> String {
    const NAMES: [(i32, &str); 14] = [
        (libc::EPERM, "EPERM"),
        (libc::ENOENT, "ENOENT"),
        (libc::EIO, "EIO"),
        (libc::EAGAIN, "EAGAIN"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EACCES, "EACCES"),
        (libc::ENOTDIR, "ENOTDIR"),
        (libc::EINVAL, "EINVAL"),
        (libc::ENFILE, "ENFILE"),
        (libc::EMFILE, "EMFILE"),
        (libc::ETXTBSY, "ETXTBSY"),
        (libc::EFBIG, "EFBIG"),
        (libc::ENOSPC, "ENOSPC"),
        (libc::EROFS, "EROFS"),
    ];
    let known = NAMES.iter().find(|(number, _)| *number as u32 == errno);
    let Some((number, name)) = known else {
        return format!("error {errno}");
    };
    let text = io::Error::from_raw_os_error(*number).to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    format!("{} ({name})", text.get(..end).unwrap_or_default())
}

/// What is to be said of forked children that have no log: `counters` are the
/// two that tell of them.
pub fn without_log((count, why): (u64, u64)) -> Option<String> {
    let processes = match count {
        0 => return None,
        1 => "1 forked process of it has".to_owned(),
        count => format!("{} forked processes of it have", grouped(count)),
    };
    let why = Refusal::decode(why).map_or(String::new(), |refusal| {
        let words = match refusal.step {
            Step::Filter => "a seccomp filter was there".to_owned(),
            Step::LogsTotal => "all logs together had reached MEMLOG_MAX_LOGS_TOTAL".to_owned(),
            _ => error_words(refusal.errno),
        };
        format!(", the last for this reason: {words}")
    });
    Some(format!("{processes} no log, for none could be made{why}"))
}

/// Whether a child has no log for it was not allowed to make one.
pub fn is_denied((count, why): (u64, u64)) -> bool {
    let is_denied = |refusal: Refusal| matches!(refusal.errno as i32, libc::EACCES | libc::EPERM);
    count > 0 && Refusal::decode(why).is_some_and(is_denied)
}

/// What is to be said of a log that goes out by writes and has no end: what its
/// process counted last may never have reached it, losses among it.
pub fn may_lack<'a>(
    has_end: bool,
    mut settings: impl Iterator<Item = &'a [u8]>,
) -> Option<&'static str> {
    const SENTENCE: &str = "the log goes out by writes (MEMLOG_SINK=written) and has no end: what \
        its process recorded last may be missing, and nobody counted it. It gave up the right to \
        write to the file, was killed, executed another program, or runs still; without that \
        setting each event is in the file at once";
    let is_written = settings.any(|text| text == b"MEMLOG_SINK=written");
    (is_written && !has_end).then_some(SENTENCE)
}

/// What a counter that is no count says.
pub fn reason(counter: Counter, value: u64) -> Option<String> {
    if !matches!(counter, Counter::LogRefused | Counter::ChildRefused) {
        return None;
    }
    let refusal = Refusal::decode(value)?;
    let text = obstacle(refusal);
    let text = text.trim_start_matches([':', ',', ' ']);
    Some(text.trim_start_matches("which ").to_owned())
}

/// What happened to events that are counted so: `found no room in the log, ...`.
pub fn fate(counter: Counter, bounds: Bounds) -> String {
    let words = match counter {
        Counter::LostNoRoom => {
            return format!("found no room in the log{}", bounds.in_the_way());
        }
        Counter::LostNotReady => "came while the recorder could not take them",
        Counter::LostNoStream => "came on threads that the recorder had no room for",
        _ => "ended in a jump out of the recorder",
    };
    words.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_format::counter::ALL;

    #[test]
    fn a_bound_is_named_only_where_there_is_one() {
        let said = |settings: &[&str]| {
            let settings = settings.iter().map(|text| text.as_bytes());
            fate(Counter::LostNoRoom, Bounds::of(settings))
        };
        assert!(said(&["MEMLOG_MAX_LOG=300"]).contains("MEMLOG_MAX_LOG or filled the disk"));
        assert!(said(&["MEMLOG_FLIGHT_RECORDER=9"]).contains("flight recorder"));
        let disk = "found no room in the log: the disk was full";
        assert!(said(&["MEMLOG_SINK=written"]).starts_with(disk));
    }

    #[test]
    fn a_reason_is_the_kernels() {
        let said = |step, errno| {
            let refusal = Refusal { step, errno };
            let bounds = Bounds::default().refused(refusal.encode());
            fate(Counter::LostNoRoom, bounds)
        };
        assert_eq!(
            said(Step::Open, 13),
            "found no room in the log: its file could not be opened again: \
             Permission denied (EACCES)"
        );
        assert!(said(Step::Map, 28).ends_with("No space left on device (ENOSPC)"));
        assert!(said(Step::Map, 9999).ends_with(": error 9999"));
        assert!(said(Step::MaxLog, 27).ends_with("the log, which had reached MEMLOG_MAX_LOG"));
        let refusal = Refusal {
            step: Step::Create,
            errno: 13,
        }
        .encode();
        assert_eq!(without_log((0, refusal)), None);
        let told = without_log((1200, refusal)).unwrap_or_default();
        assert!(told.starts_with("1,200 forked processes of it have no log"));
        assert!(told.ends_with("Permission denied (EACCES)"));
    }

    #[test]
    fn only_a_lack_of_rights_is_a_denial() {
        let step = Step::Create;
        let said = |count, errno| {
            let errno = errno as u32;
            is_denied((count, Refusal { step, errno }.encode()))
        };
        assert!(said(1, libc::EACCES) && said(7, libc::EPERM));
        assert!(!said(1, libc::ENOSPC) && !said(1, libc::ENOENT));
        assert!(!said(0, libc::EACCES) && !is_denied((1, 0)));
    }

    #[test]
    fn what_was_not_written_cannot_be_counted() {
        let said = |has_end, setting: &'static [u8]| {
            let settings = [&b"MEMLOG_RUN=7"[..], setting].into_iter();
            may_lack(has_end, settings).is_some()
        };
        assert!(said(false, b"MEMLOG_SINK=written"));
        assert!(!said(true, b"MEMLOG_SINK=written"));
        assert!(!said(false, b"MEMLOG_SINK=mapped"));
    }

    #[test]
    fn each_loss_has_words_of_its_own() {
        let losses = ALL.iter().filter(|(counter, _)| counter.is_loss());
        let mut words: Vec<_> = losses
            .map(|(counter, _)| fate(*counter, Bounds::default()))
            .collect();
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!((words.len(), count), (4, 4));
    }
}
