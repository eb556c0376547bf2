//! What is wrong with the files of names, in sentences: which is not there or
//! is not the right one, and where it was looked for.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use memlog_symbols::{Loaded, ModuleSpec, ModuleStatus, NameSource, Options};

use crate::words::{clean, shown};

/// What is shown of a module without names.
const SO: &str = "its functions are shown as module and offset";

pub struct Remarks {
    /// By module, once each.
    modules: BTreeMap<String, String>,
    /// Files that the user named and that nothing came of yet.
    unused: BTreeMap<PathBuf, String>,
    /// Where the user has it looked for files.
    given: Vec<String>,
}

impl Remarks {
    pub fn new(options: &Options) -> Self {
        let files = options.debug_files.iter();
        let unused = files.clone().map(|file| {
            let sentence = format!("{} is no file of the modules that are shown", shown(file));
            (file.clone(), sentence)
        });
        let given = files.chain(&options.debug_dirs);
        Self {
            modules: BTreeMap::new(),
            unused: unused.collect(),
            given: given.map(|path| shown(path).to_string()).collect(),
        }
    }

    /// A sentence each.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        let all = self.modules.values().chain(self.unused.values());
        all.map(String::as_str)
    }

    /// Takes down what was found of a module, and what was refused.
    pub fn add(&mut self, module: &ModuleSpec, status: &ModuleStatus, refused: &[String]) {
        // The kernel's own page of code is in no file.
        if module.path.starts_with(b"[") {
            return;
        }
        let is_used = |file: &PathBuf| {
            let told = file.to_string_lossy();
            let bytes = file.as_os_str().as_bytes();
            let taken = match status {
                ModuleStatus::Ok(loaded) => [&loaded.file, &loaded.debug_file]
                    .into_iter()
                    .any(|path| path.as_deref() == Some(bytes)),
                _ => false,
            };
            taken || refused.iter().any(|sentence| sentence.starts_with(&*told))
        };
        self.unused.retain(|file, _| !is_used(file));
        if let Some(remark) = self.remark(module, status, refused) {
            self.modules.insert(clean(&module.path), remark);
        }
    }

    fn remark(
        &self,
        module: &ModuleSpec,
        status: &ModuleStatus,
        refused: &[String],
    ) -> Option<String> {
        let path = clean(&module.path);
        let (wrong, other_way) = match status {
            ModuleStatus::Ok(loaded) => return told_of_debug_files(loaded, refused),
            ModuleStatus::Missing(reason) | ModuleStatus::Foreign(reason) => {
                (clean(reason.as_bytes()), "")
            }
            ModuleStatus::Rebuilt { expected, found } => (
                format!(
                    "{path} was rebuilt since: expected build-id {}, found {}",
                    digits(expected),
                    digits(found)
                ),
                "record again, put the old file back, or ",
            ),
        };
        let looked = self.looked_for(module, refused);
        let advice = match self.given.is_empty() {
            true => format!("; {other_way}name its folder with --debug-symbols"),
            false => String::new(),
        };
        Some(format!("{wrong}{looked}; {SO}{advice}"))
    }

    /// What came of the user's own places.
    fn looked_for(&self, module: &ModuleSpec, refused: &[String]) -> String {
        if !refused.is_empty() {
            let refused = refused.iter().map(|sentence| clean(sentence.as_bytes()));
            return refused.fold(String::new(), |all, sentence| all + "; " + &sentence);
        }
        if self.given.is_empty() {
            return String::new();
        }
        let places = self.given.join(", ");
        match &module.build_id[..] {
            [] => format!("; no file of that name is in {places}"),
            id => format!("; no file of build-id {} is in {places}", digits(id)),
        }
    }
}

/// A file that was to give more names than there are.
fn told_of_debug_files(loaded: &Loaded, refused: &[String]) -> Option<String> {
    if loaded.names == NameSource::DebugInfo || refused.is_empty() {
        return None;
    }
    let refused: Vec<_> = refused.iter().map(|it| clean(it.as_bytes())).collect();
    Some(format!("{}; no name is taken from it", refused.join("; ")))
}

fn digits(id: &[u8]) -> String {
    match id {
        [] => "none".to_owned(),
        id => id.iter().map(|byte| format!("{byte:02x}")).collect(),
    }
}
