//! The files that match a pattern, whatever their names are made of.
//!
//! The pattern is taken apart at its slashes; each part is a name, or has *, ?
//! and [abc], or is ** for folders however deep. A name that is no UTF-8 is
//! compared with its bad bytes as U+FFFD, which * and ? match.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use glob::{Pattern, PatternError};

/// Whether a name is meant as a pattern.
pub(crate) fn is_one(name: &Path) -> bool {
    let bytes = name.as_os_str().as_bytes();
    bytes.iter().any(|byte| b"*?[".contains(byte))
}

/// What matches, by name.
pub(crate) fn matches(pattern: &Path) -> Result<Vec<PathBuf>, PatternError> {
    let bytes = pattern.as_os_str().as_bytes();
    let mut found = vec![PathBuf::from(if bytes.starts_with(b"/") {
        "/"
    } else {
        ""
    })];
    for part in bytes.split(|&byte| byte == b'/') {
        let part = Path::new(OsStr::from_bytes(part));
        if part.as_os_str().is_empty() {
            continue;
        }
        found = match (part.as_os_str() == "**", is_one(part)) {
            (true, _) => with_folders_below(found),
            (_, true) => {
                let part = Pattern::new(&part.to_string_lossy())?;
                let found = found.iter().flat_map(|folder| entries(folder));
                found.filter(|path| fits(&part, path)).collect()
            }
            _ => {
                let found = found.iter().map(|folder| folder.join(part));
                found
                    .filter(|path| path.symlink_metadata().is_ok())
                    .collect()
            }
        };
    }
    found.sort();
    Ok(found)
}

fn fits(part: &Pattern, path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    part.matches(&name.to_string_lossy())
}

/// What lies in a folder; nothing in what is none.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let place = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    let names = std::fs::read_dir(place).into_iter().flatten().flatten();
    names.map(|entry| folder.join(entry.file_name())).collect()
}

/// Each once, for folders may lie below each other. A link to a folder is not
/// followed: it may lead back.
fn with_folders_below(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let mut known = HashSet::new();
    let mut waiting = folders;
    while let Some(folder) = waiting.pop() {
        if known.insert(folder.clone()) {
            waiting.extend(entries(&folder).into_iter().filter(is_folder));
        }
    }
    known.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn every_name_is_found() {
        let root = std::env::temp_dir().join(format!("memlog-pattern-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).expect("mkdir");
        let names: [&[u8]; 4] = [b"x.log", b"bad\xff.log", b"a/y.log", b"a/b/z.log"];
        for name in names {
            fs::write(root.join(OsStr::from_bytes(name)), "").expect("write");
        }
        let of = |pattern: &[u8]| {
            let found = matches(&root.join(OsStr::from_bytes(pattern))).expect("a pattern");
            let inner = found
                .iter()
                .map(|path| path.strip_prefix(&root).expect("in it"));
            let inner = inner.map(|path| path.as_os_str().as_bytes().to_vec());
            inner.collect::<Vec<_>>()
        };
        let found = [
            of(b"*.log"),
            of(b"bad?.log"),
            of(b"b*\xff.log"),
            of(b"*/[xyz].log"),
            of(b"**/?.log"),
            of(b"a*/no*"),
            of(b"**/**/?.log"),
            of(b"**/a/**/**/?.log"),
        ];
        fs::remove_dir_all(&root).expect("rm");
        assert_eq!(found[0], [names[1], names[0]]);
        assert_eq!(found[1], [names[1]]);
        assert_eq!(found[2], [names[1]]);
        assert_eq!(found[3], [names[2]]);
        assert_eq!(found[4], [names[3], names[2], names[0]]);
        assert!(found[5].is_empty());
        assert_eq!(found[6], found[4]);
        assert_eq!(found[7], [names[3], names[2]]);
    }
}
