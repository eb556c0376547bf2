//! The sender: which logs go, in turn, over one connection that is made anew whenever it
//! breaks.
//!
//! * here: the loop, and what it tells
//! * `connect`: ways to a receiver
//! * `log`: one log, from when it is found to when all of it is there

mod connect;
mod log;

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memlog_format::chunk::CHUNK_SIZE;

use crate::channel::Channel;
use crate::limits::PING;
use crate::secret::random;
pub use crate::sync::Pace;
use crate::sync::{Stop, Turn};
use crate::wire::{Answer, Ask, SenderId, VERSION, wrong};
pub use connect::{Connect, Ended, Program};
use log::Log;

/// How long one waits for the receiver after its first failure, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(15);
/// How often logs are looked at that grow, and that do not.
const BUSY: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_millis(500);
/// A look at what does not grow takes no more than this part of the time, within a second.
const REST: u32 = 10;
const LONGEST_REST: Duration = Duration::from_secs(1);
/// How often it is looked whether there are new logs.
const SEARCH: Duration = Duration::from_millis(500);
/// Somebody may add to a log when its program has ended.
const LINGER: Duration = Duration::from_secs(1);
/// Logs that are open at once.
const MOST_OPEN: usize = 256;

/// What the sender asks of whoever uses it.
pub trait Source {
    /// All logs that are to be sent, that are there now.
    fn logs(&mut self) -> Vec<PathBuf>;
    /// Whether more may come.
    fn may_grow(&mut self) -> bool;
    /// How many bytes of the file are the log.
    fn bytes(&mut self, file: &File) -> io::Result<u64>;
    /// Whether nobody will write to a log any more.
    fn is_over(&mut self, path: &Path, file: &File) -> bool;
}

/// What there is to say.
#[derive(Debug)]
pub enum Told<'a> {
    /// There is a receiver.
    Connected(&'a str),
    /// There is none now.
    Lost(&'a str),
    /// There never was one, and trying again will not help.
    Hopeless(&'a str),
    /// A log is sent, under this name.
    Began(&'a Path, &'a str),
    /// All of it is there.
    Ended(&'a Path, u64),
    /// It cannot be sent, for now or for ever.
    Refused(&'a Path, &'a str),
}

/// Whoever sends.
pub struct Sender {
    connect: Connect,
    host: Vec<u8>,
    id: SenderId,
    pace: Pace,
    /// How long the receiver may be away, or take no more, once all programs have ended.
    patience: Option<Duration>,
    logs: Vec<Log>,
    known: HashSet<PathBuf>,
    sent: u64,
    done: u64,
    /// For a chunk: one log is read at a time.
    spare: Vec<u8>,
    /// How long one waits until the receiver is looked for once more.
    wait: Duration,
    /// Whether it was told that there is none.
    is_lost: bool,
    /// Whether there ever was one, or none can be.
    hope: Hope,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hope {
    /// Nobody answered yet.
    New,
    /// Somebody did: he may come back.
    Known,
    /// What was tried cannot work.
    None,
}

/// What it came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sent {
    /// Logs of which all is there.
    pub complete: usize,
    /// Logs of which not all is.
    pub incomplete: usize,
    /// Bytes that were sent.
    pub bytes: u64,
}

/// The receiver, or when to look for it again.
enum Link {
    Up(Box<Channel>),
    Down(Instant),
}

impl Sender {
    /// One that connects so. `host` is shown at the receiver.
    pub fn new(
        connect: Connect,
        host: &[u8],
        pace: Pace,
        patience: Option<Duration>,
    ) -> io::Result<Self> {
        Ok(Self {
            connect,
            host: host.to_vec(),
            id: random()?,
            pace,
            patience,
            logs: Vec::new(),
            known: HashSet::new(),
            sent: 0,
            done: 0,
            spare: vec![0; CHUNK_SIZE],
            wait: FIRST_WAIT,
            is_lost: false,
            hope: Hope::New,
        })
    }

    /// Sends until all is there, or until it is to end. What is then new is sent still.
    pub fn run(
        &mut self,
        source: &mut dyn Source,
        ends: &AtomicBool,
        tell: &mut dyn FnMut(Told),
    ) -> Sent {
        let mut link = Link::Down(Instant::now());
        let mut search: Option<Instant> = None;
        let mut alone: Option<Instant> = None;
        loop {
            let is_last = ends.load(Ordering::Relaxed);
            if search.is_none_or(|at| Instant::now() >= at) || is_last {
                let begun = Instant::now();
                self.search(source);
                // A folder of ten thousand logs is looked through less often.
                search = Some(Instant::now() + SEARCH.max(begun.elapsed() * 2 * REST));
            }
            let begun = Instant::now();
            let step;
            (link, step) = self.look(link, source, is_last, tell);
            let is_up = matches!(link, Link::Up(_));
            let is_over = self.hope == Hope::None || self.is_over(source, is_up, &mut alone);
            if is_last && !step.has_more || is_over {
                break;
            }
            if !step.has_more {
                rest(step.is_new, begun.elapsed(), ends);
            }
        }
        self.end(link)
    }

    /// All logs once, if there is a receiver.
    fn look(
        &mut self,
        link: Link,
        source: &mut dyn Source,
        is_last: bool,
        tell: &mut dyn FnMut(Told),
    ) -> (Link, Turn) {
        let link = match self.has_work() {
            true => self.linked(link, tell),
            false => link,
        };
        let Link::Up(mut channel) = link else {
            return (link, Turn::default());
        };
        let done = self.done;
        let turned = self.turn(source, &mut channel, is_last, tell);
        if turned.is_ok() || self.done != done {
            (self.wait, self.is_lost) = (FIRST_WAIT, false);
        }
        match turned {
            Ok(step) => (Link::Up(channel), step),
            Err(error) => {
                self.logs.iter_mut().for_each(Log::lose);
                (self.lost(&error, tell), Turn::default())
            }
        }
    }

    /// Puts new logs behind the others, and looks whether those that were complete changed.
    fn search(&mut self, source: &mut dyn Source) {
        for path in source.logs() {
            if self.known.insert(path.clone()) {
                let number = self.logs.len() as u32;
                self.logs.push(Log::new(number, path, self.patience));
            }
        }
        for log in &mut self.logs {
            log.look_again();
        }
    }

    fn has_work(&self) -> bool {
        self.logs.iter().any(Log::has_work)
    }

    /// Whether nothing is left to be done, or nobody to do it for: `alone` is since when no
    /// program runs and there is no receiver.
    fn is_over(
        &mut self,
        source: &mut dyn Source,
        is_up: bool,
        alone: &mut Option<Instant>,
    ) -> bool {
        if source.may_grow() {
            return false;
        }
        if self.logs.iter().all(|log| log.is_done_for(LINGER)) {
            return true;
        }
        if is_up && !self.is_lost || !self.logs.iter().all(|log| log.is_still(source)) {
            *alone = None;
            return false;
        }
        let since = *alone.get_or_insert_with(Instant::now);
        let patience = self.patience;
        self.has_work() && patience.is_some_and(|patience| since.elapsed() > patience)
    }

    /// The receiver, if it is there; if not, and it is time, it is looked for.
    fn linked(&mut self, link: Link, tell: &mut dyn FnMut(Told)) -> Link {
        match link {
            Link::Down(again) if Instant::now() >= again => {}
            link => return link,
        }
        let patience = self.connect.patience();
        let greeted = self.connect.connect().and_then(|mut channel| {
            greet(&mut channel, self.id, &self.host, patience)?;
            Ok(channel)
        });
        match greeted {
            Ok(channel) => {
                self.hope = Hope::Known;
                tell(Told::Connected(&self.connect.told()));
                Link::Up(Box::new(channel))
            }
            Err(error) => self.lost(&error, tell),
        }
    }

    /// There is no receiver, or none that answers: it is looked for again, less and less
    /// often. That is told once.
    fn lost(&mut self, error: &io::Error, tell: &mut dyn FnMut(Told)) -> Link {
        let is_first = self.hope == Hope::New;
        let Ended { why, is_final } = self.connect.lose(error, is_first);
        let why = format!("{}: {why}", self.connect.told());
        if is_final && is_first {
            self.hope = Hope::None;
            tell(Told::Hopeless(&why));
        } else if !std::mem::replace(&mut self.is_lost, true) {
            tell(Told::Lost(&why));
        }
        let again = Instant::now() + self.wait;
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
        Link::Down(again)
    }

    /// Each log once.
    fn turn(
        &mut self,
        source: &mut dyn Source,
        channel: &mut Channel,
        is_last: bool,
        tell: &mut dyn FnMut(Told),
    ) -> io::Result<Turn> {
        let mut all = Turn::default();
        let mut open = self.logs.iter().filter(|log| log.is_open()).count();
        for log in &mut self.logs {
            if !log.is_due(open < MOST_OPEN) {
                continue;
            }
            let was_open = log.is_open();
            let mut uplink = crate::sync::Uplink {
                channel: &mut *channel,
                pace: &mut self.pace,
                log: 0,
                sent: &mut self.sent,
                done: &mut self.done,
                spare: &mut self.spare,
            };
            let step = log.step(source, &mut uplink, is_last, tell)?;
            open = open + usize::from(log.is_open()) - usize::from(was_open);
            all.is_new |= step.is_new;
            all.has_more |= step.has_more;
        }
        if channel.quiet() > PING {
            channel.ask(&Ask::Ping)?;
            let frame = channel.receive(PING * 6)?;
            let is_done = matches!(frame.answer()?, Answer::Done);
            channel.give_back(frame);
            if !is_done {
                return Err(wrong("an answer to a ping"));
            }
        }
        Ok(all)
    }

    fn end(&mut self, link: Link) -> Sent {
        if let Link::Up(mut channel) = link {
            for log in &self.logs {
                let _ = log.leave(&mut channel);
            }
        }
        self.connect.end();
        let count = |is: fn(&Log) -> bool| self.logs.iter().filter(|log| is(log)).count();
        Sent {
            complete: count(Log::is_complete),
            incomplete: count(Log::is_missing),
            bytes: self.sent,
        }
    }
}

/// Waits: shortly where logs grow. A look that took long is not made often.
fn rest(is_new: bool, took: Duration, ends: &AtomicBool) {
    let wait = match is_new {
        true => BUSY,
        false => IDLE.max(took * REST).min(LONGEST_REST),
    };
    let until = Instant::now() + wait;
    while Instant::now() < until && !ends.load(Ordering::Relaxed) {
        std::thread::sleep(BUSY.min(until.saturating_duration_since(Instant::now())));
    }
}

fn greet(
    channel: &mut Channel,
    sender: SenderId,
    host: &[u8],
    patience: Duration,
) -> io::Result<()> {
    let version = VERSION;
    channel.ask(&Ask::Hello {
        version,
        sender,
        host,
    })?;
    let frame = channel.receive(patience)?;
    match frame.answer()? {
        Answer::Hello { version: VERSION } => Ok(()),
        Answer::Hello { version } => Err(io::Error::other(format!(
            "the receiver speaks version {version} of the protocol, and this memlog version \
             {VERSION}: use the same memlog on both machines"
        ))),
        Answer::Refused { text, .. } => {
            Err(io::Error::other(String::from_utf8_lossy(text).into_owned()))
        }
        _ => Err(wrong("a greeting")),
    }
}

impl From<Stop> for io::Error {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Source(error) | Stop::Link(error) => error,
            Stop::Refused(_, text) => io::Error::other(text),
        }
    }
}
