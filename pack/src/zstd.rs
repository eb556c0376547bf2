//! What zstd packs, as it is written.

use std::io::{self, Read, Write};

use ruzstd::encoding::{CompressionLevel, compress};

/// So much is packed at a time; a frame loses nothing by being no longer.
const FULL: usize = 4 << 20;

/// Writes all that is read as one frame.
pub fn frame(source: impl Read, out: impl Write) -> io::Result<()> {
    let mut source = Checked::new(source);
    let mut target = Checked::new(out);
    compress(&mut source, &mut target, CompressionLevel::Fastest);
    match source.failed.or(target.failed) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Packs what is written, as frames one behind the other.
pub struct Packer<W> {
    out: W,
    waiting: Vec<u8>,
}

impl<W: Write> Packer<W> {
    /// Packs it into `out`.
    pub fn new(out: W) -> Self {
        Self {
            out,
            waiting: Vec::new(),
        }
    }

    /// Packs the rest; of nothing there is an empty frame.
    pub fn finish(mut self) -> io::Result<()> {
        self.pack()?;
        self.out.flush()
    }

    fn pack(&mut self) -> io::Result<()> {
        frame(&self.waiting[..], &mut self.out)?;
        self.waiting.clear();
        Ok(())
    }
}

impl<W: Write> Write for Packer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= FULL {
            self.pack()?;
        }
        Ok(bytes.len())
    }

    /// A frame is not cut for it.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The encoder ends the program where it cannot read or write: it is told that there is
/// no more, and that all was written.
struct Checked<T> {
    inner: T,
    failed: Option<io::Error>,
}

impl<T> Checked<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            failed: None,
        }
    }
}

impl<R: Read> Read for Checked<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.failed.is_none() {
            match self.inner.read(out) {
                Ok(count) => return Ok(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
        Ok(0)
    }
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.failed.is_none()
            && let Err(error) = self.inner.write_all(bytes)
        {
            self.failed = Some(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{FULL, Packer};
    use std::io::{self, Read, Write};

    use ruzstd::decoding::StreamingDecoder;

    fn unpacked(mut packed: &[u8]) -> Vec<u8> {
        let mut all = Vec::new();
        while !packed.is_empty() {
            let mut frame = StreamingDecoder::new(&mut packed).expect("a frame");
            frame.read_to_end(&mut all).expect("its bytes");
        }
        all
    }

    #[test]
    fn what_is_written_comes_back() {
        for length in [0, 1, FULL - 1, FULL, 2 * FULL + 77] {
            let bytes: Vec<u8> = (0..length).map(|at| (at * at % 251) as u8).collect();
            let mut packed = Vec::new();
            let mut packer = Packer::new(&mut packed);
            for part in bytes.chunks(999_983) {
                packer.write_all(part).expect("written");
            }
            packer.finish().expect("written");
            assert!(!packed.is_empty());
            assert!(unpacked(&packed) == bytes, "{length}");
        }
    }

    /// A full disk.
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        let mut packer = Packer::new(Full);
        packer.write_all(b"some").expect("it waits");
        let error = packer.finish().expect_err("full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
