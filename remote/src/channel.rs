//! Questions and answers, one end's part of a line.

use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::{ClientConfig, ServerConfig};

use crate::limits::{HANDSHAKE, SILENCE};
use crate::line::{Line, Timed};
use crate::secret::Secret;
use crate::tls;
use crate::wire::{self, Answer, Ask, HEAD};

/// How the lines of a receiver are secured.
#[derive(Clone)]
pub enum Secured {
    /// By the keys of a secret.
    Keys(Arc<ServerConfig>),
    /// By something else: it is a pipe of ssh, or of a user of this machine.
    Otherwise,
}

impl Secured {
    /// By a secret.
    pub fn by(secret: &Secret) -> io::Result<Self> {
        tls::receiver(secret).map(Self::Keys)
    }
}

/// More than that is not held back.
const FULL: usize = 64 << 10;

/// How long one waits for what was said before a connection was closed.
const LAST: Duration = Duration::from_millis(500);

/// Frames, over anything.
pub struct Channel {
    line: Box<dyn Timed>,
    out: Vec<u8>,
    spare: Vec<u8>,
    spoke: Instant,
}

/// A frame that came.
pub struct Frame {
    kind: u8,
    bytes: Vec<u8>,
}

impl Frame {
    /// As a question.
    pub fn ask(&self) -> io::Result<Ask<'_>> {
        Ask::read(self.kind, &self.bytes)
    }

    /// As an answer.
    pub fn answer(&self) -> io::Result<Answer<'_>> {
        Answer::read(self.kind, &self.bytes)
    }
}

impl Channel {
    /// A receiver's end. The handshake has to be done in time.
    pub fn accepted(mut line: Line, secured: &Secured) -> io::Result<Self> {
        line.set_deadline(Instant::now() + HANDSHAKE);
        let line = match secured {
            Secured::Keys(config) => tls::accept(config, line).map_err(tls::explained)?,
            Secured::Otherwise => Box::new(line),
        };
        Ok(Self::over(line))
    }

    /// A sender's end.
    pub fn connected(mut line: Line, keys: Option<&Arc<ClientConfig>>) -> io::Result<Self> {
        line.set_deadline(Instant::now() + HANDSHAKE);
        let line = match keys {
            Some(config) => tls::connect(config, line).map_err(tls::explained)?,
            None => Box::new(line),
        };
        Ok(Self::over(line))
    }

    fn over(line: Box<dyn Timed>) -> Self {
        Self {
            line,
            out: Vec::new(),
            spare: Vec::new(),
            spoke: Instant::now(),
        }
    }

    /// Sends a question, soon.
    pub fn ask(&mut self, ask: &Ask) -> io::Result<()> {
        ask.put(&mut self.out);
        match self.out.len() >= FULL {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Sends an answer, at once.
    pub fn answer(&mut self, answer: &Answer) -> io::Result<()> {
        answer.put(&mut self.out);
        self.flush()
    }

    /// Sends what is held back.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.out.is_empty() {
            return Ok(());
        }
        self.line.set_deadline(Instant::now() + SILENCE);
        let sent = self.line.write_all(&self.out);
        let sent = sent.and_then(|()| self.line.flush());
        self.out.clear();
        self.spoke = Instant::now();
        sent.map_err(|error| self.last_word(error))
    }

    /// Who closes a connection may have said why before.
    fn last_word(&mut self, error: io::Error) -> io::Error {
        self.line.set_deadline(Instant::now() + LAST);
        let said = self.line.read(&mut [0]);
        let is_tls = |said: &io::Error| said.kind() == io::ErrorKind::InvalidData;
        tls::explained(said.err().filter(is_tls).unwrap_or(error))
    }

    /// How long nothing was sent.
    pub fn quiet(&self) -> Duration {
        self.spoke.elapsed()
    }

    /// The next frame, whole and in time.
    pub fn receive(&mut self, limit: Duration) -> io::Result<Frame> {
        self.flush()?;
        self.line.set_deadline(Instant::now() + limit);
        let mut head = [0; HEAD];
        self.line.read_exact(&mut head).map_err(tls::explained)?;
        let (kind, length) = wire::head(head)?;
        let mut bytes = std::mem::take(&mut self.spare);
        bytes.clear();
        bytes.resize(length, 0);
        self.line.read_exact(&mut bytes).map_err(tls::explained)?;
        Ok(Frame { kind, bytes })
    }

    /// A frame that was read through: its memory is used again.
    pub fn give_back(&mut self, frame: Frame) {
        self.spare = frame.bytes;
    }
}
