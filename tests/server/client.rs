//! A server, and requests as bytes.

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
}

impl Server {
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

    pub fn pid(&self) -> i32 {
        self.child.id() as i32
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

    /// A request with the token and these headers.
    pub fn request(&self, method: &str, path: &str, headers: &str) -> Reply {
        let (port, token) = (self.port, &self.token);
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n{headers}\r\n"
        );
        self.raw(text.as_bytes())
    }

    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path, "")
    }

    /// An answer of the API.
    #[track_caller]
    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(&format!("/api/1/{path}"));
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        serde_json::from_slice(&reply.body).expect("JSON")
    }

    /// Why there is none: the status, and the sentence with its hint.
    #[track_caller]
    pub fn refusal(&self, path: &str) -> (u16, String) {
        let reply = self.get(&format!("/api/1/{path}"));
        assert!(reply.status >= 400, "{path}: {}", reply.text());
        let json: Value = serde_json::from_slice(&reply.body).expect("JSON");
        let part = |key: &str| json[key].as_str().expect("a sentence").to_owned();
        (
            reply.status,
            format!("{} | {}", part("error"), part("hint")),
        )
    }

    /// Sends it a signal, and waits for its end.
    pub fn end(&mut self, signal: &str) -> ExitStatus {
        let pid = self.pid().to_string();
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
    fn of(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let end = end.unwrap_or(bytes.len());
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok());
        let rest = bytes.get(end + 4..).unwrap_or_default();
        let is_in_pieces = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Self {
            status: status.unwrap_or(0),
            body: match is_in_pieces {
                true => joined(rest),
                false => rest.to_vec(),
            },
            head,
        }
    }

    pub fn text(&self) -> String {
        format!("{}\n{}", self.head, String::from_utf8_lossy(&self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(known, _)| known.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value)
    }
}

fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let length = String::from_utf8_lossy(&rest[..end]).into_owned();
        let length = usize::from_str_radix(&length, 16).expect("a length");
        rest = &rest[end + 2..];
        if length == 0 {
            break;
        }
        body.extend_from_slice(&rest[..length]);
        rest = &rest[length + 2..];
    }
    body
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
