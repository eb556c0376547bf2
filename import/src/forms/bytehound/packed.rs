//! The pieces that a file is in: u8 KIND (1 LZ4, 2 as they are), u32 LENGTH, then as many
//! bytes.

use std::io::{self, BufRead, Read};

/// Nothing that bytehound writes at once is larger but files of code, in older versions.
const LARGEST: usize = 256 << 20;
/// What most pieces unpack to.
const USUAL: usize = 512 << 10;
/// A byte of LZ4 stands for no more.
const MOST_OF_A_BYTE: usize = 256;
const HEADER: usize = 5;

/// The first event is the header, which has the number 0; its bytes come as they are, for
/// the 128 bits behind are as good as random.
pub(in super::super) fn is(head: &[u8]) -> bool {
    let Some((&[kind, a, b, c, d], rest)) = head.split_first_chunk::<HEADER>() else {
        return false;
    };
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    let begins = match (kind, rest) {
        // A token whose upper half is how many bytes come as they are, and if that is all
        // ones, bytes that add to it up to the first that is not 255.
        (1, [0xf0..=0xff, rest @ ..]) => {
            let more = rest.iter().take_while(|&&byte| byte == 255).count();
            rest.get(more + 1..more + 5)
        }
        (1, [0x50..=0xef, rest @ ..]) => rest.get(..4),
        (2, rest) => rest.get(..4),
        _ => None,
    };
    (32..=LARGEST).contains(&length) && begins == Some(&[0; 4])
}

/// What is packed, unpacked.
pub(super) struct Packed<'i> {
    input: &'i mut dyn BufRead,
    piece: Vec<u8>,
    at: usize,
    is_cut: bool,
}

impl<'i> Packed<'i> {
    pub(super) fn new(input: &'i mut dyn BufRead) -> Self {
        Self {
            input,
            piece: Vec::new(),
            at: 0,
            is_cut: false,
        }
    }

    /// Whether the file ends in a piece.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The next piece; none where the file ends.
    fn next(&mut self) -> io::Result<bool> {
        if self.input.fill_buf()?.is_empty() {
            return Ok(false);
        }
        let mut header = [0; HEADER];
        let whole = self.input.read_exact(&mut header);
        let [kind, length @ ..] = header;
        let length = u64::from(u32::from_le_bytes(length));
        let mut bytes = Vec::new();
        if whole.is_ok() {
            self.input.take(length).read_to_end(&mut bytes)?;
        }
        if whole.is_err() || (bytes.len() as u64) < length {
            self.is_cut = true;
            return Ok(false);
        }
        match kind {
            1 => unpack(&bytes, &mut self.piece)?,
            2 => self.piece = bytes,
            _ => {
                let said = format!("a piece of bytehound's is of the kind 1 or 2, not {kind}");
                return Err(io::Error::new(io::ErrorKind::InvalidData, said));
            }
        }
        self.at = 0;
        Ok(true)
    }
}

/// How long it is when it is unpacked is not written.
fn unpack(bytes: &[u8], piece: &mut Vec<u8>) -> io::Result<()> {
    let largest = LARGEST.min(bytes.len().saturating_mul(MOST_OF_A_BYTE));
    let mut room = USUAL.min(largest);
    loop {
        piece.resize(room, 0);
        let unpacked = lz4_flex::block::decompress_into(bytes, piece);
        match unpacked {
            Ok(length) => {
                piece.truncate(length);
                return Ok(());
            }
            Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if room < largest => {
                room = largest.min(2 * room);
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
}

impl Read for Packed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(bytes)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Packed<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.piece.len() {
            if self.is_cut || !self.next()? {
                return Ok(&[]);
            }
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at = self.piece.len().min(self.at + count);
    }
}
