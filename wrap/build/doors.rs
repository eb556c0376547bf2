//! The doors of one shape, assembled: for the build scripts of the two leaves.

use crate::table::{rows, sources};
use std::path::PathBuf;
use std::{env, fs};

/// A hooked function: a line of `doors.h`.
pub struct Door {
    pub name: String,
    /// Of the program's call.
    pub arguments: usize,
    pub index: usize,
    /// One of the five of the original's link line.
    #[allow(dead_code)] // the other leaf takes all
    pub core: bool,
    /// Which macro assembles it: `DOOR`, `WATCH` or `TELL`.
    pub shape: &'static str,
    /// Its name in `enum Door`.
    #[allow(dead_code)] // the leaves have no Rust
    pub rust: String,
    /// In the log, if it is an entry point of memory.
    #[allow(dead_code)] // as above
    pub api: Option<String>,
}

/// The list.
pub fn doors() -> Vec<Door> {
    let lines = rows("doors.h", &["CORE", "DOOR", "WATCH", "TELL"]);
    let door = |(index, row): (usize, crate::table::Row)| {
        let [name, arguments, rust, api] = row.words.try_into().expect("doors.h: four words");
        Door {
            name,
            arguments: arguments.parse().expect("doors.h: a number of arguments"),
            index,
            core: row.kind == "CORE",
            shape: match &row.kind[..] {
                "WATCH" => "WATCH",
                "TELL" => "TELL",
                _ => "DOOR",
            },
            rust,
            api: (api != "-").then_some(api),
        }
    };
    lines.into_iter().enumerate().map(door).collect()
}

/// Assembles doors into a static library that the compiler finds; `fixed` is
/// the shape behind --wrap.
#[allow(dead_code)] // crate memlog-wrap has doors for the sanitizers alone
pub fn archive(library: &str, doors: &[&Door], fixed: bool) {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let arch = sources().join("platform/arch");
    println!("cargo::rerun-if-changed={}", arch.display());
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
                "{}_AT({}, {}, {})\n",
                door.shape, door.name, door.arguments, door.index
            )
        })
        .collect();
    fs::write(out.join("doors-list.h"), list).unwrap();
    let mut build = cc::Build::new();
    // Behind --wrap it is a member of its own. Not every processor has one.
    let processor = env::var("CARGO_CFG_TARGET_ARCH").unwrap();
    let named = arch.join(format!("{processor}_named.S"));
    if !fixed && named.exists() {
        build.file(named);
    }
    build
        .include(&out)
        .file(arch.join("doors.S"))
        .warnings_into_errors(true)
        .compile(library);
}
