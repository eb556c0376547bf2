//! Numbers and texts of a file that is no text.

use std::io::{self, BufRead, ErrorKind};

use crate::error::{At, Error};

/// So much is asked for at once, whatever a length says.
const PIECE: usize = 1 << 16;

/// Why a record could not be read.
#[derive(Debug)]
pub(super) enum Stop {
    /// The file ends in it.
    End,
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            // A packed file that is cut ends like this too.
            ErrorKind::UnexpectedEof => Self::End,
            _ => Self::Error(Error::Read(error)),
        }
    }
}

pub(super) struct Bytes<'i> {
    input: &'i mut dyn BufRead,
    offset: u64,
}

impl<'i> Bytes<'i> {
    pub(super) fn new(input: &'i mut dyn BufRead) -> Self {
        Self { input, offset: 0 }
    }

    /// Something else was expected just before.
    pub(super) fn malformed(&self, expected: &str, found: &[u8]) -> Stop {
        Stop::Error(Error::malformed(At::Offset(self.offset), expected, found))
    }

    /// Whether nothing more comes.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Stop> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.is_empty()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A number of up to eight bytes, the lowest first.
    pub(super) fn number(&mut self, width: usize) -> Result<u64, Stop> {
        let mut bytes = [0; 8];
        self.fill(&mut bytes[..width])?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// So many bytes.
    pub(super) fn take(&mut self, count: u64) -> Result<Vec<u8>, Stop> {
        let mut bytes = Vec::new();
        let mut left = count;
        while left > 0 {
            let (at, piece) = (bytes.len(), left.min(PIECE as u64));
            bytes.resize(at + piece as usize, 0);
            self.fill(&mut bytes[at..])?;
            left -= piece;
        }
        Ok(bytes)
    }

    /// Passes over so many bytes.
    pub(super) fn skip(&mut self, count: u64) -> Result<(), Stop> {
        let mut piece = [0; 4096];
        let mut left = count;
        while left > 0 {
            let next = left.min(piece.len() as u64);
            self.fill(&mut piece[..next as usize])?;
            left -= next;
        }
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Stop> {
        self.input.read_exact(bytes)?;
        self.offset += bytes.len() as u64;
        Ok(())
    }
}
