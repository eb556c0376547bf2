//! Where a module's files may lie among what the caller names: single files and folders.

use crate::module::{ModuleSpec, Options};
use crate::paths;

/// A path to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub path: Vec<u8>,
    pub origin: Origin,
}

/// Why a path is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The caller named this file, and its name is the module's.
    Named,
    /// The caller named this file, of whatever module it is.
    Nameless,
    /// It lies in a folder that the caller named.
    Below,
    /// It lies where the system keeps such files.
    System,
}

impl Origin {
    /// Whether a user would wonder why the file was not used.
    pub(crate) fn is_given(self) -> bool {
        matches!(self, Self::Named | Self::Below)
    }
}

/// The caller's files, then what may be in its folders: by build-id, then by each tail of the
/// path, the longest first. `link` is the name that the module has for its debug file.
pub(crate) fn candidates(
    options: &Options,
    spec: &ModuleSpec,
    id: &[u8],
    link: Option<&[u8]>,
) -> Vec<Candidate> {
    let mut list = Vec::new();
    let name = paths::name(&spec.path);
    for file in &options.debug_files {
        let path = paths::bytes(file).to_vec();
        let given = paths::name(&path);
        let is_named = given == name
            || given.strip_suffix(b".debug") == Some(name)
            || link.is_some_and(|link| given == link);
        let origin = match is_named {
            true => Origin::Named,
            false => Origin::Nameless,
        };
        list.push(Candidate { path, origin });
    }
    let mut below = Vec::new();
    for dir in &options.debug_dirs {
        let dir = paths::bytes(dir);
        below.extend(by_build_id(&paths::below(dir, b".build-id"), id));
        below.extend(by_build_id(dir, id));
        below.extend(in_caches(dir, id));
        for tail in paths::tails(&spec.path) {
            let path = paths::below(dir, tail);
            below.push(paths::with_suffix(&path, b".debug"));
            below.push(path);
        }
        if let Some(link) = link {
            below.push(paths::below(dir, link));
            below.push(paths::below(&paths::below(dir, b".debug"), link));
        }
    }
    let origin = Origin::Below;
    list.extend(below.into_iter().map(|path| Candidate { path, origin }));
    list
}

/// `xx/yyy.debug`, and `xx/yyy` as the module itself is kept, below `dir`.
pub(crate) fn by_build_id(dir: &[u8], id: &[u8]) -> Vec<Vec<u8>> {
    if id.len() < 2 || id.len() > 64 {
        return Vec::new();
    }
    let path = paths::below(
        dir,
        format!("{}/{}", hex(&id[..1]), hex(&id[1..])).as_bytes(),
    );
    vec![paths::with_suffix(&path, b".debug"), path]
}

/// What a client of debuginfod has, or brings, of a build-id.
pub(crate) fn brought(options: &Options, id: &[u8], kind: &str) -> Option<Vec<u8>> {
    let dir = options.last_dir.as_deref()?;
    let has_id = (2..=64).contains(&id.len());
    has_id.then(|| paths::below(paths::bytes(dir), format!("{}/{kind}", hex(id)).as_bytes()))
}

/// Where other tools keep what they found for a build-id: debuginfod's clients and perf.
fn in_caches(dir: &[u8], id: &[u8]) -> Vec<Vec<u8>> {
    if id.len() < 2 || id.len() > 64 {
        return Vec::new();
    }
    let whole = hex(id);
    let places = [
        format!("{whole}/executable"),
        format!("{whole}/debuginfo"),
        format!(".build-id/{}/{}/elf", &whole[..2], &whole[2..]),
        format!(".build-id/{}/{}/debug", &whole[..2], &whole[2..]),
    ];
    places
        .iter()
        .map(|place| paths::below(dir, place.as_bytes()))
        .collect()
}

/// Bytes as digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_places() {
        let options = Options {
            debug_files: vec!["/x/other".into(), "y/app.debug".into()],
            debug_dirs: vec!["/d".into()],
            ..Options::default()
        };
        let spec = ModuleSpec {
            path: b"/opt/app".to_vec(),
            build_id: vec![0xab, 0xcd],
        };
        let found = candidates(&options, &spec, &spec.build_id, Some(b"link"));
        let origins: Vec<_> = found.iter().map(|candidate| candidate.origin).collect();
        let shown: Vec<_> = found.iter().map(|it| paths::show(&it.path)).collect();
        assert_eq!(
            origins[..3],
            [Origin::Nameless, Origin::Named, Origin::Below]
        );
        let expected = "/x/other y/app.debug /d/.build-id/ab/cd.debug /d/.build-id/ab/cd \
                        /d/ab/cd.debug /d/ab/cd /d/abcd/executable /d/abcd/debuginfo \
                        /d/.build-id/ab/cd/elf /d/.build-id/ab/cd/debug /d/opt/app.debug /d/opt/app /d/app.debug /d/app \
                        /d/link /d/.debug/link";
        assert_eq!(shown.join(" "), expected);
    }
}
