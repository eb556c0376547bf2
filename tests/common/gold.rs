//! The second recorder's files, whose bytes are drawn in `tests/gold/gold.h`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use memlog_format::api::Api;

use super::Event;

const HEADER_BYTES: usize = 4096;
const RECORD_BYTES: usize = 48;
const ALLOC: u8 = 1;
const UNDO: u8 = 4;
const MAPPING: u8 = 16;
const FIXED: u8 = 32;

/// One image of one process.
pub struct Gold {
    /// Its file.
    pub path: PathBuf,
    /// The process.
    pub pid: u32,
    /// 1 for the first image of the process, and so on.
    pub image: u32,
    /// The executable.
    pub exe: Vec<u8>,
    /// Of a forked child: the parent's file, and how many of its slots came
    /// before the fork.
    pub parent: Option<(PathBuf, u64)>,
    /// Blocks, in order. A realloc that failed is not in it.
    pub heap: Vec<Event>,
    /// Mappings, in order.
    pub mappings: Vec<Event>,
    /// Slots that were taken and never finished, with what is known of them.
    pub unfinished: u64,
    /// What must be zero: events beyond the file, calls not counted.
    pub lost: u64,
}

impl Gold {
    /// Reads a file; there is nothing to read if the process was killed before
    /// it came to write its header.
    pub fn read(path: &Path) -> Option<Self> {
        let file = std::fs::File::open(path).expect("gold's file opens");
        if file.metadata().expect("gold's size").len() == 0 {
            return None;
        }
        // SAFETY: the process that wrote it has ended.
        let bytes = unsafe { memmap2::Mmap::map(&file) }.expect("gold's file maps");
        if bytes[..8] == [0; 8] {
            return None;
        }
        assert_eq!(&bytes[..8], b"GOLD0001", "{}", path.display());
        assert_eq!(u32_at(&bytes, 48), 0, "gold's self-test of usable sizes");
        let parent_pid = u32_at(&bytes, 36);
        let parent = OsStr::from_bytes(text(&bytes[512..HEADER_BYTES]));
        let mut gold = Self {
            path: path.to_owned(),
            pid: u32_at(&bytes, 32),
            image: image_of(path),
            exe: text(&bytes[64..512]).to_vec(),
            parent: (parent_pid != 0).then(|| (PathBuf::from(parent), u64_at(&bytes, 40))),
            heap: Vec::new(),
            mappings: Vec::new(),
            unfinished: 0,
            lost: u64_at(&bytes, 16),
        };
        let used = u64_at(&bytes, 8) as usize;
        let records = bytes[HEADER_BYTES..].chunks_exact(RECORD_BYTES);
        gold.take(records.take(used));
        Some(gold)
    }

    fn take<'a>(&mut self, records: impl Iterator<Item = &'a [u8]>) {
        // A failed call takes back what its thread announced.
        let mut announced: HashMap<(u32, bool), usize> = HashMap::new();
        let mut taken_back = [Vec::new(), Vec::new()];
        for (slot, record) in records.enumerate() {
            let flags = record[14];
            if record[15] == 0 {
                self.unfinished += 1;
                continue;
            }
            assert_eq!(u64_at(record, 0), slot as u64, "gold's numbers");
            let is_mapping = flags & MAPPING != 0;
            let event = event(record, slot as u64);
            let list = if is_mapping {
                &mut self.mappings
            } else {
                &mut self.heap
            };
            if flags & UNDO != 0 {
                let undone = announced.remove(&(event.tid, is_mapping));
                taken_back[usize::from(is_mapping)].push(undone.expect("a release to undo"));
                continue;
            }
            if event.is_release {
                announced.insert((event.tid, is_mapping), list.len());
            }
            list.push(event);
        }
        let [heap, mappings] = &mut taken_back;
        drop_all(&mut self.heap, heap);
        drop_all(&mut self.mappings, mappings);
    }

    /// A child of vfork borrows its parent's memory and thread: its events are
    /// in the parent's stream, under the number of the parent's thread. Here
    /// they have the child's. So where memlog knows of one thread only, events
    /// of others are given to that one; returns how many.
    pub fn adopt_vforked(&mut self, ours: &[Event]) -> u64 {
        if ours.iter().any(|event| event.tid != self.pid) {
            return 0;
        }
        // Threads that were killed within their first event have none in the
        // log, under no number.
        let seen = |event: &Event| (event.address, event.size, event.is_release);
        let ours: HashSet<_> = ours.iter().map(seen).collect();
        let (mut in_flight, mut there) = (HashSet::new(), HashSet::new());
        for event in &self.heap {
            match ours.contains(&seen(event)) {
                true => there.insert(event.tid),
                false => in_flight.insert(event.tid),
            };
        }
        let is_borrowed =
            |event: &&mut Event| there.contains(&event.tid) || !in_flight.contains(&event.tid);
        let events = self.heap.iter_mut().chain(&mut self.mappings);
        let borrowed = events.filter(|event| event.tid != self.pid);
        let borrowed = borrowed.filter(is_borrowed);
        borrowed.map(|event| event.tid = self.pid).count() as u64
    }

    /// For messages.
    pub fn name(&self) -> String {
        let exe = String::from_utf8_lossy(&self.exe);
        let exe = exe.rsplit('/').next().unwrap_or("");
        format!("{exe} {} image {}", self.pid, self.image)
    }
}

/// The images of a run by process, each process's in order.
pub fn read_all(folder: &Path) -> BTreeMap<u32, Vec<Gold>> {
    let mut found: BTreeMap<u32, Vec<Gold>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)
        .expect("the run's folder")
        .flatten()
    {
        let name = entry.file_name();
        let name = name.as_bytes();
        if name.starts_with(b"gold.")
            && !name.ends_with(b".stacks")
            && let Some(gold) = Gold::read(&entry.path())
        {
            found.entry(gold.pid).or_default().push(gold);
        }
    }
    for images in found.values_mut() {
        images.sort_by_key(|gold| gold.image);
    }
    found
}

/// How many slots were handed out, in a file that is being written.
pub fn reserved(path: &Path) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let mut word = [0; 8];
    let file = std::fs::File::open(path).ok()?;
    file.read_exact_at(&mut word, 8).ok()?;
    Some(u64::from_ne_bytes(word))
}

fn event(record: &[u8], slot: u64) -> Event {
    let flags = record[14];
    let is_mapping = flags & MAPPING != 0;
    let kind = u16::from_ne_bytes([record[12], record[13]]);
    Event {
        address: u64_at(record, 16),
        size: u64_at(record, 24),
        usable: u64_at(record, 32),
        tid: u32_at(record, 8),
        api: match kind {
            32 | 33 => Api::Mmap as u8,
            34 => Api::Munmap as u8,
            35 => Api::Mremap as u8,
            heap => heap as u8,
        },
        is_release: flags & ALLOC == 0,
        is_fixed: is_mapping && flags & FIXED != 0,
        mark: slot,
    }
}

fn drop_all(events: &mut Vec<Event>, places: &mut [usize]) {
    places.sort_unstable();
    let mut place = 0;
    events.retain(|_| {
        place += 1;
        places.binary_search(&(place - 1)).is_err()
    });
}

/// `gold.PID` is the first image, `gold.PID.N` a later one.
fn image_of(path: &Path) -> u32 {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.')
        .nth(2)
        .map_or(1, |n| n.parse().expect("a number"))
}

fn text(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().position(|&byte| byte == 0);
    &bytes[..end.unwrap_or(bytes.len())]
}

pub fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

pub fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}
