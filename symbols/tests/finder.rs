//! A program that ran on another machine: its files lie elsewhere, and what lies here under their
//! names is not theirs.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::path::{Path, PathBuf};

use common::{Folder, alone, build_id, disk, functions, loaded};
use memlog_symbols::{Machine, ModuleSpec, ModuleStatus, NameSource, Options, Store, Symbolizer};

const HOST: &str = "cc -O2 -g -o app app.c -Wl,--build-id=";

/// What is said of `twice` in a module.
struct Told {
    status: ModuleStatus,
    refused: Vec<String>,
    function: Option<std::sync::Arc<str>>,
    line: Option<u32>,
}

fn ask(spec: &ModuleSpec, options: Options, svma: u64) -> Told {
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, options);
    let module = symbols.add_module(spec);
    let last = symbols.lookup(module, svma).frames.pop();
    let last = last.unwrap_or_default();
    Told {
        status: symbols.status(module).clone(),
        refused: symbols.refused(module).to_vec(),
        function: last.function,
        line: last.line,
    }
}

impl Told {
    fn is_named(&self) -> bool {
        self.function.as_deref() == Some("twice") && self.line.is_some()
    }
}

fn module(path: &str, build_id: &[u8]) -> ModuleSpec {
    ModuleSpec {
        path: path.as_bytes().to_vec(),
        build_id: build_id.to_vec(),
    }
}

fn dirs(dirs: &[PathBuf]) -> Options {
    Options {
        debug_dirs: dirs.to_vec(),
        ..alone()
    }
}

fn file(file: PathBuf) -> Options {
    Options {
        debug_files: vec![file],
        ..alone()
    }
}

/// The program, built in a folder, and where `twice` is.
fn built(line: &str) -> (Folder, PathBuf, u64) {
    let folder = Folder::new();
    folder.write("app.c", programs::C);
    folder.run(line);
    let app = folder.path("app");
    let twice = functions(&app).into_iter().find(|it| it.name == "twice");
    (folder, app, twice.expect("twice").begin)
}

fn copied(folder: &Folder, from: &Path, to: &str) -> PathBuf {
    folder.write(to, std::fs::read(from).expect("read"))
}

#[test]
fn by_path_by_name_and_as_a_file() {
    let (folder, app, twice) = built(&format!("{HOST}sha1"));
    let gone = module("/gone/bin/app", &build_id(&app));
    assert!(matches!(
        ask(&gone, alone(), twice).status,
        ModuleStatus::Missing(_)
    ));
    for place in ["a/gone/bin/app", "b/bin/app", "c/app"] {
        copied(&folder, &app, place);
        let told = ask(
            &gone,
            dirs(&[folder.path("none"), folder.path(&place[..1])]),
            twice,
        );
        assert!(told.is_named() && told.refused.is_empty(), "{place}");
        assert!(loaded(&told.status).verified);
    }
    // Under any name, for the build-id tells.
    let renamed = copied(&folder, &app, "d/copy");
    assert!(ask(&gone, file(renamed), twice).is_named());
    assert!(!ask(&gone, dirs(&[folder.path("d")]), twice).is_named());
    // As debuginfod's clients and perf keep it.
    let id: String = gone
        .build_id
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for place in [
        format!("f/{id}/executable"),
        format!("g/.build-id/{}/{}/elf", &id[..2], &id[2..]),
    ] {
        copied(&folder, &app, &place);
        assert!(
            ask(&gone, dirs(&[folder.path(&place[..1])]), twice).is_named(),
            "{place}"
        );
    }
    // Stripped, with its debug file beside: the folder serves for both.
    folder.run("objcopy --only-keep-debug app app.debug");
    copied(&folder, &folder.path("app.debug"), "e/app.debug");
    folder.run("strip --strip-all -o e/app app");
    let told = ask(&gone, dirs(&[folder.path("e")]), twice);
    assert!(told.is_named());
    assert_eq!(
        loaded(&told.status).file,
        Some(
            folder
                .path("e/app")
                .to_string_lossy()
                .into_owned()
                .into_bytes()
        )
    );
    // A debug file alone.
    assert!(ask(&gone, file(folder.path("app.debug")), twice).is_named());
}

#[test]
fn another_build_is_refused_and_told() {
    let (folder, app, twice) = built(&format!("{HOST}sha1"));
    let other = module(app.to_str().expect("text"), &[7; 20]);
    let here = ask(&other, alone(), twice);
    assert!(matches!(here.status, ModuleStatus::Rebuilt { .. }) && here.refused.is_empty());
    copied(&folder, &app, "given/app");
    copied(&folder, &app, "any");
    let told = |options| ask(&module("/gone/app", &[7; 20]), options, twice);
    for options in [
        dirs(&[folder.path("given")]),
        file(folder.path("given/app")),
    ] {
        let told = told(options);
        assert!(told.function.is_none());
        let [sentence] = &told.refused[..] else {
            panic!("{:?}", told.refused);
        };
        assert!(
            sentence.contains("given/app belongs to another build: expected build-id 0707"),
            "{sentence}"
        );
    }
    // A file of another name is another module's.
    let any = told(file(folder.path("any")));
    assert!(any.function.is_none() && any.refused.is_empty());
}

#[test]
fn without_build_ids_the_machine_decides() {
    let (folder, app, twice) = built(&format!("{HOST}none"));
    let bytes = std::fs::read(&app).expect("read");
    let here = Machine {
        number: u16::from_le_bytes([bytes[18], bytes[19]]),
        is_big_endian: false,
        pointer_bytes: 8,
    };
    let other = Machine {
        number: 22,
        is_big_endian: true,
        ..here
    };
    let spec = module(app.to_str().expect("text"), &[]);
    let gone = module("/gone/app", &[]);
    copied(&folder, &app, "given/app");
    let options = |machine, dirs: &[&str]| Options {
        machine: Some(machine),
        debug_dirs: dirs.iter().map(|dir| folder.path(dir)).collect(),
        ..alone()
    };
    assert!(ask(&spec, options(here, &[]), twice).is_named());
    assert!(ask(&gone, options(here, &["given"]), twice).is_named());

    let told = ask(&spec, options(other, &[]), twice);
    assert!(told.function.is_none());
    let ModuleStatus::Foreign(sentence) = &told.status else {
        panic!("{:?}", told.status);
    };
    assert!(
        sentence.contains("s390 (ELF machine 22), 64 bits, big-endian"),
        "{sentence}"
    );
    let told = ask(&gone, options(other, &["given"]), twice);
    assert!(
        told.function.is_none() && told.refused.len() == 1,
        "{:?}",
        told.refused
    );
    // What the user points at goes before what lies here.
    folder.run("cc -O0 -o app app.c -Wl,--build-id=none");
    let told = ask(&spec, options(here, &["given"]), twice);
    assert!(told.is_named());
}

/// The debug file of a program with function descriptors says nothing of code by its symbols:
/// what they point at is in the program alone.
#[test]
fn descriptors_without_the_module() {
    let folder = Folder::new();
    folder.write("app.c", programs::C);
    let tool = "powerpc64-linux-gnu-";
    if !folder.try_run(&format!(
        "{tool}gcc -O2 -g -static -o app app.c -Wl,--build-id"
    )) {
        println!("SKIPPED: no {tool}gcc");
        return;
    }
    folder.run(&format!("{tool}objcopy --only-keep-debug app app.debug"));
    folder.run(&format!("{tool}objcopy --strip-debug app named"));
    let id = build_id(&folder.path("app"));
    let gone = module("/gone/app", &id);
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, file(folder.path("named")));
    let whole = symbols.add_module(&gone);
    assert_eq!(loaded(symbols.status(whole)).names, NameSource::SymbolTable);
    let mut alone = Symbolizer::new(&store, disk, file(folder.path("app.debug")));
    let debug = alone.add_module(&gone);
    assert_eq!(loaded(alone.status(debug)).names, NameSource::DebugInfo);
    let text = common::sections(&folder.path("app"), |name| name == ".text");
    let (mut lines, mut both) = (0, 0);
    for address in text.iter().cloned().flatten().step_by(64) {
        let name = |symbols: &Symbolizer<_>, module| {
            let last = symbols.lookup(module, address).frames.pop()?;
            Some((last.raw_name?, last.line.is_some()))
        };
        let (Some((here, _)), found) = (name(&symbols, whole), name(&alone, debug)) else {
            continue;
        };
        both += 1;
        if let Some((there, has_line)) = found {
            assert_eq!(here, there, "{address:#x}");
            lines += usize::from(has_line);
        }
    }
    // The C library has no lines, and so no names.
    assert!(
        both > 1000 && (2..both / 2).contains(&lines),
        "{lines} of {both}"
    );
    let data = common::sections(&folder.path("app"), |name| name == ".opd");
    for address in data.into_iter().flatten().step_by(8) {
        assert!(
            alone.lookup(debug, address).frames.is_empty(),
            "{address:#x}"
        );
    }
}
