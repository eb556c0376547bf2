//! The one file that a command writes, or standard output.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_pages::{Advice, out, shown};
use memlog2dot::OneFile;

const STDOUT: &str = "-";

/// By `--force` what lies there is replaced if this allows it.
pub type Forced = Option<fn(&Path) -> anyhow::Result<()>>;

/// Where it goes, and whether that is said.
pub struct Output<'a> {
    /// As `-o` says.
    pub path: Option<&'a Path>,
    /// Nothing is said of it.
    pub is_quiet: bool,
    /// What to do where it cannot be written.
    pub elsewhere: &'static str,
}

impl Output<'_> {
    /// Whether it is standard output.
    pub fn is_stdout(&self) -> bool {
        self.path == Some(Path::new(STDOUT))
    }

    /// Whether `--open` can be done.
    pub fn check_open(&self, is_asked: bool) -> anyhow::Result<()> {
        match is_asked && self.is_stdout() {
            true => Err(Advice::error(
                "--open opens a file, and -o - writes none",
                "give a name, or leave -o out",
            )),
            false => Ok(()),
        }
    }

    /// Who hears it may go away: the file is what was asked for.
    pub fn say(&self, line: &str) {
        match (self.is_quiet, self.is_stdout()) {
            (true, _) => Ok(()),
            (false, true) => writeln!(std::io::stderr().lock(), "memlog: {line}"),
            (false, false) => writeln!(std::io::stdout().lock(), "{line}"),
        }
        .unwrap_or_default();
    }

    /// Writes what is made of a log, into a folder under the log's name and what comes
    /// with it; where it went, if that is a file.
    pub fn write(
        &self,
        log: &Path,
        named: impl Fn(&str) -> String,
        make: impl FnOnce(&mut dyn Write) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<(ExitCode, Option<PathBuf>)> {
        if self.is_stdout() {
            let mut out = out();
            let exit = make(&mut out)?;
            out.flush()?;
            return Ok((exit, None));
        }
        let path = self.file(log, named)?;
        // What cannot be written is told before the log is gone through.
        let file = OneFile::prepare(&path, log, self.elsewhere)?;
        self.put(file, path, make)
    }

    /// The same of a log: one that is there stays, unless `--force` says otherwise.
    pub fn write_log(
        &self,
        source: &Path,
        named: impl Fn(&str) -> String,
        forced: Forced,
        make: impl FnOnce(&mut dyn Write) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<(ExitCode, Option<PathBuf>)> {
        if self.is_stdout() {
            return self.write(source, named, make);
        }
        let path = self.file(source, named)?;
        let file = OneFile::prepare(&path, source, self.elsewhere)?;
        let file = new_log(file, &path, forced, self.elsewhere)?;
        self.put(file, path, make)
    }

    /// Whether [`write_log`](Self::write_log) would find a log there.
    pub fn check_log(
        &self,
        source: &Path,
        named: impl Fn(&str) -> String,
        forced: Forced,
    ) -> anyhow::Result<()> {
        match self.is_stdout() {
            true => Ok(()),
            false => check_new(&self.file(source, named)?, forced, self.elsewhere),
        }
    }

    fn put(
        &self,
        file: OneFile,
        path: PathBuf,
        make: impl FnOnce(&mut dyn Write) -> anyhow::Result<ExitCode>,
    ) -> anyhow::Result<(ExitCode, Option<PathBuf>)> {
        let exit = file.write_by(make)?;
        self.say(&format!("Creating {}", shown(&path)));
        Ok((exit, Some(path)))
    }

    /// The file that would be written.
    pub fn would_write(
        &self,
        log: &Path,
        named: impl Fn(&str) -> String,
    ) -> anyhow::Result<Option<PathBuf>> {
        match self.is_stdout() {
            true => Ok(None),
            false => self.file(log, named).map(Some),
        }
    }

    fn file(&self, log: &Path, named: impl Fn(&str) -> String) -> anyhow::Result<PathBuf> {
        let folder = match self.path {
            Some(path) if !path.is_dir() => return Ok(path.to_owned()),
            folder => folder.map(Path::to_owned).unwrap_or_default(),
        };
        let Some(name) = log.file_name().and_then(|name| name.to_str()) else {
            return Err(Advice::error(
                format!(
                    "{} has no file name that can be made another of",
                    shown(log)
                ),
                self.elsewhere,
            ));
        };
        Ok(folder.join(named(name)))
    }
}

/// A file for a log, which replaces another only by `--force`, and only another log, as
/// `record` does.
pub fn new_log(
    file: OneFile,
    path: &Path,
    forced: Forced,
    elsewhere: &str,
) -> anyhow::Result<OneFile> {
    check_new(path, forced, elsewhere)?;
    Ok(match forced {
        Some(_) => file,
        None => file.where_none_is(),
    })
}

fn check_new(path: &Path, forced: Forced, elsewhere: &str) -> anyhow::Result<()> {
    match forced {
        Some(check) => check(path),
        None if path.symlink_metadata().is_ok() => Err(Advice::error(
            format!("{} is there already", shown(path)),
            format!("{elsewhere}; --force replaces a log"),
        )),
        None => Ok(()),
    }
}
