//! What there is to know of a log's bytes: whose it is, and up to where it may be told.

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind};
use memlog_format::counter::{self, AREA_END};
use memlog_format::meta::{Key, Record, Start};
use memlog_format::varint::Reader;
use ring::digest::{SHA256, digest};

use crate::wire::SUM;

/// What the first chunk of a log says.
#[derive(Clone, Debug)]
pub struct About {
    /// What tells the log from all others.
    pub(crate) identity: [u8; SUM],
    /// Its process.
    pub pid: u32,
    /// That process's parent.
    pub parent_pid: u32,
    /// When it began, in nanoseconds since 1970.
    pub wall_ns: u64,
    /// The program's path.
    pub executable: Vec<u8>,
    /// The name of its machine.
    pub host: Vec<u8>,
    /// Events that the recorder lost.
    pub lost: u64,
    /// Whether it says how the program ended.
    pub has_end: bool,
}

/// Of the beginning of a log; nothing where it does not tell whose it is.
pub fn about(start: &[u8]) -> Option<About> {
    let header = Header::decode(start).ok()??;
    if header.kind != Kind::Meta {
        return None;
    }
    let committed = (header.committed as usize).min(start.len());
    let mut records = Reader::new(start.get(AREA_END..committed)?);
    let Ok(Some(Record::Start(begun))) = Record::next(&mut records) else {
        return None;
    };
    let (mut executable, mut host, mut made) = (Vec::new(), Vec::new(), Vec::new());
    let mut has_end = false;
    while let Ok(Some(record)) = Record::next(&mut records) {
        match record {
            Record::Text(Key::Executable, text) => executable = text.to_vec(),
            Record::Text(Key::Host, text) => host = text.to_vec(),
            Record::Text(Key::Stripped | Key::Anonymized, text) => made.extend(text),
            Record::End(_) | Record::Death(_) => has_end = true,
            _ => {}
        }
    }
    let losses = counter::ALL.iter().filter(|(counter, _)| counter.is_loss());
    let lost = losses.map(|(counter, _)| counter.read(start));
    Some(About {
        identity: identity(&begun, &made),
        pid: begun.pid,
        parent_pid: begun.parent_pid,
        wall_ns: begun.wall_ns,
        executable,
        host,
        lost: lost.fold(0, u64::saturating_add),
        has_end,
    })
}

/// A process image begins once, at a nanosecond; its log may be there stripped or without its
/// user's names as well.
fn identity(start: &Start, made: &[u8]) -> [u8; SUM] {
    let mut text = format!("{start:?}").into_bytes();
    text.extend(made);
    sum(&text)
}

/// Where the first record in a chunk of the header is that tells an end; else where its
/// records end.
pub fn before_end(chunk: &[u8], first_record: usize, committed: usize) -> usize {
    let Some(bytes) = chunk.get(first_record..committed) else {
        return committed;
    };
    let mut records = Reader::new(bytes);
    loop {
        let at = first_record + records.at();
        match Record::next(&mut records) {
            Ok(Some(Record::End(_) | Record::Death(_))) => return at,
            Ok(Some(_)) => {}
            // What cannot be read is told as it stands.
            Ok(None) | Err(_) => return committed,
        }
    }
}

/// Where records begin in a chunk of the header.
pub fn first_record(index: u32) -> usize {
    match index {
        0 => AREA_END,
        _ => HEADER_SIZE,
    }
}

/// A first chunk as far as it can be told now: without an end, and not sealed. Nothing if
/// it does not say yet whose it is.
pub fn beginning(chunk: &[u8]) -> Option<Vec<u8>> {
    about(chunk)?;
    let header = Header::decode(chunk).ok()??;
    let committed = (header.committed as usize).min(chunk.len());
    let end = before_end(chunk, AREA_END, committed);
    let mut start = chunk[..end].to_vec();
    start[..HEADER_SIZE].copy_from_slice(&open_until(header, end));
    Some(start)
}

/// The header of a chunk that ends there for now.
pub fn open_until(header: Header, end: usize) -> [u8; HEADER_SIZE] {
    let header = Header {
        committed: end as u32,
        flags: 0,
        checksum: 0,
        ..header
    };
    header.encode()
}

/// The checksum of bytes. Nobody can make others with the same.
pub fn sum(bytes: &[u8]) -> [u8; SUM] {
    let mut out = [0; SUM];
    let whole = digest(&SHA256, bytes);
    out.copy_from_slice(&whole.as_ref()[..SUM]);
    out
}

/// How many chunks so many bytes are.
pub fn chunks(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(CHUNK_SIZE as u64)).unwrap_or(u32::MAX)
}

/// Where a chunk begins.
pub fn place(index: u32) -> u64 {
    u64::from(index) * CHUNK_SIZE as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Vec<u8> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../golden/v1/tiny.memlog");
        std::fs::read(path).unwrap()
    }

    #[test]
    fn a_log_tells_whose_it_is() {
        let log = tiny();
        let about = about(&log).expect("a log");
        assert_eq!((about.pid, &about.host[..]), (4711, &b"node7"[..]));
        assert_eq!(about.lost, 3);
        assert!(about.has_end);
    }

    #[test]
    fn the_end_is_told_last() {
        let log = tiny();
        let start = beginning(&log).expect("a log");
        let first = about(&start).expect("a log");
        assert!(!first.has_end);
        assert_eq!(first.identity, about(&log).unwrap().identity);
        // END is the last record of that log, with eight bytes.
        assert_eq!(start.len(), 902 - 10);
        let header = Header::decode(&start).unwrap().unwrap();
        assert!(!header.is_sealed());
    }

    #[test]
    fn what_is_no_log_tells_nothing() {
        let log = tiny();
        for end in [0, 16, 64, 576, 580] {
            assert!(about(&log[..end]).is_none(), "{end}");
        }
        assert!(about(&[0xFF; 1000]).is_none());
        assert!(about(&log[CHUNK_SIZE..]).is_none());
    }
}
