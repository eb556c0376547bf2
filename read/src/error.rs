//! What can be wrong with a log. An error means that nothing can be read; a
//! finding means that something is missing or odd, and reading goes on.

use std::fmt;

/// Why a file could not be opened as a log at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// The file has no bytes.
    Empty,
    /// The file is shorter than the header of its first chunk.
    TooShort {
        /// Its length.
        length: usize,
    },
    /// The file does not start as a log does.
    Foreign {
        /// Its first four bytes.
        found: [u8; 4],
    },
    /// The log was written by a newer memlog.
    Newer {
        /// Its version.
        version: u8,
    },
    /// The file was made, and the recorder did not come to write in it.
    Unwritten,
    /// The first chunk's header is damaged.
    Header {
        /// Where.
        offset: usize,
        /// What was expected there.
        expected: &'static str,
    },
}

/// How files that xz packed begin.
const XZ: &[u8; 4] = b"\xfd7zX";

impl ReadError {
    /// What the user can do.
    pub fn remedy(&self) -> &'static str {
        match self {
            ReadError::Empty => "if the program is still starting, try again; else record it again",
            ReadError::TooShort { .. } => "copy the file again",
            ReadError::Foreign { found } if found == XZ => "unpack it first: xz -dk FILE",
            ReadError::Foreign { .. } => "give the .memlog file that `memlog record` named",
            ReadError::Newer { .. } => {
                "read it with the memlog that recorded it or with a newer one"
            }
            ReadError::Unwritten => "see whether the program came to start, and record it again",
            ReadError::Header { .. } => "the log's first chunk is damaged: copy the file again",
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ReadError::Empty => out.write_str("expected a memlog log, found an empty file"),
            ReadError::TooShort { length } => write!(
                out,
                "expected a memlog log, found only {length} bytes where its first header takes 64"
            ),
            ReadError::Foreign { found } => write!(
                out,
                "expected a memlog log, which starts with the bytes 4d 4c 4f 47 (MLOG), found \
                 {:02x} {:02x} {:02x} {:02x} at offset 0",
                found[0], found[1], found[2], found[3]
            ),
            ReadError::Newer { version } => write!(
                out,
                "expected a log of version {} or older, found version {version} at offset 5",
                memlog_format::VERSION
            ),
            ReadError::Unwritten => out.write_str(
                "expected a memlog log, found zeros: the file was made but nothing was recorded",
            ),
            ReadError::Header { offset, expected } => write!(
                out,
                "expected {expected} at offset {offset}, found something else"
            ),
        }
    }
}

impl std::error::Error for ReadError {}

/// Something missing or odd in a log that can be read nevertheless.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the sentences below say what each means
pub enum Finding {
    NoStart,
    BadMeta {
        offset: usize,
        expected: &'static str,
    },
    Torn {
        offset: usize,
        missing: usize,
    },
    CutOff {
        length: usize,
        chunks: u64,
    },
    BadChunk {
        offset: usize,
        expected: &'static str,
    },
    FarTable {
        offset: usize,
        index: u32,
    },
    Repeated {
        offset: usize,
        stream: u32,
        sequence: u32,
    },
    MissingChunks {
        stream: u32,
        first: u32,
        count: u32,
    },
    NextMissing {
        stream: u32,
        sequence: u32,
    },
    StreamsMissing {
        first: u32,
        count: u32,
    },
    BadChecksum {
        offset: usize,
    },
    BadRecord {
        offset: usize,
        expected: &'static str,
        unread: usize,
    },
    UnfinishedRealloc {
        stream: u32,
        address: u64,
    },
    StrayRevoke {
        stream: u32,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Finding::NoStart => out
                .write_str("no start record: the machine, the times and the process are not known"),
            Finding::BadMeta { offset, expected } => write!(
                out,
                "expected {expected} at offset {offset}; what follows in this header chunk \
                 is left out"
            ),
            Finding::Torn { offset, missing } => write!(
                out,
                "the file ends inside the chunk at offset {offset}; its last {missing} bytes \
                 are missing"
            ),
            Finding::CutOff { length, chunks } => write!(
                out,
                "the file ends at offset {length}, and {chunks} chunks of 65536 bytes had been \
                 begun: events at its end are missing; was it copied whole?"
            ),
            Finding::BadChunk { offset, expected } => write!(
                out,
                "expected {expected} at offset {offset}; that chunk is left out"
            ),
            Finding::FarTable { offset, index } => write!(
                out,
                "the table chunk at offset {offset} calls itself number {index}, more than the \
                 log has chunks; it is left out"
            ),
            Finding::Repeated {
                offset,
                stream,
                sequence,
            } => write!(
                out,
                "the chunk at offset {offset} repeats number {sequence} of stream {stream}; \
                 it is left out"
            ),
            Finding::MissingChunks {
                stream,
                first,
                count,
            } => write!(
                out,
                "stream {stream} lacks {count} chunks from number {first} on; \
                 their events are missing"
            ),
            Finding::NextMissing { stream, sequence } => write!(
                out,
                "stream {stream} has filled chunk {}, and there is none after it: the program was \
                 killed as it took the next, or that one is missing",
                sequence.saturating_sub(1)
            ),
            Finding::StreamsMissing { first, count: 1 } => write!(
                out,
                "stream {first} has no chunk: the program was killed as it took the first, or \
                 its events are missing"
            ),
            Finding::StreamsMissing { first, count } => write!(
                out,
                "{count} streams from number {first} on have no chunk: the program was killed \
                 as they took their first, or their events are missing"
            ),
            Finding::BadChecksum { offset } => write!(
                out,
                "the chunk at offset {offset} has not the checksum it was sealed with; \
                 it is used as far as it can be read"
            ),
            Finding::BadRecord {
                offset,
                expected,
                unread,
            } => write!(
                out,
                "expected {expected} at offset {offset}; the {unread} bytes from there to the \
                 end of the chunk are left out"
            ),
            Finding::UnfinishedRealloc { stream, address } => write!(
                out,
                "the log ends inside a realloc of {address:#x} on stream {stream}; \
                 the old block counts as live"
            ),
            Finding::StrayRevoke { stream } => write!(
                out,
                "stream {stream} takes back a release that it never announced; ignored"
            ),
        }
    }
}

impl Finding {
    /// Whether a program that is killed at any moment may leave this in a log
    /// that is whole.
    pub fn is_usual(&self) -> bool {
        matches!(
            self,
            Finding::UnfinishedRealloc { .. }
                | Finding::NextMissing { .. }
                | Finding::StreamsMissing { .. }
        )
    }
}

/// What was found while reading; bounded, whatever the log holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    list: Vec<Finding>,
    more: u64,
    /// Order numbers that no event of the log carries: events that were lost,
    /// or not yet written when the program was killed.
    pub order_gaps: u64,
    /// Times the numbers contradicted each other and one had to be passed
    /// over; not seen but in a damaged log.
    pub order_breaks: u64,
}

impl Findings {
    /// As many are kept; the rest is counted.
    pub const KEPT: usize = 64;

    /// Takes note of one.
    pub fn push(&mut self, finding: Finding) {
        if self.list.len() < Self::KEPT {
            self.list.push(finding);
        } else {
            self.more += 1;
        }
    }

    /// The first of them.
    pub fn list(&self) -> &[Finding] {
        &self.list
    }

    /// How many there are in all.
    pub fn count(&self) -> u64 {
        self.list.len() as u64 + self.more
    }

    /// Adds those of another.
    pub fn append(&mut self, other: &Findings) {
        for finding in &other.list {
            self.push(finding.clone());
        }
        self.more += other.more;
        self.order_gaps += other.order_gaps;
        self.order_breaks += other.order_breaks;
    }
}
