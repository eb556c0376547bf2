//! A server of a test's own, and a client that speaks HTTP in the plainest way.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sites::Folder;

/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that runs, and ends with the test.
pub struct Server {
    child: Child,
    /// Host and port.
    pub place: String,
    pub token: String,
}

/// What came.
pub struct Answer {
    pub status: u16,
    /// All of the head.
    pub head: String,
    pub body: Vec<u8>,
}

impl Server {
    /// One of these logs.
    pub fn of(folder: &Folder, files: &[&Path]) -> Self {
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        command.arg("server").args(files).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
        let out = child.stdout.take().expect("its words");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("its link");
        let link = line.trim().rsplit_once("http://").expect("a link").1;
        let (place, token) = link.split_once("/?token=").expect("a token");
        Self {
            place: place.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A request that is on its way; nothing of the answer is read.
    #[track_caller]
    pub fn open(&self, path: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.place).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let (place, token) = (&self.place, &self.token);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {place}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).expect("it is sent");
        stream
    }

    /// The answer to a request, whatever it is.
    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        Answer::read(self.open(path))
    }

    /// One that is right, as JSON.
    #[track_caller]
    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let head = answer.head.to_lowercase();
        assert!(
            head.contains("content-type: application/json"),
            "{path}: {head}"
        );
        answer.json()
    }

    /// One that is right, as text.
    #[track_caller]
    pub fn text(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        answer.text()
    }

    /// A request that is refused: its status, and the sentence.
    #[track_caller]
    pub fn refuses(&self, path: &str) -> (u16, String) {
        let answer = self.get(path);
        let sentence = answer.json()["error"].as_str().map(str::to_owned);
        let sentence = sentence.filter(|sentence| !sentence.is_empty());
        assert!(
            (400..500).contains(&answer.status),
            "{path}: {}",
            answer.status
        );
        (
            answer.status,
            sentence.unwrap_or_else(|| panic!("{path}: no sentence")),
        )
    }

    /// Bytes of it that are resident.
    pub fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kb.and_then(|kb| kb.parse::<u64>().ok()).expect("a number") * 1024
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// All of what comes. A body that ends too soon is none.
    #[track_caller]
    pub fn read(stream: TcpStream) -> Self {
        let mut reader = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let count = reader.read_line(&mut head).expect("a head");
            assert!(count > 0, "the connection ended in the head: {head}");
        }
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        let field = |name: &str| {
            let lines = head.lines().filter_map(|line| line.split_once(": "));
            let mut lines = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
            lines.next().map(|(_, value)| value.to_owned())
        };
        let mut body = Vec::new();
        match field("content-length") {
            Some(length) => {
                body = vec![0; length.parse().expect("a length")];
                reader.read_exact(&mut body).expect("all of the body");
            }
            None => read_chunks(&mut reader, &mut body),
        }
        Self {
            status: status.expect("a status"),
            head,
            body,
        }
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        let found = serde_json::from_slice(&self.body);
        found.unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

#[track_caller]
fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a chunk");
        let length = usize::from_str_radix(line.trim(), 16);
        let length = length.unwrap_or_else(|_| panic!("the body was cut: {line:?}"));
        let start = body.len();
        body.resize(start + length, 0);
        reader
            .read_exact(&mut body[start..])
            .expect("all of a chunk");
        reader.read_line(&mut line).expect("its end");
        if length == 0 {
            return;
        }
    }
}
