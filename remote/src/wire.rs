//! The bytes of the protocol. doc/REMOTE.md draws them.
//!
//! The sender asks, the receiver answers; nothing else is ever sent. So neither has to
//! read while it writes.

#[cfg(test)]
mod tests;

use std::io;

use crate::limits::{MOST_DATA, MOST_FRAME, MOST_NAME, MOST_SUMS};

/// The first bytes that each end says.
pub const MAGIC: [u8; 8] = *b"MLGATHER";
/// The version of all that follows.
pub const VERSION: u16 = 1;
/// Bytes of a frame's head: its type, and how many bytes follow.
pub const HEAD: usize = 5;
/// Bytes of the checksum of a chunk.
pub const SUM: usize = 16;

/// What tells a sender from others.
pub type SenderId = [u8; 16];

/// What a sender asks.
#[derive(Debug, PartialEq, Eq)]
pub enum Ask<'a> {
    /// The first: who speaks.
    Hello {
        /// Its version.
        version: u16,
        /// Made at random when it was started.
        sender: SenderId,
        /// The name of its machine, to be shown.
        host: &'a [u8],
    },
    /// A log is to be written.
    Open {
        /// The sender's number for it.
        log: u32,
        /// The name that it would like to have.
        name: &'a [u8],
        /// The beginning of its first chunk.
        start: &'a [u8],
    },
    /// Checksums of chunks as they lie at the receiver.
    Sums {
        /// Which log.
        log: u32,
        /// The first chunk.
        first: u32,
        /// How many.
        count: u32,
    },
    /// Bytes of the log. No answer.
    Write {
        /// Which log.
        log: u32,
        /// Where they go.
        at: u64,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Short pieces that make what was written valid, in this order.
    Commit {
        /// Which log.
        log: u32,
        /// See [`Patches`].
        patches: &'a [u8],
    },
    /// The log is there, and is this long.
    Finish {
        /// Which log.
        log: u32,
        /// Bytes of it.
        bytes: u64,
    },
    /// No more of this log comes over this connection.
    Leave {
        /// Which log.
        log: u32,
    },
    /// Nothing is new.
    Ping,
}

/// What a receiver answers.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer<'a> {
    /// To the first question.
    Hello {
        /// Its version.
        version: u16,
    },
    /// The log has a file.
    Opened {
        /// Bytes that are in it already.
        bytes: u64,
        /// Its name.
        name: &'a [u8],
    },
    /// It cannot be done.
    Refused {
        /// Whether it may go later.
        why: Why,
        /// A sentence.
        text: &'a [u8],
    },
    /// The checksums that were asked for.
    Sums(&'a [u8]),
    /// All before is written.
    Done,
}

/// Why something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It will not be done later either.
    Never,
    /// There is no room now.
    Full,
    /// Somebody else sends this log, or too many are open.
    Busy,
}

/// One frame cannot be what it says.
pub fn wrong(expected: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the other end does not speak this protocol: {expected} was expected"),
    )
}

/// Cuts fields off a frame.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> io::Result<&'a [u8]> {
        let (head, rest) = self
            .0
            .split_at_checked(count)
            .ok_or_else(|| wrong("a longer frame"))?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| wrong("a longer frame"))
    }

    fn u8(&mut self) -> io::Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    fn u16(&mut self) -> io::Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> io::Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn name(&mut self) -> io::Result<&'a [u8]> {
        let count = usize::from(self.u16()?);
        match count {
            0..=MOST_NAME => self.take(count),
            _ => Err(wrong("a name of at most 255 bytes")),
        }
    }

    fn rest(&mut self, most: usize) -> io::Result<&'a [u8]> {
        let count = self.0.len();
        match count <= most {
            true => self.take(count),
            false => Err(wrong("fewer bytes")),
        }
    }

    fn end(self) -> io::Result<()> {
        match self.0 {
            [] => Ok(()),
            _ => Err(wrong("the end of a frame")),
        }
    }
}

/// Puts a frame behind others: its type, its length, its fields.
fn frame(out: &mut Vec<u8>, kind: u8, fields: &[&[u8]]) {
    let length: usize = fields.iter().map(|field| field.len()).sum();
    debug_assert!(length <= MOST_FRAME);
    out.push(kind);
    out.extend((length as u32).to_le_bytes());
    fields.iter().for_each(|field| out.extend(*field));
}

fn length_of(name: &[u8]) -> [u8; 2] {
    (name.len().min(MOST_NAME) as u16).to_le_bytes()
}

fn cut(name: &[u8]) -> &[u8] {
    &name[..name.len().min(MOST_NAME)]
}

/// The type and the length of a frame by its head.
pub fn head(bytes: [u8; HEAD]) -> io::Result<(u8, usize)> {
    let [kind, a, b, c, d] = bytes;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    match length <= MOST_FRAME {
        true => Ok((kind, length)),
        false => Err(wrong("a shorter frame")),
    }
}

impl<'a> Ask<'a> {
    /// Puts the question behind others.
    pub fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Ask::Hello {
                version,
                sender,
                host,
            } => frame(
                out,
                1,
                &[
                    &MAGIC,
                    &version.to_le_bytes(),
                    &sender,
                    &length_of(host),
                    cut(host),
                ],
            ),
            Ask::Open { log, name, start } => frame(
                out,
                2,
                &[&log.to_le_bytes(), &length_of(name), cut(name), start],
            ),
            Ask::Sums { log, first, count } => {
                let words = [log, first, count].map(u32::to_le_bytes);
                frame(out, 3, &[&words[0], &words[1], &words[2]]);
            }
            Ask::Write { log, at, bytes } => {
                frame(out, 4, &[&log.to_le_bytes(), &at.to_le_bytes(), bytes]);
            }
            Ask::Commit { log, patches } => frame(out, 5, &[&log.to_le_bytes(), patches]),
            Ask::Finish { log, bytes } => {
                frame(out, 6, &[&log.to_le_bytes(), &bytes.to_le_bytes()]);
            }
            Ask::Leave { log } => frame(out, 7, &[&log.to_le_bytes()]),
            Ask::Ping => frame(out, 8, &[]),
        }
    }

    /// Reads a question.
    pub fn read(kind: u8, bytes: &'a [u8]) -> io::Result<Self> {
        let mut fields = Fields(bytes);
        let ask = match kind {
            1 => {
                if fields.array()? != MAGIC {
                    return Err(wrong("MLGATHER"));
                }
                let version = fields.u16()?;
                // What a newer version says behind it is not known here.
                if version != VERSION {
                    let (sender, host) = (SenderId::default(), &[][..]);
                    return Ok(Ask::Hello {
                        version,
                        sender,
                        host,
                    });
                }
                Ask::Hello {
                    version,
                    sender: fields.array()?,
                    host: fields.name()?,
                }
            }
            2 => Ask::Open {
                log: fields.u32()?,
                name: fields.name()?,
                start: fields.rest(MOST_DATA)?,
            },
            3 => {
                let (log, first, count) = (fields.u32()?, fields.u32()?, fields.u32()?);
                if count as usize > MOST_SUMS {
                    return Err(wrong("a question for fewer checksums"));
                }
                Ask::Sums { log, first, count }
            }
            4 => Ask::Write {
                log: fields.u32()?,
                at: fields.u64()?,
                bytes: fields.rest(MOST_DATA)?,
            },
            5 => Ask::Commit {
                log: fields.u32()?,
                patches: fields.rest(MOST_FRAME)?,
            },
            6 => Ask::Finish {
                log: fields.u32()?,
                bytes: fields.u64()?,
            },
            7 => Ask::Leave { log: fields.u32()? },
            8 => Ask::Ping,
            _ => return Err(wrong("a known question")),
        };
        fields.end()?;
        Ok(ask)
    }
}

impl<'a> Answer<'a> {
    /// Puts the answer behind others.
    pub fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Answer::Hello { version } => frame(out, 129, &[&MAGIC, &version.to_le_bytes()]),
            Answer::Opened { bytes, name } => frame(
                out,
                130,
                &[&bytes.to_le_bytes(), &length_of(name), cut(name)],
            ),
            Answer::Refused { why, text } => {
                let why = match why {
                    Why::Never => 1,
                    Why::Full => 2,
                    Why::Busy => 3,
                };
                frame(out, 131, &[&[why], &text[..text.len().min(1024)]]);
            }
            Answer::Sums(sums) => frame(out, 132, &[sums]),
            Answer::Done => frame(out, 133, &[]),
        }
    }

    /// Reads an answer.
    pub fn read(kind: u8, bytes: &'a [u8]) -> io::Result<Self> {
        let mut fields = Fields(bytes);
        let answer = match kind {
            129 => {
                if fields.array()? != MAGIC {
                    return Err(wrong("MLGATHER"));
                }
                let version = fields.u16()?;
                fields.rest(MOST_FRAME)?;
                Answer::Hello { version }
            }
            130 => Answer::Opened {
                bytes: fields.u64()?,
                name: fields.name()?,
            },
            131 => {
                let why = match fields.u8()? {
                    2 => Why::Full,
                    3 => Why::Busy,
                    _ => Why::Never,
                };
                let text = fields.rest(1024)?;
                Answer::Refused { why, text }
            }
            132 => Answer::Sums(fields.rest(MOST_SUMS * SUM)?),
            133 => Answer::Done,
            _ => return Err(wrong("a known answer")),
        };
        fields.end()?;
        Ok(answer)
    }
}

/// The pieces of a commit: where, how many bytes, the bytes.
pub struct Patches<'a>(pub &'a [u8]);

impl Patches<'_> {
    /// Bytes of one piece, at most: the counters of a log.
    pub const LONGEST: usize = 512;
    /// Bytes of a piece's place and length.
    pub const HEAD: usize = 10;

    /// Puts a piece behind others.
    pub fn put(out: &mut Vec<u8>, at: u64, bytes: &[u8]) {
        debug_assert!(bytes.len() <= Self::LONGEST);
        out.extend(at.to_le_bytes());
        out.extend((bytes.len() as u16).to_le_bytes());
        out.extend(bytes);
    }
}

impl<'a> Iterator for Patches<'a> {
    type Item = io::Result<(u64, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut fields = Fields(self.0);
        let mut piece = || {
            let (at, count) = (fields.u64()?, usize::from(fields.u16()?));
            match count {
                0..=Self::LONGEST => Ok((at, fields.take(count)?)),
                _ => Err(wrong("a shorter piece")),
            }
        };
        let piece = piece();
        self.0 = match piece {
            Ok(_) => fields.0,
            Err(_) => &[],
        };
        Some(piece)
    }
}
