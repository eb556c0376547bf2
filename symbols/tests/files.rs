//! Which files are believed, and which are found.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::path::{Path, PathBuf};

use common::{Folder, alone, build_id, disk, functions, loaded, spec};
use memlog_symbols::{Lookup, ModuleSpec, ModuleStatus, NameSource, Options, Store, Symbolizer};

fn built() -> (Folder, PathBuf) {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    folder.run("cc -O2 -g -Wl,--build-id -o victim victim.c");
    let path = folder.path("victim");
    (folder, path)
}

/// Status, notes and the answer for one address.
fn ask(spec: &ModuleSpec, options: Options, svma: u64) -> (ModuleStatus, Vec<String>, Lookup) {
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, options);
    let module = symbols.add_module(spec);
    assert_eq!(module, symbols.add_module(spec));
    let found = symbols.lookup(module, svma);
    (symbols.status(module).clone(), symbols.notes(module), found)
}

fn address_of(file: &Path, name: &str) -> u64 {
    functions(file)
        .into_iter()
        .find(|symbol| symbol.name == name)
        .unwrap()
        .begin
}

fn assert_has_lines(found: &Lookup) {
    let outermost = found.frames.last().expect("a frame");
    assert_eq!(outermost.function.as_deref(), Some("twice"));
    assert!(
        outermost
            .file
            .as_deref()
            .is_some_and(|file| file.ends_with("/victim.c"))
    );
    assert!(outermost.line.is_some());
}

#[test]
fn the_right_build_and_another() {
    let (_folder, file) = built();
    let twice = address_of(&file, "twice");
    let right = ModuleSpec {
        build_id: build_id(&file),
        ..spec(&file)
    };
    let (status, notes, found) = ask(&right, alone(), twice);
    assert!(loaded(&status).verified && notes.is_empty());
    assert_has_lines(&found);
    let (status, _, found) = ask(&spec(&file), alone(), twice);
    assert!(!loaded(&status).verified);
    assert_has_lines(&found);

    let wrong = ModuleSpec {
        build_id: vec![7; 20],
        ..spec(&file)
    };
    let (status, _, found) = ask(&wrong, alone(), twice);
    let (expected, seen) = (vec![7; 20], build_id(&file));
    assert_eq!(
        status,
        ModuleStatus::Rebuilt {
            expected,
            found: seen
        }
    );
    assert_eq!(found, Lookup::default());
}

#[test]
fn a_debug_link() {
    let (folder, file) = built();
    let twice = address_of(&file, "twice");
    folder.run("objcopy --only-keep-debug victim victim.debug");
    folder.run("objcopy --strip-all --add-gnu-debuglink=victim.debug victim stripped");
    let stripped = spec(&folder.path("stripped"));
    let (status, _, found) = ask(&stripped, alone(), twice);
    assert_has_lines(&found);
    assert_eq!(loaded(&status).names, NameSource::DebugInfo);
    assert!(
        loaded(&status)
            .debug_file
            .as_ref()
            .unwrap()
            .ends_with(b"/victim.debug")
    );

    // In a folder of its own beside the module; and below the system's folder.
    std::fs::create_dir(folder.path(".debug")).unwrap();
    std::fs::rename(
        folder.path("victim.debug"),
        folder.path(".debug/victim.debug"),
    )
    .unwrap();
    assert_has_lines(&ask(&stripped, alone(), twice).2);
    let system = folder.path("system");
    let below = system.join(folder.path("").strip_prefix("/").unwrap());
    std::fs::create_dir_all(&below).unwrap();
    std::fs::rename(
        folder.path(".debug/victim.debug"),
        below.join("victim.debug"),
    )
    .unwrap();
    let options = Options {
        system_debug_dir: Some(system),
        ..alone()
    };
    assert_has_lines(&ask(&stripped, options, twice).2);

    // Another build's file under the right name.
    folder.run("cc -O1 -g -Wl,--build-id -o victim.debug victim.c");
    let (status, notes, found) = ask(&stripped, alone(), twice);
    assert_eq!(loaded(&status).debug_file, None);
    assert!(notes[0].contains("another build"), "{notes:?}");
    assert_eq!(found, Lookup::default());
}

#[test]
fn a_checksum_without_build_ids() {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    folder.run("cc -O2 -g -Wl,--build-id=none -o victim victim.c");
    let twice = address_of(&folder.path("victim"), "twice");
    folder.run("objcopy --only-keep-debug victim victim.debug");
    folder.run("objcopy --strip-all --add-gnu-debuglink=victim.debug victim stripped");
    let stripped = spec(&folder.path("stripped"));
    assert_has_lines(&ask(&stripped, alone(), twice).2);
    let mut bytes = std::fs::read(folder.path("victim.debug")).unwrap();
    bytes.push(0);
    folder.write("victim.debug", bytes);
    let (_, notes, found) = ask(&stripped, alone(), twice);
    assert!(notes[0].contains("checksum"), "{notes:?}");
    assert_eq!(found, Lookup::default());
}

#[test]
fn by_build_id_even_without_the_module() {
    let (folder, file) = built();
    let (twice, id) = (address_of(&file, "twice"), build_id(&file));
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    folder.run("objcopy --only-keep-debug victim victim.debug");
    folder.run("strip -o stripped victim");
    let debug = std::fs::read(folder.path("victim.debug")).unwrap();
    folder.write(
        &format!("a/.build-id/{}/{}.debug", &hex[..2], &hex[2..]),
        &debug,
    );
    folder.write(&format!("b/{}/{}.debug", &hex[..2], &hex[2..]), &debug);
    folder.write("c/stripped.debug", &debug);
    folder.write("d/victim.debug", &debug);
    folder.write("e/victim", std::fs::read(&file).unwrap());
    for dir in ["a", "b", "c"] {
        let options = Options {
            debug_dirs: vec![folder.path(dir)],
            ..alone()
        };
        let (status, _, found) = ask(&spec(&folder.path("stripped")), options, twice);
        assert_has_lines(&found);
        assert_eq!(loaded(&status).names, NameSource::DebugInfo);
    }
    let gone = ModuleSpec {
        path: b"/gone/victim".to_vec(),
        build_id: id,
    };
    for dir in ["a", "b", "d", "e"] {
        let options = Options {
            debug_dirs: vec![folder.path(dir)],
            ..alone()
        };
        let (status, _, found) = ask(&gone, options, twice);
        assert_has_lines(&found);
        // The last folder has the module itself.
        assert!(loaded(&status).verified);
        assert_eq!(loaded(&status).file.is_some(), dir == "e");
    }
    let options = Options {
        system_debug_dir: Some(folder.path("a")),
        ..alone()
    };
    assert_has_lines(&ask(&gone, options, twice).2);
    assert!(matches!(
        ask(&gone, alone(), twice).0,
        ModuleStatus::Missing(_)
    ));
}

#[test]
fn a_sysroot() {
    let (folder, file) = built();
    let twice = address_of(&file, "twice");
    folder.write("root/usr/bin/victim", std::fs::read(&file).unwrap());
    let inside = ModuleSpec {
        path: b"/usr/bin/victim".to_vec(),
        build_id: vec![],
    };
    let options = Options {
        sysroot: Some(folder.path("root")),
        ..alone()
    };
    assert_has_lines(&ask(&inside, options, twice).2);
}

#[test]
fn symbol_tables_only() {
    let (folder, file) = built();
    let twice = address_of(&file, "twice");
    folder.run("strip --strip-debug -o nodebug victim");
    let (status, _, found) = ask(&spec(&folder.path("nodebug")), alone(), twice + 3);
    assert_eq!(loaded(&status).names, NameSource::SymbolTable);
    assert_eq!(found.frames.len(), 1);
    assert_eq!(found.frames[0].function.as_deref(), Some("twice"));
    assert_eq!(found.frames[0].offset_in_symbol, Some(3));
    let off = Options {
        debug_info: false,
        ..alone()
    };
    assert_eq!(ask(&spec(&file), off, twice + 3).2, found);

    folder.run("strip -o bare victim");
    let (status, _, found) = ask(&spec(&folder.path("bare")), alone(), twice);
    assert_eq!(loaded(&status).names, NameSource::DynamicSymbols);
    assert_eq!(found, Lookup::default());

    folder.run("cc -O2 -shared -fPIC -o lib.so victim.c");
    let twice = address_of(&folder.path("lib.so"), "twice");
    folder.run("strip lib.so");
    let found = ask(&spec(&folder.path("lib.so")), alone(), twice + 1).2;
    assert_eq!(found.frames[0].function.as_deref(), Some("twice"));
}

#[test]
fn minidebuginfo() {
    let (folder, file) = built();
    let twice = address_of(&file, "twice");
    folder.run("objcopy --strip-debug victim mini");
    if !folder.try_run("xz -k mini") {
        println!("SKIPPED: no xz");
        return;
    }
    folder.run("objcopy --strip-all --add-section .gnu_debugdata=mini.xz victim small");
    let (status, notes, found) = ask(&spec(&folder.path("small")), alone(), twice);
    assert_eq!(loaded(&status).names, NameSource::SymbolTable, "{notes:?}");
    assert_eq!(found.frames[0].function.as_deref(), Some("twice"));
}

#[test]
fn dwz() {
    let folder = Folder::new();
    folder.write("victim.c", programs::C);
    folder.run("cc -O2 -gdwarf-4 -Wl,--build-id -o one victim.c");
    folder.run("cc -O2 -gdwarf-4 -Wl,--build-id -o two victim.c");
    if !folder.try_run("dwz -m common.debug one two") {
        println!("SKIPPED: no dwz");
        return;
    }
    let file = folder.path("one");
    let (_, notes, found) = ask(&spec(&file), alone(), address_of(&file, "twice"));
    assert!(notes.is_empty(), "{notes:?}");
    assert_has_lines(&found);
    std::fs::remove_file(folder.path("common.debug")).unwrap();
    let (_, notes, found) = ask(&spec(&file), alone(), address_of(&file, "twice"));
    assert!(notes[0].contains("common.debug"), "{notes:?}");
    assert_eq!(
        found.frames.last().unwrap().function.as_deref(),
        Some("twice")
    );
}

#[test]
fn what_is_no_module() {
    let folder = Folder::new();
    let text = folder.write("text", "hello");
    assert!(matches!(
        ask(&spec(&text), alone(), 0).0,
        ModuleStatus::Foreign(_)
    ));
    assert!(matches!(
        ask(&spec(&folder.path("none")), alone(), 0).0,
        ModuleStatus::Missing(_)
    ));
    let vdso = ModuleSpec {
        path: b"[vdso]".to_vec(),
        build_id: vec![],
    };
    assert!(matches!(ask(&vdso, alone(), 0).0, ModuleStatus::Missing(_)));
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, alone());
    let module = symbols.add_module(&vdso);
    for svma in [0, 1, u64::MAX] {
        assert_eq!(symbols.lookup(module, svma), Lookup::default());
    }
}

/// Names come again at each address: there is one text for all of them.
#[test]
fn texts_are_shared() {
    let (_folder, file) = built();
    let twice = address_of(&file, "twice");
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, alone());
    let module = symbols.add_module(&spec(&file));
    let [one, other] = [twice, twice + 4].map(|address| {
        let frame = symbols.lookup(module, address).frames.pop();
        frame.expect("a frame")
    });
    let texts = |frame: memlog_symbols::Frame| [frame.function, frame.raw_name, frame.file];
    for pair in texts(one).into_iter().zip(texts(other)) {
        let (Some(one), Some(other)) = pair else {
            panic!("a text is missing: {pair:?}");
        };
        assert!(std::sync::Arc::ptr_eq(&one, &other), "{one}");
    }
}
