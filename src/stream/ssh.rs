//! The way by ssh: it starts `memlog gather --stdio` on the other machine. Who may do that,
//! and what others on the way see, is ssh's affair.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use memlog_export::word;
use memlog_pages::{Advice, shown};
use memlog_remote::Program;

use super::text;

/// What a program has until it is killed that should have ended with its input.
const END: Duration = Duration::from_secs(2);

/// ssh to a host.
pub struct Ssh {
    host: OsString,
    /// What the shell there is told.
    line: String,
    child: Option<Child>,
}

impl Ssh {
    /// To a host, a folder there, and what memlog is called there.
    pub fn to(
        host: &OsStr,
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
            line,
            child: None,
        })
    }
}

impl Program for Ssh {
    fn start(&mut self) -> io::Result<(OwnedFd, OwnedFd)> {
        self.end();
        let program = "ssh";
        let mut command = Command::new(program);
        // No terminal: it would change what goes through. Nobody is there to be asked.
        command.args([
            "-T",
            "-o",
            "BatchMode=yes",
            "-o",
            "ServerAliveInterval=15",
            "--",
        ]);
        command.arg(&self.host).arg(&self.line);
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

    fn end(&mut self) {
        let Some(mut child) = self.child.take() else {
            return;
        };
        // Its input is closed by now: it ends by itself, if it can.
        let begun = Instant::now();
        while begun.elapsed() < END {
            if !matches!(child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(END / 100);
        }
        let _ = child.kill();
        let _ = child.wait();
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
