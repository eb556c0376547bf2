//! One log's part of a channel.

use std::io;
use std::time::{Duration, Instant};

use crate::channel::{Channel, Frame};
use crate::limits::MOST_DATA;
use crate::wire::{Answer, Ask, Patches, Why};

/// A receiver that has much to write is slow, and not gone.
const ANSWER: Duration = Duration::from_secs(60);

/// Bytes a second: with less, a frame would take so long that the receiver gives up.
const SLOWEST: u64 = 16 << 10;

/// Why a log does not go on.
#[derive(Debug)]
pub enum Stop {
    /// The log cannot be read.
    Source(io::Error),
    /// The connection is gone.
    Link(io::Error),
    /// The receiver does not take it.
    Refused(Why, String),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Stop::Source(error)
    }
}

/// How many bytes a second may be sent.
pub struct Pace {
    bytes_per_second: Option<u64>,
    /// When what was sent so far is paid for.
    paid: Instant,
}

impl Pace {
    /// Nothing: as many as go.
    pub fn of(bytes_per_second: Option<u64>) -> Self {
        Self {
            bytes_per_second: bytes_per_second.map(|rate| rate.max(SLOWEST)),
            paid: Instant::now(),
        }
    }

    fn spend(&mut self, bytes: usize) {
        let Some(rate) = self.bytes_per_second else {
            return;
        };
        let now = Instant::now();
        let cost = Duration::from_secs_f64(bytes as f64 / rate as f64);
        // What was not used is not saved up.
        self.paid = self.paid.max(now) + cost;
        std::thread::sleep(self.paid.saturating_duration_since(now));
    }
}

/// A log's questions.
pub struct Uplink<'a> {
    /// What they go over.
    pub channel: &'a mut Channel,
    /// How fast.
    pub pace: &'a mut Pace,
    /// The log's number.
    pub log: u32,
    /// Bytes of logs that were sent.
    pub sent: &'a mut u64,
    /// How often the receiver said that something is done.
    pub done: &'a mut u64,
    /// Room for a chunk.
    pub spare: &'a mut Vec<u8>,
}

impl Uplink<'_> {
    /// Asks, and waits for the answer.
    pub fn ask(&mut self, ask: &Ask) -> Result<Frame, Stop> {
        ask_of(self.channel, ask)
    }

    /// Sends bytes of the log.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Stop> {
        for (bytes, at) in bytes.chunks(MOST_DATA).zip((at..).step_by(MOST_DATA)) {
            let log = self.log;
            let sent = self.channel.ask(&Ask::Write { log, at, bytes });
            sent.map_err(Stop::Link)?;
            *self.sent += bytes.len() as u64;
            self.pace.spend(bytes.len());
        }
        Ok(())
    }

    /// Sends pieces that make it valid, and waits until they are there.
    pub fn commit(&mut self, pieces: &[(u64, Vec<u8>)]) -> Result<(), Stop> {
        let mut patches = Vec::new();
        for (at, bytes) in pieces {
            if patches.len() + Patches::HEAD + bytes.len() > MOST_DATA {
                self.commit_one(&patches)?;
                patches.clear();
            }
            Patches::put(&mut patches, *at, bytes);
        }
        self.commit_one(&patches)
    }

    fn commit_one(&mut self, patches: &[u8]) -> Result<(), Stop> {
        let log = self.log;
        let frame = self.ask(&Ask::Commit { log, patches })?;
        *self.sent += patches.len() as u64;
        self.pace.spend(patches.len());
        self.done(frame)
    }

    /// What has no other answer.
    pub fn done(&mut self, frame: Frame) -> Result<(), Stop> {
        let is_done = matches!(answer_of(&frame)?, Answer::Done);
        self.channel.give_back(frame);
        *self.done += 1;
        match is_done {
            true => Ok(()),
            false => Err(unexpected()),
        }
    }
}

/// Asks, and waits for the answer.
pub fn ask_of(channel: &mut Channel, ask: &Ask) -> Result<Frame, Stop> {
    channel.ask(ask).map_err(Stop::Link)?;
    channel.receive(ANSWER).map_err(Stop::Link)
}

/// An answer that is no refusal.
pub fn answer_of(frame: &Frame) -> Result<Answer<'_>, Stop> {
    match frame.answer().map_err(Stop::Link)? {
        Answer::Refused { why, text } => Err(Stop::Refused(
            why,
            String::from_utf8_lossy(text).into_owned(),
        )),
        answer => Ok(answer),
    }
}

/// Of an answer to another question.
pub fn unexpected() -> Stop {
    Stop::Link(crate::wire::wrong("another answer"))
}
