//! A program that is not where it ran: what the commands say then, and that they
//! find its names where `--sysroot` and `--debug-symbols` say.

use std::fs;
use std::process::Output;

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{memlog, says};

/// The commands that show names, each with what it says where it has them.
const COMMANDS: [(&str, &str); 6] = [
    ("report", "victims/sites.c:23]"),
    ("summary", "victims/sites.c:23]"),
    ("tree --top-down", "victims/sites.c:23]"),
    ("postmortem", "epsilon"),
    ("dump", "(alpha+0x"),
    ("dot -o out --draw built-in", "\nalpha\n"),
];

/// A folder with the log of a program that was moved into the folder `moved`.
fn recorded(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.folder("bin");
    let program = GCC.build::<&str>(&folder, "sites.c", "bin/sites", &["-Wl,--build-id"]);
    let words = ["record", "-o", "sites.memlog"].map(AsRef::as_ref);
    folder.says(&[words.as_slice(), &[program.as_os_str()]].concat());
    fs::rename(folder.path("bin"), folder.path("moved")).expect("move");
    folder
}

/// All that a command shows, of what it writes as well.
fn shown(folder: &Folder, words: &str) -> String {
    let output = memlog(folder, words).output().expect("memlog runs");
    assert!(output.status.success(), "{words}: {}", said(&output));
    let Output { stdout, stderr, .. } = output;
    let page = fs::read(folder.path("out/sites.memlog.txt")).unwrap_or_default();
    let _ = fs::remove_dir_all(folder.path("out"));
    String::from_utf8([stdout, stderr, page].concat()).expect("text")
}

#[test]
fn names_are_found_where_the_options_say() {
    let folder = recorded("show-debug-symbols");
    let root = folder.path("root");
    let below = root.join(folder.path("bin").strip_prefix("/").expect("absolute"));
    fs::create_dir_all(&below).expect("mkdir");
    fs::copy(folder.path("moved/sites"), below.join("sites")).expect("copy");
    for (command, name) in COMMANDS {
        let without = shown(&folder, &format!("{command} sites.memlog"));
        assert!(!without.contains(name), "{command}: {without}");
        // These only count such files.
        if !["summary", "postmortem"].contains(&command) {
            let advice = "/bin/sites cannot be opened: No such file or directory (os error 2); its \
                          functions are shown as module and offset; name its folder with \
                          --debug-symbols";
            assert!(without.contains(advice), "{command}: {without}");
        }
        for option in [
            "--debug-symbols moved",
            "--debug-symbols moved/sites",
            "--debug-symbols /usr --debug-symbols ./",
            "--sysroot root",
        ] {
            fs::copy(folder.path("moved/sites"), folder.path("sites")).expect("copy");
            let with = shown(&folder, &format!("{command} {option} sites.memlog"));
            assert!(with.contains(name), "{command} {option}: {with}");
            assert!(
                !with.contains("/bin/sites cannot"),
                "{command} {option}: {with}"
            );
        }
    }
    for (variable, value) in [
        ("MEMLOG_DEBUG_SYMBOLS", "/nowhere:moved"),
        ("MEMLOG_SYSROOT", "root"),
    ] {
        let mut command = memlog(&folder, "report sites.memlog");
        let output = command.env(variable, value).output().expect("run");
        let page = String::from_utf8(output.stdout).expect("text");
        assert!(page.contains("victims/sites.c:23]"), "{variable}: {page}");
    }
}

#[test]
fn what_is_not_the_file_is_refused_and_told() {
    let folder = recorded("show-debug-symbols-not");
    let expect = |words: &str, sentences: &[&str]| {
        let page = says(&folder, words);
        assert!(!page.contains("alpha"), "{words}: {page}");
        for sentence in sentences {
            assert!(page.contains(sentence), "{words}: {sentence}: {page}");
        }
    };
    folder.folder("other");
    GCC.build::<&str>(
        &folder,
        "sites.c",
        "other/sites",
        &["-Wl,--build-id", "-O0"],
    );
    for given in ["other", "other/sites"] {
        let words = format!("report --debug-symbols {given} sites.memlog");
        expect(
            &words,
            &["; other/sites belongs to another build: expected build-id "],
        );
    }
    folder.folder("empty");
    let words = "report --debug-symbols empty sites.memlog";
    expect(
        words,
        &[
            "/bin/sites cannot be opened",
            "; no file of build-id ",
            " is in empty; its",
        ],
    );
    fs::copy(folder.path("other/sites"), folder.path("another")).expect("copy");
    let words = "tree --debug-symbols another sites.memlog";
    expect(words, &["another is no file of the modules that are shown"]);
    let words = "report --sysroot empty sites.memlog";
    expect(
        words,
        &[
            "empty/",
            "/bin/sites cannot be opened",
            "libc.so.6 cannot be opened",
        ],
    );

    // In its place, but another: as on a machine that has one of that name.
    folder.folder("bin");
    fs::copy(folder.path("another"), folder.path("bin/sites")).expect("copy");
    let words = "report sites.memlog";
    expect(
        words,
        &[
            "/bin/sites was rebuilt since: expected build-id ",
            ", or name its folder",
        ],
    );
    let page = says(&folder, "report --debug-symbols moved sites.memlog");
    assert!(
        page.contains("victims/sites.c:23]") && !page.contains("rebuilt"),
        "{page}"
    );
}

#[test]
fn options_that_cannot_be_are_told_first() {
    let folder = Folder::new("show-debug-symbols-wrong");
    fs::write(folder.path("text"), "no program").expect("write");
    for (command, _) in COMMANDS {
        for (option, wrong) in [
            (
                "--sysroot nowhere",
                "--sysroot nowhere cannot be used: No such file",
            ),
            (
                "--debug-symbols nowhere",
                "--debug-symbols nowhere cannot be used: No such file",
            ),
            (
                "--debug-symbols text",
                "--debug-symbols text cannot be used: it is not an ELF file",
            ),
        ] {
            let mut command = memlog(&folder, &format!("{command} {option} no.memlog"));
            let output = command.output().expect("run");
            let text = said(&output);
            assert_eq!(output.status.code(), Some(2), "{text}");
            assert!(
                text.starts_with(&format!("memlog: error: {wrong}")),
                "{text}"
            );
            assert!(text.contains("memlog: hint: give "), "{text}");
        }
    }
}
