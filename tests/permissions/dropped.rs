//! A program of root's that gives up its rights and goes on to execute others:
//! those load the recorder too, from where nobody but root can write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{NOBODY, is_root, mode, names};

/// Where the recorder's files go that lie nowhere else: a file system of the
/// run's own, so that none stays on this machine.
const SYSTEM: &str = "/var/cache/memlog";

/// A name of a case, and what is done before it, in the folder for caches.
type Case = (&'static str, fn(&Path));

/// Those in which the user's folder for caches will do.
const GOOD: &[Case] = &[
    ("none", |cache| fs::remove_dir(cache).expect("rmdir")),
    ("empty", |_| ()),
    ("kept", |cache| {
        // As older memlogs made it.
        let ours = cache.join("memlog");
        fs::create_dir(&ours).expect("mkdir");
        fs::set_permissions(&ours, Permissions::from_mode(0o700)).expect("chmod");
    }),
    ("sticky", |cache| {
        fs::set_permissions(cache, Permissions::from_mode(0o1777)).expect("chmod");
    }),
];

/// Those in which others cannot read there, or could have written.
const BAD: &[Case] = &[
    ("private", |cache| {
        fs::set_permissions(cache, Permissions::from_mode(0o700)).expect("chmod");
    }),
    ("writable", |cache| {
        fs::set_permissions(cache, Permissions::from_mode(0o777)).expect("chmod");
    }),
    ("anothers", |cache| {
        chown(cache, Some(NOBODY), Some(NOBODY)).expect("chown");
    }),
    ("prepared", |cache| {
        fs::set_permissions(cache, Permissions::from_mode(0o1777)).expect("chmod");
        let ours = cache.join("memlog");
        fs::create_dir(&ours).expect("mkdir");
        chown(&ours, Some(NOBODY), Some(NOBODY)).expect("chown");
    }),
    ("linked", |cache| {
        fs::set_permissions(cache, Permissions::from_mode(0o1777)).expect("chmod");
        let elsewhere = cache.with_extension("elsewhere");
        fs::create_dir(&elsewhere).expect("mkdir");
        std::os::unix::fs::symlink(elsewhere, cache.join("memlog")).expect("symlink");
    }),
];

/// Runs a case; what the shell says of LD_PRELOAD that the program becomes.
fn preloaded(folder: &Folder, program: &Path, (name, prepare): Case) -> Option<String> {
    let cache = folder.folder(&format!("cache-{name}"));
    prepare(&cache);
    let logs = folder.folder(&format!("logs-{name}"));
    fs::set_permissions(&logs, Permissions::from_mode(0o1777)).expect("chmod");
    let pattern = format!("logs-{name}/%p.%n.memlog");
    let own_system =
        "mount -t tmpfs -o mode=755 none /var/cache || exit 77; umask 077; exec \"$@\"";
    let mut command = folder.command("unshare");
    command.args(["-m", "sh", "-c", own_system, "sh"]);
    command.args([env!("CARGO_BIN_EXE_memlog"), "record", "-o", &pattern]);
    command.arg(program);
    command.args(["/bin/sh", "-c", "/bin/true; echo \"$LD_PRELOAD\""]);
    let output = command.env("XDG_CACHE_HOME", &cache).output();
    let output = output.expect("unshare runs");
    let told = said(&output);
    if output.status.code() == Some(77) {
        println!("SKIPPED rights that were dropped: nothing may be mounted here");
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{name}: {told}");
    let theirs = told.lines().find(|line| !line.starts_with("memlog: "));
    assert_eq!(theirs, None, "{name}: {told}");
    // The program, the shell that it becomes, and what that executes.
    assert!(names(&logs).len() >= 3, "{name}: {:?}", names(&logs));
    let is_shells = |log: &PathBuf| fs::metadata(log).expect("stat").uid() == NOBODY;
    let count = folder.logs(&format!("logs-{name}"));
    let count = count.into_iter().filter(is_shells).count();
    assert!(count >= 2, "{name}: {count} logs of nobody's");
    Some(String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn children_of_who_dropped_roots_rights_load_the_recorder() {
    let folder = Folder::new("dropped");
    if !is_root(&folder, "rights that were dropped") {
        return;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permissions/dropped.c");
    let program = GCC.build_file::<&str>(&folder, &source, "dropped", &[]);
    for &case in GOOD {
        let Some(list) = preloaded(&folder, &program, case) else {
            return;
        };
        let cache = folder.path(&format!("cache-{}", case.0));
        let library = Path::new(list.trim());
        assert!(library.starts_with(&cache), "{}: {list}", case.0);
        let ours = library.ancestors().skip(1).take(2);
        assert!(ours.map(mode).all(|mode| mode == 0o755), "{list}");
        assert_eq!(mode(library), 0o755, "{list}");
    }
    for &case in BAD {
        let Some(list) = preloaded(&folder, &program, case) else {
            return;
        };
        assert!(list.starts_with(SYSTEM), "{}: {list}", case.0);
    }
}
