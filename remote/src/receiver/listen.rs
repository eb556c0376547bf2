//! Connections. Each has a thread: it reads one question after the other and waits for the
//! disk, and there are as many as machines that send.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::{set_socket_keepalive, set_tcp_nodelay};

use super::{Closer, Gatherer, LOOK, Notice, Over, peer, peer_name};
use crate::channel::{Channel, Secured};
use crate::line::Line;

/// Connections that have not shown yet who they are.
const MOST_STRANGERS: usize = 64;

/// One more of something, until it is dropped.
struct Count(Arc<AtomicUsize>);

impl Count {
    fn of(counter: &Arc<AtomicUsize>, most: usize) -> Option<Self> {
        let before = counter.fetch_add(1, Ordering::SeqCst);
        let count = Self(Arc::clone(counter));
        (before < most).then_some(count)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Gatherer {
    /// Serves all that connect, until it is to end.
    pub fn listen(
        self: &Arc<Self>,
        listener: &TcpListener,
        secured: &Secured,
        ends: &AtomicBool,
    ) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let strangers = Arc::<AtomicUsize>::default();
        let connections = Arc::<AtomicUsize>::default();
        let wait = Timespec::try_from(LOOK).map_err(|_| io::ErrorKind::InvalidInput)?;
        while !ends.load(Ordering::Relaxed) {
            let fd = listener.as_fd();
            let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&wait));
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => {
                    // No descriptor is left, or the other is gone: others will end.
                    std::thread::sleep(Duration::from_millis(100));
                    continue;
                }
            };
            // Whoever is one too many is closed at once, and comes again.
            let Some(stranger) = Count::of(&strangers, MOST_STRANGERS) else {
                continue;
            };
            let Some(connection) = Count::of(&connections, self.limits.connections) else {
                self.tell(Notice::Turned {
                    from: peer_name(peer),
                    why: format!("{} connections are open", self.limits.connections),
                });
                continue;
            };
            let gatherer = Arc::clone(self);
            let secured = secured.clone();
            let serve = move || {
                let _connection = connection;
                gatherer.welcome(stream, peer, &secured, stranger);
            };
            // Without a thread the connection is closed.
            let _ = std::thread::Builder::new()
                .stack_size(512 << 10)
                .spawn(serve);
        }
        Ok(())
    }

    fn welcome(&self, stream: TcpStream, peer: SocketAddr, secured: &Secured, stranger: Count) {
        let from = peer_name(peer);
        let turned = |why: String| {
            self.tell(Notice::Turned {
                from: from.clone(),
                why,
            });
        };
        if matches!(secured, Secured::Otherwise) && !(is_local(peer.ip()) && peer::is_own(peer)) {
            turned("without --secret only programs of this user may connect".into());
            return;
        }
        let opened = || {
            set_tcp_nodelay(&stream, true)?;
            set_socket_keepalive(&stream, true)?;
            let closer = Closer::Socket(stream.try_clone()?);
            let (input, output) = (stream.try_clone()?, stream.try_clone()?);
            Ok::<_, io::Error>((
                closer,
                Line::of(OwnedFd::from(input), OwnedFd::from(output))?,
            ))
        };
        let (closer, line) = match opened() {
            Ok(opened) => opened,
            Err(error) => return turned(error.to_string()),
        };
        let channel = match Channel::accepted(line, secured) {
            Ok(channel) => channel,
            // Somebody looked whether anybody is there.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return,
            Err(error) => return turned(error.to_string()),
        };
        // It has the keys, or is this user's.
        drop(stranger);
        match self.serve(channel, &from, closer) {
            Ok(()) | Err(Over::Gone) => {}
            Err(Over::Wrong(error)) => turned(error.to_string()),
        }
    }
}

/// Whether an address is of this machine alone.
pub fn is_local(ip: IpAddr) -> bool {
    ip.is_loopback()
}
