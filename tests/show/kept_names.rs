//! Names that were found once are kept in the user's cache: pages are the same with it,
//! without it, and where it cannot be.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::sites::{Folder, said};
use crate::{memlog, says};

/// The files of names, by their names, with their numbers.
fn kept(folder: &Folder) -> Vec<(PathBuf, u64)> {
    let entries = fs::read_dir(folder.path("cache/memlog/names"));
    let files = entries.into_iter().flatten().flatten().map(|it| it.path());
    let number = |file: &Path| fs::metadata(file).expect("a file").ino();
    let mut files: Vec<_> = files.map(|file| (number(&file), file)).collect();
    files.sort();
    files
        .into_iter()
        .map(|(number, file)| (file, number))
        .collect()
}

/// Pages of a program with enough debug information: memlog itself.
#[test]
fn pages_are_the_same_with_kept_names() {
    let folder = Folder::new("kept-names");
    let program = env!("CARGO_BIN_EXE_memlog");
    folder.says(&["record", "-o", "own.memlog", program, "dump", "--help"]);
    for words in [
        "table --by function own.memlog",
        "report own.memlog",
        "tree own.memlog",
    ] {
        let without = |place: &str| {
            let mut command = memlog(&folder, words);
            let output = command.env("XDG_CACHE_HOME", place).output();
            let output = output.expect("memlog runs");
            assert!(output.status.success(), "{words}: {}", said(&output));
            String::from_utf8(output.stdout).expect("text")
        };
        let _ = fs::remove_dir_all(folder.path("cache/memlog/names"));
        let cold = without("/dev/null");
        assert!(cold.contains("::"), "{cold}");
        assert!(kept(&folder).is_empty());
        assert!(says(&folder, words) == cold, "{words}: first");
        let first = kept(&folder);
        assert!(!first.is_empty(), "{words}: no file of names");
        assert!(says(&folder, words) == cold, "{words}: second");
        assert_eq!(kept(&folder), first, "{words}: written again");
        for (file, _) in &first {
            let mode = fs::metadata(file).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            fs::write(file, "damaged").expect("a file");
        }
        assert!(says(&folder, words) == cold, "{words}: damaged");
        assert_ne!(kept(&folder), first, "{words}: made anew");
    }
}
