//! What callers hand in and get back.

use std::path::PathBuf;
use std::sync::Arc;

use crate::machine::Machine;

/// A module as the log names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleSpec {
    /// The path at which the profiled process had it.
    pub path: Vec<u8>,
    /// Its build-id; empty if it had none, and then nothing can be checked.
    pub build_id: Vec<u8>,
}

/// Where to look, and how far to go.
#[derive(Clone, Debug)]
pub struct Options {
    /// Single files, of whichever modules they are.
    pub debug_files: Vec<PathBuf>,
    /// Folders asked next, for modules and for their debug files: `DIR/.build-id/xx/yyy.debug`,
    /// `DIR/xx/yyy.debug`, what caches of other tools have, and `DIR/TAIL[.debug]` for every tail of the module's path.
    pub debug_dirs: Vec<PathBuf>,
    /// Put before the path of every module and before [`Options::system_debug_dir`].
    pub sysroot: Option<PathBuf>,
    /// The distribution's folder of debug files, usually `/usr/lib/debug`.
    pub system_debug_dir: Option<PathBuf>,
    /// A cache as debuginfod's clients keep it, `DIR/ID/debuginfo` and `DIR/ID/executable`. It is
    /// asked last: opening a file of it may bring the file.
    pub last_dir: Option<PathBuf>,
    /// The machine that the modules ran on, where it is known: no other's file is theirs.
    pub machine: Option<Machine>,
    /// Whether to read debug information; without it only symbol tables serve.
    pub debug_info: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            debug_files: Vec::new(),
            debug_dirs: Vec::new(),
            sysroot: None,
            system_debug_dir: Some(PathBuf::from("/usr/lib/debug")),
            last_dir: None,
            machine: None,
            debug_info: true,
        }
    }
}

/// A module of one [`crate::Symbolizer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleHandle(pub(crate) usize);

/// The best that a module's files can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// Debug information: functions, files, lines, inlined callers.
    DebugInfo,
    /// A symbol table: functions.
    SymbolTable,
    /// Only the names of dynamic linking: exported functions.
    DynamicSymbols,
    /// Nothing at all.
    Nothing,
}

/// What was found for a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The file that was mapped, wherever it lies, if it is there and is the right one.
    pub file: Option<Vec<u8>>,
    /// A separate file of debug information.
    pub debug_file: Option<Vec<u8>>,
    /// The best source of names.
    pub names: NameSource,
    /// Whether the build-id of the log was compared with the file's, and is equal.
    pub verified: bool,
}

/// Whether a module has names, and if not, why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleStatus {
    /// Files were found.
    Ok(Loaded),
    /// No file; the sentence says which and why.
    Missing(String),
    /// The file at this path is another build. No name is taken from it.
    Rebuilt {
        /// The build-id the log has.
        expected: Vec<u8>,
        /// The build-id the file has; empty if it has none.
        found: Vec<u8>,
    },
    /// The file is no readable ELF file, or one for another machine; the sentence says what is
    /// wrong with it.
    Foreign(String),
}

/// One function at an address. Its texts are shared: the same few thousand come again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// The name for people.
    pub function: Option<Arc<str>>,
    /// The name in the file, before demangling.
    pub raw_name: Option<Arc<str>>,
    /// Distance from the start of the symbol that covers the address; never set on inlined frames.
    pub offset_in_symbol: Option<u64>,
    /// The source file.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// True if the next frame of the [`Lookup`] had this one inlined.
    pub inlined: bool,
}

/// The answer for one address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// Innermost first; empty if nothing is known. All but the last are inlined.
    pub frames: Vec<Frame>,
}
