//! What cannot be replayed, or not where it is to be.

use std::fs;

use serde_json::Value;

use super::{Case, FIGURES, ONCE};
use crate::Random;
use crate::sites::build::GCC;
use crate::sites::disk::Disk;
use crate::sites::{Folder, said};

/// A spoilt file is told, or replayed as far as it makes sense; nothing worse.
#[test]
fn spoilt_files_do_no_harm() {
    let case = Case::new("zero");
    let out = case.folder.path("good.ops");
    let [log, exported] = [&case.log, &out].map(|path| path.to_str().expect("a name"));
    case.folder.says(&["export", "replay", log, "-o", exported]);
    let good = fs::read(&out).expect("read");
    let spoilt = case.folder.path("spoilt.ops");
    let mut random = Random::new(crate::first_seed());
    let mut refused = 0;
    for turn in 0..if crate::is_long() { 400 } else { 40 } {
        let mut bytes = good.clone();
        match turn % 4 {
            0 => bytes.truncate(random.below(good.len() as u64) as usize),
            1 => bytes.extend_from_slice(&good[300..]),
            _ => {
                for _ in 0..1 + turn % 7 {
                    let at = random.below(good.len() as u64) as usize;
                    bytes[at] = random.below(256) as u8;
                }
            }
        }
        fs::write(&spoilt, &bytes).expect("write");
        let words = [
            &["replay", "--json"],
            ONCE,
            &[spoilt.to_str().expect("a name")],
        ]
        .concat();
        let output = case.folder.run(&words);
        let code = output.status.code();
        assert!(
            matches!(code, Some(0 | 2)),
            "{turn}: {:?} {}",
            code,
            said(&output)
        );
        refused += u32::from(code == Some(2));
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn what_cannot_be_loaded_is_told() {
    let case = Case::new("zero");
    let log = case.log.to_str().expect("a name");
    let refused = |allocator: &str| {
        let output = case.folder.run(&["replay", "--allocator", allocator, log]);
        (output.status.code(), said(&output))
    };
    for (allocator, told) in [
        ("nedmalloc", "no allocator is called 'nedmalloc'"),
        ("/nonexistent/lib.so", "cannot be read"),
        ("/etc/hostname", "is no shared library"),
        ("glibc:arena=1", "is no setting"),
    ] {
        let (code, said) = refused(allocator);
        assert_eq!(code, Some(2), "{allocator}");
        assert!(said.contains(told), "{allocator}: {said}");
    }
    // A library without a malloc is not taken for an allocator.
    let source = case.folder.path("empty.c");
    fs::write(&source, "int nothing;\n").expect("write");
    let empty = GCC.build_file(&case.folder, &source, "empty.so", &["-shared", "-fPIC"]);
    let empty = empty.to_str().expect("a name");
    let replayed = case.replay(&["--allocator", empty, "--repeat", "1"]);
    let row = &replayed["allocators"][1];
    let failed = row["failed"].as_str().expect("a reason");
    assert!(failed.contains("does not take malloc's place"), "{failed}");
    for key in FIGURES {
        assert_eq!(row[key], Value::Null, "{key}: {row:#}");
        assert!(replayed["allocators"][0][key].is_number(), "{key}");
    }
}

#[test]
fn a_full_folder_is_told_with_another() {
    let folder = Folder::new("replay-full");
    let (log, _) = crate::recorded(&folder, &[], "mix 1 30000 1");
    let Some(disk) = Disk::mount(folder.path("disk"), 16 << 10) else {
        println!("SKIPPED a full disk: no tmpfs can be mounted (needs root)");
        return;
    };
    let log = log.to_str().expect("a name");
    for words in [
        &["replay", log][..],
        &["export", "replay", log, "-o", "out"],
    ] {
        let output = folder.memlog(words).env("TMPDIR", &disk.0).output();
        let output = output.expect("it runs");
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        let wanted = "the log's calls cannot be written to ";
        assert!(told.contains(wanted), "{words:?}: {told}");
        assert!(
            told.contains("hint: set TMPDIR to a folder with room"),
            "{told}"
        );
        assert!(!told.contains("make room there"), "{told}");
    }
}
