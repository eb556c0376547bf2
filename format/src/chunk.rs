//! A log is an array of chunks of 64 KiB. Each starts with this header:
//!
//! ```text
//!  0  4  magic            4D 4C 4F 47 "MLOG"
//!  4  1  kind             1 meta, 2 events, 3 nodes, 4 codes, 5 live, 6 folds
//!  5  1  version          1; of kinds 5 and 6, and then of chunk 0: 2
//!  6  2  flags            bit 0: sealed
//!  8  4  stream           events: the stream; meta: 0; tables: the chunk's index
//! 12  4  sequence         counts the chunks of one stream from 0
//! 16  4  committed        bytes valid from the chunk's start, header included
//! 20  4  thread           kernel's id of the thread that began the chunk
//! 24  8  base tick        the stream's tick when the chunk began
//! 32  8  base stamp       the stream's last stamp when the chunk began
//! 40  8  checksum         of bytes 64..committed, valid when sealed
//! 48  4  folded           events: records before this offset are folded
//! 52  4  culled           events: how often the recorder wrote the chunk anew
//! 56  8  seal             events: counts the sealed chunks of a flight recorder
//! ```
//!
//! A chunk whose `committed` is zero is unused: that word is stored last, also
//! when a chunk is begun. Everything before `committed` is valid as soon as
//! the word holds it, so any moment of a running program is a valid log.

use crate::{FIRST_VERSION, Malformed, VERSION};

/// Size of every chunk.
pub const CHUNK_SIZE: usize = 64 * 1024;
/// Size of its header.
pub const HEADER_SIZE: usize = 64;
/// First bytes of every used chunk.
pub const MAGIC: [u8; 4] = *b"MLOG";
/// Offset of the committed length, the word that readers of a live log poll.
pub const COMMITTED_AT: usize = 16;
/// Offset of the version.
pub const VERSION_AT: usize = 5;
/// Offset of the part of the header that a flight recorder writes: nobody else
/// does after the chunk was begun.
pub const FLIGHT_AT: usize = 48;
/// Offset of how often the chunk was written anew.
const CULLED_AT: usize = 52;
/// Offset of the seal's number.
pub const SEAL_AT: usize = 56;
/// Flag: the chunk will not change any more and its checksum is valid.
pub const SEALED: u16 = 1;

/// What a chunk holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Header, modules, settings, counters.
    Meta,
    /// Events of one stream.
    Events,
    /// Stack nodes.
    Nodes,
    /// Code addresses.
    Codes,
    /// Live blocks whose events were overwritten.
    Live,
    /// How far that has come.
    Folds,
}

impl Kind {
    /// The byte in the header.
    pub const fn to_byte(self) -> u8 {
        match self {
            Kind::Meta => 1,
            Kind::Events => 2,
            Kind::Nodes => 3,
            Kind::Codes => 4,
            Kind::Live => 5,
            Kind::Folds => 6,
        }
    }

    /// The version of the format that knows it first.
    pub const fn version(self) -> u8 {
        match self {
            Kind::Live | Kind::Folds => VERSION,
            _ => FIRST_VERSION,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Kind::Meta,
            2 => Kind::Events,
            3 => Kind::Nodes,
            4 => Kind::Codes,
            5 => Kind::Live,
            6 => Kind::Folds,
            _ => return None,
        })
    }
}

/// The header of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the chunk holds.
    pub kind: Kind,
    /// Format version of the chunk.
    pub version: u8,
    /// See [`SEALED`].
    pub flags: u16,
    /// The stream, or the index of a table's chunk.
    pub stream: u32,
    /// Position among the stream's chunks.
    pub sequence: u32,
    /// Valid bytes, header included.
    pub committed: u32,
    /// Thread that began the chunk.
    pub thread: u32,
    /// The stream's tick when the chunk began.
    pub base_tick: u64,
    /// The stream's last stamp when the chunk began.
    pub base_stamp: u64,
    /// Checksum of the committed bytes after the header, when sealed.
    pub checksum: u64,
    /// Records before this offset were folded into the live set.
    pub folded: u32,
    /// How often the recorder wrote the chunk anew, elsewhere in the file and without
    /// blocks that lived shortly. Of two chunks of the same place in a stream the one of
    /// the higher number counts.
    pub culled: u32,
    /// The number of the seal, in a log that overwrites its oldest events.
    pub seal: u64,
}

impl Header {
    /// A fresh, empty, unsealed chunk.
    pub const fn new(kind: Kind, stream: u32, sequence: u32) -> Self {
        Self {
            kind,
            version: kind.version(),
            flags: 0,
            stream,
            sequence,
            committed: HEADER_SIZE as u32,
            thread: 0,
            base_tick: 0,
            base_stamp: 0,
            checksum: 0,
            folded: 0,
            culled: 0,
            seal: 0,
        }
    }

    /// The same chunk with these bytes behind its header, complete or not.
    pub fn over(self, body: &[u8], is_complete: bool) -> Self {
        let (flags, checksum) = match is_complete {
            true => (SEALED, checksum(body)),
            false => (0, 0),
        };
        Self {
            committed: HEADER_SIZE.saturating_add(body.len()) as u32,
            flags,
            checksum,
            ..self
        }
    }

    /// Whether the chunk is complete.
    pub const fn is_sealed(&self) -> bool {
        self.flags & SEALED != 0
    }

    /// The bytes of the header.
    pub fn encode(&self) -> [u8; HEADER_SIZE] {
        let mut out = [0; HEADER_SIZE];
        let fields = out.as_mut_slice();
        put(fields, 0, &MAGIC);
        put(fields, 4, &[self.kind.to_byte(), self.version]);
        put(fields, 6, &self.flags.to_le_bytes());
        put(fields, 8, &self.stream.to_le_bytes());
        put(fields, 12, &self.sequence.to_le_bytes());
        put(fields, COMMITTED_AT, &self.committed.to_le_bytes());
        put(fields, 20, &self.thread.to_le_bytes());
        put(fields, 24, &self.base_tick.to_le_bytes());
        put(fields, 32, &self.base_stamp.to_le_bytes());
        put(fields, 40, &self.checksum.to_le_bytes());
        put(fields, FLIGHT_AT, &self.folded.to_le_bytes());
        put(fields, CULLED_AT, &self.culled.to_le_bytes());
        put(fields, SEAL_AT, &self.seal.to_le_bytes());
        out
    }

    /// Reads the header of a chunk; `Ok(None)` is an unused chunk.
    pub fn decode(bytes: &[u8]) -> Result<Option<Self>, Malformed> {
        let wrong = |offset, expected| Malformed { offset, expected };
        let header = bytes
            .get(..HEADER_SIZE)
            .ok_or(wrong(bytes.len(), "a chunk header of 64 bytes"))?;
        let committed = le32(header, COMMITTED_AT);
        let magic = header.get(..4);
        if committed == 0 && (magic == Some(&MAGIC) || magic == Some(&[0; 4])) {
            return Ok(None);
        }
        if magic != Some(&MAGIC) {
            return Err(wrong(0, "the chunk magic MLOG"));
        }
        let version = header.get(5).copied().unwrap_or(0);
        if version == 0 || version > VERSION {
            return Err(wrong(5, "a chunk version that this memlog knows"));
        }
        let kind = Kind::from_byte(header.get(4).copied().unwrap_or(0))
            .filter(|kind| kind.version() <= version)
            .ok_or(wrong(4, "a chunk kind that this version has"))?;
        if !(HEADER_SIZE as u32..=CHUNK_SIZE as u32).contains(&committed) {
            return Err(wrong(COMMITTED_AT, "a committed length from 64 to 65536"));
        }
        Ok(Some(Self::fields(header, kind, version)))
    }

    /// The header of a place, also of one that is unused by now: such a one says which chunk
    /// was there last, or is to be. `None` where there was none.
    pub fn decode_unused(bytes: &[u8]) -> Option<Self> {
        let header = bytes.get(..HEADER_SIZE)?;
        let (kind, version) = (*header.get(4)?, *header.get(VERSION_AT)?);
        let is_chunk = header.starts_with(&MAGIC) && (1..=VERSION).contains(&version);
        let kind = Kind::from_byte(kind).filter(|_| is_chunk)?;
        Some(Self::fields(header, kind, version))
    }

    fn fields(header: &[u8], kind: Kind, version: u8) -> Self {
        Self {
            kind,
            version,
            flags: le32(header, 6) as u16,
            stream: le32(header, 8),
            sequence: le32(header, 12),
            committed: le32(header, COMMITTED_AT),
            thread: le32(header, 20),
            base_tick: le64(header, 24),
            base_stamp: le64(header, 32),
            checksum: le64(header, 40),
            folded: le32(header, FLIGHT_AT),
            culled: le32(header, CULLED_AT),
            seal: le64(header, SEAL_AT),
        }
    }
}

/// Copies `bytes` to `out[at..]`; what does not fit is left out.
fn put(out: &mut [u8], at: usize, bytes: &[u8]) {
    for (place, &byte) in out.iter_mut().skip(at).zip(bytes) {
        *place = byte;
    }
}

/// A little-endian 32-bit word, zero where there are no bytes.
#[inline]
pub(crate) fn le32(bytes: &[u8], at: usize) -> u32 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(four) => u32::from_le_bytes(*four),
        None => le64_of(bytes, at, 4) as u32,
    }
}

/// A little-endian 64-bit word, zero where there are no bytes.
#[inline]
pub(crate) fn le64(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => le64_of(bytes, at, 8),
    }
}

fn le64_of(bytes: &[u8], at: usize, count: usize) -> u64 {
    let mut value = 0;
    for (index, &byte) in bytes.iter().skip(at).take(count).enumerate() {
        value |= u64::from(byte) << (8 * index);
    }
    value
}

/// The checksum of a sealed chunk: four lanes of rotate, xor and multiply over
/// little-endian words, so that it costs a tenth of a nanosecond a byte. It
/// finds torn pages and flipped bits; it is no defence against an author.
pub fn checksum(bytes: &[u8]) -> u64 {
    const K: u64 = 0x517C_C1B7_2722_0A95;
    let mut lanes = [K, K ^ 1, K ^ 2, K ^ 3];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = mix(*lane, word_of(word));
        }
    }
    let mut hash = bytes.len() as u64;
    for lane in lanes {
        hash = mix(hash, lane);
    }
    for word in blocks.remainder().chunks(8) {
        hash = mix(hash, word_of(word));
    }
    return hash ^ (hash >> 32);

    fn mix(lane: u64, word: u64) -> u64 {
        (lane.rotate_left(5) ^ word).wrapping_mul(K)
    }

    fn word_of(word: &[u8]) -> u64 {
        le64(word, 0)
    }
}
