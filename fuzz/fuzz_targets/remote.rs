//! Attacks both ends of the way to another machine: the bytes that `memlog gather` gets
//! from a sender, before it has shown its keys and after, and those that `memlog stream`
//! gets from a receiver.
//!
//! ```text
//! how      u8    0, 1: to a receiver; 2: to a receiver with keys; 3, 4: to a sender
//!                1, 4: pieces follow; else bytes as they stand
//! piece    u8    a frame's type, or one of those below
//!          u16   length of the body that follows, little-endian
//! ```
//! It fails where an end panics, stands still, or takes much memory; where a receiver
//! writes anything but plain files with plain names into its folder, or says a control
//! character; and where a sender says that all of a log is there though it was never told
//! the checksum of each of its chunks.
#![no_main]
#![allow(unsafe_code)]
//! # Safety
//! The memory file is this target's own.

use std::cell::RefCell;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_remote::{
    Connect, Ended, Gatherer, Limits, Notice, Pace, Program, Secret, Secured, Sender, Source,
    new_secret,
};
use ring::digest::{SHA256, digest};

#[global_allocator]
static MEMORY: Counting = Counting;

/// A frame of 80 KiB is announced by five bytes, and a chunk is kept for checksums.
const LIMIT: Limit = Limit {
    per_byte: 64,
    besides: 2 << 20,
};
const CHUNK: usize = 64 << 10;
/// A question for checksums of a thousand chunks has 17 bytes, and whoever asks has the keys.
const MOST_PIECES: usize = 24;

/// Pieces that stand for what an honest end says.
const NEW_CONNECTION: u8 = 0;
const OPEN: u8 = 200;
const GREETING: u8 = 201;
const WRITE: u8 = 202;
const SUMS: u8 = 203;

struct Attack {
    /// The receiver's folder, alone in another.
    folder: PathBuf,
    log: PathBuf,
    log_bytes: Vec<u8>,
    sums: Vec<u8>,
    keys: Secured,
    input: File,
    null: File,
}

thread_local! {
    static ATTACK: RefCell<Attack> = RefCell::new(Attack::new());
}

fuzz_target!(|input: &[u8]| {
    let Some((&how, bytes)) = input.split_first() else {
        return;
    };
    ATTACK.with_borrow_mut(|attack| {
        let connections = match how % 5 {
            1 => attack.pieces(bytes, 1, GREETING),
            4 => attack.pieces(bytes, 129, GREETING),
            _ => vec![bytes.to_vec()],
        };
        let length: usize = connections.iter().map(Vec::len).sum();
        let secured = match how % 5 {
            2 => attack.keys.clone(),
            _ => Secured::Otherwise,
        };
        limited(length, LIMIT, || match how % 5 {
            0..=2 => attack.receive(&connections, &secured),
            _ => attack.send(&connections.concat()),
        });
        attack.tidy();
    });
});

impl Attack {
    fn new() -> Self {
        let shared = Path::new("/dev/shm");
        let parent = if shared.is_dir() {
            shared.into()
        } else {
            std::env::temp_dir()
        };
        let parent = parent.join(format!("memlog-fuzz-remote-{}", std::process::id()));
        let _ = fs::remove_dir_all(&parent);
        fs::create_dir(&parent).expect("a folder");
        let own = parent.join("secret");
        new_secret(&own).expect("a secret");
        let secret = Secret::of_receiver(&own).expect("a secret");
        for name in ["secret", "secret.send"] {
            fs::remove_file(parent.join(name)).expect("a secret");
        }
        let log = PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../golden/v1/tiny.memlog"
        ));
        let log_bytes = fs::read(&log).expect("a log");
        let sum = |chunk: &[u8]| digest(&SHA256, chunk).as_ref()[..16].to_vec();
        // SAFETY: a new descriptor, which nobody else has.
        let input = unsafe {
            let fd = libc::memfd_create(c"input".as_ptr(), libc::MFD_CLOEXEC);
            assert!(fd >= 0, "a file in memory");
            File::from_raw_fd(fd)
        };
        Self {
            folder: parent.join("gathered"),
            log,
            sums: log_bytes.chunks(CHUNK).flat_map(sum).collect(),
            log_bytes,
            keys: Secured::by(&secret).expect("keys"),
            input,
            null: File::options()
                .write(true)
                .open("/dev/null")
                .expect("a sink"),
        }
    }

    /// What is said over each connection.
    fn pieces(&self, mut rest: &[u8], hello: u8, greeting: u8) -> Vec<Vec<u8>> {
        let mut said = vec![Vec::new()];
        for _ in 0..MOST_PIECES {
            let &[kind, a, b, ref after @ ..] = rest else {
                break;
            };
            let length = usize::from(u16::from_le_bytes([a, b])).min(after.len());
            let (body, after) = after.split_at(length);
            rest = after;
            if kind == NEW_CONNECTION {
                said.push(Vec::new());
                continue;
            }
            let (kind, body) = match kind {
                OPEN => (2, self.open(body)),
                WRITE => (4, self.write(body)),
                SUMS => (132, self.told_sums(body)),
                kind if kind == greeting => (hello, greet(hello, body)),
                kind => (kind, body.to_vec()),
            };
            let frame = said.last_mut().expect("a connection");
            frame.push(kind);
            frame.extend((body.len() as u32).to_le_bytes());
            frame.extend(body);
        }
        said
    }

    /// A number, a name, and the beginning of the log with some bytes changed.
    fn open(&self, body: &[u8]) -> Vec<u8> {
        let &[log, count, ref rest @ ..] = body else {
            return Vec::new();
        };
        let (name, changes) = rest.split_at(usize::from(count).min(rest.len()));
        let committed = u32::from_le_bytes(self.log_bytes[16..20].try_into().expect("four bytes"));
        let mut start = self.log_bytes[..committed as usize].to_vec();
        change(&mut start, changes);
        let (number, length) = (
            u32::from(log).to_le_bytes(),
            (name.len() as u16).to_le_bytes(),
        );
        [&number[..], &length, name, &start].concat()
    }

    /// A number, a place in the log in steps of 16 bytes, and how many of its bytes.
    fn write(&self, body: &[u8]) -> Vec<u8> {
        let &[log, a, b, c, d, ref changes @ ..] = body else {
            return Vec::new();
        };
        let at = usize::from(u16::from_le_bytes([a, b])) * 16;
        let bytes = self.log_bytes.get(at..).unwrap_or_default();
        let count = usize::from(u16::from_le_bytes([c, d]));
        let mut bytes = bytes[..count.min(bytes.len())].to_vec();
        change(&mut bytes, changes);
        [
            &u32::from(log).to_le_bytes()[..],
            &(at as u64).to_le_bytes(),
            &bytes,
        ]
        .concat()
    }

    fn told_sums(&self, changes: &[u8]) -> Vec<u8> {
        let mut sums = self.sums.clone();
        change(&mut sums, changes);
        sums
    }

    fn fill(&mut self, bytes: &[u8]) {
        self.input.set_len(0).expect("a file in memory");
        self.input.rewind().expect("a file in memory");
        self.input.write_all(bytes).expect("a file in memory");
        self.input.rewind().expect("a file in memory");
    }
}

fn greet(hello: u8, body: &[u8]) -> Vec<u8> {
    let first = [&b"MLGATHER"[..], &1u16.to_le_bytes()].concat();
    match hello {
        1 => [&first[..], &[body.len() as u8; 16], &[0, 0]].concat(),
        _ => first,
    }
}

/// Each change is a place and a byte.
fn change(bytes: &mut [u8], changes: &[u8]) {
    for one in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([one[0], one[1]]));
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= one[2];
        }
    }
}

/// What a receiver says is shown on a terminal, whatever a sender called itself.
fn hear(notice: Notice) {
    let texts = match notice {
        Notice::Began { name, from, .. } => vec![name, from],
        Notice::Ended { name, .. } | Notice::Left { name, .. } => vec![name],
        Notice::Refused { name, from, why } => vec![name, from, why],
        Notice::Turned { from, why } => vec![from, why],
    };
    for text in texts {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
}

impl Attack {
    /// Connections one after the other, into one folder.
    fn receive(&mut self, connections: &[Vec<u8>], secured: &Secured) {
        let limits = Limits {
            bytes: Some(1 << 20),
            free_bytes: 0,
            connections: 1,
        };
        let gatherer = Gatherer::new(&self.folder, limits, Arc::new(hear)).expect("a folder");
        for bytes in connections {
            self.fill(bytes);
            let input = self.input.try_clone().expect("a descriptor");
            let null = self.null.try_clone().expect("a descriptor");
            let _ = gatherer.serve_pipes(input.into(), null.into(), secured);
        }
        let totals = gatherer.totals();
        assert!(totals.logs <= connections.len() as u64 * MOST_PIECES as u64);
    }

    fn send(&mut self, answers: &[u8]) {
        self.fill(answers);
        let pipe = Pipe {
            input: self.input.try_clone().expect("a descriptor"),
            output: self.null.try_clone().expect("a descriptor"),
        };
        let connect = Connect::Program(Box::new(pipe));
        let mut sender = Sender::new(connect, b"host", Pace::of(None), None).expect("a sender");
        let mut one = One(self.log.clone());
        // It ends as soon as nothing goes on.
        let ends = AtomicBool::new(true);
        let sent = sender.run(&mut one, &ends, &mut |told| drop(format!("{told:?}")));
        assert_eq!(sent.complete + sent.incomplete, 1, "{sent:?}");
        if sent.complete == 1 {
            let size = self.sums.len();
            let has_sums = answers.windows(size).any(|bytes| bytes == self.sums);
            assert!(has_sums, "it was not told that all is there");
        }
    }

    /// Sees what lies in the folder, and removes it.
    fn tidy(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let mut is_first = true;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_str().expect("plain letters");
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+=@,%".contains(c);
            assert!(name.ends_with(".memlog") && name.len() < 200, "{name:?}");
            assert!(
                !name.starts_with(['.', '-']) && name.chars().all(is_plain),
                "{name:?}"
            );
            let found = entry.metadata().expect("a file");
            assert_eq!(found.mode(), libc::S_IFREG | 0o600, "{name}");
            fs::remove_file(entry.path()).expect("a file");
            if std::mem::take(&mut is_first) {
                let beside = self.folder.parent().expect("a folder");
                let count = fs::read_dir(beside).expect("a folder").count();
                assert_eq!(count, 1, "something lies beside the folder");
            }
        }
    }
}

/// A receiver that has said all that it will.
struct Pipe {
    input: File,
    output: File,
}

impl Program for Pipe {
    fn start(&mut self) -> io::Result<(OwnedFd, OwnedFd)> {
        let (into, out) = (self.output.try_clone()?, self.input.try_clone()?);
        Ok((into.into(), out.into()))
    }

    fn end(&mut self) -> Option<Ended> {
        None
    }

    fn told(&self) -> String {
        "a receiver".into()
    }
}

/// One log, whose program has ended.
struct One(PathBuf);

impl Source for One {
    fn logs(&mut self) -> Vec<PathBuf> {
        vec![self.0.clone()]
    }

    fn may_grow(&mut self) -> bool {
        false
    }

    fn bytes(&mut self, file: &File) -> io::Result<u64> {
        Ok(file.metadata()?.len())
    }

    fn is_over(&mut self, _: &Path, _: &File) -> bool {
        true
    }
}
