//! The same answers as binutils, address by address, for many ways to compile.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::path::Path;

use common::compare::Comparison;
use common::{Folder, alone, disk, probes, spec};
use memlog_symbols::{Store, Symbolizer};

/// Compares every probe of `file` with what binutils says of it.
fn compare(file: &Path, least: usize) {
    compare_with(file, file, least);
}

/// Compares with what binutils says of `reference`, which has the same code.
fn compare_with(file: &Path, reference: &Path, least: usize) {
    let addresses = probes(file);
    assert_eq!(addresses, probes(reference));
    let comparison = Comparison {
        module: spec(file),
        options: alone(),
        reference,
        tools: "",
    };
    comparison.judge(&addresses, least);
}

#[test]
fn c_every_format() {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    for (name, flags) in [
        ("dwarf4", "-O2 -gdwarf-4"),
        ("dwarf5", "-O2 -gdwarf-5"),
        ("dwarf3", "-O1 -gdwarf-3 -gstrict-dwarf"),
        ("zlib", "-O2 -g -gz=zlib"),
        ("zlib-gnu", "-O2 -gdwarf-4 -gz=zlib-gnu"),
        ("static", "-O2 -g -no-pie"),
        ("debug", "-O0 -g"),
        ("lto", "-O2 -g -flto"),
    ] {
        folder.run(&format!("cc {flags} -o {name} victim.c"));
        compare(&folder.path(name), 20);
    }
}

#[test]
fn cpp() {
    let folder = Folder::new();
    folder.write("victim.cc", programs::CPP);
    for (name, flags) in [
        ("o2", "-O2"),
        ("o0", "-O0"),
        ("sections", "-O2 -ffunction-sections -Wl,--gc-sections"),
        ("types", "-O1 -fdebug-types-section"),
    ] {
        folder.run(&format!("g++ {flags} -gdwarf-4 -o {name} victim.cc"));
        compare(&folder.path(name), 100);
        // Binutils mistakes files in version 5: the same code in version 4 is the oracle.
        folder.run(&format!("g++ {flags} -gdwarf-5 -o {name}5 victim.cc"));
        compare_with(&folder.path(&format!("{name}5")), &folder.path(name), 100);
    }
}

#[test]
fn rust() {
    let folder = Folder::new();
    folder.write("victim.rs", programs::RUST);
    for (name, flags) in [
        ("release", "-Copt-level=2 -Cdebuginfo=2"),
        (
            "v0",
            "-Copt-level=1 -Cdebuginfo=2 -Csymbol-mangling-version=v0",
        ),
        ("debug", "-Cdebuginfo=2"),
    ] {
        folder.run(&format!("rustc --edition=2021 {flags} -o {name} victim.rs"));
        compare(&folder.path(name), 100);
    }
}

#[test]
fn split() {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    folder.write("victim.cc", programs::CPP);
    for (number, least) in [("4", 20), ("5", 20)] {
        for (compiler, source, least) in [("cc", "victim.c", least), ("g++", "victim.cc", 100)] {
            let build = |name: &str, flags: &str| {
                let name = format!("{name}{number}{compiler}");
                folder.run(&format!(
                    "{compiler} -O2 -gdwarf-{number} {flags} -c -o {name}.o {source}"
                ));
                folder.run(&format!("{compiler} -o {name} {name}.o"));
                folder.path(&name)
            };
            // Binutils does not read split files: the same code without the split is the oracle.
            let whole = build("whole", "-gdwarf-4");
            let split = build("split", "-gsplit-dwarf");
            compare_with(&split, &whole, least);
            let name = format!("split{number}{compiler}");
            let remove = |ending| std::fs::remove_file(folder.path(&format!("{name}.{ending}")));
            // Binutils packs version 4 only.
            if number == "4" && folder.try_run(&format!("dwp -o {name}.dwp {name}.dwo")) {
                remove("dwo").unwrap();
                compare_with(&split, &whole, least);
                remove("dwp").unwrap();
            } else {
                remove("dwo").unwrap();
            }
            lines_without_split(&split);
        }
    }
}

/// With the split files lost, lines of the outer functions remain, and a note says why.
fn lines_without_split(file: &Path) {
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, alone());
    let module = symbols.add_module(&spec(file));
    let main = common::functions(file)
        .into_iter()
        .find(|symbol| symbol.name == "main")
        .unwrap();
    let found = symbols.lookup(module, main.begin);
    assert_eq!(found.frames.len(), 1);
    assert_eq!(found.frames[0].function.as_deref(), Some("main"));
    assert!(found.frames[0].line.is_some());
    assert!(
        symbols.notes(module)[0].contains("split debug information"),
        "{:?}",
        symbols.notes(module)
    );
}
