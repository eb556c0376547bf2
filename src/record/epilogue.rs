//! What only the parent of a process knows: which signal killed it, and
//! whether the kernel had run out of memory; and what soon nobody knows any
//! more: the names of code made at run time. It is written behind the log.

use std::collections::hash_map::RandomState;
use std::fs::{self, File, OpenOptions};
use std::hash::BuildHasher;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, SEALED, checksum};
use memlog_format::meta::{CodeName, Death, Record};
use memlog_pages::{Files, Watch, extent_of, jit_names};

use super::log::Log;
use crate::os;

/// Counts what the kernel kills for want of memory in this process's group,
/// and so in its children's.
pub struct OomKills {
    file: Option<PathBuf>,
    before: Option<u64>,
}

impl OomKills {
    /// Begins to count.
    pub fn begin() -> Self {
        let file = counting_file();
        let before = file.as_deref().and_then(count_in);
        Self { file, before }
    }

    /// How many there were since, where the kernel counts them.
    pub fn so_far(&self) -> Option<u64> {
        let now = self.file.as_deref().and_then(count_in)?;
        Some(now.saturating_sub(self.before?))
    }
}

/// A name that no other run has.
pub fn run_name() -> String {
    let random = RandomState::new();
    format!("{:016x}", random.hash_one(std::process::id()))
}

/// memory.events of the second version of groups, memory.oom_control of the
/// first: the one that has the memory controller.
fn counting_file() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mut lines = groups.lines();
    let first = lines.find(|line| {
        let mut fields = line.split(':');
        let names = fields.nth(1).unwrap_or_default();
        names.split(',').any(|name| name == "memory")
    });
    let second = || groups.lines().find(|line| line.starts_with("0::"));
    let (line, kind, file) = match first {
        Some(line) => (line, "cgroup", "memory.oom_control"),
        None => (second()?, "cgroup2", "memory.events"),
    };
    let own = line.splitn(3, ':').nth(2)?;
    let mount = mounts.lines().find_map(|line| {
        let (place, fs) = line.split_once(" - ")?;
        let mut fs = fs.split(' ');
        let is_kind = fs.next() == Some(kind);
        let options = fs.nth(1).unwrap_or_default();
        let has_memory = options.split(',').any(|option| option == "memory");
        let mut place = place.split(' ').skip(3);
        (is_kind && (kind == "cgroup2" || has_memory)).then_some((place.next()?, place.next()?))
    });
    let (root, point) = mount?;
    // A mount of another group's folder says nothing of this one.
    let below = own.strip_prefix(root.trim_end_matches('/'))?;
    Some(
        Path::new(point)
            .join(below.trim_start_matches('/'))
            .join(file),
    )
}

fn count_in(file: &Path) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Writes a death behind a log, in a chunk of its own.
pub fn write(log: &Log, signal: u8, oom_kills: Option<u64>, maxrss_kb: u64) -> io::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let death = Death {
        signal,
        oom_kills: oom_kills.unwrap_or(Death::UNKNOWN),
        maxrss_kb,
        wall_ns: now.map_or(0, |now| now.as_nanos() as u64),
    };
    append(log, [Record::Death(death)])
}

/// Chunks of names that a log takes, at most.
const MOST_CHUNKS: usize = 64;

/// Writes behind a log, whose process is gone, the names that run-time
/// compilers gave the code in its stacks, where it has any.
pub fn write_names(to: &Log) -> anyhow::Result<()> {
    let path = &to.path;
    let files = Files::load(path, &Watch::silent())?;
    let family = files.family()?;
    let log = family.own();
    if log.codes_of_no_file().next().is_none() || !log.code_names().is_empty() {
        return Ok(());
    }
    let Some(names) = jit_names(log, path) else {
        return Ok(());
    };
    let names: Vec<_> = names.all().collect();
    let records = names.iter().map(|(address, made)| {
        Record::CodeName(CodeName {
            address: *address,
            line: made.line,
            file: &made.file,
            name: &made.name,
        })
    });
    Ok(append(to, records)?)
}

/// Writes records behind a log, in chunks of their own.
fn append<'a>(log: &Log, records: impl IntoIterator<Item = Record<'a>>) -> io::Result<()> {
    let mut bodies: Vec<Vec<u8>> = Vec::new();
    let mut bytes = vec![0; CHUNK_SIZE - HEADER_SIZE];
    for record in records {
        let length = record.encode(&mut bytes);
        let length = length.ok_or(io::ErrorKind::InvalidData)?;
        let is_full = bodies.len() == MOST_CHUNKS;
        match bodies.last_mut() {
            Some(body) if body.len() + length <= bytes.len() => {
                body.extend(&bytes[..length]);
            }
            Some(_) if is_full => break,
            _ => bodies.push(bytes[..length].to_vec()),
        }
    }
    if bodies.is_empty() {
        return Ok(());
    }
    // A limit on files is an error here, and no signal.
    os::ignore_file_limit();
    let file = log.reopen(OpenOptions::new().write(true))?;
    let end = extent_of(&file)?.bytes.next_multiple_of(CHUNK_SIZE as u64);
    let first = last_sequence(&file, end)?.map_or(0, |last| last + 1);
    for (index, body) in (0u32..).zip(&bodies) {
        let header = Header {
            committed: (HEADER_SIZE + body.len()) as u32,
            checksum: checksum(body),
            flags: SEALED,
            ..Header::new(Kind::Meta, 0, first + index)
        };
        let mut chunk = vec![0; CHUNK_SIZE];
        chunk[..HEADER_SIZE].copy_from_slice(&header.encode());
        chunk[HEADER_SIZE..HEADER_SIZE + body.len()].copy_from_slice(body);
        file.write_all_at(&chunk, end + u64::from(index) * CHUNK_SIZE as u64)?;
    }
    Ok(())
}

/// Of the meta chunks that are there.
fn last_sequence(file: &File, end: u64) -> io::Result<Option<u32>> {
    let mut last = None;
    for at in (0..end).step_by(CHUNK_SIZE) {
        let mut start = [0; HEADER_SIZE];
        if file.read_at(&mut start, at)? == HEADER_SIZE
            && let Ok(Some(header)) = Header::decode(&start)
            && header.kind == Kind::Meta
        {
            last = last.max(Some(header.sequence));
        }
    }
    Ok(last)
}
