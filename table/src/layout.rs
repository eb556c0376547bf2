//! What lies where in the file.
//!
//! ```text
//! file   := MAGIC key:text pieces tail footer
//! pieces := chunks of rows, and of steps, as they became full
//! tail   := events rows end_tick extents stacks threads scopes marks readings steps figures
//!           mappings, which are a file of the same kind, or nothing
//! footer := offset:u64le length:u64le of the tail, its checksum:u64le, MAGIC
//! ```
//!
//! The key is whatever its owner tells logs apart by: a file with another key is of
//! another log, or of this one when it was shorter. The footer is written last, so
//! what is torn has none.

use std::ops::Range;

use memlog_format::chunk::checksum;

use crate::pack::{Bytes, put_text, put_var};

/// The last digit is the version: another one is made anew.
const MAGIC: [u8; 8] = *b"MLTABLE6";
const FOOTER: usize = 32;

/// Why a file is not the table that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is no table, or one of another version.
    Foreign,
    /// It is of another log, or the log has grown since.
    Stale,
    /// It was not written to its end, or bytes of it have changed.
    Torn,
}

/// Where something lies before the tail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Piece {
    pub offset: u64,
    pub length: u64,
    pub checksum: u64,
}

impl Piece {
    /// Where it ends, if it begins no sooner than there.
    pub(crate) fn end_behind(&self, end: u64) -> Option<u64> {
        let is_behind = self.offset >= end && self.length > 0;
        self.offset.checked_add(self.length).filter(|_| is_behind)
    }

    /// Where it begins and ends.
    pub(crate) fn range(&self) -> Option<Range<usize>> {
        let end = self.offset.checked_add(self.length)?;
        Some(usize::try_from(self.offset).ok()?..usize::try_from(end).ok()?)
    }

    /// Whether a file has there what was written.
    pub(crate) fn is_whole(&self, file: &[u8]) -> bool {
        let bytes = self.range().and_then(|range| file.get(range));
        bytes.is_some_and(|bytes| checksum(bytes) == self.checksum)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let numbers = [self.offset, self.length, self.checksum];
        numbers.iter().for_each(|&number| put_var(out, number));
    }

    pub(crate) fn read(bytes: &mut Bytes) -> Option<Self> {
        Some(Self {
            offset: bytes.var()?,
            length: bytes.var()?,
            checksum: bytes.var()?,
        })
    }
}

pub(crate) fn head(key: &[u8]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    put_text(&mut out, key);
    out
}

pub(crate) fn footer(offset: u64, tail: &[u8]) -> [u8; FOOTER] {
    let words = [offset, tail.len() as u64, checksum(tail)];
    let mut out = [0; FOOTER];
    let bytes = words.iter().flat_map(|word| word.to_le_bytes());
    for (place, byte) in out.iter_mut().zip(bytes.chain(MAGIC)) {
        *place = byte;
    }
    out
}

/// The tail of a file that is whole and has this key.
pub(crate) fn tail<'b>(file: &'b [u8], key: &[u8]) -> Result<Bytes<'b>, Unfit> {
    let mut start = Bytes(file);
    if start.take(MAGIC.len()) != Some(&MAGIC) {
        return Err(Unfit::Foreign);
    }
    match start.text() {
        Some(found) if found == key => {}
        Some(_) => return Err(Unfit::Stale),
        None => return Err(Unfit::Torn),
    }
    whole_tail(file).map(Bytes).ok_or(Unfit::Torn)
}

fn whole_tail(file: &[u8]) -> Option<&[u8]> {
    let (rest, footer) = file.split_last_chunk::<FOOTER>()?;
    let word = |at: usize| {
        let bytes = footer.get(at..at + 8)?.try_into().ok()?;
        usize::try_from(u64::from_le_bytes(bytes)).ok()
    };
    let (offset, length) = (word(0)?, word(8)?);
    let tail = rest.get(offset..)?;
    let is_whole = tail.len() == length && footer.ends_with(&MAGIC);
    let sum = footer.get(16..24)?.try_into().ok()?;
    (is_whole && checksum(tail) == u64::from_le_bytes(sum)).then_some(tail)
}
