//! The table that is kept beside a log, and those who tamper with it.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use memlog_format::chunk::{CHUNK_SIZE, HEADER_SIZE, Header, Kind, checksum};

use crate::sites::disk::Disk;
use crate::sites::{Folder, said};
use crate::{recorded, runnable};

const NOBODY: u32 = 65534;

/// A log that is long enough to have one.
struct Kept {
    folder: Folder,
    log: PathBuf,
    table: PathBuf,
    /// What is answered.
    answer: Vec<u8>,
}

impl Kept {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        fs::create_dir(folder.path("logs")).expect("mkdir");
        let (made, _) = recorded(&folder, &[], "many 700000");
        let log = folder.path("logs/long.memlog");
        fs::rename(made, &log).expect("mv");
        let table = folder.path("logs/long.memlog.table");
        let mut kept = Self {
            folder,
            log,
            table,
            answer: Vec::new(),
        };
        kept.answer = kept.asked().stdout;
        kept
    }

    fn question(&self) -> Command {
        let log = self.log.to_str().expect("a name");
        self.folder
            .memlog(&["table", "--by", "kind", "--json", log])
    }

    #[track_caller]
    fn asked(&self) -> Output {
        let output = self.question().output().expect("memlog runs");
        assert!(output.status.success(), "{}", said(&output));
        output
    }

    /// The file, as far as it tells it from another.
    #[track_caller]
    fn file(&self) -> (u64, i64, i64) {
        let file = fs::symlink_metadata(&self.table).expect("a table");
        assert!(file.is_file());
        assert_eq!(file.mode() & 0o7777, 0o600);
        (file.ino(), file.mtime(), file.mtime_nsec())
    }

    /// The question is answered as at first, and by a table that was made anew or not.
    #[track_caller]
    fn answers(&self, anew: bool, why: &str) {
        let before = fs::symlink_metadata(&self.table).ok();
        let before = before.map(|file| (file.ino(), file.mtime(), file.mtime_nsec()));
        let output = self.asked();
        assert!(output.stdout == self.answer, "another answer: {why}");
        assert_eq!(before != Some(self.file()), anew, "{why}");
        self.holds_no_draft(why);
    }

    #[track_caller]
    fn holds_no_draft(&self, why: &str) {
        let entries = fs::read_dir(self.folder.path("logs"))
            .expect("list")
            .flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names.retain(|name| name.to_string_lossy().contains("long.memlog"));
        let table_less = names.len() == 1;
        assert!(
            table_less || names == ["long.memlog", "long.memlog.table"],
            "{why}: {names:?}"
        );
    }

    fn flip(&self, at: u64) {
        let file = File::options().read(true).write(true).open(&self.table);
        let file = file.expect("the table");
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("read");
        file.write_all_at(&[byte[0] ^ 0x10], at).expect("write");
    }
}

#[test]
fn a_table_is_kept_and_whoever_tampers_is_noticed() {
    let kept = Kept::new("answers-kept");
    kept.file();
    kept.answers(false, "nothing happened");
    let whole = fs::read(&kept.table).expect("the table");
    let length = whole.len() as u64;
    assert!(length > 1 << 20);
    // In the rows, in what is told besides, and in what says where that is.
    for at in [length / 3, length - 4000, length - 20, 3] {
        kept.flip(at);
        kept.answers(true, &format!("a bit at {at} of {length}"));
        kept.answers(false, "it was made anew");
    }
    for (why, bytes) in [
        ("torn", &whole[..whole.len() / 2]),
        ("empty", &b""[..]),
        ("foreign", &[b'x'; 5000][..]),
    ] {
        fs::write(&kept.table, bytes).expect("write");
        kept.answers(true, why);
    }
    fs::set_permissions(&kept.table, Permissions::from_mode(0o666)).expect("chmod");
    kept.answers(true, "others may write it");
    if kept.folder.is_root() {
        chown(&kept.table, Some(NOBODY), None).expect("chown");
        kept.answers(true, "it is nobody's");
    }
    folders_ignore_it(&kept);
}

/// Nobody takes a table for a log.
fn folders_ignore_it(kept: &Kept) {
    let folder = kept.folder.path("logs");
    let folder = folder.to_str().expect("a name");
    let list = kept.folder.says(&["info", "--list", folder]);
    assert!(!list.contains(".table"), "{list}");
    let summary = kept.folder.says(&["summary", folder]);
    assert!(!summary.contains(".table"), "{summary}");
}

#[test]
fn links_are_not_followed() {
    let kept = Kept::new("answers-links");
    let victim = kept.folder.path("victim");
    fs::write(&victim, "not yours").expect("write");
    fs::remove_file(&kept.table).expect("rm");
    symlink(&victim, &kept.table).expect("ln");
    kept.answers(true, "a link in the table's place");
    // To a table that is whole, too.
    let elsewhere = kept.folder.path("elsewhere");
    fs::rename(&kept.table, &elsewhere).expect("mv");
    symlink(&elsewhere, &kept.table).expect("ln");
    kept.answers(true, "a link to a table");
    fs::remove_file(&kept.table).expect("rm");
    // The shell becomes memlog, so its number is known beforehand.
    let script =
        "ln -s \"$1\" \"$2/.long.memlog.table.$$\" && exec \"$3\" table --by kind --json \"$4\"";
    let mut command = kept.folder.command("sh");
    command
        .args(["-c", script, "sh"])
        .arg(&victim)
        .arg(kept.folder.path("logs"));
    let output = command
        .arg(env!("CARGO_BIN_EXE_memlog"))
        .arg(&kept.log)
        .output();
    let output = output.expect("it runs");
    assert!(output.status.success(), "{}", said(&output));
    assert!(output.stdout == kept.answer);
    assert_eq!(fs::read(&victim).expect("read"), b"not yours");
    kept.file();
    kept.holds_no_draft("a link in the draft's place");
}

#[test]
fn tables_of_others_and_of_earlier_logs_are_not_taken() {
    let kept = Kept::new("answers-others");
    let (other, _) = recorded(&kept.folder, &[], "many 600000");
    let words = ["table", "--by", "kind", "--json"];
    let mut question = words.to_vec();
    question.push(other.to_str().expect("a name"));
    kept.folder.says(&question);
    let others = kept.folder.path("many-600000.memlog.table");
    fs::copy(&others, &kept.table).expect("cp");
    kept.answers(true, "it was another log's");
    // The log is what it was when it was shorter.
    let bytes = fs::read(&kept.log).expect("the log");
    fs::write(&kept.log, &bytes[..bytes.len() * 19 / 20 / 65536 * 65536]).expect("write");
    let shorter = kept.asked();
    assert!(shorter.stdout != kept.answer);
    fs::write(&kept.log, &bytes).expect("write");
    kept.answers(true, "the log has grown");
}

/// Makes the next question make a table, and ends it in between.
fn ended(kept: &Kept, signal: i32, after: Duration) {
    let _ = fs::remove_file(&kept.table);
    let log = kept.log.to_str().expect("a name");
    let mut command = kept.folder.command(env!("CARGO_BIN_EXE_memlog"));
    command.args(["table", "--by", "kind", "--json", log]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = child.expect("memlog runs");
    std::thread::sleep(after);
    // SAFETY: the child was not waited for, so the number is its own.
    unsafe { libc::kill(child.id() as libc::pid_t, signal) };
    child.wait().expect("it ends");
}

#[test]
fn drafts_do_not_stay() {
    let kept = Kept::new("answers-drafts");
    for after in [20, 60, 150, 400] {
        ended(&kept, libc::SIGINT, Duration::from_millis(after));
        kept.holds_no_draft("interrupted");
        ended(&kept, libc::SIGKILL, Duration::from_millis(after));
        let _ = fs::remove_file(&kept.table);
        if after > 60 {
            kept.answers(true, "one before was killed");
        }
    }
    fs::remove_file(&kept.table).expect("rm");
    let children = [(); 2].map(|()| {
        let mut command = kept.question();
        command.stdout(Stdio::piped()).spawn().expect("memlog runs")
    });
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success() && output.stdout == kept.answer);
    }
    kept.answers(false, "two asked at once");
}

/// Where the log's folder takes no files the user's cache does.
#[test]
fn a_folder_without_room_is_left_alone() {
    let kept = Kept::new("answers-cache");
    fs::remove_file(&kept.table).expect("rm");
    let program = kept.folder.path("memlog");
    runnable::copy(env!("CARGO_BIN_EXE_memlog"), &program);
    // Root has asked before.
    fs::remove_dir_all(kept.folder.path("cache")).expect("rm");
    for (name, mode) in [("logs", 0o555), ("cache", 0o777)] {
        let folder = kept.folder.folder(name);
        fs::set_permissions(folder, Permissions::from_mode(mode)).expect("chmod");
    }
    fs::set_permissions(&kept.log, Permissions::from_mode(0o644)).expect("chmod");
    let ask = || -> Option<Vec<u8>> {
        let mut command = kept.folder.command(if kept.folder.is_root() {
            "setpriv"
        } else {
            "env"
        });
        if kept.folder.is_root() {
            command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        }
        command
            .arg(&program)
            .args(["table", "--by", "kind", "--json"]);
        let output = command.arg(&kept.log).output().ok()?;
        assert!(output.status.success(), "{}", said(&output));
        Some(output.stdout)
    };
    let Some(first) = ask() else {
        println!("SKIPPED a folder that takes no files: there is no setpriv");
        return;
    };
    assert!(first == kept.answer);
    let files = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("list").flatten();
        let paths = entries.map(|entry| entry.path());
        paths.filter(|path| path.is_file()).collect()
    };
    let tables = files(&kept.folder.path("cache/memlog"));
    assert_eq!(tables.len(), 1, "{tables:?}");
    let before = fs::metadata(&tables[0]).expect("stat");
    assert_eq!(before.mode() & 0o777, 0o600);
    assert!(ask().as_ref() == Some(&first));
    let after = fs::metadata(&tables[0]).expect("stat");
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec())
    );
    assert_eq!(
        files(&kept.folder.path("logs")),
        std::slice::from_ref(&kept.log)
    );
    // A cache that takes none either: the answer is the same.
    fs::remove_dir_all(kept.folder.path("cache")).expect("rm");
    fs::write(kept.folder.path("cache"), "a file").expect("write");
    assert!(ask() == Some(first));
    // Else nobody but root can remove it.
    fs::set_permissions(kept.folder.path("logs"), Permissions::from_mode(0o755)).expect("chmod");
}

/// Asks where a table has no room: the answer is the same, and it is said.
#[track_caller]
fn is_told(kept: &Kept, output: Output, why: &str) {
    let told = said(&output);
    assert!(output.status.success(), "{why}: {told}");
    assert!(output.stdout == kept.answer, "another answer: {why}");
    let note = format!(
        "memlog: note: the table of its blocks was not kept, so the next question will read the \
         whole log again: {why}"
    );
    assert!(told.starts_with(&note), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
}

#[test]
fn where_files_may_not_grow_memory_has_to_do() {
    let kept = Kept::new("answers-limit");
    // In 512 bytes, or 1024.
    for limit in [0, 100, 1000] {
        fs::remove_file(&kept.table).expect("rm");
        let mut command = kept.folder.command("sh");
        let script = format!("ulimit -f {limit} && exec \"$@\"");
        command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_memlog")]);
        command.args(["table", "--by", "kind", "--json"]);
        let output = command.arg(&kept.log).output().expect("it runs");
        is_told(&kept, output, "File too large (os error 27)");
        assert!(!kept.table.exists());
        kept.holds_no_draft("a file may not grow");
        kept.answers(true, "it may again");
    }
}

#[test]
fn on_a_full_disk_memory_has_to_do() {
    let kept = Kept::new("answers-full");
    let length = fs::metadata(&kept.log).expect("stat").len();
    let rest = 1 << 20;
    let Some(disk) = Disk::mount(kept.folder.path("disk"), length + rest) else {
        println!("SKIPPED a full disk below a table: it takes root to mount one");
        return;
    };
    let log = disk.0.join("long.memlog");
    fs::copy(&kept.log, &log).expect("cp");
    let name = log.to_str().expect("a name");
    let question = ["table", "--by", "kind", "--json", name];
    for _ in 0..2 {
        let output = kept.folder.run(&question);
        is_told(&kept, output, "No space left on device (os error 28)");
        let names: Vec<_> = fs::read_dir(&disk.0).expect("list").flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

/// A question for which there is a table wants of the log what names its blocks.
#[test]
fn events_are_read_once() {
    let kept = Kept::new("answers-once");
    let mut bytes = fs::read(&kept.log).expect("the log");
    let mut ruined = 0;
    for chunk in bytes.chunks_mut(CHUNK_SIZE) {
        let header = Header::decode(chunk).expect("a chunk");
        if header.is_some_and(|header| header.kind == Kind::Events) {
            chunk[HEADER_SIZE..].fill(0xA5);
            ruined += 1;
        }
    }
    assert!(ruined > 50, "{ruined} chunks of events");
    fs::write(&kept.log, &bytes).expect("write");
    kept.answers(false, "all events are gone");
    let Some(read) = bytes_read(&kept) else {
        println!("SKIPPED bytes that a question reads: the kernel does not count them");
        return;
    };
    let whole = bytes.len() as u64;
    assert!(read < whole / 3, "{read} bytes of {whole}");
    fs::remove_file(&kept.table).expect("rm");
    let read = bytes_read(&kept).expect("as before");
    assert!(read > whole, "{read} bytes of {whole} without a table");
}

/// What the kernel says that a question reads: a shell has what its children had.
fn bytes_read(kept: &Kept) -> Option<u64> {
    let mut command = kept.folder.command("sh");
    let script = "\"$@\" >&2; while read -r line; do echo \"$line\"; done </proc/$$/io";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_memlog")]);
    command.args(["table", "--by", "kind", "--json"]);
    let output = command.arg(&kept.log).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let count = text.lines().find_map(|line| line.strip_prefix("rchar: "));
    count?.parse().ok()
}

/// A table that somebody wrote who knows the checksums: with so many events. They are the
/// first number of the tail, whose place, length and checksum the footer has.
fn forged(whole: &[u8], events: u64) -> Vec<u8> {
    let (rest, footer) = whole.split_at(whole.len() - 32);
    let offset = u64::from_le_bytes(footer[..8].try_into().expect("a word")) as usize;
    let tail = &rest[offset..];
    let old = tail.iter().position(|&byte| byte < 0x80).expect("a number") + 1;
    let (mut number, mut left) = (Vec::new(), events);
    while left >= 0x80 {
        number.push(left as u8 | 0x80);
        left >>= 7;
    }
    number.push(left as u8);
    let tail = [&number, &tail[old..]].concat();
    let words = [offset as u64, tail.len() as u64, checksum(&tail)];
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    [&rest[..offset], &tail, &words, &footer[24..]].concat()
}

/// Whoever wrote it: it is made anew, and nothing asks for the memory that it claims.
#[test]
fn a_forged_table_is_made_anew() {
    let kept = Kept::new("answers-forged");
    let whole = fs::read(&kept.table).expect("the table");
    let log = kept.log.to_str().expect("a name");
    let exported = |form: &str| {
        let words = ["export", form, "-o", "-", "--where", "size >= 100", log];
        let output = kept.folder.run(&words);
        assert!(output.status.success(), "{form}: {}", said(&output));
        output.stdout
    };
    let forms = ["heaptrack", "perfetto", "massif", "firefox", "folded"];
    let expected = forms.map(exported);
    for events in [u64::MAX, 1 << 62, 1 << 40, 3] {
        let bytes = forged(&whole, events);
        for (form, expected) in forms.into_iter().zip(&expected) {
            fs::write(&kept.table, &bytes).expect("write");
            assert!(exported(form) == *expected, "{form} of {events} events");
        }
        fs::write(&kept.table, &bytes).expect("write");
        kept.answers(true, "so many events");
    }
}
