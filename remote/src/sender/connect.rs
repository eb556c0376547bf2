//! Ways to a receiver.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::net::sockopt::{set_socket_keepalive, set_tcp_nodelay};
use rustls::ClientConfig;

use crate::channel::Channel;
use crate::discover::Announcer;
use crate::limits::HANDSHAKE;
use crate::line::Line;
use crate::secret::Secret;
use crate::tls;

/// A way to a receiver.
pub enum Connect {
    /// An address, as HOST:PORT.
    Address {
        /// The address.
        to: String,
        /// What both know.
        keys: Option<Arc<ClientConfig>>,
    },
    /// Whoever answers.
    Announced {
        /// Who asks.
        announcer: Announcer,
        /// What both know.
        keys: Option<Arc<ClientConfig>>,
    },
    /// A program that leads there.
    Program(Box<dyn Program>),
}

/// A program whose input and output are the receiver's.
pub trait Program {
    /// Starts it: what it reads from, and what it writes to.
    fn start(&mut self) -> io::Result<(OwnedFd, OwnedFd)>;
    /// It is not needed any more.
    fn end(&mut self);
    /// How it is told.
    fn told(&self) -> String;
}

impl Connect {
    /// To an address.
    pub fn address(to: &str, secret: Option<&Secret>) -> io::Result<Self> {
        let keys = secret.map(tls::sender).transpose()?;
        let to = to.to_owned();
        Ok(Self::Address { to, keys })
    }

    /// To whoever answers to an announcement.
    pub fn announced(announcer: Announcer, secret: Option<&Secret>) -> io::Result<Self> {
        let keys = secret.map(tls::sender).transpose()?;
        Ok(Self::Announced { announcer, keys })
    }

    /// How it is told.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Address { to, .. } => to.clone(),
            Self::Announced { announcer, .. } => announcer.told(),
            Self::Program(program) => program.told(),
        }
    }

    pub(super) fn connect(&mut self) -> io::Result<Channel> {
        match self {
            Self::Address { to, keys } => over_tcp(&**to, keys.as_ref()),
            Self::Announced { announcer, keys } => {
                let to = announcer.find(keys.is_none())?;
                over_tcp(to, keys.as_ref())
            }
            Self::Program(program) => {
                let (into, out) = program.start()?;
                Channel::connected(Line::of(out, into)?, None)
            }
        }
    }

    /// The connection broke.
    pub(super) fn lose(&mut self) {
        if let Self::Program(program) = self {
            program.end();
        }
    }
}

/// The first address that answers.
fn over_tcp(to: impl ToSocketAddrs, keys: Option<&Arc<ClientConfig>>) -> io::Result<Channel> {
    let mut last = io::Error::other("the name has no address");
    for address in to.to_socket_addrs()? {
        if keys.is_none() && !address.ip().is_loopback() {
            last = io::Error::other("without --secret logs are only sent within this machine");
            continue;
        }
        match TcpStream::connect_timeout(&address, HANDSHAKE) {
            Ok(stream) => {
                set_tcp_nodelay(&stream, true)?;
                set_socket_keepalive(&stream, true)?;
                let input = OwnedFd::from(stream.try_clone()?);
                let line = Line::of(input, OwnedFd::from(stream))?;
                return Channel::connected(line, keys);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}
