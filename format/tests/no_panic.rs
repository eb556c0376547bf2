//! What runs inside the profiled program contains no call to a panic: an
//! optimised build is looked through, the crate and a caller that inlines it.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles to a library and its assembly; gives the assembly's text.
fn assembly(source: &Path, name: &str, library: Option<&Path>, into: &Path) -> Option<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let assembly = into.join(format!("{name}.s"));
    let mut command = Command::new(rustc);
    command
        .args(["--edition=2024", "--crate-type=rlib", "--crate-name", name])
        .args(["-Copt-level=3", "-Cpanic=abort", "-Ccodegen-units=1"])
        .arg(format!(
            "--emit=link={}",
            into.join(format!("lib{name}.rlib")).display()
        ))
        .arg(format!("--emit=asm={}", assembly.display()))
        .arg(source);
    if let Some(library) = library {
        command.arg(format!("--extern=memlog_format={}", library.display()));
    }
    // Tests of another architecture may run where there is no compiler.
    let status = command.status().ok()?;
    assert!(status.success(), "{} does not compile", source.display());
    Some(std::fs::read_to_string(assembly).expect("the assembly"))
}

#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
fn nothing_that_the_recorder_calls_panics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let into = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no_panic");
    std::fs::create_dir_all(&into).expect("a folder for the assembly");
    let library = into.join("libmemlog_format.rlib");
    let source = folder.join("src/lib.rs");
    let Some(own) = assembly(&source, "memlog_format", None, &into) else {
        eprintln!("skipped: there is no rustc here");
        return;
    };
    let caller = folder.join("tests/no_panic/caller.rs");
    let called = assembly(&caller, "caller", Some(&library), &into).expect("rustc is here");
    for (name, text) in [("the crate", own), ("its caller", called)] {
        // The crate's metadata is in the text too, as strings.
        let code = text.lines().filter(|line| !line.contains(".asci"));
        let panics: Vec<_> = code.filter(|line| line.contains("panicking")).collect();
        assert_eq!(panics, Vec::<&str>::new(), "in {name}");
        assert!(text.contains("memlog_format"), "{name} is empty");
    }
}
