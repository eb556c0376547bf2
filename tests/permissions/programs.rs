//! Programs that memlog starts: a short list, no shell among them, and what
//! they get of a log is text of memlog's own making.

use crate::Facts;
use crate::sites::said;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where a program is started, and which; whoever adds one adds a line here and
/// to doc/SECURITY.md.
const STARTED: &[(&str, &str)] = &[
    // cargo and the compiler, when memlog is built.
    ("build.rs", "program"),
    // dot and ps2pdf.
    ("memlog2dot/src/graphviz.rs", "program"),
    // The viewer that the user asks for with --open.
    ("memlog2dot/src/opened.rs", "viewer"),
    // debuginfod-find, for who asks for it.
    ("pages/src/names/debuginfod.rs", "PROGRAM"),
    // The pager that the user's environment names.
    ("pages/src/screen/pager.rs", "program"),
    // Not started: clap's word for a description of a command line.
    ("src/manual.rs", "command.get_name().to_owned()"),
    // The loader that the program names, with --list.
    ("src/record/allocator.rs", "loader"),
    // The program that is recorded; by a shell if it is a text without #!.
    ("src/record/program.rs", "&self.file"),
    ("src/record/program.rs", "\"/bin/sh\""),
    // gdb or perf, for who asks for it; gdb starts the program by a shell.
    ("src/record/under.rs", "self.name()"),
    // ldconfig, for the folders of libraries.
    ("src/replay/allocators.rs", "path"),
    // The replayer, by the loader that it names or by musl's.
    ("src/replay/child.rs", "&self.path"),
    ("src/replay/child.rs", "loader"),
    // ssh, for who asks for it.
    ("src/stream/ssh.rs", "program"),
    // Not started, as in src/manual.rs.
    ("web/src/api/question.rs", "\"api\""),
];

fn sources(root: &Path) -> Vec<PathBuf> {
    let rooms = [
        "src",
        "format",
        "read",
        "analysis",
        "import",
        "table",
        "pack",
        "query",
        "answers",
        "verdict",
        "symbols",
        "export",
        "pages",
        "web",
        "remote",
        "memlog2dot",
        "wrap",
        "staticlib",
        "cdylib",
        "replayer",
    ];
    let mut folders: Vec<_> = rooms.iter().map(|room| root.join(room)).collect();
    let mut found = vec![root.join("build.rs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("list").flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let is_test = name == "tests" || name == "target" || name == "benches";
            match path.is_dir() {
                true if !is_test => folders.push(path),
                false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Without a module of unit tests at the end of a file.
fn shipped(text: &str) -> &str {
    text.find("\nmod tests {").map_or(text, |at| &text[..at])
}

#[test]
fn every_program_that_is_started_is_known() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut started = Vec::new();
    let is_test = |path: &Path| path.file_name().is_some_and(|name| name == "tests.rs");
    for path in sources(root).into_iter().filter(|path| !is_test(path)) {
        let whole = fs::read_to_string(&path).expect("text");
        let text = shipped(&whole);
        let name = path
            .strip_prefix(root)
            .expect("below")
            .display()
            .to_string();
        for part in text.split("Command::new(").skip(1) {
            let mut open = 1;
            let end = part.find(|letter| {
                open += i32::from(letter == '(') - i32::from(letter == ')');
                open == 0
            });
            started.push((name.clone(), part[..end.unwrap_or(0)].to_owned()));
        }
        for word in [
            "libc::system",
            "popen(",
            "posix_spawn",
            "execvp(",
            "libc::exec",
            ".exec()",
            "\"-c\"",
        ] {
            assert!(!text.contains(word), "{name} has {word}");
        }
    }
    let known: Vec<_> = STARTED
        .iter()
        .map(|&(file, what)| (file.to_owned(), what.to_owned()))
        .collect();
    assert_eq!(started, known);
}

/// A program by a name that a shell would obey, and a folder of that kind:
/// `dot` and `ps2pdf` get fixed arguments and a graph whose texts are closed.
#[test]
fn dot_and_ps2pdf_get_clean_text() {
    let facts = Facts::new("handed");
    let name = "a\";touch pwned;`touch pwned`$(touch pwned)\n\u{1b}[31m<b>&\\N%s";
    let program = facts.folder.path(name);
    crate::runnable::copy(&facts.program, &program);
    let log = facts.folder.path("it.memlog");
    let mut command = facts.folder.command(&program);
    command
        .arg("1000")
        .env("LD_PRELOAD", &facts.library)
        .env("MEMLOG_OUTPUT", &log);
    assert_eq!(command.output().expect("run").status.code(), Some(3));
    let bin = facts.folder.folder("bin");
    for name in ["dot", "ps2pdf"] {
        let path = bin.join(name);
        let text = "#!/bin/sh\nprintf '%s\\n' \"$*\" >> \"$0.words\"\ncat >> \"$0.input\"\nprintf '%%!PS-\\n'\n";
        crate::runnable::write(&path, text);
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("chmod");
    }
    let path = format!(
        "{}:{}",
        bin.display(),
        std::env::var("PATH").unwrap_or_default()
    );
    let mut memlog = facts
        .folder
        .memlog(&["dot", "--draw", "auto", "--at", "heap-peak"]);
    let output = memlog
        .arg(&log)
        .env("PATH", path)
        .output()
        .expect("memlog runs");
    let words =
        fs::read_to_string(bin.join("dot.words")).unwrap_or_else(|_| panic!("{}", said(&output)));
    for line in words.lines() {
        let is_fixed = line.split(' ').all(|word| {
            let rest = word.strip_prefix('-').unwrap_or("/");
            !rest.is_empty()
                && rest
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || ":=,.".contains(letter))
        });
        assert!(is_fixed, "dot {line}");
    }
    let input = fs::read(bin.join("dot.input")).expect("what dot got");
    let text = String::from_utf8(input).expect("UTF-8");
    let control = |letter: char| letter.is_control() && letter != '\n' && letter != '\t';
    assert!(!text.contains(control), "a control character in {text}");
    assert!(
        text.contains("touch pwned"),
        "the name is in the picture:\n{text}"
    );
    assert!(quotes_are_closed(&text), "{text}");
    if let Ok(words) = fs::read_to_string(bin.join("ps2pdf.words")) {
        assert!(words.lines().all(|line| line == "- -"), "ps2pdf {words}");
    }
    for folder in [facts.folder.root().to_owned(), bin] {
        assert!(!folder.join("pwned").exists());
    }
}

/// Whether `touch pwned` stands in no place but inside quotes, read as the
/// language of graphs has it: a quote ends a text unless \ stands before it.
fn quotes_are_closed(text: &str) -> bool {
    let (mut inside, mut outside) = (false, String::new());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if inside => drop(letters.next()),
            '"' => inside = !inside,
            _ if !inside => outside.push(letter),
            _ => {}
        }
    }
    !inside && !outside.contains("pwned")
}
