//! Help is found and says what there is.

use crate::says;
use crate::sites::Folder;

#[test]
fn commands_are_listed_by_purpose() {
    let folder = Folder::new("show-help");
    let help = says(&folder, "help");
    assert_eq!(help, says(&folder, "--help"));
    let place = |part: &str| {
        help.find(part)
            .unwrap_or_else(|| panic!("no {part} in {help}"))
    };
    let order = [
        "Record a program:",
        "\n  record ",
        "See who held the memory:",
        "\n  summary ",
        "\n  report ",
        "\n  tree ",
        "\n  dot ",
        "Look into a log:",
        "\n  stats ",
        "First steps:",
    ];
    let places: Vec<_> = order.iter().map(|part| place(part)).collect();
    assert!(places.is_sorted(), "{help}");
    assert!(help.lines().all(|line| line.len() <= 100), "{help}");
}

#[test]
fn every_command_ends_its_help_with_examples() {
    let folder = Folder::new("show-examples");
    for name in [
        "record", "ldflags", "summary", "report", "tree", "dot", "info", "stats", "dump",
    ] {
        let help = says(&folder, &format!("{name} --help"));
        assert_eq!(help, says(&folder, &format!("help {name}")), "{name}");
        let (_, examples) = help.split_once("\nExamples:\n").expect(name);
        let lines = examples.trim_end().lines();
        assert!((2..=3).contains(&lines.clone().count()), "{examples}");
        let mut lines = lines;
        assert!(
            lines.all(|line| line.starts_with("  ") && line.contains("memlog")),
            "{examples}"
        );
    }
}
