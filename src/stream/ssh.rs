//! The way by ssh: it starts `memlog gather --stdio` on the other machine. Who may do that,
//! and what others on the way see, is ssh's affair. What ssh says goes to stderr as it is.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use memlog_export::word;
use memlog_pages::{Advice, shown};
use memlog_remote::{Ended, Program};

use super::text;

/// What a program has until it is killed that should have ended with its input.
const END: Duration = Duration::from_secs(2);

/// For ssh before anything else: no terminal, which would change what goes through, and
/// nothing lent to the other machine but this pipe.
const BEFORE: [&str; 7] = [
    "-T",
    "-a",
    "-x",
    "-o",
    "ClearAllForwardings=yes",
    // Nobody is there to be asked.
    "-o",
    "BatchMode=yes",
];
/// What the user may want otherwise: of two, ssh takes the first.
const BEHIND: [&str; 2] = ["-o", "ServerAliveInterval=15"];

/// ssh to a host.
pub struct Ssh {
    host: OsString,
    /// For ssh, as behind its `-o`.
    options: Vec<OsString>,
    /// What memlog is called there.
    memlog: String,
    /// What the shell there is told.
    line: String,
    child: Option<Child>,
}

impl Ssh {
    /// To a host, with options; a folder there, and what memlog is called there.
    pub fn to(
        host: &OsStr,
        options: &[OsString],
        folder: Option<&OsStr>,
        memlog: Option<&OsStr>,
    ) -> anyhow::Result<Self> {
        if host.as_encoded_bytes().starts_with(b"-") || host.is_empty() {
            return Err(Advice::error(
                format!("{} is no host", shown(host)),
                "give a host that ssh knows: memlog stream --ssh HOST FILE",
            ));
        }
        let memlog = text(memlog.unwrap_or(OsStr::new("memlog")))?;
        let mut line = format!("{} gather --stdio", word(memlog));
        if let Some(folder) = folder {
            line.push_str(&format!(" --output={}", word(text(folder)?)));
        }
        Ok(Self {
            host: host.to_owned(),
            options: options.to_vec(),
            memlog: memlog.to_owned(),
            line,
            child: None,
        })
    }

    /// Why nobody answers, by how ssh ended: it hands the shell's code on.
    fn explained(&self, status: ExitStatus) -> Option<Ended> {
        let memlog = shown(&self.memlog);
        let (why, is_final) = match status.code()? {
            0 => return None,
            126 => (format!("{memlog} cannot be run there"), true),
            127 => (
                format!("the shell there finds no {memlog}: --memlog PATH says where it is"),
                true,
            ),
            255 => (
                "ssh could not connect, or the connection broke".to_owned(),
                false,
            ),
            code => (format!("{memlog} gather there ended with {code}"), false),
        };
        Some(Ended { why, is_final })
    }
}

impl Program for Ssh {
    fn start(&mut self) -> io::Result<(OwnedFd, OwnedFd)> {
        self.end();
        let program = "ssh";
        let mut command = Command::new(program);
        command.args(BEFORE);
        for option in &self.options {
            command.arg("-o").arg(option);
        }
        command
            .args(BEHIND)
            .arg("--")
            .arg(&self.host)
            .arg(&self.line);
        // Ctrl-C in a terminal is for memlog alone, which then sends what is new.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| io::Error::new(error.kind(), format!("cannot start ssh: {error}")))?;
        let (into, out) = (child.stdin.take(), child.stdout.take());
        self.child = Some(child);
        match (into, out) {
            (Some(into), Some(out)) => Ok((into.into(), out.into())),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn end(&mut self) -> Option<Ended> {
        let mut child = self.child.take()?;
        // Its input is closed by now: it ends by itself, if it can.
        let begun = Instant::now();
        while begun.elapsed() < END {
            match child.try_wait() {
                Ok(None) => std::thread::sleep(END / 100),
                Ok(Some(status)) => return self.explained(status),
                Err(_) => return None,
            }
        }
        let _ = child.kill();
        let _ = child.wait();
        None
    }

    fn told(&self) -> String {
        format!("{} by ssh", shown(&self.host))
    }
}

impl Drop for Ssh {
    fn drop(&mut self) {
        self.end();
    }
}
