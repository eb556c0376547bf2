//! What a log says of itself and how large its process was, out of its own file
//! and as little of it as will do: a build leaves tens of thousands of logs.
//!
//! Most say all of it in the first few kilobytes. Meta chunks are filled in
//! their order, so there are more only where the first has no room. The peak of
//! a process that did not end in order stands among its readings of resident
//! memory; whatever it inherited, its parent's log knows nothing of that.

mod few;

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use memlog_analysis::{Figures, Level, highest_level};
use memlog_format::FIRST_VERSION;
use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, MAGIC};
use memlog_format::counter::{AREA_END, Counter};
use memlog_format::ext::Rss;
use memlog_format::meta::MAX_STRING;
use memlog_read::{Kind as ItemKind, Log, readings};

use super::Wholeness;
use super::analysis::{figures, last_high_water_kb};

use super::map::{FileBytes, log_bytes, open_log};
pub use few::{FEW_EVENTS, Few, says_more};

/// Holds all that most logs say of themselves.
const FIRST_BYTES: usize = 4096;
/// No record of a meta chunk takes more: two strings, and some numbers.
const LONGEST_RECORD: usize = 2 * MAX_STRING + 256;

/// A log without its events.
pub struct Glance {
    path: PathBuf,
    file: File,
    length: u64,
    /// The meta chunks one behind another, which is a log too.
    metas: FileBytes,
}

impl Glance {
    /// Looks at the log at `path`.
    pub fn take(path: &Path) -> anyhow::Result<Self> {
        let unreadable = |error| super::unreadable(path, &error);
        let (file, length) = open_log(path).map_err(unreadable)?;
        let mut first = vec![0; FIRST_BYTES];
        let count = file.read_at(&mut first, 0).map_err(unreadable)?;
        first.truncate(count);
        let metas = match Header::decode(&first) {
            Ok(Some(header)) if header.kind == Kind::Meta => {
                FileBytes::Read(metas(&file, length, first, &header).map_err(unreadable)?)
            }
            // A damaged log: what can be read of it all of it says.
            _ if may_be_log(&file, &first) => log_bytes(path).map_err(unreadable)?,
            // A program's own file may be as large as the disk.
            _ => FileBytes::Read(first),
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            length,
            metas,
        })
    }

    /// Which file it is, whatever comes to lie at its path: device and number.
    pub fn identity(&self) -> std::io::Result<(u64, u64)> {
        let found = self.file.metadata()?;
        Ok((found.dev(), found.ino()))
    }

    /// How much of the log this file has: a copy may have been cut, or made while the log
    /// grew.
    pub fn wholeness(&self) -> anyhow::Result<Wholeness> {
        let given = given_bytes(&self.metas);
        Ok(Wholeness {
            is_whole: self.length >= given,
            has_end: self.log()?.end().is_some(),
            bytes: match given {
                0 => self.length,
                given => self.length.min(given),
            },
        })
    }

    /// Everything but its events.
    pub fn log(&self) -> anyhow::Result<Log<'_>> {
        super::open(&self.path, &self.metas)
    }

    /// What the file takes of its disk.
    pub fn taken_bytes(&self) -> std::io::Result<u64> {
        let found = self.file.metadata()?;
        Ok(found.len().min(found.blocks() * 512))
    }

    /// No less than the peak of resident memory, 0 if the log does not tell: the
    /// kernel's last word on it, which most logs have in their first kilobytes.
    /// The recorder's own part may be more of that than of the program's peak.
    pub fn rss_peak_bound(&self) -> anyhow::Result<u64> {
        match last_high_water_kb(&self.log()?) {
            kb if kb > 0 && !is_flight(&self.metas) => Ok(kb.saturating_mul(1024)),
            _ => self.rss_peak_bytes(),
        }
    }

    /// The figure of the peak as the whole reading has it, out of the readings
    /// of resident memory.
    pub fn rss_peak_bytes(&self) -> anyhow::Result<u64> {
        let log = self.log()?;
        let unreadable = |error| super::unreadable(&self.path, &error);
        let figures = figures(&log);
        let level = match is_flight(&self.metas) {
            true => {
                let whole = log_bytes(&self.path).map_err(unreadable)?;
                level_of_flight(&super::open(&self.path, &whole)?, &figures)
            }
            false => {
                let mut readings = self.readings().map_err(unreadable)?;
                readings.sort_by_key(|rss| rss.stamp);
                let readings = readings.into_iter();
                highest_level(readings, Level::default(), floor(&log), &figures)
            }
        };
        Ok(level.kb.saturating_mul(1024))
    }

    /// Of all chunks of events, as they stand in the file.
    fn readings(&self) -> std::io::Result<Vec<Rss>> {
        let mut all = Vec::new();
        let mut chunk = Vec::with_capacity(CHUNK_SIZE);
        for (at, header) in chunks(&self.file, self.length, given_bytes(&self.metas)) {
            if let Some(header) = header.filter(|header| header.kind == Kind::Events) {
                chunk.clear();
                complete(&self.file, at, &mut chunk, header.committed as usize)?;
                all.extend(readings(&header, &chunk));
            }
        }
        Ok(all)
    }
}

/// Whether a file is a log although its first header cannot be read: a crash of
/// the machine may have left zeros there.
fn may_be_log(file: &File, first: &[u8]) -> bool {
    let is_chunk = |number| matches!(header_at(file, number * CHUNK_SIZE as u64), Ok(Some(_)));
    first.starts_with(&MAGIC) || first.iter().all(|&byte| byte == 0) && (1..8).any(is_chunk)
}

/// The first chunk, as far as it goes, and the other meta chunks, if any.
fn metas(file: &File, length: u64, first: Vec<u8>, header: &Header) -> std::io::Result<Vec<u8>> {
    let committed = header.committed as usize;
    let mut metas = first;
    complete(file, 0, &mut metas, committed)?;
    if committed + LONGEST_RECORD <= CHUNK_SIZE {
        return Ok(metas);
    }
    let given = given_bytes(&metas);
    for (at, header) in chunks(file, length, given).skip(1) {
        if let Some(header) = header.filter(|header| header.kind == Kind::Meta) {
            metas.resize(metas.len().next_multiple_of(CHUNK_SIZE), 0);
            let mut chunk = Vec::new();
            complete(file, at, &mut chunk, header.committed as usize)?;
            metas.extend(chunk);
        }
    }
    Ok(metas)
}

/// The chunks of a log and their headers, where they are used. A copy of a file
/// that was longer than its log may have megabytes of zeros behind: the first
/// unused chunk that was never given out is the end.
fn chunks(file: &File, length: u64, given: u64) -> impl Iterator<Item = (u64, Option<Header>)> {
    let places = (0..length).step_by(CHUNK_SIZE);
    let found = places.map(|at| (at, header_at(file, at).ok().flatten()));
    let is_end =
        move |at: u64, header: &Option<Header>| given > 0 && at >= given && header.is_none();
    found.take_while(move |(at, header)| !is_end(*at, header))
}

/// Bytes of the chunks that were given out, 0 where the log does not say.
fn given_bytes(first: &[u8]) -> u64 {
    match first.len() < AREA_END {
        true => 0,
        false => Counter::Chunks
            .read(first)
            .saturating_mul(CHUNK_SIZE as u64),
    }
}

/// Nothing of a chunk that is unused or cannot be read: that is for the reading
/// commands to speak of.
fn header_at(file: &File, at: u64) -> std::io::Result<Option<Header>> {
    let mut start = [0; HEADER_SIZE];
    let count = file.read_at(&mut start, at)?;
    Ok(Header::decode(&start[..count]).ok().flatten())
}

/// Reads what of a chunk's `wanted` bytes is not there yet, as far as the file
/// has it.
fn complete(file: &File, at: u64, chunk: &mut Vec<u8>, wanted: usize) -> std::io::Result<()> {
    let mut have = chunk.len();
    chunk.resize(wanted, 0);
    while have < wanted {
        match file.read_at(&mut chunk[have..], at + have as u64)? {
            0 => break,
            count => have += count,
        }
    }
    chunk.truncate(have);
    Ok(())
}

fn floor(log: &Log) -> u64 {
    log.counter(Counter::MaxRssFloorKb)
}

fn is_flight(first: &[u8]) -> bool {
    let header = Header::decode(first).ok().flatten();
    header.is_some_and(|header| header.version > FIRST_VERSION)
}

/// A flight recorder's chunks are bounded, and some are folded in part.
fn level_of_flight(log: &Log, figures: &Figures) -> Level {
    let before = log.flight().map_or(Level::default(), |flight| Level {
        kb: flight.sums.rss_kb,
        own_kb: flight.sums.rss_own_kb,
    });
    let readings = log.events().filter_map(|item| match item.kind {
        ItemKind::Rss(rss) => Some(rss),
        _ => None,
    });
    highest_level(readings, before, floor(log), figures)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::open::{Files, Watch};
    use memlog_format::counter::AREA_AT;
    use memlog_format::meta::Record;
    use memlog_format::varint::Reader;

    /// Every log that is kept.
    fn kept() -> Vec<PathBuf> {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden");
        let folders = ["v1", "v2", "cross"].map(|name| golden.join(name));
        let entries = folders
            .iter()
            .flat_map(|folder| folder.read_dir().expect("golden"));
        let files = entries.map(|entry| entry.expect("entry").path());
        files
            .filter(|path| path.extension().is_some_and(|name| name == "memlog"))
            .collect()
    }

    /// As if its program had been killed: no last word on resident memory.
    fn without_end(bytes: &mut [u8]) {
        let counter = AREA_AT + 8 * Counter::VmHwmKb as usize;
        bytes[counter..counter + 8].fill(0);
        let committed = Header::decode(bytes)
            .expect("a header")
            .expect("used")
            .committed;
        let mut ends = Vec::new();
        let mut records = Reader::new(&bytes[AREA_END..committed as usize]);
        loop {
            let at = records.at();
            match Record::next(&mut records).expect("a record") {
                Some(Record::End(_)) => ends.push(AREA_END + at),
                Some(_) => {}
                None => break,
            }
        }
        for at in ends {
            bytes[at] = 200;
        }
    }

    /// A program's own file in the folder of logs may be as large as the disk.
    #[test]
    fn of_a_large_file_that_is_no_log_one_page_is_read() {
        let path = std::env::temp_dir().join(format!("memlog-none-{}", std::process::id()));
        let file = File::create(&path).expect("created");
        file.write_all_at(b"a program's own", 0).expect("written");
        file.set_len(300 << 20).expect("lengthened");
        let glance = Glance::take(&path).expect("a file");
        let is_a_copy = matches!(glance.metas, FileBytes::Read(_));
        assert_eq!((is_a_copy, glance.metas.len()), (true, FIRST_BYTES));
        assert!(glance.log().is_err());
        std::fs::remove_file(&path).expect("removed");
    }

    /// The whole reading of a log is the naive twin.
    #[test]
    fn the_peak_is_that_of_the_whole_reading() {
        let place = std::env::temp_dir().join(format!("memlog-glance-{}", std::process::id()));
        let mut of_readings = 0;
        for path in kept() {
            let whole = std::fs::read(&path).expect("a log");
            let mut killed = whole.clone();
            without_end(&mut killed);
            for (case, bytes) in [("whole", whole), ("killed", killed)] {
                std::fs::write(&place, &bytes).expect("written");
                let files = Files::load(&place, &Watch::silent()).expect("a log");
                let family = files.family().expect("a log");
                let analysis = family.analyse(None, &Watch::silent());
                let glance = Glance::take(&place).expect("a log");
                let expected = analysis.summary.rss_peak_bytes;
                assert_eq!(
                    glance.rss_peak_bytes().expect("read"),
                    expected,
                    "{case} {}",
                    path.display()
                );
                of_readings += u32::from(case == "killed" && expected > 0);
                let (own, log) = (family.own(), glance.log().expect("a log"));
                assert_eq!(log.start(), own.start());
                assert_eq!(log.rank_parent(), own.rank_parent());
            }
        }
        std::fs::remove_file(&place).expect("removed");
        assert!(of_readings >= 5, "only {of_readings} logs have readings");
    }
}
