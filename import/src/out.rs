//! Where chunks go.

use std::io;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, checksum};

use crate::error::Error;

/// Takes the chunks of a log, each once and whole.
pub trait Sink {
    /// The chunk of this number: it lies at so many times 64 KiB. Chunk 0 comes last.
    fn write(&mut self, index: u32, chunk: &[u8]) -> io::Result<()>;

    /// Whether nobody wants them any more: no more of the file is read then.
    fn is_over(&self) -> bool {
        false
    }
}

impl Sink for Vec<u8> {
    fn write(&mut self, index: u32, chunk: &[u8]) -> io::Result<()> {
        let at = index as usize * CHUNK_SIZE;
        let end = at + chunk.len();
        if self.len() < end {
            self.resize(end, 0);
        }
        self[at..end].copy_from_slice(chunk);
        Ok(())
    }
}

/// Gives chunks their places, up to the first failure.
pub(crate) struct Out<'s> {
    sink: &'s mut dyn Sink,
    next: u32,
    /// Of all that was written: tells one log from another.
    pub(crate) digest: u64,
    pub(crate) failure: Option<Error>,
}

impl<'s> Out<'s> {
    pub(crate) fn new(sink: &'s mut dyn Sink) -> Self {
        Self {
            sink,
            next: 1,
            digest: 0,
            failure: None,
        }
    }

    /// How many there are, the first among them.
    pub(crate) fn count(&self) -> u32 {
        self.next
    }

    /// Whether nothing more is to be written.
    pub(crate) fn is_over(&self) -> bool {
        self.failure.is_some() || self.sink.is_over()
    }

    /// Remembers why nothing more is written.
    pub(crate) fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }

    /// Writes a chunk at the next place.
    pub(crate) fn put(&mut self, header: &Header, chunk: &mut [u8]) {
        match self.next.checked_add(1) {
            Some(next) => {
                self.put_at(self.next, header, chunk);
                self.next = next;
            }
            None => self.fail(Error::TooMany("events")),
        }
    }

    /// Writes a chunk at a place.
    pub(crate) fn put_at(&mut self, index: u32, header: &Header, chunk: &mut [u8]) {
        if self.failure.is_some() {
            return;
        }
        let sum = checksum(&chunk[HEADER_SIZE..]);
        self.digest = (self.digest.rotate_left(7) ^ sum).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let bytes = header.encode();
        chunk[..bytes.len()].copy_from_slice(&bytes);
        if let Err(error) = self.sink.write(index, chunk) {
            self.fail(Error::Write(error));
        }
    }
}

/// An empty chunk.
pub(crate) fn empty() -> Box<[u8]> {
    vec![0; CHUNK_SIZE].into_boxed_slice()
}
