//! Which files hold the names of a module.
//!
//! The module itself; then, if it has no debug information, the first file that passes its check:
//! 1. each of [`Options::debug_dirs`], by build-id, then by name;
//! 2. the system's debug folder by build-id;
//! 3. the file `.gnu_debuglink` names: beside the module, in `.debug/`, in the system's folder.
//!
//! The check: equal build-ids where both have one, else an equal checksum. A file that offers
//! neither is refused: names from another build are worse than none.

use crate::image::Image;
use crate::minidebug;
use crate::module::{Loaded, ModuleSpec, ModuleStatus, NameSource, Options};
use crate::paths;
use crate::source::{FileSource, Store};

/// The files of one module.
#[derive(Default)]
pub(crate) struct Files<'a> {
    /// The module as it was mapped.
    pub module: Option<Image<'a>>,
    /// A separate file of debug information or of symbols.
    pub debug: Option<Image<'a>>,
    /// What dwz moved out of the debug information.
    pub common: Option<Image<'a>>,
    /// What `.gnu_debugdata` holds.
    pub mini: Option<Image<'a>>,
}

impl<'a> Files<'a> {
    /// The file with debug information.
    pub(crate) fn debug_info(&self) -> Option<&Image<'a>> {
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
}

impl<'a, S: FileSource> Finder<'_, 'a, S> {
    /// Opens what belongs to a module.
    pub(crate) fn find(&mut self, spec: &ModuleSpec) -> (ModuleStatus, Files<'a>) {
        let mut files = Files::default();
        let id = match self.module(spec) {
            Ok(image) => {
                let id = image.build_id().unwrap_or_default();
                if self.options.debug_info && !image.has_bytes(".debug_info") {
                    files.debug = self.separate(spec, id, image.debug_link());
                }
                files.mini = minidebug::inside(&image, self.store, &mut self.notes);
                files.module = Some(image);
                id
            }
            Err(status) => {
                files.debug = self.separate(spec, &spec.build_id, None);
                if files.debug.is_none() {
                    return (status, files);
                }
                &spec.build_id
            }
        };
        if self.options.debug_info {
            files.common = files.debug_info().and_then(|image| self.common(image));
        }
        let path = |image: &Option<Image<'_>>| image.as_ref().map(|image| image.path.clone());
        let loaded = Loaded {
            file: path(&files.module),
            debug_file: path(&files.debug),
            names: files.names(self.options),
            verified: !spec.build_id.is_empty() && id == spec.build_id,
        };
        (ModuleStatus::Ok(loaded), files)
    }

    fn module(&mut self, spec: &ModuleSpec) -> Result<Image<'a>, ModuleStatus> {
        if !spec.path.contains(&b'/') {
            let sentence = format!("{} is not the path of a file", paths::show(&spec.path));
            return Err(ModuleStatus::Missing(sentence));
        }
        let path = self.rooted(&spec.path);
        let bytes = self.source.open(&path).map_err(|error| {
            ModuleStatus::Missing(format!("{} cannot be opened: {error}", paths::show(&path)))
        })?;
        let image =
            Image::parse(path, self.store.keep_file(bytes)).map_err(ModuleStatus::Foreign)?;
        let found = image.build_id().unwrap_or_default();
        if !spec.build_id.is_empty() && spec.build_id != found {
            return Err(ModuleStatus::Rebuilt {
                expected: spec.build_id.clone(),
                found: found.to_vec(),
            });
        }
        Ok(image)
    }

    /// The first separate file with debug information, else the first with a symbol table.
    fn separate(
        &mut self,
        spec: &ModuleSpec,
        id: &[u8],
        link: Option<(&[u8], u32)>,
    ) -> Option<Image<'a>> {
        let mut second = None;
        for path in self.candidates(spec, id, link.map(|(name, _)| name)) {
            let Some(image) = self.checked(path, id, link.map(|(_, checksum)| checksum)) else {
                continue;
            };
            if image.has_bytes(".debug_info") {
                return Some(image);
            }
            if image.has_bytes(".symtab") && second.is_none() {
                second = Some(image);
            }
        }
        second
    }

    fn candidates(&self, spec: &ModuleSpec, id: &[u8], link: Option<&[u8]>) -> Vec<Vec<u8>> {
        let mut list = Vec::new();
        for dir in &self.options.debug_dirs {
            let dir = paths::bytes(dir);
            list.extend(by_build_id(&paths::below(dir, b".build-id"), id));
            list.extend(by_build_id(dir, id));
            for name in [&spec.path[..], paths::name(&spec.path)] {
                let path = paths::below(dir, name);
                list.push(paths::with_suffix(&path, b".debug"));
                list.push(path);
            }
            list.extend(link.map(|name| paths::below(dir, name)));
        }
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
        let module = self.rooted(&spec.path);
        list.retain(|path| *path != module);
        list
    }

    /// The file at `path`, if it is there and passes the check.
    fn checked(&mut self, path: Vec<u8>, id: &[u8], checksum: Option<u32>) -> Option<Image<'a>> {
        let bytes = self.source.open(&path).ok()?;
        // Checked before it is kept: a store never gives bytes back.
        let refusal = {
            let data = (*bytes).as_ref();
            match Image::parse(path.clone(), data) {
                Err(sentence) => Some(sentence),
                Ok(image) => refusal(&image, id, checksum),
            }
        };
        if let Some(sentence) = refusal {
            self.notes.push(sentence);
            return None;
        }
        Image::parse(path, self.store.keep_file(bytes)).ok()
    }

    fn common(&mut self, image: &Image<'a>) -> Option<Image<'a>> {
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
        let found = list
            .into_iter()
            .find_map(|path| self.checked(path, id, None));
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

/// Why a separate file is not the module's, or `None` if it is.
fn refusal(image: &Image<'_>, id: &[u8], checksum: Option<u32>) -> Option<String> {
    let path = paths::show(&image.path);
    match (image.build_id(), checksum) {
        (Some(found), _) if !id.is_empty() => {
            (found != id).then(|| format!("{path} belongs to another build"))
        }
        (_, Some(expected)) => (crc32fast::hash(image.data) != expected)
            .then(|| format!("{path} has another checksum than .gnu_debuglink says")),
        _ => Some(format!(
            "{path} has neither build-id nor checksum to know it by"
        )),
    }
}

/// `xx/yyy.debug`, and `xx/yyy` as the module itself is kept, below `dir`.
fn by_build_id(dir: &[u8], id: &[u8]) -> Vec<Vec<u8>> {
    if id.len() < 2 || id.len() > 64 {
        return Vec::new();
    }
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    let path = paths::below(
        dir,
        format!("{}/{}", hex(&id[..1]), hex(&id[1..])).as_bytes(),
    );
    vec![paths::with_suffix(&path, b".debug"), path]
}
