//! The recorder where there is no place for its log, or not enough: the
//! program's output, status and open files are those of its native run, and
//! every event stands in the log or is counted as lost.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use crate::sites::disk::Disk;
use crate::sites::run::{Noisy, SINKS, accounted, assert_same};
use crate::sites::{Folder, said};
use crate::{MANY, NOBODY};

/// A log takes this much at least.
const FIRST_WINDOW: u64 = 256 << 10;

#[test]
fn a_folder_that_is_not_there_or_no_folder() {
    let folder = Folder::new("nowhere");
    let program = Noisy::new(&folder);
    for place in ["/no/such/folder", "/dev/null", "/proc", "/proc/self"] {
        program.goes_without(|| {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command.env("MEMLOG_DIR", place);
            command
        });
        program.goes_without(|| program.logging(&folder, 1000, &Path::new(place).join("x.memlog")));
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
        program.goes_without(|| {
            let mut command = program.shell(&folder, ":", &["1000"], "");
            command.env(name, value).current_dir(&closed);
            as_nobody(&folder, &mut command);
            command
        });
    }
    let tool = folder.path("memlog");
    crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
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
    program.goes_without(prepare);
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

/// Where chunks are written, the last words find no file any more; what was
/// written before is there.
#[test]
fn a_folder_that_vanishes_while_it_is_written_to() {
    let folder = Folder::new("vanishes-written");
    let program = Noisy::new(&folder);
    let blocks = MANY.to_string();
    let run = |preload: &str| {
        let logs = folder.folder("logs");
        let mut command = program.shell(&folder, ":", &[&blocks, "wait"], "");
        command.env("MEMLOG_OUTPUT", logs.join("it.memlog"));
        command
            .env("PRELOAD", preload)
            .env("MEMLOG_SINK", "written");
        interrupted(command, || {
            fs::rename(&logs, folder.path("moved")).expect("rename");
        })
    };
    let library = program.library.to_str().expect("text");
    let native = run("");
    fs::remove_dir_all(folder.path("moved")).expect("remove");
    assert_same(&native, &run(library), false);
    let stats = folder.stats(&folder.path("moved/it.memlog"));
    let events = stats.number("allocations") + stats.number("releases");
    assert!((MANY / 2..2 * MANY).contains(&events), "{events} events");
}

/// From no room at all to room for some of the log.
#[track_caller]
fn on_a_full_disk(sink: &str) {
    let folder = Folder::new(&format!("full-{sink}"));
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
        let run = || {
            let mut command = program.logging(&folder, MANY, &log);
            command.env("MEMLOG_SINK", sink);
            command
        };
        program.same(run, true);
        if log.exists() {
            // A page holds what is counted, and no event.
            accounted(&folder.stats(&log), MANY, u64::from(kilobytes >= 60));
        } else {
            assert!(kilobytes < 256, "no log, though there are {kilobytes} KiB");
            program.goes_without(run);
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

#[test]
fn a_full_disk() {
    on_a_full_disk("mapped");
}

#[test]
fn a_full_disk_that_is_written_to() {
    on_a_full_disk("written");
}

/// A limit of file sizes ends who passes it by a signal: nobody notices.
#[test]
fn a_limit_of_file_sizes() {
    let folder = Folder::new("limit");
    let program = Noisy::new(&folder);
    // In units of 512 bytes: from nothing to a part of the log.
    let limits = [0, 1, 128, 200, 256, 512, 513, 1000, 1024];
    for (limit, sink) in limits.into_iter().flat_map(with_sinks) {
        let log = folder.path(&format!("{limit}-{sink}.memlog"));
        let before = format!("ulimit -f {limit}");
        let prepare = || {
            let mut command = program.shell(&folder, &before, &[&MANY.to_string()], "");
            command.env("MEMLOG_OUTPUT", &log).env("MEMLOG_SINK", sink);
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

fn with_sinks<T: Copy>(value: T) -> impl Iterator<Item = (T, &'static str)> {
    SINKS.iter().map(move |sink| (value, *sink))
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
    for ((text, bytes), sink) in settings.into_iter().flat_map(with_sinks) {
        let log = folder.path(&format!("{text}-{sink}.memlog"));
        let prepare = || {
            let mut command = program.logging(&folder, MANY, &log);
            command.env("MEMLOG_MAX_LOG", text).env("MEMLOG_SINK", sink);
            command
        };
        program.same(prepare, false);
        accounted(&folder.stats(&log), MANY, 1000);
        let length = fs::metadata(&log).expect("stat").len();
        let most = FIRST_WINDOW.max(bytes);
        assert!(length <= most, "{length} bytes with {text}");
    }
}
