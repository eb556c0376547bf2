//! Output that is longer than the screen goes through a pager, as git's does.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};

use crate::words::shown;

/// Where nobody names another.
const DEFAULT: &str = "less";

/// A program that shows text a screen at a time.
#[derive(Debug, PartialEq, Eq)]
pub struct Pager {
    /// The program and its arguments.
    words: Vec<OsString>,
    /// The variable that names it.
    named_by: Option<&'static str>,
}

impl Pager {
    /// The one that is wanted, if any. No shell reads the variable: its words
    /// are what stands between blanks.
    pub fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let mut named = ["MEMLOG_PAGER", "PAGER"].into_iter();
        let named = named.find_map(|name| variable(name).map(|value| (name, value)));
        let (named_by, value) = match named {
            Some((name, value)) => (Some(name), value),
            None => (None, DEFAULT.into()),
        };
        let words = value.as_bytes().split(|byte| b" \t\n".contains(byte));
        let words = words.filter(|word| !word.is_empty());
        let words: Vec<_> = words
            .map(|word| OsStr::from_bytes(word).to_owned())
            .collect();
        let is_none = words.is_empty() || words == ["cat"];
        (!is_none).then_some(Self { words, named_by })
    }

    /// Whether it was there to show the page.
    pub fn show(&self, page: &[u8]) -> io::Result<bool> {
        let mut child = match self.start() {
            Ok(child) => child,
            Err(error) => {
                self.explain(&error);
                return Ok(false);
            }
        };
        if let Some(mut stdin) = child.stdin.take() {
            match stdin.write_all(page) {
                // Who quits early has seen enough.
                Err(error) if error.kind() != ErrorKind::BrokenPipe => return Err(error),
                _ => {}
            }
        }
        child.wait()?;
        Ok(true)
    }

    fn start(&self) -> io::Result<Child> {
        let (program, arguments) = self.words.split_first().ok_or(ErrorKind::NotFound)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped());
        // Quit if it fits after all, keep colours, leave the text on the screen.
        if std::env::var_os("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        command.spawn()
    }

    fn explain(&self, error: &io::Error) {
        if let (Some(variable), Some(program)) = (self.named_by, self.words.first()) {
            let program = shown(program);
            // Where stderr is gone nobody can be told.
            let _ = writeln!(
                io::stderr().lock(),
                "memlog: note: {variable} names {program}, which cannot be started: {error}"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_the_first_that_is_named() {
        let chosen = |set: &[(&str, &str)]| {
            let pager = Pager::chosen(|name| {
                let found = set.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| OsString::from(value))
            });
            pager.map(|pager| pager.words)
        };
        assert_eq!(chosen(&[]), Some(vec!["less".into()]));
        assert_eq!(chosen(&[("PAGER", "more")]), Some(vec!["more".into()]));
        let both = [("PAGER", "more"), ("MEMLOG_PAGER", " most  -s ")];
        assert_eq!(chosen(&both), Some(vec!["most".into(), "-s".into()]));
        assert_eq!(chosen(&[("PAGER", "more"), ("MEMLOG_PAGER", "")]), None);
        assert_eq!(chosen(&[("PAGER", "cat")]), None);
        // The words are not a shell's.
        let quoted = vec!["sh".into(), "-c".into(), "'less".into(), "-R'".into()];
        assert_eq!(chosen(&[("PAGER", "sh -c 'less -R'")]), Some(quoted));
    }
}
