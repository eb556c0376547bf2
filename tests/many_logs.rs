//! A build leaves tens of thousands of logs. What is said of them at once must
//! cost little for each, however large the process was that forked it. Bytes
//! read and calls made are counted, not time.

mod sites;

use std::fs;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use sites::build::GCC;
use sites::{Folder, said};

/// A large process and small children of it that live long enough to have logs
/// and execute another program then: logs without an end.
const FAMILY: &str = "#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
    for (int i = 0; i < 300000; i++) *(volatile char *)malloc(i % 64 + 1) = 1;
    for (int i = 0; i < 4; i++) {
        if (fork() == 0) {
            for (int j = 0; j < 50; j++) { usleep(2000); free(malloc(5000)); }
            execl(\"/bin/true\", \"true\", (char *)0);
        }
        wait(0);
    }
}
";

/// Moves the files of one folder into another, which reads none of them.
const MOVER: &str = "#include <dirent.h>
#include <stdio.h>
int main(int count, char **words) {
    (void)count;
    DIR *folder = opendir(words[1]);
    for (struct dirent *entry; (entry = readdir(folder)); ) {
        char from[4096], to[4096];
        snprintf(from, sizeof from, \"%s/%s\", words[1], entry->d_name);
        snprintf(to, sizeof to, \"%s/%s\", words[2], entry->d_name);
        if (entry->d_name[0] != '.' && rename(from, to)) return 1;
    }
}
";

/// What a process and those that it waited for have read.
#[derive(Clone, Copy, Debug)]
struct Read {
    bytes: u64,
    calls: u64,
}

/// Runs it and asks the kernel before it forgets the process.
fn read_by(mut command: Command) -> (Read, String) {
    let output = tempfile_of(&mut command);
    let mut child = command.spawn().expect("memlog runs");
    let mut end = MaybeUninit::uninit();
    let flags = libc::WEXITED | libc::WNOWAIT;
    // SAFETY: the place for the answer is this function's own.
    let waited = unsafe { libc::waitid(libc::P_PID, child.id(), end.as_mut_ptr(), flags) };
    assert_eq!(waited, 0);
    let io = fs::read_to_string(format!("/proc/{}/io", child.id())).expect("what it read");
    assert!(child.wait().expect("its end").success());
    let number = |name: &str| {
        let line = io.lines().find_map(|line| line.strip_prefix(name));
        line.expect(name).trim().parse().expect("a number")
    };
    let read = Read {
        bytes: number("rchar:"),
        calls: number("syscr:"),
    };
    (read, fs::read_to_string(output).expect("what it said"))
}

/// A pipe would have to be read while it runs.
fn tempfile_of(command: &mut Command) -> PathBuf {
    let folder = command.get_current_dir().expect("a folder").to_owned();
    let path = folder.join("said.txt");
    let file = fs::File::create(&path).expect("a file");
    command.stdout(file.try_clone().expect("a file"));
    command.stderr(file);
    path
}

/// The logs of FAMILY, as no `record` made them: the large process' and one of
/// its children's.
fn family(folder: &Folder) -> (PathBuf, PathBuf) {
    fs::write(folder.path("family.c"), FAMILY).expect("write");
    let program = GCC.build_file(folder, &folder.path("family.c"), "family", &["-O0"]);
    let mut command = folder.command(program);
    command
        .env("LD_PRELOAD", folder.recorder().join("libmemlog.so"))
        .env("MEMLOG_OUTPUT", folder.folder("made").join("%p.memlog"));
    assert!(command.status().expect("it runs").success());
    let mut logs = folder.logs("made");
    let stats = |log: &PathBuf| folder.stats(log);
    let is_child = |log: &PathBuf| stats(log).value("parent_pid").as_u64().is_some();
    logs.retain(|log| !stats(log).is("ended") || fs::metadata(log).expect("stat").len() > 1 << 20);
    let large = logs.iter().find(|log| stats(log).is("ended"));
    let child = logs
        .iter()
        .find(|log| !stats(log).is("ended") && is_child(log));
    (
        large.expect("the parent").clone(),
        child.expect("a child").clone(),
    )
}

/// So many copies of the child's log, and the parent's under its own name.
fn copies(folder: &Folder, place: &str, (large, child): &(PathBuf, PathBuf), count: u32) {
    let place = folder.folder(place);
    let name = large.file_name().expect("a name");
    fs::copy(large, place.join(name)).expect("copied");
    for number in 0..count {
        let copy = place.join(format!("copy.{number}.memlog"));
        match number {
            // By who knows no holes.
            49 | 99 => drop(fs::copy(child, copy).expect("copied")),
            _ => copy_with_its_holes(child, &copy),
        }
    }
}

/// A log's file is longer than the log, and takes no room for that.
fn copy_with_its_holes(log: &Path, copy: &Path) {
    let length = fs::metadata(log).expect("stat").len();
    let mut bytes = Vec::new();
    let file = fs::File::open(log).expect("a log");
    file.take(1 << 20).read_to_end(&mut bytes).expect("read");
    let file = fs::File::create(copy).expect("made");
    file.set_len(length).expect("made longer");
    for (place, page) in (0..).step_by(4096).zip(bytes.chunks(4096)) {
        if page.iter().any(|&byte| byte != 0) {
            file.write_all_at(page, place).expect("written");
        }
    }
}

/// The most that may be read for one more log, and the calls that take it.
const BYTES_A_LOG: u64 = 16 << 10;
const CALLS_A_LOG: u64 = 24;

fn is_little(few: Read, many: Read, more: u64) {
    let bytes = many.bytes.saturating_sub(few.bytes) / more;
    let calls = many.calls.saturating_sub(few.calls) / more;
    println!("for each log {bytes} bytes in {calls} calls");
    assert!(
        bytes <= BYTES_A_LOG,
        "{bytes} bytes a log: {few:?}, {many:?}"
    );
    assert!(
        calls <= CALLS_A_LOG,
        "{calls} calls a log: {few:?}, {many:?}"
    );
}

#[test]
fn the_list_reads_little_of_each_log() {
    let folder = Folder::new("many-list");
    let family = family(&folder);
    let read = |place: &str, count: u32| {
        copies(&folder, place, &family, count);
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        command.args(["info", "--list", place]);
        let (read, list) = read_by(command);
        assert_eq!(list.lines().count() as u32, 2 + count, "{list}");
        read
    };
    is_little(read("few", 10), read("many", 210), 200);
}

#[test]
fn the_closing_words_read_little_of_each_log() {
    let folder = Folder::new("many-record");
    let family = family(&folder);
    fs::write(folder.path("mover.c"), MOVER).expect("write");
    let mover = GCC.build_file(&folder, &folder.path("mover.c"), "mover", &["-O0"]);
    let read = |place: &str, count: u32| {
        copies(&folder, &format!("{place}-made"), &family, count);
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        folder.folder(place);
        let logs = format!("{place}/");
        command.args(["record", "-o", &logs]).arg(&mover);
        command.args([&format!("{place}-made"), place]);
        let (read, told) = read_by(command);
        assert!(
            told.contains(&format!("{} more logs of", count + 1)),
            "{told}"
        );
        let largest = format!("memlog summary {place}/");
        let largest = largest + &family.0.file_name().expect("a name").to_string_lossy();
        assert!(told.contains(&largest), "{told}");
        read
    };
    is_little(read("few", 10), read("many", 210), 200);
}

/// What the list says of a process that did not end is what all of its log
/// says, also where its parent was larger, of several threads, and of a log
/// that overwrote its oldest events.
#[test]
fn peaks_are_those_of_the_whole_logs() {
    let folder = Folder::new("many-peaks");
    let source = folder.path("killed.c");
    let text = "#include <stdlib.h>\n#include <string.h>\n#include <signal.h>\n\
                #include <pthread.h>\n\
                static void *work(void *mib) {\n\
                    for (int i = 0; i < 30000; i++) free(malloc(i % 999));\n\
                    size_t bytes = (size_t)mib << 20;\n\
                    char *block = malloc(bytes); memset(block, 1, bytes); free(block);\n\
                    for (int i = 0; i < 30000; i++) free(malloc(i % 999));\n\
                    return 0;\n\
                }\n\
                int main(void) {\n\
                    pthread_t thread;\n\
                    pthread_create(&thread, 0, work, (void *)40);\n\
                    work((void *)20);\n\
                    pthread_join(thread, 0);\n\
                    raise(SIGKILL);\n\
                }\n";
    fs::write(&source, text).expect("write");
    let program = GCC.build_file(&folder, &source, "killed", &["-O0", "-pthread"]);
    let script = "import os, sys\nblock = bytearray(80 << 20)\n\
                  for i in range(2):\n    if os.fork() == 0: os.execv(sys.argv[1], sys.argv[1:])\n    os.wait()\n";
    let program = program.to_str().expect("text");
    for (place, options) in [
        ("plain/", &[][..]),
        ("flight/", &["--flight-recorder=256K"]),
    ] {
        let python = ["/usr/bin/python3", "-c", script, program];
        let words = [&["record", "-o", place], options, &python].concat();
        let output = folder.run(&words);
        assert!(output.status.success(), "{}", said(&output));
        let list = folder.says(&["info", "--list", place]);
        let logs = folder.logs(place);
        assert!(logs.len() >= 3, "{list}");
        for log in &logs {
            let whole = folder.stats(log).number("rss_peak_bytes");
            let row = list.lines().find(|row| row.ends_with(&shown(log, &folder)));
            let row = row.unwrap_or_else(|| panic!("{} in {list}", log.display()));
            let expected = format!("{:.1} MiB", whole as f64 / f64::from(1 << 20));
            assert!(row.contains(&expected), "{expected}: {row}");
        }
    }
}

fn shown(log: &Path, folder: &Folder) -> String {
    let below = log.strip_prefix(folder.path("")).expect("below");
    below.to_str().expect("text").to_owned()
}

/// As a large configure script leaves them. Prints the seconds, for the pages.
#[test]
fn of_25000_logs_the_seconds_are_printed() {
    if std::env::var_os("MEMLOG_LONG").is_none_or(|value| value != "1") {
        println!("SKIPPED seconds for 25,000 logs: MEMLOG_LONG=1 prints them");
        return;
    }
    let folder = Folder::new("many-seconds");
    copies(&folder, "many", &family(&folder), 25_000);
    let begin = std::time::Instant::now();
    let list = folder.says(&["info", "--list", "many"]);
    assert_eq!(list.lines().count(), 25_002);
    println!(
        "25,000 logs listed in {:.2} s",
        begin.elapsed().as_secs_f64()
    );
}
