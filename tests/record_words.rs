//! What is said where a run was not as it seemed: a log in no place for one,
//! a program that left none, a name that is not its file's.

mod sites;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use sites::build::GCC;
use sites::{Folder, said};

/// The recorder's one line names what it could not write.
#[test]
fn a_missing_folder_is_named() {
    let folder = Folder::new("words-folder");
    let library = folder.recorder().join("libmemlog.so");
    for (name, value) in [("MEMLOG_OUTPUT", "no/such/it"), ("MEMLOG_DIR", "no/such")] {
        let mut command = folder.command("/bin/true");
        let output = command
            .env("LD_PRELOAD", &library)
            .env(name, value)
            .output();
        let told = said(&output.expect("it runs"));
        assert!(
            told.contains("cannot write ") && told.contains("no/such/"),
            "{told}"
        );
        assert!(
            told.contains(" (error 2); choose a folder that this user can write to"),
            "{told}"
        );
    }
}

fn in_dev() -> Vec<String> {
    let entries = fs::read_dir("/dev").expect("list").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains("memlog")).collect()
}

/// stdout may well be a regular file: it is no place for a log, nor are its
/// neighbours.
#[test]
fn devices_and_streams_are_no_logs() {
    let folder = Folder::new("words-devices");
    let library = folder.recorder().join("libmemlog.so");
    for place in ["/dev/full", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let stdout = fs::File::create(folder.path("stdout.txt")).expect("a file");
        let mut command = folder.memlog(&["record", "-o", place, "true"]);
        let output = command.stdout(stdout.try_clone().expect("a file")).output();
        let output = output.expect("memlog runs");
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        let sentence = format!("{place} is a device or a stream, and a log can only be a regular");
        assert!(told.contains(&sentence), "{told}");
        let mut command = folder.command("/bin/true");
        command
            .env("LD_PRELOAD", &library)
            .env("MEMLOG_OUTPUT", place);
        let output = command.stdout(stdout).output().expect("it runs");
        assert!(output.status.success());
        let line = format!("cannot write {place} (error 22)");
        assert!(said(&output).contains(&line), "{}", said(&output));
    }
    assert_eq!(in_dev(), [""; 0]);
    assert_eq!(
        fs::metadata(folder.path("stdout.txt")).expect("stat").len(),
        0
    );
}

/// The program came to its end and its log did not: another image was executed
/// that could not record, or could write nowhere.
#[test]
fn what_left_no_log_is_said() {
    let folder = Folder::new("words-none");
    let unrecorded = |words: &[&str]| {
        let output = folder.run(&[&["record", "-o", "it.memlog"], words].concat());
        assert!(output.status.success(), "{}", said(&output));
        said(&output)
    };
    let script = "exec env -u LD_PRELOAD /bin/true";
    let told = unrecorded(&["sh", "-c", script]);
    assert!(!told.contains("nothing was lost"), "{told}");
    assert!(
        told.contains("memlog: not recorded: true, which /usr/bin/"),
        "{told}"
    );
    assert!(
        told.contains("make a folder that its user may write to and give it by -o"),
        "{told}"
    );
    let told = unrecorded(&["sh", "-c", ":"]);
    assert!(told.contains("nothing was lost"), "{told}");
    if !folder.is_root()
        || !Command::new("setpriv")
            .arg("--version")
            .output()
            .is_ok_and(|done| done.status.success())
    {
        println!("SKIPPED rights that are dropped: there is no setpriv, or no root");
        return;
    }
    fs::set_permissions(folder.path(""), fs::Permissions::from_mode(0o755)).expect("chmod");
    let nobody = ["setpriv", "--reuid=65534", "--clear-groups"];
    let told = unrecorded(&[&nobody[..], &["/bin/true"]].concat());
    assert!(!told.contains("nothing was lost"), "{told}");
    assert!(
        told.contains("memlog: not recorded: true, which "),
        "{told}"
    );
}

/// One file may be many programs.
#[test]
fn a_program_is_named_as_it_was_started() {
    let folder = Folder::new("words-name");
    let source = folder.path("many.c");
    let text = "#include <stdlib.h>\nint main(void) { free(malloc(5)); }\n";
    fs::write(&source, text).expect("write");
    GCC.build_file(&folder, &source, "check-rdb", &["-O0"]);
    std::os::unix::fs::symlink("check-rdb", folder.path("server")).expect("a link");
    let told = said(&folder.run(&["record", "-o", "it.memlog", "./server"]));
    assert!(told.contains("/check-rdb as server)"), "{told}");
    assert!(
        folder
            .says(&["info", "--list", "it.memlog"])
            .contains("  check-rdb as server  it.memlog")
    );
    assert!(
        folder
            .says(&["summary", "it.memlog"])
            .contains("/check-rdb as server, ")
    );
    let told = said(&folder.run(&["record", "-o", "own.memlog", "./check-rdb"]));
    assert!(told.contains("/check-rdb)"), "{told}");
}

/// bytehound's variables serve where memlog has the same; others are named.
#[test]
fn variables_of_another_profiler_are_understood_or_named() {
    let folder = Folder::new("words-variables");
    let mut command = folder.memlog(&["record", "true"]);
    command.env("MEMORY_PROFILER_OUTPUT", "it.memlog");
    command.env("MEMORY_PROFILER_GRAB_BACKTRACES_ON_FREE", "1");
    command.env("MEMORY_PROFILER_ENABLE_SERVER", "1");
    let told = said(&command.output().expect("memlog runs"));
    let note = "note: not known here: MEMORY_PROFILER_ENABLE_SERVER";
    assert_eq!(told.matches(note).count(), 1, "{told}");
    let info = folder.says(&["info", "it.memlog"]);
    assert!(info.contains("MEMLOG_FREE_STACKS=1"), "{info}");
}
