//! Names of files as they come: what a terminal obeys, what turns text around,
//! what is no text at all. Every command is run on each, and nothing of it may
//! reach the terminal; what is said to be typed next has to work in a shell.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;

use crate::SETTINGS;
use crate::logs::sites;
use crate::sites::Folder;
use crate::with_logs;

/// Beginnings of names, each with how it is shown.
const NAMES: [(&[u8], &str); 8] = [
    (
        b"x\x1b]0;PWNED\x07\x1b[31m",
        r"x\u{1b}]0;PWNED\u{7}\u{1b}[31m",
    ),
    (b"two\nmemlog: error: lines", r"two\nmemlog: error: lines"),
    ("csi\u{9b}31m".as_bytes(), r"csi\u{9b}31m"),
    ("turn\u{202e}golmem".as_bytes(), r"turn\u{202e}golmem"),
    ("line\u{2028}\u{2066}".as_bytes(), r"line\u{2028}\u{2066}"),
    (b"bad\xff\xfe", r"bad\xff\xfe"),
    (b"-dash", "-dash"),
    (b"~tilde '\"$(x)", "~tilde '\"$(x)"),
];

const COMMANDS: [&[&str]; 9] = [
    &["report"],
    &["summary"],
    &["summary", "--json"],
    &["tree"],
    &["stats"],
    &["info"],
    &["dump"],
    &["dot", "--draw", "built-in"],
    &["record"],
];

fn folder(name: &str) -> Folder {
    let folder = with_logs(name, &[("a", sites())]);
    let log = fs::read(folder.path("a.memlog")).expect("read");
    for (name, _) in NAMES {
        fs::write(folder.root().join(log_name(name)), &log).expect("write");
        fs::write(folder.root().join(OsStr::from_bytes(name)), "no log").expect("write");
    }
    folder
}

fn log_name(name: &[u8]) -> OsString {
    OsStr::from_bytes(&[name, b".memlog"].concat()).to_owned()
}

/// All that is said, of a command's words before `--` and after it.
fn told(folder: &Folder, words: &[&OsStr]) -> String {
    let mut command = folder.memlog(words);
    SETTINGS.iter().for_each(|name| {
        command.env_remove(name);
    });
    let output = command.output().expect("run");
    let all = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(all).unwrap_or_else(|_| panic!("{words:?}: no UTF-8"));
    let is_bad = |c: &char| {
        c.is_control() && !"\n\t".contains(*c) || matches!(u32::from(*c), 0x2028..=0x202e | 0x2066)
    };
    let bad: Vec<char> = text.chars().filter(is_bad).collect();
    assert!(
        bad.is_empty(),
        "{words:?}: {bad:?} in {}",
        text.escape_debug()
    );
    let lines = text
        .lines()
        .filter(|line| line.starts_with("memlog: error: lines"));
    assert_eq!(lines.count(), 0, "{words:?}: a line was forged: {text}");
    text
}

/// A log, something that is none, and nothing at all, by each name.
#[test]
fn no_name_reaches_the_terminal() {
    let folder = folder("show-names");
    for words in COMMANDS {
        for (name, shown) in NAMES {
            let missing = [name, b".gone"].concat();
            let all = [
                &log_name(name),
                OsStr::from_bytes(name),
                OsStr::from_bytes(&missing),
            ];
            for name in all {
                let mut line: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
                line.extend([OsStr::new("--"), name]);
                let text = told(&folder, &line);
                let is_page = !text.starts_with("memlog: error: ");
                // A page of a log need not name its file.
                assert!(is_page || text.contains(shown), "{line:?}: {text}");
            }
            // As an option, which a pattern of the shell may turn into.
            let option = [b"--", name].concat();
            let mut line: Vec<&OsStr> = words.iter().map(OsStr::new).collect();
            line.push(OsStr::from_bytes(&option));
            told(&folder, &line);
        }
    }
}

/// What is not said of a single file: patterns, folders, places of files.
#[test]
fn names_in_other_places() {
    let folder = folder("show-name-places");
    let log = OsStr::new("a.memlog");
    for (name, shown) in NAMES {
        let option = |option: &str, below: &str| {
            OsStr::from_bytes(&[option.as_bytes(), name, below.as_bytes()].concat()).to_owned()
        };
        let below = option("", "/x");
        for line in [
            &["dot".as_ref(), log, option("--output=", "").as_ref()][..],
            &[
                "record".as_ref(),
                option("--output=", "/x").as_ref(),
                "true".as_ref(),
            ],
            &[
                "ldflags".as_ref(),
                "--static".as_ref(),
                option("--lib=", "/x").as_ref(),
            ],
            &["artefacts".as_ref(), "--".as_ref(), &below],
            &["manual".as_ref(), "--".as_ref(), &below],
        ] {
            let text = told(&folder, line);
            assert!(text.contains(shown), "{line:?}: {text}");
        }
    }
    for pattern in ["*.memlog", "*", "."] {
        for command in ["dot", "report"] {
            let text = told(&folder, &[command.as_ref(), pattern.as_ref()]);
            // Not one log was passed over.
            let all = format!("the highest of {} logs", NAMES.len() + 1);
            assert!(text.contains(&all), "{command} {pattern}: {text}");
        }
    }
}

/// The next step, handed to a shell as it stands.
#[test]
fn what_is_to_be_typed_works() {
    let folder = folder("show-typed");
    if Command::new("bash").arg("--version").output().is_err() {
        println!("SKIPPED names that are typed: there is no bash");
        return;
    }
    let tool = env!("CARGO_BIN_EXE_memlog");
    for (name, _) in NAMES {
        let text = told(
            &folder,
            &["summary".as_ref(), "--".as_ref(), &log_name(name)],
        );
        let next = text
            .lines()
            .find_map(|line| line.strip_prefix("next: memlog "));
        let next = next
            .and_then(|line| line.rsplit_once("  who called"))
            .expect("a next step");
        let line = format!("'{tool}' {}", next.0);
        let output = folder
            .command("bash")
            .args(["-c", &line])
            .output()
            .expect("bash");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
    }
}

/// Who said where the names are need not say it again.
#[test]
fn what_is_to_be_typed_finds_the_same_names() {
    let folder = folder("show-typed-elsewhere");
    let names = folder.folder("their files");
    let words = [
        "summary",
        "--sysroot",
        "their files",
        "--debug-symbols",
        "their files",
        "a.memlog",
    ];
    let text = told(&folder, &words.map(OsStr::new));
    let wanted =
        "next: memlog report --sysroot 'their files' --debug-symbols 'their files' a.memlog ";
    assert!(text.contains(wanted), "{names:?}: {text}");
}
