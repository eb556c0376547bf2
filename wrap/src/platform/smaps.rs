//! The text of /proc/self/smaps, or of maps: what is mapped, and how much of it is
//! resident, where the text says that. It comes piece by piece, as the kernel gives it.

use crate::platform::maps::parse_line;
use crate::platform::sys::FileId;
use crate::platform::text::{Text, decimal};
use memlog_format::resident::MAX_PATH_END;

/// A mapping.
pub struct Mapping {
    /// First byte.
    pub low: u64,
    /// First byte past it.
    pub high: u64,
    /// Whether it can be accessed in any way.
    pub has_access: bool,
    /// Whether it can be written to.
    pub writable: bool,
    /// Whether code in it can run.
    pub executable: bool,
    /// Whether others see what is written.
    pub shared: bool,
    /// The file, or zeros.
    pub file: FileId,
    /// The end of the file's path, or the kernel's word for what it is.
    pub path: Text<MAX_PATH_END>,
    /// Resident.
    pub resident_kb: u64,
    /// The part of it that is of no file.
    pub anonymous_kb: u64,
    /// The part of it in huge pages.
    pub huge_kb: u64,
    /// Swapped out.
    pub swapped_kb: u64,
    /// Whether the kernel was advised of it as of the recorder's own memory: no huge
    /// pages, or wiped in a forked child.
    pub is_advised: bool,
}

/// What was read so far.
pub struct Smaps {
    mapping: Mapping,
    is_open: bool,
}

impl Smaps {
    /// Nothing yet.
    pub fn begin(&mut self) {
        self.is_open = false;
    }

    /// Takes the whole lines at the front, and shows each mapping once all of it was
    /// there; how many bytes they were.
    pub fn take_lines(&mut self, bytes: &[u8], see: &mut impl FnMut(&Mapping)) -> usize {
        let mut used = 0;
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some((b'\n', text)) = line.split_last() else {
                break;
            };
            used += line.len();
            self.take(text, see);
        }
        used
    }

    /// There are no more.
    pub fn finish(&mut self, see: &mut impl FnMut(&Mapping)) {
        if core::mem::take(&mut self.is_open) {
            see(&self.mapping);
        }
    }

    fn take(&mut self, text: &[u8], see: &mut impl FnMut(&Mapping)) {
        if text.first().is_some_and(u8::is_ascii_uppercase) {
            self.mapping.take_figure(text);
            return;
        }
        self.finish(see);
        let Some(line) = parse_line(text) else {
            return;
        };
        let mapping = &mut self.mapping;
        (mapping.low, mapping.high) = (line.low, line.high);
        mapping.has_access = line.readable || line.writable || line.executable;
        (mapping.writable, mapping.executable) = (line.writable, line.executable);
        (mapping.shared, mapping.file) = (line.shared, line.file);
        let cut = line.path.len().saturating_sub(MAX_PATH_END);
        mapping.path.set(line.path.get(cut..).unwrap_or(&[]));
        (mapping.resident_kb, mapping.anonymous_kb) = (0, 0);
        (mapping.huge_kb, mapping.swapped_kb) = (0, 0);
        mapping.is_advised = false;
        self.is_open = true;
    }
}

impl Mapping {
    /// What the kernel counted, in kilobytes: resident, of no file, in huge pages, and
    /// swapped out.
    pub fn counted(&self) -> [u64; 4] {
        let [resident_kb, anonymous_kb] = [self.resident_kb, self.anonymous_kb];
        [resident_kb, anonymous_kb, self.huge_kb, self.swapped_kb]
    }

    /// A line such as `Rss:    12 kB`.
    fn take_figure(&mut self, text: &[u8]) {
        let mut words = text
            .split(|&byte| byte == b' ')
            .filter(|word| !word.is_empty());
        let (Some(name), Some(word)) = (words.next(), words.next()) else {
            return;
        };
        if name == b"VmFlags:" {
            let is_ours = |flag: &[u8]| flag == b"nh" || flag == b"wf";
            self.is_advised = is_ours(word) || words.any(is_ours);
            return;
        }
        let Some(kb) = decimal(word) else {
            return;
        };
        match name {
            b"Rss:" => self.resident_kb = kb,
            b"Anonymous:" => self.anonymous_kb = kb,
            b"AnonHugePages:" | b"ShmemPmdMapped:" | b"FilePmdMapped:" => {
                self.huge_kb = self.huge_kb.saturating_add(kb);
            }
            b"Swap:" => self.swapped_kb = kb,
            _ => {}
        }
    }
}
