//! AddressSanitizer's runtime, where it is a library, wants to be the first of
//! the program's. It can be told that it need not, and the recorder tells it
//! (`cdylib`); one that is too old for that ends the program before it begins.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use memlog_pages::{Advice, shown};

/// How it is told.
const SETTING: &[u8] = b"verify_asan_link_order";

/// Refuses a program that loads such an old one.
pub fn refuse_if_first(program: &OsStr, objects: &[PathBuf]) -> anyhow::Result<()> {
    let Some(old) = objects.iter().find(|path| is_runtime(path) && is_old(path)) else {
        return Ok(());
    };
    let file = Path::new(old.file_name().unwrap_or_default());
    Err(Advice::error(
        format!(
            "{} cannot be recorded: {}, AddressSanitizer's runtime, must be the first library of \
             a program, and so must the recorder",
            shown(program),
            shown(file)
        ),
        "record a build of it without -fsanitize=address, or one by a compiler whose runtime \
         knows verify_asan_link_order",
    ))
}

/// GCC's and LLVM's, whatever their version.
fn is_runtime(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    [b"libasan.so".as_slice(), b"libclang_rt.asan"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// What cannot be read is not refused: the run matters more.
fn is_old(path: &Path) -> bool {
    let bytes = fs::read(path);
    bytes.is_ok_and(|bytes| !bytes.windows(SETTING.len()).any(|part| part == SETTING))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runtimes_are_known_by_their_names() {
        let is = |name: &str| is_runtime(&Path::new("/usr/lib").join(name));
        assert!(is("libasan.so.8") && is("libasan.so.8.0.0"));
        assert!(is("libclang_rt.asan-x86_64.so"));
        assert!(!is("libtsan.so.2") && !is("libubsan.so.1") && !is("libbasan.so"));
    }
}
