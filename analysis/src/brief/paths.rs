//! Source files that are not the user's by the names that they go by.

/// `std/src/rt.rs:175` for what lies below a build of Rust, and
/// `regex-1.10.6/src/lib.rs:9` for what lies in a registry of crates.
pub fn brief_path(path: &str) -> &str {
    of_rust(path)
        .or_else(|| after(path, "/registry/src/", 1))
        .or_else(|| path.strip_prefix("/rust/deps/"))
        .unwrap_or(path)
}

/// For a box: such a path without the folders in its middle, of any other path
/// the file.
pub fn short_path(path: &str) -> String {
    let brief = brief_path(path);
    let file = brief.rsplit('/').find(|part| !part.is_empty());
    let file = file.unwrap_or(brief);
    match brief.split_once('/') {
        Some((crate_name, _)) if brief.len() < path.len() => format!("{crate_name}/…/{file}"),
        _ => file.to_owned(),
    }
}

/// `/rustc/<commit>/library/std/src/rt.rs`, and the same where the sources of
/// the library are installed.
fn of_rust(path: &str) -> Option<&str> {
    let known = match path.strip_prefix("/rustc/") {
        Some(known) => known.split_once('/')?.1,
        None => after(path, "/lib/rustlib/src/rust/", 0)?,
    };
    Some(known.strip_prefix("library/").unwrap_or(known))
}

/// What follows a folder and so many more.
fn after<'p>(path: &'p str, folder: &str, more: usize) -> Option<&'p str> {
    let mut rest = path.split_once(folder)?.1;
    for _ in 0..more {
        rest = rest.split_once('/')?.1;
    }
    (!rest.is_empty()).then_some(rest)
}
