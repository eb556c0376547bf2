//! `memlog follow`: what a program does, as a text that grows while it runs.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread::sleep;
use std::time::{Duration, Instant};

use memlog_pages::live::{Every, Snapshots};
use memlog_pages::live::{Live, Target, prometheus, target, top_ten};
use memlog_pages::{
    Advice, Filter, Interrupt, Labels, NameStore, Sources, SymbolFiles, every, keeps_stack,
    process, shown, tell_note,
};
use memlog2dot::OneFile;

/// Write what a program allocates, again and again while it runs.
#[derive(clap::Args)]
pub struct Args {
    /// The log, or the number of a process that is recorded
    #[arg(value_name = "FILE|PID")]
    target: PathBuf,
    /// A snapshot each time that so many bytes came and went [default: 1MiB, without --every]
    #[arg(long, value_name = "SIZE", value_parser = churn)]
    every_churn: Option<u64>,
    /// A snapshot each time that so much time passed, as 30s or 5m
    #[arg(long, value_name = "TIME", value_parser = duration)]
    every: Option<u64>,
    /// Write the N stacks that hold most at each snapshot, the largest last, as mem-trace did
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "10")]
    top: Option<usize>,
    /// Append to this file instead of writing to stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the figures for Prometheus into this file, which is replaced each time; alone, or
    /// beside the text with -o
    #[arg(long, value_name = "FILE")]
    prometheus: Option<PathBuf>,
    /// How many functions the figures for Prometheus name, those that hold most
    #[arg(long, value_name = "N", default_value = "50", requires = "prometheus")]
    sites: usize,
    /// Wait for the log, or for the process to have one
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    filter: Filter,
    #[command(flatten)]
    symbol_files: SymbolFiles,
}

/// What pmem was built with.
const CHURN: u64 = 1 << 20;
/// How long there is nothing to see at most.
const STEP: Duration = Duration::from_secs(1);
/// A shorter step would keep a processor busy.
const LEAST_STEP: Duration = Duration::from_millis(100);
/// So long a log may be without events.
const PATIENCE: Duration = Duration::from_secs(5);
const ELSEWHERE: &str = "give another file to --prometheus";

fn churn(text: &str) -> Result<u64, String> {
    match every(text) {
        Ok(Every::Churn(bytes)) => Ok(bytes),
        _ => Err("give a size with its unit, as 1MiB or 512K".into()),
    }
}

fn duration(text: &str) -> Result<u64, String> {
    match every(text) {
        Ok(Every::Ns(ns)) => Ok(ns),
        _ => Err("give a time with its unit, as 30s, 500ms or 2m".into()),
    }
}

/// Follows a log until its program ends.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::catch();
    let came = || interrupt.as_ref().is_some_and(Interrupt::came);
    let Some(path) = found(args, &came)? else {
        return Ok(ExitCode::SUCCESS);
    };
    let store = NameStore::default();
    let live = Live::open(&path, &args.symbol_files, &store)?;
    let written = args.prometheus.as_deref();
    // A job of another user's collects it.
    let written = written.map(|to| OneFile::with_mode(to, 0o644, ELSEWHERE));
    let follower = Follower {
        args,
        live,
        snapshots: None,
        teller: Teller {
            sources: None,
            out: out_of(args)?,
            is_timed: args.every.is_some(),
            threshold: match args.every {
                Some(_) => args.every_churn,
                None => args.every_churn.or(Some(CHURN)),
            },
            filter: &args.filter,
            is_top: args.top.is_some(),
            count: 0,
        },
        written: written.transpose()?,
        told_rewritten: false,
        due: None,
    };
    follower.run(&came)
}

/// The log; nothing if nobody wants to wait for it any longer.
fn found(args: &Args, came: &dyn Fn() -> bool) -> anyhow::Result<Option<PathBuf>> {
    loop {
        match target(&args.target)? {
            Target::Log(path) if !args.wait || path.exists() => return Ok(Some(path)),
            Target::Log(_) => {}
            Target::Several(path) => {
                return Err(Advice::error(
                    format!("follow takes one log, and {} is several", shown(&path)),
                    "give one of its logs, or a PID; memlog top shows all of a folder",
                ));
            }
            Target::Process(pid) if !args.wait => return process::log_of(pid).map(Some),
            Target::Process(_) => {}
        }
        if came() {
            return Ok(None);
        }
        sleep(LEAST_STEP);
    }
}

/// Where the text goes; nothing where only Prometheus was asked for.
fn out_of(args: &Args) -> anyhow::Result<Option<Box<dyn Write>>> {
    match (&args.output, &args.prometheus) {
        (None, None) => Ok(Some(Box::new(io::stdout()))),
        (None, Some(_)) => Ok(None),
        (Some(path), _) => {
            // What stands in it may be another run's, and stays.
            let file = OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o600)
                .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
                .open(path)
                .map_err(|error| {
                    Advice::error(
                        format!("unable to open '{}': {error}", shown(path)),
                        "give another file: memlog follow -o FILE",
                    )
                })?;
            Ok(Some(Box::new(file)))
        }
    }
}

/// Writes snapshots as they come.
struct Teller<'a> {
    sources: Option<Sources>,
    out: Option<Box<dyn Write>>,
    /// Whether each snapshot says when it is.
    is_timed: bool,
    threshold: Option<u64>,
    filter: &'a Filter,
    /// Whether stacks are written later, and snapshots only say when.
    is_top: bool,
    /// How many there were.
    count: u64,
}

impl Teller<'_> {
    fn take(&mut self, snapshots: &mut Snapshots, labels: &mut Labels) -> anyhow::Result<()> {
        let threshold = self.threshold;
        let tick_ns = self.is_timed.then(|| snapshots.tick_ns());
        let base = snapshots.recorded_base();
        let sources = self
            .sources
            .get_or_insert_with(|| Sources::new(base, threshold, tick_ns));
        let mut written = Ok(());
        snapshots.drain(|one, changes| {
            self.count += 1;
            if self.is_top || written.is_err() {
                return;
            }
            let keeps = |stack, labels: &mut Labels| keeps_stack(stack, self.filter, labels);
            let text = sources.next((one, changes), labels, keeps);
            if let Some(out) = &mut self.out {
                written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
            }
        });
        Ok(written?)
    }

    fn say(&mut self, text: &str) -> io::Result<()> {
        match &mut self.out {
            Some(out) => out.write_all(text.as_bytes()).and_then(|()| out.flush()),
            None => Ok(()),
        }
    }
}

struct Follower<'a, 'n> {
    args: &'a Args,
    live: Live<'n>,
    snapshots: Option<Snapshots>,
    teller: Teller<'a>,
    written: Option<OneFile>,
    told_rewritten: bool,
    /// When the next text is due where no snapshot says so.
    due: Option<Instant>,
}

impl Follower<'_, '_> {
    fn run(mut self, came: &dyn Fn() -> bool) -> anyhow::Result<ExitCode> {
        let begun = Instant::now();
        let step = match self.args.every {
            Some(ns) => STEP.min(Duration::from_nanos(ns)).max(LEAST_STEP),
            None => STEP,
        };
        let mut next = begun;
        loop {
            let is_begun = self.look()?;
            let is_last = self.live.is_over() || came();
            if is_begun {
                self.tell(is_last)?;
            } else if !self.args.wait && begun.elapsed() > PATIENCE {
                return Err(Advice::error(
                    format!("{} has no events", shown(self.live.path())),
                    "give --wait if its program is starting",
                ));
            }
            if is_last {
                return Ok(ExitCode::SUCCESS);
            }
            next = (next + step).max(Instant::now());
            while Instant::now() < next && !came() {
                sleep(LEAST_STEP.min(next.saturating_duration_since(Instant::now())));
            }
        }
    }

    /// Reads what is new, and writes the snapshots of it; whether the log says what it is of.
    fn look(&mut self) -> anyhow::Result<bool> {
        if self.snapshots.is_none() && !self.live.seen().is_rewritten {
            self.snapshots = Some(self.new_snapshots());
        }
        let teller = &mut self.teller;
        let is_begun = self
            .live
            .read(&mut self.snapshots, &mut |snapshots, labels| {
                teller.take(snapshots, labels)
            })?;
        if self.live.seen().is_rewritten && !self.told_rewritten {
            self.told_rewritten = true;
            tell_note(
                "a flight recorder overwrites its oldest events, and --cull leaves events out, so \
                 what came and went of each stack is not known; give --top or --prometheus for \
                 what is live",
            );
        }
        Ok(is_begun)
    }

    fn new_snapshots(&self) -> Snapshots {
        let args = self.args;
        // How long a tick is the log says later.
        let (every, beside) = match (args.every_churn, args.every) {
            (None, None) => (Every::Churn(CHURN), None),
            (Some(bytes), ns) => (Every::Churn(bytes), ns),
            (None, Some(ns)) => (Every::Ns(ns), None),
        };
        Snapshots::new(Some(every), self.live.seen().tick_ns).and_every_ns(beside)
    }

    /// What is due behind a look.
    fn tell(&mut self, is_last: bool) -> anyhow::Result<()> {
        let teller = &mut self.teller;
        self.live
            .pass_time(&mut self.snapshots, is_last, &mut |snapshots, labels| {
                teller.take(snapshots, labels)
            })?;
        let is_due = self.is_due(is_last);
        if self.args.top.is_some() && is_due || self.written.is_some() {
            let look = self.live.sum_up(&self.args.filter)?;
            if let Some(most) = self.args.top.filter(|_| is_due) {
                let text = top_ten(&mut self.live, &look, most)?;
                self.teller.say(&text)?;
            }
            if let Some(file) = &self.written {
                file.write_anew(prometheus(&self.live, &look, self.args.sites).as_bytes())?;
            }
        }
        Ok(())
    }

    /// Whether a snapshot came since the last text; of a flight recorder's log none does.
    fn is_due(&mut self, is_last: bool) -> bool {
        let count = std::mem::take(&mut self.teller.count);
        if self.snapshots.is_some() || is_last {
            return count > 0 || is_last;
        }
        let now = Instant::now();
        if self.due.is_some_and(|due| now < due) {
            return false;
        }
        let every = self.args.every.map_or(STEP, Duration::from_nanos);
        self.due = Some(now + every);
        true
    }
}
