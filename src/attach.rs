//! `memlog attach` and `memlog detach`: recording in a program that runs already.
//!
//! What is done to the program is `memlog_inject`'s; here is what is said of it, where the
//! log goes, and how the recorder is asked to begin and to end.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

use memlog_inject::{Attached, Refusal, State, Wanted};
use memlog_pages::strip::nanoseconds;
use memlog_pages::{Advice, clean, out, process, shown, typed};

use crate::ctl::{self, Turned};
use crate::ends::Ends;
use crate::record::bytes_of;
use crate::recorder;

/// Record a program that runs already
#[derive(clap::Args)]
pub struct Args {
    /// The process
    #[arg(value_name = "PID")]
    pid: u32,
    /// Record for this time, such as 30s or 5m, wait for its end, and detach; Ctrl-C ends it
    /// earlier
    #[arg(long = "for", value_name = "TIME", value_parser = nanoseconds)]
    lasts: Option<u64>,
    /// Name of the log, or a folder, as for record; the program makes it, with the rights that it has
    #[arg(short, long, value_name = "PATTERN")]
    output: Option<OsString>,
    /// Stop growing the log at this size, such as 500M or 2G; below 256K means 256K
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    max_log: Option<u64>,
    /// Keep the stack of each release too
    #[arg(long)]
    free_stacks: bool,
    /// How long to look for a moment at which the program can be stopped, and for its first
    /// call [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    wait: Option<u64>,
}

/// End the recording that attach began, and leave the program alone
#[derive(clap::Args)]
pub struct DetachArgs {
    /// The process
    #[arg(value_name = "PID")]
    pid: u32,
    /// How long to look for a moment at which the program can be stopped [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds)]
    wait: Option<u64>,
}

const LOOK_EVERY: Duration = Duration::from_millis(2);

fn patience(wait: Option<u64>) -> Duration {
    Duration::from_nanos(wait.unwrap_or(5_000_000_000))
}

/// Records.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let pid = args.pid;
    let patience = patience(args.wait);
    refuse_recorded(pid, args.lasts.is_some())?;
    let place = Place::of(pid, args.output.as_deref())?;
    let mut settings = vec![place.setting.clone()];
    settings.extend(args.max_log.map(|size| format!("MEMLOG_MAX_LOG={size}")));
    settings.extend(args.free_stacks.then(|| "MEMLOG_FREE_STACKS=1".to_owned()));
    let wanted = Wanted {
        library: recorder::SHARED.bytes,
        settings: &settings,
        folder: &place.folder,
        patience,
    };
    let ends = args.lasts.map(|_| Ends::catch()).transpose()?;
    let attached = memlog_inject::attach(pid, &wanted).map_err(|why| error(pid, why))?;
    let end = args
        .lasts
        .map(|ns| Instant::now() + Duration::from_nanos(ns));
    // Also where the program never allocates it lasts as long as it is to.
    let first = args
        .lasts
        .map_or(patience, |ns| patience.min(Duration::from_nanos(ns)));
    if let Err(why) = watch(args, &attached, &place, first) {
        // Nobody would know that it is recorded.
        if is_there(pid) {
            let _ = leave(pid, patience);
        }
        return Err(why);
    }
    let (Some(end), Some(ends)) = (end, ends) else {
        return Ok(ExitCode::SUCCESS);
    };
    while Instant::now() < end && !ends.flag().load(Ordering::Relaxed) && is_there(pid) {
        sleep(Duration::from_millis(10).min(end - Instant::now().min(end)));
    }
    match is_there(pid) {
        true => leave(pid, patience),
        false => say(pid, "it has ended").map(|()| ExitCode::SUCCESS),
    }
}

/// Until it records, if it does soon, and says so.
fn watch(
    args: &Args,
    attached: &Attached,
    place: &Place,
    patience: Duration,
) -> anyhow::Result<()> {
    let pid = args.pid;
    let begun = begin(pid, attached.is_new, patience)?;
    let is_elsewhere = args.output.is_some() && begun.as_ref() != Some(&place.path);
    let has_settings = is_elsewhere || args.max_log.is_some() || args.free_stacks;
    if !attached.is_new && has_settings {
        say(
            pid,
            "its recorder is that of an earlier attach, whose log goes on: -o, --max-log and \
             --free-stacks change nothing",
        )?;
    }
    let stood = attached.stood.as_secs_f64() * 1e3;
    let sentence = match &begun {
        Some(log) => format!("recording into {}", typed(log)),
        None => "recording begins when it allocates or frees next".to_owned(),
    };
    say(
        pid,
        &format!("{sentence}; it stood still for {stood:.1} ms"),
    )
}

/// Ends it.
pub fn detach(args: &DetachArgs) -> anyhow::Result<ExitCode> {
    leave(args.pid, patience(args.wait))
}

fn leave(pid: u32, patience: Duration) -> anyhow::Result<ExitCode> {
    /// A program that does not allocate does not answer.
    const FOR_ANSWER: Duration = Duration::from_secs(1);
    let log = match memlog_inject::state(pid) {
        Some(State::Alive) => log_of(pid),
        _ => None,
    };
    // One that was left before does not come by any more to answer.
    let was_on = log.is_some() && ctl::is_on(pid);
    let turned = match &log {
        // Whatever it answers, it is left.
        Some(_) if was_on => {
            ctl::turn(pid, false, patience.min(FOR_ANSWER)).unwrap_or(Turned::Silent)
        }
        _ => Turned::Done,
    };
    let is_silent = turned == Turned::Silent;
    let detached =
        memlog_inject::detach(pid, patience, is_silent).map_err(|why| error(pid, why))?;
    if is_silent {
        ctl::stop_for_good(pid)?;
    }
    if detached.changed == 0 && !was_on {
        say(pid, "nothing to do: it is not being recorded")?;
        return Ok(ExitCode::SUCCESS);
    }
    let stood = detached.stood.as_secs_f64() * 1e3;
    let whole = match (&log, turned) {
        (None, _) => "nothing was recorded".to_owned(),
        (Some(log), Turned::Silent) => format!(
            "{} has all of it; the program did not answer, and gets another log when it is \
             attached to again",
            typed(log)
        ),
        (Some(log), _) => format!("{} has all of it", typed(log)),
    };
    say(
        pid,
        &format!("recording has ended, {whole}; it stood still for {stood:.1} ms"),
    )?;
    Ok(ExitCode::SUCCESS)
}

/// A process that has a recorder of its own is asked by `memlog ctl`, and a recording that is on
/// is not to end by the `--for` of somebody else.
fn refuse_recorded(pid: u32, would_end: bool) -> anyhow::Result<()> {
    let hint = match memlog_inject::state(pid) {
        None if log_of(pid).is_some() => format!("memlog ctl {pid} start"),
        Some(State::Alive) if would_end && ctl::is_on(pid) => {
            format!("memlog detach {pid} ends that; without --for it goes on as it is")
        }
        _ => return Ok(()),
    };
    let sentence = format!("{}: it is recorded already", name_of(pid));
    Err(Advice::error(sentence, hint))
}

/// Waits for the recorder's first words, or asks one that was there to go on. Its log, if
/// it has one by then.
fn begin(pid: u32, is_new: bool, patience: Duration) -> anyhow::Result<Option<PathBuf>> {
    let end = Instant::now() + patience;
    loop {
        match memlog_inject::state(pid) {
            Some(State::Alive) => {
                let log = log_of(pid);
                if log.is_some() && !is_new {
                    ctl::turn(pid, true, patience)?;
                    return Ok(log);
                }
                // A log is made before recording is on: who asks it to stop then is told
                // that it has.
                if log.is_some() && ctl::is_on(pid) {
                    return Ok(log);
                }
            }
            Some(State::Stopped) => {
                memlog_inject::detach(pid, patience, true).map_err(|why| error(pid, why))?;
                return Err(Advice::error(
                    format!("{}: it could not make its log", name_of(pid)),
                    "there may be no room on the disk, or it is at a limit (ulimit -f, -n); choose another \
                     folder with -o",
                ));
            }
            Some(State::Waiting) => {}
            None if !is_there(pid) => return Err(anyhow::anyhow!("process {pid} has ended")),
            None => {}
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        sleep(LOOK_EVERY);
    }
}

fn log_of(pid: u32) -> Option<PathBuf> {
    process::log_if_any(pid).ok().flatten()
}

fn is_there(pid: u32) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok()
}

/// As lines begin.
fn name_of(pid: u32) -> String {
    match fs::read(format!("/proc/{pid}/comm")) {
        Ok(name) => format!("process {pid} ({})", clean(name.trim_ascii_end())),
        Err(_) => format!("process {pid}"),
    }
}

fn say(pid: u32, sentence: &str) -> anyhow::Result<()> {
    let mut out = out();
    writeln!(out, "{}: {sentence}", name_of(pid))?;
    Ok(out.flush()?)
}

fn error(pid: u32, refusal: Refusal) -> anyhow::Error {
    let sentence = format!("{}: {}", name_of(pid), clean(refusal.why.as_bytes()));
    Advice::error(sentence, clean(refusal.advice.as_bytes()))
}

/// Where the log goes, as the process sees it.
struct Place {
    setting: String,
    path: PathBuf,
    /// What is asked of the kernel before: a folder that is there.
    folder: PathBuf,
}

impl Place {
    fn of(pid: u32, given: Option<&OsStr>) -> anyhow::Result<Self> {
        let is_same = is_same_view(pid);
        let here = match is_same {
            true => std::env::current_dir()?,
            // Of a container: what this one's folder is called may be nothing there.
            false => PathBuf::from("/tmp"),
        };
        let path = here.join(given.unwrap_or_default());
        let mut seen = OsString::from(format!("/proc/{pid}/root"));
        seen.push(&path);
        let is_folder = given.is_none()
            || given.is_some_and(|given| given.as_bytes().ends_with(b"/"))
            || Path::new(&seen).is_dir();
        let text = path.to_str().filter(|text| !text.contains('\0'));
        let text = text.ok_or_else(|| {
            Advice::error(
                format!("the name {} is no text", shown(&path)),
                "choose another with -o",
            )
        })?;
        let name = match is_folder {
            true => "MEMLOG_DIR",
            false => "MEMLOG_OUTPUT",
        };
        let folder = match is_folder {
            true => path.as_path(),
            false => path.parent().unwrap_or(Path::new("/")),
        };
        // The recorder makes those with codes in their names.
        let mut above = folder.ancestors();
        let plain = above.find(|one| !one.as_os_str().as_bytes().contains(&b'%'));
        let folder = plain.unwrap_or(Path::new("/")).to_owned();
        Ok(Self {
            setting: format!("{name}={text}"),
            folder,
            path,
        })
    }
}

/// Whether files have the same names for a process as for this one.
fn is_same_view(pid: u32) -> bool {
    let of = |what: &str| {
        let names = [format!("/proc/{pid}/{what}"), format!("/proc/self/{what}")];
        let [theirs, ours] = names.map(|name| fs::read_link(name).ok());
        theirs == ours
    };
    of("ns/mnt") && of("root")
}
