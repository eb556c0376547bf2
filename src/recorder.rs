//! The recorder that this executable carries, so that one copied file is the
//! whole tool, and the way from there to a file that a loader or linker takes.
//!
//! An installed copy beside the executable is used where it is the same to the
//! byte. Otherwise the files are written into a folder of the user's own
//! ([`bases`]), whole or not at all, and used again next time. A file is never
//! trusted for its name: its owner, its mode and its content are looked at each
//! time.

mod bases;

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;
use memlog_format::chunk::checksum;
use memlog_pages::{Advice, effective_user, shown};

use crate::os;
use bases::{Base, OpenTo};

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

/// What `replay` executes.
pub const REPLAYER: Artefact = artefact!("memlog_replayer");

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

/// A file that was made for one run, or one link, in a folder that only such have.
pub fn generated_file(name: &str, bytes: &[u8], is_loaded: bool) -> anyhow::Result<PathBuf> {
    let usage = if is_loaded { Use::Preload } else { Use::Link };
    let folder = put(&[(name, bytes)], checksum(bytes), usage)?;
    Ok(folder.join(name))
}

/// Puts files into the first folder that will do, and gives that.
fn put(wanted: &[(&str, &[u8])], sum: u64, usage: Use) -> anyhow::Result<PathBuf> {
    let mut refusals = Vec::new();
    for base in bases::bases(usage) {
        let put_there = || -> anyhow::Result<PathBuf> {
            let folder = suitable(&base, sum, usage)?;
            for &(name, bytes) in wanted {
                let path = folder.join(name);
                let mode = match base.open_to {
                    OpenTo::Owner => 0,
                    OpenTo::All => READABLE,
                };
                if !is_same(&path, bytes, &[effective_user()], mode) {
                    replace_for(base.open_to, &path, bytes)
                        .with_context(|| format!("{name} cannot be written"))?;
                }
            }
            Ok(folder)
        };
        match put_there() {
            Ok(folder) => return Ok(folder),
            Err(error) => refusals.push(format!("{}: {error:#}", shown(&base.path))),
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
    let installed = installed_folder(wanted, usage);
    if let Some(folder) = installed.filter(|folder| suits(folder, usage).is_ok()) {
        return Ok(folder);
    }
    let sum = checksum(SHARED.bytes) ^ checksum(OPERATORS.bytes) ^ checksum(ARCHIVE.bytes);
    let files: Vec<_> = wanted.iter().map(|file| (file.name, file.bytes)).collect();
    put(&files, sum, usage)
}

/// `../lib` beside the executable, if what is wanted lies there unchanged, and
/// whoever may come to load it can.
fn installed_folder(wanted: &[&Artefact], usage: Use) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?;
    let owner = fs::metadata(&executable).ok()?.uid();
    let folder = executable.parent()?.parent()?.join("lib");
    let is_for_all = bases::is_for_all(usage);
    if is_for_all && !bases::lets_all_in(&folder) {
        return None;
    }
    let readable = if is_for_all { READABLE } else { 0 };
    let holds = |artefact: &&Artefact| {
        is_same(
            &folder.join(artefact.name),
            artefact.bytes,
            &[0, owner, effective_user()],
            readable,
        )
    };
    wanted.iter().all(holds).then_some(folder)
}

/// A folder under `base` for what has this sum.
fn suitable(base: &Base, sum: u64, usage: Use) -> anyhow::Result<PathBuf> {
    suits(&base.path, usage)?;
    let nearest = base.path.ancestors().skip(1).find(|folder| folder.is_dir());
    if usage == Use::Preload && nearest.is_some_and(forbids_code) {
        anyhow::bail!("is mounted noexec");
    }
    let folder = bases::make(base, &format!("{sum:016x}"))?;
    // Where a link led elsewhere that is what the loader is told.
    suits(&folder, usage)?;
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

/// The bit of a mode by which anybody may read.
const READABLE: u32 = 0o004;

/// Whether the file is a plain one of a trusted owner, has these bits of a mode
/// at least, and holds these bytes.
fn is_same(path: &Path, bytes: &[u8], owners: &[u32], mode: u32) -> bool {
    let open = || -> io::Result<Option<Vec<u8>>> {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)?;
        let found = file.metadata()?;
        let trusted = found.is_file() && owners.contains(&found.uid()) && found.mode() & 0o002 == 0;
        let trusted = trusted && found.mode() & mode == mode;
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
    replace_for(OpenTo::Owner, path, bytes)
}

fn replace_for(open_to: OpenTo, path: &Path, bytes: &[u8]) -> io::Result<()> {
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
    let readable = match open_to {
        OpenTo::Owner => Ok(()),
        // A umask may have taken others' right.
        OpenTo::All => file.set_permissions(Permissions::from_mode(0o755)),
    };
    let written = readable
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| fs::rename(&fresh, path));
    if written.is_err() {
        // The error that is told is the first one.
        let _ = fs::remove_file(&fresh);
    }
    written
}
