//! Logs of programs that people run, against the twin: two light ones always, and with
//! `MEMLOG_LONG=1` all of the list.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::figures::Case;
use crate::odd::agree;
use crate::real::{PROGRAMS, Program};
use crate::sites::{Folder, said};
use crate::{is_long, number};

/// Of some thousand events, and with threads.
const LIGHT: &[&str] = &["xmllint", "xz"];

/// So many logs of a program and of those that it starts are judged, the largest.
const MOST: usize = 3;

/// The logs of a program and of those that it starts, or why there are none.
fn recorded(folder: &Folder, program: &Program) -> Result<Vec<PathBuf>, String> {
    let place = folder.folder("work");
    let (path, words) = (program.prepare)(&place)?;
    let logs = folder.folder("logs");
    let mut command = folder.memlog(&["record", "-o"]);
    command.arg(logs.join("%p.memlog")).arg("--").arg(path);
    command.args(words).current_dir(&place).env("HOME", &place);
    command.envs(program.environment.iter().copied());
    command.stdout(File::create(place.join("stdout")).expect("a file"));
    if let Ok(input) = File::open(place.join("stdin")) {
        command.stdin(input);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    assert!(
        output.status.success(),
        "{}: {}",
        program.name,
        said(&output)
    );
    Ok(folder.logs("logs"))
}

#[test]
fn logs_of_programs_are_answered_as_the_twin_does() {
    let only = std::env::var("MEMLOG_ONLY").ok();
    for program in PROGRAMS {
        let is_asked = match &only {
            Some(only) => only == program.name,
            None => is_long() || LIGHT.contains(&program.name),
        };
        if !is_asked {
            continue;
        }
        let folder = Folder::new(&format!("answers-program-{}", program.name));
        match recorded(&folder, program) {
            Err(reason) => println!("SKIPPED {}: {reason}", program.name),
            Ok(mut logs) => {
                assert!(!logs.is_empty(), "{}", program.name);
                // A script starts many that do little.
                logs.sort_by_key(|log| Reverse(fs::metadata(log).expect("stat").len()));
                logs.iter()
                    .take(MOST)
                    .for_each(|log| judge(&folder, program, log));
            }
        }
    }
}

/// What a child inherited, and what came before the log, is in no line of `memlog dump`.
fn judge(folder: &Folder, program: &Program, log: &Path) {
    let stats = agree(folder, log);
    let unknown = &stats["unknown_releases"];
    let is_whole = number(&stats, "inherited_blocks") == 0
        && stats["parent_pid"].is_null()
        && ["before_start", "of_parent", "twice"]
            .iter()
            .all(|kind| unknown[*kind] == 0);
    let events = number(&stats, "allocations") + number(&stats, "releases");
    let by = if is_whole { "the twin" } else { "itself" };
    println!("{}: {events} events, judged by {by}", program.name);
    if is_whole {
        Case::new(folder, log).judge();
    }
}
