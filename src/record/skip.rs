//! `--skip-below`: removes the logs of processes that did little, when all has
//! ended. The recorder could not at a process' end: a forked child's log, which
//! may still come, names its parent's, and is not whole without that.
//!
//! What stays, however few its events:
//!
//! * the program's own log, a rank's, and that of the highest RSS peak
//! * a log without an end: its process was killed, crashed, or runs still
//! * one that says more: of lost events, for there were more than it has, or of
//!   calls that got no memory
//! * one that a kept log builds upon, or that of a process that is there

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use memlog_pages::{Few, counted, grouped, sized};

use super::log::Log;

/// What went.
pub struct Skipped {
    below: u64,
    /// How many logs there had been.
    before: usize,
    count: usize,
    events: u64,
    bytes: u64,
}

impl Skipped {
    /// In a sentence.
    pub fn told(&self) -> String {
        let were = if self.count == 1 { "was" } else { "were" };
        format!(
            "{} of {} had fewer than {} and {were} removed: {}, {}",
            grouped(self.count as u64),
            counted(self.before as u64, "log"),
            counted(self.below, "event"),
            counted(self.events, "event"),
            sized(self.bytes)
        )
    }
}

/// Removes the logs of the run whose processes had fewer events than `below`;
/// `child` is the program's own number. What cannot be removed stays.
pub fn remove(logs: &mut Vec<Log>, below: u64, child: u32, run: &str) -> Skipped {
    let going = going(logs, below, child, run, &Survivors::look(run));
    let before = logs.len();
    let mut skipped = Skipped {
        below,
        before,
        count: 0,
        events: 0,
        bytes: 0,
    };
    let mut index = 0;
    logs.retain(|log| {
        let goes = going.contains(&index) && log.remove().is_ok();
        index += 1;
        if let Some(few) = log.few.as_ref().filter(|_| goes) {
            skipped.count += 1;
            skipped.events = skipped.events.saturating_add(few.events);
            skipped.bytes = skipped.bytes.saturating_add(log.bytes);
        }
        !goes
    });
    skipped
}

/// Which of them may go, by their places.
fn going(logs: &[Log], below: u64, child: u32, run: &str, survivors: &Survivors) -> HashSet<usize> {
    let mut of_pid: HashMap<u32, Vec<usize>> = HashMap::new();
    for (at, log) in logs.iter().enumerate() {
        of_pid.entry(log.pid).or_default().push(at);
    }
    // A child that has a log says there what it needs.
    let may_come = |pid: &u32| !of_pid.contains_key(pid) && survivors.may_have(*pid);
    let largest = (0..logs.len()).max_by_key(|&at| logs[at].rss_peak_kb);
    let may_go = |at: &usize| {
        let log = &logs[*at];
        let is_little = |few: &Few| few.events < below && !few.forked.iter().any(may_come);
        Some(*at) != largest
            && log.run == run
            && log.pid != child
            && log.has_end
            && !log.says_more
            && log.unlogged.0 == 0
            && log.few.as_ref().is_some_and(is_little)
    };
    let mut going: HashSet<usize> = (0..logs.len()).filter(may_go).collect();
    // A log that is kept needs its parent's, and that its own parent's.
    let mut kept: Vec<usize> = (0..logs.len()).filter(|at| !going.contains(at)).collect();
    while let Some(at) = kept.pop() {
        let parents = logs[at].parent.and_then(|parent| of_pid.get(&parent));
        let needed = parents.into_iter().flatten();
        kept.extend(needed.filter(|parent| going.remove(parent)));
    }
    going
}

/// Processes of the run that are there yet: what they were forked from they may
/// still name in a log of their own.
struct Survivors {
    is_any: bool,
}

impl Survivors {
    fn look(run: &str) -> Self {
        let setting = format!("MEMLOG_RUN={run}");
        let is_one = |folder: &Path| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            let mut variables = environment.split(|&byte| byte == 0);
            variables.any(|variable| variable == setting.as_bytes())
        };
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        Self {
            is_any: entries.map(|entry| entry.path()).any(|path| is_one(&path)),
        }
    }

    /// Whether a process that was forked, or one that it forked, may be there;
    /// 0 is one whose number is not known. A server may have overwritten its
    /// environment by its title, so its number is asked for as well.
    fn may_have(&self, pid: u32) -> bool {
        self.is_any || pid == 0 || Path::new("/proc").join(pid.to_string()).exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of a process that ended in order with two events.
    fn log(pid: u32, parent: Option<u32>) -> Log {
        Log {
            few: Some(Few {
                events: 2,
                forked: Vec::new(),
            }),
            run: "run".into(),
            ..Log::of(pid, parent)
        }
    }

    fn gone(logs: &[Log], is_any: bool) -> Vec<u32> {
        let going = going(logs, 10, 1, "run", &Survivors { is_any });
        let mut gone: Vec<u32> = going.into_iter().map(|at| logs[at].pid).collect();
        gone.sort_unstable();
        gone
    }

    #[test]
    fn what_says_more_stays() {
        let mut logs: Vec<Log> = (1..=9).map(|pid| log(pid, None)).collect();
        logs[1].has_end = false;
        logs[2].few = None;
        logs[3].rss_peak_kb = 9;
        logs[4].run = "another".into();
        logs[5].says_more = true;
        logs[6].unlogged = (1, 0);
        assert_eq!(gone(&logs, false), [8, 9]);
    }

    #[test]
    fn the_parents_of_what_stays_stay() {
        let mut logs = vec![
            log(1, None),
            log(2, Some(1)),
            log(3, Some(2)),
            log(4, Some(3)),
            log(5, Some(2)),
            log(6, None),
        ];
        assert_eq!(gone(&logs, false), [2, 3, 4, 5]);
        logs[3].few = None;
        assert_eq!(gone(&logs, false), [5]);
    }

    #[test]
    fn who_forked_a_survivor_stays() {
        let mut logs = vec![log(1, None), log(2, None), log(3, None), log(4, None)];
        logs[3].rss_peak_kb = 1;
        logs[1].few.as_mut().expect("few").forked = vec![0];
        assert_eq!(gone(&logs, false), [3]);
        // Numbers go up to 4,194,304.
        logs[1].few.as_mut().expect("few").forked = vec![5_000_000];
        assert_eq!(gone(&logs, false), [2, 3]);
        assert_eq!(gone(&logs, true), [3]);
        logs[1].few.as_mut().expect("few").forked = vec![std::process::id()];
        assert_eq!(gone(&logs, false), [3]);
    }
}
