//! Sockets, connections, and the end.

use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use memlog_pages::{Advice, cache, keep, out, outlive_cut_files, shown, tell_note, typed};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::args::Args;
use crate::door::Door;
use crate::routes::routes;
use crate::shelf::Shelf;

/// Connections at once: a page takes six at most. A process has 1,024 descriptors as a rule.
const MOST_CONNECTIONS: usize = 512;
/// How long a client may take to say what it wants. Whoever is on the machine can connect, and
/// would keep others out for as long.
const PATIENCE: Duration = Duration::from_secs(3);
/// Bytes of a request's head. Of its path the library takes 64 KiB.
const MOST_HEAD_BYTES: usize = 256 << 10;

/// Serves logs until Ctrl-C. `open` opens a file in the user's browser.
pub fn run(args: &Args, open: fn(&Path)) -> anyhow::Result<ExitCode> {
    outlive_cut_files();
    let shelf = Shelf::of(args.files.clone(), args.symbol_files.clone())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(args, shelf, open));
    // What is still being read or answered ends with the process.
    runtime.shutdown_background();
    served
}

async fn serve(args: &Args, shelf: Arc<Shelf>, open: fn(&Path)) -> anyhow::Result<ExitCode> {
    let mut ends = [
        signal(SignalKind::interrupt())?,
        signal(SignalKind::terminate())?,
        signal(SignalKind::hangup())?,
    ];
    let listener = Listener::of(args).await?;
    let door = Arc::new(Door::new(&listener.name()?, &args.hosts)?);
    let router = routes(Arc::clone(&shelf), Arc::clone(&door));
    shelf.look_after();
    // One log alone is what is looked at.
    if let [log] = &shelf.all()[..] {
        log.reader();
    }
    let link = format!("{}{}", listener.link(), door.query());
    tell(args, &link, shelf.all().len())?;
    let way = args.open.then(|| Way::to(&link)).transpose();
    match &way {
        Ok(Some(way)) => open(&way.0),
        Ok(None) => {}
        Err(error) => tell_note(&format!("no browser is opened: {error}; open the link")),
    }
    let [interrupt, terminate, hangup] = &mut ends;
    tokio::select! {
        () = listener.accept(router) => {}
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    listener.remove();
    Ok(ExitCode::SUCCESS)
}

fn tell(args: &Args, link: &str, logs: usize) -> anyhow::Result<()> {
    let what = match (&args.files[..], logs) {
        ([file], 1) => shown(file).to_string(),
        (_, logs) => format!("{logs} logs"),
    };
    let mut out = out();
    writeln!(out, "memlog: open {link}")?;
    writeln!(out, "memlog: it shows {what}")?;
    if let Some(path) = &args.socket {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        let path = typed(&path);
        writeln!(
            out,
            "memlog: from your machine: ssh -L 8080:{path} HOST, then open the link"
        )?;
    }
    writeln!(out, "memlog: Ctrl-C ends it")?;
    Ok(out.flush()?)
}

/// A file that leads to a link, and goes with this. The words of a program that is started
/// can be read by everybody: the link must not be among them.
struct Way(PathBuf);

impl Way {
    fn to(link: &str) -> std::io::Result<Self> {
        let folder = cache().ok_or(ErrorKind::NotFound)?;
        let path = folder.join(format!("open-{}.html", std::process::id()));
        let page = format!(
            "<!doctype html><title>memlog</title>\
             <meta http-equiv=\"refresh\" content=\"0; url={link}\"><a href=\"{link}\">memlog</a>\n"
        );
        keep(&path, page.as_bytes())?;
        Ok(Self(path))
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Where requests come from.
enum Listener {
    Port(TcpListener),
    Socket(UnixListener, PathBuf),
}

impl Listener {
    async fn of(args: &Args) -> anyhow::Result<Self> {
        if let Some(path) = &args.socket {
            let listener = socket(path).map_err(|error| {
                Advice::error(
                    format!("cannot listen at {}: {error}", shown(path)),
                    "give a path in a folder of your own, where no file is",
                )
            })?;
            return Ok(Self::Socket(listener, path.clone()));
        }
        let listener = TcpListener::bind(("127.0.0.1", args.port)).await;
        Ok(Self::Port(listener.map_err(|error| {
            Advice::error(
                format!("cannot listen on port {}: {error}", args.port),
                "leave --port out: then a free one is taken",
            )
        })?))
    }

    /// What tells it from other servers of this machine.
    fn name(&self) -> std::io::Result<String> {
        Ok(match self {
            Self::Port(listener) => listener.local_addr()?.port().to_string(),
            Self::Socket(..) => std::process::id().to_string(),
        })
    }

    fn link(&self) -> String {
        let port = match self {
            Self::Port(listener) => listener.local_addr().map_or(0, |own| own.port()),
            Self::Socket(..) => 8080,
        };
        format!("http://127.0.0.1:{port}/")
    }

    async fn accept(&self, router: Router) {
        let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        loop {
            // No more than that: the next waits.
            let Ok(place) = Arc::clone(&room).acquire_owned().await else {
                return;
            };
            let router = router.clone();
            let accepted = match self {
                Self::Port(listener) => listener.accept().await.map(|(stream, _)| {
                    let _ = stream.set_nodelay(true);
                    tokio::spawn(answer(stream, router, place));
                }),
                Self::Socket(listener, _) => listener.accept().await.map(|(stream, _)| {
                    tokio::spawn(answer(stream, router, place));
                }),
            };
            if accepted.is_err() {
                // No descriptor is left: others will end.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }

    fn remove(&self) {
        if let Self::Socket(_, path) = self {
            let _ = fs::remove_file(path);
        }
    }
}

/// Answers a connection, which has a place until then.
async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    router: Router,
    place: OwnedSemaphorePermit,
) {
    // What goes wrong is the client's: it went away, or speaks something else.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_buf_size(MOST_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .await;
    drop(place);
}

/// A socket that only its user may connect to. What an earlier server left is replaced.
fn socket(path: &Path) -> std::io::Result<UnixListener> {
    let is_left = || {
        let found = fs::symlink_metadata(path).ok();
        let is_socket = found.is_some_and(|found| found.file_type().is_socket());
        let answers = std::os::unix::net::UnixStream::connect(path);
        is_socket && answers.is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused)
    };
    if is_left() {
        fs::remove_file(path)?;
    }
    // Nobody reaches it before it has these rights: the token is asked for in any case.
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}
