//! Other machines, other languages: big-endian, 32 bits, function descriptors, Fortran.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::path::Path;

use common::{Folder, alone, disk, spec};
use memlog_symbols::{Frame, Store, Symbolizer};

const FREESTANDING: &str = "
static inline __attribute__((always_inline)) long half(long n) { return n / 2 + 3; }
__attribute__((noinline)) long grow(long n) {
    return half(n) * 5;
}
__attribute__((noinline)) static long other(long n) { return n ? grow(n - 1) ^ n : 1; }
long (*volatile pointer)(long) = other;
void _start(void) { pointer(grow(2)); for (;;); }
";

fn all_frames(file: &Path, addresses: impl Iterator<Item = u64>) -> Vec<Vec<Frame>> {
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, alone());
    let module = symbols.add_module(&spec(file));
    addresses
        .map(|address| symbols.lookup(module, address).frames)
        .collect()
}

fn name(frame: &Frame) -> &str {
    frame.function.as_deref().unwrap_or_default()
}

/// The address range of `.text`.
fn text_section(file: &Path) -> std::ops::Range<u64> {
    let output = std::process::Command::new("readelf")
        .arg("-SW")
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("] .text ")).unwrap();
    let words: Vec<_> = line
        .split("] .text ")
        .nth(1)
        .unwrap()
        .split_whitespace()
        .collect();
    let number = |word| u64::from_str_radix(word, 16).unwrap();
    number(words[1])..number(words[1]) + number(words[3])
}

/// Every function of the program has its name, with lines and without.
fn check(folder: &Folder, compiler: &str, flags: &str) {
    let line = format!("{compiler} {flags} -nostdlib -g -O2 -o victim victim.c");
    if !folder.try_run(&line) {
        println!("SKIPPED: no {compiler}");
        return;
    }
    let file = folder.path("victim");
    let code = || text_section(&file).step_by(4);
    let names = |frames: &[Vec<Frame>]| -> Vec<String> {
        let outermost = frames.iter().filter_map(|frames| frames.last());
        let mut names: Vec<_> = outermost.map(|frame| name(frame).to_owned()).collect();
        names.dedup();
        names
    };
    let with_lines = all_frames(&file, code());
    let expected = ["grow", "other", "_start"];
    for function in expected {
        assert!(
            names(&with_lines).iter().any(|name| name == function),
            "{flags}: {function}"
        );
    }
    let inlined = with_lines
        .iter()
        .find(|frames| frames.len() == 2)
        .expect("an inlined function");
    assert_eq!((name(&inlined[0]), inlined[0].line), ("half", Some(2)));
    assert_eq!((name(&inlined[1]), inlined[1].line), ("grow", Some(4)));
    assert!(inlined[0].inlined && !inlined[1].inlined);

    let strip = compiler.replace("gcc", "strip");
    folder.run(&format!(
        "{} --strip-debug victim",
        if strip == "cc" { "strip" } else { &strip }
    ));
    let without = all_frames(&file, code());
    for (one, other) in with_lines.iter().zip(&without) {
        if let (Some(one), Some(other)) = (one.last(), other.last()) {
            assert_eq!(name(one), name(other));
            assert_eq!(one.offset_in_symbol, other.offset_in_symbol);
        }
    }
    for function in expected {
        assert!(
            names(&without).iter().any(|name| name == function),
            "{flags}: {function}"
        );
    }
}

/// Some linkers leave descriptors empty and write the code's address in the relocation only.
#[test]
fn empty_descriptors() {
    let folder = Folder::new();
    folder.write("victim.c", FREESTANDING);
    let tool = |name: &str| format!("powerpc64-linux-gnu-{name}");
    let flags = "-shared -fPIC -nostdlib -O2 -o victim victim.c";
    if !folder.try_run(&format!("{} {flags}", tool("gcc"))) {
        println!("SKIPPED: no {}", tool("gcc"));
        return;
    }
    folder.run(&format!(
        "{} -O binary --only-section=.opd victim opd",
        tool("objcopy")
    ));
    let zeros = vec![0; std::fs::metadata(folder.path("opd")).unwrap().len() as usize];
    let file = folder.path("victim");
    let before = all_frames(&file, text_section(&file).step_by(4));
    folder.write("opd", zeros);
    folder.run(&format!(
        "{} --update-section .opd=opd victim",
        tool("objcopy")
    ));
    let after = all_frames(&file, text_section(&file).step_by(4));
    assert!(after.iter().flatten().any(|frame| name(frame) == "grow"));
    assert_eq!(before, after);
}

#[test]
fn machines() {
    let folder = Folder::new();
    folder.write("victim.c", FREESTANDING);
    check(&folder, "cc", "-static");
    let ppc = "powerpc64-linux-gnu-gcc";
    check(&folder, ppc, "-static");
    check(&folder, ppc, "-shared -fPIC");
    check(&folder, ppc, "-static -mabi=elfv2");
    check(&folder, ppc, "-static -m32");
}

#[test]
fn fortran() {
    let folder = Folder::new();
    folder.write("victim.f90", programs::FORTRAN);
    if !folder.try_run("gfortran -O0 -g -o victim victim.f90") {
        println!("SKIPPED: no gfortran");
        return;
    }
    let file = folder.path("victim");
    let code = text_section(&file);
    let with_lines = all_frames(&file, code.clone());
    for (function, raw) in [
        ("solver::grow", "__solver_MOD_grow"),
        ("solver::grow::shrink", "shrink"),
        ("outside", "outside_"),
        ("heat", "MAIN__"),
    ] {
        let found = with_lines
            .iter()
            .flatten()
            .find(|frame| name(frame) == function);
        let found = found.unwrap_or_else(|| panic!("{function}"));
        assert!(found.line.is_some());
        println!("{function}: {:?} for {raw}", found.raw_name);
    }
    folder.run("strip --strip-debug victim");
    let without = all_frames(&file, code);
    for function in ["solver::grow", "outside", "MAIN"] {
        assert!(
            without
                .iter()
                .flatten()
                .any(|frame| name(frame) == function),
            "{function}"
        );
    }
}
