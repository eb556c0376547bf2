//! Lines of a source file around a place, if the file is here.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use crate::words::clean;

/// A source file is no longer than this, or it is none.
const LONGEST: u64 = 16 << 20;

/// So many lines before and behind a line as there are, with their numbers.
pub fn around(location: &str, count: u32) -> Vec<(u32, String)> {
    let Some((file, line)) = location.rsplit_once(':') else {
        return Vec::new();
    };
    let Ok(line) = line.parse::<u32>() else {
        return Vec::new();
    };
    let path = Path::new(file);
    // A pipe would be waited for.
    let is_file = path
        .metadata()
        .is_ok_and(|found| found.is_file() && found.len() <= LONGEST);
    let Some(file) = is_file.then(|| File::open(path).ok()).flatten() else {
        return Vec::new();
    };
    let first = line.saturating_sub(count).max(1);
    let lines = BufReader::new(file).split(b'\n');
    let lines = (1..).zip(lines).skip(first as usize - 1);
    let lines = lines.take_while(|(number, _)| *number <= line.saturating_add(count));
    lines
        .filter_map(|(number, text)| Some((number, without_tabs(&text.ok()?))))
        .collect()
}

fn without_tabs(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let parts = line.split(|&byte| byte == b'\t').map(clean);
    parts.collect::<Vec<_>>().join("    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_there_are_told() {
        let path = std::env::temp_dir().join(format!("memlog-around-{}", std::process::id()));
        std::fs::write(&path, "one\n\ttwo\x1b[2J\nthree\nfour").expect("written");
        let at = |line: &str| around(&format!("{}:{line}", path.display()), 1);
        assert_eq!(
            at("1"),
            [(1, "one".into()), (2, "    two\\u{1b}[2J".into())]
        );
        assert_eq!(at("4"), [(3, "three".into()), (4, "four".into())]);
        assert!(at("9").is_empty() && at("x").is_empty() && at("0").len() == 1);
        std::fs::remove_file(&path).expect("removed");
        assert!(at("1").is_empty() && around("nothing", 3).is_empty());
    }
}
