//! Files that are run as soon as they are there. Another process writes them:
//! a test beside this one may fork while a file is open for writing here, and
//! as long as that child has it open nobody can run it.
#![allow(dead_code)] // each test uses a part of it

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Copies a program.
pub fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    let status = Command::new("cp")
        .arg(from.as_ref())
        .arg(to.as_ref())
        .status();
    assert!(status.expect("cp").success());
}

/// Writes a script, without making it executable.
pub fn write(path: impl AsRef<Path>, content: &str) {
    let mut cat = Command::new("sh")
        .args(["-c", r#"exec cat > "$0""#])
        .arg(path.as_ref())
        .stdin(Stdio::piped())
        .spawn()
        .expect("sh");
    let mut input = cat.stdin.take().expect("piped");
    input.write_all(content.as_bytes()).expect("write");
    drop(input);
    assert!(cat.wait().expect("cat").success());
}
