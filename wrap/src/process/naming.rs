//! The log's name: `[JOBID.]HOST.PID.memlog`, on Blue Gene `[JOBID.]HOST.RANK.memlog`, or what `MEMLOG_OUTPUT` makes of
//! %h host, %p process, %e program, %t start in seconds, %n attempt, %r rank,
//! %j job, in which no byte leads to another folder. It is absolute, so that chdir does not lead it elsewhere.

use crate::platform::sys::{Os, Sys};
use crate::platform::text::MAX_PATH;
use crate::platform::text::Text;
use crate::process::settings::Settings;

/// Attempts before no name is free.
pub const MAX_ATTEMPTS: u32 = 10_000;
const SUFFIX: &[u8] = b".memlog";

/// A path under construction.
pub type Path = Text<MAX_PATH>;

/// What a name can hold that settings do not know.
pub struct Facts<'a> {
    /// The host.
    pub host: &'a [u8],
    /// The process.
    pub pid: u32,
    /// Wall clock at start, seconds.
    pub seconds: u64,
}

/// Makes the path of an attempt, a C string. The first is the plain name, the
/// next is `NAME.2.memlog`.
pub fn make(path: &mut Path, settings: &Settings, facts: &Facts, attempt: u32, buffer: &mut [u8]) {
    path.clear();
    if !expand_folder(path, settings, buffer) {
        // No name: the attempt fails, and that is told.
        return;
    }
    let pattern = settings.output.get();
    let counted = !pattern.is_empty() && expand(path, settings, facts, attempt);
    if pattern.is_empty() || names_folder(path) {
        if !path.get().ends_with(b"/") {
            path.push(b"/");
        }
        usual(path, settings, facts);
    }
    if !counted && attempt > 1 {
        add_attempt(path, attempt);
    }
    path.push(&[0]);
}

/// Whether a path ends in a slash or is a folder's: logs go into it.
fn names_folder(path: &mut Path) -> bool {
    if path.get().ends_with(b"/") {
        return true;
    }
    let length = path.get().len();
    path.push(&[0]);
    let is_folder = Os::is_folder(path.get());
    path.shorten(path.get().len() - length);
    is_folder
}

/// The usual name.
fn usual(path: &mut Path, settings: &Settings, facts: &Facts) {
    if !settings.job.is_empty() {
        push_part(path, settings.job.get());
        path.push(b".");
    }
    push_part(path, facts.host);
    path.push(b".");
    if Os::NAMES_BY_RANK && !settings.rank.is_empty() {
        push_part(path, settings.rank.get());
    } else {
        path.push_number(u64::from(facts.pid));
    }
    path.push(SUFFIX);
}

/// The path of MEMLOG_DIR, a C string; false where no log would lie in it.
pub fn folder(path: &mut Path, settings: &Settings, buffer: &mut [u8]) -> bool {
    path.clear();
    let is_used = !settings.folder.is_empty() && !settings.output.get().starts_with(b"/");
    let has_name = is_used && expand_folder(path, settings, buffer);
    path.push(&[0]);
    has_name && path.get().ends_with(&[0])
}

/// The folder that a relative name is in; false if it has no name any more.
fn expand_folder(path: &mut Path, settings: &Settings, buffer: &mut [u8]) -> bool {
    let absolute = |text: &[u8]| text.first() == Some(&b'/');
    if absolute(settings.output.get()) {
        return true;
    }
    let folder = settings.folder.get();
    if !absolute(folder) {
        let length = Os::working_directory(buffer);
        let current = buffer.get(..length).unwrap_or(&[]);
        if !absolute(current) {
            return false;
        }
        path.push(current);
        path.push(b"/");
    }
    path.push(folder);
    if !folder.is_empty() && !settings.output.is_empty() {
        path.push(b"/");
    }
    true
}

/// Expands the pattern; whether it holds the attempt.
fn expand(path: &mut Path, settings: &Settings, facts: &Facts, attempt: u32) -> bool {
    let mut counted = false;
    let mut letters = settings.output.get().iter();
    while let Some(&letter) = letters.next() {
        if letter != b'%' {
            path.push(&[letter]);
            continue;
        }
        match letters.next() {
            Some(b'h') => push_part(path, facts.host),
            Some(b'p') => path.push_number(u64::from(facts.pid)),
            Some(b'e') => push_part(path, settings.program.get()),
            Some(b't') => path.push_number(facts.seconds),
            Some(b'r') => push_part(path, settings.rank.get()),
            Some(b'j') => push_part(path, settings.job.get()),
            Some(b'n') => {
                path.push_number(u64::from(attempt));
                counted = true;
            }
            Some(b'%') => path.push(b"%"),
            Some(&other) => path.push(&[b'%', other]),
            None => path.push(b"%"),
        }
    }
    counted
}

/// Appends what is part of a name and never leads to another folder, whatever
/// a launcher has put there.
fn push_part(path: &mut Path, part: &[u8]) {
    if part == b"." || part == b".." {
        return path.push(b"_");
    }
    for &byte in part {
        let is_kept = byte != b'/' && !byte.is_ascii_control();
        path.push(&[if is_kept { byte } else { b'_' }]);
    }
}

/// Puts the attempt before the suffix, or at the end where there is none.
fn add_attempt(path: &mut Path, attempt: u32) {
    let has_suffix = path.get().ends_with(SUFFIX);
    if has_suffix {
        path.shorten(SUFFIX.len());
    }
    path.push(b".");
    path.push_number(u64::from(attempt));
    if has_suffix {
        path.push(SUFFIX);
    }
}

/// Whether a path names a device or a stream, as /dev/full and /dev/stdout: no
/// log can take its place, and beside it is no place for one.
pub fn is_among_devices(path: &[u8]) -> bool {
    let folders: [&[u8]; 3] = [b"/dev/", b"/dev/fd/", b"/proc/self/fd/"];
    folders.into_iter().any(|folder| {
        let name = path.strip_prefix(folder);
        name.is_some_and(|name| !name.contains(&b'/'))
    })
}
