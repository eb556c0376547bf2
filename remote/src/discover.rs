//! Finding each other within a network, for who asks for it. A sender says that it is
//! there, a receiver answers which port it listens on; neither says anything else. Who
//! answers is believed as little as an address that somebody typed: the keys decide.
//!
//! ```text
//! 0  8  "MLGFIND" and 1, or "MLGHERE" and 1
//! 8  8  a number of the sender's, which the answer has again
//! 16 2  the receiver's port; 0 in a question
//! ```
//!
//! An answer is as long as a question: nobody gets more sent by it than he sends.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::secret::random;

/// The port of questions, unless another is asked for. bytehound's is the same; it does not
/// understand them.
const PORT: u16 = 43512;

const FIND: [u8; 8] = *b"MLGFIND\x01";
const HERE: [u8; 8] = *b"MLGHERE\x01";
const LENGTH: usize = 18;
/// How often a sender says that it is there, and for how long at once.
const EACH: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(3);

fn datagram(word: [u8; 8], number: [u8; 8], port: u16) -> [u8; LENGTH] {
    let mut out = [0; LENGTH];
    out[..8].copy_from_slice(&word);
    out[8..16].copy_from_slice(&number);
    out[16..].copy_from_slice(&port.to_le_bytes());
    out
}

/// A sender that looks for a receiver.
pub struct Announcer {
    to: SocketAddr,
}

impl Announcer {
    /// One that asks an address, which may be of all machines of a network.
    pub fn of(to: SocketAddr) -> Self {
        Self { to }
    }

    /// All machines of the own network.
    pub fn everybody() -> SocketAddr {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::BROADCAST), PORT)
    }

    pub(crate) fn told(&self) -> String {
        format!("a receiver with --discover at {}", self.to)
    }

    /// The first that answers.
    pub(crate) fn find(&self, is_local_only: bool) -> io::Result<SocketAddr> {
        let any: SocketAddr = match self.to.is_ipv4() {
            true => ([0, 0, 0, 0], 0).into(),
            false => ([0u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.set_broadcast(true)?;
        let number = random()?;
        let question = datagram(FIND, number, 0);
        let begun = Instant::now();
        let mut asked: Option<Instant> = None;
        while begun.elapsed() < LONG {
            if asked.is_none_or(|at| at.elapsed() >= EACH) {
                socket.send_to(&question, self.to)?;
                asked = Some(Instant::now());
            }
            socket.set_read_timeout(Some(EACH / 5))?;
            let mut answer = [0; LENGTH + 1];
            let Ok((LENGTH, from)) = socket.recv_from(&mut answer) else {
                continue;
            };
            let port = u16::from_le_bytes([answer[16], answer[17]]);
            let is_answer = answer[..LENGTH] == datagram(HERE, number, port) && port != 0;
            if is_answer && (from.ip().is_loopback() || !is_local_only) {
                return Ok(SocketAddr::new(from.ip(), port));
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "nobody answered"))
    }
}

/// A receiver that answers senders that look for one.
pub struct Listener {
    socket: UdpSocket,
    port: u16,
}

impl Listener {
    /// At an address, for a receiver that listens on this port.
    pub fn bind(at: SocketAddr, port: u16) -> io::Result<Self> {
        let socket = UdpSocket::bind(at)?;
        socket.set_read_timeout(Some(EACH / 5))?;
        Ok(Self { socket, port })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers until it is to end.
    pub fn answer(&self, ends: &AtomicBool) {
        while !ends.load(Ordering::Relaxed) {
            let mut question = [0; LENGTH + 1];
            let (count, from) = match self.socket.recv_from(&mut question) {
                Ok(came) => came,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                // Such as that nobody was at the address of an answer.
                Err(_) => {
                    std::thread::sleep(EACH / 20);
                    continue;
                }
            };
            if count == LENGTH && question[..8] == FIND && question[16..LENGTH] == [0; 2] {
                let mut number = [0; 8];
                number.copy_from_slice(&question[8..16]);
                let _ = self
                    .socket
                    .send_to(&datagram(HERE, number, self.port), from);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn they_find_each_other() {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), 4711).unwrap();
        let at = listener.address().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let answering = Arc::clone(&ends);
        let thread = std::thread::spawn(move || listener.answer(&answering));
        // What is no question has no answer.
        let stranger = UdpSocket::bind("127.0.0.1:0").unwrap();
        stranger
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
        for wrong in [&b"MLGFIND\x01"[..], &[0; 18], &datagram(FIND, [1; 8], 9)] {
            stranger.send_to(wrong, at).unwrap();
        }
        assert!(stranger.recv_from(&mut [0; 64]).is_err());
        assert_eq!(Announcer::of(at).find(true).unwrap().port(), 4711);
        ends.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }
}
