//! `memlog stream`: sends logs to `memlog gather` on another machine, while they grow.
//!
//! * here: the command
//! * `found`: which logs
//! * `over`: whether more comes in one
//! * `ssh`: the way by ssh

mod found;
mod over;
mod ssh;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memlog_pages::{Advice, counted, shown, sized};
use memlog_remote::{Announcer, Connect, Pace, Secret, Sender, Sent, Source, Told};

use crate::ends::{Ends, raise_descriptors};
use crate::record::bytes_of;
use found::Found;
use over::Over;
use ssh::Ssh;

/// Send logs to memlog gather on another machine, while they grow
#[derive(clap::Args)]
#[command(override_usage = "memlog stream [OPTIONS] FILE|PID|FOLDER... HOST:PORT
       memlog stream [OPTIONS] --ssh HOST FILE|PID|FOLDER...
       memlog stream [OPTIONS] --announce FILE|PID|FOLDER...")]
pub struct Args {
    /// Logs, numbers of recorded processes, folders of logs; and last where memlog gather
    /// listens
    #[arg(value_name = "FILE|PID|FOLDER... HOST:PORT", required = true)]
    words: Vec<OsString>,
    /// The senders' file of the receiver's secret, which ends in .send
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Start memlog gather on this host, by ssh, and send the logs through that
    #[arg(long, value_name = "HOST", conflicts_with_all = ["secret", "announce"])]
    ssh: Option<OsString>,
    /// Say this to ssh, as its -o: Port=2222, IdentityFile=KEY; several times if needed
    #[arg(long, value_name = "NAME=VALUE", requires = "ssh")]
    ssh_option: Vec<OsString>,
    /// The folder there
    #[arg(long, value_name = "DIR", requires = "ssh")]
    dir: Option<OsString>,
    /// What memlog is called there [default: memlog]
    #[arg(long, value_name = "PATH", requires = "ssh")]
    memlog: Option<OsString>,
    /// Look for a receiver by UDP that was started with --discover: in the own networks, or
    /// without --secret on this machine; or at an address
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true)]
    announce: Option<Option<SocketAddr>>,
    /// Send logs of processes too that those of the named logs start, if they are in the same
    /// folder
    #[arg(long)]
    follow_children: bool,
    /// Do not wait for new logs in folders: end when all that are there are complete
    #[arg(long)]
    once: bool,
    /// Send no more than so much a second, such as 2M; below 16K means 16K
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    rate: Option<u64>,
    /// When the programs have ended and the receiver is away or takes no more, try for so many
    /// seconds
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    give_up_after: u64,
    /// Say nothing but what is wrong
    #[arg(short, long)]
    quiet: bool,
}

/// Sends until all is there, or until Ctrl-C.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (names, connect) = way(args)?;
    raise_descriptors();
    let found = Found::of(&names, args.follow_children, args.once)?;
    let ends = Ends::catch()?;
    let pace = Pace::of(args.rate);
    let patience = Duration::from_secs(args.give_up_after);
    let mut sender = Sender::new(connect, &host(), pace, Some(patience))?;
    let mut logs = Logs {
        found,
        over: Over::default(),
        ends: ends.flag(),
    };
    let quiet = args.quiet;
    let sent = sender.run(&mut logs, ends.flag(), &mut |told| say(&told, quiet));
    Ok(finish(&sent, quiet))
}

/// The logs, and the way that they go.
fn way(args: &Args) -> anyhow::Result<(Vec<OsString>, Connect)> {
    let mut names = args.words.clone();
    if let Some(host) = &args.ssh {
        let (dir, memlog) = (args.dir.as_deref(), args.memlog.as_deref());
        let ssh = Ssh::to(host, &args.ssh_option, dir, memlog)?;
        return Ok((names, Connect::Program(Box::new(ssh))));
    }
    let secret = args.secret.as_deref().map(secret).transpose()?;
    if let Some(at) = args.announce {
        let announcer = Announcer::of(at);
        return Ok((names, Connect::announced(announcer, secret.as_ref())?));
    }
    const WHERE: &str = "memlog stream FILE HOST:PORT; memlog gather says its HOST:PORT";
    let last = names.pop().unwrap_or_default();
    let to = last.to_str().filter(|to| is_address(to));
    let to = to.ok_or_else(|| {
        Advice::error(
            format!("{} is no HOST:PORT to send to", shown(&last)),
            WHERE,
        )
    })?;
    if names.is_empty() {
        return Err(Advice::error(
            format!("nothing is to be sent to {to}"),
            WHERE,
        ));
    }
    Ok((names, Connect::address(to, secret.as_ref())?))
}

fn secret(path: &Path) -> anyhow::Result<Secret> {
    Secret::of_sender(path).map_err(|why| {
        Advice::error(
            format!("{} cannot be used: {why}", shown(path)),
            "memlog gather --new-secret FILE makes FILE.send for senders",
        )
    })
}

/// A name or number, and a port. A log that lies there is none.
fn is_address(word: &str) -> bool {
    let Some((host, port)) = word.rsplit_once(':') else {
        return false;
    };
    !host.is_empty() && !host.contains('/') && port.parse::<u16>().is_ok_and(|port| port != 0)
}

fn host() -> Vec<u8> {
    rustix::system::uname().nodename().to_bytes().to_vec()
}

/// What is sent.
struct Logs<'e> {
    found: Found,
    over: Over,
    /// Whether it is to end.
    ends: &'e AtomicBool,
}

impl Source for Logs<'_> {
    fn logs(&mut self) -> Vec<PathBuf> {
        self.found.all()
    }

    fn may_grow(&mut self) -> bool {
        self.found.may_grow()
    }

    fn bytes(&mut self, file: &File) -> io::Result<u64> {
        Ok(memlog_pages::extent_of(file)?.bytes)
    }

    fn is_over(&mut self, path: &Path, file: &File) -> bool {
        // The last look is not content with what was so before.
        if self.ends.load(Ordering::Relaxed) {
            self.over = Over::default();
        }
        self.over.is(path, file)
    }
}

fn say(told: &Told, is_quiet: bool) {
    let line = match told {
        Told::Lost(why) => {
            return memlog_pages::tell_note(&format!("no receiver: {why}; trying again"));
        }
        Told::Hopeless(why) => return memlog_pages::tell_note(&format!("no receiver: {why}")),
        Told::Refused(path, why) => {
            let why = memlog_pages::clean(why.as_bytes());
            return memlog_pages::tell_note(&format!("{} is not sent: {why}", shown(*path)));
        }
        _ if is_quiet => return,
        Told::Connected(to) => format!("sends to {to}"),
        Told::Began(path, name) => {
            format!(
                "{} goes there as {}",
                shown(*path),
                memlog_pages::clean(name.as_bytes())
            )
        }
        Told::Ended(path, bytes) => format!("{} is there: {}", shown(*path), sized(*bytes)),
    };
    put(&line);
}

/// Who hears it may go away: the logs are what was asked for.
fn put(line: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "memlog: {line}").and_then(|()| out.flush());
}

/// What it came to. Logs of which not all is there are a failure.
fn finish(sent: &Sent, is_quiet: bool) -> ExitCode {
    if !is_quiet {
        put(&format!(
            "{} complete, {} sent",
            counted(sent.complete as u64, "log"),
            sized(sent.bytes)
        ));
    }
    if sent.incomplete == 0 {
        return ExitCode::SUCCESS;
    }
    let count = counted(sent.incomplete as u64, "log");
    memlog_pages::tell_note(&format!(
        "not all is there of {count}: the same command goes on where it stopped"
    ));
    ExitCode::from(2)
}

/// A word of a command line as text, for what takes no other.
fn text(word: &OsStr) -> anyhow::Result<&str> {
    word.to_str().ok_or_else(|| {
        Advice::error(
            format!("{} is no text", shown(word)),
            "give a name in plain letters",
        )
    })
}
