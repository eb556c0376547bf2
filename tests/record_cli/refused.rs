//! Programs that cannot be recorded, and what to do instead.

use super::*;

#[test]
fn what_is_not_there_or_no_program_is_refused() {
    let folder = Folder::new("missing");
    refused(
        &folder.run(&["record", "no-such-program"]),
        &["no-such-program", "PATH"],
    );
    refused(
        &folder.run(&["record", "./no-such-file"]),
        &["there is no file"],
    );
    refused(&folder.run(&["record", "/tmp"]), &["is a folder"]);
    fs::write(folder.path("text"), "x").expect("write");
    refused(
        &folder.run(&["record", "./text"]),
        &["not executable", "chmod +x"],
    );
    refused(
        &folder.run(&["record", "-o", "no/such/folder/x", "true"]),
        &[
            "which is not there",
            "mkdir -p no/such/folder",
            "-o PATTERN",
        ],
    );
}

#[test]
fn static_programs_are_refused_with_the_remedy() {
    let folder = Folder::new("static");
    for kind in ["-static", "-static-pie"] {
        let program = folder.path("program");
        assert!(
            cc(&[kind], "int main(void) { return 0; }", &program),
            "cc {kind}"
        );
        refused(
            &folder.run(&["record", "./program"]),
            &["statically linked", "ldflags --static"],
        );
    }
    assert!(!folder.names().iter().any(|name| name.ends_with(".memlog")));
}

#[test]
fn another_machine_s_programs_are_refused() {
    let folder = Folder::new("machine");
    let mut bytes = fs::read("/bin/true").expect("read");
    bytes[18] ^= 0xff;
    fs::write(folder.path("foreign"), bytes).expect("write");
    fs::set_permissions(folder.path("foreign"), Permissions::from_mode(0o755)).expect("chmod");
    refused(
        &folder.run(&["record", "./foreign"]),
        &["another kind of machine"],
    );
    folder.executable("broken", "\x7fELF");
    refused(&folder.run(&["record", "./broken"]), &["./broken"]);
}

#[test]
fn scripts_are_recorded_by_their_interpreter() {
    let folder = Folder::new("script");
    folder.executable("script", "#!/bin/sh\nexit 3\n");
    assert_eq!(folder.run(&["record", "./script"]).status.code(), Some(3));
    folder.executable("bare", "exit 4\n");
    assert_eq!(folder.run(&["record", "./bare"]).status.code(), Some(4));
    folder.executable("lost", "#!/no/such/interpreter\n");
    refused(
        &folder.run(&["record", "./lost"]),
        &["is a script for /no/such/interpreter"],
    );
}

/// Setuid for another user takes root to make; the test then asks as nobody.
#[test]
fn setuid_programs_are_refused_where_the_bit_counts() {
    let folder = Folder::new("setuid");
    let program = folder.path("program");
    runnable::copy("/bin/true", &program);
    fs::set_permissions(&program, Permissions::from_mode(0o4755)).expect("chmod");
    let own = fs::metadata(&program).expect("stat").uid();
    // Our own bit raises nothing, so it is no reason to refuse.
    assert!(folder.run(&["record", "./program"]).status.success());
    if own != 0 {
        println!("SKIPPED setuid as another user: needs root");
        return;
    }
    let tool = folder.path("memlog");
    runnable::copy(env!("CARGO_BIN_EXE_memlog"), &tool);
    let out = folder.path("out");
    fs::create_dir(&out).expect("mkdir");
    fs::set_permissions(&out, Permissions::from_mode(0o777)).expect("chmod");
    let as_nobody = |program: &Path| {
        let mut command = Command::new(&tool);
        command
            .arg("record")
            .arg(program)
            .current_dir(&out)
            .env("XDG_CACHE_HOME", &out)
            .uid(NOBODY)
            .gid(NOBODY);
        command.output().expect("memlog runs as nobody")
    };
    refused(&as_nobody(&program), &["is setuid", "sudo memlog record"]);
    fs::set_permissions(&program, Permissions::from_mode(0o2755)).expect("chmod");
    refused(&as_nobody(&program), &["is setgid"]);
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("chmod");
    assert!(as_nobody(&program).status.success());
}
