//! The recorder that this executable carries, so that one copied file is the
//! whole tool, and the way from there to a file that a loader or linker takes.
//!
//! An installed copy beside the executable is used where it is the same to the
//! byte. Otherwise the files are written into a private folder of the user,
//! whole or not at all, and used again next time. A file is never trusted for
//! its name: its owner, its mode and its content are looked at each time.

use crate::advice::Advice;
use crate::open::shown;
use crate::os;
use anyhow::Context;
use memlog_format::chunk::checksum;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A file of the recorder.
pub struct Artefact {
    /// Its name, also in the log's modules and in a map of the process.
    pub name: &'static str,
    /// Its bytes; for the flags a template, see [`link_flags`].
    pub bytes: &'static [u8],
}

macro_rules! artefact {
    ($name:literal) => {
        Artefact {
            name: $name,
            bytes: include_bytes!(concat!(env!("OUT_DIR"), "/", $name)),
        }
    };
}

/// Preloaded, or linked with -lmemlog.
pub const SHARED: Artefact = artefact!("libmemlog.so");
/// Preloaded behind it where C++'s operators do not end in malloc.
pub const OPERATORS: Artefact = artefact!("libmemlog_new.so");
/// Preloaded behind both: what `named` writes.
pub const NAMED: &str = "libmemlog_named.so";
/// Linked into static programs.
pub const ARCHIVE: Artefact = artefact!("memlog_s.a");
/// The five names of the first memlog's link line, for lines typed by hand.
pub const OBJECT: Artefact = artefact!("memlog_s.o");

const FLAGS_TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/memlog_s_ld_cmds.in"));
const CXX_FLAGS_TEMPLATE: &str = include_str!(concat!(env!("OUT_DIR"), "/memlog_s_cxx_ld_cmds.in"));

/// The flags that link [`ARCHIVE`], lying in `folder`, into a static program.
/// Fit for `@file` and for `` `cat file` ``.
pub fn link_flags(folder: &Path) -> anyhow::Result<String> {
    linkable(folder).map(static_flags)
}

/// The same for a C++ program, with its operators new and delete.
pub fn cxx_link_flags(folder: &Path) -> anyhow::Result<String> {
    linkable(folder).map(|folder| CXX_FLAGS_TEMPLATE.replace("@LIBDIR@", folder))
}

/// The same with the folder as it is spelled where the flags will stand.
pub fn static_flags(folder: &str) -> String {
    FLAGS_TEMPLATE.replace("@LIBDIR@", folder)
}

/// The folder as text, if it can stand unquoted in a link line.
pub fn linkable(folder: &Path) -> anyhow::Result<&str> {
    let plain = |text: &&str| {
        !text.contains(|c: char| c.is_whitespace() || ",:;'\"\\$`*?@%&|<>()#".contains(c))
    };
    folder.to_str().filter(plain).ok_or_else(|| {
        Advice::error(
            format!(
                "the folder {} cannot stand in a link line for the characters in its name",
                shown(folder)
            ),
            "install memlog elsewhere, or choose a folder with --lib DIR",
        )
    })
}

/// A folder of the shared libraries that LD_PRELOAD can name.
pub fn preloadable() -> anyhow::Result<PathBuf> {
    place(&[&SHARED, &OPERATORS], Use::Preload)
}

/// A folder that holds everything that is linked with.
pub fn library_folder() -> anyhow::Result<PathBuf> {
    place(&[&SHARED, &OPERATORS, &ARCHIVE, &OBJECT], Use::Link)
}

/// A file that was made for one run, or one link, in a folder of the user's own
/// that only such have.
pub fn made(name: &str, bytes: &[u8], is_loaded: bool) -> anyhow::Result<PathBuf> {
    let usage = if is_loaded { Use::Preload } else { Use::Link };
    let mut refusals = Vec::new();
    for base in private_bases() {
        let place = || -> anyhow::Result<PathBuf> {
            let folder = suitable(&base, checksum(bytes), usage)?;
            let path = folder.join(name);
            if !is_same(&path, bytes, &[os::effective_user()]) {
                replace(&path, bytes).with_context(|| format!("{name} cannot be written"))?;
            }
            Ok(path)
        };
        match place() {
            Ok(path) => return Ok(path),
            Err(error) => refusals.push(format!("{}: {error:#}", shown(&base))),
        }
    }
    Err(no_folder(&refusals))
}

fn no_folder(refusals: &[String]) -> anyhow::Error {
    Advice::error(
        format!(
            "no folder was found for the recorder's files ({})",
            refusals.join("; ")
        ),
        "set XDG_CACHE_HOME to a folder of your own where programs may be executed from",
    )
}

/// What a folder is wanted for.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// Code is mapped from it, and LD_PRELOAD names it.
    Preload,
    /// A linker reads it, and a link line names it.
    Link,
}

/// The installed folder, or the first of the user's own that will do.
fn place(wanted: &[&Artefact], usage: Use) -> anyhow::Result<PathBuf> {
    if let Some(folder) = installed_folder(wanted).filter(|folder| suits(folder, usage).is_ok()) {
        return Ok(folder);
    }
    let mut refusals = Vec::new();
    for base in private_bases() {
        match extract(&base, wanted, usage) {
            Ok(folder) => return Ok(folder),
            Err(error) => refusals.push(format!("{}: {error:#}", shown(&base))),
        }
    }
    Err(no_folder(&refusals))
}

/// `../lib` beside the executable, if what is wanted lies there unchanged.
fn installed_folder(wanted: &[&Artefact]) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let owner = fs::metadata(&executable).ok()?.uid();
    let folder = executable.parent()?.parent()?.join("lib");
    let holds = |artefact: &&Artefact| {
        is_same(
            &folder.join(artefact.name),
            artefact.bytes,
            &[0, owner, os::effective_user()],
        )
    };
    wanted.iter().all(holds).then_some(folder)
}

/// Where a private folder may be made, best first. What a reboot or a logout
/// takes away, and is often mounted noexec, comes last.
fn private_bases() -> Vec<PathBuf> {
    let variable = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let caches = [
        variable("XDG_CACHE_HOME"),
        // A home that is not there is not made: it is not ours to make.
        variable("HOME")
            .filter(|home| home.is_dir())
            .map(|home| home.join(".cache")),
    ];
    let shared = [
        variable("TMPDIR"),
        Some("/tmp".into()),
        Some("/var/tmp".into()),
        variable("XDG_RUNTIME_DIR"),
        Some("/dev/shm".into()),
    ];
    let own = format!("memlog-{}", os::effective_user());
    let caches = caches.into_iter().flatten().map(|base| base.join("memlog"));
    caches
        .chain(shared.into_iter().flatten().map(|base| base.join(&own)))
        .collect()
}

/// Puts the files under `base` and gives the folder they are in.
fn extract(base: &Path, wanted: &[&Artefact], usage: Use) -> anyhow::Result<PathBuf> {
    let sum = checksum(SHARED.bytes) ^ checksum(OPERATORS.bytes) ^ checksum(ARCHIVE.bytes);
    let folder = suitable(base, sum, usage)?;
    for artefact in wanted {
        let path = folder.join(artefact.name);
        if !is_same(&path, artefact.bytes, &[os::effective_user()]) {
            replace(&path, artefact.bytes)
                .with_context(|| format!("{} cannot be written", artefact.name))?;
        }
    }
    Ok(folder)
}

/// A folder under `base` for what has this sum.
fn suitable(base: &Path, sum: u64, usage: Use) -> anyhow::Result<PathBuf> {
    suits(base, usage)?;
    let nearest = base.ancestors().skip(1).find(|folder| folder.is_dir());
    if usage == Use::Preload && nearest.is_some_and(forbids_code) {
        anyhow::bail!("is mounted noexec");
    }
    let folder = base.join(format!("{sum:016x}"));
    for step in [base, &folder] {
        make_private(step)?;
    }
    Ok(folder)
}

/// Whether the loader, or the linker, can be told this path.
fn suits(folder: &Path, usage: Use) -> anyhow::Result<()> {
    match usage {
        Use::Link => linkable(folder).map(drop),
        // The loader splits LD_PRELOAD at spaces and colons and expands $NAMES.
        Use::Preload => {
            let bytes = folder.as_os_str().as_bytes();
            anyhow::ensure!(
                !bytes.iter().any(|byte| b" :$\t\n".contains(byte)),
                "has a character that LD_PRELOAD cannot hold"
            );
            anyhow::ensure!(!forbids_code(folder), "is mounted noexec");
            Ok(())
        }
    }
}

fn forbids_code(folder: &Path) -> bool {
    os::mount_flags(folder).is_ok_and(|flags| flags.no_exec)
}

/// Makes a folder that only this user can enter, or checks that it is one.
fn make_private(folder: &Path) -> anyhow::Result<()> {
    match DirBuilder::new()
        .mode(0o700)
        .recursive(false)
        .create(folder)
    {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let above = folder.parent().context("has no folder above it")?;
            DirBuilder::new()
                .mode(0o700)
                .recursive(true)
                .create(above)?;
            DirBuilder::new().mode(0o700).create(folder)?;
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    let found = fs::symlink_metadata(folder)?;
    anyhow::ensure!(found.is_dir(), "is not a folder");
    anyhow::ensure!(
        found.uid() == os::effective_user(),
        "belongs to another user"
    );
    anyhow::ensure!(found.mode() & 0o022 == 0, "can be written by other users");
    Ok(())
}

/// Whether the file is a plain one of a trusted owner and holds these bytes.
fn is_same(path: &Path, bytes: &[u8], owners: &[u32]) -> bool {
    let open = || -> io::Result<Option<Vec<u8>>> {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        let found = file.metadata()?;
        let trusted = found.is_file() && owners.contains(&found.uid()) && found.mode() & 0o002 == 0;
        if !trusted || found.len() != bytes.len() as u64 {
            return Ok(None);
        }
        let mut content = Vec::with_capacity(bytes.len());
        file.read_to_end(&mut content)?;
        Ok(Some(content))
    };
    matches!(open(), Ok(Some(content)) if content == bytes)
}

/// Writes a file whole or not at all: many processes may do so at once.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let fresh = path.with_file_name(format!(".{name}.{}", std::process::id()));
    let create = |mode| -> io::Result<File> {
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&fresh)
    };
    let mut file = match create(0o755) {
        // Left behind by a process of the same number that was killed here.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_file(&fresh)?;
            create(0o755)?
        }
        other => other?,
    };
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // The error that is told is the first one.
        let _ = fs::remove_file(&fresh);
    }
    written
}
