//! For the build scripts of the two leaves: the doors of one shape, assembled.
//! The list is `wrap/src/doors.h`; nothing else knows the names.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A hooked function.
pub struct Door {
    pub name: String,
    pub arguments: u32,
    pub index: usize,
    /// One of the five of the original's link line.
    #[allow(dead_code)] // one leaf asks
    pub core: bool,
    /// The macro that assembles it.
    pub at: &'static str,
}

fn sources() -> PathBuf {
    Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../wrap/src")
}

/// The table.
pub fn doors() -> Vec<Door> {
    let header = sources().join("doors.h");
    println!("cargo::rerun-if-changed={}", header.display());
    let text = fs::read_to_string(header).unwrap();
    text.lines()
        .filter_map(|line| {
            let (kind, inside) = line.split_once('(')?;
            let (core, at) = match kind {
                "CORE" => (true, "DOOR_AT"),
                "DOOR" => (false, "DOOR_AT"),
                "WATCH" => (false, "WATCH_AT"),
                "TELL" => (false, "TELL_AT"),
                _ => return None,
            };
            let (name, rest) = inside.split_once(',')?;
            let arguments = rest.trim_end_matches(')').trim().parse().unwrap();
            Some((name.to_string(), arguments, core, at))
        })
        .enumerate()
        .map(|(index, (name, arguments, core, at))| Door {
            name,
            arguments,
            index,
            core,
            at,
        })
        .collect()
}

/// Assembles doors into a static library that the compiler finds; `fixed` is
/// the shape behind --wrap.
pub fn archive(library: &str, doors: &[&Door], fixed: bool) {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap();
    let source = sources().join(format!("platform/arch/{arch}_doors.S"));
    println!("cargo::rerun-if-changed={}", source.display());
    let shape = if fixed {
        "#define MEMLOG_STATIC 1\n#define MEMLOG_SYMBOL(name) __wrap_##name\n"
    } else {
        "#define MEMLOG_SYMBOL(name) name\n"
    };
    fs::write(out.join("doors-shape.h"), shape).unwrap();
    let list: String = doors
        .iter()
        .map(|door| {
            format!(
                "{}({}, {}, {})\n",
                door.at, door.name, door.arguments, door.index
            )
        })
        .collect();
    fs::write(out.join("doors-list.h"), list).unwrap();
    let mut build = cc::Build::new();
    // Behind --wrap it is a member of its own. Not every processor has one.
    let named = sources().join(format!("platform/arch/{arch}_named.S"));
    println!("cargo::rerun-if-changed={}", named.display());
    if !fixed && named.exists() {
        build.file(named);
    }
    build
        .include(&out)
        .file(source)
        .warnings_into_errors(true)
        .compile(library);
}
