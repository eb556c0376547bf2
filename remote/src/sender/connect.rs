//! Ways to a receiver.

use std::io::{
    self,
    ErrorKind::{BrokenPipe, ConnectionReset, InvalidData, UnexpectedEof},
};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_keepalive, set_tcp_nodelay};
use rustls::ClientConfig;

use crate::channel::Channel;
use crate::discover::Announcer;
use crate::limits::{HANDSHAKE, SILENCE};
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
    /// It is not needed any more. What explains why nobody answered, if that is known.
    fn end(&mut self) -> Option<Ended>;
    /// How it is told.
    fn told(&self) -> String;
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Why nobody answered.
    pub why: String,
    /// It will not be otherwise the next time.
    pub is_final: bool,
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
            Self::Announced { announcer, keys } => announcer.told(keys.is_none()),
            Self::Program(program) => program.told(),
        }
    }

    pub(super) fn connect(&mut self) -> io::Result<Channel> {
        match self {
            Self::Address { to, keys } => over_tcp(&**to, keys.as_ref()),
            Self::Announced { announcer, keys } => {
                announcer.find(keys.is_none(), |to| over_tcp(to, keys.as_ref()))
            }
            Self::Program(program) => {
                let (into, out) = program.start()?;
                Channel::connected(Line::of(out, into)?, None)
            }
        }
    }

    /// How long the other end's greeting may take. A program connects first, maybe over some
    /// machines in between.
    pub(super) fn patience(&self) -> Duration {
        match self {
            Self::Program(_) => SILENCE,
            Self::Address { .. } | Self::Announced { .. } => HANDSHAKE,
        }
    }

    /// It is not needed any more.
    pub(super) fn end(&mut self) {
        if let Self::Program(program) = self {
            program.end();
        }
    }

    /// Why nobody answers, or nobody does any more. `is_first`: nobody ever did.
    pub(super) fn lose(&mut self, error: &io::Error, is_first: bool) -> Ended {
        let ended = match self {
            Self::Program(program) => program.end(),
            Self::Address { .. } | Self::Announced { .. } => None,
        };
        let may_be_a_shell = is_first && matches!(self, Self::Program(_));
        let has_no_secret = match self {
            Self::Address { keys, .. } | Self::Announced { keys, .. } => keys.is_none(),
            Self::Program(_) => false,
        };
        let why = match error.kind() {
            UnexpectedEof => "the connection was closed".to_owned(),
            _ => error.to_string(),
        };
        let is_final = false;
        match (error.kind(), ended) {
            (UnexpectedEof | BrokenPipe | ConnectionReset, Some(ended)) => ended,
            (InvalidData, _) if may_be_a_shell => Ended {
                why: format!("{why}; does a start-up file of the shell there print something?"),
                is_final,
            },
            (InvalidData, _) if is_first && has_no_secret => Ended {
                why: format!("{why}; was it started with --secret?"),
                is_final,
            },
            _ => Ended { why, is_final },
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
