//! Words that are commands of other profilers and none of memlog's: what says
//! here what they say there. Without this they would be programs to record, and
//! some, as compare, are.

/// Each word with what to run, where FILE stands for the log.
const WORDS: [(&str, &str); 13] = [
    ("analyse", SCREEN),
    ("analyze", SCREEN),
    ("leak", LEAKS),
    (
        "peak",
        "who held the memory at the peak: memlog report FILE",
    ),
    ("print", CALLERS),
    ("flame", "every stack, to click in: memlog flamegraph FILE"),
    ("graph", PICTURE),
    ("plot", PICTURE),
    ("events", EVENTS),
    ("convert", FORMATS),
    ("mallopt", TOLD),
    ("environment", TOLD),
    ("compare", COMPARE),
];

const SCREEN: &str = "what there is to know first: memlog summary FILE";
const LEAKS: &str = "what was not released: memlog leaks FILE";
const CALLERS: &str = "who held the memory, and who called them: memlog report FILE";
const PICTURE: &str = "as a picture: memlog dot FILE";
const EVENTS: &str = "every event with its size: memlog dump FILE";
const TOLD: &str = "calls of mallopt, and the environment if it was kept: memlog info FILE";
const FORMATS: &str = "for other tools: memlog export pprof FILE, or another form; for programs: \
                       memlog stats --json FILE";
const COMPARE: &str = "what grew from one log to another: memlog diff FILE NEW";

/// The command of memlog that does what the word does there.
pub fn hint(word: &str) -> Option<&'static str> {
    let mut words = WORDS.iter();
    words.find_map(|(other, hint)| (*other == word).then_some(*hint))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

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
