//! What the program mapped itself, in trees and in a summary.

use memlog_format::ext::Mapping;
use memlog_format::table::StackId;

use crate::recipe::{PROGRAM, Recipe};
use crate::terminal::{plain, terminal};
use crate::{memlog, says, with_logs};

/// 64 MiB mapped by two callers of one place, a small heap, and no names.
fn maps() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    log.read_rss(1_500);
    log.time(10);
    let mut stack = |places: &[u64]| {
        let places = places.iter().map(|place| PROGRAM + place);
        log.stack(StackId::COMPLETE, &places.collect::<Vec<_>>())
    };
    let grid = stack(&[0x9100, 0x1100, 0x800]);
    let rows = stack(&[0x9100, 0x5100, 0x800]);
    let block = stack(&[0x9100, 0x3100]);
    for (order, (by, mebibytes)) in (0..).zip([(grid, 48), (rows, 16)]) {
        let mapping = Mapping::Map {
            address: 0x7FFF_0000_0000 + (order << 28),
            length: mebibytes << 20,
            prot: 3,
            flags: 0x22,
        };
        log.map_by(by, order, false, mapping);
    }
    log.allocate(block, 100, 10_000);
    log.time(40);
    log.read_rss(93_400);
    log.time(60);
    log
}

#[test]
fn a_tree_of_what_was_mapped() {
    let folder = with_logs("show-mapped", &[("maps", maps())]);
    let expected = "\
mapped by the program itself at the RSS peak, touched or not, by the call that made it map more \
(percentages are shares of it): 67,108,864B in 2 mappings
->100.00% (67,108,864B, 2x): program+0x800
  ->75.00% (50,331,648B, 1x): program+0x1100
  | <- program+0x9100
  ->25.00% (16,777,216B, 1x): program+0x5100
    <- program+0x9100
";
    for command in ["report", "tree"] {
        let page = says(&folder, &format!("{command} --mapped maps.memlog"));
        let (_, tree) = page.split_once("\n\n").expect("a heading");
        let tree = tree.split("\nnote: ").next();
        assert_eq!(tree, Some(expected), "{command}");
    }
    let page = says(&folder, "tree --mapped --top-down --at end maps.memlog");
    assert!(
        page.contains("\n->100.00% (67,108,864B, 2x): program+0x9100\n"),
        "{page}"
    );
    let page = says(&folder, "report --mapped --json maps.memlog");
    let page: serde_json::Value = serde_json::from_str(&page).expect("JSON");
    let tree = &page["trees"][0];
    let figures = ["by", "moment", "bytes", "blocks"].map(|key| tree[key].to_string());
    assert_eq!(figures, ["\"mapped\"", "\"rss-peak\"", "67108864", "2"]);
    let refused = memlog(&folder, "report --mapped --by count maps.memlog").output();
    assert_eq!(refused.expect("memlog runs").status.code(), Some(2));
}

/// The larger ledger comes first, and what is next is of it.
#[test]
fn a_summary_speaks_of_what_is_larger() {
    let folder = with_logs("show-mapped-first", &[("maps", maps())]);
    let page = says(&folder, "summary maps.memlog");
    for part in [
        "64.0 MiB mapped by the program itself about the RSS peak, touched or not, by the call that \
         made it map more (",
        "\nnext: memlog report --mapped maps.memlog ",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

/// What the peak consists of stays, where there is no room for all.
#[test]
fn the_parts_of_the_peak_stay_on_a_small_screen() {
    let folder = with_logs("show-mapped-small", &[("maps", maps())]);
    let text = plain(&terminal(&folder, &[]).shows("summary maps.memlog").0);
    assert!(text.lines().count() < 24, "{text}");
    assert!(
        text.contains("at most 64.0 MiB mapped by the program itself,"),
        "{text}"
    );
    assert!(text.contains("976.6 KiB live at the RSS peak"), "{text}");
}

/// Without a terminal a page is as wide as COLUMNS says.
#[test]
fn a_pipe_is_as_wide_as_columns() {
    let folder = with_logs("show-mapped-columns", &[("maps", maps())]);
    for words in ["summary", "report", "tree", "tree --mapped"] {
        let words = format!("{words} maps.memlog");
        let mut command = memlog(&folder, &words);
        let output = command.env("COLUMNS", "60").output().expect("memlog runs");
        let page = String::from_utf8(output.stdout).expect("text");
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(60), "{words}: {widest:?} columns: {page}");
        let mut command = memlog(&folder, &words);
        let output = command
            .env("COLUMNS", "none")
            .output()
            .expect("memlog runs");
        let page = String::from_utf8(output.stdout).expect("text");
        assert_eq!(page, says(&folder, &words));
    }
}
