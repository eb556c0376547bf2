//! The way by ssh, over a real one: a server of the test's own on this machine, with its own
//! keys, whose users are the one who runs the tests.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::ends::{Process, grows, memlog, record, same, until};
use crate::sites::Folder;
use crate::ways::small;

const MEMLOG: &str = env!("CARGO_BIN_EXE_memlog");

/// A server of ssh.
struct Sshd {
    process: Process,
    port: u16,
    user: String,
    folder: PathBuf,
}

fn said_by(program: &str, words: &[&str]) -> Option<String> {
    let output = Command::new(program).args(words).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

fn key(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    let mut command = folder.command("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]);
    assert!(command.arg(&path).status().expect("ssh-keygen").success());
    fs::read_to_string(path.with_extension("pub")).expect("a key")
}

impl Sshd {
    /// None, and a line that says so, where this machine has no ssh. `restrict` stands before
    /// the key of the users.
    fn start(folder: &Folder, restrict: &str) -> Option<Self> {
        let program = Path::new("/usr/sbin/sshd");
        let has = |name| Command::new(name).arg("-V").output().is_ok();
        if !program.exists() || !has("ssh") || !has("ssh-keygen") {
            println!("SKIPPED ssh: there is no sshd (Debian: openssh-server)");
            return None;
        }
        if folder.is_root() {
            // As the system makes it when it starts its own.
            let _ = fs::create_dir_all("/run/sshd");
        }
        let user = said_by("id", &["-un"]).expect("a user");
        let (host, own) = (key(folder, "host"), key(folder, "own"));
        fs::write(folder.path("allowed"), format!("{restrict}{own}")).expect("a file");
        let port = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr());
        let port = port.expect("a port").port();
        let known = format!("[127.0.0.1]:{port} {host}");
        fs::write(folder.path("known"), known).expect("a file");
        let at = folder.root().display();
        let lines = format!(
            "Port {port}\nListenAddress 127.0.0.1\nHostKey {at}/host\nPidFile {at}/pid\n\
             AuthorizedKeysFile {at}/allowed\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n\
             PasswordAuthentication no\nKbdInteractiveAuthentication no\n"
        );
        fs::write(folder.path("sshd_config"), lines).expect("a file");
        let folder = folder.root().to_owned();
        let process = Self::process(&folder, port);
        Some(Self {
            process,
            port,
            user,
            folder,
        })
    }

    fn process(folder: &Path, port: u16) -> Process {
        let mut command = Command::new("/usr/sbin/sshd");
        command
            .args(["-D", "-e", "-f"])
            .arg(folder.join("sshd_config"));
        let process = Process::start(command);
        until("sshd listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        process
    }

    /// It and all that it serves are gone, and it is there again.
    fn again(&mut self) {
        let sessions = self.sessions();
        self.process.kill();
        sessions.into_iter().for_each(kill);
        self.process = Self::process(&self.folder, self.port);
    }

    /// Its processes for connections, and theirs.
    fn sessions(&self) -> Vec<u32> {
        let mut all = vec![self.process.child.id()];
        let mut at = 0;
        while let Some(&parent) = all.get(at) {
            all.extend(
                processes()
                    .into_iter()
                    .filter(|&(_, of)| of == parent)
                    .map(|(pid, _)| pid),
            );
            at += 1;
        }
        all.split_off(1)
    }

    /// Those of them that are `memlog gather`.
    fn gathering(&self) -> Vec<u32> {
        let is_memlog = |pid: &u32| {
            let exe = fs::read_link(format!("/proc/{pid}/exe"));
            exe.is_ok_and(|exe| exe == Path::new(MEMLOG))
        };
        self.sessions().into_iter().filter(is_memlog).collect()
    }

    fn host(&self) -> String {
        format!("{}@127.0.0.1", self.user)
    }

    /// What a user writes who has neither a key in the usual place nor the usual port.
    fn options(&self, key: &str) -> Vec<String> {
        let at = self.folder.display();
        let options = [
            format!("Port={}", self.port),
            format!("IdentityFile={at}/{key}"),
            "IdentitiesOnly=yes".into(),
            "IdentityAgent=none".into(),
            format!("UserKnownHostsFile={at}/known"),
            "GlobalKnownHostsFile=/dev/null".into(),
            "StrictHostKeyChecking=yes".into(),
        ];
        options
            .map(|option| format!("--ssh-option={option}"))
            .into()
    }

    fn command(&self, folder: &Folder, words: &[&str]) -> Command {
        let mut command = memlog(folder, &["stream", "--ssh", &self.host()]);
        command.args(self.options("own")).args(words);
        command
    }

    /// Sends into `gathered` with this memlog there.
    fn stream(&self, folder: &Folder, words: &[&str]) -> Process {
        let there = folder.path("gathered");
        let there = ["--memlog", MEMLOG, "--dir", there.to_str().expect("text")];
        Process::start(self.command(folder, &[&there[..], words].concat()))
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let sessions = self.sessions();
        self.process.kill();
        sessions.into_iter().for_each(kill);
    }
}

/// All processes with their parents.
fn processes() -> Vec<(u32, u32)> {
    let entries = fs::read_dir("/proc").expect("/proc").flatten();
    let of = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (_, rest) = stat.rsplit_once(") ")?;
        Some((pid, rest.split(' ').nth(1)?.parse().ok()?))
    };
    entries.filter_map(of).collect()
}

fn kill(pid: u32) {
    // It may be gone by itself.
    let pid = pid.to_string();
    let _ = Command::new("kill")
        .args(["-9", &pid])
        .stderr(Stdio::null())
        .status();
}

fn ends_with(stream: &mut Process, code: i32, words: &[&str]) {
    assert_eq!(stream.ends(), Some(code), "{}", stream.said());
    for words in words {
        stream.says(words);
    }
}

#[test]
fn logs_go_through_a_real_ssh() {
    let folder = Folder::new("remote-sshd");
    let Some(sshd) = Sshd::start(&folder, "") else {
        return;
    };
    let log = small(&folder, "a.memlog");
    let mut stream = sshd.stream(&folder, &["a.memlog"]);
    let host = format!("sends to {} by ssh", sshd.host());
    // What memlog says there is seen here.
    ends_with(
        &mut stream,
        0,
        &[&host, "a.memlog is complete", "1 log complete"],
    );
    same(&log, &folder.path("gathered/a.memlog"));
    // A log that grows; the port in the host's name; a folder that a shell would obey.
    let program = grows(&folder);
    let log = folder.path("b.memlog");
    let mut recorded = record(&folder, &log, &program, &["4", "1000", "300"]);
    let host = format!("ssh://{}:{}", sshd.host(), sshd.port);
    let mut command = memlog(&folder, &["stream", "--ssh", &host]);
    let there = folder.path("it's $(touch pwned) `touch pwned`");
    command
        .args(&sshd.options("own")[1..])
        .args(["--memlog", MEMLOG, "--dir"])
        .arg(&there)
        .arg("b.memlog");
    let mut stream = Process::start(command);
    assert_eq!(recorded.ends(), Some(0), "{}", recorded.said());
    ends_with(&mut stream, 0, &["b.memlog is there: "]);
    same(&log, &there.join("b.memlog"));
    // Nothing is left there.
    until("the receivers end", || sshd.sessions().is_empty());
}

/// The line that doc/REMOTE.md gives for ~/.ssh/authorized_keys: a key for this and no more.
#[test]
fn a_key_may_be_for_gather_alone() {
    let folder = Folder::new("remote-sshd-only");
    let there = folder.path("gathered").display().to_string();
    let only = format!("restrict,command=\"{MEMLOG} gather --stdio -o {there}\" ");
    let Some(sshd) = Sshd::start(&folder, &only) else {
        return;
    };
    let log = small(&folder, "a.memlog");
    let mut stream = Process::start(sshd.command(&folder, &["--dir", "elsewhere", "a.memlog"]));
    ends_with(&mut stream, 0, &["a.memlog is complete"]);
    same(&log, &folder.path("gathered/a.memlog"));
    assert!(!folder.path("elsewhere").exists());
}

#[test]
fn what_is_wrong_with_ssh_is_seen() {
    let folder = Folder::new("remote-sshd-wrong");
    let Some(sshd) = Sshd::start(&folder, "") else {
        return;
    };
    small(&folder, "a.memlog");
    key(&folder, "other");
    let with = |options: Vec<String>, words: &[&str]| {
        let mut command = memlog(&folder, &["stream", "--ssh", &sshd.host()]);
        command.args(options).args(words).arg("a.memlog");
        Process::start(command)
    };
    let broke = "by ssh: ssh could not connect, or the connection broke; trying again";
    let incomplete = "not all is there of 1 log";
    // ssh's own words, and ours.
    let mut stream = with(sshd.options("other"), &["--give-up-after=0"]);
    ends_with(&mut stream, 2, &["Permission denied", broke, incomplete]);
    let mut options = sshd.options("own");
    options[4] = "--ssh-option=UserKnownHostsFile=/dev/null".into();
    let mut stream = with(options, &["--give-up-after=0"]);
    ends_with(&mut stream, 2, &["Host key verification failed", broke]);
    let mut options = sshd.options("own");
    options[0] = "--ssh-option=Port=1".into();
    let mut stream = with(options, &["--give-up-after=0"]);
    ends_with(&mut stream, 2, &["Connection refused", broke]);
    let mut stream = with(vec!["--ssh-option=NoSuch=1".into()], &["--give-up-after=0"]);
    ends_with(&mut stream, 2, &["Bad configuration option", broke]);
    // What will never work is not tried for ten minutes.
    let begun = Instant::now();
    let mut stream = with(sshd.options("own"), &["--memlog=no-memlog-here"]);
    let finds = "the shell there finds no no-memlog-here: --memlog PATH says where it is";
    ends_with(&mut stream, 2, &[finds, incomplete]);
    let mut stream = with(sshd.options("own"), &["--memlog=/dev/null"]);
    ends_with(&mut stream, 2, &["/dev/null cannot be run there"]);
    assert!(begun.elapsed() < Duration::from_secs(40));
    // A folder that cannot be made is told by memlog there.
    let dir = ["--give-up-after=0", "--memlog", MEMLOG, "--dir=/proc/none"];
    let mut stream = with(sshd.options("own"), &dir);
    let told = ["cannot write into /proc/none", "gather there ended with 2"];
    ends_with(&mut stream, 2, &told);
}

/// A shell whose start-up file prints something spoils every program of this kind.
#[test]
fn a_shell_that_talks_is_told() {
    let folder = Folder::new("remote-sshd-talks");
    let talks = format!("command=\"echo Welcome to login7; exec {MEMLOG} gather --stdio\" ");
    let Some(sshd) = Sshd::start(&folder, &talks) else {
        return;
    };
    small(&folder, "a.memlog");
    let mut stream = sshd.stream(&folder, &["--give-up-after=0", "a.memlog"]);
    let told = "does a start-up file of the shell there print something?";
    ends_with(&mut stream, 2, &["does not speak this protocol", told]);
}

/// The far memlog, the connection, the whole server.
#[test]
fn whatever_dies_on_the_way_it_goes_on() {
    let folder = Folder::new("remote-sshd-dies");
    let Some(mut sshd) = Sshd::start(&folder, "") else {
        return;
    };
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    let mut recorded = record(&folder, &log, &program, &["4", "100000", "2000"]);
    let mut stream = sshd.stream(&folder, &["a.memlog"]);
    let gathered = folder.path("gathered/a.memlog");
    let length = || fs::metadata(&gathered).map_or(0, |file| file.len());
    for round in 0..3 {
        // It is at work.
        let before = length();
        until("more comes", || length() > before);
        let there = sshd.gathering();
        assert_eq!(there.len(), 1, "{there:?}");
        match round {
            0 => there.into_iter().for_each(kill),
            // Those that hold the connection; memlog sees that it is gone.
            1 => sshd
                .sessions()
                .into_iter()
                .filter(|pid| !there.contains(pid))
                .for_each(kill),
            _ => sshd.again(),
        }
        folder.says(&["report", "gathered/a.memlog"]);
    }
    recorded.signal("TERM");
    recorded.ends();
    ends_with(&mut stream, 0, &["no receiver: ", "1 log complete"]);
    same(&log, &gathered);
    folder.holds_whole(&gathered);
    assert_eq!(folder.logs("gathered").len(), 1);
}

/// A network that loses everything, and says nothing of it: both ends give the connection up,
/// and the next one goes on.
#[test]
fn a_silent_network_is_given_up() {
    if std::env::var_os("MEMLOG_LONG").is_none_or(|value| value != "1") {
        println!("SKIPPED a silent network: it takes a minute (MEMLOG_LONG=1)");
        return;
    }
    let folder = Folder::new("remote-sshd-silent");
    let Some(sshd) = Sshd::start(&folder, "") else {
        return;
    };
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    let mut recorded = record(&folder, &log, &program, &["4", "400000", "5000"]);
    let mut stream = sshd.stream(&folder, &["a.memlog"]);
    stream.says("a.memlog goes there as");
    let gathering = sshd.gathering();
    let mut between = sshd.sessions();
    between.retain(|pid| !gathering.contains(pid));
    for pid in &between {
        signal("STOP", &pid.to_string());
    }
    let begun = Instant::now();
    while !stream.said().contains("no receiver") {
        assert!(
            begun.elapsed() < Duration::from_secs(150),
            "{}",
            stream.said()
        );
        std::thread::sleep(Duration::from_millis(100));
    }
    // The receiver behind it has ended by itself, or the log would not be let go.
    until("it sends again", || {
        stream.said().matches("sends to ").count() > 1
    });
    recorded.signal("TERM");
    recorded.ends();
    ends_with(&mut stream, 0, &["1 log complete"]);
    same(&log, &folder.path("gathered/a.memlog"));
    between.into_iter().for_each(kill);
}

fn signal(name: &str, whom: &str) {
    let sent = Command::new("kill").args(["-s", name, "--", whom]).status();
    assert!(sent.expect("kill").success());
}

/// Ctrl-C in a terminal goes to all that runs there: what is new is sent all the same.
#[test]
fn ctrl_c_is_not_for_ssh() {
    let folder = Folder::new("remote-sshd-ctrl-c");
    let Some(sshd) = Sshd::start(&folder, "") else {
        return;
    };
    let program = grows(&folder);
    let log = folder.path("a.memlog");
    let mut recorded = record(&folder, &log, &program, &["4", "100000", "500"]);
    let there = folder.path("gathered").display().to_string();
    let mut command = sshd.command(&folder, &["--memlog", MEMLOG, "--dir", &there, "a.memlog"]);
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut stream = Process::start(command);
    stream.says("a.memlog goes there as");
    // The program stands still, so that all of its log so far can be there.
    let pid = crate::ways::pid_of(&folder, &log);
    signal("STOP", &pid);
    signal("INT", &format!("-{}", stream.child.id()));
    // It has not ended, so not all of it can be there; but all that was new is.
    assert_eq!(stream.ends(), Some(2), "{}", stream.said());
    assert!(!stream.said().contains("no receiver"), "{}", stream.said());
    let count = |path: &Path| folder.stats(path).number("allocations");
    assert_eq!(count(&folder.path("gathered/a.memlog")), count(&log));
    signal("CONT", &pid);
    recorded.signal("TERM");
    recorded.ends();
}
