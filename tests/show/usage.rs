//! What is asked for in the wrong way, command by command.

use crate::errors::{READERS, refused, refuses, with_all_kinds};
use crate::memlog;
use crate::sites::said;

/// Each command with a line that it does not understand, and parts of the answer.
const WRONG_USAGE: [(&str, &[&str]); 43] = [
    ("pack", &["<FILE> is missing", "see `memlog pack --help`"]),
    (
        "pack --anonymize some x",
        &["'some'", "none, partial, full", "memlog pack --help"],
    ),
    (
        "extract",
        &["<FILE> is missing", "see `memlog extract --help`"],
    ),
    (
        "record",
        &["<PROG>... is missing", "see `memlog record --help`"],
    ),
    (
        "record --nonsense x",
        &["unknown option --nonsense", "memlog help record"],
    ),
    (
        "record --max-log 3Q true",
        &["'3Q'", "500M or 2GiB", "memlog record --help"],
    ),
    ("record --follow-exec maybe true", &["'maybe'", "yes, no"]),
    (
        "record -o",
        &["'--output <PATTERN>'", "memlog record --help"],
    ),
    (
        "record ./nowhere",
        &["there is no file ./nowhere", "check the path"],
    ),
    (
        "record folder/",
        &["folder/ is a folder", "memlog report folder/"],
    ),
    (
        "record text",
        &["no program 'text'", "memlog record ./text"],
    ),
    (
        "record ./text",
        &["./text is not executable", "chmod +x ./text"],
    ),
    (
        "record -o gone/x true",
        &["gone, which is not there", "mkdir -p gone, or "],
    ),
    (
        "record -o text/x true",
        &["text, which is not a folder", "-o PATTERN"],
    ),
    (
        "record -o text/ true",
        &["text/ cannot be made", "-o PATTERN"],
    ),
    (
        "record -o /dev/null true",
        &["/dev/null is a device or a stream", "-o PATTERN"],
    ),
    (
        "no-such-program",
        &["no program 'no-such-program'", "memlog --help"],
    ),
    (
        "sumary a.memlog",
        &["no program 'sumary'", "did you mean `memlog summary`?"],
    ),
    (
        "record --flight-recorder 1M true",
        &["no program '1M'", "behind a =: --flight-recorder=1M"],
    ),
    (
        "leak a.memlog",
        &["'leak' is no command of memlog", "memlog leaks a.memlog\n"],
    ),
    (
        "who 0x5581",
        &[
            "'memlog who' is a command of gdb and lldb",
            "memlog where PID 0x5581, or memlog where FILE 0x5581",
            "memlog record -- who 0x5581",
        ],
    ),
    ("leak", &["no program 'leak'", "memlog leaks FILE"]),
    ("help peak", &["'peak'", "memlog report FILE"]),
    (
        "convert --json a.memlog",
        &["'convert'", "memlog export pprof a.memlog,"],
    ),
    ("help compare", &["'compare'", "memlog diff FILE NEW"]),
    (
        "cat a.memlog",
        &[
            "'cat' is no command of memlog",
            "memlog --help",
            "memlog record -- cat a.memlog",
        ],
    ),
    (
        "help sumary",
        &["'sumary'", "did you mean `memlog help summary`?"],
    ),
    (
        "--nonsense",
        &[
            "'--nonsense'",
            "Usage: memlog COMMAND",
            "see `memlog --help`",
        ],
    ),
    (
        "ldflags",
        &["<--static|--dynamic> is missing", "memlog ldflags --help"],
    ),
    (
        "ldflags --static --dynamic",
        &["'--static' cannot be used with '--dynamic'"],
    ),
    (
        "ldflags --static x",
        &["unexpected argument 'x'", "memlog ldflags --help"],
    ),
    (
        "ldflags --static --lib /nowhere",
        &["/nowhere holds no memlog_s.a", "leave --lib out"],
    ),
    (
        "artefacts text",
        &["text cannot be made", "where you may write"],
    ),
    ("manual text", &["text/man", "where you may write"]),
    (
        "dot a.memlog text",
        &["text is there and is not a folder", "quote a pattern"],
    ),
    (
        "dot a.memlog b c",
        &["3 names were given", "quote the pattern"],
    ),
    (
        "dot --draw nicely a.memlog",
        &["'nicely'", "built-in", "see `memlog dot --help`"],
    ),
    (
        "dot --leaks --at end a.memlog",
        &["'--leaks' cannot be used with '--at"],
    ),
    (
        "tree --leaks --at end a.memlog",
        &["'--leaks' cannot be used with '--at"],
    ),
    (
        "report --by count --at 0.02 a.memlog",
        &["--by count counts the whole run", "leave out --at"],
    ),
    (
        "report --by temporary --show-leaks a.memlog",
        &["the whole run", "leave out --show-leaks"],
    ),
    (
        "tree --by allocated --leaks a.memlog",
        &["the whole run", "leave out --leaks"],
    ),
    (
        "report --by size a.memlog",
        &[
            "'size'",
            "[possible values: live, allocated, count, temporary, freed]",
        ],
    ),
];

#[test]
fn wrong_usage() {
    let folder = with_all_kinds("show-usage");
    for (words, parts) in WRONG_USAGE {
        refuses(&folder, words, parts);
    }
    for reader in READERS.iter().chain(&["dot"]) {
        let verb = reader.split(' ').next().unwrap_or_default();
        let more = format!("hint: see `memlog {verb} --help`");
        let nonsense = format!("{reader} --nonsense a.memlog");
        refuses(
            &folder,
            &nonsense,
            &["'--nonsense'", "Usage: memlog ", &more],
        );
        refuses(&folder, reader, &["<FILE", " is missing", &more]);
    }
    for reader in READERS {
        let verb = reader.split(' ').next().unwrap_or_default();
        let parts = [&format!("{verb} takes one log"), "hint: "];
        refuses(&folder, &format!("{reader} a.memlog text"), &parts);
    }
    for command in ["report", "tree"] {
        let refuses = |words: &str, parts: &[&str]| {
            refuses(&folder, &format!("{command} {words} a.memlog"), parts);
        };
        for time in ["noon", "NaN", "-3", "1x3", "101%"] {
            let words = format!("--at {time}");
            refuses(
                &words,
                &["rss-peak, heap-peak, start, end, a time since the start"],
            );
        }
        refuses("-t 101", &["a number from 0 to 100"]);
        refuses("--include (", &["unclosed group", "'--include <RE>'"]);
        refuses(
            "--color pink",
            &["'pink'", "[possible values: auto, always, never]"],
        );
    }
}

/// What is a program by its path, or is given more than logs, is recorded.
#[test]
fn programs_that_read_logs_are_recorded() {
    let folder = with_all_kinds("show-programs");
    for (words, status) in [
        ("record diff a.memlog a.memlog", 0),
        ("/bin/cat a.memlog", 0),
        ("cmp -s a.memlog text", 1),
    ] {
        let output = memlog(&folder, words).output().expect("run");
        let said = said(&output);
        assert_eq!(output.status.code(), Some(status), "{words}: {said}");
        assert!(said.contains("memlog: the log is "), "{words}: {said}");
    }
}

/// Said of the place where it was said: an option, or which variable.
#[test]
fn places_that_variables_name() {
    let folder = with_all_kinds("show-variables");
    let named = |set: &[(&str, &str)], parts: &[&str]| {
        let mut command = memlog(&folder, "record true");
        let command = command.envs(set.iter().copied());
        refused("record true", &command.output().expect("run"), parts);
    };
    let dir = "environment, MEMLOG_DIR\n";
    named(
        // The last one would be made.
        &[("MEMLOG_DIR", "gone/deeper")],
        &["gone/deeper, which is not there", dir],
    );
    named(
        &[("MEMLOG_DIR", "text")],
        &["text, which is not a folder", dir],
    );
    named(
        &[("MEMLOG_OUTPUT", "gone/x")],
        &["mkdir -p gone, or", "environment, MEMLOG_OUTPUT\n"],
    );
    named(
        &[("MEMLOG_DIR", "folder"), ("MEMLOG_OUTPUT", "gone/x")],
        &["mkdir -p folder/gone", "MEMLOG_DIR and MEMLOG_OUTPUT"],
    );
}
