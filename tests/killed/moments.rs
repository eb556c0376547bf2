//! When a victim is killed, and how that moment is met.

use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::common::gold;
use crate::common::pairs;
use crate::common::switcher::Switcher;
use crate::common::tools::{Folder, Random, tools};
use crate::victims::Victim;

/// A moment in the life of a victim, and what is waited on from there.
#[derive(Clone, Copy, Debug)]
pub enum Moment {
    /// So long after the start: all of its life is hit alike, or its beginning.
    Time,
    /// Once the first process has made so many events.
    Events(u64),
    /// Once its log has grown so often.
    Growth(u32),
    /// Once so many processes have begun.
    Process(usize),
    /// The same, and the youngest dies alone, the others a little later.
    Child(usize),
}

/// A moment and a delay.
#[derive(Clone, Copy, Debug)]
pub struct When {
    pub moment: Moment,
    pub delay: Duration,
}

/// What a victim is like when nobody kills it; of one that ends.
#[derive(Clone, Copy, Default)]
pub struct Life {
    pub span: Duration,
    pub events: u64,
}

/// No kill by events comes before as many.
pub const AT_LEAST: u64 = 1000;
/// Who has not come to his moment by then is killed where he is.
const LONGEST: Duration = Duration::from_secs(2);
/// The time that is hit alike of one that goes on for ever.
const SPAN: Duration = Duration::from_millis(120);
/// From exec to main and the first blocks.
const START: Duration = Duration::from_millis(6);

impl When {
    /// A moment that suits the victim.
    pub fn choose(victim: &Victim, life: &Life, random: &mut Random) -> Self {
        let micros = |random: &mut Random, end: Duration| {
            Duration::from_micros(random.below(end.as_micros() as u64 + 1))
        };
        let soon = Duration::from_micros(random.below(400));
        let (moment, delay) = match random.below(10) {
            0 => (Moment::Time, micros(random, START)),
            1 | 2 => (Moment::Growth(1 + random.below(5) as u32), soon),
            3 | 4 if victim.forks => (Moment::Process(1 + random.below(12) as usize), soon),
            5 | 6 if victim.forks => (Moment::Child(1 + random.below(12) as usize), 5 * soon),
            // Its end, where it has one.
            3 | 7 if !victim.is_endless => {
                let last = life.events.saturating_sub(random.below(100));
                (Moment::Events(last), soon)
            }
            4 | 8 if !victim.is_endless => (Moment::Time, micros(random, life.span)),
            9 => (Moment::Time, micros(random, SPAN)),
            _ => {
                let spread = 1 << (9 + random.below(9));
                let least = AT_LEAST.min(life.events / 2);
                let least = if victim.is_endless { AT_LEAST } else { least };
                (Moment::Events(least + random.below(spread)), Duration::ZERO)
            }
        };
        Self { moment, delay }
    }

    /// What its kind is called in the figures.
    pub fn kind(&self) -> &'static str {
        match self.moment {
            Moment::Time => "by time",
            Moment::Events(_) => "by events",
            Moment::Growth(_) => "as the log grew",
            Moment::Process(_) => "about a fork",
            Moment::Child(_) => "a child alone",
        }
    }
}

/// Lives it to its end, for what that is like.
pub fn live(victim: &Victim, program: &Path) -> Life {
    let folder = Folder::new("life");
    let began = Instant::now();
    let mut child = start(victim, program, Switched::No, &folder);
    child.wait().expect("the victim ends");
    wait_for_group(child.id());
    let gold = folder.path().join(format!("gold.{}", child.id()));
    Life {
        span: began.elapsed(),
        events: gold::reserved(&gold).unwrap_or(0),
    }
}

fn start(victim: &Victim, program: &Path, switched: Switched, folder: &Folder) -> Child {
    let mut command = pairs::command(program, folder, &tools().gold);
    if matches!(switched, Switched::By(seed) if seed % 2 == 1) {
        command.env("MEMLOG_START_DISABLED", "1");
    }
    command
        .args(victim.args)
        .env("MEMLOG_OUTPUT", folder.path().join("%p.memlog"))
        .env("TORTURE", tools().victim("torture").unwrap_or_default())
        .current_dir(folder.path())
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("the victim starts")
}

/// Whether recording is switched meanwhile.
#[derive(Clone, Copy, Debug)]
pub enum Switched {
    /// It is on.
    No,
    /// From these random numbers; the last tells whether it is on at first.
    By(u64),
}

/// Runs a victim and kills it, and its children. False if it had ended before.
pub fn run_and_kill(
    victim: &Victim,
    program: &Path,
    when: &When,
    switched: Switched,
    folder: &Folder,
) -> bool {
    let mut child = start(victim, program, switched, folder);
    let switcher = match switched {
        Switched::No => None,
        Switched::By(seed) => Some(Switcher::start(folder.path(), seed)),
    };
    let watch = Watch {
        gold: folder.path().join(format!("gold.{}", child.id())),
        log: folder.path().join(format!("{}.memlog", child.id())),
        folder: folder.path(),
    };
    let until = Instant::now() + LONGEST;
    let mut has_ended = false;
    while !watch.is_met(when.moment) {
        has_ended = is_over(child.id());
        if has_ended || Instant::now() > until {
            break;
        }
    }
    let mut killed_alone = false;
    if let Moment::Child(_) = when.moment
        && !has_ended
    {
        killed_alone = kill_youngest(folder.path(), child.id());
    }
    let met = Instant::now();
    while met.elapsed() < when.delay {
        std::hint::spin_loop();
    }
    // SAFETY: no memory is involved; the group is the child's own, which has
    // not been waited for: nobody else can have its number.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let status = child.wait().expect("the victim ends");
    wait_for_group(child.id());
    switcher.map(Switcher::end);
    killed_alone || status.signal() == Some(libc::SIGKILL)
}

/// What can be seen of a victim from outside.
struct Watch<'f> {
    gold: PathBuf,
    log: PathBuf,
    folder: &'f Path,
}

impl Watch<'_> {
    fn is_met(&self, moment: Moment) -> bool {
        match moment {
            Moment::Time => true,
            Moment::Events(events) => gold::reserved(&self.gold).unwrap_or(0) >= events,
            Moment::Growth(nth) => {
                // Windows double, from 256 KiB.
                let bytes = std::fs::metadata(&self.log).map_or(0, |about| about.blocks() * 512);
                bytes >= (128 << 10) << nth
            }
            Moment::Process(nth) | Moment::Child(nth) => gold_files(self.folder).len() > nth,
        }
    }
}

/// The processes that the second recorder has seen begin, with their files.
fn gold_files(folder: &Path) -> Vec<(u32, PathBuf)> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| {
        let name = entry.file_name();
        let pid = name.to_str()?.strip_prefix("gold.")?.split('.').next()?;
        Some((pid.parse().ok()?, entry.path()))
    });
    files.collect()
}

/// Kills the process that began last, if it is another than the first, and
/// still of the group.
fn kill_youngest(folder: &Path, first: u32) -> bool {
    let youngest = gold_files(folder)
        .into_iter()
        .filter(|(pid, _)| *pid != first)
        .max_by_key(|(_, path)| {
            std::fs::metadata(path)
                .and_then(|about| about.created())
                .ok()
        });
    let Some((pid, _)) = youngest else {
        return false;
    };
    // SAFETY: no memory is involved; the descriptor means one process, which is
    // looked at before it is killed, whatever becomes of its number.
    unsafe {
        let fd = libc::syscall(libc::SYS_pidfd_open, pid, 0);
        if fd < 0 {
            return false;
        }
        let is_ours = libc::getpgid(pid as i32) == first as i32;
        let killed = is_ours
            && libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, 0usize, 0) == 0;
        libc::close(fd as i32);
        killed
    }
}

/// Whether a child has ended, which stays to be waited for.
fn is_over(pid: u32) -> bool {
    // SAFETY: a structure of numbers, which zeros are.
    let mut about: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the answer is written where it may be, and read only after.
    unsafe { libc::waitid(libc::P_PID, pid, &mut about, how) == 0 && about.si_pid() == pid as i32 }
}

/// Waits for the children of a victim that has ended: they have become ours.
fn wait_for_group(group: u32) {
    let mut status = 0;
    // SAFETY: the status is written where it may be.
    while unsafe { libc::waitpid(-(group as i32), &mut status, 0) } > 0 {}
}
