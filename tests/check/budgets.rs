//! Budgets in a file.

use crate::sites::{Folder, said};
use crate::{check, checks, exits, log_of, planted, told};

#[test]
fn each_budget_is_checked() {
    let folder = Folder::new("check-budgets");
    log_of(
        &folder,
        &planted(&folder),
        "leak 1000 peak 300 known 77",
        "log.memlog",
    );
    let budgets = folder.folder("budgets");
    std::fs::write(budgets.join("known.supp"), "leak:known_leak\n").expect("write");
    std::fs::write(
        budgets.join("memlog.toml"),
        r#"# Of the whole program.
max-peak = "1MiB"
max-leaked = 1000
suppressions = "known.supp"   # beside this file

[[budget]]
name = "leaks of one"
where = 'function = "planted_leak"'
max-leaked = 999
max-allocations = 1

[[budget]]
name = "known"
where = 'function = "known_leak"'
max-peak = 76
max-leaked = 0
"#,
    )
    .expect("write");
    let report = told(&folder, "--budget budgets/memlog.toml log.memlog", 1);
    let found: Vec<_> = checks(&report)
        .iter()
        .map(|one| {
            let text = |key: &str| one[key].as_str().expect("a text");
            (
                text("budget"),
                text("measure"),
                text("state"),
                one["measured"].as_u64(),
            )
        })
        .collect();
    let peak = found[0].3;
    assert_eq!(
        found,
        [
            ("all", "peak", "held", peak),
            ("all", "leaked", "held", Some(1000)),
            ("leaks of one", "leaked", "broken", Some(1000)),
            ("leaks of one", "allocations", "held", Some(1)),
            ("known", "peak", "broken", Some(77)),
            ("known", "leaked", "held", Some(0)),
        ]
    );
    // An option's limit of all blocks is one of the file's budget: what that knows of is
    // suppressed, and the lower limit counts.
    for (limit, state) in [("999", "broken"), ("1000", "held"), ("1GiB", "held")] {
        let words = format!("--max-leaked {limit} --budget budgets/memlog.toml log.memlog");
        let report = told(&folder, &words, 1);
        let of_all = checks(&report).iter().filter(|one| one["budget"] == "all");
        let of_all: Vec<_> = of_all
            .map(|one| (&one["state"], &one["measured"]))
            .collect();
        assert_eq!(of_all[1..], [(&state.into(), &1000.into())], "{report:#}");
    }
    // With a filter it is another, and knows of the same.
    let words = "--max-leaked 1000 --where size>70 --budget budgets/memlog.toml log.memlog";
    let report = told(&folder, words, 1);
    let first = &checks(&report)[0];
    let found = (&first["budget"], &first["state"], &first["measured"]);
    assert_eq!(
        found,
        (&"chosen blocks".into(), &"held".into(), &1000.into())
    );
    let words = "--suppressions budgets/known.supp --budget budgets/memlog.toml log.memlog";
    let output = check(&folder, words);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("have suppressions of their own, known.supp"),
        "{}",
        said(&output)
    );
    let text = exits(
        &check(&folder, "--budget budgets/memlog.toml log.memlog"),
        1,
    );
    assert!(
        text.contains("BROKEN     leaks of one: never freed"),
        "{text}"
    );
    assert!(
        text.contains("of blocks where function = \"planted_leak\""),
        "{text}"
    );
}

#[test]
fn what_is_wrong_in_a_file_has_a_place() {
    let folder = Folder::new("check-toml");
    log_of(&folder, &planted(&folder), "leak 5", "log.memlog");
    for (text, told) in [
        (
            "max-peak = \"two\"\n",
            "memlog.toml, line 1, column 12: max-peak: a size such as",
        ),
        (
            "x = 1\n",
            "line 1, column 1: nothing is called x: expected max-peak",
        ),
        (
            "[[budget]]\nname = \"p\"\nwhere = 'size >> 1'\nmax-peak = 1\n",
            "line 3, column 16: where: ",
        ),
        (
            "[[budget]]\nname = \"p\"\nwhere = 'leaked'\nmax-rss = 1\n",
            "line 4, column 1: max-rss",
        ),
        (
            "max-peak = 1\nsuppressions = \"none\"\n",
            "cannot read the suppressions none",
        ),
        ("max-peak\n", "this is no TOML"),
        ("", "it has no budget"),
    ] {
        std::fs::write(folder.path("memlog.toml"), text).expect("write");
        let output = check(&folder, "--budget memlog.toml log.memlog");
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(said(&output).contains(told), "{told}: {}", said(&output));
    }
    let output = check(&folder, "--budget none.toml log.memlog");
    assert_eq!(output.status.code(), Some(2));
}

/// What the file knows of is no leak for the baseline either, where the file limits only parts.
#[test]
fn a_baseline_knows_of_the_same_leaks() {
    let folder = Folder::new("check-base-known");
    let program = planted(&folder);
    log_of(&folder, &program, "known 77 leak 5", "a.memlog");
    log_of(&folder, &program, "known 99 leak 5", "b.memlog");
    std::fs::write(folder.path("known.supp"), "leak:known_leak\n").expect("write");
    std::fs::write(
        folder.path("memlog.toml"),
        "suppressions = \"known.supp\"\n[[budget]]\nname = \"p\"\nwhere = 'size = 5'\nmax-peak = 5\n",
    )
    .expect("write");
    let with = "--budget memlog.toml";
    exits(
        &check(
            &folder,
            &format!("{with} --write-baseline base.json a.memlog"),
        ),
        0,
    );
    let words = format!("{with} --compare leaked --baseline base.json b.memlog");
    let report = told(&folder, &words, 0);
    let leaked: Vec<_> = checks(&report)
        .iter()
        .filter(|one| one["measure"] == "leaked")
        .map(|one| (&one["budget"], &one["measured"]))
        .collect();
    assert_eq!(
        leaked,
        [(&"all".into(), &5.into()), (&"p".into(), &5.into())]
    );
}
