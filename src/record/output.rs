//! Where the logs of a run will lie, and which ones lie there afterwards.
//!
//! The recorder alone decides on a log's name: it knows the process, the rank
//! and what exists already. So nothing is predicted here. The folder is looked
//! through before the run and after it, what is new and starts like a log is
//! one, and its own header says which process wrote it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use memlog_pages::{Advice, counted, each, shown, sized, typed};

use super::codes::{beneath, known_only, unknown_codes};
use super::log::Log;
use super::replace;
use crate::os;

/// What a log begins with.
const LEAST_ROOM: u64 = 256 << 10;

/// A file's path and number: a new file may bear an old name.
type Identity = (PathBuf, u64);

/// Where logs are to be made.
pub struct Plan {
    setting: Setting,
    origin: Origin,
    /// The longest part of the path that has no code in it.
    folder: PathBuf,
    /// How many folders with codes in their names lie between.
    depth: usize,
    /// What every name begins with.
    prefix: Vec<u8>,
    before: HashSet<Identity>,
    /// What stands after a % in the pattern and means nothing there.
    unknown_codes: Vec<String>,
}

/// Who said where the logs go.
#[derive(Clone, Copy)]
enum Origin {
    /// -o.
    Option,
    /// Variables, by their names.
    Variables(&'static str),
    /// Nobody: they go into the current folder.
    Nobody,
}

enum Setting {
    Pattern(PathBuf),
    Folder(PathBuf),
}

impl Plan {
    /// From `-o`, else from the environment, else the current folder. The path
    /// is made absolute, for the program and its children may change folders.
    pub fn new(given: Option<&OsStr>) -> anyhow::Result<Self> {
        let here = std::env::current_dir()?;
        let folder = variable("MEMLOG_DIR");
        let base = folder
            .as_ref()
            .map_or_else(|| here.clone(), |folder| here.join(folder));
        if given.is_none() && folder.is_some() {
            make_folder(&base);
        }
        let (pattern, below, origin) = match (given, named_by_variable(), folder.is_some()) {
            (Some(given), ..) => (given.to_owned(), here, Origin::Option),
            (None, Some((name, pattern)), false) => (pattern, base, Origin::Variables(name)),
            (None, Some((_, pattern)), true) => {
                let names = "MEMLOG_DIR and MEMLOG_OUTPUT";
                (pattern, base, Origin::Variables(names))
            }
            (None, None, true) => return Self::in_folder(base, Origin::Variables("MEMLOG_DIR")),
            (None, None, false) => return Self::in_folder(base, Origin::Nobody),
        };
        let path = below.join(&pattern);
        if is_folder(&path) {
            // Only one of which nothing but its / says that it is a folder.
            fs::create_dir_all(&path).map_err(|error| {
                let sentence = format!("the folder {} cannot be made: {error}", shown(&path));
                Advice::error(sentence, origin.hint(None))
            })?;
            return Self::in_folder(path, origin);
        }
        if is_among_devices(&path) {
            let sentence = format!(
                "{} is a device or a stream, and a log can only be a regular file: the program \
                 writes it as memory",
                shown(&path)
            );
            return Err(Advice::error(sentence, origin.hint(None)));
        }
        if is_no_place(&path) {
            let sentence = format!("{} is there and is no regular file", shown(&path));
            return Err(Advice::error(sentence, origin.hint(None)));
        }
        let unknown_codes = unknown_codes(pattern.as_bytes());
        // The recorder would complain of a variable that nobody set.
        let pattern = match origin {
            Origin::Variables(_) => pattern,
            _ => known_only(&pattern),
        };
        let mut plan = Self::watching(Setting::Pattern(beneath(&below, &pattern)), origin)?;
        plan.unknown_codes = unknown_codes;
        Ok(plan)
    }

    fn in_folder(folder: PathBuf, origin: Origin) -> anyhow::Result<Self> {
        Self::watching(Setting::Folder(folder), origin)
    }

    fn watching(setting: Setting, origin: Origin) -> anyhow::Result<Self> {
        let (folder, depth, prefix) = match &setting {
            Setting::Folder(folder) => (folder.clone(), 0, Vec::new()),
            Setting::Pattern(pattern) => constant_part(pattern),
        };
        let name = shown(&folder);
        if !folder.exists() {
            return Err(Advice::error(
                format!("the log is to be made in the folder {name}, which is not there"),
                origin.hint(Some(&folder)),
            ));
        }
        if !folder.is_dir() {
            return Err(Advice::error(
                format!("the log is to be made in {name}, which is not a folder"),
                origin.hint(None),
            ));
        }
        if let (0, Err(error)) = (depth, os::is_writable(&folder)) {
            return Err(Advice::error(
                format!("the log cannot be made in {name}: {error}"),
                origin.hint(None),
            ));
        }
        let mut plan = Self {
            setting,
            origin,
            folder,
            depth,
            prefix,
            before: HashSet::new(),
            unknown_codes: Vec::new(),
        };
        plan.before = plan.files().into_iter().collect();
        Ok(plan)
    }

    /// What is odd about the pattern.
    pub fn remark(&self) -> Option<String> {
        let codes = self.unknown_codes.join(" and ");
        let place = match self.origin {
            Origin::Option => ", given by -o,".to_owned(),
            Origin::Variables(names) => format!(", given by {names},"),
            Origin::Nobody => String::new(),
        };
        (!codes.is_empty()).then(|| {
            format!(
                "{codes} in the log's name{place} means nothing and stays as it is; known are %h host, \
                 %p process, %e program, %t time, %n number, %r rank, %j job, and %% for a %"
            )
        })
    }

    /// The name without any code, for a log that is to bear it.
    fn name(&self) -> Option<PathBuf> {
        let Setting::Pattern(pattern) = &self.setting else {
            return None;
        };
        let (name, is_whole) = until_code(pattern.as_os_str().as_bytes());
        is_whole.then(|| OsString::from_vec(name).into())
    }

    /// Takes away what lies under that name. A name with codes is a new one in
    /// each run, or may be another process's: nothing lies there to be replaced.
    pub fn replace(&mut self) -> anyhow::Result<()> {
        if let Some(name) = self.name()
            && replace::clear(&name)?
        {
            // The new log may have the old one's number.
            self.before.retain(|(path, _)| *path != name);
        }
        Ok(())
    }

    /// What lies there of children of an earlier run: NAME.2.memlog and so on,
    /// which nobody replaces.
    pub fn stays(&self) -> Option<String> {
        let name = self.name()?;
        let stem = name.file_stem()?.as_bytes().to_vec();
        let ending = name.extension().unwrap_or_default().as_bytes().to_vec();
        let is_numbered = |path: &&PathBuf| {
            let middle = path.file_name().map(OsStr::as_bytes).and_then(|file| {
                let rest = file.strip_prefix(stem.as_slice())?.strip_prefix(b".")?;
                rest.strip_suffix(ending.as_slice())?.strip_suffix(b".")
            });
            middle.is_some_and(|middle| middle.iter().all(u8::is_ascii_digit))
        };
        let stay: Vec<_> = self.before.iter().map(|(path, _)| path).collect();
        let mut stay: Vec<_> = stay.into_iter().filter(is_numbered).collect();
        stay.sort();
        let (first, others) = stay.split_first()?;
        let others = match others.len() {
            0 => "stays".to_owned(),
            count => format!("and {} stay", counted(count as u64, "more log")),
        };
        Some(format!(
            "{} {others}, of an earlier run: --force replaces only the log of the name given",
            shown(first)
        ))
    }

    /// The name that was asked for, where it was taken before the program
    /// started and a log bears another.
    pub fn taken(&self, log: &Path) -> Option<PathBuf> {
        let was_there = |name: &PathBuf| self.before.iter().any(|(path, _)| path == name);
        self.name().filter(|name| name != log && was_there(name))
    }

    /// Tells the recorder.
    pub fn set(&self, command: &mut Command) {
        match &self.setting {
            Setting::Pattern(pattern) => command.env("MEMLOG_OUTPUT", pattern),
            Setting::Folder(folder) => command
                .env("MEMLOG_DIR", folder)
                .env_remove("MEMLOG_OUTPUT")
                .env_remove("MEMORY_PROFILER_OUTPUT"),
        };
    }

    /// The folder, to speak of.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Why no log can be made there now, in a sentence, and what to do.
    pub fn obstacle(&self) -> Option<(String, String)> {
        let place = shown(&self.folder);
        if !self.folder.is_dir() {
            let hint = self.origin.hint(Some(&self.folder));
            return Some((format!("the folder {place} is not there any more"), hint));
        }
        if let (0, Err(error)) = (self.depth, os::is_writable(&self.folder)) {
            return Some((
                format!("nothing can be made in {place}: {error}"),
                self.origin.hint(None),
            ));
        }
        let free = memlog_pages::free_bytes(&self.folder).ok()?;
        (free < LEAST_ROOM).then(|| {
            let hint = format!("make room there, or {}", self.origin.hint(None));
            (
                format!("the disk of {place} is full: {} are free", sized(free)),
                hint,
            )
        })
    }

    /// The logs made since the plan was, oldest first, and where there are several,
    /// which have fewer events than `few`.
    pub fn new_logs(&self, few: u64) -> Vec<Log> {
        let mut fresh = self.files();
        fresh.retain(|file| !self.before.contains(file));
        let others = (fresh.len() > 1).then_some(few);
        let logs = each(&fresh, |(path, _)| Log::read(path, others).ok().flatten());
        let mut logs: Vec<Log> = logs.into_iter().flatten().collect();
        // Some begin in the same step of the clock; an image that executed another has no end.
        logs.sort_by_key(|log| (log.wall_ns, log.pid, log.has_end));
        logs
    }

    /// The process of the first log of a run, which another program may have started.
    pub fn first_of(&self, run: &str) -> Option<u32> {
        let logs = self.new_logs(0);
        let first = logs.iter().find(|log| log.run == run);
        first.map(|log| log.pid)
    }

    /// The files that could be logs of this plan by their names.
    fn files(&self) -> Vec<Identity> {
        let mut folders = vec![self.folder.clone()];
        for _ in 0..self.depth {
            folders = folders
                .iter()
                .flat_map(|folder| entries(folder))
                .map(|(path, _)| path)
                .collect();
        }
        let fits = |(path, _): &Identity| {
            path.file_name()
                .is_some_and(|name| name.as_bytes().starts_with(&self.prefix))
        };
        let files = folders.iter().flat_map(|folder| entries(folder));
        let mut files: Vec<Identity> = files.filter(fits).collect();
        // What a pattern makes may be the name of a folder: logs are in it.
        if let Setting::Pattern(_) = self.setting {
            let inner = files.iter().filter(|(path, _)| path.is_dir());
            let inner: Vec<_> = inner.flat_map(|(path, _)| entries(path)).collect();
            files.extend(inner);
        }
        files
    }
}

impl Origin {
    /// What to do where the log cannot be made; `missing` is a folder to make.
    fn hint(self, missing: Option<&Path>) -> String {
        let made = missing.map(|folder| format!("mkdir -p {}, or ", typed(folder)));
        let made = made.unwrap_or_default();
        match self {
            Self::Option => format!("{made}choose another place with -o PATTERN"),
            Self::Variables(names) => format!(
                "{made}choose another place with -o PATTERN; this one is from the environment, {names}"
            ),
            Self::Nobody => "choose another place with -o PATTERN, or set MEMLOG_DIR".into(),
        }
    }
}

/// As the recorder does, where only that folder is missing. If it cannot be
/// made it is not there, which is told.
fn make_folder(folder: &Path) {
    use std::os::unix::fs::DirBuilderExt;
    let _ = fs::DirBuilder::new().mode(0o700).create(folder);
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The pattern in the environment, and the variable that has it.
fn named_by_variable() -> Option<(&'static str, OsString)> {
    let mut names = ["MEMLOG_OUTPUT", "MEMORY_PROFILER_OUTPUT"].into_iter();
    names.find_map(|name| Some((name, variable(name)?)))
}

/// A folder that cannot be read has no entries: the summary says what to do.
fn entries(folder: &Path) -> Vec<Identity> {
    use std::os::unix::fs::DirEntryExt;
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (entry.path(), entry.ino())).collect()
}

/// Whether a path names a folder and no pattern.
fn is_folder(path: &Path) -> bool {
    let text = path.as_os_str().as_bytes();
    path.is_dir() || text.ends_with(b"/") && !text.contains(&b'%')
}

/// Whether a path names a device or an open file, whatever that is now: as
/// /dev/full and /dev/stdout. The recorder makes nothing there either.
fn is_among_devices(path: &Path) -> bool {
    let folders = ["/dev", "/dev/fd", "/proc/self/fd"].map(Path::new);
    path.parent()
        .is_some_and(|parent| folders.contains(&parent))
}

/// Whether something is there that no log can take the place of, as a device.
fn is_no_place(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file())
}

/// Folder, number of folders below it that have codes in their names, and what
/// the names of the files begin with.
fn constant_part(pattern: &Path) -> (PathBuf, usize, Vec<u8>) {
    // A pattern of folders: the usual name follows, which may begin anyhow.
    if pattern.as_os_str().as_bytes().ends_with(b"/") {
        return constant_part(&pattern.join("%j"));
    }
    let mut folder = PathBuf::new();
    let mut parts = pattern.iter().peekable();
    while let Some(part) = parts.next() {
        let (literal, is_whole) = until_code(part.as_bytes());
        if parts.peek().is_none() {
            // NAME.memlog may become NAME.2.memlog.
            let stem = literal
                .strip_suffix(b".memlog")
                .map_or(literal.clone(), <[u8]>::to_vec);
            return (folder, 0, stem);
        }
        if !is_whole {
            return (folder, parts.count(), Vec::new());
        }
        folder.push(OsStr::from_bytes(&literal));
    }
    (folder, 0, Vec::new())
}

/// The text before the first code, with %% made %, and whether it is all.
fn until_code(text: &[u8]) -> (Vec<u8>, bool) {
    let mut literal = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            if after.first() != Some(&b'%') {
                return (literal, false);
            }
            rest = &after[1..];
        }
        literal.push(byte);
    }
    (literal, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_constant_part_ends_at_the_first_code() {
        let of = |pattern: &str| {
            let (folder, depth, prefix) = constant_part(Path::new(pattern));
            (
                folder.display().to_string(),
                depth,
                String::from_utf8(prefix).expect("text"),
            )
        };
        assert_eq!(of("/a/b/x.%p.memlog"), ("/a/b".into(), 0, "x.".into()));
        assert_eq!(of("/a/%h/b/x.memlog"), ("/a".into(), 2, String::new()));
        assert_eq!(of("/a/50%%/x.memlog"), ("/a/50%".into(), 0, "x".into()));
        assert_eq!(of("/a/x%h/"), ("/a".into(), 1, String::new()));
    }

    #[test]
    fn folders_are_told_from_patterns() {
        assert!(is_folder(&std::env::temp_dir()));
        assert!(is_folder(Path::new("/no/such/")));
        assert!(!is_folder(Path::new("/no/such/%h/")));
        assert!(!is_folder(Path::new("/no/such")));
    }

    #[test]
    fn a_percent_in_the_folder_is_no_code() {
        let pattern = beneath(Path::new("/a%p"), OsStr::new("x%p.memlog"));
        assert_eq!(pattern, Path::new("/a%%p/x%p.memlog"));
        assert_eq!(constant_part(&pattern).0, Path::new("/a%p"));
        assert_eq!(
            beneath(Path::new("/a"), OsStr::new("/b/c")),
            Path::new("/b/c")
        );
    }
}
