//! On a terminal: colours, lines cut to its width, a pager, and progress.
//! `script` makes the terminal.

use std::process::Command;

use memlog_format::table::StackId;

use crate::interrupt::big_log;
use crate::logs::{odd, sites};
use crate::recipe::{LIBRARY, Recipe};
use crate::sites::Folder;
use crate::{SETTINGS, says, with_logs};

/// A terminal of so many columns and rows, and what the user has set.
pub struct Terminal<'f> {
    folder: &'f Folder,
    columns: usize,
    rows: usize,
    variables: &'f [(&'f str, &'f str)],
}

impl Terminal<'_> {
    /// What memlog shows there, and its exit code.
    #[track_caller]
    pub fn shows(&self, words: &str) -> (String, i32) {
        let (columns, rows) = (self.columns, self.rows);
        let tool = env!("CARGO_BIN_EXE_memlog");
        let line = format!("stty cols {columns} rows {rows}; exec '{tool}' {words}");
        let mut command: Command = self.folder.command("timeout");
        command.args(["-k", "5", "1000", "script", "-qec", &line, "/dev/null"]);
        for name in SETTINGS {
            command.env_remove(name);
        }
        let set = [("TERM", "xterm"), ("SHELL", "/bin/sh"), ("PAGER", "cat")];
        command.envs(set).envs(self.variables.iter().copied());
        let output = command.output().expect("script runs");
        let text = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
        (text, output.status.code().unwrap_or(-1))
    }
}

pub fn terminal<'f>(folder: &'f Folder, variables: &'f [(&'f str, &'f str)]) -> Terminal<'f> {
    Terminal {
        folder,
        columns: 80,
        rows: 24,
        variables,
    }
}

pub fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest));
    rest.fold(first, |text, part| text + part)
}

#[test]
fn colours_are_for_terminals() {
    let folder = with_logs("show-colours", &[("sites", sites())]);
    let has_colours = |variables, words| {
        let (text, _) = terminal(&folder, variables).shows(words);
        assert!(text.contains("RSS peak"), "{text}");
        text.contains('\x1b')
    };
    let words = "summary sites.memlog";
    assert!(has_colours(&[], words));
    assert!(!has_colours(&[("NO_COLOR", "1")], words));
    assert!(!has_colours(&[("TERM", "dumb")], words));
    assert!(!has_colours(&[], "summary --color never sites.memlog"));
    assert!(has_colours(
        &[("NO_COLOR", "1")],
        "summary --color=always sites.memlog"
    ));
    assert!(!says(&folder, words).contains('\x1b'));
    let mut forced = crate::memlog(&folder, words);
    let forced = forced.env("CLICOLOR_FORCE", "1").output().expect("run");
    assert!(forced.stdout.contains(&b'\x1b'));
}

/// Colours and cuts aside, the terminal shows what a pipe gets.
#[test]
fn lines_are_cut_on_a_terminal_only() {
    let folder = with_logs("show-width", &[("odd", odd())]);
    let words = "tree --top-down odd.memlog";
    let piped = says(&folder, words);
    for columns in [60, 80, 160] {
        let terminal = Terminal {
            columns,
            ..terminal(&folder, &[])
        };
        let (text, code) = terminal.shows(words);
        assert_eq!(code, 0);
        let text = plain(&text);
        let tree = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| line.contains("->"));
            lines.map(str::to_owned).collect()
        };
        let (shown, whole) = (tree(&text), tree(&piped));
        assert_eq!(shown.len(), whole.len(), "{text}");
        for (shown, whole) in shown.iter().zip(&whole) {
            let is_cut = whole.chars().count() > columns;
            assert!(shown == whole || is_cut, "{shown}");
        }
        assert_fits(&text, columns);
    }
}

/// Callers that only pass on are broken between places, and none is lost.
#[test]
fn folded_callers_are_broken_between_places() {
    let folder = with_logs("show-folded", &[("sites", sites())]);
    let places = |page: &str| -> Vec<String> {
        let lines = page.lines().filter(|line| line.contains("program+0x"));
        let lines = lines.map(|line| line.trim_start_matches(['|', ' ']));
        let lines: Vec<_> = lines.collect();
        let lines = lines.join(" ");
        lines.split(" <- ").map(str::to_owned).collect()
    };
    let whole = says(&folder, "report sites.memlog");
    assert_eq!(whole.matches(" <- ").count(), 4 * 3, "{whole}");
    let lines = |page: &str| page.matches("\n| <- ").count();
    assert_eq!(lines(&whole), 3, "{whole}");
    let terminal = Terminal {
        columns: 60,
        ..terminal(&folder, &[])
    };
    let narrow = plain(&terminal.shows("report --no-pager sites.memlog").0);
    assert!(lines(&narrow) > 3, "{narrow}");
    assert_eq!(places(&narrow), places(&whole), "{narrow}");
    assert_fits(&narrow, 60);
}

#[track_caller]
fn assert_fits(text: &str, columns: usize) {
    for line in text.lines() {
        let long = line.chars().count();
        assert!(long <= columns, "{long} columns: {line}\n{text}");
    }
}

/// Names, figures and depths that are large, in a folder far away.
#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut log =
        Recipe::new(b"/nowhere/a_library_of_a_name_that_no_terminal_has_room_for.so.1.2.3");
    let mut stack = StackId::COMPLETE;
    for level in 1..=60u64 {
        let places = [LIBRARY + 0x1000 * level, LIBRARY + 0x1000 * (level % 7)];
        stack = log.stack(stack, &places);
        log.allocate(stack, 20, 10_000 * (1 << (level % 20)));
    }
    let recursion = [LIBRARY + 0x99; 200];
    let stack = log.stack(StackId::COMPLETE, &recursion);
    log.allocate(stack, 1_500, 3_456_789);
    log.read_rss(20_000_000);
    log.time(7);
    let far = "a_folder_far_away/".repeat(6) + "big";
    let folder = with_logs("show-wide", &[(&far, log), ("odd", odd())]);
    for (columns, rows) in [(60, 24), (80, 24), (100, 30)] {
        let terminal = Terminal {
            columns,
            rows,
            ..terminal(&folder, &[])
        };
        for log in [&far, "odd"] {
            for words in ["summary", "report", "tree --top-down -t 0"] {
                let (text, code) = terminal.shows(&format!("{words} {log}.memlog"));
                assert_eq!(code, 0, "{words}: {text}");
                let text = plain(&text);
                assert_fits(&text, columns);
                let count = text.lines().count();
                assert!(words != "summary" || log == "odd" || count < rows, "{text}");
            }
        }
    }
}

/// A pager that says that it was asked, shows two lines, and quits early.
fn pager(folder: &Folder, name: &str, script: &str) {
    // Not by ourselves: a file is busy while a fork of another test has it open.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
    let status = folder
        .command("sh")
        .args(["-c", write, name, script])
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{name}");
}

#[test]
fn what_is_longer_than_the_screen_is_paged() {
    let folder = with_logs("show-pager", &[("sites", sites())]);
    pager(
        &folder,
        "early",
        "echo \"PAGED $# $* $LESS\"; head -n 2; exit 3",
    );
    pager(&folder, "whole", "echo PAGED; cat");
    let shows = |variables: &[(&str, &str)], words: &str| terminal(&folder, variables).shows(words);
    let long = "report -t 0 sites.memlog";

    let (text, code) = shows(&[("PAGER", "./early  one\t'two")], long);
    assert!(text.contains("PAGED 2 one 'two FRX\n"), "{text}");
    assert_eq!((text.lines().count(), code), (3, 0), "{text}");
    let (text, _) = shows(&[("PAGER", "./early"), ("LESS", "S")], long);
    assert!(text.contains("PAGED 0  S\n"), "{text}");
    let (text, _) = shows(&[("MEMLOG_PAGER", "./whole"), ("PAGER", "./early")], long);
    assert!(
        text.starts_with("PAGED\n") && text.contains("live heap"),
        "{text}"
    );

    for (variables, words) in [
        (&[("PAGER", "./whole")][..], "report -t 100 sites.memlog"),
        (
            &[("PAGER", "./whole")],
            "report --no-pager -t 0 sites.memlog",
        ),
        (&[("PAGER", "./whole"), ("MEMLOG_PAGER", "")], long),
        (&[("PAGER", "cat")], long),
        (&[("PAGER", "")], long),
    ] {
        let (text, code) = shows(variables, words);
        assert!(
            !text.contains("PAGED") && text.contains("live heap"),
            "{words}: {text}"
        );
        assert_eq!(code, 0, "{words}");
    }
    let (text, code) = shows(&[("PAGER", "./none")], long);
    assert!(
        text.contains("note: PAGER names ./none, which cannot be started"),
        "{text}"
    );
    assert!(text.contains("live heap") && code == 0, "{text}");
    let mut piped = crate::memlog(&folder, long);
    let piped = piped.env("PAGER", "./whole").output().expect("run");
    assert!(!piped.stdout.starts_with(b"PAGED"));
}

/// On a terminal a summary takes no more of the screen than it must.
#[test]
fn a_summary_is_one_screen() {
    let folder = with_logs("show-screen", &[("sites", sites())]);
    pager(&folder, "whole", "echo PAGED; cat");
    let variables = [("PAGER", "./whole")];
    let shown = |columns, rows| {
        let terminal = Terminal {
            columns,
            rows,
            ..terminal(&folder, &variables)
        };
        terminal.shows("summary sites.memlog").0
    };
    for (columns, rows) in [(80, 24), (80, 15), (120, 40)] {
        let text = shown(columns, rows);
        let lines = text.lines().count();
        assert!(
            !text.contains("PAGED") && lines < rows,
            "{lines} lines: {text}"
        );
    }
    // The heading gives way, and where that does not do there is the pager.
    assert!(!plain(&shown(80, 15)).contains("\nlog: "));
    let text = plain(&shown(80, 5));
    assert!(text.starts_with("PAGED\n"), "{text}");
    assert!(
        text.contains("RSS peak: ") && !text.contains("program: "),
        "{text}"
    );
}

/// What takes longer than a second says how far it is.
#[test]
fn progress_is_shown_and_erased() {
    let folder = Folder::new("show-progress");
    big_log(&folder, 200_000);
    // Who reads the lines takes its time, and stops where some events were read.
    let words =
        "dump --no-symbols big.memlog | (head -c 6000000 > /dev/null; sleep 3; cat > /dev/null)";
    let (text, code) = terminal(&folder, &[]).shows(words);
    assert_eq!(code, 0);
    let (progress, rest) = text.rsplit_once("\r\x1b[K").expect("erased");
    assert_eq!(rest, "");
    assert!(progress.contains("\rmemlog: "), "{progress}");
    assert!(progress.contains(" %, read ") && progress.contains(" million/s"));
    let mut lines = progress
        .split('\r')
        .map(|line| line.trim_end_matches("\x1b[K"));
    assert!(lines.all(|line| line.len() < 80), "{progress}");
    let dumb = terminal(&folder, &[("TERM", "dumb")]);
    let (text, _) = dumb.shows("stats big.memlog > /dev/null");
    assert_eq!(text, "");
}
