//! Who started the process: the batch system's name of its job, the launcher's
//! number of its rank, and whether the rank is this very process.
//!
//! Launchers tell the rank by the environment, which every program inherits that
//! a rank starts: compilers, shells, other solvers. So a process of a rank whose
//! parent is recorded and has the same rank by the same variable is that rank's
//! child. The parent of the rank itself is a launcher, which may have a rank by
//! another variable, as a batch script has, or a wrapper that is not recorded.

use crate::platform::sys::{Os, Sys};
use crate::platform::text::{Text, decimal, each_entry, each_piece};

/// Batch systems' names of the job, the first set one counts.
const JOBS: [&[u8]; 6] = [
    b"COBALT_JOBID",
    b"PBS_JOBID",
    b"SLURM_JOB_ID",
    b"LSB_JOBID",
    b"FLUX_JOB_ID",
    b"JOB_ID",
];
/// It is part of a file's name, in which there must be room for the rest.
pub const LONGEST_JOB: usize = 64;
/// Launchers' names of the rank, the first set one counts.
const RANKS: [&[u8]; 9] = [
    b"MEMLOG_RANK",
    b"OMPI_COMM_WORLD_RANK",
    b"PMIX_RANK",
    b"PMI_RANK",
    b"FLUX_TASK_RANK",
    b"MV2_COMM_WORLD_RANK",
    b"ALPS_APP_PE",
    b"PALS_RANKID",
    b"SLURM_PROCID",
];

/// Which of the alternatives was the best so far.
pub struct Best {
    job: usize,
    rank: usize,
}

impl Best {
    /// None of them.
    pub const fn none() -> Self {
        Self {
            job: JOBS.len(),
            rank: RANKS.len(),
        }
    }

    /// Whether a variable names the job, and better than those before it.
    pub fn takes_job(&self, name: &[u8]) -> bool {
        place(&JOBS, name) < self.job.min(JOBS.len())
    }

    /// It does.
    pub fn job_is(&mut self, name: &[u8]) {
        self.job = place(&JOBS, name);
    }

    /// Takes a variable that names the rank, and better than those before it.
    pub fn takes_rank(&mut self, name: &[u8]) -> bool {
        let at = place(&RANKS, name);
        let is_better = at < self.rank;
        self.rank = self.rank.min(at);
        is_better
    }

    /// Whether the rank was told by memlog's own variable.
    pub fn rank_is_told(&self) -> bool {
        self.rank == 0
    }

    /// The variable that told it; empty where none did.
    pub fn rank_by(&self) -> &'static [u8] {
        RANKS.get(self.rank).copied().unwrap_or(&[])
    }
}

fn place(names: &[&[u8]], name: &[u8]) -> usize {
    let is_it = |one: &&[u8]| *one == name;
    names.iter().position(is_it).unwrap_or(names.len())
}

/// Whether a list such as `0,17-20` wants a rank: without a list or a rank all
/// are. Nothing where it cannot be read; then all are as well, for nothing is to
/// be lost that somebody asked for.
pub fn is_wanted(list: &[u8], rank: Option<u64>) -> Option<bool> {
    if list.is_empty() {
        return Some(true);
    }
    let mut wanted = rank.is_none();
    for part in list.split(|&byte| byte == b',') {
        let mut ends = part.splitn(2, |&byte| byte == b'-');
        let first = ends.next().and_then(decimal);
        let last = ends.next().map_or(first, decimal);
        match (first, last, rank) {
            (Some(first), Some(last), _) if first > last => return None,
            (Some(first), Some(last), Some(rank)) => wanted |= (first..=last).contains(&rank),
            (Some(_), Some(_), None) => {}
            _ => return None,
        }
    }
    Some(wanted)
}

/// What another process began with, and has mapped.
pub struct Other {
    /// Whether it runs under the recorder as well.
    pub is_recorded: bool,
    /// Its rank by one variable, empty where it has none.
    pub rank: Text<32>,
}

impl Other {
    /// Of a process, whose rank is what this variable says.
    pub fn of(pid: u32, rank_by: &[u8], buffer: &mut [u8]) -> Self {
        let path = |file: &[u8]| {
            let mut path = Text::<64>::new();
            path.push(b"/proc/");
            path.push_number(u64::from(pid));
            path.push(file);
            path
        };
        let (environment, maps) = (path(b"/environ\0"), path(b"/maps\0"));
        Self::by(environment.get(), maps.get(), rank_by, buffer)
    }

    fn by(environment: &[u8], maps: &[u8], rank_by: &[u8], buffer: &mut [u8]) -> Self {
        let mut other = Self {
            is_recorded: false,
            rank: Text::new(),
        };
        each_entry(environment, buffer, |entry| {
            let value = entry.strip_prefix(rank_by);
            if let Some(value) = value.and_then(|rest| rest.strip_prefix(b"=")) {
                other.rank.set(value);
            }
        });
        // What LD_PRELOAD says a static program does not do, and who is linked
        // to the recorder needs none.
        each_piece(maps, b'\n', buffer, |line| {
            let line = line.strip_suffix(b" (deleted)").unwrap_or(line);
            // Who reads logs maps them as well, but not to write.
            let is_log = line.ends_with(b".memlog") && line.windows(6).any(|it| it == b" rw-s ");
            other.is_recorded |= is_log || line.ends_with(b"/libmemlog.so");
        });
        other
    }
}

/// The parent, where this process has its rank from it.
pub fn rank_parent(rank: &[u8], rank_by: &[u8], buffer: &mut [u8]) -> Option<u32> {
    let pid = Os::parent_pid();
    // Blue Gene's kernel tells no parent.
    if rank.is_empty() || rank_by.is_empty() || pid == 0 {
        return None;
    }
    let parent = Other::of(pid, rank_by, buffer);
    let is_ours = parent.is_recorded && parent.rank.get() == rank;
    // It may end meanwhile, and its number be another's.
    (is_ours && Os::parent_pid() == pid).then_some(pid)
}

#[cfg(test)]
mod tests {
    use super::{Other, is_wanted};

    #[test]
    fn lists_of_ranks() {
        for (list, rank, wanted) in [
            ("", Some(3), Some(true)),
            ("", None, Some(true)),
            ("3", Some(3), Some(true)),
            ("0,2-4", Some(1), Some(false)),
            ("0,2-4", None, Some(true)),
            ("4-2", None, None),
            ("4-2,1", Some(1), None),
            ("1,x", Some(1), None),
        ] {
            assert_eq!(is_wanted(list.as_bytes(), rank), wanted, "{list} {rank:?}");
        }
    }

    #[test]
    fn of_another_process_its_rank_and_recorder_are_known() {
        let file = |kind: &str| {
            let name = format!("memlog-other-{kind}-{}", std::process::id());
            std::env::temp_dir().join(name)
        };
        let (environment, maps) = (file("environment"), file("maps"));
        let zero_ended = |path: &std::path::Path| format!("{}\0", path.display());
        let by = |buffer: &mut [u8]| {
            let (environment, maps) = (zero_ended(&environment), zero_ended(&maps));
            Other::by(environment.as_bytes(), maps.as_bytes(), b"PMI_RANK", buffer)
        };
        let told = |entries: &[&str], lines: &[&str]| {
            std::fs::write(&environment, entries.join("\0") + "\0").unwrap();
            std::fs::write(&maps, lines.join("\n") + "\n").unwrap();
            let other = by(&mut [0; 256]);
            let rank = String::from_utf8(other.rank.get().to_vec()).unwrap();
            (other.is_recorded, rank)
        };
        let code = "55a0-55b0 r-xp 0 08:01 7 /usr/bin/solver";
        let library = "7f00-7f10 r-xp 0 08:01 9   /opt/lib/libmemlog.so";
        let log = "7f20-7f40 rw-s 0 08:01 8   /home/me/77.node.3.memlog (deleted)";
        assert_eq!(told(&["HOME=/"], &[code]), (false, String::new()));
        let preload = "LD_PRELOAD=/opt/lib/libmemlog.so:other.so";
        assert_eq!(
            told(&["SLURM_PROCID=4", preload, "PMI_RANK=7"], &[code]),
            (false, "7".into())
        );
        let rank = ["PMI_RANKS=9", "PMI_RANK=", "SLURM_PROCID=4", "PMI_RANK=7"];
        assert_eq!(told(&rank, &[code, library]), (true, "7".into()));
        assert_eq!(told(&rank, &[code, log, code]), (true, "7".into()));
        let read = "7f20-7f40 r--s 0 08:01 8   /home/me/77.node.3.memlog";
        assert_eq!(told(&rank, &[read]), (false, "7".into()));
        for path in [&environment, &maps] {
            std::fs::remove_file(path).unwrap();
        }
        assert!(!by(&mut [0; 256]).is_recorded);
    }
}
