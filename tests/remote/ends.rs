//! A receiver and senders of a test's own, and programs that grow.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::sites::Folder;
use crate::sites::build::GCC;

/// What should come soon on a busy machine, too.
pub const SOON: Duration = Duration::from_secs(60);
const MEMLOG: &str = env!("CARGO_BIN_EXE_memlog");

#[track_caller]
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < SOON, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Something that runs, and what it says.
pub struct Process {
    pub child: Child,
    said: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    pub fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("it runs");
        let said = Arc::<Mutex<String>>::default();
        let out = child
            .stdout
            .take()
            .map(|out| Box::new(out) as Box<dyn std::io::Read + Send>);
        let err = child
            .stderr
            .take()
            .map(|err| Box::new(err) as Box<dyn std::io::Read + Send>);
        let pipes = [out, err].into_iter().flatten();
        let read = |pipe| {
            let said = Arc::clone(&said);
            std::thread::spawn(move || {
                for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                    let mut said = said.lock().expect("a text");
                    said.push_str(&line);
                    said.push('\n');
                }
            })
        };
        let readers = pipes.map(read).collect();
        Self {
            child,
            said,
            readers,
        }
    }

    pub fn said(&self) -> String {
        self.said.lock().expect("a text").clone()
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        let begun = Instant::now();
        while !self.said().contains(words) {
            assert!(begun.elapsed() < SOON, "{words}: {}", self.said());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &id]).status();
        assert!(sent.expect("kill").success());
    }

    /// Its exit code, once it has ended and all that it said was read.
    #[track_caller]
    pub fn ends(&mut self) -> Option<i32> {
        let begun = Instant::now();
        loop {
            let is_read = self.readers.iter().all(JoinHandle::is_finished);
            if let Some(status) = self.child.try_wait().expect("a status")
                && is_read
            {
                return status.code();
            }
            assert!(begun.elapsed() < SOON, "it does not end: {}", self.said());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// `memlog gather` into a folder.
pub struct Gather {
    pub process: Process,
    pub port: u16,
    words: Vec<String>,
    root: PathBuf,
}

pub fn memlog<S: AsRef<OsStr>>(folder: &Folder, words: &[S]) -> Command {
    let mut command = folder.command(MEMLOG);
    command.args(words);
    command
}

impl Gather {
    /// Into `gathered`, with these words.
    #[track_caller]
    pub fn start(folder: &Folder, words: &[&str]) -> Self {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let process = Self::process(folder, &words, 0);
        process.says("Ctrl-C ends it");
        let said = process.said();
        let (_, rest) = said.split_once("listens at 127.0.0.1:").expect(&said);
        let (port, _) = rest.split_once(',').expect(&said);
        Self {
            process,
            port: port.parse().expect("a port"),
            words,
            root: folder.root().to_owned(),
        }
    }

    fn process(folder: &Folder, words: &[String], port: u16) -> Process {
        let mut command = memlog(folder, &["gather", "-o", "gathered"]);
        command
            .arg(format!("--listen=127.0.0.1:{port}"))
            .args(words);
        Process::start(command)
    }

    /// Kills it, and starts it once more at the same place.
    #[track_caller]
    pub fn again(&mut self, folder: &Folder) {
        assert_eq!(folder.root(), self.root);
        self.process.kill();
        self.process = Self::process(folder, &self.words, self.port);
        self.process.says("Ctrl-C ends it");
    }

    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Ends it in order; what it said.
    #[track_caller]
    pub fn end(mut self) -> String {
        self.process.signal("INT");
        assert_eq!(self.process.ends(), Some(0), "{}", self.process.said());
        self.process.says(" complete, ");
        self.process.said()
    }

    pub fn stream<S: AsRef<OsStr>>(&self, folder: &Folder, words: &[S]) -> Process {
        let mut command = memlog(folder, &["stream"]);
        command.args(words).arg(self.address());
        Process::start(command)
    }

    /// Sends, and waits until all is there.
    #[track_caller]
    pub fn sends<S: AsRef<OsStr>>(&self, folder: &Folder, words: &[S]) {
        let mut stream = self.stream(folder, words);
        let code = stream.ends();
        assert_eq!(code, Some(0), "{} {}", stream.said(), self.process.said());
    }
}

/// Both are there, with the same bytes.
#[track_caller]
pub fn same(one: &Path, other: &Path) {
    let read = |path: &Path| fs::read(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    let (one_bytes, other_bytes) = (read(one), read(other));
    let differs = one_bytes
        .iter()
        .zip(&other_bytes)
        .position(|(one, other)| one != other);
    assert_eq!(
        (differs, one_bytes.len()),
        (None, other_bytes.len()),
        "{one:?} {other:?}"
    );
    assert!(!one_bytes.is_empty());
}

/// Threads that allocate until it is asked to end, or for so many milliseconds.
const GROWS: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t ends;
static void end(int signal) { (void)signal; ends = 1; }
static int pause_us;
__attribute__((noinline)) static void *deep(int depth, size_t size) {
    void *block = depth ? deep(depth - 1, size) : malloc(size);
    __asm__ volatile("" : "+r"(block));
    return block;
}
static void *work(void *arg) {
    unsigned random = (unsigned)(long)arg + 1;
    void *kept[256] = { 0 };
    for (unsigned i = 0; !ends; i++) {
        random = random * 1664525 + 1013904223;
        unsigned at = random >> 8 & 255;
        free(kept[at]);
        kept[at] = deep(random >> 16 & 15, 1 + (random >> 20));
        if (i % 64 == 0) usleep(pause_us);
    }
    for (int i = 0; i < 256; i++) free(kept[i]);
    return 0;
}
int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 4, ms = argc > 2 ? atoi(argv[2]) : 0;
    pause_us = argc > 3 ? atoi(argv[3]) : 500;
    signal(SIGTERM, end);
    pthread_t all[64];
    for (long i = 0; i < threads; i++) pthread_create(&all[i], 0, work, (void *)i);
    for (int passed = 0; !ends && (!ms || passed < ms); passed += 10) usleep(10000);
    ends = 1;
    for (int i = 0; i < threads; i++) pthread_join(all[i], 0);
    return 0;
}
"#;

/// Such a program, built.
pub fn grows(folder: &Folder) -> PathBuf {
    let source = folder.path("grows.c");
    fs::write(&source, GROWS).expect("a source");
    GCC.build_file(
        folder,
        &source,
        "grows",
        &["-O2", "-D_GNU_SOURCE", "-pthread"],
    )
}

/// `memlog record` of a program.
pub fn record(folder: &Folder, log: &Path, program: &Path, words: &[&str]) -> Process {
    record_with(folder, &[], log, program, words)
}

pub fn record_with(
    folder: &Folder,
    options: &[&str],
    log: &Path,
    program: &Path,
    words: &[&str],
) -> Process {
    let mut command = memlog(folder, &["record", "-o"]);
    command.arg(log).args(options).arg(program).args(words);
    let process = Process::start(command);
    until("a log", || {
        fs::metadata(log).is_ok_and(|file| file.len() > 0)
    });
    process
}
