//! Where a process stands in a parallel job.

use memlog_format::meta::Key;
use memlog_read::Log;

use crate::words::clean;

/// `rank 3 of job 77`, `child of rank 3`, `job 77`; nothing of a program that
/// was started by no launcher.
pub fn place(log: &Log) -> Option<String> {
    let [rank, job] = [Key::Rank, Key::Job].map(|key| log.text(key).map(clean));
    let child = match log.rank_parent() {
        Some(_) => "child of ",
        None => "",
    };
    let rank = rank.map(|rank| format!("{child}rank {rank}"));
    let job = job.map(|job| format!("job {job}"));
    match (rank, job) {
        (Some(rank), Some(job)) => Some(format!("{rank} of {job}")),
        (rank, job) => rank.or(job),
    }
}
