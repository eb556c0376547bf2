//! What a log says of itself to `record`, without its events being read.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;

use memlog_format::chunk::{CHUNK_SIZE, Header, Kind, MAGIC};
use memlog_format::counter::{self, Counter};
use memlog_format::meta::{Key, Record};
use memlog_format::varint::Reader;

use crate::losses::Bounds;
use crate::open::{Files, clean, note};

/// What a log says of itself.
pub struct Log {
    /// Where it is.
    pub path: PathBuf,
    /// The process that wrote it.
    pub pid: u32,
    /// The program of that process.
    pub executable: OsString,
    /// Its rank in a parallel job; that of its parent where it is a rank's child.
    pub rank: Option<String>,
    /// Bytes that it takes on the disk.
    pub bytes: u64,
    /// The highest VmHWM that it tells of, 0 if it tells of none.
    pub rss_peak_kb: u64,
    /// Counters of what was lost that are not zero.
    pub losses: Vec<(Counter, u64)>,
    /// What bounds it.
    pub bounds: Bounds,
    /// Remarks of the recorder.
    pub notes: Vec<String>,
    /// The run that it is of, as `record` named it to the recorder.
    pub run: OsString,
    /// When it began.
    pub wall_ns: u64,
}

impl Log {
    /// `None` if the file is no log.
    pub fn read(path: PathBuf) -> std::io::Result<Option<Self>> {
        // Looked at first: to open a pipe that the program made would be to wait.
        let found = fs::symlink_metadata(&path)?;
        if !found.is_file() {
            return Ok(None);
        }
        let file = File::open(&path)?;
        let mut chunk = Vec::with_capacity(CHUNK_SIZE);
        (&file).take(CHUNK_SIZE as u64).read_to_end(&mut chunk)?;
        if !chunk.starts_with(&MAGIC) || chunk.len() < counter::AREA_END {
            return Ok(None);
        }
        let bytes = found.len().min(found.blocks() * 512);
        let losses = counter::ALL.iter().filter(|(counter, _)| counter.is_loss());
        let losses = losses
            .map(|(counter, _)| (*counter, counter.read(&chunk)))
            .filter(|(_, count)| *count != 0)
            .collect();
        let mut log = Self {
            path,
            pid: 0,
            executable: OsString::new(),
            rank: None,
            bytes,
            rss_peak_kb: Counter::VmHwmKb.read(&chunk),
            losses,
            bounds: Bounds::default(),
            notes: Vec::new(),
            run: OsString::new(),
            wall_ns: 0,
        };
        log.take_records(&chunk, counter::AREA_END);
        for at in (CHUNK_SIZE as u64..found.len()).step_by(CHUNK_SIZE) {
            log.take_later_chunk(&file, at);
        }
        Ok(Some(log))
    }

    /// Without an end, as a killed program leaves it, the peak stands only among
    /// the events.
    pub fn look_for_peak(&mut self) {
        if self.rss_peak_kb == 0
            && let Ok(files) = Files::load(&self.path)
            && let Ok(family) = files.family()
        {
            self.rss_peak_kb = family.rss_peak_bytes() / 1024;
        }
    }

    /// Notes may stand in any meta chunk. A chunk that cannot be read is
    /// for the reading commands to speak of.
    fn take_later_chunk(&mut self, file: &File, at: u64) {
        let mut start = [0; memlog_format::chunk::HEADER_SIZE];
        let is_meta = |header: &Header| header.kind == Kind::Meta;
        if file.read_exact_at(&mut start, at).is_err()
            || !Header::decode(&start)
                .ok()
                .flatten()
                .is_some_and(|header| is_meta(&header))
        {
            return;
        }
        let mut chunk = vec![0; CHUNK_SIZE];
        if let Ok(count) = file.read_at(&mut chunk, at) {
            chunk.truncate(count);
            self.take_records(&chunk, memlog_format::chunk::HEADER_SIZE);
        }
    }

    fn take_records(&mut self, chunk: &[u8], from: usize) {
        let committed = Header::decode(chunk)
            .ok()
            .flatten()
            .map_or(0, |header| header.committed as usize);
        let Some(records) = chunk.get(from..committed.min(chunk.len())) else {
            return;
        };
        let mut records = Reader::new(records);
        while let Ok(Some(record)) = Record::next(&mut records) {
            match record {
                Record::Start(start) => (self.pid, self.wall_ns) = (start.pid, start.wall_ns),
                Record::End(end) => self.rss_peak_kb = self.rss_peak_kb.max(end.vm_hwm_kb),
                Record::Text(Key::Executable, text) => {
                    self.executable = OsStr::from_bytes(text).into()
                }
                Record::Text(Key::Rank, text) => self.rank = Some(clean(text)),
                Record::Text(Key::Note, text) => self.notes.push(note(text)),
                Record::Text(Key::Setting, text) => {
                    self.bounds.take(text);
                    if let Some(run) = text.strip_prefix(b"MEMLOG_RUN=") {
                        self.run = OsStr::from_bytes(run).into();
                    }
                }
                _ => {}
            }
        }
    }
}
