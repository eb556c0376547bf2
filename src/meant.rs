//! Words that are commands of other profilers and none of memlog's: what says
//! here what they say there. Without this they would be programs to record, and
//! some, as diff and top, are.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::advice::Advice;
use crate::open::shown;
use crate::record::{self, has_magic};
use crate::words::typed;

/// Each word with what to run, where FILE stands for the log.
const WORDS: [(&str, &str); 19] = [
    ("analyse", SCREEN),
    ("analyze", SCREEN),
    ("top", SCREEN),
    ("leaks", LEAKS),
    ("leak", LEAKS),
    ("check", LEAKS),
    (
        "peak",
        "who held the memory at the peak: memlog report FILE",
    ),
    ("where", CALLERS),
    ("print", CALLERS),
    (
        "flamegraph",
        "there are no flame graphs; the same as a tree: memlog tree --top-down FILE",
    ),
    ("graph", PICTURE),
    ("plot", PICTURE),
    (
        "timeline",
        "who held the memory at a moment: memlog report --at SECONDS FILE; \
         what grew before the end: memlog postmortem FILE",
    ),
    ("histogram", EVENTS),
    ("events", EVENTS),
    ("export", FORMATS),
    ("convert", FORMATS),
    ("diff", COMPARE),
    ("compare", COMPARE),
];

const SCREEN: &str = "what there is to know first: memlog summary FILE";
const LEAKS: &str = "what was not released: memlog report --show-leaks FILE";
const CALLERS: &str = "who held the memory, and who called them: memlog report FILE";
const PICTURE: &str = "as a picture: memlog dot FILE";
const EVENTS: &str = "every event with its size: memlog dump FILE";
const FORMATS: &str = "for programs: memlog report --json FILE, memlog stats --json FILE, or \
                       every event with memlog dump FILE";
const COMPARE: &str = "logs are not compared; the figures of each: memlog stats --json FILE";

/// What does what the word means elsewhere.
pub fn hint(word: &str) -> Option<&'static str> {
    let mut words = WORDS.iter();
    words.find_map(|(other, hint)| (*other == word).then_some(*hint))
}

/// Refuses to record what was meant as a command about logs: a word of that
/// kind with a log, or any program that is given nothing but logs. One that is
/// named by its path is a program.
pub fn check(words: &[OsString]) -> anyhow::Result<()> {
    let Some((word, rest)) = words.split_first() else {
        return Ok(());
    };
    let logs = |is_one: fn(&Path) -> bool| rest.iter().filter(move |file| is_one(file.as_ref()));
    let Some(log) = logs(record::is_log).next() else {
        return Ok(());
    };
    if word.as_bytes().contains(&b'/') {
        return Ok(());
    }
    let is_program = record::is_program(word);
    let hint = match word.to_str().and_then(hint) {
        Some(hint) => hint.replace("FILE", &typed(log.as_ref())),
        None if is_program && logs(has_magic).count() == rest.len() => {
            "see `memlog --help` for its commands".into()
        }
        None => return Ok(()),
    };
    let hint = match is_program {
        true => format!("{hint}; to record the program: {}", recording(word, rest)),
        false => hint,
    };
    let wrong = format!("'{}' is no command of memlog", shown(word));
    Err(Advice::error(wrong, hint))
}

fn recording(word: &OsStr, rest: &[OsString]) -> String {
    let words = [word]
        .into_iter()
        .chain(rest.iter().map(OsString::as_os_str));
    let words: Vec<String> = words.map(|word| typed(word.as_ref())).collect();
    format!("memlog record -- {}", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    /// A hint that promises what does not exist is worse than none.
    #[test]
    fn what_hints_name_is_understood() {
        for (word, hint) in WORDS {
            let lines = hint.split("memlog ").skip(1);
            assert!(lines.clone().count() >= 1, "{word} names no command");
            for line in lines {
                let (words, _) = line.split_once("FILE").expect(word);
                let words = words.replace("SECONDS", "1.5s");
                let words = words.split_whitespace().chain(["x.memlog"]);
                let line: Vec<OsString> = ["memlog"]
                    .into_iter()
                    .chain(words)
                    .map(Into::into)
                    .collect();
                assert!(cli::parse(line.clone()).is_ok(), "{line:?}");
            }
        }
    }

    #[test]
    fn no_command_is_called_as_others_are() {
        for (word, _) in WORDS {
            let line = ["memlog".into(), word.into(), "x".into()];
            let parsed = cli::parse(line.to_vec()).expect(word);
            assert!(matches!(parsed.command, cli::Command::Other(_)), "{word}");
        }
    }
}
