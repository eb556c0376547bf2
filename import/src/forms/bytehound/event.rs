//! The events of a file, by their numbers. All numbers are little-endian; a list or text
//! begins with how many there are, in 32 bits where nothing else is said.
//!
//! ```text
//! varint: the ones that its first byte begins with say how many bytes follow, lowest
//!         first; the bits behind them are the highest.
//! ```

use super::order::What;
use crate::forms::bytes::{Bytes, Stop};

/// No text of mappings is longer.
const LONGEST_MAPS: u64 = 64 << 20;
/// No stack is deeper.
pub(super) const DEEPEST: u64 = 1 << 20;
/// The same in words.
pub(super) const DEEPEST_SAID: &str = "a stack of no more than 1,048,576 frames";

/// What counts of an event.
#[derive(Debug)]
pub(super) enum Event {
    Header(Header),
    /// /proc/self/maps, as it is from now on.
    Maps(Vec<u8>),
    /// Return addresses, the innermost first.
    Backtrace {
        id: u64,
        addresses: Vec<u64>,
    },
    /// The innermost return addresses, which replace so many of the thread's last stack, or
    /// all.
    PartialBacktrace {
        id: u64,
        thread: u32,
        replaced: Option<u32>,
        addresses: Vec<u64>,
    },
    Text {
        id: u32,
        text: Vec<u8>,
    },
    Frame(Frame),
    DecodedBacktrace(Vec<u32>),
    /// Blocks that were left out of the file.
    CameAndWent {
        backtrace: u64,
        blocks: u64,
        bytes: u64,
    },
    Operation {
        time: u64,
        thread: u32,
        what: What,
    },
    Other,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) initial_us: u64,
    /// The clock on the wall at a time.
    pub(super) wall_at_us: u64,
    pub(super) wall_s: u64,
    pub(super) wall_ns: u64,
    pub(super) pid: u32,
    pub(super) command: Vec<u8>,
    pub(super) executable: Vec<u8>,
    pub(super) flags: u64,
    pub(super) pointer_bytes: u8,
}

/// Which block: the thread that made it, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlockId {
    thread: u64,
    number: u64,
}

impl BlockId {
    const NONE: Self = Self {
        thread: 0,
        number: 0,
    };

    /// A block without a number is told by where it lies.
    pub(super) fn or_at(self, pointer: u64) -> Self {
        let is_damaged = self.thread == u64::MAX && self.number == u64::MAX;
        match self == Self::NONE || is_damaged {
            true => Self {
                thread: 0,
                number: pointer,
            },
            false => self,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub(super) pointer: u64,
    pub(super) size: u64,
    pub(super) backtrace: u64,
    pub(super) flags: u32,
    more_usable: u32,
}

impl Block {
    pub(super) fn usable(&self) -> Option<u64> {
        Some(self.size.saturating_add(self.more_usable.into()))
    }
}

/// A function of a frame: numbers of texts, or all ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) address: u64,
    pub(super) library: u32,
    pub(super) mangled: u32,
    pub(super) function: u32,
    pub(super) source: u32,
    pub(super) line: u32,
    pub(super) is_inline: bool,
}

impl Event {
    pub(super) fn read(bytes: &mut Bytes) -> Result<Self, Stop> {
        Ok(match bytes.number(4)? {
            0 => Self::Header(header(bytes)?),
            kind @ (1 | 20) => came(bytes, kind == 20)?,
            kind @ (2 | 21) => resized(bytes, kind == 21)?,
            kind @ (3 | 22) => went(bytes, kind == 22)?,
            4 => file(bytes, 4)?,
            23 => file(bytes, 8)?,
            5 => backtrace(bytes, 8)?,
            19 => backtrace(bytes, 4)?,
            13 => partial(bytes, 8)?,
            18 => partial(bytes, 4)?,
            14 => Self::Text {
                id: bytes.number(4)? as u32,
                text: list(bytes)?,
            },
            15 => Self::Frame(frame(bytes)?),
            16 => {
                let frames = addresses(bytes, 4)?;
                Self::DecodedBacktrace(frames.into_iter().map(|frame| frame as u32).collect())
            }
            17 => statistics(bytes)?,
            kind => passed_over(bytes, kind)?,
        })
    }
}

/// An event that says nothing of blocks.
fn passed_over(bytes: &mut Bytes, kind: u64) -> Result<Event, Stop> {
    match kind {
        // MemoryDump
        6 => {
            bytes.skip(8 + 8)?;
            list_over(bytes)?;
        }
        // Marker; MemoryMap and MemoryUnmap of older versions; Mallopt
        7 => bytes.skip(4)?,
        8 => bytes.skip(5 * 8 + 4 * 4 + 8)?,
        9 => bytes.skip(4 * 8 + 4)?,
        10 => bytes.skip(2 * 8 + 4 * 4)?,
        // Environ
        11 => list_over(bytes)?,
        // WallClock
        12 => bytes.skip(3 * 8)?,
        // AddRegion
        24 => {
            bytes.skip(8)?;
            varint(bytes)?;
            bytes.skip(8)?;
            varints(bytes, 3)?;
            bytes.skip(3 * 4)?;
            let length = varint(bytes)?;
            bytes.skip(length)?;
        }
        // RemoveRegion
        25 => {
            bytes.skip(8)?;
            varint(bytes)?;
            bytes.skip(8)?;
            varint(bytes)?;
            for _ in 0..varint(bytes)? {
                bytes.skip(8)?;
                varint(bytes)?;
                source(bytes)?;
            }
        }
        // UpdateRegionUsage
        26 => {
            bytes.skip(8)?;
            varint(bytes)?;
            bytes.skip(8)?;
            varints(bytes, 7)?;
        }
        // MemoryMapEx
        27 => {
            varint(bytes)?;
            bytes.skip(8)?;
            varints(bytes, 2)?;
            bytes.skip(3 * 4)?;
            varint(bytes)?;
            source(bytes)?;
        }
        kind => {
            let found = kind.to_string();
            return Err(bytes.malformed("an event's number up to 27", found.as_bytes()));
        }
    }
    Ok(Event::Other)
}

fn source(bytes: &mut Bytes) -> Result<(), Stop> {
    bytes.skip(8)?;
    varint(bytes)?;
    bytes.skip(4)
}

fn header(bytes: &mut Bytes) -> Result<Header, Stop> {
    bytes.skip(2 * 8)?;
    let initial_us = bytes.number(8)?;
    let wall_at_us = bytes.number(8)?;
    let wall_s = bytes.number(8)?;
    let wall_ns = bytes.number(8)?;
    let pid = bytes.number(4)? as u32;
    let command = list(bytes)?;
    let executable = list(bytes)?;
    // The processor's name.
    list(bytes)?;
    Ok(Header {
        initial_us,
        wall_at_us,
        wall_s,
        wall_ns,
        pid,
        command,
        executable,
        flags: bytes.number(8)?,
        pointer_bytes: bytes.number(1)? as u8,
    })
}

fn id(bytes: &mut Bytes, has_id: bool) -> Result<BlockId, Stop> {
    match has_id {
        false => Ok(BlockId::NONE),
        true => Ok(BlockId {
            thread: bytes.number(8)?,
            number: bytes.number(8)?,
        }),
    }
}

/// A block, and which thread asked for it.
fn block(bytes: &mut Bytes) -> Result<(Block, u32), Stop> {
    let (pointer, size, backtrace) = (bytes.number(8)?, bytes.number(8)?, bytes.number(8)?);
    let thread = bytes.number(4)? as u32;
    let block = Block {
        pointer,
        size,
        backtrace,
        flags: bytes.number(4)? as u32,
        more_usable: bytes.number(4)? as u32,
    };
    // How much is free before it.
    bytes.skip(8)?;
    Ok((block, thread))
}

fn came(bytes: &mut Bytes, has_id: bool) -> Result<Event, Stop> {
    let (id, time) = (id(bytes, has_id)?, bytes.number(8)?);
    let (block, thread) = block(bytes)?;
    let what = What::Came { id, block };
    Ok(Event::Operation { time, thread, what })
}

fn resized(bytes: &mut Bytes, has_id: bool) -> Result<Event, Stop> {
    let (id, time, old) = (id(bytes, has_id)?, bytes.number(8)?, bytes.number(8)?);
    let (block, thread) = block(bytes)?;
    let what = What::Resized { id, old, block };
    Ok(Event::Operation { time, thread, what })
}

fn went(bytes: &mut Bytes, has_id: bool) -> Result<Event, Stop> {
    let (id, time) = (id(bytes, has_id)?, bytes.number(8)?);
    let (pointer, backtrace) = (bytes.number(8)?, bytes.number(8)?);
    let thread = bytes.number(4)? as u32;
    let what = What::Went {
        id,
        pointer,
        backtrace,
    };
    Ok(Event::Operation { time, thread, what })
}

fn file(bytes: &mut Bytes, width: usize) -> Result<Event, Stop> {
    bytes.skip(8)?;
    let path = list(bytes)?;
    let length = bytes.number(width)?;
    if path == b"/proc/self/maps" && length <= LONGEST_MAPS {
        return Ok(Event::Maps(bytes.take(length)?));
    }
    bytes.skip(length)?;
    Ok(Event::Other)
}

fn backtrace(bytes: &mut Bytes, width: usize) -> Result<Event, Stop> {
    Ok(Event::Backtrace {
        id: bytes.number(8)?,
        addresses: addresses(bytes, width)?,
    })
}

fn partial(bytes: &mut Bytes, width: usize) -> Result<Event, Stop> {
    let (id, thread) = (bytes.number(8)?, bytes.number(4)? as u32);
    let replaced = bytes.number(4)? as u32;
    Ok(Event::PartialBacktrace {
        id,
        thread,
        replaced: (replaced != u32::MAX).then_some(replaced),
        addresses: addresses(bytes, width)?,
    })
}

fn frame(bytes: &mut Bytes) -> Result<Frame, Stop> {
    let address = bytes.number(8)?;
    let mut number = || Ok::<_, Stop>(bytes.number(4)? as u32);
    let (library, mangled, function) = (number()?, number()?, number()?);
    let (source, line, _column) = (number()?, number()?, number()?);
    Ok(Frame {
        address,
        library,
        mangled,
        function,
        source,
        line,
        is_inline: bytes.number(1)? != 0,
    })
}

fn statistics(bytes: &mut Bytes) -> Result<Event, Stop> {
    let backtrace = bytes.number(8)?;
    bytes.skip(2 * 8)?;
    let (blocks, sum) = (bytes.number(8)?, bytes.number(8)?);
    bytes.skip(2 * 8)?;
    Ok(Event::CameAndWent {
        backtrace,
        blocks,
        bytes: sum,
    })
}

/// A list of bytes.
fn list(bytes: &mut Bytes) -> Result<Vec<u8>, Stop> {
    let length = bytes.number(4)?;
    bytes.take(length)
}

fn list_over(bytes: &mut Bytes) -> Result<(), Stop> {
    let length = bytes.number(4)?;
    bytes.skip(length)
}

fn addresses(bytes: &mut Bytes, width: usize) -> Result<Vec<u64>, Stop> {
    let count = bytes.number(4)?;
    if count > DEEPEST {
        let found = count.to_string();
        return Err(bytes.malformed(DEEPEST_SAID, found.as_bytes()));
    }
    (0..count).map(|_| bytes.number(width)).collect()
}

fn varints(bytes: &mut Bytes, count: u32) -> Result<(), Stop> {
    (0..count).try_for_each(|_| varint(bytes).map(drop))
}

fn varint(bytes: &mut Bytes) -> Result<u64, Stop> {
    let first = bytes.number(1)?;
    let more = (first as u8).leading_ones();
    let low = bytes.number(more as usize)?;
    let high = first & (0x7f_u64 >> more);
    // Eight bytes follow, and the first has no bit of its own.
    Ok(high.checked_shl(8 * more).unwrap_or(0) | low)
}
