//! Senders and receivers that are none. The frames are made by hand: whoever is hostile does
//! not use our code.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use crate::ends::{Gather, Process, memlog, same};
use crate::sites::Folder;
use crate::ways::small;

/// One that speaks to a receiver.
struct Stranger(TcpStream);

fn frame(kind: u8, fields: &[&[u8]]) -> Vec<u8> {
    let body = fields.concat();
    let mut out = vec![kind];
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    out
}

impl Stranger {
    fn connect(gather: &Gather) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", gather.port)).expect("a connection");
        stream
            .set_read_timeout(Some(Duration::from_secs(40)))
            .expect("a limit");
        Self(stream)
    }

    fn greeted(gather: &Gather, id: u8) -> Self {
        let mut stranger = Self::connect(gather);
        let hello = frame(
            1,
            &[
                b"MLGATHER",
                &1u16.to_le_bytes(),
                &[id; 16],
                &2u16.to_le_bytes(),
                b"\x1b[",
            ],
        );
        stranger.0.write_all(&hello).expect("it is sent");
        assert_eq!(stranger.answer().map(|answer| answer.0), Some(129));
        stranger
    }

    /// The type and the body of an answer; nothing if it was closed.
    fn answer(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.0.read_exact(&mut head).ok()?;
        let length = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).ok()?;
        Some((head[0], body))
    }

    fn ask(&mut self, kind: u8, fields: &[&[u8]]) -> Option<(u8, Vec<u8>)> {
        self.0.write_all(&frame(kind, fields)).ok()?;
        self.answer()
    }

    /// Opens a log under a name: what it is called there, or nothing.
    fn open(&mut self, log: u32, name: &[u8], start: &[u8]) -> Option<String> {
        let length = (name.len() as u16).to_le_bytes();
        let (kind, body) = self.ask(2, &[&log.to_le_bytes(), &length, name, start])?;
        (kind == 130).then(|| String::from_utf8(body[10..].to_vec()).expect("plain letters"))
    }

    /// Whether the receiver has closed it.
    #[track_caller]
    fn is_dropped(&mut self) {
        assert!(self.answer().is_none());
    }
}

/// The beginning of a log, as it may be told.
fn start(folder: &Folder) -> Vec<u8> {
    let log = fs::read(small(folder, "own.memlog")).expect("a log");
    let committed = u32::from_le_bytes(log[16..20].try_into().expect("four bytes"));
    let mut start = log[..committed as usize].to_vec();
    start[6] = 0;
    start
}

/// All below a folder, by names.
fn all_below(folder: &Folder, place: &str) -> Vec<String> {
    let entries = fs::read_dir(folder.path(place)).expect("list").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn names_never_leave_the_folder() {
    let folder = Folder::new("remote-names");
    let start = start(&folder);
    let gather = Gather::start(&folder, &[]);
    let before = all_below(&folder, ".");
    let mut long = vec![b'x'; 255];
    long[200] = b'/';
    let names: [&[u8]; 12] = [
        b"../../evil.memlog",
        b"/tmp/evil.memlog",
        b"..",
        b".",
        b"",
        b"a\0b.memlog",
        b"\x1b[31mred\x07.memlog",
        b"new\nline.memlog",
        b"\xff\xfe.memlog",
        b".hidden",
        b"<script>alert(1)</script>.memlog",
        &long,
    ];
    let mut stranger = Stranger::greeted(&gather, 1);
    for (log, name) in (1..).zip(names) {
        let got = stranger.open(log, name, &start);
        // All are the same log, and it is open already where a name came to the same.
        if let Some(got) = got {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+=@,%".contains(c);
            assert!(
                got.ends_with(".memlog") && got.chars().all(is_plain),
                "{got}"
            );
            assert!(!got.starts_with(['.', '-']) && got.len() < 200, "{got}");
        }
    }
    assert_eq!(all_below(&folder, "."), before);
    for name in all_below(&folder, "gathered") {
        assert!(
            name.ends_with(".memlog") && !name.starts_with('.'),
            "{name}"
        );
    }
    // What is said of it has no control characters either.
    let said = gather.process.said();
    assert!(!said.contains('\x1b') && !said.contains('\x07'), "{said:?}");
}

#[test]
fn what_is_no_question_ends_the_connection_and_nothing_else() {
    let folder = Folder::new("remote-frames");
    let log = small(&folder, "a.memlog");
    let start = start(&folder);
    let gather = Gather::start(&folder, &[]);
    let number = 1u32.to_le_bytes();
    let before_hello: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0; 64],
        &[255; 64],
        &frame(8, &[]),
        &frame(1, &[b"MLGATHEX", &[0; 40]]),
    ];
    for bytes in before_hello {
        let mut stranger = Stranger::connect(&gather);
        stranger.0.write_all(bytes).expect("it is sent");
        stranger.is_dropped();
    }
    // A newer memlog is told, and then dropped.
    let mut newer = Stranger::connect(&gather);
    newer
        .0
        .write_all(&frame(1, &[b"MLGATHER", &9u16.to_le_bytes(), b"whatever"]))
        .expect("it is sent");
    let (kind, body) = newer.answer().expect("a refusal");
    assert_eq!(kind, 131);
    assert!(String::from_utf8_lossy(&body).contains("version 9"));
    newer.is_dropped();
    let length = 1u16.to_le_bytes();
    let bad: [Vec<u8>; 10] = [
        // Another log than was opened, in each question.
        frame(4, &[&7u32.to_le_bytes(), &[0; 8], b"x"]),
        frame(5, &[&7u32.to_le_bytes()]),
        frame(6, &[&7u32.to_le_bytes(), &[0; 8]]),
        frame(3, &[&7u32.to_le_bytes(), &[0; 4], &[1, 0, 0, 0]]),
        // Too short, too long, too many.
        frame(4, &[&number, &[0; 3]]),
        frame(3, &[&number, &[0; 4], &[255; 4]]),
        vec![4, 255, 255, 255, 255],
        // Opened twice, greeted twice, unknown.
        frame(2, &[&number, &length, b"x", &start]),
        frame(
            1,
            &[
                b"MLGATHER",
                &1u16.to_le_bytes(),
                &[1; 16],
                &0u16.to_le_bytes(),
            ],
        ),
        frame(99, &[]),
    ];
    for (id, bytes) in (10..).zip(&bad) {
        let mut stranger = Stranger::greeted(&gather, id);
        let opened = stranger.open(1, format!("bad{id}").as_bytes(), &start);
        assert!(opened.is_some(), "{id}");
        stranger.0.write_all(bytes).expect("it is sent");
        stranger.is_dropped();
    }
    // What does not begin as a log has no file.
    let mut stranger = Stranger::greeted(&gather, 2);
    for (log, start) in (1..).zip([&b""[..], b"MLOG", &[0xFF; 4000], &start[..600]]) {
        assert_eq!(stranger.open(log, b"none.memlog", start), None);
    }
    assert!(!folder.path("gathered/none.memlog").exists());
    // It still serves.
    gather.sends(&folder, &[&log]);
    same(&log, &folder.path("gathered/a.memlog"));
    let said = gather.end();
    assert!(said.contains("is not let in"), "{said}");
}

#[test]
fn places_beyond_the_disk_are_refused() {
    let folder = Folder::new("remote-far");
    let start = start(&folder);
    let gather = Gather::start(&folder, &[]);
    let number = 1u32.to_le_bytes();
    for (id, at) in [(1, u64::MAX - 1), (2, 1 << 60), (3, i64::MAX as u64)] {
        let mut stranger = Stranger::greeted(&gather, id);
        let name = format!("far{id}.memlog");
        stranger.open(1, name.as_bytes(), &start).expect("a file");
        stranger
            .0
            .write_all(&frame(4, &[&number, &at.to_le_bytes(), b"x"]))
            .expect("it is sent");
        let (kind, body) = stranger.ask(5, &[&number]).expect("an answer");
        assert_eq!(kind, 131, "{body:?}");
        // And so is a length.
        let mut stranger = Stranger::greeted(&gather, id + 10);
        let name = format!("long{id}.memlog");
        stranger.open(1, name.as_bytes(), &start).expect("a file");
        let (kind, _) = stranger
            .ask(6, &[&number, &at.to_le_bytes()])
            .expect("an answer");
        assert_eq!(kind, 131);
    }
    for log in folder.logs("gathered") {
        let length = fs::metadata(&log).expect("a log").len();
        assert!(length < 1 << 20, "{log:?}: {length}");
    }
}

/// A log that somebody writes is not given to another, unless he was silent.
#[test]
fn two_never_write_one_file() {
    let folder = Folder::new("remote-two");
    let start = start(&folder);
    let gather = Gather::start(&folder, &[]);
    let mut first = Stranger::greeted(&gather, 1);
    let name = first.open(1, b"a.memlog", &start).expect("a file");
    let mut second = Stranger::greeted(&gather, 2);
    assert_eq!(second.open(1, b"a.memlog", &start), None);
    // A receiver of its own process does not get it either.
    let other = Gather::start(&folder, &[]);
    let mut third = Stranger::greeted(&other, 3);
    assert_eq!(third.open(1, b"a.memlog", &start), None);
    // The same sender over a new connection does; the old one is ended.
    let mut again = Stranger::greeted(&gather, 1);
    assert_eq!(again.open(1, b"a.memlog", &start), Some(name));
    first.is_dropped();
    assert_eq!(folder.logs("gathered").len(), 1);
}

#[test]
fn who_says_nothing_is_dropped_and_holds_nobody_up() {
    let folder = Folder::new("remote-slow");
    let log = small(&folder, "a.memlog");
    folder.says(&["gather", "--new-secret", "key"]);
    let gather = Gather::start(&folder, &["--secret", "key"]);
    let begun = Instant::now();
    // More than are let in at once, of which some say a byte at a time.
    let mut silent: Vec<TcpStream> = (0..60)
        .map(|_| TcpStream::connect(("127.0.0.1", gather.port)).expect("a connection"))
        .collect();
    for stream in &mut silent {
        let _ = stream.write_all(&[22]);
    }
    gather.sends(
        &folder,
        &["--secret".as_ref(), "key.send".as_ref(), log.as_os_str()],
    );
    same(&log, &folder.path("gathered/a.memlog"));
    for stream in &mut silent {
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .expect("a limit");
        let _ = stream.write_all(&[3]);
    }
    let mut last = [0; 100];
    for stream in &mut silent {
        while let Ok(1..) = stream.read(&mut last) {}
    }
    assert!(
        begun.elapsed() < Duration::from_secs(25),
        "{:?}",
        begun.elapsed()
    );
}

/// What a sender said before says nothing to a receiver once more: keys are new each time.
#[test]
fn what_was_heard_cannot_be_said_again() {
    let folder = Folder::new("remote-replay");
    let log = small(&folder, "a.memlog");
    folder.says(&["gather", "--new-secret", "key"]);
    let gather = Gather::start(&folder, &["--secret", "key"]);
    // In between somebody listens.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("a port").port();
    let to = gather.port;
    let heard = std::thread::spawn(move || {
        let (mut one, _) = listener.accept().expect("a sender");
        let mut other = TcpStream::connect(("127.0.0.1", to)).expect("a receiver");
        let (mut back, mut into) = (
            other.try_clone().expect("a socket"),
            one.try_clone().expect("a socket"),
        );
        std::thread::spawn(move || std::io::copy(&mut back, &mut into));
        let mut heard = Vec::new();
        let mut bytes = [0; 10_000];
        while let Ok(count @ 1..) = one.read(&mut bytes) {
            heard.extend(&bytes[..count]);
            if other.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        heard
    });
    let words = ["stream", "--secret", "key.send", "a.memlog"];
    let mut command = memlog(&folder, &words);
    command.arg(format!("127.0.0.1:{port}"));
    let mut stream = Process::start(command);
    assert_eq!(stream.ends(), Some(0), "{}", stream.said());
    let heard = heard.join().expect("it listened");
    same(&log, &folder.path("gathered/a.memlog"));
    assert!(heard.len() > 10_000, "{} bytes", heard.len());
    // Nothing of it can be read: neither the name nor the program's path.
    let has = |word: &[u8]| heard.windows(word.len()).any(|window| window == word);
    assert!(!has(b"a.memlog") && !has(b"MLGATHER") && !has(b"grows"));
    fs::remove_file(folder.path("gathered/a.memlog")).expect("the log");
    let mut again = Stranger::connect(&gather);
    let _ = again.0.write_all(&heard);
    while let Ok(1..) = again.0.read(&mut [0; 1000]) {}
    assert!(folder.logs("gathered").is_empty());
}

/// A receiver that answers nonsense stops its sender, and does not end it.
#[test]
fn a_receiver_that_is_none_is_left() {
    let folder = Folder::new("remote-none");
    let log = small(&folder, "a.memlog");
    let hello = frame(129, &[b"MLGATHER", &1u16.to_le_bytes()]);
    let opened = frame(
        130,
        &[&(1u64 << 40).to_le_bytes(), &1u16.to_le_bytes(), b"x"],
    );
    let answers: [Vec<u8>; 6] = [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(),
        vec![129, 255, 255, 255, 255],
        frame(129, &[b"MLGATHER", &7u16.to_le_bytes(), b"newer"]),
        [hello.clone(), frame(133, &[])].concat(),
        [hello.clone(), opened, frame(132, &[&[1; 16]])].concat(),
        [hello, frame(131, &[&[1], b"\x1b[31mno\n"])].concat(),
    ];
    for answer in answers {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("a port").port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.write_all(&answer);
                let _ = std::io::copy(&mut stream, &mut std::io::sink());
            }
        });
        let mut command = memlog(&folder, &["stream", "--give-up-after", "0", "a.memlog"]);
        command.arg(format!("127.0.0.1:{port}"));
        let mut stream = Process::start(command);
        assert_eq!(stream.ends(), Some(2), "{}", stream.said());
        assert!(!stream.said().contains('\x1b'), "{:?}", stream.said());
    }
    assert!(log.exists());
}
