//! Names addresses in any number of modules.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::ground::{Ground, Module};
use crate::lane::Lane;
use crate::module::{Lookup, ModuleHandle, ModuleSpec, ModuleStatus, Options};
use crate::source::{FileSource, Store};

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

    fn ground(&self) -> Ground<'_, 'a, S> {
        Ground {
            store: self.store,
            source: &self.source,
            options: &self.options,
            modules: &self.modules,
        }
    }
}
