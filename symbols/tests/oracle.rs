//! The same answers as binutils, address by address, for many ways to compile.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::collections::BTreeMap;
use std::path::Path;

use common::{Expected, Folder, alone, disk, oracle, probes, spec};
use memlog_symbols::{Frame, Store, Symbolizer};

/// Binutils gives an inlined function that has no linkage name the name of the symbol around it.
fn same_function(ours: &Frame, theirs: &str) -> bool {
    // The two names that a constructor or destructor of a class without virtual bases has.
    let bare = |name: &str| {
        let name = name.split('.').next().unwrap();
        name.replace("D1E", "D2E").replace("C1E", "C2E")
    };
    let raw = ours.raw_name.as_deref().unwrap();
    bare(raw) == bare(theirs) || (ours.inlined && !raw.starts_with('_') && theirs.starts_with("_Z"))
}

fn same_file(ours: &str, theirs: &str) -> bool {
    let parts = |path: &str| {
        let mut parts: Vec<String> = Vec::new();
        for part in path.split('/') {
            match part {
                "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part.to_owned()),
            }
        }
        parts.join("/")
    };
    // Binutils takes the first file of the table for the one that has the code.
    parts(ours) == parts(theirs) || theirs.ends_with("/<artificial>")
}

fn agree(ours: &Frame, theirs: &Expected) -> bool {
    let function = match (&ours.raw_name, &theirs.function) {
        (Some(_), Some(theirs)) => same_function(ours, theirs),
        (ours, theirs) => ours == theirs,
    };
    let file = match (&ours.file, &theirs.file) {
        (Some(ours), Some(theirs)) => same_file(ours, theirs),
        (ours, theirs) => ours == theirs,
    };
    function && file && ours.line == theirs.line
}

/// The frames where the two differ; `None` stands for one that is missing.
type Difference = Vec<(Option<Frame>, Option<Expected>)>;

fn differences(ours: &[Frame], theirs: &[Expected]) -> Difference {
    (0..ours.len().max(theirs.len()))
        .map(|index| (ours.get(index), theirs.get(index)))
        .filter(|pair| !matches!(pair, (Some(ours), Some(theirs)) if agree(ours, theirs)))
        .map(|(ours, theirs)| (ours.cloned(), theirs.cloned()))
        .collect()
}

/// Compares every probe of `file` with what binutils says of it.
fn compare(file: &Path, least: usize) {
    compare_with(file, file, least);
}

/// Compares with what binutils says of `reference`, which has the same code.
fn compare_with(file: &Path, reference: &Path, least: usize) {
    let addresses = probes(file);
    assert_eq!(addresses, probes(reference));
    let expected = oracle(reference, &addresses);
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, alone());
    let module = symbols.add_module(&spec(file));
    let found = symbols.lookup_batch(module, &addresses);
    let (mut compared, mut inlined, mut wrong) = (0, 0, Vec::new());
    for ((address, ours), theirs) in addresses.iter().zip(&found).zip(&expected) {
        assert_eq!(*ours, symbols.lookup(module, *address));
        for (index, frame) in ours.frames.iter().enumerate() {
            assert_eq!(frame.inlined, index + 1 < ours.frames.len());
        }
        // Start-up code has no lines; there the tools differ in which symbol they guess.
        if theirs.iter().all(|frame| frame.line.is_none()) {
            continue;
        }
        compared += 1;
        inlined += usize::from(theirs.len() > 1);
        let different = differences(&ours.frames, theirs);
        if !different.is_empty() {
            wrong.push((address, different));
        }
    }
    let name = file.file_name().unwrap().to_string_lossy();
    println!(
        "{name}: {compared} addresses, {inlined} with inlined functions, {} differ",
        wrong.len()
    );
    for (address, different) in wrong.iter().take(12) {
        for (ours, theirs) in different {
            println!("{address:#x}\n  ours   {ours:?}\n  theirs {theirs:?}");
        }
    }
    assert!(compared >= least, "only {compared} addresses");
    assert!(wrong.is_empty(), "{} of {compared} differ", wrong.len());
    compare_names(found.iter().flat_map(|lookup| &lookup.frames));
}

/// The demangled names are c++filt's but for spaces, and for parameter packs, which the library
/// expands wrongly.
fn compare_names<'a>(frames: impl Iterator<Item = &'a Frame>) {
    let mut names = BTreeMap::new();
    for frame in frames {
        if let (Some(raw), Some(name)) = (&frame.raw_name, &frame.function)
            && (raw.starts_with("_Z") || raw.starts_with("_R"))
            && !raw.contains("Dp")
        {
            names.insert(raw, name);
        }
    }
    let expected = common::filter("c++filt", names.keys().map(|raw| raw.as_str()));
    let bare = |name: &str| {
        let name = name
            .split(" [clone")
            .next()
            .unwrap()
            .replace("(unsigned long)", "");
        name.replace(' ', "").replace("0ul", "0")
    };
    let hash = |name: &str| {
        let name = name.rsplit_once("::h").map_or(name, |(name, _)| name);
        // Crates of Rust's second mangling: `core[c1f1a4ba060b9bfa]`.
        let mut parts = name.split('[');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| match part.split_once(']') {
            Some((digits, rest)) if digits.len() > 12 && !digits.contains(' ') => text + rest,
            _ => text + "[" + part,
        })
    };
    let different: Vec<_> = names
        .values()
        .zip(&expected)
        .filter(|(ours, theirs)| bare(ours) != bare(&hash(theirs)) && bare(ours) != bare(theirs))
        .collect();
    println!(
        "  {} names, {} differ from c++filt's",
        names.len(),
        different.len()
    );
    for (ours, theirs) in different.iter().take(5) {
        println!("  {ours:.300}\n  {theirs:.300}");
    }
    assert!(
        different.len() * 20 <= names.len(),
        "{} of {} differ",
        different.len(),
        names.len()
    );
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
