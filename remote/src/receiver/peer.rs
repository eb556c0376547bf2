//! Who is at the other end of a connection within this machine: the kernel lists whose
//! each socket is.

use std::fs;
use std::net::{IpAddr, SocketAddr};

use rustix::process::geteuid;

/// Whether a socket of this machine is this user's, or root's.
pub fn is_own(peer: SocketAddr) -> bool {
    let file = match peer.is_ipv4() {
        true => "/proc/net/tcp",
        false => "/proc/net/tcp6",
    };
    let Ok(list) = fs::read_to_string(file) else {
        return false;
    };
    let wanted = address(peer);
    let owner = list.lines().skip(1).find_map(|line| {
        let mut words = line.split_whitespace();
        let found = words.nth(1)? == wanted;
        // Behind the address: the other's, the state, four more.
        found.then(|| words.nth(5)?.parse::<u32>().ok())?
    });
    owner.is_some_and(|owner| owner == 0 || owner == geteuid().as_raw())
}

/// As the list has it: words of the machine's own order.
fn address(peer: SocketAddr) -> String {
    let bytes = match peer.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words = bytes.chunks_exact(4).map(|four| {
        let word = u32::from_ne_bytes([four[0], four[1], four[2], four[3]]);
        format!("{word:08X}")
    });
    format!("{}:{:04X}", words.collect::<String>(), peer.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn whose_a_connection_is_can_be_told() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let stream = TcpStream::connect(to).unwrap();
        let (_accepted, peer) = listener.accept().unwrap();
        assert!(is_own(peer));
        drop(stream);
        assert!(!is_own("127.0.0.1:1".parse().unwrap()));
    }
}
