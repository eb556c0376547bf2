//! Which files hold the names of a module.
//!
//! The module itself where it lay, or else a copy of it among [`Options::debug_files`] and below
//! [`Options::debug_dirs`]; then, if it has no debug information, the first file that passes its
//! check:
//! 1. what the caller names: each file, each folder by build-id, then by path and name;
//! 2. the system's debug folder by build-id;
//! 3. the file `.gnu_debuglink` names: beside the module, in `.debug/`, in the system's folder;
//! 4. [`Options::last_dir`], by build-id.
//!
//! The check: the machine of the log; equal build-ids where both have one, else an equal checksum.
//! A file that offers neither is refused: names from another build are worse than none. Only where
//! the log itself has no build-id is a file taken that the caller names and that has the right
//! name.

use crate::elf_file::ElfFile;
use crate::given::{self, Candidate, Origin, by_build_id, hex};
use crate::minidebug;
use crate::module::{Loaded, ModuleSpec, ModuleStatus, NameSource, Options};
use crate::paths;
use crate::source::{FileSource, Store};

/// The files of one module.
#[derive(Default)]
pub(crate) struct Files<'a> {
    /// The module as it was mapped.
    pub module: Option<ElfFile<'a>>,
    /// A separate file of debug information or of symbols.
    pub debug: Option<ElfFile<'a>>,
    /// What dwz moved out of the debug information.
    pub common: Option<ElfFile<'a>>,
    /// What `.gnu_debugdata` holds.
    pub mini: Option<ElfFile<'a>>,
}

impl<'a> Files<'a> {
    /// The file with debug information.
    pub(crate) fn debug_info(&self) -> Option<&ElfFile<'a>> {
        [&self.module, &self.debug]
            .into_iter()
            .flatten()
            .find(|image| image.has_bytes(".debug_info"))
    }

    fn names(&self, options: &Options) -> NameSource {
        let all = || {
            [&self.module, &self.debug, &self.mini]
                .into_iter()
                .flatten()
        };
        if options.debug_info && self.debug_info().is_some() {
            NameSource::DebugInfo
        } else if all().any(|image| image.has_bytes(".symtab")) {
            NameSource::SymbolTable
        } else if all().any(|image| image.has_bytes(".dynsym")) {
            NameSource::DynamicSymbols
        } else {
            NameSource::Nothing
        }
    }
}

pub(crate) struct Finder<'f, 'a, S> {
    pub source: &'f S,
    pub store: &'a Store,
    pub options: &'f Options,
    pub notes: Vec<String>,
    /// Files that the caller names and that were not taken; a sentence each.
    pub refused: Vec<String>,
}

impl<'a, S: FileSource> Finder<'_, 'a, S> {
    /// Opens what belongs to a module.
    pub(crate) fn find(&mut self, spec: &ModuleSpec) -> (ModuleStatus, Files<'a>) {
        let mut files = Files::default();
        let id = match self.module(spec) {
            Ok(image) => {
                let id = image.build_id().unwrap_or_default();
                if self.options.debug_info && !image.has_bytes(".debug_info") {
                    files.debug = self.separate(spec, &image.path, id, image.debug_link());
                }
                files.mini = minidebug::inside(&image, self.store, &mut self.notes);
                files.module = Some(image);
                id
            }
            Err(status) => {
                let path = self.rooted(&spec.path);
                files.debug = self.separate(spec, &path, &spec.build_id, None);
                if files.debug.is_none() {
                    return (status, files);
                }
                &spec.build_id
            }
        };
        if self.options.debug_info {
            files.common = files.debug_info().and_then(|image| self.common(image));
        }
        let path = |image: &Option<ElfFile<'_>>| image.as_ref().map(|image| image.path.clone());
        let loaded = Loaded {
            file: path(&files.module),
            debug_file: path(&files.debug),
            names: files.names(self.options),
            verified: !spec.build_id.is_empty() && id == spec.build_id,
        };
        (ModuleStatus::Ok(loaded), files)
    }

    /// The module as it was mapped: where it lay, or else among what the caller names.
    fn module(&mut self, spec: &ModuleSpec) -> Result<ElfFile<'a>, ModuleStatus> {
        if spec.build_id.is_empty() {
            // Nothing tells one build from another: what the user points at goes before what
            // happens to lie here.
            return match self.elsewhere(spec) {
                Some(image) => Ok(image),
                None => self.in_place(spec),
            };
        }
        self.in_place(spec)
            .or_else(|status| self.elsewhere(spec).ok_or(status))
    }

    fn in_place(&mut self, spec: &ModuleSpec) -> Result<ElfFile<'a>, ModuleStatus> {
        if !spec.path.contains(&b'/') {
            let sentence = format!("{} is not the path of a file", paths::show(&spec.path));
            return Err(ModuleStatus::Missing(sentence));
        }
        let path = self.rooted(&spec.path);
        let bytes = self.source.open(&path).map_err(|error| {
            ModuleStatus::Missing(format!("{} cannot be opened: {error}", paths::show(&path)))
        })?;
        let image =
            ElfFile::parse(path, self.store.keep_file(bytes)).map_err(ModuleStatus::Foreign)?;
        let found = image.build_id().unwrap_or_default();
        if !spec.build_id.is_empty() && spec.build_id == found {
            return Ok(image);
        }
        if let Some(sentence) = self.other_machine(&image) {
            return Err(ModuleStatus::Foreign(sentence));
        }
        if !spec.build_id.is_empty() {
            return Err(ModuleStatus::Rebuilt {
                expected: spec.build_id.clone(),
                found: found.to_vec(),
            });
        }
        Ok(image)
    }

    fn elsewhere(&mut self, spec: &ModuleSpec) -> Option<ElfFile<'a>> {
        // `[vdso]` and its like are in no file.
        if spec.path.starts_with(b"[") {
            return None;
        }
        let known = Known {
            id: &spec.build_id,
            checksum: None,
        };
        let brought = given::brought(self.options, &spec.build_id, "executable");
        let brought = brought.map(|path| Candidate {
            path,
            origin: Origin::System,
        });
        given::candidates(self.options, spec, &spec.build_id, None)
            .into_iter()
            .chain(brought)
            .find_map(|candidate| self.checked(candidate, &known, |image| image.has_code()))
    }

    /// The first separate file with debug information, else the first with a symbol table;
    /// `module` is the file that was looked at already.
    fn separate(
        &mut self,
        spec: &ModuleSpec,
        module: &[u8],
        id: &[u8],
        link: Option<(&[u8], u32)>,
    ) -> Option<ElfFile<'a>> {
        let mut second = None;
        let known = Known {
            id,
            checksum: link.map(|(_, checksum)| checksum),
        };
        let is_useful =
            |image: &ElfFile<'_>| image.has_bytes(".debug_info") || image.has_bytes(".symtab");
        let mut candidates = self.candidates(spec, id, link.map(|(name, _)| name));
        candidates.retain(|candidate| candidate.path != module);
        for candidate in candidates {
            let Some(image) = self.checked(candidate, &known, is_useful) else {
                continue;
            };
            if image.has_bytes(".debug_info") {
                return Some(image);
            }
            second = second.or(Some(image));
        }
        second
    }

    fn candidates(&self, spec: &ModuleSpec, id: &[u8], link: Option<&[u8]>) -> Vec<Candidate> {
        let mut list = Vec::new();
        let system = self.options.system_debug_dir.as_deref();
        let system = system.map(|dir| self.rooted(paths::bytes(dir)));
        if let Some(system) = &system {
            list.extend(by_build_id(&paths::below(system, b".build-id"), id));
        }
        if let Some(name) = link {
            let dir = paths::dir(&spec.path);
            let here = self.rooted(dir);
            list.push(paths::below(&here, name));
            list.push(paths::below(&paths::below(&here, b".debug"), name));
            list.extend(system.map(|system| paths::below(&paths::below(&system, dir), name)));
        }
        list.extend(given::brought(self.options, id, "debuginfo"));
        let origin = Origin::System;
        let list = list.into_iter().map(|path| Candidate { path, origin });
        let mut all = given::candidates(self.options, spec, id, link);
        all.extend(list);
        all
    }

    /// The file at a path, if it is there, passes the check, and is what is looked for.
    fn checked(
        &mut self,
        Candidate { path, origin }: Candidate,
        known: &Known,
        is_wanted: impl Fn(&ElfFile<'_>) -> bool,
    ) -> Option<ElfFile<'a>> {
        let bytes = self.source.open(&path).ok()?;
        // Checked before it is kept: a store never gives bytes back.
        let refusal = {
            let data = (*bytes).as_ref();
            match ElfFile::parse(path.clone(), data) {
                Err(sentence) => Some(sentence),
                Ok(image) if !is_wanted(&image) => return None,
                Ok(image) => self
                    .other_machine(&image)
                    .or_else(|| known.refusal(&image, origin)),
            }
        };
        let Some(sentence) = refusal else {
            return ElfFile::parse(path, self.store.keep_file(bytes)).ok();
        };
        if origin == Origin::Nameless {
            return None;
        }
        if self.notes.contains(&sentence) {
            return None;
        }
        if origin.is_given() {
            self.refused.push(sentence.clone());
        }
        self.notes.push(sentence);
        None
    }

    fn other_machine(&self, image: &ElfFile<'_>) -> Option<String> {
        let (expected, found) = (self.options.machine?, image.machine()?);
        (expected != found).then(|| {
            let path = paths::show(&image.path);
            format!("{path} is for {found}, and the log is of {expected}")
        })
    }

    fn common(&mut self, image: &ElfFile<'a>) -> Option<ElfFile<'a>> {
        let (path, id) = image.alternate_link()?;
        let mut list = vec![if path.starts_with(b"/") {
            self.rooted(path)
        } else {
            paths::join(paths::dir(&image.path), path)
        }];
        for dir in &self.options.debug_dirs {
            let dir = paths::bytes(dir);
            list.extend(by_build_id(&paths::below(dir, b".build-id"), id));
            list.extend(by_build_id(dir, id));
            list.push(paths::below(&paths::below(dir, b".dwz"), paths::name(path)));
        }
        if let Some(system) = self.options.system_debug_dir.as_deref() {
            let system = self.rooted(paths::bytes(system));
            list.extend(by_build_id(&paths::below(&system, b".build-id"), id));
            list.push(paths::below(
                &paths::below(&system, b".dwz"),
                paths::name(path),
            ));
        }
        list.extend(given::brought(self.options, id, "debuginfo"));
        let known = Known { id, checksum: None };
        let origin = Origin::System;
        let mut candidates = list.into_iter().map(|path| Candidate { path, origin });
        let found = candidates.find_map(|candidate| self.checked(candidate, &known, |_| true));
        if found.is_none() {
            self.notes.push(format!(
                "{} shares names with {}, which was not found: some names will be missing",
                paths::show(&image.path),
                paths::show(path)
            ));
        }
        found
    }

    fn rooted(&self, path: &[u8]) -> Vec<u8> {
        match &self.options.sysroot {
            Some(root) => paths::below(paths::bytes(root), path),
            None => path.to_vec(),
        }
    }
}

/// What a module's files are known by.
struct Known<'k> {
    /// Empty if there is none.
    id: &'k [u8],
    /// What `.gnu_debuglink` says.
    checksum: Option<u32>,
}

impl Known<'_> {
    /// Why a file is not the module's, or `None` if it is.
    fn refusal(&self, image: &ElfFile<'_>, origin: Origin) -> Option<String> {
        let path = paths::show(&image.path);
        let found = image.build_id();
        match (found, self.checksum) {
            (Some(found), _) if !self.id.is_empty() => (found != self.id).then(|| {
                let (expected, found) = (hex(self.id), hex(found));
                format!(
                    "{path} belongs to another build: expected build-id {expected}, found {found}"
                )
            }),
            (_, Some(expected)) => (crc32fast::hash(image.data) != expected)
                .then(|| format!("{path} has another checksum than .gnu_debuglink says")),
            // Nobody can know, and the user says so.
            _ if self.id.is_empty() && origin.is_given() => None,
            _ => Some(format!(
                "{path} has neither build-id nor checksum to know it by"
            )),
        }
    }
}
