//! Why a file could not be made a log.

use std::fmt::{self, Display, Formatter};
use std::io;

/// A place in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The first line is 1.
    Line(u64),
    /// Bytes, after unpacking.
    Offset(u64),
}

/// A sentence.
#[derive(Debug)]
pub enum Error {
    /// The file could not be read.
    Read(io::Error),
    /// The log could not be written.
    Write(io::Error),
    /// It is of no form that is known.
    Unrecognised,
    /// It is not what its beginning says.
    Malformed {
        /// Where.
        at: At,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// It is of a version that is not known.
    Version {
        /// Which tool's.
        tool: &'static str,
        /// Its version.
        found: u64,
        /// The highest that is known.
        known: u64,
    },
    /// Its sums stand for more blocks than a log of it should have.
    TooManyBlocks {
        /// So many at least.
        blocks: u64,
        /// Whether only what is live is already asked for.
        held_only: bool,
    },
    /// It has more of something than a log can have.
    TooMany(&'static str),
}

/// So much is shown of what was found.
const SHOWN: usize = 60;

impl Error {
    /// Something else was expected at a place.
    pub fn malformed(at: At, expected: impl Into<String>, found: &[u8]) -> Self {
        let cut = found.get(..SHOWN).unwrap_or(found);
        let dots = if cut.len() < found.len() { "..." } else { "" };
        let found = match found {
            [] => "nothing".to_owned(),
            _ => format!("'{}'{dots}", cut.escape_ascii()),
        };
        Self::Malformed {
            at,
            expected: expected.into(),
            found,
        }
    }

    /// What to do.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Read(_) => "see whether the file is whole, and whether you may read it",
            Self::Write(_) => {
                "name a place with more room with -o, or with TMPDIR where no log is named"
            }
            Self::Unrecognised => "`memlog import --help` lists the files that can be read",
            Self::Malformed { .. } => "see whether the file is whole; a copy of it may not be",
            Self::Version { .. } => "a newer memlog may read it",
            Self::TooManyBlocks {
                held_only: false, ..
            } => "memlog import --held-only leaves out what came and went",
            Self::TooManyBlocks { .. } | Self::TooMany(_) => "a shorter recording has fewer",
        }
    }
}

impl Display for At {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            At::Line(line) => write!(f, "line {line}"),
            At::Offset(offset) => write!(f, "offset {offset}"),
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        match self {
            Self::Read(error) => write!(f, "it cannot be read: {error}"),
            Self::Write(error) => write!(f, "its log cannot be written: {error}"),
            Self::Unrecognised => {
                f.write_str("it is neither a log nor a file of a form that memlog imports")
            }
            Self::Malformed {
                at,
                expected,
                found,
            } => {
                write!(f, "{at}: expected {expected}, found {found}")
            }
            Self::Version { tool, found, known } => write!(
                f,
                "its form is version {found} of {tool}'s, and memlog knows them up to {known}"
            ),
            Self::TooManyBlocks { blocks, .. } => write!(
                f,
                "its sums stand for {blocks} blocks or more, and a log of sums may have 100 million"
            ),
            Self::TooMany(what) => write!(f, "it has more {what} than a log can have"),
        }
    }
}

impl std::error::Error for Error {}
