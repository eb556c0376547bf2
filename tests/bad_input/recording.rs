//! The recorder in bad surroundings: whatever happens to its log, the program's
//! output, status and open files are those of its native run, and every event
//! stands in the log or is counted as lost.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::NOBODY;
use crate::sites::run::{LINE, Noisy, accounted, assert_same};
use crate::sites::{Folder, said};

/// Enough for several windows of the log.
const MANY: u64 = 120_000;
/// The least that a log takes.
const FIRST_WINDOW: u64 = 256 << 10;

/// The program, natively or recorded into `log`, a value of MEMLOG_OUTPUT.
fn noisy(folder: &Folder, noisy: &Noisy, blocks: u64, log: &Path) -> Command {
    let mut command = noisy.shell(folder, ":", &[&blocks.to_string()], "");
    command.env("MEMLOG_OUTPUT", log);
    command
}

/// Recorded, it does as it does natively, and says that there is no log.
#[track_caller]
fn goes_without(noisy: &Noisy, prepare: impl Fn() -> Command) {
    let recorded = noisy.same(&prepare, true);
    let said = said(&recorded);
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.starts_with("memlog"))
        .collect();
    assert_eq!(lines.len(), 1, "{said}");
    assert!(
        lines[0].starts_with(LINE) && lines[0].contains("MEMLOG_DIR"),
        "{said}"
    );
}

#[test]
fn a_folder_that_is_not_there_or_no_folder() {
    let folder = Folder::new("nowhere");
    let program = Noisy::new(&folder);
    for place in ["/no/such/folder", "/dev/null", "/proc", "/proc/self"] {
        goes_without(&program, || {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command.env("MEMLOG_DIR", place);
            command
        });
        goes_without(&program, || {
            noisy(&folder, &program, 1000, &Path::new(place).join("x.memlog"))
        });
    }
}

/// A folder that this command may not write to, also as the current one.
#[test]
fn a_folder_that_may_not_be_written() {
    let folder = Folder::new("read-only");
    let program = Noisy::new(&folder);
    let closed = folder.folder("closed");
    fs::set_permissions(&closed, Permissions::from_mode(0o555)).expect("chmod");
    for (name, value) in [
        ("MEMLOG_DIR", closed.as_path()),
        ("MEMLOG_UNUSED", Path::new("0")),
    ] {
        goes_without(&program, || {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command.env(name, value).current_dir(&closed);
            as_nobody(&folder, &mut command);
            command
        });
    }
    let tool = folder.path("memlog");
    fs::copy(env!("CARGO_BIN_EXE_memlog"), &tool).expect("copy");
    let mut record = folder.command(tool);
    record.args(["record", "true"]).current_dir(&closed);
    as_nobody(&folder, &mut record);
    let output = record.output().expect("run");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said(&output).contains("the log cannot be made in "),
        "{}",
        said(&output)
    );
}

fn as_nobody(folder: &Folder, command: &mut Command) {
    if folder.is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
}

/// The current folder was removed.
#[test]
fn a_current_folder_that_is_gone() {
    let folder = Folder::new("gone-cwd");
    let program = Noisy::new(&folder);
    let prepare = || {
        folder.folder("gone");
        program.shell(&folder, "cd gone && rmdir ../gone", &["1000"], "")
    };
    goes_without(&program, prepare);
}

/// Runs the program up to its half, lets `change` happen, and lets it end.
#[track_caller]
fn interrupted(mut command: Command, change: impl FnOnce()) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child: Child = command.spawn().expect("spawn");
    let mut stdout = child.stdout.take().expect("stdout");
    let mut half = [0; 5];
    stdout.read_exact(&mut half).expect("the first half");
    assert_eq!(&half, b"half\n");
    change();
    child
        .stdin
        .take()
        .expect("stdin")
        .write_all(b"x")
        .expect("write");
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).expect("the second half");
    let output = child.wait_with_output().expect("wait");
    Output {
        stdout: rest,
        ..output
    }
}

/// What is recorded already stays; what comes later is counted.
#[test]
fn a_folder_that_vanishes() {
    let folder = Folder::new("vanishes");
    let program = Noisy::new(&folder);
    let blocks = MANY.to_string();
    let run = |preload: &str, change: &dyn Fn()| {
        folder.folder("logs");
        let mut command = program.shell(&folder, ":", &[&blocks, "wait"], "");
        command.env("MEMLOG_OUTPUT", folder.path("logs/it.memlog"));
        command.env("PRELOAD", preload);
        interrupted(command, change)
    };
    let library = program.library.to_str().expect("text");
    let native = run("", &|| ());
    let move_away = || fs::rename(folder.path("logs"), folder.path("moved")).expect("rename");
    assert_same(&native, &run(library, &move_away), false);
    accounted(
        &folder.stats(&folder.path("moved/it.memlog")),
        MANY,
        MANY / 2,
    );
    let remove = || fs::remove_dir_all(folder.path("logs")).expect("remove");
    assert_same(&native, &run(library, &remove), false);
    // Another file of that name is not touched.
    let replace = || {
        fs::rename(folder.path("logs/it.memlog"), folder.path("moved/2.memlog")).expect("rename");
        fs::write(folder.path("logs/it.memlog"), "mine").expect("write");
    };
    assert_same(&native, &run(library, &replace), false);
    accounted(
        &folder.stats(&folder.path("moved/2.memlog")),
        MANY,
        MANY / 2,
    );
    assert_eq!(
        fs::read(folder.path("logs/it.memlog")).expect("read"),
        b"mine"
    );
}

/// A small file system of its own, unmounted when the test ends.
struct Disk(PathBuf);

impl Disk {
    fn mount(path: PathBuf, bytes: u64) -> Option<Self> {
        fs::create_dir_all(&path).expect("mkdir");
        let mut mount = Command::new("mount");
        let size = format!("size={bytes}");
        mount.args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&path);
        let done = mount.output().is_ok_and(|output| output.status.success());
        done.then_some(Self(path))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A disk in use is taken away when its user is gone.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// From no room at all to room for some of the log.
#[test]
fn a_full_disk() {
    let folder = Folder::new("full");
    let program = Noisy::new(&folder);
    for kilobytes in [0, 4, 60, 64, 68, 100, 128, 196, 256, 300, 600, 900] {
        let name = format!("disk{kilobytes}");
        // The folder itself takes a page, and a file of no room is in the way.
        let Some(disk) = Disk::mount(folder.path(&name), (kilobytes + 8) << 10) else {
            println!("SKIPPED a full disk: no tmpfs can be mounted (needs root)");
            return;
        };
        fs::write(disk.0.join("full"), [1; 8 << 10]).expect("fill");
        let log = disk.0.join("it.memlog");
        program.same(|| noisy(&folder, &program, MANY, &log), true);
        if log.exists() {
            accounted(&folder.stats(&log), MANY, 1);
        } else {
            assert!(kilobytes < 256, "no log, though there are {kilobytes} KiB");
            goes_without(&program, || noisy(&folder, &program, 1000, &log));
        }
        assert_eq!(fs::read(disk.0.join("full")).expect("read"), [1; 8 << 10]);
        for reader in ["report", "info", "dump"] {
            let output = folder.run(&[reader.as_ref(), log.as_os_str()]);
            assert!(
                matches!(output.status.code(), Some(0 | 2)),
                "{reader}: {output:?}"
            );
        }
    }
}

/// A limit of file sizes ends who passes it by a signal: nobody notices.
#[test]
fn a_limit_of_file_sizes() {
    let folder = Folder::new("limit");
    let program = Noisy::new(&folder);
    // In units of 512 bytes: from nothing to a part of the log.
    for limit in [0, 1, 128, 200, 256, 512, 513, 1000, 1024] {
        let log = folder.path(&format!("{limit}.memlog"));
        let before = format!("ulimit -f {limit}");
        let prepare = || {
            let mut command = program.shell(&folder, &before, &[&MANY.to_string()], "");
            command.env("MEMLOG_OUTPUT", &log);
            command
        };
        program.same(prepare, true);
        if log.exists() {
            accounted(&folder.stats(&log), MANY, 1);
            let length = fs::metadata(&log).expect("stat").len();
            assert!(length <= limit * 512, "{length} bytes, limit {limit}");
        } else {
            assert!(limit < 512, "no log under a limit of {limit}");
        }
    }
}

#[test]
fn a_log_of_limited_size() {
    let folder = Folder::new("max-log");
    let program = Noisy::new(&folder);
    let settings = [
        ("1", 1),
        ("0", 0),
        ("100k", 100 << 10),
        ("300K", 300 << 10),
        ("512KiB", 512 << 10),
    ];
    for (text, bytes) in settings {
        let log = folder.path(&format!("{text}.memlog"));
        program.same(
            || {
                let mut command = noisy(&folder, &program, MANY, &log);
                command.env("MEMLOG_MAX_LOG", text);
                command
            },
            false,
        );
        accounted(&folder.stats(&log), MANY, 1000);
        let length = fs::metadata(&log).expect("stat").len();
        assert!(
            length <= FIRST_WINDOW.max(bytes),
            "{length} bytes with {text}"
        );
    }
}

/// What lies there already is neither overwritten nor followed.
#[test]
fn an_existing_output() {
    let folder = Folder::new("existing");
    let program = Noisy::new(&folder);
    fs::write(folder.path("it.memlog"), "mine").expect("write");
    fs::write(folder.path("target"), "mine").expect("write");
    symlink("target", folder.path("it.2.memlog")).expect("symlink");
    symlink("missing", folder.path("it.3.memlog")).expect("symlink");
    fs::create_dir(folder.path("it.4.memlog")).expect("mkdir");
    let log = folder.path("it.memlog");
    program.same(|| noisy(&folder, &program, 1000, &log), false);
    accounted(&folder.stats(&folder.path("it.5.memlog")), 1000, 2000);
    for name in ["it.memlog", "target"] {
        assert_eq!(fs::read(folder.path(name)).expect("read"), b"mine");
    }
    assert!(!folder.path("missing").exists());
    program.same(|| noisy(&folder, &program, 1000, &log), false);
    accounted(&folder.stats(&folder.path("it.6.memlog")), 1000, 2000);
}

/// A pattern that names a folder means a log in that folder.
#[test]
fn an_output_that_is_a_folder() {
    let folder = Folder::new("output-folder");
    let program = Noisy::new(&folder);
    for (name, value) in [("plain", "plain"), ("slash", "slash/"), ("dot", "dot/.")] {
        let inner = folder.folder(name);
        program.same(
            || noisy(&folder, &program, 1000, &folder.path(value)),
            false,
        );
        let logs = folder.logs(name);
        assert_eq!(logs.len(), 1, "in {}", inner.display());
        accounted(&folder.stats(&logs[0]), 1000, 2000);
    }
    let mut all: Vec<_> = fs::read_dir(folder.root())
        .expect("list")
        .flatten()
        .collect();
    all.retain(|entry| !entry.path().is_dir() && entry.file_name() != "noisy");
    assert!(all.is_empty(), "beside the folders: {all:?}");
}

/// What cannot be understood is noted and left at its default.
#[test]
fn nonsense_in_the_settings() {
    let folder = Folder::new("nonsense");
    let program = Noisy::new(&folder);
    let long = "x".repeat(100_000);
    let cases = [
        ("MEMLOG_MAX_LOG", "lots", true),
        ("MEMLOG_MAX_LOG", "-1", true),
        ("MEMLOG_MAX_LOG", "99999999999999999999", true),
        ("MEMLOG_FREE_STACKS", "maybe", true),
        ("MEMLOG_FOLLOW_EXEC", "17", true),
        ("MEMLOG_OFF", "\u{1b}[31m", true),
        ("MEMLOG_ROOT", "x", true),
        ("MEMLOG_NO_SUCH_SETTING", "1", true),
        ("MEMLOG_", "", true),
        ("MEMLOG_RANKS", "1-,-,x", true),
        ("MEMLOG_RANK", "a/b\n", false),
        ("MEMLOG_FREE_STACKS", "", false),
        ("MEMLOG_OUTPUT", "", false),
        ("MEMLOG_DIR", "", false),
        ("MEMLOG_DIR", ".", false),
        ("MEMLOG_OUTPUT", "%", false),
        ("MEMLOG_OUTPUT", "%z%.memlog", false),
        ("MEMLOG_OUTPUT", long.as_str(), true),
        ("MEMLOG_DIR", long.as_str(), true),
    ];
    for (turn, (name, value, noted)) in cases.into_iter().enumerate() {
        let place = folder.folder(&format!("turn{turn}"));
        let run = || {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command
                .current_dir(&place)
                .env("MEMLOG_RANK", "3")
                .env(name, value);
            command
        };
        program.same(run, false);
        let log = fs::read_dir(&place).expect("list").flatten().next();
        let log = log.unwrap_or_else(|| panic!("{name} made no log")).path();
        accounted(&folder.stats(&log), 1000, 2000);
        let info = folder.says(&["info".as_ref(), log.as_os_str()]);
        let note = info.lines().find(|line| line.starts_with("note "));
        let names_it = note.is_some_and(|note| note.contains(name));
        assert_eq!(names_it, noted, "{name}={:.20}: {note:?}", value);
        assert!(!info.contains('\u{1b}'), "the terminal obeys a setting");
    }
}

/// A path that is too long, whole or in a part: no log, and a whole line.
#[test]
fn an_output_with_too_long_a_name() {
    let folder = Folder::new("long");
    let program = Noisy::new(&folder);
    for length in [300, 1000, 1020, 1024, 3000] {
        let log = folder.path(&"x".repeat(length));
        program.same(|| noisy(&folder, &program, 1000, &log), true);
    }
}

/// The recorder's own file never takes the number of one that was closed, nor
/// does a line of it reach a file that the program opened.
#[test]
fn closed_streams() {
    let folder = Folder::new("closed");
    let program = Noisy::new(&folder);
    for (turn, after) in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
        .into_iter()
        .enumerate()
    {
        let log = folder.path(&format!("{turn}.memlog"));
        for place in [log.as_path(), Path::new("/no/such/folder/x.memlog")] {
            let run = || {
                let mut command = program.shell(&folder, ":", &[&MANY.to_string()], after);
                command.env("MEMLOG_OUTPUT", place);
                command
            };
            program.same(run, place != log);
        }
        accounted(&folder.stats(&log), MANY, 2 * MANY);
    }
}

/// `record` too ends as the program does when nobody listens.
#[test]
fn record_with_closed_streams() {
    let folder = Folder::new("record-closed");
    let program = Noisy::new(&folder);
    for (turn, after) in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"]
        .into_iter()
        .enumerate()
    {
        let native = program
            .shell(&folder, ":", &["1000"], after)
            .output()
            .expect("run");
        let log = folder.path(&format!("{turn}.memlog"));
        let mut record = folder.command("sh");
        let script = format!("exec \"$0\" \"$@\" {after}");
        record.args(["-c", &script, env!("CARGO_BIN_EXE_memlog"), "record", "-o"]);
        let output = record
            .arg(&log)
            .arg(&program.program)
            .arg("1000")
            .output()
            .expect("run");
        // std opens /dev/null in the place of what is closed, so the file's
        // number, which the status tells, is that of a program with all three.
        let opened = output.status.code() == Some(43);
        assert!(opened || output.status == native.status, "{output:?}");
        accounted(&folder.stats(&log), 1000, 2000);
    }
}
