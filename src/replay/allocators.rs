//! Allocators: what was asked for, and where it lies.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use memlog_pages::events::{GLIBC, MUSL, Recorded, allocator_of};
use memlog_pages::replay::{Row, Run};
use memlog_pages::{Advice, clean, shown};

use super::child::Replayer;
use crate::recorder::REPLAYER;

/// An allocator that people know by name.
struct Known {
    name: &'static str,
    /// What its libraries' names begin with, the one to take first.
    files: &'static [&'static str],
    /// Debian's package, and Fedora's.
    packages: [&'static str; 2],
}

const KNOWN: [Known; 3] = [
    Known {
        name: "jemalloc",
        files: &["libjemalloc.so"],
        packages: ["libjemalloc2", "jemalloc"],
    },
    Known {
        name: "mimalloc",
        files: &["libmimalloc.so"],
        packages: ["libmimalloc2.0", "mimalloc"],
    },
    Known {
        name: "tcmalloc",
        files: &["libtcmalloc_minimal.so", "libtcmalloc.so"],
        packages: ["libtcmalloc-minimal4", "gperftools-libs"],
    },
];

/// Of what only a machine with glibc can do: the replayer is for it, and musl's loader
/// preloads no other library's malloc.
const NEEDS_GLIBC: &str = "run it on a machine with glibc";

/// One to run under.
#[derive(Clone, Debug)]
pub struct Allocator {
    /// As it was asked for.
    name: String,
    source: Source,
    settings: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
enum Source {
    /// A name that is to be looked for.
    Named(String),
    /// The C library's; of musl by its loader.
    CLibrary(Option<PathBuf>),
    /// To be preloaded.
    Library(PathBuf),
}

impl Allocator {
    /// `NAME`, `PATH`, each with any number of `:VARIABLE=VALUE` behind it.
    pub fn asked(text: &str) -> Result<Self, String> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let mut parts: Vec<String> = Vec::new();
        for part in rest.into_iter().flat_map(|rest| rest.split(':')) {
            match parts.last_mut() {
                // A value may have colons: what follows is a setting if it looks like one.
                Some(last) if !is_setting(part) => *last += &format!(":{part}"),
                _ => parts.push(part.to_owned()),
            }
        }
        if name.is_empty() {
            return Err("a name is wanted, as jemalloc or /usr/lib/libjemalloc.so.2".into());
        }
        let settings = parts.into_iter().map(|part| match part.split_once('=') {
            Some((name, value)) if is_setting(&part) => Ok((name.to_owned(), value.to_owned())),
            _ => Err(format!("'{part}' is no setting: VARIABLE=VALUE is wanted")),
        });
        Ok(Self {
            name: clean(text.as_bytes()),
            source: Source::Named(name.to_owned()),
            settings: settings.collect::<Result<_, _>>()?,
        })
    }

    fn plainly(name: &str, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            source,
            settings: Vec::new(),
        }
    }

    /// Without what makes it differ from the C library's.
    pub fn plain(&self) -> Self {
        let source = match &self.source {
            Source::CLibrary(loader) => Source::CLibrary(loader.clone()),
            _ => Source::CLibrary(None),
        };
        Self::plainly(&self.name, source)
    }

    /// Nothing was run yet.
    pub fn row(&self, own: Run) -> Row {
        Row {
            own,
            name: self.name.clone(),
            library: String::new(),
            settings: self.settings.clone(),
            runs: Vec::new(),
            failed: None,
        }
    }

    /// The loader to start a program by, where it is not the one that it names.
    pub fn loader(&self) -> Option<&Path> {
        match &self.source {
            Source::CLibrary(loader) => loader.as_deref(),
            _ => None,
        }
    }

    /// What a program is started with.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let settings = self.settings.iter();
        let mut all: Vec<(OsString, OsString)> = settings
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        if let Source::Library(path) = &self.source {
            all.push(("LD_PRELOAD".into(), path.into()));
        }
        all
    }

    /// Whether this library is the one that was wanted: a loader that cannot preload goes on
    /// without.
    pub fn is_it(&self, library: &str) -> Result<(), String> {
        let Source::Library(path) = &self.source else {
            return Ok(());
        };
        match path
            .canonicalize()
            .is_ok_and(|path| path == Path::new(library))
        {
            true => Ok(()),
            false => Err(format!(
                "{} does not take malloc's place: {library} answered",
                shown(path)
            )),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same = match (&self.source, &other.source) {
            (Source::CLibrary(one), Source::CLibrary(other)) => one == other,
            (Source::Library(one), Source::Library(other)) => {
                one.canonicalize().ok() == other.canonicalize().ok()
            }
            _ => false,
        };
        is_same && self.settings == other.settings
    }
}

fn is_setting(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let mut letters = name.bytes();
    letters.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && letters.all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !matches!(name, "LD_PRELOAD" | "LD_LIBRARY_PATH")
}

/// Those to run under.
pub struct Found {
    all: Vec<Allocator>,
    /// Those that are not here, and how to get them.
    pub absent: Vec<(String, String)>,
    machine: Machine,
}

impl Found {
    /// Those that were asked for; if none was, all that are here.
    pub fn look(asked: &[Allocator], replayer: &Replayer) -> anyhow::Result<Self> {
        Self::look_on(
            asked,
            Machine {
                has_glibc: replayer.has_glibc(),
                folders: folders(),
            },
        )
    }

    fn look_on(asked: &[Allocator], machine: Machine) -> anyhow::Result<Self> {
        let mut found = Self {
            all: Vec::new(),
            absent: Vec::new(),
            machine,
        };
        if !asked.is_empty() {
            for allocator in asked {
                let source = found.machine.resolved(&allocator.source)?;
                found.all.push(Allocator {
                    source,
                    ..allocator.clone()
                });
            }
            return Ok(found);
        }
        let c_library = match found.machine.has_glibc {
            true => GLIBC,
            false => MUSL,
        };
        let source = found.machine.resolved(&Source::Named(c_library.into()))?;
        found.all.push(Allocator::plainly(c_library, source));
        for known in &KNOWN {
            let hint = match found.machine.has_glibc {
                true => known.hint(),
                false => NEEDS_GLIBC.into(),
            };
            match found.machine.library_of(known) {
                Some(path) => {
                    let source = Source::Library(path);
                    found.all.push(Allocator::plainly(known.name, source));
                }
                None => found.absent.push((known.name.into(), hint)),
            }
        }
        Ok(found)
    }

    /// All, the program's own first; and whether that is here.
    pub fn with_own(&self, recorded: &Recorded) -> (Vec<Allocator>, bool) {
        let own = match &recorded.allocator {
            None => Some(GLIBC),
            Some(path) => allocator_of(path.as_bytes()),
        };
        let own = own.and_then(|own| self.machine.own(own));
        let mut all = self.all.clone();
        let Some(own) = own else {
            return (all, false);
        };
        let asked = all.iter().position(|one| one.is_same(&own));
        let own = asked.map_or(own, |at| all.remove(at));
        all.insert(0, own);
        (all, true)
    }
}

/// What can be run here.
struct Machine {
    /// The C library that the replayer is for.
    has_glibc: bool,
    /// Where libraries lie.
    folders: Vec<PathBuf>,
}

impl Machine {
    /// What a program had, as it is here. A log may be a stranger's: the path that it
    /// tells is not loaded.
    fn own(&self, name: &'static str) -> Option<Allocator> {
        let source = match name {
            GLIBC if self.has_glibc => Source::CLibrary(None),
            MUSL => Source::CLibrary(Some(musl_loader()?)),
            name => {
                let known = KNOWN.iter().find(|known| known.name == name)?;
                Source::Library(self.library_of(known)?)
            }
        };
        Some(Allocator::plainly(name, source))
    }

    /// The library of an allocator that can be preloaded here.
    fn library_of(&self, known: &Known) -> Option<PathBuf> {
        let mut files = known.files.iter().filter(|_| self.has_glibc);
        files.find_map(|file| newest(file, &self.folders))
    }

    fn resolved(&self, source: &Source) -> anyhow::Result<Source> {
        let Source::Named(name) = source else {
            return Ok(source.clone());
        };
        let absent = |hint: String| Advice::error(format!("{name} is not on this machine"), hint);
        let known = KNOWN.iter().find(|known| known.name == name);
        if !self.has_glibc && (name.contains('/') || known.is_some()) {
            return Err(Advice::error(
                format!(
                    "{} cannot be preloaded here without glibc",
                    shown(Path::new(name))
                ),
                NEEDS_GLIBC,
            ));
        }
        if name.contains('/') {
            return library(Path::new(name)).map(Source::Library);
        }
        match (name.as_str(), known) {
            (GLIBC, _) if self.has_glibc => Ok(Source::CLibrary(None)),
            (GLIBC, _) => Err(absent(NEEDS_GLIBC.into())),
            (MUSL, _) => match musl_loader() {
                Some(loader) => Ok(Source::CLibrary(Some(loader))),
                None => Err(absent("apt install musl".into())),
            },
            (_, Some(known)) => match self.library_of(known) {
                Some(path) => Ok(Source::Library(path)),
                None => Err(absent(known.hint())),
            },
            (name, None) => Err(Advice::error(
                format!("no allocator is called '{name}'"),
                "give glibc, musl, jemalloc, mimalloc, tcmalloc or the path of a library",
            )),
        }
    }
}

/// A library that can be preloaded, by its path.
fn library(path: &Path) -> anyhow::Result<PathBuf> {
    let refused = |why: String, hint: &str| Advice::error(format!("{} {why}", shown(path)), hint);
    let path = path
        .canonicalize()
        .map_err(|error| refused(format!("cannot be read: {error}"), "give a library's path"))?;
    let text = path.as_os_str().as_encoded_bytes();
    if text.iter().any(|byte| b" :$\t\n".contains(byte)) {
        return Err(refused(
            "has a character in its path that LD_PRELOAD cannot hold".into(),
            "give it by a path without blanks, colons and dollars",
        ));
    }
    match is_fit(&path) {
        true => Ok(path),
        false => Err(refused(
            "is no shared library of this machine".into(),
            "give one that programs of this machine can load",
        )),
    }
}

impl Known {
    fn hint(&self) -> String {
        let [debian, fedora] = self.packages;
        format!("apt install {debian}, or dnf install {fedora}")
    }
}

/// The library whose name begins so, of several the last.
fn newest(file: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let all = folders.iter().filter_map(|folder| folder.read_dir().ok());
    let all = all.flatten().flatten().map(|entry| entry.path());
    let is_one = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let rest = name.strip_prefix(file);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.')) && is_fit(path)
    };
    let found = all
        .filter(is_one)
        .filter_map(|path| path.canonicalize().ok());
    found.max()
}

/// Where libraries lie: what the loader's cache says, and the usual places.
fn folders() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = std::env::var_os("LD_LIBRARY_PATH")
        .map(|paths| std::env::split_paths(&paths).collect())
        .unwrap_or_default();
    let cache = ["/sbin/ldconfig", "/usr/sbin/ldconfig"].iter();
    let cache = { cache }.find_map(|path| Command::new(path).arg("-p").output().ok());
    for line in cache.iter().flat_map(|output| lines(&output.stdout)) {
        let path = line
            .rsplit_once(" => ")
            .map(|(_, path)| PathBuf::from(path));
        all.extend(path.and_then(|path| path.parent().map(Path::to_owned)));
    }
    for base in ["/usr/local/lib", "/usr/lib64", "/usr/lib", "/lib64", "/lib"] {
        let below = Path::new(base).read_dir().into_iter().flatten().flatten();
        let below = below.map(|entry| entry.path());
        all.extend(below.filter(|path| path.to_string_lossy().ends_with("-linux-gnu")));
        all.push(base.into());
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|folder| folder.is_absolute() && seen.insert(folder.clone()));
    all
}

fn lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    text.lines().map(str::to_owned).collect()
}

/// Whether it is a shared object for the machine that the replayer is for.
fn is_fit(path: &Path) -> bool {
    /// Class, byte order; kind and machine.
    const PLACES: [std::ops::Range<usize>; 2] = [4..6, 16..20];
    let mut start = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    let is_same = PLACES
        .into_iter()
        .all(|place| start.get(place.clone()) == REPLAYER.bytes.get(place));
    path.is_file() && read.is_ok() && start.starts_with(b"\x7fELF") && is_same
}

/// musl's loader, of a machine that has it.
fn musl_loader() -> Option<PathBuf> {
    let files = Path::new("/lib").read_dir().ok()?.flatten();
    let mut files = files.map(|entry| entry.path());
    files.find(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ld-musl-") && is_fit(path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (String, Vec<(String, String)>) {
        let asked = Allocator::asked(text).expect(text);
        let Source::Named(name) = asked.source else {
            panic!("{text}");
        };
        (name, asked.settings)
    }

    fn setting(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn settings_stand_behind_the_name() {
        assert_eq!(parts("glibc"), ("glibc".into(), vec![]));
        let two = [setting("MALLOC_ARENA_MAX", "1"), setting("B", "x:y=z")];
        assert_eq!(
            parts("glibc:MALLOC_ARENA_MAX=1:B=x:y=z"),
            ("glibc".into(), two.to_vec())
        );
        let conf = setting("MALLOC_CONF", "dirty_decay_ms:0,narenas:1");
        assert_eq!(
            parts("/a/b.so.2:MALLOC_CONF=dirty_decay_ms:0,narenas:1"),
            ("/a/b.so.2".into(), vec![conf])
        );
        let tunables = setting(
            "GLIBC_TUNABLES",
            "glibc.malloc.arena_max=1:glibc.malloc.x=2",
        );
        assert_eq!(
            parts("glibc:GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.x=2").1,
            [tunables]
        );
        for wrong in [
            "",
            ":A=1",
            "glibc:arena=1",
            "glibc:1",
            "glibc:LD_PRELOAD=/x",
        ] {
            assert!(Allocator::asked(wrong).is_err(), "{wrong}");
        }
    }

    /// The replayer names glibc's loader: nothing starts it here but musl's.
    #[test]
    fn without_glibc_nothing_needs_it() {
        let has = |has_glibc| Machine {
            has_glibc,
            folders: folders(),
        };
        let named = |name: &str| Source::Named(name.into());
        let of = |allocator: Option<&str>| Recorded {
            allocator: allocator.map(str::to_owned),
            ..Recorded::default()
        };
        for name in [GLIBC, "jemalloc", "mimalloc", "tcmalloc", "/lib/x.so"] {
            let refused = has(false).resolved(&named(name)).expect_err(name);
            let advice = refused.downcast_ref::<Advice>().expect("advice");
            assert_eq!(advice.hint, NEEDS_GLIBC, "{name}");
        }
        assert!(has(true).resolved(&named(GLIBC)).is_ok());
        for allocator in [None, Some("/a/libjemalloc.so.2"), Some("(unknown)")] {
            let found = Found {
                all: Vec::new(),
                absent: Vec::new(),
                machine: has(false),
            };
            let (all, has_own) = found.with_own(&of(allocator));
            assert!(all.is_empty() && !has_own, "{allocator:?}");
        }
        let asked = Found {
            all: Vec::new(),
            absent: Vec::new(),
            machine: has(true),
        };
        let (all, has_own) = asked.with_own(&of(None));
        assert_eq!((all.len(), has_own), (1, true));
        if musl_loader().is_some() {
            let found = Found::look_on(&[], has(false)).expect("musl");
            assert_eq!(found.all.len(), 1);
            assert_eq!(found.all[0].name, MUSL);
            let hints = found.absent.iter().map(|(_, hint)| hint.as_str());
            assert_eq!(hints.collect::<Vec<_>>(), [NEEDS_GLIBC; 3]);
        }
    }

    #[test]
    fn a_log_is_no_library() {
        assert!(library(Path::new("/proc/self/status")).is_err());
        assert!(library(Path::new("/nonexistent.so")).is_err());
    }
}
