//! The form of heaptrack: heaptrack_print counts in it what `stats` and `table` say.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Case, is_here, list, sum_of_folded, whole};
use crate::sites::said;

/// What heaptrack counts of a form, and what it says besides.
fn cost_of(case: &Case, form: &Path, kind: &str) -> (u64, String) {
    let out = case.folder.path(&format!("{kind}.folded"));
    let mut command = case.folder.command("heaptrack_print");
    command
        .args(["--flamegraph-cost-type", kind, "-F"])
        .arg(&out);
    let output = command.arg(form).output().expect("it runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", said(&output));
    let text = fs::read_to_string(out).expect("text");
    (sum_of_folded(&text), told)
}

/// Of blocks that are chosen it counts those, and no others.
#[test]
fn heaptrack_counts_chosen_blocks() {
    if !is_here("heaptrack_print") {
        return;
    }
    let filters = [
        "size >= 200",
        "leaked",
        "not leaked",
        "thread = 1",
        "function ~ 'grow'",
        "size > 1TiB",
    ];
    for words in ["mix 9 900 3", "fork"] {
        let case = Case::new(&format!("answers-exports-chosen-{}", words.len()), words);
        let log = case.log.to_str().expect("a name");
        for filter in filters {
            let form = case.export("heaptrack", &["--where", filter]);
            let of = |filter: &str, key: &str| {
                let words = ["table", "--by", "kind", "--where", filter, "--json", log];
                let table: Value = serde_json::from_str(&case.folder.says(&words)).expect("JSON");
                let rows = list(&table["rows"]).iter().map(|row| whole(&row[key]));
                rows.sum::<u64>()
            };
            let cost = |kind: &str| cost_of(&case, &form, kind).0;
            assert_eq!(
                cost("allocations"),
                of(filter, "blocks"),
                "{words}: {filter}"
            );
            let leaked = of(&format!("leaked and ({filter})"), "bytes");
            assert_eq!(cost("leaked"), leaked, "{words}: {filter}");
        }
    }
}

/// What heaptrack counts of its form is what `stats` says: by its own flame graph, whose
/// costs are whole numbers.
#[test]
fn heaptrack_counts_the_same() {
    if !is_here("heaptrack_print") {
        return;
    }
    for (name, words) in [
        ("one", "mix 7 900 1"),
        ("many", "mix 8 900 4"),
        ("fork", "fork"),
    ] {
        let case = Case::new(&format!("answers-exports-heaptrack-{name}"), words);
        let form = case.export("heaptrack", &[]);
        let cost = |kind: &str| cost_of(&case, &form, kind);
        // What was inherited comes at once, before the log's own events.
        let inherited = case.number("inherited_blocks");
        let (allocations, told) = cost("allocations");
        assert_eq!(
            allocations,
            case.number("allocations") + inherited,
            "{words}: {told}"
        );
        assert_eq!(cost("leaked").0, case.number("end_live_bytes"), "{words}");
        assert_eq!(cost("peak").0, case.number("heap_peak_bytes"), "{words}");
        let calls = format!("calls to allocation functions: {allocations} ");
        assert!(told.contains(&calls), "{told}");
    }
}

/// Of events blocks are chosen, and nothing else.
#[test]
fn forms_of_events_refuse_what_chooses() {
    let case = Case::new("answers-exports-refused", "mix 6 90 1");
    let log = case.log.to_str().expect("a name");
    for option in [
        &["--at", "end"][..],
        &["--by", "count"],
        &["--include", "mix"],
        &["--show-below-main"],
    ] {
        let output = case
            .folder
            .run(&[&["export", "heaptrack", log], option].concat());
        assert_eq!(output.status.code(), Some(2));
        let told = said(&output);
        assert!(
            told.contains("heaptrack's form is of the whole run"),
            "{told}"
        );
    }
}
