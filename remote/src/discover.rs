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

use std::collections::HashSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
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
/// Networks that are asked at once.
const MOST_NETWORKS: usize = 16;
/// Answers that led nowhere and are remembered.
const MOST_FAILED: usize = 1000;

type Datagram = [u8; LENGTH];

fn datagram(word: [u8; 8], number: [u8; 8], port: u16) -> Datagram {
    let mut out = [0; LENGTH];
    out[..8].copy_from_slice(&word);
    out[8..16].copy_from_slice(&number);
    out[16..].copy_from_slice(&port.to_le_bytes());
    out
}

/// The port of an answer to this number.
fn port_of(answer: &[u8], number: [u8; 8]) -> Option<u16> {
    let &[.., a, b] = answer else { return None };
    let port = u16::from_le_bytes([a, b]);
    (answer == datagram(HERE, number, port) && port != 0).then_some(port)
}

/// What a receiver at a port answers to a question.
fn answer_to(question: &[u8], port: u16) -> Option<Datagram> {
    let number = question.get(8..16)?.try_into().ok()?;
    (question == datagram(FIND, number, 0)).then(|| datagram(HERE, number, port))
}

/// A sender that looks for a receiver.
pub struct Announcer {
    to: Option<SocketAddr>,
    /// Who answered and has another secret, or does not listen: others go first.
    failed: HashSet<SocketAddr>,
}

impl Announcer {
    /// One that asks at an address, which may be of all machines of a network; else all
    /// machines of the own networks.
    pub fn of(to: Option<SocketAddr>) -> Self {
        let failed = HashSet::new();
        Self { to, failed }
    }

    pub(crate) fn told(&self, is_local_only: bool) -> String {
        match (self.to, is_local_only) {
            (Some(to), _) => format!("a receiver with --discover at {to}"),
            (None, true) => "a receiver with --discover on this machine".into(),
            (None, false) => "a receiver with --discover in the own networks".into(),
        }
    }

    /// Whoever is asked.
    fn asked(&self, is_local_only: bool) -> Vec<SocketAddr> {
        let own = |ip| SocketAddr::new(IpAddr::V4(ip), PORT);
        match (self.to, is_local_only) {
            (Some(to), _) => vec![to],
            (None, true) => vec![own(Ipv4Addr::LOCALHOST)],
            (None, false) => {
                let routes = std::fs::read_to_string("/proc/net/route").unwrap_or_default();
                let all = std::iter::once(Ipv4Addr::BROADCAST).chain(networks(&routes));
                all.take(MOST_NETWORKS).map(own).collect()
            }
        }
    }

    /// The first that answers and that `meet` gets on with.
    pub(crate) fn find<T>(
        &mut self,
        is_local_only: bool,
        mut meet: impl FnMut(SocketAddr) -> io::Result<T>,
    ) -> io::Result<T> {
        let asked = self.asked(is_local_only);
        let any: SocketAddr = match asked.iter().all(SocketAddr::is_ipv4) {
            true => (Ipv4Addr::UNSPECIFIED, 0).into(),
            false => (Ipv6Addr::UNSPECIFIED, 0).into(),
        };
        let socket = UdpSocket::bind(any)?;
        socket.set_broadcast(true)?;
        socket.set_read_timeout(Some(EACH / 5))?;
        let number = random()?;
        let mut until = Instant::now() + LONG;
        let mut next = Instant::now();
        let mut met: Option<io::Error> = None;
        while Instant::now() < until {
            if Instant::now() >= next {
                send_to_all(&socket, &datagram(FIND, number, 0), &asked)?;
                next = Instant::now() + EACH;
            }
            let mut answer = [0; LENGTH + 1];
            let Ok((count, mut from)) = socket.recv_from(&mut answer) else {
                continue;
            };
            let Some(port) = port_of(&answer[..count], number) else {
                continue;
            };
            from.set_port(port);
            if is_local_only && !from.ip().is_loopback() || self.failed.contains(&from) {
                continue;
            }
            let begun = Instant::now();
            match meet(from) {
                Ok(met) => return Ok(met),
                Err(error) => met = Some(named(from, &error)),
            }
            self.remember(from);
            // Whoever lets one wait takes no time from the others.
            until += begun.elapsed();
        }
        // The next time those are asked again who did not help before.
        if met.is_none() {
            self.failed.clear();
        }
        Err(met.unwrap_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "nobody answered")))
    }

    fn remember(&mut self, from: SocketAddr) {
        if self.failed.len() >= MOST_FAILED {
            self.failed.clear();
        }
        self.failed.insert(from);
    }
}

fn named(from: SocketAddr, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{from} answered: {error}"))
}

/// Sends where it can be sent; an error if that is nowhere.
fn send_to_all(socket: &UdpSocket, question: &Datagram, asked: &[SocketAddr]) -> io::Result<()> {
    let sent: Vec<_> = asked
        .iter()
        .map(|to| socket.send_to(question, to))
        .collect();
    match sent.iter().any(Result::is_ok) {
        true => Ok(()),
        false => sent.into_iter().try_for_each(|sent| sent.map(drop)),
    }
}

/// The addresses of all machines of each network that this one is in, by the kernel's table
/// of routes. Its numbers are the machine's own words: their bytes are the address.
fn networks(routes: &str) -> impl Iterator<Item = Ipv4Addr> {
    const UP: u32 = 1;
    routes.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace().skip(1);
        let mut number = || u32::from_str_radix(words.next()?, 16).ok();
        let (destination, gateway, flags) = (number()?, number()?, number()?);
        let (_, _, _, mask) = (number()?, number()?, number()?, number()?);
        // Of one machine, or of two, there is no address for all.
        let is_network = gateway == 0 && flags & UP != 0 && (2..31).contains(&mask.count_ones());
        is_network.then(|| Ipv4Addr::from((destination | !mask).to_ne_bytes()))
    })
}

/// A receiver that answers senders that look for one.
pub struct Listener {
    socket: UdpSocket,
    port: u16,
}

impl Listener {
    /// For a receiver at this address: where it is asked unless another is given. What others
    /// cannot reach they need not find.
    pub fn place(of: SocketAddr) -> SocketAddr {
        let ip = match of.ip() {
            ip if ip.is_loopback() => ip,
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        SocketAddr::new(ip, PORT)
    }

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
            if let Some(answer) = answer_to(&question[..count], self.port) {
                let _ = self.socket.send_to(&answer, from);
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
        let long = [&datagram(FIND, [1; 8], 0)[..], &[0]].concat();
        for wrong in [
            &b"MLGFIND\x01"[..],
            &[],
            &[0; 18],
            &datagram(FIND, [1; 8], 9),
            &datagram(HERE, [1; 8], 0),
            &long,
        ] {
            stranger.send_to(wrong, at).unwrap();
        }
        assert!(stranger.recv_from(&mut [0; 64]).is_err());
        let found = Announcer::of(Some(at)).find(true, Ok);
        assert_eq!(found.unwrap().port(), 4711);
        ends.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }

    #[test]
    fn only_an_answer_to_the_own_question_is_one() {
        let right = datagram(HERE, [7; 8], 4711);
        assert_eq!(port_of(&right, [7; 8]), Some(4711));
        assert_eq!(port_of(&right, [8; 8]), None);
        assert_eq!(port_of(&right[..17], [7; 8]), None);
        assert_eq!(port_of(&[&right[..], &[0]].concat(), [7; 8]), None);
        assert_eq!(port_of(&datagram(HERE, [7; 8], 0), [7; 8]), None);
        assert_eq!(port_of(&datagram(FIND, [7; 8], 4711), [7; 8]), None);
        assert_eq!(port_of(&[], [7; 8]), None);
    }

    #[test]
    fn the_own_networks_are_those_without_a_gateway() {
        let word = |ip: [u8; 4]| format!("{:08X}", u32::from_ne_bytes(ip));
        let mut text = String::from("Iface Destination Gateway Flags RefCnt Use Metric Mask\n");
        for (to, gateway, flags, mask) in [
            ([0, 0, 0, 0], [10, 1, 0, 1], 3, [0, 0, 0, 0]),
            ([10, 1, 0, 0], [0; 4], 1, [255, 255, 0, 0]),
            ([192, 168, 7, 64], [0; 4], 1, [255, 255, 255, 192]),
            ([192, 168, 8, 0], [0; 4], 0, [255, 255, 255, 0]),
            ([10, 9, 9, 9], [0; 4], 5, [255; 4]),
            ([172, 16, 0, 0], [10, 1, 0, 2], 3, [255, 240, 0, 0]),
        ] {
            let words = [word(to), word(gateway), format!("{flags:04X}")];
            text.push_str(&format!(
                "eth0\t{} 0 0 0 {} 0 0 0\n",
                words.join(" "),
                word(mask)
            ));
        }
        text.push_str("eth1 nonsense\n\n");
        let found: Vec<String> = networks(&text).map(|ip| ip.to_string()).collect();
        assert_eq!(found, ["10.1.255.255", "192.168.7.127"]);
    }

    /// Who answers first and is not who is looked for does not keep the other away.
    #[test]
    fn the_wrong_one_is_passed_over() {
        let at = |port| {
            let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), port).unwrap();
            (listener.address().unwrap(), listener)
        };
        let (wrong, listener) = at(1);
        let socket = listener.socket.try_clone().unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let answering = Arc::clone(&ends);
        // It answers twice, for two receivers.
        let thread = std::thread::spawn(move || {
            while !answering.load(Ordering::Relaxed) {
                let mut question = [0; 64];
                let Ok((count, from)) = socket.recv_from(&mut question) else {
                    continue;
                };
                for port in [1, 2] {
                    let answer = answer_to(&question[..count], port).unwrap();
                    socket.send_to(&answer, from).unwrap();
                }
            }
        });
        let mut announcer = Announcer::of(Some(wrong));
        let mut tried = Vec::new();
        let mut meet = |found: SocketAddr| {
            tried.push(found.port());
            match found.port() {
                2 => Ok(()),
                _ => Err(io::Error::other("another secret")),
            }
        };
        announcer.find(true, &mut meet).unwrap();
        // The next time it is not even tried.
        announcer.find(true, &mut meet).unwrap();
        assert_eq!(tried, [1, 2, 2]);
        ends.store(true, Ordering::Relaxed);
        thread.join().unwrap();
    }
}
