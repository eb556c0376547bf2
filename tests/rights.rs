//! Programs that give up the rights to their log, as daemons do: nothing is
//! lost by that, and what cannot be had is said in the kernel's words.

mod sites;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use sites::build::GCC;
use sites::{Folder, said};

const BLOCKS: u64 = 1_000_000;

/// The program, where root runs the tests.
fn program(folder: &Folder) -> Option<PathBuf> {
    if !folder.is_root() {
        println!("SKIPPED rights: only root has some to give up");
        return None;
    }
    Some(GCC.build::<&str>(folder, "rights.c", "rights", &[]))
}

fn record(folder: &Folder, log: &str, settings: &[&str], program: &Path, way: &str) -> Output {
    let blocks = BLOCKS.to_string();
    let words = [&["record", "-o", log], settings].concat();
    let mut command = folder.memlog(&words);
    let output = command.arg(program).args([way, &blocks]).output();
    output.expect("memlog runs")
}

/// By setuid, by chroot, with no descriptor left, and killed after that.
#[test]
fn nothing_is_lost_by_fewer_rights() {
    let folder = Folder::new("rights-fewer");
    let Some(program) = program(&folder) else {
        return;
    };
    for way in ["uw", "cw", "nw", "ncuw", "uwk"] {
        let name = format!("{way}.memlog");
        let output = record(&folder, &name, &[], &program, way);
        let told = said(&output);
        assert!(told.contains("nothing was lost"), "{way}: {told}");
        let log = folder.path(&name);
        let stats = folder.stats(&log);
        let allocations = stats.number("allocations");
        assert!(allocations > BLOCKS, "{way}: {allocations}");
        // `record` cuts off what the program was not allowed to.
        let about = fs::metadata(&log).expect("a log");
        let (long, taken) = (about.len(), about.blocks() * 512);
        // Of the first chunks not every page is used.
        assert!(
            long <= taken + (1 << 20) && taken < 32 << 20,
            "{way}: {long} bytes, {taken} on the disk"
        );
    }
}

/// Where the log goes out by writes, none is made any more, and nobody says that
/// nothing was lost.
#[test]
fn what_cannot_be_written_any_more_is_not_said_to_be_whole() {
    let folder = Folder::new("rights-written");
    let Some(program) = program(&folder) else {
        return;
    };
    let blocks = BLOCKS.to_string();
    let mut command = folder.memlog(&["record", "-o", "it.memlog"]);
    command.env("MEMLOG_SINK", "written");
    let output = command.arg(&program).args(["uw", &blocks]).output();
    let told = said(&output.expect("memlog runs"));
    assert!(!told.contains("nothing was lost"), "{told}");
    assert!(told.contains("memlog: perhaps lost, it.memlog: "), "{told}");
    let log = folder.path("it.memlog");
    let page = folder.says(&["summary".as_ref(), log.as_os_str()]);
    assert!(!page.contains("none lost"), "{page}");
    assert!(page.contains("what came last may be missing"), "{page}");
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    assert!(page.contains("and has no end"), "{page}");
}

/// Without anybody who comes after, the file seems long, takes what it did,
/// and is read like any other.
#[test]
fn a_log_that_nobody_cut_is_read_as_it_is() {
    let folder = Folder::new("rights-uncut");
    let Some(program) = program(&folder) else {
        return;
    };
    let library = folder.recorder().join("libmemlog.so");
    let log = folder.path("it");
    let mut command = folder.command(&program);
    let status = command
        .args(["uwk", &BLOCKS.to_string()])
        .env("LD_PRELOAD", library)
        .env("MEMLOG_OUTPUT", &log)
        .status();
    assert_eq!(status.expect("it runs").signal(), Some(libc::SIGKILL));
    let about = fs::metadata(&log).expect("a log");
    assert!(about.len() > 1 << 30, "{} bytes", about.len());
    assert!(about.blocks() * 512 < 32 << 20, "{} blocks", about.blocks());
    let page = folder.says(&["info".as_ref(), log.as_os_str()]);
    let seems = "the file seems to be 68,719,476,736 bytes long";
    assert!(page.contains(seems), "{page}");
    assert!(folder.stats(&log).number("allocations") > BLOCKS);
}

/// Workers that a master forks and that then become nobody, in a folder that is
/// root's, have logs of their own.
#[test]
fn workers_without_rights_have_their_logs() {
    let folder = Folder::new("rights-prefork");
    let Some(program) = program(&folder) else {
        return;
    };
    let output = record(&folder, "%p.memlog", &[], &program, "p");
    let told = said(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(told.contains("nothing was lost"), "{told}");
    let logs = folder.logs("");
    assert_eq!(logs.len(), 4, "{told}");
    let whole = logs.iter().filter(|log| {
        let stats = folder.stats(log);
        stats.number("lost_events") == 0 && stats.number("allocations") >= BLOCKS
    });
    assert_eq!(whole.count(), 3, "{told}");
}

/// A child of one that may make no file here any more.
#[test]
fn a_child_without_a_log_is_told() {
    let folder = Folder::new("rights-child");
    let Some(program) = program(&folder) else {
        return;
    };
    let told = said(&record(&folder, "%p.memlog", &[], &program, "uo"));
    let why = "1 forked process of it has no log, for none could be made, the last for this \
               reason: Permission denied (EACCES)";
    assert!(told.contains(why), "{told}");
    assert!(!told.contains("nothing was lost"), "{told}");
    assert_eq!(folder.logs("").len(), 1);
    let page = folder.says(&["info".as_ref(), folder.logs("")[0].as_os_str()]);
    let line = page.lines().find(|line| line.contains("child_log_refused"));
    assert!(
        line.is_some_and(|line| line.ends_with("Permission denied (EACCES)")),
        "{page}"
    );
}

/// What kept a log from growing is what the kernel said: where a limit kept its
/// file from being long from the start, and no notice came.
#[test]
fn a_loss_has_the_kernels_reason() {
    let folder = Folder::new("rights-reason");
    let Some(program) = program(&folder) else {
        return;
    };
    let settings = [
        ("lsw", "Permission denied (EACCES)"),
        ("lnw", "Too many open files (EMFILE)"),
    ];
    for (way, why) in settings {
        let name = format!("{way}.memlog");
        let script = "ulimit -S -f 2048; exec \"$@\"";
        let mut command = folder.command("sh");
        command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_memlog"), "record"]);
        command.args(["-o", &name]).arg(&program);
        let output = command.args([way, &BLOCKS.to_string()]).output();
        let told = said(&output.expect("memlog runs"));
        let cause = format!("found no room in the log: its file could not be opened again: {why}");
        assert!(told.contains(&cause), "{way}: {told}");
        let page = folder.says(&["summary", &name]);
        assert!(page.contains(&cause), "{way}: {page}");
    }
}
