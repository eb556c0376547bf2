//! What is checked: logs that are there, or those of a program that is run here.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use memlog_pages::blocks::measure::{Run, measure};
use memlog_pages::{Advice, grouped, has_magic, logs_of, shown, typed};

use super::Args;
use super::rules::Rules;
use crate::os;
use crate::record::{self, Ran};

/// A program's runs, or a log.
#[derive(Default)]
pub struct Tried {
    /// Each of them.
    pub runs: Vec<Logged>,
    /// That it failed.
    pub failures: Vec<String>,
}

/// A run and its log.
pub struct Logged {
    /// The log.
    pub log: PathBuf,
    /// What was measured.
    pub run: Run,
}

impl Tried {
    fn of_one(run: Logged) -> Self {
        Self {
            runs: vec![run],
            failures: Vec::new(),
        }
    }

    /// The program without its folder.
    pub fn name(&self) -> String {
        self.runs.first().map(Logged::name).unwrap_or_default()
    }
}

impl Logged {
    /// Who exits tells his end, unless nobody was there to be told.
    fn with_end(mut self, has_exited: bool) -> Self {
        if has_exited && !self.run.has_end {
            let gaps = &mut self.run.measured.gaps;
            for gap in [&mut gaps.events, &mut gaps.rss] {
                gap.get_or_insert_with(|| UNSEEN.to_owned());
            }
        }
        self
    }

    /// The program without its folder.
    pub fn name(&self) -> String {
        let program = &self.run.program;
        program.rsplit('/').next().unwrap_or_default().to_owned()
    }
}

/// All that was measured.
#[derive(Default)]
pub struct Measurements {
    /// By program.
    pub tried: Vec<Tried>,
    /// What is to be said besides.
    pub notes: Vec<String>,
    logs: Option<Logs>,
}

impl Measurements {
    /// The log that a file is named after.
    pub fn first_log(&self) -> &Path {
        let first = self.tried.iter().flat_map(|tried| &tried.runs).next();
        first.map_or(Path::new("memlog"), |run| &run.log)
    }

    /// The logs go, unless somebody will want to look into them.
    pub fn end(&mut self, is_held: bool) {
        if let Some(logs) = self.logs.as_mut().filter(|_| !is_held) {
            logs.keep();
        }
    }
}

/// Measures logs.
pub fn of_files(args: &Args, rules: &Rules) -> anyhow::Result<Measurements> {
    let mut all = Measurements::default();
    let mut logs = Vec::new();
    for file in &args.files {
        let found = logs_of(file)?;
        // What a pattern matches may be something else; what is named is a log.
        let (mut found, others): (Vec<_>, Vec<_>) = found
            .into_iter()
            .partition(|log| log == file || has_magic(log));
        if found.is_empty() {
            return Err(Advice::error(
                format!("no file that matches '{}' is a log", shown(file)),
                "give a pattern of .memlog files, such as '*.memlog'",
            ));
        }
        let notes = others.iter();
        let notes = notes.map(|other| format!("{} is no log: it is not checked", shown(other)));
        all.notes.extend(notes);
        logs.append(&mut found);
    }
    rules.refuse_many(args, logs.len())?;
    for log in logs {
        let run = logged(args, rules, log)?;
        match all.tried.last_mut() {
            Some(tried) if rules.is_of_one_program(args) => tried.runs.push(run),
            _ => all.tried.push(Tried::of_one(run)),
        }
    }
    Ok(all)
}

fn logged(args: &Args, rules: &Rules, log: PathBuf) -> anyhow::Result<Logged> {
    let run = measure(&log, &args.symbol_files, rules.all_chosen())?;
    Ok(Logged { log, run })
}

/// Runs a program, and measures it when all its runs are over.
pub fn of_program(args: &Args, rules: &Rules) -> anyhow::Result<Measurements> {
    let logs = Logs::begin(args.logs.as_deref())?;
    let (mut own, mut children, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    let repeat = rules.repeat(args);
    for number in 1..=repeat {
        let ran = record::quietly(&args.program, &logs.folder(number, repeat)?)?;
        let (main, mut others) = newest(&ran);
        let Some(main) = main else {
            return Err(Advice::error(
                format!("{} left no log to check", shown(&args.program[0])),
                "why is said above; see whether `memlog record` works with it",
            ));
        };
        own.push((main, ran.status.code().is_some()));
        children.append(&mut others);
        if let Some(how) = failure(ran.status) {
            failures.push(match repeat {
                1 => how,
                all => format!("{how} in run {number} of {all}"),
            });
            // What it does after it failed says nothing.
            break;
        }
    }
    os::pass_no_signals_on();
    let runs = own.into_iter().map(|(log, has_exited)| {
        let run = logged(args, rules, log)?;
        anyhow::Ok(run.with_end(has_exited))
    });
    let runs = runs.collect::<Result<_, _>>()?;
    let mut all = Measurements {
        tried: vec![Tried { runs, failures }],
        ..Measurements::default()
    };
    match (args.children, children.len()) {
        (_, 0) => {}
        (true, _) => {
            for log in children {
                let run = logged(args, rules, log)?;
                all.tried.push(Tried::of_one(run));
            }
        }
        (false, 1) => all
            .notes
            .push(format!("a process that it started is {UNCHECKED}")),
        (false, count) => {
            let count = grouped(count as u64);
            let note = format!("{count} processes that it started are {UNCHECKED}");
            all.notes.push(note);
        }
    }
    all.logs = Some(logs);
    Ok(all)
}

/// Why nothing is known of a program that exited and told no end.
const UNSEEN: &str = "the program exited, and its last log has no end: what it executed last has \
                      no log, or it ended by a system call of its own";

const UNCHECKED: &str = "not checked; --children checks them too";

/// How a program failed, if it did.
fn failure(status: ExitStatus) -> Option<String> {
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(format!("exited with {code}")),
        (None, _) => {
            let how = status.to_string();
            let how = how.strip_prefix("signal: ").unwrap_or(&how);
            Some(format!("was killed by signal {how}"))
        }
    }
}

/// The last image of the program's own process, and that of each other one: what came before
/// them only executed them.
fn newest(ran: &Ran) -> (Option<PathBuf>, Vec<PathBuf>) {
    let mut met = HashSet::new();
    let newest = ran.logs.iter().rev().filter(|log| met.insert(log.pid));
    let mut newest: Vec<_> = newest.collect();
    newest.reverse();
    let (own, others): (Vec<_>, Vec<_>) = newest.into_iter().partition(|log| log.pid == ran.pid);
    let paths = others.into_iter().map(|log| log.path.clone());
    (own.first().map(|log| log.path.clone()), paths.collect())
}

/// The folder of the logs.
struct Logs {
    folder: PathBuf,
    is_kept: bool,
}

impl Logs {
    fn begin(given: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(folder) = given {
            fs::create_dir_all(folder).map_err(|error| unmakable(folder, &error))?;
            return Ok(Self {
                folder: folder.to_owned(),
                is_kept: true,
            });
        }
        let above = std::env::temp_dir();
        let pid = std::process::id();
        for number in 1..1000 {
            let folder = above.join(format!("memlog-check-{pid}.{number}"));
            // Others may write there: one that is there already is not ours.
            match DirBuilder::new().mode(0o700).create(&folder) {
                Ok(()) => {
                    return Ok(Self {
                        folder,
                        is_kept: false,
                    });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(unmakable(&folder, &error)),
            }
        }
        Err(unmakable(&above, &ErrorKind::AlreadyExists.into()))
    }

    /// That of a run.
    fn folder(&self, number: u8, of: u8) -> anyhow::Result<PathBuf> {
        if of == 1 {
            return Ok(self.folder.clone());
        }
        let folder = self.folder.join(number.to_string());
        fs::create_dir_all(&folder).map_err(|error| unmakable(&folder, &error))?;
        Ok(folder)
    }

    fn keep(&mut self) {
        self.is_kept = true;
        let folder = typed(&self.folder);
        let _ = writeln!(
            std::io::stderr().lock(),
            "memlog: the logs are kept in {folder}"
        );
    }
}

impl Drop for Logs {
    fn drop(&mut self) {
        if !self.is_kept {
            // It is in the folder of temporary files.
            let _ = fs::remove_dir_all(&self.folder);
        }
    }
}

fn unmakable(folder: &Path, error: &std::io::Error) -> anyhow::Error {
    Advice::error(
        format!("the folder {} cannot be made: {error}", shown(folder)),
        "choose another one with --logs DIR",
    )
}
