//! Joins the addresses of an analysis with the names of the programs' files.

mod debuginfod;
mod jit;
mod labels;
mod remarks;
mod symbol_files;

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

pub use memlog_analysis::Name;
use memlog_analysis::{ModuleKey, Site};
use memlog_read::Log;
use memlog_symbols::{Bytes, FileSource, ModuleHandle, ModuleSpec, Options, Store, Symbolizer};

use crate::open::{Over, map};
use crate::words::clean;
use debuginfod::Debuginfod;
pub use jit::{found as jit_names, may_be as may_have_jit_names};
pub use labels::{Cursor, Labels};
use remarks::Remarks;
pub use symbol_files::{SymbolFiles, machine, options as symbol_options, words as symbol_words};

/// The files of this machine, and those that its client of debuginfod brings.
struct Source(Option<Debuginfod>);

impl FileSource for Source {
    fn open(&self, path: &[u8]) -> io::Result<Bytes> {
        let path = Path::new(OsStr::from_bytes(path));
        if let Some(debuginfod) = &self.0 {
            debuginfod.bring(path)?;
        }
        Ok(Arc::new(map(path)?))
    }
}

/// Where the files of names stay while [`Names`] is in use.
#[derive(Default)]
pub struct NameStore(Store);

/// The symbol at an address, as the linker has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, not demangled.
    pub name: String,
    /// Distance from its start to the address.
    pub offset: u64,
}

/// Names for addresses.
pub struct Names<'s> {
    symbolizer: Symbolizer<'s, Source>,
    handles: HashMap<ModuleSpec, ModuleHandle>,
    /// Of code in no file, by the address that is looked up.
    made: HashMap<u64, Name>,
    remarks: Remarks,
    /// From when on no more are looked up.
    over: Over,
    was_cut_short: bool,
}

/// What is said where Ctrl-C came before the last name was found.
const CUT_SHORT: &str = "Ctrl-C ended the look-up of names: functions that were not looked up yet \
                         are shown as module and offset";

impl<'s> Names<'s> {
    /// Knows nothing yet. A log says what machine its programs are for.
    /// What run-time compilers wrote down is in the log, or still beside it.
    pub fn new(store: &'s NameStore, options: &Options, log: &Log, file: &Path) -> Self {
        let options = Options {
            // None where the recorder did not know.
            machine: log
                .start()
                .map(machine)
                .filter(|machine| machine.number != 0),
            ..options.clone()
        };
        let debuginfod = options.last_dir.clone().map(Debuginfod::new);
        Self {
            remarks: Remarks::new(&options),
            symbolizer: Symbolizer::new(&store.0, Source(debuginfod), options),
            handles: HashMap::new(),
            made: made_names(log, file),
            over: Over::default(),
            was_cut_short: false,
        }
    }

    /// Looks no more up after Ctrl-C.
    pub fn until(self, over: Over) -> Self {
        Self { over, ..self }
    }

    /// What to say where names are missing because Ctrl-C came.
    pub fn cut_short(&self) -> Option<&'static str> {
        self.was_cut_short.then_some(CUT_SHORT)
    }

    /// The functions at a site, the innermost first; always at least one.
    pub fn of(&mut self, site: &Site, module: Option<&ModuleKey>) -> Vec<Name> {
        let Some(module) = module else {
            let looked_up = site.address.wrapping_sub(u64::from(!site.exact));
            if let Some(name) = self.made.get(&looked_up) {
                return vec![name.clone()];
            }
            return vec![Name {
                function: format!("{:#x}", site.address),
                location: None,
                module: None,
            }];
        };
        if self.over.is_set() {
            self.was_cut_short = true;
            return vec![offset_name(site, module)];
        }
        let handle = self.handle(module);
        let lookup = self.symbolizer.lookup(handle, in_file(site, module));
        let names = lookup.frames.into_iter().filter_map(|frame| {
            let location = frame.file.map(|file| match frame.line {
                Some(line) => format!("{}:{line}", clean(file.as_bytes())),
                None => clean(file.as_bytes()),
            });
            Some(Name {
                function: clean(frame.function?.as_bytes()),
                location,
                module: Some(base_name(module)),
            })
        });
        let names: Vec<_> = names.collect();
        match names.is_empty() {
            false => names,
            true => vec![offset_name(site, module)],
        }
    }

    /// The symbol that covers a site, the inlined functions left out.
    pub fn symbol(&mut self, site: &Site, module: &ModuleKey) -> Option<Symbol> {
        let handle = self.handle(module);
        let lookup = self.symbolizer.lookup(handle, in_file(site, module));
        let frame = lookup.frames.into_iter().last()?;
        let name = frame.raw_name.or(frame.function)?;
        // The look-up was made one byte before a return address.
        let before = u64::from(!site.exact);
        Some(Symbol {
            name: clean(name.as_bytes()),
            offset: frame.offset_in_symbol? + before,
        })
    }

    /// What is wrong with the modules asked for so far: a sentence each.
    pub fn remarks(&self) -> impl Iterator<Item = &str> {
        self.remarks.all()
    }

    fn handle(&mut self, module: &ModuleKey) -> ModuleHandle {
        let spec = ModuleSpec {
            path: module.path.clone(),
            build_id: module.build_id.clone(),
        };
        if let Some(&handle) = self.handles.get(&spec) {
            return handle;
        }
        let handle = self.symbolizer.add_module(&spec);
        let status = self.symbolizer.status(handle);
        self.remarks
            .add(&spec, status, self.symbolizer.refused(handle));
        self.handles.insert(spec, handle);
        handle
    }
}

/// Names of code that the program made at run time.
fn made_names(log: &Log, file: &Path) -> HashMap<u64, Name> {
    let name = |name: &[u8], file: &[u8], line: u32| Name {
        function: clean(name),
        location: (!file.is_empty()).then(|| format!("{}:{line}", clean(file))),
        module: None,
    };
    let kept = log.code_names().iter();
    let kept = kept.map(|code| (code.address, name(code.name, code.file, code.line)));
    let mut names: HashMap<u64, Name> = kept.collect();
    if names.is_empty()
        && log.codes_of_no_file().next().is_some()
        && let Some(found) = jit::found(log, file)
    {
        let found = found.all();
        names.extend(found.map(|(at, made)| (at, name(&made.name, &made.file, made.line))));
    }
    names
}

/// The address to look up, in the file's own numbering.
fn in_file(site: &Site, module: &ModuleKey) -> u64 {
    let before = u64::from(!site.exact);
    site.address.wrapping_sub(before).wrapping_sub(module.bias)
}

fn offset_name(site: &Site, module: &ModuleKey) -> Name {
    let offset = site.address.wrapping_sub(module.bias);
    Name {
        function: format!("{}+{offset:#x}", base_name(module)),
        location: None,
        module: None,
    }
}

fn base_name(module: &ModuleKey) -> String {
    let path = &module.path;
    let name = path.rsplit(|&byte| byte == b'/').next();
    clean(name.unwrap_or(path))
}
