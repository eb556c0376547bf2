//! What all threads of a symbolizer share: the modules, and what is read of them once.

use object::read::{Object, ObjectSection};

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::cached::Cached;
use crate::dwarf::DebugInfo;
use crate::elf_file::ElfFile;
use crate::finder::{Files, Finder};
use crate::module::{ModuleSpec, ModuleStatus, Options};
use crate::paths;
use crate::source::{FileSource, Store};
use crate::split::Split;
use crate::symtab::SymbolTable;

/// Files are opened when a module is added; what is in them is read at the first question.
pub(crate) struct Module<'a> {
    pub status: ModuleStatus,
    files: Files<'a>,
    pub refused: Vec<String>,
    notes: Mutex<Vec<String>>,
    debug_info: OnceLock<Option<DebugInfo<'a>>>,
    symbols: OnceLock<SymbolTable<'a>>,
    /// Answers of before, if the caller keeps them.
    pub cached: Option<Cached<'a>>,
    /// Whether new ones are collected.
    pub is_cached: bool,
}

/// What all threads of a symbolizer ask.
pub(crate) struct Ground<'s, 'a, S> {
    pub store: &'a Store,
    pub source: &'s S,
    pub options: &'s Options,
    pub modules: &'s [Module<'a>],
}

impl<'a> Module<'a> {
    /// Finds the files of a module.
    pub(crate) fn find<S: FileSource>(spec: &ModuleSpec, ground: &Ground<'_, 'a, S>) -> Self {
        let mut finder = Finder {
            source: ground.source,
            store: ground.store,
            options: ground.options,
            notes: Vec::new(),
            refused: Vec::new(),
        };
        let (status, files) = finder.find(spec);
        Self {
            status,
            files,
            refused: finder.refused,
            notes: Mutex::new(finder.notes),
            debug_info: OnceLock::new(),
            symbols: OnceLock::new(),
            cached: None,
            is_cached: false,
        }
    }

    /// See [`crate::Symbolizer::notes`].
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = self.own_notes().clone();
        let debug_info = self.debug_info.get().into_iter().flatten();
        notes.extend(debug_info.flat_map(DebugInfo::notes));
        notes
    }

    /// The files that names are of.
    pub(crate) fn files(&self) -> impl Iterator<Item = &ElfFile<'a>> {
        let files = &self.files;
        let all = [&files.module, &files.debug, &files.common];
        all.into_iter().flatten()
    }

    /// Whether all answers came from [`Module::files`], and nothing was wrong with those.
    pub(crate) fn is_whole(&self) -> bool {
        let debug_info = self.debug_info.get().and_then(Option::as_ref);
        self.notes().is_empty() && debug_info.is_none_or(|debug| !debug.is_split())
    }

    /// Bytes of its debug information, as they lie in the file.
    pub(crate) fn debug_info_bytes(&self) -> u64 {
        let section = self.files.debug_info();
        let section = section.and_then(|image| image.elf.section_by_name(".debug_info"));
        let range = section.and_then(|section| section.compressed_file_range().ok());
        range.map_or(0, |range| range.uncompressed_size)
    }

    fn own_notes(&self) -> MutexGuard<'_, Vec<String>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn symbols(&self) -> &SymbolTable<'a> {
        self.symbols.get_or_init(|| {
            let files = &self.files;
            let images: Vec<&ElfFile<'a>> = [&files.debug, &files.module]
                .into_iter()
                .flatten()
                .collect();
            SymbolTable::new(&images, files.mini.as_ref())
        })
    }

    pub(crate) fn debug_info<S>(&self, ground: &Ground<'_, 'a, S>) -> Option<&DebugInfo<'a>> {
        let options = ground.options;
        let open = || {
            if !options.debug_info {
                return None;
            }
            let files = &self.files;
            let images = [&files.module, &files.debug].into_iter().flatten();
            let mut beside: Vec<_> = images.map(|image| image.path.clone()).collect();
            // Split files may have come along in the folders that the caller names.
            let names: Vec<_> = beside
                .iter()
                .map(|path| paths::name(path).to_vec())
                .collect();
            for dir in options.debug_dirs.iter().map(|dir| paths::bytes(dir)) {
                beside.extend(names.iter().map(|name| paths::below(dir, name)));
            }
            let sysroot = options.sysroot.as_deref();
            let sysroot = sysroot.map(paths::bytes).unwrap_or_default();
            let split = Split::new(ground.store, beside, sysroot.to_vec());
            DebugInfo::open(
                files.debug_info()?,
                files.common.as_ref(),
                split,
                ground.store,
                &mut self.own_notes(),
            )
        };
        self.debug_info.get_or_init(open).as_ref()
    }
}
