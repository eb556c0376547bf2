//! What the victims say of themselves, and whether a log agrees.

use std::fs;
use std::path::Path;

use super::tree::{Held, Node, Tree, names};
use super::{Folder, victim};

/// `@site FUNCTION peak=BYTES/BLOCKS end=BYTES/BLOCKS`
#[derive(Debug)]
pub struct Site {
    function: String,
    /// `file:line`
    place: String,
    peak: Held,
    end: Held,
}

/// Who else may have allocated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Others {
    /// Nobody: a C program.
    Nobody,
    /// The C library of a static program, before main: its `_dl_` functions.
    StaticLibc,
    /// A runtime, as long as none of the program's known functions called it.
    Runtime,
}

/// The sites of some files of `victims/`.
#[track_caller]
pub fn sites(files: &[&str]) -> Vec<Site> {
    let sites: Vec<Site> = files.iter().flat_map(|file| sites_of(file)).collect();
    assert!(!sites.is_empty(), "no @site in {files:?}");
    sites
}

fn sites_of(file: &str) -> Vec<Site> {
    let source = fs::read_to_string(victim(file)).expect("a victim");
    let name = file.rsplit('/').next().unwrap_or(file);
    let mut sites = Vec::new();
    for (number, line) in source.lines().enumerate() {
        for annotation in line.split("@site ").skip(1) {
            let mut words = annotation.split_whitespace();
            let function = words.next().expect("a function").to_owned();
            let place = format!("{name}:{}", number + 1);
            let mut held = |key: &str| held(words.next().and_then(|word| word.strip_prefix(key)));
            let (peak, end) = (held("peak="), held("end="));
            sites.push(Site {
                function,
                place,
                peak,
                end,
            });
        }
    }
    sites
}

fn held(text: Option<&str>) -> Held {
    let (bytes, blocks) = text
        .and_then(|text| text.split_once('/'))
        .expect("BYTES/BLOCKS");
    let number = |text: &str| text.parse().expect("a number");
    Held {
        bytes: number(bytes),
        blocks: number(blocks),
    }
}

/// `@total allocations=N releases=N`, if the file has one.
fn totals(file: &str) -> Option<(u64, u64)> {
    let source = fs::read_to_string(victim(file)).expect("a victim");
    let (_, text) = source.split_once("@total ")?;
    let mut words = text.split_whitespace();
    let mut number = |key| words.next()?.strip_prefix(key)?.parse().ok();
    Some((number("allocations=")?, number("releases=")?))
}

/// The log of a program made of these files holds exactly their sites, at the
/// RSS peak and at the end, and nobody else's blocks but those of `others`.
#[track_caller]
pub fn agrees(folder: &Folder, log: &Path, files: &[&str], others: Others) {
    agrees_at("rss-peak", folder, log, files, others);
}

/// The same at another peak, for allocators that keep what they were given back.
#[track_caller]
pub fn agrees_at(peak: &str, folder: &Folder, log: &Path, files: &[&str], others: Others) {
    let sites = sites(files);
    for (moment, at_peak) in [(peak, true), ("end", false)] {
        let words = ["report", "--no-fold", "-t", "0", "--at", moment].map(AsRef::as_ref);
        let args = [words.as_slice(), &[log.as_os_str()]].concat();
        let tree = Tree::read(&folder.says(&args));
        let mut found = Found {
            sites: &sites,
            held: vec![Held::default(); sites.len()],
            others,
        };
        let mut path = Vec::new();
        tree.roots
            .iter()
            .for_each(|root| found.visit(root, &mut path));
        for (site, held) in sites.iter().zip(&found.held) {
            let expected = if at_peak { site.peak } else { site.end };
            assert_eq!(
                *held, expected,
                "{} [{}] at {moment}, {tree:#?}",
                site.function, site.place
            );
        }
    }
    let stats = folder.stats(log);
    for name in [
        "lost_events",
        "stackless_allocations",
        "allocations_of_live_addresses",
    ] {
        assert_eq!(stats.number(name), 0, "{name}");
    }
    assert_eq!(
        stats.number("findings_count"),
        0,
        "{}",
        stats.value("findings")
    );
    if let (Some(file), Others::Nobody) = (files.first(), others) {
        let found = (stats.number("allocations"), stats.number("releases"));
        assert_eq!(Some(found), totals(file), "allocations and releases");
    }
}

/// What the known sites hold, and what others do.
struct Found<'s> {
    sites: &'s [Site],
    held: Vec<Held>,
    others: Others,
}

impl Found<'_> {
    /// The innermost function of a stack that is a site has its blocks: what
    /// is inlined into it comes before.
    #[track_caller]
    fn visit<'t>(&mut self, node: &'t Node, path: &mut Vec<&'t Node>) {
        let is_here =
            |site: &Site| site.place == node.place && names(&node.function, &site.function);
        if let Some(at) = self.sites.iter().position(is_here) {
            self.held[at] += node.held;
            return;
        }
        path.push(node);
        node.callers
            .iter()
            .for_each(|caller| self.visit(caller, path));
        if node.callers.is_empty() {
            self.others(path);
        }
        path.pop();
    }

    #[track_caller]
    fn others(&self, path: &[&Node]) {
        let text: Vec<_> = path
            .iter()
            .map(|node| format!("{} [{}]", node.function, node.place))
            .collect();
        let is_known = |node: &&Node| {
            let file = |place: &str| place.split(':').next().map(str::to_owned);
            let mut sites = self.sites.iter();
            sites.any(|site| {
                file(&site.place) == file(&node.place) && names(&node.function, &site.function)
            })
        };
        assert!(
            !path.iter().any(is_known),
            "another line of a known function: {text:#?}"
        );
        let allowed = match self.others {
            Others::Nobody => false,
            Others::StaticLibc => path.iter().any(|node| node.function.starts_with("_dl_")),
            Others::Runtime => true,
        };
        assert!(
            allowed,
            "someone else's {:?}: {text:#?}",
            path.first().map(|node| node.held)
        );
    }
}
