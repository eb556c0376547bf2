//! The form of heaptrack: heaptrack_print counts in it what `stats` and `table` say.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Case, is_here, list, sum_of_folded, whole};
use crate::ask;
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

/// heaptrack_gui counts blocks of a size and stack in a list that grows by the next number
/// alone: it dies of another. It is not here, so its rule is.
fn check_turns(form: &Path) {
    let text = fs::read_to_string(form).expect("text");
    let (mut defined, mut counted) = (0, 0);
    for line in text.lines() {
        match line.split_at_checked(2) {
            Some(("a ", _)) => defined += 1,
            Some(("+ ", number)) => {
                let number = u64::from_str_radix(number, 16).expect("a number");
                assert!(number <= counted && number < defined, "{line} of {counted}");
                counted = counted.max(number + 1);
            }
            _ => {}
        }
    }
    assert_eq!(counted, defined, "each has a block");
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
            check_turns(&form);
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
        check_turns(&form);
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

/// heaptrack believes the ending of a name, and so do we when we read one.
#[test]
fn a_file_is_packed_as_its_name_says() {
    let case = Case::new("answers-exports-packed", "mix 7 900 2");
    let log = case.log.to_str().expect("a name");
    let plain = case.export("heaptrack", &[]);
    let plain_stats = ask(&case.folder, &plain, "stats");
    for (ending, magic) in [
        ("gz", &[0x1f, 0x8b][..]),
        ("zst", &[0x28, 0xb5, 0x2f, 0xfd]),
    ] {
        let packed = case.folder.path(&format!("packed.{ending}"));
        let name = packed.to_str().expect("a name");
        case.folder.says(&["export", "heaptrack", "-o", name, log]);
        assert!(fs::read(&packed).expect("bytes").starts_with(magic));
        let stats = ask(&case.folder, &packed, "stats");
        assert_eq!(stats["allocations"], plain_stats["allocations"]);
        if is_here("heaptrack_print") {
            let costs = |form: &Path| cost_of(&case, form, "allocations").0;
            assert_eq!(costs(&packed), costs(&plain), "{ending}");
        }
    }
    // pprof's form is packed by itself, and only once.
    case.folder
        .says(&["export", "pprof", "-o", "it.pb.gz", log]);
    let bytes = fs::read(case.folder.path("it.pb.gz")).expect("bytes");
    assert!(bytes.starts_with(&[0x1f, 0x8b]) && !bytes[2..].starts_with(&[0x1f, 0x8b]));
    for words in ["pprof it.pb.zst", "replay it.replay.gz"] {
        let (form, name) = words.split_once(' ').expect("two words");
        let output = case.folder.run(&["export", form, "-o", name, log]);
        assert!(said(&output).contains("does not unpack it"), "{words}");
    }
    // What a log is packed by is no part of the names that are made of its own, and a
    // folder's name is none of the file's.
    case.folder
        .says(&["pack", "-q", "-o", "it.memlog.tar.zst", log]);
    case.folder.folder("folder.gz");
    for (options, name) in [(&[][..], ""), (&["-o", "folder.gz"], "folder.gz/")] {
        let words = [&["export", "heaptrack", "it.memlog.tar.zst"], options];
        case.folder.says(&words.concat());
        let form = fs::read(case.folder.path(&format!("{name}heaptrack.it.memlog")));
        assert!(form.expect("bytes").starts_with(b"v 10400"), "{name}");
    }
}

/// What is read is not written over.
#[test]
fn no_form_replaces_its_log() {
    let case = Case::new("answers-exports-itself", "mix 7 90 1");
    let log = case.log.to_str().expect("a name");
    let before = fs::read(&case.log).expect("a log");
    for form in ["folded", "pprof", "heaptrack"] {
        let output = case.folder.run(&["export", form, "-o", log, log]);
        assert_eq!(output.status.code(), Some(2), "{form}");
        assert!(said(&output).contains("is what is read"), "{form}");
        assert_eq!(fs::read(&case.log).expect("a log"), before, "{form}");
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
