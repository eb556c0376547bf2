//! Joins what debug information and symbol tables say of an address.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use crate::demangle::{self, Hint, MAX_RAW_NAME, Outcome};
use crate::dwarf::{self, DebugInfo, RawFrame};
use crate::elf_file::ElfFile;
use crate::finder::{Files, Finder};
use crate::module::{Frame, Lookup, ModuleHandle, ModuleSpec, ModuleStatus, Options};
use crate::paths;
use crate::source::{FileSource, Store};
use crate::split::Split;
use crate::symtab::{self, SymbolTable};

/// Names addresses in any number of modules.
///
/// It is meant for one thread: for more, give each thread a [`Store`], a `Symbolizer` and some of
/// the modules.
pub struct Symbolizer<'a, S> {
    store: &'a Store,
    source: S,
    options: Options,
    modules: Vec<Module<'a>>,
    handles: HashMap<ModuleSpec, ModuleHandle>,
    /// The same few thousand names come back at every address.
    names: RefCell<HashMap<(&'a [u8], Hint), Outcome>>,
}

/// Files are opened when a module is added; what is in them is read at the first question.
struct Module<'a> {
    status: ModuleStatus,
    files: Files<'a>,
    refused: Vec<String>,
    notes: RefCell<Vec<String>>,
    debug_info: OnceCell<Option<DebugInfo<'a>>>,
    symbols: OnceCell<SymbolTable<'a>>,
}

impl<'a, S: FileSource> Symbolizer<'a, S> {
    /// A symbolizer that knows no module yet.
    pub fn new(store: &'a Store, source: S, options: Options) -> Self {
        Self {
            store,
            source,
            options,
            modules: Vec::new(),
            handles: HashMap::new(),
            names: RefCell::default(),
        }
    }

    /// Finds the files of a module. The same module again gives the same handle.
    pub fn add_module(&mut self, spec: &ModuleSpec) -> ModuleHandle {
        if let Some(&handle) = self.handles.get(spec) {
            return handle;
        }
        let mut finder = Finder {
            source: &self.source,
            store: self.store,
            options: &self.options,
            notes: Vec::new(),
            refused: Vec::new(),
        };
        let (status, files) = finder.find(spec);
        let handle = ModuleHandle(self.modules.len());
        self.modules.push(Module {
            status,
            files,
            refused: finder.refused,
            notes: RefCell::new(finder.notes),
            debug_info: OnceCell::new(),
            symbols: OnceCell::new(),
        });
        self.handles.insert(spec.clone(), handle);
        handle
    }

    /// What was found for a module.
    ///
    /// # Panics
    /// If the handle is another symbolizer's and has no counterpart here.
    pub fn status(&self, module: ModuleHandle) -> &ModuleStatus {
        &self.modules[module.0].status
    }

    /// Why files of [`Options::debug_files`] and [`Options::debug_dirs`] that look like the module's
    /// were not taken: a sentence each.
    pub fn refused(&self, module: ModuleHandle) -> &[String] {
        let module = self.modules.get(module.0);
        module.map_or(&[], |module| &module.refused)
    }

    /// What a reader of the report may want to know besides: files refused, damaged or absent.
    /// It grows with the questions asked.
    pub fn notes(&self, module: ModuleHandle) -> Vec<String> {
        let Some(module) = self.modules.get(module.0) else {
            return Vec::new();
        };
        let mut notes = module.notes.borrow().clone();
        notes.extend(
            module
                .debug_info
                .get()
                .into_iter()
                .flatten()
                .flat_map(DebugInfo::notes),
        );
        notes
    }

    /// The functions at an address of the ELF file's own address space (the run-time address
    /// less the load bias; for a caller, less one as well).
    pub fn lookup(&self, module: ModuleHandle, svma: u64) -> Lookup {
        let Some(module) = self.modules.get(module.0) else {
            return Lookup::default();
        };
        let symbols = self.symbols(module);
        let symbol = symbols.find(svma);
        let hint = if symbols.fortran {
            Hint::Fortran
        } else {
            Hint::Unknown
        };
        let debug_info = self.debug_info(module);
        let raw = debug_info
            .map(|debug| debug.frames(&self.source, svma))
            .unwrap_or_default();
        let inlined = raw.len().saturating_sub(1);
        let mut frames: Vec<_> = raw
            .into_iter()
            .enumerate()
            .map(|(index, raw)| Frame {
                function: debug_info.and_then(|debug| self.function(debug, svma, &raw)),
                raw_name: raw.name.map(text),
                offset_in_symbol: None,
                file: raw.file,
                line: raw.line,
                inlined: index < inlined,
            })
            .collect();
        if let Some(symbol) = symbol {
            if frames.is_empty() {
                frames.push(Frame::default());
            }
            if let Some(outermost) = frames.last_mut() {
                self.complete(outermost, &symbol, hint);
            }
        }
        Lookup { frames }
    }

    /// [`Symbolizer::lookup`] for many addresses of a module; the answers are in their order.
    /// Cheapest if they are sorted: equal neighbours are looked up once.
    pub fn lookup_batch(&self, module: ModuleHandle, svmas: &[u64]) -> Vec<Lookup> {
        let mut found: Vec<Lookup> = Vec::with_capacity(svmas.len());
        for (index, &svma) in svmas.iter().enumerate() {
            let again = index > 0 && svmas[index - 1] == svma;
            let lookup = if again {
                found[index - 1].clone()
            } else {
                self.lookup(module, svma)
            };
            found.push(lookup);
        }
        found
    }

    /// What the symbol table adds to the outermost function.
    fn complete(&self, frame: &mut Frame, symbol: &symtab::Found<'a>, hint: Hint) {
        frame.offset_in_symbol = Some(symbol.offset);
        let symbol_name = text(symbol.name);
        // GCC leaves the linkage name out for what only one file can see, and rustc does where
        // it writes lines alone; the symbol has it.
        let raw = frame.raw_name.as_deref();
        let bare = raw.is_some_and(|raw| is_bare_name_of(raw, &symbol_name));
        if frame.function.is_none() || bare {
            frame.function = Some(match self.outcome(symbol.name, hint) {
                Outcome::Named(name) => name,
                Outcome::Failed if bare => return,
                Outcome::Plain | Outcome::Failed => symbol_name.clone(),
            });
            frame.raw_name = Some(symbol_name);
        }
    }

    /// The name of a function in debug information. It may be mangled or bare; bare names of
    /// languages with scopes are qualified.
    fn function(&self, debug: &DebugInfo<'a>, svma: u64, frame: &RawFrame<'a>) -> Option<String> {
        let raw = frame.name?;
        let fortran = dwarf::is_fortran(frame.language);
        let hint = if fortran {
            Hint::Fortran
        } else {
            Hint::Unknown
        };
        let qualified = || debug.qualified(&self.source, svma, frame);
        let name = match self.outcome(raw, hint) {
            Outcome::Named(name) if fortran => qualified().or(Some(name)),
            Outcome::Named(name) => Some(name),
            Outcome::Plain if !dwarf::has_scopes(frame.language) => None,
            Outcome::Plain | Outcome::Failed => qualified(),
        };
        Some(name.unwrap_or_else(|| text(raw)))
    }

    fn outcome(&self, raw: &'a [u8], hint: Hint) -> Outcome {
        let outcome = || demangle::outcome(&String::from_utf8_lossy(raw), hint);
        self.names
            .borrow_mut()
            .entry((raw, hint))
            .or_insert_with(outcome)
            .clone()
    }

    fn symbols<'m>(&self, module: &'m Module<'a>) -> &'m SymbolTable<'a> {
        module.symbols.get_or_init(|| {
            let files = &module.files;
            let images: Vec<&ElfFile<'a>> = [&files.debug, &files.module]
                .into_iter()
                .flatten()
                .collect();
            SymbolTable::new(&images, files.mini.as_ref())
        })
    }

    fn debug_info<'m>(&self, module: &'m Module<'a>) -> Option<&'m DebugInfo<'a>> {
        let open = || {
            if !self.options.debug_info {
                return None;
            }
            let files = &module.files;
            let images = [&files.module, &files.debug].into_iter().flatten();
            let mut beside: Vec<_> = images.map(|image| image.path.clone()).collect();
            // Split files may have come along in the folders that the caller names.
            let names: Vec<_> = beside
                .iter()
                .map(|path| paths::name(path).to_vec())
                .collect();
            for dir in self.options.debug_dirs.iter().map(|dir| paths::bytes(dir)) {
                beside.extend(names.iter().map(|name| paths::below(dir, name)));
            }
            let sysroot = self
                .options
                .sysroot
                .as_deref()
                .map(paths::bytes)
                .unwrap_or_default();
            let split = Split::new(self.store, beside, sysroot.to_vec());
            let mut notes = module.notes.borrow_mut();
            DebugInfo::open(
                files.debug_info()?,
                files.common.as_ref(),
                split,
                self.store,
                &mut notes,
            )
        };
        module.debug_info.get_or_init(open).as_ref()
    }
}

/// Whether a name is that of a symbol without what stands around it: `take`, or rustc's
/// `take<u8>` and `{closure#2}`, of which symbols have neither types nor numbers.
fn is_bare_name_of(raw: &str, symbol: &str) -> bool {
    let name = raw.split('<').next().unwrap_or(raw);
    let name = match name.strip_prefix('{') {
        Some(made) => made.split(['#', '}', '_']).next().unwrap_or(made),
        None => name.trim_start_matches('~'),
    };
    let is_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
    !raw.starts_with('_') && is_mangled && !name.is_empty() && symbol.contains(name)
}

/// A name as text, cut if it is absurd.
fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(&raw[..raw.len().min(MAX_RAW_NAME)]).into_owned()
}
