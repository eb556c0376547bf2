//! Source files of two builds, which may lie in other folders.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use memlog_analysis::brief_path;

use super::side::Side;
use crate::place::file_of;

/// More of the same name are not compared each with each.
const MOST: usize = 64;

/// By side and file what it is called on both.
pub(super) struct SourceFiles([HashMap<String, String>; 2]);

impl SourceFiles {
    pub(super) fn of(sides: [&Side; 2]) -> Self {
        let all = sides.map(|side| {
            let files = side
                .names
                .iter()
                .filter_map(|name| name.location.as_deref());
            let files: BTreeSet<&str> = files.map(file_of).collect();
            files
        });
        let texts = all.each_ref().map(|files| {
            let texts = files.iter().map(|file| (*file, parts(file)));
            texts.collect::<BTreeMap<&str, Vec<&str>>>()
        });
        let same = same(&texts);
        let key = |side: usize, parts: &[&str]| {
            let text = parts.join("/");
            match side {
                1 => text,
                _ => same.get(&text).cloned().unwrap_or(text),
            }
        };
        let of = |side: usize| {
            let files = texts[side].iter();
            let keys = files.map(|(file, parts)| ((*file).to_owned(), key(side, parts)));
            keys.collect()
        };
        Self([of(0), of(1)])
    }

    pub(super) fn key<'f>(&'f self, side: usize, file: &'f str) -> &'f str {
        self.0[side].get(file).map_or(file, String::as_str)
    }
}

/// A path's parts, without what differs between versions of a crate or a compiler.
fn parts(file: &str) -> Vec<&str> {
    let parts = brief_path(file).split('/');
    let parts = parts.filter(|part| !matches!(*part, "" | "." | "..") && !is_version(part));
    parts.map(without_version).collect()
}

fn is_version(part: &str) -> bool {
    part.starts_with(|c: char| c.is_ascii_digit())
        && part
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// `regex` of `regex-1.10.6`.
fn without_version(part: &str) -> &str {
    match part.rsplit_once('-') {
        Some((name, version)) if !name.is_empty() && is_version(version) => name,
        _ => part,
    }
}

/// Of files that are on the side before alone what they are called after: the one that is
/// only there, with the same name and the most of the same folders, if each is the one for
/// the other.
fn same(texts: &[BTreeMap<&str, Vec<&str>>; 2]) -> HashMap<String, String> {
    let known = texts.each_ref().map(|texts| {
        let known = texts.values().cloned();
        known.collect::<BTreeSet<Vec<&str>>>()
    });
    let lone = [0, 1].map(|side| {
        let mut by_name: HashMap<&str, Vec<&Vec<&str>>> = HashMap::new();
        for parts in known[side].difference(&known[1 - side]) {
            if let Some(name) = parts.last() {
                by_name.entry(name).or_default().push(parts);
            }
        }
        by_name
    });
    let mut same = HashMap::new();
    for (name, before) in &lone[0] {
        let Some(after) = lone[1].get(name) else {
            continue;
        };
        if before.len() > MOST || after.len() > MOST {
            continue;
        }
        for one in before {
            let other = nearest(one, after);
            if let Some(other) = other.filter(|other| nearest(other, before) == Some(*one)) {
                same.insert(one.join("/"), other.join("/"));
            }
        }
    }
    same
}

/// The one that ends as this does for longest; none if several do.
fn nearest<'a, 'b>(one: &[&str], all: &[&'a Vec<&'b str>]) -> Option<&'a Vec<&'b str>> {
    let common = |other: &[&str]| {
        let both = one.iter().rev().zip(other.iter().rev());
        both.take_while(|(one, other)| one == other).count()
    };
    let mut sorted: Vec<_> = all
        .iter()
        .map(|other| (Reverse(common(other)), *other))
        .collect();
    sorted.sort_by_key(|(common, _)| *common);
    match sorted[..] {
        [(one, best), (other, _), ..] if one != other => Some(best),
        [(_, best)] => Some(best),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(before: &[&str], after: &[&str]) -> Vec<(String, String)> {
        let texts = [before, after].map(|files| {
            let texts = files.iter().map(|file| (*file, parts(file)));
            texts.collect::<BTreeMap<&str, Vec<&str>>>()
        });
        let mut same: Vec<_> = same(&texts).into_iter().collect();
        same.sort();
        same
    }

    #[test]
    fn folders_may_differ() {
        let pair = |one: &str, other: &str| vec![(one.to_owned(), other.to_owned())];
        assert_eq!(
            joined(&["/build/a/src/x.c"], &["/home/me/src/x.c"]),
            pair("build/a/src/x.c", "home/me/src/x.c")
        );
        assert_eq!(joined(&["/b/x.c"], &["x.c"]), pair("b/x.c", "x.c"));
        // Which of both it was is not told.
        assert_eq!(joined(&["/b/x.c"], &["/c/x.c", "/d/x.c"]), []);
        assert_eq!(
            joined(
                &["/b/p/util.c", "/b/q/util.c"],
                &["/c/p/util.c", "/c/q/util.c"]
            )
            .len(),
            2
        );
        assert_eq!(joined(&["/b/x.c"], &["/b/x.c", "/c/x.c"]), []);
        assert_eq!(joined(&["/b/x.c"], &["/b/y.c"]), []);
        assert_eq!(joined(&["", "/"], &["/"]), []);
    }

    #[test]
    fn versions_of_crates_and_compilers_tell_nothing() {
        let crates = "/home/me/.cargo/registry/src/index-6f17d22bba15001f/regex-1.10.6/src/lib.rs";
        assert_eq!(parts(crates), ["regex", "src", "lib.rs"]);
        assert_eq!(
            parts("/usr/include/c++/12/vector"),
            ["usr", "include", "c++", "vector"]
        );
        assert_eq!(parts("a-b/x-1.c"), ["a-b", "x-1.c"]);
    }
}
