//! Finding each other between machines, which are networks of the kernel's (`unshare -n`)
//! with a cable between two.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::ends::{Process, memlog, same, until};
use crate::sites::Folder;
use crate::ways::small;

/// A machine: a process that keeps its network alive.
struct Machine(Child);

impl Machine {
    /// None where this is not allowed.
    fn new() -> Option<Self> {
        let mut command = Command::new("unshare");
        command.args(["-n", "sleep", "600"]).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let own = fs::read_link("/proc/self/ns/net").ok()?;
        let theirs = format!("/proc/{}/ns/net", child.id());
        until("a network of its own, or none", || {
            fs::read_link(&theirs).is_ok_and(|theirs| theirs != own)
                || child.try_wait().is_ok_and(|ended| ended.is_some())
        });
        let machine = Self(child);
        (machine.does(&["link", "set", "lo", "up"])).then_some(machine)
    }

    fn does(&self, words: &[&str]) -> bool {
        let mut command = self.command("ip");
        let status = command.args(words).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    #[track_caller]
    fn ip(&self, words: &str) {
        let words: Vec<&str> = words.split(' ').collect();
        assert!(self.does(&words), "ip {words:?}");
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new("nsenter");
        command.args(["-t", &self.0.id().to_string(), "-n", program]);
        command
    }

    /// memlog on this machine.
    fn memlog(&self, folder: &Folder, words: &[&str]) -> Process {
        let inner = memlog(folder, words);
        let mut command = folder.command("nsenter");
        command.args(["-t", &self.0.id().to_string(), "-n"]);
        command.arg(inner.get_program()).args(inner.get_args());
        Process::start(command)
    }

    fn gather(&self, folder: &Folder, words: &[&str]) -> Process {
        let process = self.memlog(folder, &[&["gather"][..], words].concat());
        process.says("Ctrl-C ends it");
        process
    }

    /// Sends `a.memlog`.
    fn stream(&self, folder: &Folder, words: &[&str]) -> Process {
        self.memlog(folder, &[&["stream", "a.memlog"], words].concat())
    }

    /// Tries once to send it, in vain.
    #[track_caller]
    fn cannot_stream(&self, folder: &Folder, words: &[&str], why: &str) {
        let mut stream = self.stream(folder, &[words, &["--give-up-after=0"]].concat());
        assert_eq!(stream.ends(), Some(2), "{}", stream.said());
        stream.says(why);
    }

    /// What is made there stays there.
    fn inside<T: Send + 'static>(&self, make: impl FnOnce() -> T + Send + 'static) -> T {
        let there = fs::File::open(format!("/proc/{}/ns/net", self.0.id())).expect("a network");
        let thread = std::thread::spawn(move || {
            let kind = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(std::os::fd::AsFd::as_fd(&there), kind).expect("setns");
            make()
        });
        thread.join().expect("a thread")
    }

    fn udp(&self, at: &'static str) -> UdpSocket {
        self.inside(move || UdpSocket::bind(at).expect("a socket"))
    }

    /// A number that its kernel counts.
    fn datagrams_sent(&self) -> u64 {
        let text = fs::read_to_string(format!("/proc/{}/net/snmp", self.0.id())).expect("snmp");
        let mut lines = text.lines().filter(|line| line.starts_with("Udp:"));
        let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
        let at = names.split(' ').position(|name| name == "OutDatagrams");
        let value = values.split(' ').nth(at.expect("a name"));
        value.expect("a value").parse().expect("a number")
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// So many machines, the first of which has a cable to each other: 10.77.N.1 and 10.77.N.2.
fn machines<const N: usize>() -> Option<[Machine; N]> {
    let all: Vec<Machine> = (0..N).map_while(|_| Machine::new()).collect();
    let Ok(all) = <[Machine; N]>::try_from(all) else {
        println!("SKIPPED between machines: this user may make none (unshare -n, ip)");
        return None;
    };
    for number in 1..N {
        let other = all[number].0.id();
        let (a, b) = (format!("a{number}"), format!("b{number}"));
        let cable = format!("link add {a} type veth peer name {b} netns {other}");
        if !all[0].does(&cable.split(' ').collect::<Vec<_>>()) {
            println!("SKIPPED between machines: the kernel has no veth");
            return None;
        }
        for (machine, name, host) in [(&all[0], a, 1), (&all[number], b, 2)] {
            machine.ip(&format!("addr add 10.77.{number}.{host}/24 dev {name}"));
            machine.ip(&format!("link set {name} up"));
        }
    }
    Some(all)
}

/// A folder with a log, and two secrets.
fn prepared(name: &str) -> (Folder, PathBuf) {
    let folder = Folder::new(name);
    let log = small(&folder, "a.memlog");
    for name in ["key", "other"] {
        folder.says(&["gather", "--new-secret", name]);
    }
    (folder, log)
}

const EVERYWHERE: &str = "--listen=0.0.0.0:0";

#[track_caller]
fn arrives(stream: &mut Process, log: &Path, gathered: &Path) {
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    same(log, gathered);
    fs::remove_file(gathered).expect("the log");
}

#[test]
fn they_find_each_other_between_machines_when_asked() {
    let Some([here, there]) = machines() else {
        return;
    };
    let (folder, log) = prepared("remote-machines");
    let gathered = folder.path("gathered/a.memlog");
    let key = ["--secret", "key", EVERYWHERE, "-o", "gathered"];
    // Who does not ask sends no datagram.
    let gather = there.gather(&folder, &key);
    let said = gather.said();
    let port = said.split_once("listens at 0.0.0.0:").expect(&said).1;
    let to = format!("10.77.1.2:{}", port.split_once(',').expect(&said).0);
    let mut stream = here.stream(&folder, &["--secret", "key.send", &to]);
    arrives(&mut stream, &log, &gathered);
    assert_eq!((here.datagrams_sent(), there.datagrams_sent()), (0, 0));
    // Who is not asked to answer does not.
    let asks = ["--secret", "key.send", "--announce"];
    let nobody = "with --discover in the own networks: nobody answered";
    here.cannot_stream(&folder, &asks, nobody);
    assert!(here.datagrams_sent() > 0);
    assert_eq!(there.datagrams_sent(), 0);
    drop(gather);
    // Both do: there is no address and no route, but the network itself.
    let gather = there.gather(&folder, &[&key[..], &["--discover"]].concat());
    gather.says("answers who looks for it at 0.0.0.0:43512");
    arrives(&mut here.stream(&folder, &asks), &log, &gathered);
    gather.says("a.memlog begins");
    gather.says("10.77.1.1:");
    // At one address, as where there is no broadcast.
    let at = ["--secret", "key.send", "--announce=10.77.1.2:43512"];
    arrives(&mut here.stream(&folder, &at), &log, &gathered);
    // Without a secret nothing leaves the machine, whoever answers.
    let answered = there.datagrams_sent();
    std::thread::scope(|scope| {
        for (words, why) in [
            (&asks[2..], "on this machine: nobody answered"),
            (&at[2..], "at 10.77.1.2:43512: nobody answered"),
        ] {
            scope.spawn(|| here.cannot_stream(&folder, words, why));
        }
    });
    assert!(there.datagrams_sent() > answered);
    assert!(!gathered.exists());
}

/// Two machines answer, and one has another secret, or is no receiver at all.
#[test]
fn the_one_with_the_key_is_found_among_others() {
    let Some([here, wrong, right]) = machines() else {
        return;
    };
    let (folder, log) = prepared("remote-machines-two");
    let start = |machine: &Machine, key, output| {
        let words = ["--secret", key, EVERYWHERE, "--discover", "-o", output];
        machine.gather(&folder, &words)
    };
    let gather = start(&wrong, "other", "wrong");
    let _right = start(&right, "key", "gathered");
    let gathered = folder.path("gathered/a.memlog");
    let asks = ["--secret", "key.send", "--announce"];
    for _ in 0..2 {
        arrives(&mut here.stream(&folder, &asks), &log, &gathered);
    }
    assert!(folder.logs("wrong").is_empty());
    drop(gather);
    // In its place somebody who answers anything.
    let socket = wrong.udp("0.0.0.0:43512");
    let listener = wrong.inside(|| TcpListener::bind("0.0.0.0:0").expect("a port"));
    let port = listener.local_addr().expect("a port").port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
            let _ = stream.read(&mut [0; 100]);
        }
    });
    let asked = Arc::new(AtomicBool::new(false));
    let was_asked = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut question = [0; 100];
        while let Ok((count, from)) = socket.recv_from(&mut question) {
            was_asked.store(true, Ordering::Relaxed);
            answer_anything(&socket, &question[..count], from, port);
        }
    });
    arrives(&mut here.stream(&folder, &asks), &log, &gathered);
    assert!(asked.load(Ordering::Relaxed), "it was not asked");
}

fn answer_anything(socket: &UdpSocket, question: &[u8], from: SocketAddr, port: u16) {
    let answer = |number: &[u8], port: u16| [b"MLGHERE\x01", number, &port.to_le_bytes()].concat();
    let number = &question[8..16];
    let right = answer(number, port);
    for bytes in [
        &b""[..],
        &[0xFF; 1400],
        question,
        &right[..17],
        &[&right[..], b"x"].concat(),
        &answer(b"whatever", port),
        &answer(number, 0),
        &answer(number, 1),
        &right,
    ] {
        let _ = socket.send_to(bytes, from);
    }
}

#[test]
fn datagrams_of_strangers_do_nothing() {
    let Some([here, there]) = machines() else {
        return;
    };
    let (folder, log) = prepared("remote-machines-strangers");
    let words = [
        "--secret",
        "key",
        EVERYWHERE,
        "--discover",
        "-o",
        "gathered",
    ];
    let mut gather = there.gather(&folder, &words);
    let stranger = here.udp("0.0.0.0:0");
    let wait = Some(Duration::from_millis(300));
    stranger.set_read_timeout(wait).expect("a limit");
    let question = [&b"MLGFIND\x01"[..], &[7; 8], &[0; 2]].concat();
    let mut random = crate::killed::Random::new();
    for round in 0..3000 {
        let mut bytes = question.clone();
        match round % 3 {
            0 => bytes[random.below(8) as usize] ^= 1 << random.below(8),
            1 => bytes.truncate(random.below(18) as usize),
            _ => bytes.resize(19 + random.below(1400) as usize, random.below(256) as u8),
        }
        let _ = stranger.send_to(&bytes, "10.77.1.2:43512");
    }
    assert!(stranger.recv_from(&mut [0; 64]).is_err(), "it answered");
    // A question has an answer of the same length, once.
    until("an answer", || {
        let _ = stranger.send_to(&question, "10.77.1.2:43512");
        stranger
            .recv_from(&mut [0; 64])
            .is_ok_and(|(count, _)| count == question.len())
    });
    let gathered = folder.path("gathered/a.memlog");
    let asks = ["--secret", "key.send", "--announce"];
    arrives(&mut here.stream(&folder, &asks), &log, &gathered);
    gather.signal("INT");
    assert_eq!(gather.ends(), Some(0), "{}", gather.said());
}

/// A machine that is in no network yet, or in one without an address for all.
#[test]
fn a_network_may_come_later() {
    let Some([here, there]) = machines() else {
        return;
    };
    let (folder, log) = prepared("remote-machines-later");
    let words = [
        "--secret",
        "key",
        EVERYWHERE,
        "--discover",
        "-o",
        "gathered",
    ];
    let _gather = there.gather(&folder, &words);
    here.ip("link set a1 down");
    let has_tunnel = here.does(&["tuntap", "add", "mode", "tun", "name", "t1"]);
    if has_tunnel {
        here.ip("addr add 10.99.0.1 peer 10.99.0.2 dev t1");
        here.ip("link set t1 up");
    }
    let mut stream = here.stream(&folder, &["--secret", "key.send", "--announce"]);
    stream.says("no receiver: ");
    here.ip("link set a1 up");
    arrives(&mut stream, &log, &folder.path("gathered/a.memlog"));
}

/// There is no broadcast in IPv6: all machines of a link have one address.
#[test]
fn they_find_each_other_by_ipv6() {
    let Some([here, there]) = machines() else {
        return;
    };
    for machine in [&here, &there] {
        let path = format!("/proc/{}/net/if_inet6", machine.0.id());
        if fs::read_to_string(path).is_ok_and(|list| list.contains("lo")) {
            continue;
        }
        println!("SKIPPED IPv6 between machines: the kernel has none");
        return;
    }
    here.ip("addr del 10.77.1.1/24 dev a1");
    there.ip("addr del 10.77.1.2/24 dev b1");
    let (folder, log) = prepared("remote-machines-6");
    let words = [
        "--secret",
        "key",
        "--listen=[::]:0",
        "--discover",
        "-o",
        "gathered",
    ];
    let gather = there.gather(&folder, &words);
    gather.says("answers who looks for it at [::]:43512");
    let index = here.inside(|| {
        let list = fs::read_to_string("/proc/thread-self/net/dev_mcast").expect("a list");
        let line = list
            .lines()
            .find(|line| line.contains(" a1 "))
            .expect("a cable");
        line.split_whitespace().next().expect("a number").to_owned()
    });
    let all = format!("--announce=[ff02::1%{index}]:43512");
    let mut stream = here.stream(&folder, &["--secret", "key.send", &all]);
    arrives(&mut stream, &log, &folder.path("gathered/a.memlog"));
    // The one that answered has an address of that link alone.
    assert!(gather.said().contains("fe80:"), "{}", gather.said());
}
