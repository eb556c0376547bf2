//! What one connection asks, answered in turn. Whatever is wrong with a log is told with the
//! next answer about it, and then always: its sender gives it up, or opens it anew.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::file::Written;
use super::{Closer, Gatherer, Notice, refuse, shelf, shown};
use crate::channel::Channel;
use crate::limits::MOST_LOGS;
use crate::wire::{Answer, Ask, SenderId, Why, wrong};

/// One connection.
pub struct Visit<'g> {
    gatherer: &'g Gatherer,
    logs: HashMap<u32, Log>,
    from: String,
    sender: SenderId,
    closer: Arc<Closer>,
}

/// A log of it.
struct Log {
    written: Written,
    place: shelf::Place,
    name: String,
    is_over: bool,
    /// Why it is not written any more: told with the next answer, and then always.
    broken: Option<(Why, String)>,
}

impl<'g> Visit<'g> {
    /// One that begins.
    pub fn new(gatherer: &'g Gatherer, from: String, sender: SenderId, closer: Closer) -> Self {
        Self {
            gatherer,
            logs: HashMap::new(),
            from,
            sender,
            closer: Arc::new(closer),
        }
    }

    /// Does what is asked, and answers where that wants an answer.
    pub fn answer(&mut self, ask: &Ask, channel: &mut Channel) -> io::Result<()> {
        match *ask {
            Ask::Hello { .. } => Err(wrong("one greeting")),
            Ask::Ping => channel.answer(&Answer::Done),
            Ask::Open { log, name, start } => self.open(log, name, start, channel),
            Ask::Leave { log } => {
                self.leave(log);
                channel.answer(&Answer::Done)
            }
            Ask::Write { log, at, bytes } => {
                let log = self.log(log)?;
                log.place.hear();
                if log.broken.is_none() {
                    log.broken = log.written.write(at, bytes).err();
                }
                Ok(())
            }
            Ask::Sums { log, first, count } => {
                let log = self.log(log)?;
                log.place.hear();
                let sums = log.written.sums(first, count)?;
                channel.answer(&Answer::Sums(&sums))
            }
            Ask::Commit { log, patches } => {
                let log = self.log(log)?;
                log.place.hear();
                if log.broken.is_none() {
                    log.broken = log.written.commit(patches)?.err();
                }
                self.settle(ask, channel)
            }
            Ask::Finish { log, bytes } => {
                let log = self.log(log)?;
                log.place.hear();
                if log.broken.is_none() {
                    log.broken = log.written.finish(bytes).err();
                }
                log.is_over = log.broken.is_none();
                self.settle(ask, channel)
            }
        }
    }

    /// A sender that means no log of its own speaks something else.
    fn log(&mut self, log: u32) -> io::Result<&mut Log> {
        let found = self.logs.get_mut(&log);
        found.ok_or_else(|| wrong("a log that was opened"))
    }

    /// Says that all is written, or why not.
    fn settle(&mut self, ask: &Ask, channel: &mut Channel) -> io::Result<()> {
        let (Ask::Commit { log: number, .. } | Ask::Finish { log: number, .. }) = *ask else {
            return Ok(());
        };
        let gatherer = self.gatherer;
        let from = self.from.clone();
        let log = self.log(number)?;
        if log.broken.is_none() {
            let (file, bytes) = log.written.taken()?;
            let room = gatherer.has_room(file, bytes);
            log.broken = room.err().map(|text| (Why::Full, text));
        }
        if let Some((why, text)) = &log.broken {
            let (name, why_text) = (log.name.clone(), text.clone());
            refuse(channel, *why, text)?;
            log.is_over = false;
            gatherer.refused.fetch_add(1, Ordering::Relaxed);
            gatherer.tell(Notice::Refused {
                name,
                from,
                why: why_text,
            });
            return Ok(());
        }
        if log.is_over {
            gatherer.finished.fetch_add(1, Ordering::Relaxed);
            gatherer.tell(Notice::Ended {
                name: log.name.clone(),
                bytes: log.written.bytes()?,
                about: log.written.about(),
            });
        }
        channel.answer(&Answer::Done)
    }

    fn open(
        &mut self,
        log: u32,
        name: &[u8],
        start: &[u8],
        channel: &mut Channel,
    ) -> io::Result<()> {
        if self.logs.contains_key(&log) {
            return Err(wrong("another number of a log"));
        }
        let opened = match self.logs.len() < MOST_LOGS {
            true => self.opened(name, start),
            false => Err((Why::Busy, "too many logs are open".into())),
        };
        let (written, place, resumed) = match opened {
            Ok(opened) => opened,
            Err((why, text)) => {
                if why != Why::Busy {
                    self.gatherer.refused.fetch_add(1, Ordering::Relaxed);
                }
                self.gatherer.tell(Notice::Refused {
                    name: shown(name),
                    from: self.from.clone(),
                    why: text.clone(),
                });
                return refuse(channel, why, &text);
            }
        };
        let name = written.name().to_owned();
        let bytes = resumed.unwrap_or(0);
        if let Some(about) = written.about() {
            self.gatherer.tell(Notice::Began {
                name: name.clone(),
                about,
                from: self.from.clone(),
                resumed,
            });
        }
        channel.answer(&Answer::Opened {
            bytes,
            name: name.as_bytes(),
        })?;
        let one = Log {
            written,
            place,
            name,
            is_over: false,
            broken: None,
        };
        self.logs.insert(log, one);
        Ok(())
    }

    fn opened(
        &self,
        name: &[u8],
        start: &[u8],
    ) -> Result<(Written, shelf::Place, Option<u64>), (Why, String)> {
        let gatherer = self.gatherer;
        let free = gatherer.limits.free_bytes;
        let closer = &self.closer;
        let claim = |file: &std::fs::File| gatherer.shelf.claim(file, self.sender, closer);
        let (file, name, resumed) = gatherer.folder.file_for(name, start, claim)?;
        let written = Written::of(file, name, gatherer.folder.clone(), free);
        let written = written.map_err(|error| (Why::Full, error.to_string()))?;
        let (id, taken) = written
            .taken()
            .map_err(|error| (Why::Full, error.to_string()))?;
        let place = gatherer.shelf.place(id, self.sender, closer);
        gatherer
            .has_room(id, taken)
            .map_err(|text| (Why::Full, text))?;
        Ok((written, place, resumed))
    }

    fn leave(&mut self, log: u32) {
        if let Some(log) = self.logs.remove(&log)
            && !log.is_over
        {
            self.gatherer.tell(Notice::Left {
                bytes: log.written.bytes().unwrap_or(0),
                name: log.name,
            });
        }
    }
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let open: Vec<u32> = self.logs.keys().copied().collect();
        open.into_iter().for_each(|log| self.leave(log));
    }
}
