//! `memlog top` in a terminal of 80x24: what it shows, what keys do, and that the terminal is
//! given back.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::cli::{begin, wait_for};
use crate::common::tools::Folder;

const SOON: Duration = Duration::from_secs(60);

struct Screen {
    keys: File,
    child: Child,
    shown: Arc<Mutex<vt100::Parser>>,
}

impl Screen {
    fn start(words: &[&str]) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&keys)
            .and_then(|()| unlockpt(&keys))
            .expect("a terminal");
        let path = ptsname(&keys, Vec::new()).expect("its name");
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&keys, size).expect("its size");
        let path = path.to_str().expect("a name").to_owned();
        let end = || {
            File::options()
                .read(true)
                .write(true)
                .open(&path)
                .expect("its end")
        };
        let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
        command
            .args(words)
            .env("TERM", "xterm-256color")
            .env("NO_COLOR", "1");
        let child = command.stdin(end()).stdout(end()).stderr(end()).spawn();
        let shown = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let keys = File::from(keys);
        let (mut output, parser) = (keys.try_clone().expect("it"), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                parser.lock().expect("a screen").process(&bytes[..count]);
            }
        });
        Self {
            keys,
            child: child.expect("memlog runs"),
            shown,
        }
    }

    fn text(&self) -> String {
        self.shown.lock().expect("a screen").screen().contents()
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("a key");
    }

    #[track_caller]
    fn until(&self, what: &str) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text();
            if text.contains(what) {
                return text;
            }
            assert!(begun.elapsed() < SOON, "{what}: {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().cast_signed()).expect("a number");
        kill_process(pid, signal).expect("a signal");
    }

    /// Whether it stops by itself, and gives the terminal back before.
    #[track_caller]
    fn stops(&self) {
        let begun = Instant::now();
        let path = format!("/proc/{}/stat", self.child.id());
        let is_stopped = || {
            let stat = std::fs::read_to_string(&path).expect("a process");
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| rest.starts_with('T'))
        };
        while !is_stopped() {
            assert!(begun.elapsed() < SOON, "it does not stop: {}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(200));
        let shown = self.shown.lock().expect("a screen");
        assert!(!shown.screen().alternate_screen() && !shown.screen().hide_cursor());
    }

    /// Whether it ended well and the screen is that of before.
    #[track_caller]
    fn ends(mut self) {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(begun.elapsed() < SOON, "it does not end: {}", self.text());
            std::thread::sleep(Duration::from_millis(20));
        };
        assert!(status.success(), "{status}");
        std::thread::sleep(Duration::from_millis(200));
        let shown = self.shown.lock().expect("a screen");
        assert!(!shown.screen().alternate_screen() && !shown.screen().hide_cursor());
    }
}

#[test]
fn a_program_that_runs_is_shown_in_a_terminal() {
    let folder = Folder::new("follow-terminal");
    let Some((victim, log)) = begin("churn", &["100000000", "2"], &folder) else {
        return;
    };
    wait_for(&log);
    let words = ["top", "-d", "0.2", log.to_str().expect("a name")];
    let mut screen = Screen::start(&words);
    let text = screen.until("allocations/s of");
    for part in ["churn  pid", "running", "heap", "RSS", "*live", "? help"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    screen.press("?");
    screen.until("Ctrl-Z");
    screen.press("x\t");
    screen.until("thread");
    screen.press("\t/nothing-is-called-so");
    screen.until("filter: nothing-is-called-so_");
    screen.press("\x1b");
    screen.until("s sort");
    screen.press("\r");
    screen.until("Esc back");
    screen.until("churn.c:");
    screen.press("p");
    screen.until("PAUSED");
    screen.press("p\x1a");
    screen.stops();
    screen.signal(Signal::CONT);
    screen.until("Esc back");
    screen.press("q");
    screen.ends();
    // The next one is ended by a signal, and sees its program killed before.
    let screen = Screen::start(&words);
    screen.until("running");
    victim.end();
    screen.until("gone, killed or lost");
    screen.signal(Signal::TERM);
    screen.ends();
}
