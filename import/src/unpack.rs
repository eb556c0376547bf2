//! gzip and zstd, told by their first bytes. What is unpacked is handed on as it comes, and
//! is never as long as a file says that it is.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::error::Error;

/// So much of a file, unpacked, tells of what form it is.
pub const HEAD: usize = 4096;

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
const BUFFER: usize = 1 << 16;

/// A file, unpacked.
pub(crate) struct Unpacked<'i> {
    /// Its beginning.
    pub(crate) head: Vec<u8>,
    /// What comes behind it.
    pub(crate) rest: Box<dyn BufRead + 'i>,
}

/// Reads the beginning of a file.
pub(crate) fn open<'i>(input: &'i mut dyn BufRead) -> Result<Unpacked<'i>, Error> {
    let first = read_head(input, ZSTD.len()).map_err(Error::Read)?;
    let is_gzip = first.starts_with(GZIP);
    let is_zstd = first.starts_with(ZSTD);
    let whole = Cursor::new(first).chain(input);
    let mut rest: Box<dyn BufRead + 'i> = match () {
        () if is_gzip => buffered(MultiGzDecoder::new(whole)),
        () if is_zstd => buffered(Zstd::new(whole)),
        () => Box::new(whole),
    };
    let head = read_head(&mut *rest, HEAD).map_err(Error::Read)?;
    Ok(Unpacked { head, rest })
}

/// The beginning of what lies in a file, unpacked if it is packed: as much as
/// [`recognise`](crate::recognise) needs. A part of the file will not do: zstd gives nothing
/// out before it has megabytes, or has seen the end.
pub fn head_of(input: &mut dyn BufRead) -> Vec<u8> {
    open(input)
        .map(|unpacked| unpacked.head)
        .unwrap_or_default()
}

/// What lies in a file, unpacked if it is packed.
pub fn content_of<'i>(input: &'i mut dyn BufRead) -> Result<impl Read + 'i, Error> {
    let Unpacked { head, rest } = open(input)?;
    Ok(Cursor::new(head).chain(rest))
}

/// Whether a file that begins so is packed.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(GZIP) || bytes.starts_with(ZSTD)
}

fn buffered<'i>(input: impl Read + 'i) -> Box<dyn BufRead + 'i> {
    Box::new(BufReader::with_capacity(BUFFER, input))
}

/// So many bytes, or all; a file that is cut has those before the cut.
fn read_head(input: &mut dyn BufRead, count: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(count);
    while head.len() < count {
        let bytes = match input.fill_buf() {
            Ok([]) => break,
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) if !head.is_empty() => break,
            Err(error) => return Err(error),
        };
        let taken = bytes.len().min(count - head.len());
        head.extend_from_slice(&bytes[..taken]);
        input.consume(taken);
    }
    Ok(head)
}

/// Frames of zstd, one behind the other.
enum Zstd<R: BufRead> {
    Between(R),
    Frame(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    End,
    /// Where it is cut or damaged nothing more comes, and no end either.
    Failed(String),
}

impl<R: BufRead> Zstd<R> {
    fn new(input: R) -> Self {
        Self::Between(input)
    }
}

impl<R: BufRead> Zstd<R> {
    /// The next bytes; none where all frames have ended.
    fn step(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(self, Self::End) {
                Self::End => return Ok(0),
                Self::Failed(why) => return Err(io::Error::other(why)),
                Self::Between(mut input) => {
                    match input.fill_buf() {
                        Ok([]) => return Ok(0),
                        Ok(_) => {}
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                            *self = Self::Between(input);
                            continue;
                        }
                        Err(error) => return Err(error),
                    }
                    let frame = StreamingDecoder::new(input).map_err(io::Error::other)?;
                    *self = Self::Frame(Box::new(frame));
                }
                Self::Frame(mut frame) => match frame.read(bytes)? {
                    0 if !bytes.is_empty() => {
                        let told = frame.decoder.get_checksum_from_data();
                        if told.is_some() && told != frame.decoder.get_calculated_checksum() {
                            return Err(io::Error::other("its bytes do not fit their checksum"));
                        }
                        *self = Self::Between(frame.into_inner());
                    }
                    count => {
                        *self = Self::Frame(frame);
                        return Ok(count);
                    }
                },
            }
        }
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.step(bytes);
        if let Err(error) = &read {
            *self = Self::Failed(error.to_string());
        }
        read
    }
}
