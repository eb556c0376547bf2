//! A server of a test's own, and requests as bytes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sites::Folder;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server that is ended with its test.
pub struct Server {
    child: Child,
    pub port: u16,
    pub token: String,
    socket: Option<PathBuf>,
}

/// What it answered.
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    is_whole: bool,
}

impl Server {
    /// Of these logs.
    pub fn of(folder: &Folder, logs: &[&Path]) -> Self {
        Self::start(folder, logs)
    }

    /// Of these logs, with these options.
    pub fn start<S: AsRef<std::ffi::OsStr>>(folder: &Folder, words: &[S]) -> Self {
        // No `timeout` before it: its signals are the test's.
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        command.arg("server").args(words);
        let socket = words.windows(2).find(|pair| pair[0].as_ref() == "--socket");
        let socket = socket.map(|pair| folder.path(&pair[1].as_ref().to_string_lossy()));
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("a line");
        let (_, link) = line.trim().split_once("http://127.0.0.1:").expect(&line);
        let (port, token) = link.split_once("/?token=").expect(&line);
        // What else it says is read, so that it never waits.
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        Self {
            child,
            port: port.parse().expect("a port"),
            token: token.to_owned(),
            socket,
        }
    }

    /// The number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Bytes of it that are resident.
    pub fn resident_bytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kb = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kb.and_then(|kb| kb.parse::<u64>().ok()).expect("a number") * 1024
    }

    /// A request that is on its way; nothing of the answer is read.
    pub fn open(&self, path: &str) -> TcpStream {
        let mut stream = self.connect();
        let request = self.head("GET", path, "");
        stream.write_all(request.as_bytes()).expect("it is sent");
        stream
    }

    /// What it says to bytes that may be anything.
    pub fn raw(&self, request: &[u8]) -> Reply {
        match &self.socket {
            Some(path) => raw(UnixStream::connect(path).expect("a connection"), request),
            None => raw(self.connect(), request),
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        stream
    }

    /// A request with a body, as bytes.
    pub fn asked_with(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        format!("{}{body}", self.head(method, path, headers))
    }

    /// Sends it, and does not wait.
    pub fn send(&self, request: &str) -> TcpStream {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("it is sent");
        stream
    }

    /// The same, and waits.
    pub fn request_with(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        self.raw(self.asked_with(method, path, headers, body).as_bytes())
    }

    fn head(&self, method: &str, path: &str, headers: &str) -> String {
        let (port, token) = (self.port, &self.token);
        format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n{headers}\r\n"
        )
    }

    /// A request with the token and these headers.
    pub fn request(&self, method: &str, path: &str, headers: &str) -> Reply {
        self.raw(self.head(method, path, headers).as_bytes())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path, "")
    }

    /// One that is right, as JSON.
    #[track_caller]
    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        assert_eq!(
            reply.header("content-type"),
            Some("application/json"),
            "{path}"
        );
        reply.json()
    }

    /// The same of our own API.
    #[track_caller]
    pub fn api(&self, path: &str) -> Value {
        self.json(&format!("/api/1/{path}"))
    }

    /// One that is right, as text.
    #[track_caller]
    pub fn text(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.body_text()
    }

    /// One that is refused: the status, and the sentence with its hint.
    #[track_caller]
    pub fn refuses(&self, path: &str) -> (u16, String) {
        let reply = self.get(path);
        assert!(
            (400..500).contains(&reply.status),
            "{path}: {}",
            reply.text()
        );
        let json = reply.json();
        let part = |key: &str| json[key].as_str().expect("a sentence").to_owned();
        assert!(!part("error").is_empty(), "{path}: no sentence");
        (
            reply.status,
            format!("{} | {}", part("error"), part("hint")),
        )
    }

    /// Sends it a signal, and waits for its end.
    pub fn end(&mut self, signal: &str) -> ExitStatus {
        let pid = self.id().to_string();
        let kill = std::process::Command::new("kill")
            .args([signal, &pid])
            .status();
        assert!(kill.expect("kill").success());
        self.child.wait().expect("it ends")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn raw(mut stream: impl Read + Write, request: &[u8]) -> Reply {
    // It may answer before all is said, and close.
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    Reply::of(&bytes)
}

impl Reply {
    /// All of what comes. A body that ends too soon is none.
    #[track_caller]
    pub fn read(mut stream: impl Read) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("all of it");
        let reply = Self::of(&bytes);
        assert!(reply.is_whole, "the body was cut");
        reply
    }

    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or(bytes.len());
        let rest = bytes.get(end + 4..).unwrap_or_default();
        let mut reply = Self {
            status: 0,
            head: String::from_utf8_lossy(&bytes[..end]).into_owned(),
            body: rest.to_vec(),
            is_whole: true,
        };
        let status = reply.head.split(' ').nth(1);
        reply.status = status.and_then(|word| word.parse().ok()).unwrap_or(0);
        let length = reply.header("content-length");
        let length = length.and_then(|length| length.parse::<usize>().ok());
        if reply.header("transfer-encoding") == Some("chunked") {
            (reply.body, reply.is_whole) = joined(rest);
        } else if let Some(length) = length {
            reply.is_whole = rest.len() == length;
        }
        reply
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        let found = serde_json::from_slice(&self.body);
        found.unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// All of it, to be told.
    pub fn text(&self) -> String {
        format!("{}\n{}", self.head, self.body_text())
    }

    pub fn body_text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

/// The pieces of a body, and whether the last one came.
fn joined(mut rest: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = String::from_utf8_lossy(&rest[..end]).into_owned();
        let length = usize::from_str_radix(&length, 16).expect("a length");
        let Some(piece) = rest.get(end + 2..end + 2 + length) else {
            return (body, false);
        };
        if length == 0 {
            return (body, true);
        }
        body.extend_from_slice(piece);
        rest = rest.get(end + 4 + length..).unwrap_or_default();
    }
    (body, false)
}

/// A value as it stands in a query.
pub fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

/// The name of a log as a word.
pub fn word(log: &Path) -> &str {
    log.to_str().expect("a name")
}
