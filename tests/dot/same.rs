//! Pages that never change unless they are to. `MEMLOG_BLESS=1` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    root.join("golden").join(name)
}

/// The same as a page of `golden/show/`.
#[allow(dead_code, reason = "each test uses a part of it")]
#[track_caller]
pub fn same(name: &str, text: &[u8]) {
    same_as(&format!("show/{name}"), text);
}

/// The same as the golden, which is written first where that is asked for.
#[track_caller]
pub fn same_as(name: &str, text: &[u8]) {
    let path = golden(name);
    if std::env::var_os("MEMLOG_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, text).expect("write");
    }
    let expected = fs::read(&path).expect(name);
    let (expected, text) = (
        String::from_utf8_lossy(&expected),
        String::from_utf8_lossy(text),
    );
    for (number, (one, other)) in expected.lines().zip(text.lines()).enumerate() {
        assert_eq!(one, other, "{name}, line {}", number + 1);
    }
    assert_eq!(expected, text, "{name}");
}
