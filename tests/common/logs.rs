//! memlog's logs, in the shape of the second recorder's.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memlog_format::api::Api;
use memlog_format::counter::{ALL, Counter};
use memlog_format::ext::Mapping;
use memlog_format::meta::Key;
use memlog_format::table::StackId;
use memlog_read::{Finding, Findings, Kind, Log};
use memmap2::Mmap;

use super::Event;

const MAP_FIXED: u32 = 0x10;

/// One image of one process.
pub struct Recorded {
    /// Its file.
    pub path: PathBuf,
    /// The file's bytes, for its tables and its parents.
    pub bytes: Arc<Mmap>,
    /// The process.
    pub pid: u32,
    /// When it began, nanoseconds since 1970.
    pub began_ns: u64,
    /// The executable.
    pub exe: Vec<u8>,
    /// Of a forked child: the process that it came from.
    pub parent_pid: Option<u32>,
    /// Of a forked child: the parent's log.
    pub parent_log: Option<PathBuf>,
    /// Blocks, in order.
    pub heap: Vec<Event>,
    /// Mappings that the program asked for, in order.
    pub mappings: Vec<Event>,
    /// The threads that forked, with the children.
    pub forks: Vec<(u32, u32)>,
    /// How often recording went on or off.
    pub switches: usize,
    /// What the reader found odd.
    pub findings: Findings,
    /// Events that the log says are missing.
    pub announced_losses: u64,
    /// Whether it ended in order.
    pub has_end: bool,
}

impl Recorded {
    /// Reads a log.
    pub fn read(path: &Path) -> Result<Self, String> {
        let shown = path.display();
        let file = std::fs::File::open(path).map_err(|error| format!("{shown}: {error}"))?;
        // SAFETY: the process that wrote it has ended.
        let bytes = unsafe { Mmap::map(&file) }.map_err(|error| format!("{shown}: {error}"))?;
        let bytes = Arc::new(bytes);
        let log = Log::open(&bytes).map_err(|error| format!("{shown}: {error}"))?;
        let start = log.start().ok_or(format!("{shown}: no start"))?;
        let path_of = |key| {
            use std::os::unix::ffi::OsStrExt;
            let text = log.text(key)?;
            Some(PathBuf::from(std::ffi::OsStr::from_bytes(text)))
        };
        let mut recorded = Self {
            path: path.to_owned(),
            pid: start.pid,
            began_ns: start.wall_ns,
            exe: log.text(Key::Executable).unwrap_or_default().to_vec(),
            parent_pid: log.parent_pid(),
            parent_log: path_of(Key::ParentLog),
            heap: Vec::new(),
            mappings: Vec::new(),
            forks: Vec::new(),
            switches: 0,
            findings: log.findings().clone(),
            announced_losses: 0,
            has_end: log.end().is_some(),
            bytes: Arc::clone(&bytes),
        };
        recorded.take(&log);
        Ok(recorded)
    }

    fn take(&mut self, log: &Log) {
        let mut events = log.events();
        for item in events.by_ref() {
            match item.kind {
                Kind::Ledger(entry) if !entry.backing => self.take_mapping(item.tid, entry.mapping),
                Kind::Switch(_) => self.switches += 1,
                Kind::Fork { child } => self.forks.push((item.tid, child)),
                Kind::Loss { events, .. } => self.announced_losses += events,
                _ => self.heap.extend(heap_event(&item)),
            }
        }
        self.findings.append(events.findings());
    }

    fn take_mapping(&mut self, tid: u32, mapping: Mapping) {
        let mut add = |api: Api, is_release, address, size, flags: u32| {
            self.mappings.push(Event {
                address,
                size,
                usable: 0,
                tid,
                api: api as u8,
                is_release,
                is_fixed: flags & MAP_FIXED != 0,
                mark: 0,
            });
        };
        match mapping {
            Mapping::Map {
                address,
                length,
                flags,
                ..
            } => add(Api::Mmap, false, address, length, flags),
            Mapping::Unmap { address, length } => add(Api::Munmap, true, address, length, 0),
            Mapping::Leave { length: 0, .. } => {}
            Mapping::Leave { address, length } => add(Api::Mremap, true, address, length, 0),
            Mapping::Remap {
                old_address,
                old_length,
                address,
                length,
            } => {
                if old_length != 0 {
                    add(Api::Mremap, true, old_address, old_length, 0);
                }
                add(Api::Mremap, false, address, length, 0);
            }
            Mapping::Break { .. } => {}
        }
    }

    /// The log again, for its tables.
    pub fn log(&self) -> Log<'_> {
        Log::open(&self.bytes).expect("it opened before")
    }

    /// Counters of losses that are not zero, and what was found that no kill explains.
    pub fn losses_and_findings(&self, killed: bool) -> Vec<String> {
        let log = self.log();
        let lost = ALL
            .iter()
            .filter(|(counter, _)| counter.is_loss() && log.counter(*counter) != 0)
            .map(|&(counter, name)| format!("{name} is {}", log.counter(counter)));
        let found = self.findings.list().iter().filter(|finding| {
            let is_of_a_kill = matches!(
                finding,
                Finding::UnfinishedRealloc { .. }
                    | Finding::NextMissing { .. }
                    | Finding::StreamsMissing { .. }
            );
            !(killed && is_of_a_kill)
        });
        lost.chain(found.map(Finding::to_string)).collect()
    }

    /// What a whole log must not say.
    pub fn complaints(&self) -> Vec<String> {
        let mut said: Vec<String> = self
            .findings
            .list()
            .iter()
            // Threads may die between two chunks, when others end the program.
            .filter(|finding| {
                !matches!(
                    finding,
                    Finding::NextMissing { .. } | Finding::StreamsMissing { .. }
                )
            })
            .map(Finding::to_string)
            .collect();
        let log = self.log();
        for &(counter, name) in ALL {
            let value = log.counter(counter);
            let is_bad =
                counter.is_loss() || matches!(counter, Counter::Stopped | Counter::VerifyDiffers);
            if is_bad && value != 0 {
                said.push(format!("the counter {name} is {value}"));
            }
        }
        for (value, what) in [
            (self.findings.order_gaps, "gaps in the order"),
            (self.findings.order_breaks, "contradictions in the order"),
            (self.announced_losses, "events announced as lost"),
        ] {
            if value != 0 {
                said.push(format!("{value} {what}"));
            }
        }
        said
    }

    /// How many allocations have stacks that end in each root; `None` where a
    /// stack's records are missing.
    pub fn roots(&self) -> BTreeMap<Option<StackId>, u64> {
        let log = self.log();
        let mut known: HashMap<u64, Option<StackId>> = HashMap::new();
        let mut roots = BTreeMap::new();
        for event in self.heap.iter().filter(|event| !event.is_release) {
            let root = known.entry(event.mark).or_insert_with(|| {
                let mut frames = log.frames(StackId(event.mark as u32));
                frames.by_ref().for_each(drop);
                frames.root()
            });
            *roots.entry(*root).or_default() += 1;
        }
        roots
    }

    /// For messages.
    pub fn name(&self) -> String {
        let exe = String::from_utf8_lossy(&self.exe);
        let exe = exe.rsplit('/').next().unwrap_or("");
        format!("{exe} {} ({})", self.pid, self.path.display())
    }
}

/// A block's event, if the item is one.
pub fn heap_event(item: &memlog_read::Item) -> Option<Event> {
    let blank = Event {
        address: 0,
        size: 0,
        usable: 0,
        tid: item.tid,
        api: 0,
        is_release: false,
        is_fixed: false,
        mark: 0,
    };
    match item.kind {
        Kind::Alloc(alloc) => Some(Event {
            address: alloc.address,
            size: alloc.size,
            usable: alloc.usable,
            api: alloc.api as u8,
            mark: u64::from(alloc.stack.0),
            ..blank
        }),
        Kind::Release(release) => Some(Event {
            address: release.address,
            api: release.api as u8,
            is_release: true,
            ..blank
        }),
        _ => None,
    }
}

/// Whether a log was made and nothing was written into it, or nothing but what
/// it is.
fn is_unwritten(path: &Path) -> bool {
    let bytes = std::fs::read(path).unwrap_or_default();
    let has_nothing = |log: Log| log.start().is_none() && log.events().next().is_none();
    bytes.iter().take(4).all(|&byte| byte == 0) || Log::open(&bytes).is_ok_and(has_nothing)
}

/// The logs of a run by process, each process's in order; what cannot be read
/// is told.
pub fn read_all(
    folder: &Path,
    unwritten: &mut Vec<PathBuf>,
    problems: &mut Vec<String>,
) -> BTreeMap<u32, Vec<Recorded>> {
    let mut found: BTreeMap<u32, Vec<Recorded>> = BTreeMap::new();
    for entry in std::fs::read_dir(folder)
        .expect("the run's folder")
        .flatten()
    {
        let path = entry.path();
        if path
            .extension()
            .is_none_or(|extension| extension != "memlog")
        {
            continue;
        }
        match Recorded::read(&path) {
            // A process may be killed while it makes its log.
            Err(_) if is_unwritten(&path) => unwritten.push(path),

            Ok(recorded) => found.entry(recorded.pid).or_default().push(recorded),
            Err(error) => problems.push(error),
        }
    }
    for images in found.values_mut() {
        // Images of one step of the coarse clock have numbers in their logs' names.
        images.sort_by_key(|recorded| {
            let name = recorded.path.clone().into_os_string();
            (recorded.began_ns, name.len(), name)
        });
    }
    found
}
