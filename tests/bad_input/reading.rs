//! The reading commands before logs that are cut, damaged, foreign or newer,
//! and programs that are gone or rebuilt: one clear sentence, and nothing is
//! lost that can still be read.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::NOBODY;
use crate::sites::build::GCC;
use crate::sites::run::Noisy;
use crate::sites::tree::Tree;
use crate::sites::{Folder, Stats, said};

/// Every command that reads a log.
const READERS: &[&[&str]] = &[
    &["stats", "--json"],
    &["report", "-t", "0", "--show-leaks", "--show-maximum"],
    &["info"],
    &["dump", "--no-symbols"],
    &["dot", "-q", "--draw", "built-in", "-o", "drawn"],
];

fn read(folder: &Folder, reader: &[&str], log: &Path) -> Output {
    let words: Vec<_> = reader.iter().map(AsRef::as_ref).collect();
    folder.run(&[words.as_slice(), &[log.as_os_str()]].concat())
}

/// One sentence about that file, and what to do.
#[track_caller]
fn refused(output: &Output, log: &Path, expected: &str) {
    let text = said(output);
    assert_eq!(output.status.code(), Some(2), "{}: {text}", log.display());
    let (sentence, rest) = text.split_once('\n').expect("a line");
    assert!(
        sentence.starts_with("memlog: error: cannot read "),
        "{text}"
    );
    assert!(sentence.contains(&log.display().to_string()), "{text}");
    assert!(
        sentence.contains(expected),
        "'{expected}' is not in: {text}"
    );
    assert!(
        rest.lines().all(|line| line.starts_with("memlog: hint: ")),
        "more than a sentence: {text}"
    );
    assert!(
        output.stdout.is_empty(),
        "something was printed nevertheless"
    );
}

/// Read, or refused with one sentence; never a crash, never a hang.
#[track_caller]
fn survived(output: &Output, log: &Path, what: &str) {
    match output.status.code() {
        Some(0) => assert!(
            !said(output).contains("panicked"),
            "{what}: {}",
            said(output)
        ),
        Some(2) => refused(output, log, ""),
        _ => panic!("{what}: {}: {}", output.status, said(output)),
    }
}

/// A log of `noisy` with so many blocks, of several windows.
fn good_log(folder: &Folder, blocks: u64) -> (Noisy, PathBuf) {
    let noisy = Noisy::new(folder);
    let log = folder.path("good.memlog");
    let mut command = folder.command(&noisy.program);
    command.arg(blocks.to_string());
    command
        .env("LD_PRELOAD", &noisy.library)
        .env("MEMLOG_OUTPUT", &log);
    let output = command.output().expect("noisy runs");
    assert_eq!(output.status.code(), Some(43), "{}", said(&output));
    (noisy, log)
}

/// Numbers that are the same at every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

#[test]
fn files_that_are_no_logs() {
    let folder = Folder::new("foreign");
    let text = folder.path("text");
    fs::write(
        &text,
        "a text of some length, that is no log at all, and longer than a header",
    )
    .expect("write");
    let short = folder.path("short.memlog");
    fs::write(&short, "MLOG").expect("write");
    let empty = folder.path("empty.memlog");
    fs::write(&empty, "").expect("write");
    let zeros = folder.path("zeros.memlog");
    fs::write(&zeros, vec![0; 1 << 17]).expect("write");
    let cases = [
        (text, "found 61 20 74 65 at offset 0"),
        (short, "only 4 bytes"),
        (empty, "an empty file"),
        (zeros, "found zeros"),
        ("/bin/sh".into(), "found 7f 45 4c 46 at offset 0"),
        ("/dev/null".into(), "not a regular file"),
        ("/no/such.memlog".into(), "No such file"),
    ];
    for (file, expected) in &cases {
        for reader in READERS {
            refused(&read(&folder, reader, file), file, expected);
        }
    }
}

/// A pipe is not waited for.
#[test]
fn a_pipe_is_no_log() {
    let folder = Folder::new("pipe");
    let pipe = folder.path("pipe");
    assert!(
        folder
            .command("mkfifo")
            .arg(&pipe)
            .status()
            .expect("mkfifo")
            .success()
    );
    let words = ["300", env!("CARGO_BIN_EXE_memlog"), "stats"].map(AsRef::as_ref);
    let mut command = folder.command("timeout");
    let output = command
        .args([words.as_slice(), &[pipe.as_os_str()]].concat())
        .output();
    refused(&output.expect("run"), &pipe, "not a regular file");
}

#[test]
fn a_log_that_may_not_be_read() {
    let folder = Folder::new("unreadable");
    let (_, log) = good_log(&folder, 100);
    let tool = folder.path("memlog");
    crate::runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
    let mut command = folder.command(tool);
    command.arg("report").arg(&log);
    if folder.is_root() {
        command.uid(NOBODY).gid(NOBODY);
    } else {
        fs::set_permissions(&log, Permissions::from_mode(0o000)).expect("chmod");
    }
    refused(&command.output().expect("run"), &log, "Permission denied");
}

/// Every length is read or refused; the longer, the more is known, and every
/// cut is told.
#[test]
fn truncated_logs() {
    let folder = Folder::new("truncated");
    let (_, log) = good_log(&folder, 60_000);
    let bytes = fs::read(&log).expect("read");
    let mut lengths = vec![
        0, 1, 3, 4, 5, 63, 64, 65, 575, 576, 577, 700, 65_535, 65_536, 65_537,
    ];
    let mut random = Random(1);
    lengths.extend((0..60).map(|_| random.below(bytes.len())));
    lengths.extend((65_536..=bytes.len()).step_by(65_536));
    lengths.sort_unstable();
    let cut = folder.path("cut.memlog");
    let mut known = 0;
    for (turn, length) in lengths.into_iter().enumerate() {
        fs::write(&cut, &bytes[..length]).expect("write");
        let what = format!("cut at {length}");
        let reader = READERS[turn % READERS.len()];
        survived(&read(&folder, reader, &cut), &cut, &what);
        let output = read(&folder, READERS[0], &cut);
        survived(&output, &cut, &what);
        if output.status.success() {
            let stats = Stats::read(&String::from_utf8_lossy(&output.stdout));
            let events = stats.number("allocations") + stats.number("releases");
            assert!(
                events >= known,
                "{what}: {events} events, {known} of a shorter one"
            );
            known = events;
            let is_told = stats.number("findings_count") > 0;
            assert_eq!(is_told, length < bytes.len(), "{what}");
        }
    }
    assert_eq!(known, 120_000);
}

#[test]
fn corrupted_logs() {
    let folder = Folder::new("corrupted");
    let (_, log) = good_log(&folder, 20_000);
    let bytes = fs::read(&log).expect("read");
    let broken = folder.path("broken.memlog");
    let mut random = Random(7);
    for turn in 0..120 {
        let mut bytes = bytes.clone();
        // The first chunk names everything else: every other turn it is hit.
        let reach = if turn % 2 == 0 { 4096 } else { bytes.len() };
        for _ in 0..1 << (turn % 7) {
            bytes[random.below(reach)] ^= 1 << random.below(8);
        }
        fs::write(&broken, bytes).expect("write");
        let reader = READERS[turn / 2 % READERS.len()];
        let output = read(&folder, reader, &broken);
        survived(&output, &broken, &format!("turn {turn}, {reader:?}"));
    }
}

/// Whole chunks of other bytes: what lies in the others is still there.
#[test]
fn a_lost_chunk_loses_no_other() {
    let folder = Folder::new("holes");
    let (_, log) = good_log(&folder, 60_000);
    let mut bytes = fs::read(&log).expect("read");
    let is_events = |chunk: &[u8]| chunk.starts_with(b"MLOG") && chunk[4] == 2;
    let place = bytes
        .chunks(65_536)
        .rposition(is_events)
        .expect("a chunk of events");
    bytes[place * 65_536..][..65_536].fill(0x55);
    let broken = folder.path("hole.memlog");
    fs::write(&broken, bytes).expect("write");
    let stats = folder.stats(&broken);
    let events = stats.number("allocations") + stats.number("releases");
    assert!((80_000..120_000).contains(&events), "{events} events");
    assert!(stats.number("findings_count") > 0);
}

#[test]
fn a_log_of_a_newer_version() {
    let folder = Folder::new("newer");
    let (_, log) = good_log(&folder, 100);
    let mut bytes = fs::read(&log).expect("read");
    bytes[5] = 99;
    let newer = folder.path("newer.memlog");
    fs::write(&newer, bytes).expect("write");
    for reader in READERS {
        let output = read(&folder, reader, &newer);
        refused(&output, &newer, "found version 99");
        assert!(said(&output).contains("newer one"), "{}", said(&output));
    }
}

/// Functions of a program that changed are shown as module and offset.
#[track_caller]
fn shows_offsets(folder: &Folder, log: &Path, expected: &str) {
    let report = folder.says(&[
        "report".as_ref(),
        "--no-fold".as_ref(),
        "-t".as_ref(),
        "0".as_ref(),
        log.as_os_str(),
    ]);
    let note = report
        .lines()
        .find(|line| line.starts_with("note: ") && line.contains(expected));
    assert!(
        note.is_some_and(|note| note.contains("module and offset")),
        "{report}"
    );
    let tree = Tree::read(&report);
    let top = tree.top().expect("a site");
    assert!(top.function.starts_with("noisy+0x"), "{report}");
    let dump = folder.run(&["dump".as_ref(), log.as_os_str()]);
    assert!(
        dump.status.success() && said(&dump).contains(expected),
        "{}",
        said(&dump)
    );
}

#[test]
fn a_program_that_is_gone() {
    let folder = Folder::new("gone");
    let (noisy, log) = good_log(&folder, 100);
    fs::remove_file(&noisy.program).expect("remove");
    shows_offsets(&folder, &log, "No such file");
}

#[test]
fn a_program_that_was_rebuilt() {
    let folder = Folder::new("rebuilt");
    let (noisy, log) = good_log(&folder, 100);
    let source = folder.path("other.c");
    fs::write(&source, "int main(void) { return 0; }").expect("write");
    GCC.build_file(&folder, &source, "noisy", &["-Wl,--build-id"]);
    assert!(noisy.program.is_file());
    shows_offsets(&folder, &log, "was rebuilt since: expected build-id ");
}

#[test]
fn a_program_that_is_no_program_any_more() {
    let folder = Folder::new("overwritten");
    let (noisy, log) = good_log(&folder, 100);
    fs::write(&noisy.program, "#!/bin/sh\n").expect("write");
    shows_offsets(&folder, &log, "noisy");
}
