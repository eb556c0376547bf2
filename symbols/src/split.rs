//! Split DWARF: the part of the debug information that the linker never saw, in a package
//! (`FILE.dwp`) or in one `.dwo` file a unit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use addr2line::SplitDwarfLoad;
use gimli::{DwarfPackage, UnitRef};

use crate::elf_file::ElfFile;
use crate::paths;
use crate::source::{FileSource, Store};
use crate::units::{Slice, Unit};

/// So many missing files are named in the notes.
const MAX_NOTES: usize = 8;

pub(crate) struct Split<'a> {
    store: &'a Store,
    /// Where a package may lie: beside the module, beside its debug file.
    packages: Vec<Vec<u8>>,
    /// Where a `.dwo` may have been moved to: the folders of those.
    sysroot: Vec<u8>,
    package: OnceLock<Option<DwarfPackage<Slice<'a>>>>,
    notes: Mutex<Vec<String>>,
    /// Whether any unit has a part elsewhere.
    is_asked: AtomicBool,
}

impl<'a> Split<'a> {
    pub(crate) fn new(store: &'a Store, beside: Vec<Vec<u8>>, sysroot: Vec<u8>) -> Self {
        let notes = Mutex::default();
        Self {
            store,
            packages: beside,
            sysroot,
            package: OnceLock::new(),
            notes,
            is_asked: AtomicBool::new(false),
        }
    }

    /// Whether what was asked so far hangs on files of which only units tell.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    pub(crate) fn notes(&self) -> Vec<String> {
        self.notes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The rest of a unit, if it can be found.
    pub(crate) fn load(
        &self,
        source: &impl FileSource,
        wanted: &SplitDwarfLoad<Slice<'a>>,
    ) -> Option<Arc<gimli::Dwarf<Slice<'a>>>> {
        self.is_asked.store(true, Ordering::Relaxed);
        let package = self.package.get_or_init(|| self.open_package(source));
        let packed = package
            .as_ref()
            .and_then(|p| p.find_cu(wanted.dwo_id, &wanted.parent).ok()?);
        let found = packed.or_else(|| self.open_dwo(source, wanted));
        if found.is_none() {
            let name = wanted.path.map(|path| path.to_string_lossy().into_owned());
            self.note(format!(
                "the split debug information {} was not found: its functions have no lines",
                name.unwrap_or_default()
            ));
        }
        found.filter(is_safe).map(Arc::new)
    }

    fn open_package(&self, source: &impl FileSource) -> Option<DwarfPackage<Slice<'a>>> {
        self.packages.iter().find_map(|path| {
            let image = self.open(source, paths::with_suffix(path, b".dwp"))?;
            let empty = Slice::new(&[], image.endian());
            let mut notes = Vec::new();
            let package = DwarfPackage::load(
                |id| {
                    let name = id.dwo_name().unwrap_or_default();
                    Ok::<_, gimli::Error>(image.reader(name, self.store, &mut notes))
                },
                empty,
            );
            notes.into_iter().for_each(|note| self.note(note));
            package.ok()
        })
    }

    fn open_dwo(
        &self,
        source: &impl FileSource,
        wanted: &SplitDwarfLoad<Slice<'a>>,
    ) -> Option<gimli::Dwarf<Slice<'a>>> {
        let path = wanted.path?.slice();
        let compiled_in = wanted.comp_dir.map(|dir| dir.slice()).unwrap_or_default();
        let mut recorded = paths::join(compiled_in, path);
        if !self.sysroot.is_empty() {
            recorded = paths::below(&self.sysroot, &recorded);
        }
        let beside = self
            .packages
            .iter()
            .map(|p| paths::join(paths::dir(p), paths::name(path)));
        std::iter::once(recorded).chain(beside).find_map(|path| {
            let image = self.open(source, path)?;
            let mut notes = Vec::new();
            let mut dwarf = gimli::Dwarf::load(|id| {
                let name = id.dwo_name().unwrap_or_default();
                Ok::<_, gimli::Error>(image.reader(name, self.store, &mut notes))
            })
            .ok()?;
            let header = dwarf.units().next().ok()??;
            if dwarf.unit(header).ok()?.dwo_id != Some(wanted.dwo_id) {
                self.note(format!(
                    "{} belongs to another build",
                    paths::show(&image.path)
                ));
                return None;
            }
            dwarf.make_dwo(&wanted.parent);
            Some(dwarf)
        })
    }

    fn open(&self, source: &impl FileSource, path: Vec<u8>) -> Option<ElfFile<'a>> {
        let bytes = source.open(&path).ok()?;
        let image = ElfFile::parse(path, self.store.keep_file(bytes));
        image.map_err(|sentence| self.note(sentence)).ok()
    }

    fn note(&self, sentence: String) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MAX_NOTES && !notes.contains(&sentence) {
            notes.push(sentence);
        }
    }
}

/// The reader takes the first unit, so that is the one to look through.
fn is_safe(dwarf: &gimli::Dwarf<Slice<'_>>) -> bool {
    let unit = |header| dwarf.unit(header).ok();
    let first = dwarf.units().next().ok().flatten().and_then(unit);
    first.is_none_or(|unit| Unit::scan(UnitRef::new(dwarf, &unit), false).is_some())
}
