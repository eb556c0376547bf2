//! Names for addresses: (module, address in the file) -> function, file, line, inlined callers.
//!
//! What this crate is: the last step of a report, done only for the addresses that are shown.
//! What it is not: it opens no file, runs no program and asks no network. Bytes come from a
//! [`FileSource`] given by the caller, and are kept in a [`Store`] that outlives the
//! [`Symbolizer`], so that a mapped file is never copied.
//!
//! ```
//! # use memlog_symbols::{Bytes, ModuleSpec, Options, Store, Symbolizer};
//! let source = |path: &[u8]| -> std::io::Result<Bytes> {
//!     # use std::os::unix::ffi::OsStrExt;
//!     let path = std::path::Path::new(std::ffi::OsStr::from_bytes(path));
//!     Ok(std::sync::Arc::new(std::fs::read(path)?))
//! };
//! let store = Store::new();
//! let mut symbols = Symbolizer::new(&store, source, Options::default());
//! let module = symbols.add_module(&ModuleSpec { path: b"/bin/true".to_vec(), build_id: vec![] });
//! for frame in symbols.lookup(module, 0x1234).frames {
//!     println!("{:?} {:?}:{:?}", frame.function, frame.file, frame.line);
//! }
//! ```
//!
//! Who does what:
//! - `source` and `module`: what callers hand in and get back;
//! - `finder`: which files hold the names of a module (build-id, debuglink, dwz, minidebuginfo);
//! - `given`: where to look for them among the files and folders that the caller names;
//! - `machine`: for which machine a file is;
//! - `elf_file`: one ELF file, its sections unpacked, with limits;
//! - `dwarf`, `units`, `split`: the debug information, through addr2line and gimli;
//! - `symtab`, `opd`: the symbol table, and the function descriptors of ppc64 ELFv1;
//! - `demangle`: Rust, C++, Fortran; compiler's clone suffixes are dropped from a name;
//! - `ground`: the modules, and what is read of them once for all threads;
//! - `lane`: joins them, for one thread;
//! - `batch`: many addresses, by several threads;
//! - `cached`: answers of before, as bytes that a caller keeps;
//! - `symbolizer`: what is asked, for any number of modules;
//! - `made_code`: names of code made at run time, from perf's maps and jitdump;
//! - `unwindable`: who made a file's code, and how much of it has unwind tables.
//!
//! A file may be hostile: nothing here panics, inlined functions nest at most 256 deep, unpacked
//! sections are bounded by the packed size, and names by [`MAX_RAW_NAME`] and
//! [`MAX_DEMANGLED_NAME`]. One thing is not bounded: a crafted file whose functions all share one
//! very long range list costs time and memory beyond its size.
//!
//! Known limits: cpp_demangle 0.5 drops the first parameter of templated constructors and prints
//! some parameter packs short; where it fails altogether the name is built from the debug
//! information. A bare name whose declaration lies in another unit (LTO, dwz) stays unqualified.
#![forbid(unsafe_code)]

mod batch;
mod cached;
mod demangle;
mod dwarf;
mod elf_file;
mod finder;
mod given;
mod ground;
mod intervals;
mod lane;
mod machine;
mod made_code;
mod minidebug;
mod module;
mod opd;
mod paths;
mod source;
mod split;
mod symbolizer;
mod symtab;
mod units;
mod unwindable;

pub use demangle::{Hint, MAX_DEMANGLED_NAME, MAX_RAW_NAME, demangle, without_marks};
pub use machine::Machine;
pub use made_code::{MadeCode, MadeNames};
pub use module::{
    Frame, Loaded, Lookup, ModuleHandle, ModuleSpec, ModuleStatus, NameSource, Options,
};
pub use source::{Bytes, FileSource, Store};
pub use symbolizer::Symbolizer;
pub use unwindable::{Compiler, Unwindable};
