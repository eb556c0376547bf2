//! Bytes with deadlines: a socket, or two pipes. What takes longer is an error, whoever is
//! slow and wherever it stands.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio};

/// What is read, and what is written to; they may be the same.
pub struct Line {
    input: OwnedFd,
    output: OwnedFd,
    deadline: Instant,
}

/// What has a deadline.
pub trait Timed: Read + Write + Send {
    /// Whatever is not done by then fails.
    fn set_deadline(&mut self, deadline: Instant);
}

impl Timed for Line {
    fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = deadline;
    }
}

impl Line {
    /// Of two ends of pipes, or of one socket twice.
    pub fn of(input: OwnedFd, output: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&input, true)?;
        ioctl_fionbio(&output, true)?;
        Ok(Self {
            input,
            output,
            deadline: Instant::now(),
        })
    }

    fn wait(&self, what: PollFlags) -> io::Result<()> {
        let fd = match what {
            PollFlags::IN => self.input.as_fd(),
            _ => self.output.as_fd(),
        };
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left == Duration::ZERO {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let left = Timespec::try_from(left).unwrap_or(Timespec {
                tv_sec: 3600,
                tv_nsec: 0,
            });
            match poll(&mut [PollFd::new(&fd, what)], Some(&left)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for Line {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match rustix::io::read(&self.input, &mut *into) {
                Err(Errno::AGAIN) => self.wait(PollFlags::IN)?,
                Err(Errno::INTR) => {}
                read => return Ok(read?),
            }
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match rustix::io::write(&self.output, bytes) {
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT)?,
                Err(Errno::INTR) => {}
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
