//! Numbers and texts of a file that is no text.

use std::io::{BufRead, ErrorKind};

use crate::error::{At, Error};

/// So much is asked for at once, whatever a length says.
const PIECE: usize = 1 << 16;

pub(super) struct Bytes<'i> {
    input: &'i mut dyn BufRead,
    offset: u64,
}

impl<'i> Bytes<'i> {
    pub(super) fn new(input: &'i mut dyn BufRead) -> Self {
        Self { input, offset: 0 }
    }

    /// Something else was expected just before.
    pub(super) fn malformed(&self, expected: &str, found: &[u8]) -> Error {
        Error::malformed(At::Offset(self.offset), expected, found)
    }

    /// Whether nothing more comes.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Error> {
        loop {
            match self.input.fill_buf() {
                Ok(bytes) => return Ok(bytes.is_empty()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::Read(error)),
            }
        }
    }

    /// A number of up to eight bytes, the lowest first; nothing where the file ends.
    pub(super) fn number(&mut self, width: usize) -> Result<Option<u64>, Error> {
        let mut bytes = [0; 8];
        Ok(self
            .fill(&mut bytes[..width])?
            .map(|()| u64::from_le_bytes(bytes)))
    }

    /// So many bytes; nothing where the file ends before.
    pub(super) fn take(&mut self, count: usize) -> Result<Option<Vec<u8>>, Error> {
        let mut bytes = Vec::new();
        while bytes.len() < count {
            let at = bytes.len();
            bytes.resize(count.min(at + PIECE), 0);
            if self.fill(&mut bytes[at..])?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<Option<()>, Error> {
        match self.input.read_exact(bytes) {
            Ok(()) => {
                self.offset += bytes.len() as u64;
                Ok(Some(()))
            }
            // A packed file that is cut ends like this too.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(Error::Read(error)),
        }
    }
}
