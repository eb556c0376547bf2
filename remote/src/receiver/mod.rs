//! The receiver: a folder that many senders write logs into at once, each its own.
//!
//! * here: what all connections share, and how each begins and ends
//! * `visit`: what one connection asks, answered in turn
//! * `listen`: connections, each with a thread; who is let in
//! * `folder`: names; `file`: the bytes of one log
//! * `shelf`: which logs are being written, by whom

mod file;
mod folder;
mod listen;
mod peer;
mod shelf;
mod visit;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::channel::{Channel, Secured};
use crate::limits::SILENCE;
use crate::line::Line;
use crate::look::About;
use crate::wire::{Answer, Ask, SenderId, VERSION, Why};
use folder::Folder;
use shelf::Shelf;
use visit::Visit;

/// What a receiver takes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of all logs that it writes, together.
    pub bytes: Option<u64>,
    /// Bytes of the disk that are left alone.
    pub free_bytes: u64,
    /// Connections at once.
    pub connections: usize,
}

/// What there is to say.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A log is written, from its beginning or once more.
    Began {
        /// Its name in the folder.
        name: String,
        /// What it is of.
        about: About,
        /// Who sends it.
        from: String,
        /// Bytes that were there already, if it is taken up again.
        resumed: Option<u64>,
    },
    /// All of it is there.
    Ended {
        /// Its name.
        name: String,
        /// Bytes of it.
        bytes: u64,
        /// What it is of, as it says at its end.
        about: Option<About>,
    },
    /// The sender is gone, and the log is not at its end: it can be taken up again.
    Left {
        /// Its name.
        name: String,
        /// Bytes of it so far.
        bytes: u64,
    },
    /// A log, or more of it, was not taken.
    Refused {
        /// The name that the sender gave it.
        name: String,
        /// Who sends it.
        from: String,
        /// Why.
        why: String,
    },
    /// A connection was not let in, or spoke something else.
    Turned {
        /// Who it was.
        from: String,
        /// Why.
        why: String,
    },
}

/// Who hears it.
pub type Tell = Arc<dyn Fn(Notice) + Send + Sync>;

/// What all connections share.
pub struct Gatherer {
    folder: Folder,
    limits: Limits,
    shelf: Shelf,
    /// Bytes on the disk of each log, by its file.
    taken: Mutex<HashMap<(u64, u64), u64>>,
    tell: Tell,
    finished: AtomicU64,
    refused: AtomicU64,
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Logs, each once.
    pub logs: u64,
    /// Those of which all is there, as often as that was said.
    pub finished: u64,
    /// Bytes that they take on the disk.
    pub bytes: u64,
    /// How often a log was not taken.
    pub refused: u64,
}

/// What a line can say that is dropped without an answer.
enum Over {
    Gone,
    Wrong(io::Error),
}

impl Gatherer {
    /// One that writes into a folder, which is made if it is not there.
    pub fn new(folder: &Path, limits: Limits, tell: Tell) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::open(folder)?,
            limits,
            shelf: Shelf::default(),
            taken: Mutex::default(),
            tell,
            finished: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// What it came to so far.
    pub fn totals(&self) -> Totals {
        let taken = self.taken.lock().unwrap_or_else(|error| error.into_inner());
        Totals {
            logs: taken.len() as u64,
            finished: self.finished.load(Ordering::Relaxed),
            bytes: taken.values().sum(),
            refused: self.refused.load(Ordering::Relaxed),
        }
    }

    /// Serves one sender over two pipes until it is gone.
    pub fn serve_pipes(
        &self,
        input: OwnedFd,
        output: OwnedFd,
        secured: &Secured,
    ) -> io::Result<()> {
        let line = Line::of(input, output)?;
        let channel = Channel::accepted(line, secured)?;
        let served = self.serve(channel, "ssh", Closer::None);
        served.map_err(|over| match over {
            Over::Gone => io::ErrorKind::UnexpectedEof.into(),
            Over::Wrong(error) => error,
        })
    }

    /// Answers until the sender is gone: what it leaves open stays as it is.
    fn serve(&self, mut channel: Channel, from: &str, closer: Closer) -> Result<(), Over> {
        let (sender, host) = greet(&mut channel)?;
        let from = match host.is_empty() {
            true => from.to_owned(),
            false => format!("{host} ({from})"),
        };
        let mut visit = Visit::new(self, from, sender, closer);
        loop {
            let frame = match channel.receive(SILENCE) {
                Ok(frame) => frame,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(Over::Wrong(error));
                }
                Err(_) => return Ok(()),
            };
            let ask = frame.ask().map_err(Over::Wrong)?;
            let answered = visit.answer(&ask, &mut channel);
            channel.give_back(frame);
            match answered {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    return Err(Over::Wrong(error));
                }
                Err(_) => return Ok(()),
            }
        }
    }

    fn tell(&self, notice: Notice) {
        (self.tell)(notice);
    }

    /// Whether there is room for more of a log that has so many bytes on the disk.
    fn has_room(&self, file: (u64, u64), bytes: u64) -> Result<(), String> {
        let mut taken = self.taken.lock().unwrap_or_else(|error| error.into_inner());
        taken.insert(file, bytes);
        let all: u64 = taken.values().sum();
        match self.limits.bytes {
            Some(most) if all > most => Err(format!(
                "the logs here have {all} bytes, and --max-bytes allows {most}"
            )),
            _ => Ok(()),
        }
    }
}

/// How a connection is ended by another that takes its logs up.
pub(crate) enum Closer {
    Socket(std::net::TcpStream),
    None,
}

impl Closer {
    fn close(&self) {
        if let Closer::Socket(socket) = self {
            let _ = socket.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn greet(channel: &mut Channel) -> Result<(SenderId, String), Over> {
    let gone = |_: io::Error| Over::Gone;
    let frame = channel.receive(crate::limits::HANDSHAKE);
    let frame = frame.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Over::Wrong(error),
        _ => Over::Gone,
    })?;
    let greeting = match frame.ask().map_err(Over::Wrong)? {
        Ask::Hello {
            version: VERSION,
            sender,
            host,
        } => (sender, shown(host)),
        Ask::Hello { version, .. } => {
            let text = format!(
                "this receiver speaks version {VERSION} of the protocol, and the sender \
                 version {version}: use the same memlog on both machines"
            );
            refuse(channel, Why::Never, &text).map_err(gone)?;
            return Err(Over::Wrong(io::Error::other(text)));
        }
        _ => return Err(Over::Wrong(crate::wire::wrong("MLGATHER"))),
    };
    channel.give_back(frame);
    let version = VERSION;
    channel.answer(&Answer::Hello { version }).map_err(gone)?;
    Ok(greeting)
}

fn refuse(channel: &mut Channel, why: Why, text: &str) -> io::Result<()> {
    let text = text.as_bytes();
    channel.answer(&Answer::Refused { why, text })
}

/// What a sender calls something: never more than a short line of plain letters.
fn shown(name: &[u8]) -> String {
    let text = String::from_utf8_lossy(name);
    let plain = |c: char| match c.is_alphanumeric() || "._-+,:@%=/ ".contains(c) {
        true => c,
        false => '?',
    };
    text.chars().take(200).map(plain).collect()
}

/// An address as it is shown.
fn peer_name(address: SocketAddr) -> String {
    address.to_string()
}

/// How often one looks whether it is to end.
const LOOK: Duration = Duration::from_millis(100);
