//! One log, from when it is found to when all of it is there.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use memlog_format::chunk::CHUNK_SIZE;
use rustix::fs::OFlags;

use super::{Source, Told};
use crate::channel::Channel;
use crate::look::beginning;
use crate::sync::{Stop, Sync, Turn, Uplink};
use crate::wire::{Answer, Ask, Why};

/// A log that was not taken is offered again after this, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// A log that is over is offered so often before it is given up.
const MOST_OFFERS: u32 = 5;
/// What has not become a log by then is none. Its program may be very slow.
const BIRTH: Duration = Duration::from_secs(10);

/// A log.
pub struct Log {
    number: u32,
    path: PathBuf,
    phase: Phase,
    found: Instant,
    offers: u32,
    wait: Duration,
    /// How long it is offered once its program has ended, and since when that is done.
    patience: Option<Duration>,
    refused: Option<Instant>,
    is_told: bool,
    /// Nothing was new when it was looked at last.
    was_still: bool,
}

enum Phase {
    /// The receiver was not asked yet, or has to be asked again.
    New,
    /// It is being sent.
    Open(Box<Sync>),
    /// It was not taken: it is offered again then.
    Refused(Instant),
    /// All of it is there: the file was this when that was seen.
    Complete(Stamp, Instant),
    /// It never will be.
    Failed,
    /// It was removed before it was sent.
    Gone,
}

/// What changes with a file.
type Stamp = Option<(u64, SystemTime)>;

impl Log {
    /// One that was found. A receiver that does not take it is asked for so long.
    pub fn new(number: u32, path: PathBuf, patience: Option<Duration>) -> Self {
        Self {
            number,
            path,
            phase: Phase::New,
            found: Instant::now(),
            offers: 0,
            wait: FIRST_WAIT,
            patience,
            refused: None,
            is_told: false,
            was_still: false,
        }
    }

    /// Whether there is something to send, or may be.
    pub fn has_work(&self) -> bool {
        !matches!(
            self.phase,
            Phase::Complete(..) | Phase::Failed | Phase::Gone
        )
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open(_))
    }

    /// Whether it is to be looked at now.
    pub fn is_due(&self, has_room: bool) -> bool {
        match self.phase {
            Phase::Open(_) => true,
            Phase::New => has_room,
            Phase::Refused(again) => has_room && Instant::now() >= again,
            Phase::Complete(..) | Phase::Failed | Phase::Gone => false,
        }
    }

    /// Whether all of it is there.
    pub fn is_complete(&self) -> bool {
        matches!(self.phase, Phase::Complete(..))
    }

    /// Whether it should be there, and is not.
    pub fn is_missing(&self) -> bool {
        !matches!(self.phase, Phase::Complete(..) | Phase::Gone)
    }

    /// Whether nothing was to be done for so long.
    pub fn is_done_for(&self, time: Duration) -> bool {
        match self.phase {
            Phase::Complete(_, since) => since.elapsed() >= time,
            Phase::Failed | Phase::Gone => true,
            _ => false,
        }
    }

    /// Whether nothing new comes in it.
    pub fn is_still(&self, source: &mut dyn Source) -> bool {
        let is_over = |file: File| source.is_over(&self.path, &file);
        match &self.phase {
            Phase::Complete(..) | Phase::Failed | Phase::Gone => true,
            _ => open(&self.path).map_or(true, is_over),
        }
    }

    /// A log that was complete may have been added to.
    pub fn look_again(&mut self) {
        if let Phase::Complete(stamp, _) = self.phase
            && std::fs::metadata(&self.path).is_ok_and(|found| stamp != stamp_of(&found))
        {
            self.phase = Phase::New;
        }
    }

    /// The connection broke.
    pub fn lose(&mut self) {
        if self.is_open() {
            self.phase = Phase::New;
        }
    }

    /// Tells the receiver that no more comes.
    pub fn leave(&self, channel: &mut Channel) -> io::Result<()> {
        match self.is_open() {
            true => leave(self.number, channel),
            false => Ok(()),
        }
    }

    /// Sends what is new. An error is one of the connection.
    pub fn step(
        &mut self,
        source: &mut dyn Source,
        link: &mut Uplink,
        is_last: bool,
        tell: &mut dyn FnMut(Told),
    ) -> io::Result<Turn> {
        link.log = self.number;
        let stepped = match self.is_open() {
            true => Ok(Turn::default()),
            false => self.open(source, link, tell),
        };
        let stepped = stepped.and_then(|opened| match self.is_open() {
            true => self.send(source, link, is_last, tell),
            false => Ok(opened),
        });
        match stepped {
            Ok(step) => Ok(step),
            Err(Stop::Link(error)) => Err(error),
            Err(stop) => {
                let was_open = self.is_open();
                match stop {
                    Stop::Refused(why, text) => self.refuse(why, &text, source, tell),
                    Stop::Source(error) | Stop::Link(error) => {
                        self.fail(&format!("it cannot be read: {error}"), tell);
                    }
                }
                if was_open {
                    leave(self.number, link.channel)?;
                }
                Ok(Turn::default())
            }
        }
    }

    /// Asks the receiver for a file.
    fn open(
        &mut self,
        source: &mut dyn Source,
        link: &mut Uplink,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Turn, Stop> {
        let file = match open(&self.path) {
            Ok(file) => file,
            // It was removed: there is nothing to send.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.phase = Phase::Gone;
                return Ok(Turn::default());
            }
            Err(error) => return Err(error.into()),
        };
        let mut chunk = vec![0; CHUNK_SIZE];
        let read = crate::sync::read_up_to(&file, &mut chunk, 0)?;
        let Some(start) = beginning(&chunk[..read]) else {
            // It is just being made, or is none.
            if self.found.elapsed() > BIRTH {
                self.fail("it is no log", tell);
            }
            return Ok(Turn::default());
        };
        let name = self.path.file_name().unwrap_or_default();
        let name = std::os::unix::ffi::OsStrExt::as_bytes(name);
        let log = self.number;
        let start = &start[..];
        let frame = link.ask(&Ask::Open { log, name, start })?;
        let Answer::Opened { bytes, name } = crate::sync::answer_of(&frame)? else {
            return Err(crate::sync::unexpected());
        };
        let name = String::from_utf8_lossy(name).into_owned();
        link.channel.give_back(frame);
        let mut sync = Sync::of(file);
        if bytes > 0 {
            let bytes = source.bytes(sync.file())?;
            sync.resume(bytes, link)?;
        }
        if !std::mem::replace(&mut self.is_told, true) {
            tell(Told::Began(&self.path, &name));
        }
        self.phase = Phase::Open(Box::new(sync));
        Ok(Turn {
            is_new: true,
            has_more: true,
        })
    }

    fn send(
        &mut self,
        source: &mut dyn Source,
        link: &mut Uplink,
        is_last: bool,
        tell: &mut dyn FnMut(Told),
    ) -> Result<Turn, Stop> {
        let Phase::Open(sync) = &mut self.phase else {
            return Ok(Turn::default());
        };
        // Before it is looked at: then all that ever comes is seen. While it grows nobody asks.
        let is_over = (self.was_still || is_last) && source.is_over(&self.path, sync.file());
        let bytes = source.bytes(sync.file())?;
        let Turn { is_new, has_more } = sync.turn(bytes, link)?;
        (self.offers, self.refused) = (0, None);
        self.wait = FIRST_WAIT;
        self.was_still = !is_new && !has_more;
        if has_more || !is_over {
            return Ok(Turn { is_new, has_more });
        }
        let stamp = sync.file().metadata().ok();
        let stamp = stamp.as_ref().and_then(stamp_of);
        let bytes = source.bytes(sync.file())?;
        if !sync.complete(bytes, link)? {
            return Ok(Turn::default());
        }
        leave(self.number, link.channel).map_err(Stop::Link)?;
        self.phase = Phase::Complete(stamp, Instant::now());
        tell(Told::Ended(&self.path, bytes));
        Ok(Turn {
            is_new: true,
            has_more: false,
        })
    }

    fn refuse(
        &mut self,
        why: Why,
        text: &str,
        source: &mut dyn Source,
        tell: &mut dyn FnMut(Told),
    ) {
        self.offers += 1;
        let is_over = self.is_still(source);
        let since = *self.refused.get_or_insert_with(Instant::now);
        let is_late = self
            .patience
            .is_some_and(|patience| since.elapsed() >= patience);
        let is_enough = self.offers >= MOST_OFFERS || is_late;
        if why == Why::Never || is_over && is_enough {
            return self.fail(text, tell);
        }
        if self.offers == 1 {
            tell(Told::Refused(&self.path, text));
        }
        self.phase = Phase::Refused(Instant::now() + self.wait);
        self.wait = (self.wait * 2).min(LONGEST_WAIT);
    }

    fn fail(&mut self, text: &str, tell: &mut dyn FnMut(Told)) {
        tell(Told::Refused(&self.path, text));
        self.phase = Phase::Failed;
    }
}

fn leave(log: u32, channel: &mut Channel) -> io::Result<()> {
    channel.ask(&Ask::Leave { log })?;
    let frame = channel.receive(crate::limits::SILENCE)?;
    frame.answer()?;
    channel.give_back(frame);
    Ok(())
}

fn stamp_of(found: &Metadata) -> Stamp {
    let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    Some((found.len(), modified))
}

/// A regular file, without waiting for one that is none.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is no file")),
    }
}
