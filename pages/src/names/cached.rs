//! Names of code, of which those that took long to find are kept in the user's cache.
//!
//! A program with much debug information takes a good part of a second before the first of its
//! names is known, at each command. So what was found there is kept, by the build-id and by the
//! very files that it was found in: names of a debug file that came later are better. A file
//! that is damaged, of another version or of somebody else is made anew.
//!
//! ```text
//! magic, the last byte of it the version    8
//! checksum of all that follows              8
//! length of the key; the key                4 + n
//! what `Symbolizer::learned` gave
//! ```

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use memlog_format::chunk::checksum;
use memlog_symbols::{
    Bytes, FileSource, Lookup, ModuleHandle, ModuleSpec, ModuleStatus, Options, Store, Symbolizer,
};

use super::debuginfod::Debuginfod;
use crate::open::{is_trusted, keep, map_known};

const MAGIC: [u8; 8] = *b"mlnames\x01";
const HEAD: usize = MAGIC.len() + 8;
/// No file of names is larger.
const MOST_BYTES: u64 = 64 << 20;
/// Nor are all of them together; the oldest go.
const MOST_BYTES_OF_ALL: u64 = 256 << 20;
const ENDING: &str = "names";

/// The files of this machine, and those that its client of debuginfod brings.
struct Source {
    debuginfod: Option<Debuginfod>,
    /// What tells those that were opened from any others.
    opened: Mutex<HashMap<Vec<u8>, [u64; 7]>>,
}

impl FileSource for Source {
    fn open(&self, path: &[u8]) -> io::Result<Bytes> {
        let file = Path::new(OsStr::from_bytes(path));
        if let Some(debuginfod) = &self.debuginfod {
            debuginfod.bring(file)?;
        }
        let (bytes, metadata) = map_known(file)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.insert(path.to_vec(), identity(&metadata));
        Ok(Arc::new(bytes))
    }
}

/// Another file differs in this, and so does the same one once somebody has written to it.
fn identity(file: &Metadata) -> [u64; 7] {
    [
        file.dev(),
        file.ino(),
        file.size(),
        file.mtime() as u64,
        file.mtime_nsec() as u64,
        file.ctime() as u64,
        file.ctime_nsec() as u64,
    ]
}

/// Where names are kept, and of what.
#[derive(Clone, Debug)]
pub struct Keeping {
    /// Nothing: nowhere.
    pub folder: Option<PathBuf>,
    /// Bytes of debug information from which on it is worthwhile.
    pub from_bytes: u64,
}

/// Names addresses.
pub struct CachedSymbols<'s> {
    symbolizer: Symbolizer<'s, Source>,
    reads_debug_info: bool,
    keeping: Keeping,
    /// Those that are worthwhile.
    modules: Vec<Kept>,
}

/// Where the names of a module are kept.
struct Kept {
    module: ModuleHandle,
    place: PathBuf,
    key: Vec<u8>,
}

impl<'s> CachedSymbols<'s> {
    pub fn new(store: &'s Store, options: Options, keeping: Keeping) -> Self {
        let source = Source {
            debuginfod: options.last_dir.clone().map(Debuginfod::new),
            opened: Mutex::default(),
        };
        Self {
            reads_debug_info: options.debug_info,
            symbolizer: Symbolizer::new(store, source, options),
            keeping,
            modules: Vec::new(),
        }
    }

    /// Reads and writes no cache.
    pub fn leave_cache(&mut self) {
        self.keeping.folder = None;
    }

    /// See [`Symbolizer::add_module`]. What was kept of it is known from now on.
    pub fn add_module(&mut self, spec: &ModuleSpec) -> ModuleHandle {
        let module = self.symbolizer.add_module(spec);
        let is_known = self.modules.iter().any(|kept| kept.module == module);
        if !is_known && let Some(kept) = self.kept(module, spec) {
            let learned = found(&kept.place, &kept.key);
            self.symbolizer.remember(module, learned);
            self.modules.push(kept);
        }
        module
    }

    /// What was found for a module.
    pub fn status(&self, module: ModuleHandle) -> &ModuleStatus {
        self.symbolizer.status(module)
    }

    /// See [`Symbolizer::refused`].
    pub fn refused(&self, module: ModuleHandle) -> &[String] {
        self.symbolizer.refused(module)
    }

    /// See [`Symbolizer::lookup`].
    pub fn lookup(&self, module: ModuleHandle, svma: u64) -> Lookup {
        self.symbolizer.lookup(module, svma)
    }

    /// See [`Symbolizer::lookup_batch`].
    pub fn lookup_batch(
        &self,
        questions: &[(ModuleHandle, u64)],
        is_over: impl Fn() -> bool + Sync,
    ) -> Vec<Option<Lookup>> {
        self.symbolizer.lookup_batch(questions, is_over)
    }

    /// Where names of a module are kept, if they are.
    fn kept(&self, module: ModuleHandle, spec: &ModuleSpec) -> Option<Kept> {
        let folder = self.keeping.folder.as_ref()?;
        let is_verified = match self.status(module) {
            ModuleStatus::Ok(loaded) => loaded.verified,
            _ => false,
        };
        let (files, debug_info_bytes) = self.symbolizer.files(module);
        if !is_verified || debug_info_bytes < self.keeping.from_bytes {
            return None;
        }
        let mut key = Vec::new();
        put(&mut key, env!("CARGO_PKG_VERSION").as_bytes());
        put(&mut key, &spec.build_id);
        key.push(u8::from(self.reads_debug_info));
        let opened = &self.symbolizer.source().opened;
        let opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
        for path in files {
            put(&mut key, path);
            let identity = opened.get(path)?;
            key.extend(identity.iter().flat_map(|word| word.to_le_bytes()));
        }
        let id = spec.build_id.iter().take(20);
        let id: String = id.map(|byte| format!("{byte:02x}")).collect();
        let name = format!("{id}-{:016x}.{ENDING}", checksum(&key));
        Some(Kept {
            module,
            place: folder.join(name),
            key,
        })
    }

    /// Writes what is new. Where that does not go there is no cache.
    fn keep(&self) -> io::Result<()> {
        for kept in &self.modules {
            let Some(learned) = self.symbolizer.learned(kept.module) else {
                continue;
            };
            let bytes = sealed(&kept.key, &learned);
            if bytes.len() as u64 > MOST_BYTES {
                continue;
            }
            if let Some(folder) = kept.place.parent() {
                DirBuilder::new()
                    .recursive(true)
                    .mode(0o700)
                    .create(folder)?;
                make_room(folder, bytes.len() as u64, MOST_BYTES_OF_ALL);
            }
            keep(&kept.place, &bytes)?;
        }
        Ok(())
    }
}

impl Drop for CachedSymbols<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // Nothing is lost but time.
            let _ = self.keep();
        }
    }
}

/// A text of any length, told from what follows.
fn put(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// A file of names.
fn sealed(key: &[u8], learned: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; HEAD];
    bytes.extend((key.len() as u32).to_le_bytes());
    bytes.extend(key);
    bytes.extend(learned);
    let sum = checksum(&bytes[HEAD..]);
    bytes[..MAGIC.len()].copy_from_slice(&MAGIC);
    bytes[MAGIC.len()..HEAD].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// What was kept at a place with this key.
fn found(place: &Path, key: &[u8]) -> Option<Vec<u8>> {
    if !is_trusted(place, None) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(place).ok()?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    unsealed(bytes, key)
}

fn unsealed(mut bytes: Vec<u8>, key: &[u8]) -> Option<Vec<u8>> {
    let (head, rest) = bytes.split_at_checked(HEAD)?;
    let sum = head.strip_prefix(&MAGIC)?;
    if sum != checksum(rest).to_le_bytes() {
        return None;
    }
    let (length, rest) = rest.split_first_chunk()?;
    let (found, learned) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    if found != key {
        return None;
    }
    let at = bytes.len() - learned.len();
    bytes.drain(..at);
    Some(bytes)
}

/// Removes files of names, the oldest first, until so many bytes have room below a limit.
fn make_room(folder: &Path, bytes: u64, most: u64) {
    let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.extension() == Some(OsStr::new(ENDING))
            && let Ok(file) = entry.metadata()
        {
            let changed = file.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            files.push((changed, file.len(), path));
        }
    }
    files.sort();
    let mut all = files
        .iter()
        .fold(bytes, |all, (_, length, _)| all.saturating_add(*length));
    for (_, length, path) in files {
        if all <= most {
            return;
        }
        if fs::remove_file(path).is_ok() {
            all = all.saturating_sub(length);
        }
    }
}

#[cfg(test)]
mod tests;
