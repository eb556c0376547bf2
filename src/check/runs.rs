//! What is checked: logs that are there, or those of a program that is run here.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use memlog_pages::blocks::measure::{Run, measure};
use memlog_pages::{Advice, choose, grouped, shown, typed};

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
    for file in &args.files {
        let log = choose(file, |line| {
            // Where stderr is gone nobody can be told.
            let _ = writeln!(std::io::stderr().lock(), "memlog: {line}");
        })?;
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
        own.push(main);
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
    let measured = |logs: Vec<PathBuf>| -> anyhow::Result<Vec<Logged>> {
        logs.into_iter()
            .map(|log| logged(args, rules, log))
            .collect()
    };
    let mut all = Measurements {
        tried: vec![Tried {
            runs: measured(own)?,
            failures,
        }],
        ..Measurements::default()
    };
    match (args.children, children.len()) {
        (_, 0) => {}
        (true, _) => all
            .tried
            .extend(measured(children)?.into_iter().map(Tried::of_one)),
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
