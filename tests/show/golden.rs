//! What is printed of logs made by hand.

use crate::logs::{blind, empty, odd, sites};
use crate::same::same;
use crate::sites::Folder;
use crate::{says, with_logs};

#[test]
fn pages_are_the_golden_ones() {
    let logs = [
        ("sites", sites()),
        ("odd", odd()),
        ("empty", empty()),
        ("blind", blind()),
    ];
    let folder = with_logs("show-golden", &logs);
    let pages = [
        (
            "sites.report",
            "report --at rss-peak --show-leaks sites.memlog",
        ),
        ("odd.report", "report --at rss-peak --show-leaks odd.memlog"),
        (
            "empty.report",
            "report --at rss-peak --show-leaks empty.memlog",
        ),
        ("blind.report", "report blind.memlog"),
        (
            "sites-full.report",
            "report --at rss-peak --no-fold --show-below-main --show-leaks sites.memlog",
        ),
        (
            "sites-allocated.report",
            "report --by allocated sites.memlog",
        ),
        (
            "sites-count.tree",
            "tree --by count --top-down sites.memlog",
        ),
        (
            "sites-temporary.report",
            "report --by temporary sites.memlog",
        ),
        (
            "sites-temporary.tree.json",
            "tree --by temporary --json sites.memlog",
        ),
        ("sites.summary", "summary sites.memlog"),
        ("odd.summary", "summary odd.memlog"),
        ("empty.summary", "summary empty.memlog"),
        ("blind.summary", "summary blind.memlog"),
        ("sites.tree", "tree --top-down sites.memlog"),
        ("odd.tree", "tree --top-down -t 0 --at heap-peak odd.memlog"),
        ("empty.tree", "tree --top-down empty.memlog"),
        ("odd-coloured.report", "report --color always odd.memlog"),
        ("odd-coloured.summary", "summary --color always odd.memlog"),
        (
            "sites-coloured.tree",
            "tree --top-down --color always sites.memlog",
        ),
        (
            "sites.report.json",
            "report --show-leaks --json sites.memlog",
        ),
        ("odd.summary.json", "summary --json odd.memlog"),
        ("odd.tree.json", "tree --json --top-down -t 10 odd.memlog"),
        (
            "odd-filtered.report",
            r"report -i 1300$ -x too.deep --exclude-module ^lib odd.memlog",
        ),
    ];
    for (name, words) in pages {
        same(name, says(&folder, words).as_bytes());
    }
}

/// The bottom-up tree is the report's.
#[test]
fn a_tree_is_that_of_the_report() {
    let folder = with_logs("show-tree", &[("sites", sites())]);
    for moment in ["rss-peak", "heap-peak", "end", "20ms"] {
        let report = says(&folder, &format!("report --at {moment} sites.memlog"));
        let tree = says(&folder, &format!("tree --at {moment} sites.memlog"));
        assert_eq!(report, tree, "{moment}");
    }
}

/// A flight recorder's log has its last events only: they are counted, and said
/// to be that.
#[test]
fn what_is_left_of_a_run_is_said_to_be_that() {
    let folder = Folder::new("show-window");
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/golden/v2/flight.memlog");
    let page = says(&folder, &format!("report --by temporary {log}"));
    let title = "\ntemporary allocations in the window (freed before the thread's next allocation, \
                 33.3 % of its allocations, percentages are shares of their number): ";
    assert!(page.contains(title), "{page}");
    let page = says(&folder, &format!("tree --top-down --by allocated {log}"));
    assert!(
        page.contains("\nallocated in the window, from main down ("),
        "{page}"
    );
    // What was live at its RSS peak is overwritten.
    let page = says(&folder, &format!("summary {log}"));
    let line =
        "\nby thread: 100.0 % of what was live at the largest heap of the window allocated by ";
    assert!(page.contains(line), "{page}");
}
