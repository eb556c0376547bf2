//! Writes what Rust knows of the lists: the doors by number, for `platform/doors.rs`,
//! the check that each has its handler, for `hooks/mod.rs`, and the operators.

use crate::doors::{Door, doors};
use crate::table::rows;
use std::path::Path;
use std::{env, fs};

/// What the handler of a call that goes on by a jump is told.
const TOLD: usize = 3;

/// `doors.rs`, `handlers.rs` and `operators.rs` of OUT_DIR.
pub fn write() {
    let out = env::var("OUT_DIR").unwrap();
    let to = |file: &str, text: String| fs::write(Path::new(&out).join(file), text).unwrap();
    let doors = doors();
    to("doors.rs", of_doors(&doors));
    to("handlers.rs", of_handlers(&doors));
    to("operators.rs", of_operators());
}

fn of_doors(doors: &[Door]) -> String {
    let mut variants = String::new();
    let mut apis = String::new();
    for door in doors {
        let rust = &door.rust;
        variants += &format!("    {rust},\n");
        if let Some(api) = &door.api {
            apis += &format!("    (Door::{rust}, Api::{api}),\n");
        }
    }
    let names = names_of(doors.iter().map(|door| &door.name[..]));
    format!(
        "\
/// A hooked function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // each is the function of that name
#[repr(usize)]
pub enum Door {{
{variants}}}

/// How many there are.
pub const COUNT: usize = {count};

/// The names, by number.
pub static NAMES: [&[u8]; COUNT] = {names};

/// The entry points of the log that they are.
#[cfg(test)]
const APIS: &[(Door, Api)] = &[
{apis}];
",
        count = doors.len(),
    )
}

fn of_handlers(doors: &[Door]) -> String {
    let mut checks = String::new();
    for door in doors {
        let name = &door.name;
        let arguments = match door.shape {
            "DOOR" => door.arguments,
            _ => TOLD,
        };
        let arguments = "_, ".repeat(arguments);
        checks += &format!(
            "    let _: unsafe extern \"C\" fn({arguments}*const DoorFrame) -> _ = memlog_on_{name};\n"
        );
    }
    format!("const _: () = {{\n{checks}}};\n")
}

fn of_operators() -> String {
    let rows = rows("operators.h", &["NEW", "DELETE"]);
    let narrow = env::var("CARGO_CFG_TARGET_POINTER_WIDTH").as_deref() == Ok("32");
    for (at, row) in rows.iter().enumerate() {
        assert_eq!(row.words[0], at.to_string(), "operators.h counts its lines");
    }
    let names: Vec<String> = rows
        .iter()
        .map(|row| match narrow {
            // As `operators.h` says: the m of a size_t is a j.
            true => row.words[1].replace('m', "j"),
            false => row.words[1].clone(),
        })
        .collect();
    let first = |what: fn(&str) -> bool| names.iter().position(|name| what(name)).unwrap();
    format!(
        "\
/// How many operators there are.
const COUNT: usize = {count};
/// Those from here on take an alignment behind their size...
const FIRST_ALIGNED_NEW: usize = {aligned};
/// ...and those from here on take a block.
const FIRST_DELETE: usize = {delete};

/// The names, by number, as the compiler for this machine writes them.
static NAMES: [&[u8]; COUNT] = {names};
",
        count = names.len(),
        aligned = first(|name| name.contains("align_val_t")),
        delete = first(|name| name.starts_with("_Zd")),
        names = names_of(names.iter().map(|name| &name[..])),
    )
}

fn names_of<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let lines: String = names.map(|name| format!("    b\"{name}\",\n")).collect();
    format!("[\n{lines}]")
}
