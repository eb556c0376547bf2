//! Names addresses in any number of modules.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use crate::batch::lookup_all;
use crate::cached::{Cached, to_bytes};
use crate::ground::{Ground, Module};
use crate::lane::Lane;
use crate::module::{Lookup, ModuleHandle, ModuleSpec, ModuleStatus, Options};
use crate::source::{FileSource, Store};

/// Names addresses in any number of modules.
///
/// One thread asks it. Many addresses at once are looked up by several.
pub struct Symbolizer<'a, S> {
    store: &'a Store,
    source: S,
    options: Options,
    modules: Vec<Module<'a>>,
    handles: HashMap<ModuleSpec, ModuleHandle>,
    /// What threads have read and made; the first is that of single questions.
    lanes: RefCell<Vec<Lane<'a>>>,
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
            lanes: RefCell::new(vec![Lane::default()]),
        }
    }

    /// Whom it asks for files.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Finds the files of a module. The same module again gives the same handle.
    pub fn add_module(&mut self, spec: &ModuleSpec) -> ModuleHandle {
        if let Some(&handle) = self.handles.get(spec) {
            return handle;
        }
        let module = Module::find(spec, &self.ground());
        let handle = ModuleHandle(self.modules.len());
        self.modules.push(module);
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
        let module = self.modules.get(module.0);
        module.map_or_else(Vec::new, Module::notes)
    }

    /// The functions at an address of the ELF file's own address space (the run-time address
    /// less the load bias; for a caller, less one as well).
    pub fn lookup(&self, module: ModuleHandle, svma: u64) -> Lookup {
        let mut lanes = self.lanes.borrow_mut();
        lanes[0].lookup(&self.ground(), module, svma)
    }

    /// [`Symbolizer::lookup`] for many addresses, in the order of the questions, by as many
    /// threads as there are processors where that is worthwhile. What is not looked up when
    /// `is_over` says so has no answer.
    pub fn lookup_batch(
        &self,
        questions: &[(ModuleHandle, u64)],
        is_over: impl Fn() -> bool + Sync,
    ) -> Vec<Option<Lookup>>
    where
        S: Sync,
    {
        let mut lanes = self.lanes.borrow_mut();
        lookup_all(&self.ground(), &mut lanes, questions, &is_over)
    }

    /// The files that a module's names are of, and how much debug information it has.
    pub fn files(&self, module: ModuleHandle) -> (Vec<&[u8]>, u64) {
        self.modules
            .get(module.0)
            .map_or_else(Default::default, |module| {
                let files = module.files().map(|file| file.path.as_slice());
                (files.collect(), module.debug_info_bytes())
            })
    }

    /// Collects what is found in a module from now on. What [`Symbolizer::learned`] gave before,
    /// of the same files, has answers; anything else has others or none.
    pub fn remember(&mut self, module: ModuleHandle, learned: Option<Vec<u8>>) {
        let learned = learned.map(|bytes| self.store.keep_unpacked(bytes));
        if let Some(module) = self.modules.get_mut(module.0) {
            module.is_cached = true;
            module.cached = learned.and_then(Cached::of);
        }
    }

    /// All that is known of a module if it has grown: what was remembered, and what was found.
    /// Nothing where something is wrong with its files, or where they are not all of
    /// [`Symbolizer::files`].
    pub fn learned(&self, module: ModuleHandle) -> Option<Vec<u8>> {
        let lanes = self.lanes.borrow();
        let fresh = lanes.iter().flat_map(|lane| lane.fresh(module));
        let mut all: BTreeMap<u64, Lookup> = fresh.map(|(at, it)| (at, it.clone())).collect();
        let known = self.modules.get(module.0)?;
        if all.is_empty() || !known.is_whole() {
            return None;
        }
        all.extend(known.cached.iter().flat_map(Cached::all));
        to_bytes(&all)
    }

    fn ground(&self) -> Ground<'_, 'a, S> {
        Ground {
            store: self.store,
            source: &self.source,
            options: &self.options,
            modules: &self.modules,
        }
    }
}
