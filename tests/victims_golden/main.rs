//! The victims, recorded now: their pages are those of `golden/victims/`.
//!
//! What a page says of the victims' own functions is compared to the byte:
//! heap bytes, blocks, functions, lines and shares. What differs from run to
//! run or from machine to machine is taken out by [`normal`] first.
//!
//! * [`list`]: the victims, at which moment, and why some are not here
//! * [`normal`]: what is taken out

mod list;
mod normal;
#[path = "../dot/same.rs"]
mod same;
#[path = "../sites/mod.rs"]
mod sites;

use std::fs;
use std::path::{Path, PathBuf};

use list::{Case, Language, Log, Pages};
use serde_json::Value;
use sites::{Folder, victim};

fn built(folder: &Folder, case: &Case) -> Option<PathBuf> {
    let compiler = case.language.compiler();
    if !compiler.is_here(&format!("golden pages of {}", case.source)) {
        return None;
    }
    let map = |source: &Path| format!("{}=victims", source.display());
    let victims = victim("");
    let victims = victims.components().as_path();
    let options: Vec<String> = match case.language {
        Language::Rust => vec!["--remap-path-prefix".into(), map(victims)],
        Language::Fortran => vec![
            format!("-ffile-prefix-map={}", map(victims)),
            format!("-J{}", folder.root().display()),
        ],
        Language::C | Language::Cxx => vec![format!("-ffile-prefix-map={}", map(victims))],
    };
    Some(compiler.build(folder, case.source, case.program(), &options))
}

/// Records it; the log that is asked for.
fn recorded(folder: &Folder, case: &Case, program: &Path) -> String {
    let program = program.to_str().expect("a path of letters");
    let mut words = vec!["record", "-o", "log.memlog", "--", program];
    words.extend(case.words.split_whitespace());
    folder.says(&words);
    let is_it: fn(&Value) -> bool = match case.log {
        Log::Own => return "log.memlog".to_owned(),
        Log::LastImage => return by_start(folder).pop().expect("a log").0,
        Log::FirstChild => |_| true,
        Log::FreeingChild => |stats| stats["inherited_released_blocks"] != 0,
    };
    let parent = stats(folder, "log.memlog")["pid"].clone();
    let mut logs = by_start(folder).into_iter();
    let child = logs.find(|(_, stats)| stats["parent_pid"] == parent && is_it(stats));
    child.expect("a child's log").0
}

fn stats(folder: &Folder, log: &str) -> Value {
    serde_json::from_str(&folder.says(&["stats", "--json", log])).expect("JSON")
}

fn by_start(folder: &Folder) -> Vec<(String, Value)> {
    let names = folder.logs("").into_iter();
    let names = names.filter_map(|log| Some(log.file_name()?.to_str()?.to_owned()));
    let mut logs: Vec<_> = names
        .map(|log| (log.clone(), stats(folder, &log)))
        .collect();
    // Several may begin at the same step of the clock: log.memlog, log.2.memlog ...
    let number = |log: &str| log.split('.').nth(1).and_then(|word| word.parse().ok());
    logs.sort_by_key(|(log, stats)| {
        (
            stats["start_unix_ns"].as_u64(),
            number(log).unwrap_or(1_u64),
        )
    });
    logs
}

/// What the language's own library holds outside main, as the goldens have it;
/// another version of it may hold other blocks. C's holds none.
fn library_agrees(folder: &Folder, case: &Case, log: &str) -> bool {
    let words = [
        "tree",
        "--json",
        "-i",
        case.language.main(),
        "--at",
        case.at,
        log,
    ];
    let tree: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let number = |name: &str| tree[name].as_u64().expect("a number");
    let outside = number("unfiltered_bytes") - number("bytes");
    let expected = case.language.library_bytes();
    if outside != expected {
        println!(
            "SKIPPED golden pages of {}: the library here holds {outside} bytes of its own, that \
             of the goldens {expected}",
            case.source
        );
    }
    outside == expected
}

fn check(case: &Case) {
    let folder = Folder::new(&format!("victims-{}", case.name));
    let Some(program) = built(&folder, case) else {
        return;
    };
    let log = recorded(&folder, case, &program);
    if let Pages::Trees(only) = case.pages {
        return trees(&folder, case, &["-i", only, &log]);
    }
    if case.language != Language::C && !library_agrees(&folder, case, &log) {
        return;
    }
    graph(&folder, case, &log);
    if let Pages::All = case.pages {
        trees(&folder, case, &[&log]);
    }
}

fn graph(folder: &Folder, case: &Case, log: &str) {
    // Boxes of several places would hold those of libraries too; what is mapped
    // goes by the machine's pages.
    let words = "dot -q --no-fold --no-mapped --format dot,txt --at";
    let words: Vec<_> = words.split(' ').chain([case.at, log, "out"]).collect();
    folder.says(&words);
    // Where a file is said in full, without the folder of this run.
    let here = format!("{}/", folder.root().display());
    let page = |ending| {
        let path = folder.path("out").join(format!("{log}.{ending}"));
        fs::read_to_string(path).expect(ending).replace(&here, "")
    };
    compare(case, "dot", &normal::dot(&page("dot"), case.source));
    compare(case, "txt", &normal::text(&page("txt"), case.source));
}

fn trees(folder: &Folder, case: &Case, words: &[&str]) {
    let tree = |direction: &[&str]| {
        // A line of several places would hold those of libraries too.
        let full = ["tree", "--no-fold", "--show-below-main", "--at", case.at];
        let words = [&full, direction, words].concat();
        normal::tree(&folder.says(&words), case.source)
    };
    compare(case, "tree", &tree(&[]));
    compare(case, "top-down.tree", &tree(&["--top-down"]));
}

#[track_caller]
fn compare(case: &Case, ending: &str, page: &str) {
    same::same_as(&format!("victims/{}.{ending}", case.name), page.as_bytes());
}

/// A test for each of these cases, which must be all.
macro_rules! cases {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            let mut cases = list::CASES.iter();
            check(cases.find(|case| case.name == stringify!($name)).expect("a case"));
        })*

        #[test]
        fn every_case_has_a_test() {
            let tested = [$(stringify!($name)),*];
            assert_eq!(tested[..], list::CASES.iter().map(|case| case.name).collect::<Vec<_>>());
        }
    };
}

cases! {
    sites sites_end server deep deep_each api churn coroutines vforker execer qsort_cb realloc_race
    threads8 forker forker_child forker_freeing sites_cpp operators throw sites_f90 sites_rs
}
