//! `memlog gather`: writes the logs that `memlog stream` sends from other machines.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use memlog_pages::{Advice, clean, counted, shown, sized, tell_note, typed};
use memlog_remote::{
    About, DiscoveryListener, Gatherer, Limits, Notice, Secret, Secured, Totals, new_secret,
};

use crate::ends::{Ends, raise_descriptors};
use crate::record::bytes_of;

/// Write the logs that memlog stream sends from other machines
#[derive(clap::Args)]
pub struct Args {
    /// Where senders connect; port 0: one that is free
    #[arg(long, value_name = "ADDR:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Write the logs into this folder, which is made if it is not there
    #[arg(short, long, value_name = "FOLDER", default_value = ".")]
    output: PathBuf,
    /// Take logs only from who has the other file of this secret, and encrypt
    #[arg(long, value_name = "FILE")]
    secret: Option<PathBuf>,
    /// Make a new secret: FILE stays here, FILE.send goes to the senders
    #[arg(long, value_name = "FILE", conflicts_with_all = ["secret", "stdio", "discover"])]
    new_secret: Option<PathBuf>,
    /// Speak with one sender on standard input and output: memlog stream --ssh starts it so
    #[arg(long, conflicts_with_all = ["listen", "secret", "discover"])]
    stdio: bool,
    /// Take no more logs when all that came take this size on the disk, such as 20G
    #[arg(long, value_name = "SIZE", value_parser = bytes_of)]
    max_bytes: Option<u64>,
    /// Take no more when the disk has less than this free
    #[arg(long, value_name = "SIZE", value_parser = bytes_of, default_value = "64M")]
    keep_free: u64,
    /// So many senders at once
    #[arg(long, value_name = "N", default_value = "256", value_parser = clap::value_parser!(u16).range(1..))]
    max_senders: u16,
    /// Answer senders that look for a receiver by UDP, at port 43512: of all networks, or of
    /// this machine if others cannot connect anyway; or at an address
    #[arg(long, value_name = "ADDR:PORT", num_args = 0..=1, require_equals = true)]
    discover: Option<Option<SocketAddr>>,
    /// Say nothing of single logs
    #[arg(short, long)]
    quiet: bool,
}

const NEW: &str = "memlog gather --new-secret FILE makes one; then give --secret FILE here, and \
                   --secret FILE.send to memlog stream";

/// Gathers until Ctrl-C.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(path) = &args.new_secret {
        return make(path);
    }
    raise_descriptors();
    let limits = Limits {
        bytes: args.max_bytes,
        free_bytes: args.keep_free,
        connections: usize::from(args.max_senders),
    };
    let (quiet, to_stderr) = (args.quiet, args.stdio);
    let tell = Arc::new(move |notice: Notice| say(&notice, quiet, to_stderr));
    let gatherer = Gatherer::new(&args.output, limits, tell).map_err(|error| {
        Advice::error(
            format!("cannot write into {}: {error}", shown(&args.output)),
            "give a folder of your own: memlog gather -o FOLDER",
        )
    })?;
    match args.stdio {
        true => by_pipes(&gatherer),
        false => by_network(args, gatherer),
    }
}

fn make(path: &Path) -> anyhow::Result<ExitCode> {
    let for_senders = new_secret(path).map_err(|error| {
        Advice::error(
            format!("cannot make a secret: {error}"),
            "give a name in a folder of your own, where no file is",
        )
    })?;
    let (own, other) = (typed(path), typed(&for_senders));
    let lines = [
        format!(
            "{} stays here: memlog gather --listen ADDR:PORT --secret {own}",
            shown(path)
        ),
        format!(
            "{} goes to the senders: memlog stream --secret {other} FILE HOST:PORT",
            shown(&for_senders)
        ),
    ];
    lines.iter().for_each(|line| put(line, false));
    Ok(ExitCode::SUCCESS)
}

/// One sender, at the other end of ssh. It ends with it.
fn by_pipes(gatherer: &Gatherer) -> anyhow::Result<ExitCode> {
    let own = |fd: std::os::fd::BorrowedFd| fd.try_clone_to_owned();
    let (input, output): (OwnedFd, OwnedFd) =
        (own(io::stdin().as_fd())?, own(io::stdout().as_fd())?);
    let served = gatherer.serve_pipes(input, output, &Secured::Otherwise);
    served.map_err(|error| {
        Advice::error(
            format!("standard input has no sender: {error}"),
            "memlog stream --ssh HOST FILE starts this command by itself",
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

fn by_network(args: &Args, gatherer: Gatherer) -> anyhow::Result<ExitCode> {
    let secured = match &args.secret {
        Some(path) => {
            let secret = Secret::of_receiver(path).map_err(|why| {
                Advice::error(format!("{} cannot be used: {why}", shown(path)), NEW)
            })?;
            Secured::by(&secret)?
        }
        None if args.listen.ip().is_loopback() => Secured::Otherwise,
        None => {
            return Err(Advice::error(
                format!(
                    "{} can be reached from other machines, and there is no secret",
                    args.listen.ip()
                ),
                NEW,
            ));
        }
    };
    let ends = Ends::catch()?;
    let listener = TcpListener::bind(args.listen).map_err(|error| {
        Advice::error(
            format!("cannot listen at {}: {error}", args.listen),
            "give another address: --listen ADDR:PORT; port 0 is one that is free",
        )
    })?;
    let at = listener.local_addr()?;
    let answering = args
        .discover
        .map(|asked| asked.unwrap_or_else(|| DiscoveryListener::place(at)))
        .map(|asked| discover(asked, at.port(), &ends))
        .transpose()?;
    begin(args, at);
    let gatherer = Arc::new(gatherer);
    gatherer.listen(&listener, &secured, ends.flag())?;
    if let Some(thread) = answering {
        let _ = thread.join();
    }
    summary(&gatherer.totals(), &args.output);
    Ok(ExitCode::SUCCESS)
}

fn discover(at: SocketAddr, port: u16, ends: &Ends) -> anyhow::Result<std::thread::JoinHandle<()>> {
    let listener = DiscoveryListener::bind(at, port).map_err(|error| {
        Advice::error(
            format!("cannot listen for UDP at {at}: {error}"),
            "give another address: --discover=ADDR:PORT, and the same to memlog stream --announce",
        )
    })?;
    put(
        &format!("answers who looks for it at {}", listener.address()?),
        false,
    );
    let ends = ends.shared();
    Ok(std::thread::spawn(move || listener.answer(&ends)))
}

/// Where senders find it.
fn begin(args: &Args, at: SocketAddr) {
    let folder = shown(&args.output);
    put(&format!("listens at {at}, logs go into {folder}"), false);
    let secret = match &args.secret {
        Some(path) => format!(" --secret {}.send", typed(path)),
        None => String::new(),
    };
    let host = match at.ip() {
        ip if ip.is_unspecified() => format!("HOST:{}", at.port()),
        IpAddr::V4(_) | IpAddr::V6(_) => at.to_string(),
    };
    put(
        &format!("senders: memlog stream{secret} FILE {host}"),
        false,
    );
    put("Ctrl-C ends it", false);
}

fn summary(totals: &Totals, folder: &Path) {
    let refused = match totals.refused {
        0 => String::new(),
        count => format!(", {} refused", counted(count, "time")),
    };
    let logs = counted(totals.logs, "log");
    let (complete, bytes) = (totals.finished, sized(totals.bytes));
    let folder = shown(folder);
    put(
        &format!("{logs} in {folder}, {complete} complete, {bytes}{refused}"),
        false,
    );
}

/// A log by its program, process and host.
fn told(about: &About) -> String {
    let program = about.executable.rsplit(|&byte| byte == b'/').next();
    format!(
        "{}, process {} on {}",
        clean(program.unwrap_or_default()),
        about.pid,
        clean(&about.host)
    )
}

fn say(notice: &Notice, is_quiet: bool, to_stderr: bool) {
    let line = match notice {
        Notice::Began { .. } | Notice::Ended { .. } | Notice::Left { .. } if is_quiet => return,
        Notice::Began {
            name,
            about,
            from,
            resumed,
        } => {
            let again = match resumed {
                Some(bytes) => format!("goes on at {}", sized(*bytes)),
                None => "begins".into(),
            };
            format!(
                "{name} {again}: {}, from {}",
                told(about),
                clean(from.as_bytes())
            )
        }
        Notice::Ended { name, bytes, about } => {
            let lost = about.as_ref().map_or(0, |about| about.lost);
            let lost = match lost {
                0 => "no event lost".into(),
                lost => format!("{} lost by its recorder", counted(lost, "event")),
            };
            format!("{name} is complete: {}, {lost}", sized(*bytes))
        }
        Notice::Left { name, bytes } => {
            format!(
                "{name} has {} so far, and its sender is gone",
                sized(*bytes)
            )
        }
        Notice::Refused { name, from, why } => {
            let from = clean(from.as_bytes());
            format!(
                "{} from {from} is not taken: {}",
                clean(name.as_bytes()),
                clean(why.as_bytes())
            )
        }
        Notice::Turned { from, why } => {
            let why = clean(why.as_bytes());
            return tell_turned(&format!("{from} is not let in: {why}"));
        }
    };
    put(&line, to_stderr);
}

/// A stranger does not fill a disk with lines about himself.
fn tell_turned(sentence: &str) {
    static LAST: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    let mut last = LAST.lock().unwrap_or_else(|error| error.into_inner());
    let (at, unsaid) = last.unwrap_or((Instant::now(), 0));
    if last.is_some() && at.elapsed() < Duration::from_secs(1) {
        *last = Some((at, unsaid + 1));
        return;
    }
    *last = Some((Instant::now(), 0));
    match unsaid {
        0 => tell_note(sentence),
        unsaid => tell_note(&format!("{sentence}; and {unsaid} others before")),
    }
}

/// Who hears it may go away: the logs are what was asked for.
fn put(line: &str, to_stderr: bool) {
    let line = format!("memlog: {line}\n");
    let _ = match to_stderr {
        true => io::stderr().lock().write_all(line.as_bytes()),
        false => {
            let mut out = io::stdout().lock();
            out.write_all(line.as_bytes()).and_then(|()| out.flush())
        }
    };
}
