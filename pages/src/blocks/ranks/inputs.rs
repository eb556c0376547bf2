//! Which files count: of each rank its own process, of one job.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use memlog_answers::{LeftOut, Process, Ranks};
use memlog_format::meta::Key;

use super::part::{self, Taken};
use crate::choose::{each_once, most_of_each};
use crate::open::{Glance, Identity, Wholeness, each};
use crate::words::{Advice, clean, counted, typed};

/// Outside a job; also the folder of a data set.
pub const NO_JOB: &str = "none";
const UNREADABLE: &str = "cannot be read as a log";
const NO_RANK: &str = "not of a rank";
const CHILD: &str = "child of a rank";
const COPY: &str = "the same process as another file";
const SAME_ANSWER: &str = "the same answer as another file";
const IN_ANSWER: &str = "counted in an answer that is given too";
const ANOTHER: &str = "another process of its rank, with a lower RSS peak";
const UNREAD: &str = "another process of its rank, whose RSS peak is not known";
/// What the logs of a rank's process cannot answer.
pub const UNANSWERED: &str = "cannot be asked that";

/// What was found at some names.
pub struct Inputs {
    /// The job of all of them, if there is a log.
    pub job: Option<String>,
    /// Logs of ranks, one for each.
    pub logs: Vec<Log>,
    /// Answers of earlier commands.
    pub parts: Vec<(PathBuf, Taken)>,
    /// What of it does not count.
    pub left_out: Ranks,
    /// Logs of ranks of other jobs.
    pub of_other_jobs: u64,
}

/// A log of a rank's process.
pub struct Log {
    pub path: PathBuf,
    pub job: String,
    pub rank: u64,
    pub node: String,
    pub pid: u32,
    pub start_unix_ns: u64,
    identity: Option<Identity>,
    wholeness: Wholeness,
}

enum Looked {
    Log(Log),
    Part(Box<Taken>),
    LeftOut(&'static str, String),
}

/// All that names stand for; of several jobs the one that is named.
pub fn found(names: &[PathBuf], job: Option<&str>, option: &str) -> anyhow::Result<Inputs> {
    let paths = each_once(names)?;
    let mut inputs = Inputs {
        job: None,
        logs: Vec::new(),
        parts: Vec::new(),
        left_out: Ranks::default(),
        of_other_jobs: 0,
    };
    let (mut unreadable, mut unread) = (None, 0);
    for (looked, path) in each(&paths, |path| look(path)).into_iter().zip(&paths) {
        match looked {
            Ok(Looked::Log(log)) => inputs.logs.push(log),
            Ok(Looked::Part(part)) => inputs.parts.push((path.clone(), *part)),
            Ok(Looked::LeftOut(why, says)) => inputs.leave_out(path, why, says),
            Err(error) => {
                inputs.leave_out(path, UNREADABLE, format!("{error:#}"));
                unreadable.get_or_insert(error);
                unread += 1;
            }
        }
    }
    if inputs.logs.is_empty() && inputs.parts.is_empty() {
        let count = counted(paths.len() as u64, "file");
        return Err(match unreadable {
            Some(error) if unread == paths.len() => error,
            _ => Advice::error(
                format!("of {count} none is a log of a rank"),
                "memlog info --list says of which process each is; a rank's has the launcher's \
                 number of it, or MEMLOG_RANK: doc/HPC.md",
            ),
        });
    }
    inputs.choose_job(job, option)?;
    inputs.choose_copies();
    inputs.choose_parts();
    inputs.choose_processes();
    Ok(inputs)
}

fn look(path: &Path) -> anyhow::Result<Looked> {
    if let Some(part) = part::read(path)? {
        return Ok(Looked::Part(Box::new(part)));
    }
    let glance = Glance::take(path)?;
    let log = glance.log()?;
    let text = |key: Key| log.text(key).map(clean);
    let rank = text(Key::Rank).unwrap_or_default();
    // As a data set has them.
    let number = rank.parse::<i64>().ok();
    let Some(rank) = number.and_then(|rank| u64::try_from(rank).ok()) else {
        let says = match rank.is_empty() {
            true => "it has no rank".to_owned(),
            false => format!("its rank is {rank}, which is no number"),
        };
        return Ok(Looked::LeftOut(NO_RANK, says));
    };
    if let Some(parent) = log.rank_parent() {
        let says = format!("process {parent} started it, which has rank {rank} too");
        return Ok(Looked::LeftOut(CHILD, says));
    }
    let start = log.start();
    Ok(Looked::Log(Log {
        path: path.to_owned(),
        job: text(Key::Job).unwrap_or_else(|| NO_JOB.to_owned()),
        rank,
        node: text(Key::Host).unwrap_or_else(|| "unknown".to_owned()),
        pid: start.map_or(0, |start| start.pid),
        start_unix_ns: start.map_or(0, |start| start.wall_ns),
        identity: Identity::of(&log),
        wholeness: glance.wholeness()?,
    }))
}

impl Inputs {
    fn leave_out(&mut self, path: &Path, why: &str, says: String) {
        let file = LeftOut::one(typed(path), clean(says.as_bytes()));
        self.left_out.leave_out(why, file);
    }

    /// Figures of two jobs have no sum.
    fn choose_job(&mut self, wanted: Option<&str>, option: &str) -> anyhow::Result<()> {
        let mut jobs: BTreeMap<&str, u64> = BTreeMap::new();
        for log in &self.logs {
            *jobs.entry(&log.job).or_default() += 1;
        }
        for (_, part) in &self.parts {
            *jobs.entry(&part.job).or_default() += part.ranks.processes().len() as u64;
        }
        let told = |jobs: &BTreeMap<&str, u64>| {
            let jobs = jobs.iter().take(5);
            let jobs = jobs.map(|(job, count)| format!("{job} ({})", counted(*count, "log")));
            jobs.collect::<Vec<_>>().join(", ")
        };
        let job = match (wanted, jobs.len()) {
            (Some(job), _) if jobs.contains_key(job) => job.to_owned(),
            (Some(job), _) => {
                return Err(Advice::error(
                    format!("no log is of job {}", clean(job.as_bytes())),
                    format!("the jobs are {}", told(&jobs)),
                ));
            }
            (None, 0 | 1) => jobs.keys().next().copied().unwrap_or(NO_JOB).to_owned(),
            (None, count) => {
                return Err(Advice::error(
                    format!("these are ranks of {count} jobs: {}", told(&jobs)),
                    format!("choose one: {option} JOB"),
                ));
            }
        };
        let all = self.logs.len() + self.parts.len();
        self.logs.retain(|log| log.job == job);
        self.parts.retain(|(_, part)| part.job == job);
        self.of_other_jobs = (all - self.logs.len() - self.parts.len()) as u64;
        self.job = Some(job);
        Ok(())
    }

    /// Of files of the same process the one that has most of it; of equals the first.
    fn choose_copies(&mut self) {
        let logs = std::mem::take(&mut self.logs).into_iter();
        let logs = logs.map(|log| (log.identity.clone(), log.wholeness, log));
        let (chosen, copies) = most_of_each(logs);
        for (log, _) in copies {
            let says = format!("process {} of {}", log.pid, log.node);
            self.leave_out(&log.path, COPY, says);
        }
        self.logs = chosen;
    }

    /// An answer that is there twice counts once, and a log that is in an answer counts
    /// there.
    fn choose_parts(&mut self) {
        let mut parts: Vec<(PathBuf, Taken)> = Vec::new();
        for (path, part) in std::mem::take(&mut self.parts) {
            match parts.iter().find(|(_, known)| *known == part) {
                Some((known, _)) => {
                    let says = format!("{} has the same answer", typed(known));
                    self.leave_out(&path, SAME_ANSWER, says);
                }
                None => parts.push((path, part)),
            }
        }
        let processes = parts.iter().flat_map(|(_, part)| part.ranks.processes());
        let key = |process: &Process| (process.node.clone(), process.pid, process.start_unix_ns);
        let answered: HashSet<_> = processes.map(key).collect();
        for log in std::mem::take(&mut self.logs) {
            let is_known = log.identity.is_some()
                && answered.contains(&(log.node.clone(), log.pid, log.start_unix_ns));
            match is_known {
                true => {
                    let says = format!("process {} of {}", log.pid, log.node);
                    self.leave_out(&log.path, IN_ANSWER, says);
                }
                false => self.logs.push(log),
            }
        }
        self.parts = parts;
    }

    /// Of a rank that has several the one that was biggest.
    fn choose_processes(&mut self) {
        let mut by_rank: HashMap<u64, Vec<Log>> = HashMap::new();
        for log in std::mem::take(&mut self.logs) {
            by_rank.entry(log.rank).or_default().push(log);
        }
        for (rank, mut logs) in by_rank {
            if logs.len() == 1 {
                self.logs.extend(logs);
                continue;
            }
            let peak = |log: &Log| {
                let peak = Glance::take(&log.path).and_then(|log| log.rss_peak_bytes());
                peak.unwrap_or(0)
            };
            let mut by_peak: Vec<(u64, Log)> =
                logs.drain(..).map(|log| (peak(&log), log)).collect();
            by_peak.sort_by_key(|(peak, log)| {
                (*peak, std::cmp::Reverse((log.start_unix_ns, log.pid)))
            });
            let chosen = by_peak.pop().map(|(_, log)| log);
            for (peak, log) in by_peak {
                let says = format!("process {} is of rank {rank} too", log.pid);
                self.leave_out(&log.path, if peak > 0 { ANOTHER } else { UNREAD }, says);
            }
            self.logs.extend(chosen);
        }
        self.logs.sort_by_key(|log| log.rank);
    }
}

/// Two nodes' answers may have a rank of two processes: neither can be taken back.
pub fn check_once(ranks: &Ranks) -> anyhow::Result<()> {
    let Some([one, other]) = ranks.twice() else {
        return Ok(());
    };
    let [first, second] = [&one.log, &other.log].map(|log| clean(log.as_bytes()));
    Err(Advice::error(
        format!(
            "rank {} is there twice: of {first} and of {second}",
            one.rank
        ),
        "give each node's answer once, and no log that is in one",
    ))
}
