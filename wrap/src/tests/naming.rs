//! The log's name: the plain one, patterns, attempts, folders.

use crate::platform::text::MAX_PATH;
use crate::process::naming::{Facts, Path, make};
use crate::process::settings::Settings;

const FACTS: Facts = Facts {
    host: b"node7",
    pid: 4711,
    seconds: 1_700_000_000,
};

/// The path without its zero byte, which must be there.
fn name(settings: &Settings, attempt: u32) -> String {
    let mut path = Path::new();
    path.push(b"left over from the last attempt");
    make(&mut path, settings, &FACTS, attempt, &mut [0; MAX_PATH]);
    let (&last, text) = path.get().split_last().unwrap();
    assert_eq!(last, 0);
    assert!(!text.contains(&0));
    String::from_utf8(text.to_vec()).unwrap()
}

/// Settings with this pattern, in the folder `/f`.
fn pattern(output: &str) -> Settings {
    let mut settings = Settings::new();
    settings.folder.set(b"/f");
    settings.output.set(output.as_bytes());
    settings
}

fn here(name: &str) -> String {
    std::env::current_dir()
        .unwrap()
        .join(name)
        .to_str()
        .unwrap()
        .to_string()
}

#[test]
fn the_plain_name() {
    let mut settings = Settings::new();
    assert_eq!(name(&settings, 1), here("node7.4711.memlog"));
    assert_eq!(name(&settings, 2), here("node7.4711.2.memlog"));
    settings.job.set(b"123");
    assert_eq!(name(&settings, 1), here("123.node7.4711.memlog"));
    assert_eq!(name(&settings, 10_000), here("123.node7.4711.10000.memlog"));
}

#[test]
fn the_folder_is_for_names_that_are_not_absolute() {
    let mut settings = Settings::new();
    settings.folder.set(b"/var/log");
    assert_eq!(name(&settings, 1), "/var/log/node7.4711.memlog");
    settings.output.set(b"x.memlog");
    assert_eq!(name(&settings, 1), "/var/log/x.memlog");
    settings.output.set(b"/tmp/x.memlog");
    assert_eq!(name(&settings, 1), "/tmp/x.memlog");
    settings.folder.set(b"sub");
    assert_eq!(name(&settings, 1), "/tmp/x.memlog");
    settings.output.set(b"x.memlog");
    assert_eq!(name(&settings, 1), here("sub/x.memlog"));
    settings.folder.clear();
    assert_eq!(name(&settings, 1), here("x.memlog"));
}

/// What is made where it is missing: nothing where no log would lie in it.
#[test]
fn the_folder_by_itself() {
    let folder = |settings: &Settings| {
        let mut path = Path::new();
        let found = crate::process::naming::folder(&mut path, settings, &mut [0; MAX_PATH]);
        found.then(|| String::from_utf8(path.get().to_vec()).unwrap())
    };
    let mut settings = Settings::new();
    assert_eq!(folder(&settings), None);
    settings.folder.set(b"/var/log");
    assert_eq!(folder(&settings).as_deref(), Some("/var/log\0"));
    settings.output.set(b"x.memlog");
    assert_eq!(folder(&settings).as_deref(), Some("/var/log/\0"));
    settings.folder.set(b"logs");
    assert_eq!(folder(&settings), Some(here("logs/\0")));
    settings.output.set(b"/tmp/x.memlog");
    assert_eq!(folder(&settings), None);
}

#[test]
fn each_letter_of_a_pattern() {
    let cases = [
        ("%h", "/f/node7"),
        ("%p", "/f/4711"),
        ("%e", "/f/prog"),
        ("%t", "/f/1700000000"),
        ("%r", "/f/17"),
        ("%j", "/f/99"),
        ("%n", "/f/1"),
        ("%%", "/f/%"),
        ("%x", "/f/%x"),
        ("a%", "/f/a%"),
        ("%%h%%%h", "/f/%h%node7"),
        (
            "%h.%p.%e-%r_%j@%t.memlog",
            "/f/node7.4711.prog-17_99@1700000000.memlog",
        ),
    ];
    for (output, expected) in cases {
        let mut settings = pattern(output);
        settings.program.set(b"prog");
        settings.rank.set(b"17");
        settings.job.set(b"99");
        assert_eq!(name(&settings, 1), expected, "{output}");
    }
}

#[test]
fn unknown_facts_leave_no_trace() {
    assert_eq!(name(&pattern("a%rb%jc%e.memlog"), 1), "/f/abc.memlog");
}

#[test]
fn later_attempts_have_other_names() {
    let cases = [
        ("x.memlog", "/f/x.2.memlog"),
        ("x.log", "/f/x.log.2"),
        (".memlog", "/f/.2.memlog"),
        ("%n.memlog", "/f/2.memlog"),
        ("%p-%n", "/f/4711-2"),
        ("%%n", "/f/%n.2"),
    ];
    for (output, expected) in cases {
        let settings = pattern(output);
        assert_eq!(name(&settings, 2), expected, "{output}");
        assert_ne!(name(&settings, 1), name(&settings, 2));
        assert_ne!(name(&settings, 3), name(&settings, 2));
    }
}

/// A name that is too long is cut without its zero byte, which no system call
/// accepts; it never becomes the name of another file.
#[test]
fn a_name_that_is_too_long_is_no_name() {
    let mut settings = Settings::new();
    settings.folder.set(&[b'/'; 1024]);
    settings.output.set("%e".repeat(500).as_bytes());
    settings.program.set(&[b'x'; 256]);
    let mut path = Path::new();
    make(&mut path, &settings, &FACTS, 1, &mut [0; MAX_PATH]);
    assert_eq!(path.get().len(), MAX_PATH);
    assert_eq!(path.get().last(), Some(&b'x'));
}

/// A launcher's values are names, never ways.
#[test]
fn no_part_of_a_name_leads_to_another_folder() {
    let mut settings = pattern("%j/%r.%e.memlog");
    settings.job.set(b"../../etc/x");
    settings.rank.set(b"..");
    settings.program.set(b"a\nb\x1b[31m");
    assert_eq!(name(&settings, 1), "/f/.._.._etc_x/_.a_b_[31m.memlog");
    settings.output.clear();
    assert_eq!(name(&settings, 1), "/f/.._.._etc_x.node7.4711.memlog");
    settings.job.set(b".");
    assert_eq!(name(&settings, 1), "/f/_.node7.4711.memlog");
}
