//! The replayer, a program of its own that this executable carries: this one may be static,
//! and then nothing can be preloaded into it.

use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use memlog_pages::replay::Run;
use memlog_pages::{Advice, clean};

use super::allocators::Allocator;
use crate::recorder::{REPLAYER, generated_file};

/// The exit codes of `replayer/src/lib.rs`.
const MALFORMED: i32 = 3;
const REFUSED: i32 = 4;

/// It, in a file that can be executed.
pub struct Replayer {
    path: PathBuf,
    /// The loader that it names is on this machine.
    has_loader: bool,
}

impl Replayer {
    /// Puts it where it can be executed.
    pub fn find() -> anyhow::Result<Self> {
        if REPLAYER.bytes.is_empty() {
            return Err(Advice::error(
                "this memlog was built for another machine, without what replays",
                "replay the log, or what `memlog export replay` writes, on an x86_64 machine",
            ));
        }
        let loader = loader_of(REPLAYER.bytes);
        Ok(Self {
            path: generated_file(REPLAYER.name, REPLAYER.bytes, true)?,
            has_loader: loader.is_some_and(|loader| Path::new(loader).exists()),
        })
    }

    /// Whether the C library that it was built for is here.
    pub fn has_glibc(&self) -> bool {
        self.has_loader
    }

    /// All but the calls.
    pub fn dry(&self, file: &File, allocator: &Allocator) -> anyhow::Result<Run> {
        let plain = allocator.plain();
        let run = self.execute(file, &plain, [0, 0, 0])?;
        let (_, run) = run.map_err(|reason| {
            Advice::error(
                format!("the replayer cannot be run: {reason}"),
                "see whether memory is limited here, by `ulimit -v` or a cgroup",
            )
        })?;
        Ok(run)
    }

    /// The library whose malloc answered, and what that took; or why there is nothing.
    pub fn run(
        &self,
        file: &File,
        allocator: &Allocator,
        (limit, own): (u64, u64),
    ) -> anyhow::Result<Result<(String, Run), String>> {
        let run = self.execute(file, allocator, [1, limit, own])?;
        Ok(run.and_then(|(library, run)| {
            allocator.is_it(&library)?;
            Ok((library, run))
        }))
    }

    fn execute(
        &self,
        file: &File,
        allocator: &Allocator,
        numbers: [u64; 3],
    ) -> anyhow::Result<Result<(String, Run), String>> {
        let mut command = match allocator.loader() {
            None => Command::new(&self.path),
            Some(loader) => {
                let mut command = Command::new(loader);
                command.arg(&self.path);
                command
            }
        };
        let numbers = numbers.map(|number| number.to_string());
        command.arg("0").args(numbers).env_clear();
        // Where an allocator's own libraries lie.
        command.envs(std::env::var_os("LD_LIBRARY_PATH").map(|path| ("LD_LIBRARY_PATH", path)));
        command.envs(allocator.environment());
        command.stdin(Stdio::from(file.try_clone()?));
        let output = command.output().map_err(|error| {
            Advice::error(
                format!("the replayer cannot be started: {error}"),
                "see whether programs may be executed from ~/.cache, or set XDG_CACHE_HOME",
            )
        })?;
        match output.status.code() {
            Some(0) => Ok(Ok(told(&output))),
            Some(MALFORMED) => Err(Advice::error(
                "the file of operations is spoilt",
                "make it again: memlog export replay FILE",
            )),
            _ => Ok(Err(ended(output.status, &output))),
        }
    }
}

/// Names and values, a line each.
fn told(output: &Output) -> (String, Run) {
    let text = clean_lines(&output.stdout);
    let mut library = String::new();
    let mut run = Run::default();
    for (name, value) in text.iter().filter_map(|line| line.split_once(' ')) {
        match value.parse() {
            Ok(number) => drop(run.0.insert(name.to_owned(), number)),
            Err(_) if name == "library" => library = value.to_owned(),
            Err(_) => {}
        }
    }
    (library, run)
}

fn clean_lines(bytes: &[u8]) -> Vec<String> {
    bytes.split(|&byte| byte == b'\n').map(clean).collect()
}

/// Why it ended too early.
fn ended(status: ExitStatus, output: &Output) -> String {
    let last = clean_lines(&output.stderr);
    let last = last.into_iter().rfind(|line| !line.is_empty());
    let last = last.map_or(String::new(), |line| format!(": {line}"));
    match (status.code(), status.signal()) {
        (Some(REFUSED), _) => format!("there is no room for the tables of the replay{last}"),
        (_, Some(libc::SIGKILL)) => {
            format!("the replay was killed: the machine may have too little memory{last}")
        }
        _ => format!("the replay failed ({status}){last}"),
    }
}

/// The loader that an executable names: it is text that ends with a zero byte.
fn loader_of(bytes: &[u8]) -> Option<&str> {
    let names = [&b"/lib64/ld"[..], b"/lib/ld"];
    let at = names.iter().find_map(|name| {
        let mut places = bytes.windows(name.len());
        places.position(|place| place == *name)
    })?;
    let text = bytes[at..].split(|&byte| byte == 0).next()?;
    std::str::from_utf8(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It runs with C libraries that are older than the one it was built with.
    #[test]
    fn the_replayer_asks_for_no_version() {
        let bytes = REPLAYER.bytes;
        let has = |word: &[u8]| bytes.windows(word.len()).any(|place| place == word);
        assert!(!has(b"GLIBC_"));
        assert!(bytes.is_empty() || has(b"libc.so.6") && loader_of(bytes).is_some());
    }
}
