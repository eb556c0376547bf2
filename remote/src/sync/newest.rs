//! Chunks that the recorder writes anew in another place, without short lives.
//!
//! A place has one chunk after another, which its header's stream, sequence and `culled` tell.
//! The recorder changes them first, then the records, then `committed`; and the place that a
//! chunk came from is emptied last. So it is here:
//!
//! * What the receiver has of another chunk does not count before all of the new one is there.
//! * A place is emptied, or has another chunk, once the receiver has what came of its chunk
//!   elsewhere.
//! * A stream's chunks are there from the first on: the one before may have been moved while
//!   places were looked at, and was found in none.

use std::collections::BTreeMap;

use memlog_format::chunk::{Header, Kind};

use super::chunk::Header64;
use crate::look::open_until;

/// By stream, the newest chunk that the receiver has.
#[derive(Debug, Default)]
pub struct Newest(BTreeMap<u32, (u32, u32)>);

impl Newest {
    /// The receiver has this chunk.
    pub fn note(&mut self, header: &Header) {
        let newest = self.0.entry(header.stream).or_default();
        *newest = (header.sequence, header.culled).max(*newest);
    }

    /// A chunk's header as it is told: that it is sealed, once the receiver has the next one.
    /// Else who reads there would miss that.
    pub fn told(&self, header: &Header, bytes: Header64) -> Header64 {
        let newest = self.0.get(&header.stream);
        let has_next = newest.is_some_and(|(sequence, _)| header.sequence < *sequence);
        match header.is_sealed() && !has_next {
            true => open_until(*header, header.committed as usize),
            false => bytes,
        }
    }

    /// Whether it has all of the stream that comes before this chunk.
    pub fn has_before(&self, header: &Header) -> bool {
        let next = self.0.get(&header.stream).map_or(0, |newest| newest.0 + 1);
        header.sequence <= next
    }

    /// Whether a chunk may take the place of one that the receiver has.
    pub fn gives_way(&self, known: &Header64, to: &Header) -> bool {
        let known_header = Header::decode_unused(known);
        let is_anew = |known: Header| (known.stream, known.sequence) == (to.stream, to.sequence);
        known_header.is_some_and(is_anew) || self.has_passed(known)
    }

    /// Whether it has what came of a chunk that it has, too. Nobody knows what is in its stead
    /// of one that cannot be told.
    pub fn has_passed(&self, chunk: &Header64) -> bool {
        let Some(header) = Header::decode_unused(chunk).filter(|_| counts(chunk)) else {
            return true;
        };
        let newest = self.0.get(&header.stream);
        newest.is_some_and(|newest| (header.sequence, header.culled) < *newest)
    }
}

/// Whether this is the header of events that count.
pub fn counts(header: &Header64) -> bool {
    matches!(Header::decode(header), Ok(Some(header)) if header.kind == Kind::Events)
}

/// Whether a place has no chunk, but had one of events, or is to have one.
pub fn is_spare(header: &Header64) -> bool {
    let header = Header::decode_unused(header);
    header.is_some_and(|header| header.kind == Kind::Events && header.committed == 0)
}

/// Whether two headers are of one chunk, however far it is written.
pub fn is_same(one: &Header64, other: &Header64) -> bool {
    let told = |bytes| {
        let header = Header::decode_unused(bytes)?;
        Some((header.kind, header.stream, header.sequence, header.culled))
    };
    told(one) == told(other)
}

/// A chunk's header, where nothing of it counts yet.
pub fn nothing_of(header: Header) -> Header64 {
    let nothing = Header {
        committed: 0,
        flags: 0,
        checksum: 0,
        ..header
    };
    nothing.encode()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(stream: u32, sequence: u32, culled: u32, committed: u32) -> Header64 {
        let header = Header {
            culled,
            committed,
            ..Header::new(Kind::Events, stream, sequence)
        };
        header.encode()
    }

    #[test]
    fn a_place_is_emptied_behind_what_came_of_it() {
        let mut newest = Newest::default();
        let old = chunk(3, 5, 1, 900);
        assert!(!newest.has_passed(&old));
        for (other, is_passed) in [(chunk(2, 9, 9, 90), false), (old, false)] {
            newest.note(&Header::decode(&other).expect("one").expect("one"));
            assert_eq!(newest.has_passed(&old), is_passed);
        }
        for other in [chunk(3, 5, 2, 90), chunk(3, 6, 0, 90)] {
            newest.note(&Header::decode(&other).expect("one").expect("one"));
            assert!(newest.has_passed(&old));
        }
        let next = |sequence| Header::new(Kind::Events, 3, sequence);
        assert!(newest.has_before(&next(7)) && !newest.has_before(&next(8)));
        assert!(Newest::default().has_before(&next(0)) && !Newest::default().has_before(&next(1)));
        assert!(newest.gives_way(&old, &next(7)));
        assert!(Newest::default().gives_way(&old, &next(5)));
        assert!(!Newest::default().gives_way(&old, &next(6)));
        let sealed = |sequence| next(sequence).over(&[], true);
        for (sequence, is_told) in [(5, true), (6, false), (7, false)] {
            let header = sealed(sequence);
            let told = newest.told(&header, header.encode());
            assert_eq!(told == header.encode(), is_told, "{sequence}");
            assert!(counts(&told) && is_same(&told, &header.encode()));
        }
        // Nothing of it counts there.
        assert!(newest.has_passed(&chunk(7, 1, 0, 0)));
        assert!(newest.has_passed(&[0; _]));
    }

    #[test]
    fn a_chunk_is_the_same_however_far_it_is_written() {
        assert!(is_same(&chunk(1, 2, 3, 80), &chunk(1, 2, 3, 0)));
        for other in [chunk(2, 2, 3, 80), chunk(1, 3, 3, 80), chunk(1, 2, 4, 80)] {
            assert!(!is_same(&chunk(1, 2, 3, 80), &other));
        }
        let nothing = nothing_of(Header::decode(&chunk(1, 2, 3, 80)).unwrap().unwrap());
        assert!(is_spare(&nothing) && !is_spare(&[0; _]));
        assert!(!is_spare(&chunk(1, 2, 3, 80)));
        assert!(!counts(&nothing) && is_same(&nothing, &chunk(1, 2, 3, 80)));
    }
}
