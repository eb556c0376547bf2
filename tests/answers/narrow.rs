//! Pages on narrow terminals: no line is wider, and what has no room is named.

use std::path::{Path, PathBuf};

use crate::sites::build::{GXX, optioned};
use crate::sites::{Folder, said};
use crate::{COMMANDS, built, recorded};

/// What such a terminal shows; none: what has room without end.
fn page(folder: &Folder, log: &Path, command: &str, columns: Option<usize>) -> String {
    let words = command.split(' ').map(|word| match word {
        "LOG" => log.to_str().expect("a name"),
        word => word,
    });
    let mut command = folder.memlog(&words.collect::<Vec<_>>());
    command.env_remove("COLUMNS");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns.to_string());
    }
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    String::from_utf8(output.stdout).expect("text")
}

/// Cells of a line: two blanks part them.
fn cells(line: &str) -> Vec<&str> {
    let cells = line.split("  ").map(str::trim);
    cells.filter(|cell| !cell.is_empty()).collect()
}

/// Each title of the whole page is in that of a narrow one, or said to have no room.
#[track_caller]
fn loses_nothing(whole: &str, narrow: &str) {
    let (_, whole) = whole.split_once("\n\n").expect("a heading");
    let titles = cells(whole.lines().nth(1).expect("titles"));
    let (_, narrow) = narrow.split_once("\n\n").expect("a heading");
    let is_of_titles =
        |cells: &Vec<&str>| cells.len() > 1 && cells.iter().all(|cell| titles.contains(cell));
    let shown = narrow.lines().map(cells).find(is_of_titles);
    let shown = shown.unwrap_or_else(|| panic!("{titles:?}: {narrow}"));
    let told = narrow
        .split_once("no room for: ")
        .map_or("", |(_, told)| told);
    let told = told.replace('\n', " ");
    for title in titles {
        assert!(
            shown.contains(&title) || told.contains(title),
            "{title}: {narrow}"
        );
    }
}

#[track_caller]
fn fits(folder: &Folder, log: &Path, command: &str) {
    let whole = page(folder, log, command, None);
    // A stack stands below its block, and neighbours of a grid are put together. Of no
    // blocks there is no table.
    let (_, table) = whole.split_once("\n\n").expect("a heading");
    let others = ["histogram size-lifetime", "where"];
    let is_table = !others.iter().any(|one| command.starts_with(one));
    let is_table = is_table && table.lines().nth(1).is_some_and(|line| !line.is_empty());
    for columns in [60, 80, 120] {
        let text = page(folder, log, command, Some(columns));
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(columns), "{command} at {columns}: {text}");
        if is_table {
            loses_nothing(&whole, &text);
        }
    }
    let wide = page(folder, log, command, Some(400));
    assert!(!wide.contains("no room for"), "{wide}");
}

fn all(folder: &Folder, log: &Path, more: &[&str]) {
    let commands = COMMANDS.iter().map(|command| format!("{command} LOG"));
    let more = more.iter().map(|command| (*command).to_owned());
    for command in commands.chain(more) {
        fits(folder, log, &command);
    }
}

/// Of C++, whose names are long.
fn wide(folder: &Folder) -> Option<PathBuf> {
    let compiler = optioned("g++", &["-std=c++17", "-O1", "-g", "-pthread"]);
    if !GXX.is_here("long names of C++") {
        return None;
    }
    let program = built(folder, &compiler, "wide.cpp", "wide");
    let log = folder.path("wide.memlog");
    let mut command = folder.memlog(&["record", "--free-stacks", "-o"]);
    let output = command.arg(&log).arg(program).output().expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    Some(log)
}

#[test]
fn pages_fit_with_long_names() {
    let folder = Folder::new("answers-narrow");
    let Some(log) = wide(&folder) else {
        return;
    };
    let leaked = crate::ask(&folder, &log, "maps --at end");
    assert_eq!(crate::rows(&leaked).len(), 1, "{leaked:#}");
    let dump = folder.says(&["dump", "--no-symbols", log.to_str().expect("a name")]);
    let block = dump.lines().rfind(|line| line.starts_with("M: 5120"));
    let block = block.and_then(|line| line.split([' ', '\t']).nth(2));
    let address = block.expect("the largest of the chain");
    all(
        &folder,
        &log,
        &[
            "annotate LOG wide.cpp",
            "table --sort waste LOG",
            "table --sort largest --by freed-function LOG",
            "table --by freed-stack LOG",
            "table --by alignment LOG",
            "chains --by stack LOG",
            &format!("where LOG {address}"),
            "function .*register_all_pending_connections LOG",
        ],
    );
}

/// What blocks are sorted by is not what has no room.
#[test]
fn the_column_that_was_asked_for_stays() {
    let folder = Folder::new("answers-narrow-sorted");
    let (log, _) = recorded(&folder, &[], "mix 3 90 2");
    for sort in ["lifetime", "thread", "kind", "chain", "usable", "stack"] {
        let text = page(
            &folder,
            &log,
            &format!("table --list --sort {sort} LOG"),
            Some(64),
        );
        assert!(text.contains("no room for: "), "{text}");
        let is_title = |line: &&str| line.contains("address") && line.contains("function");
        let titles = text
            .lines()
            .find(is_title)
            .unwrap_or_else(|| panic!("{text}"));
        assert!(titles.contains(sort), "{sort}: {titles}");
    }
}

#[test]
fn pages_of_c_and_of_old_logs_fit() {
    let folder = Folder::new("answers-narrow-c");
    let (log, _) = recorded(&folder, &["--rss-detail", "always"], "mix 3 400 3");
    all(&folder, &log, &["annotate LOG known.c", "rss LOG"]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let mut logs = Vec::new();
    crate::odd::logs_below(&golden, &mut logs);
    let few = if crate::is_long() { logs.len() } else { 2 };
    for log in logs.iter().take(few) {
        all(&folder, log, &[]);
    }
}
