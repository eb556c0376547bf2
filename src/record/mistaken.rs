//! Lines that were meant as a command about logs, and would record a program.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use memlog_pages::{Advice, has_magic, shown, typed};

use super::{is_log, is_program};
use crate::peers::hint;

/// What `memlog` is asked in a debugger, with an address.
const IN_DEBUGGERS: [&str; 3] = ["who", "history", "near"];

/// Refuses to record what was meant as a command about logs: a word of that
/// kind with a log, or any program that is given nothing but logs. One that is
/// named by its path is a program.
pub fn check(words: &[OsString]) -> anyhow::Result<()> {
    let Some((word, rest)) = words.split_first() else {
        return Ok(());
    };
    if let [address] = rest
        && address.as_bytes().starts_with(b"0x")
        && IN_DEBUGGERS.iter().any(|one| word == one)
    {
        return Err(Advice::error(
            format!("'memlog {}' is a command of gdb and lldb", shown(word)),
            format!(
                "memlog where PID {}, or memlog where FILE {0}; to record the program: {}",
                typed(address.as_ref()),
                recording(word, rest)
            ),
        ));
    }
    let logs = |is_one: fn(&Path) -> bool| rest.iter().filter(move |file| is_one(file.as_ref()));
    let Some(log) = logs(is_log).next() else {
        return Ok(());
    };
    if word.as_bytes().contains(&b'/') {
        return Ok(());
    }
    let is_program = is_program(word);
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
