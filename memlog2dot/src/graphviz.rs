//! Programs that are handed a drawing and give it back in another form.
//!
//! No shell, fixed arguments, and a limit of time: a graph that Graphviz
//! chokes on must not keep the user from the picture.

use std::fmt::{Display, Formatter};
use std::io::{ErrorKind, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// No picture is worth waiting longer for.
const LIMIT: Duration = Duration::from_secs(20);
/// How often an end is looked for.
const NAP: Duration = Duration::from_millis(5);

/// Why there is no picture.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The program is not installed.
    Absent,
    /// It was not done in time.
    Late,
    /// It did not do it, in words that follow its name.
    Failed(String),
}

impl Display for Failure {
    fn fmt(&self, out: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => out.write_str("is not in PATH"),
            Self::Late => write!(out, "took more than {} s", LIMIT.as_secs()),
            Self::Failed(why) => out.write_str(why),
        }
    }
}

/// Runs a program over `input`; what it gives must start with `magic`.
pub(crate) fn convert(
    program: &str,
    arguments: &[&str],
    input: &[u8],
    magic: &[u8],
) -> Result<Vec<u8>, Failure> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Failure::Absent,
        _ => Failure::Failed(format!("cannot be started: {error}")),
    })?;
    let output = talk(&mut child, input);
    if output.is_err() {
        // It may have ended by itself; either way it must not stay.
        let _ = child.kill();
        let _ = child.wait();
    }
    let output = output?;
    match output.starts_with(magic) {
        true => Ok(output),
        false => Err(Failure::Failed("gave something else".into())),
    }
}

fn talk(child: &mut Child, input: &[u8]) -> Result<Vec<u8>, Failure> {
    let until = Instant::now() + LIMIT;
    let failed = |error: std::io::Error| Failure::Failed(error.to_string());
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failure::Failed("has no pipes".into()));
    };
    let input = input.to_vec();
    let (sender, receiver) = mpsc::channel();
    // Both threads end when the program does, which nobody has to wait for.
    std::thread::spawn(move || stdin.write_all(&input));
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.read_to_end(&mut output);
        sender.send(read.map(|_| output))
    });
    let output = receiver.recv_timeout(LIMIT).map_err(|_| Failure::Late)?;
    let output = output.map_err(failed)?;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(output),
            Ok(Some(status)) => return Err(Failure::Failed(format!("failed with {status}"))),
            Ok(None) if Instant::now() < until => std::thread::sleep(NAP),
            Ok(None) => return Err(Failure::Late),
            Err(error) => return Err(failed(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let input = vec![b'x'; 1 << 20];
        assert_eq!(convert("cat", &[], &input, b"xx"), Ok(input.clone()));
    }

    #[test]
    fn failures_are_told_apart() {
        let absent = convert("/no/such/program", &[], b"", b"");
        assert_eq!(absent, Err(Failure::Absent));
        let failed = convert("false", &[], b"", b"");
        assert!(matches!(failed, Err(Failure::Failed(text)) if text.contains("status: 1")));
        let other = convert("cat", &[], b"text", b"%PDF");
        assert_eq!(other, Err(Failure::Failed("gave something else".into())));
    }
}
