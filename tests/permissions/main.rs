//! Permissions: what memlog leaves of a program's and of a user's security, as
//! facts about what was built. `doc/SECURITY.md` says the same in words.
//!
//! * [`modes`]: of the log and of what is drawn from it, under any umask
//! * [`names`]: what lies there already, or is put there, is never written to
//! * [`left`]: no descriptor, socket, thread or changed setting in the program
//! * [`privileged`]: a program with another's rights is left alone
//! * [`dropped`]: where the recorder lies that root's program leads others to
//! * [`hostile`]: settings that would lead a log elsewhere
//! * [`secrets`]: what a log holds, and what it does not
//! * [`programs`]: no shell, and what the programs that are started get

mod dropped;
mod hostile;
mod left;
mod modes;
mod names;
mod privileged;
mod programs;
#[path = "../runnable/mod.rs"]
mod runnable;
mod secrets;
#[path = "../sites/mod.rs"]
mod sites;

use sites::Folder;
use sites::build::GCC;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Users that are neither root nor each other.
const NOBODY: u32 = 65534;
const DAEMON: u32 = 1;
/// Blocks enough for several windows of a log.
const MANY: &str = "300000";

/// `facts.c` and the recorder to preload.
struct Facts {
    folder: Folder,
    program: PathBuf,
    library: PathBuf,
}

impl Facts {
    fn new(name: &str) -> Self {
        let folder = Folder::new(&format!("permissions-{name}"));
        let program = build(&folder, "facts", &[]);
        let library = folder.recorder().join("libmemlog.so");
        for path in [library.parent().expect("a folder"), &library] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).expect("chmod");
        }
        Self {
            folder,
            program,
            library,
        }
    }

    /// The program, under what a shell is told before; recorded, or not.
    fn command(&self, before: &str, words: &[&str], recorded: bool) -> Command {
        let mut command = self.folder.command("sh");
        let script = format!("{before}; exec env ${{PRELOAD:+LD_PRELOAD=$PRELOAD}} \"$0\" \"$@\"");
        command.args(["-c", &script]).arg(&self.program).args(words);
        if recorded {
            command.env("PRELOAD", &self.library);
        }
        command
    }

    /// A folder of this test's that anybody may write to.
    fn open_folder(&self, name: &str) -> PathBuf {
        let path = self.folder.folder(name);
        fs::set_permissions(&path, Permissions::from_mode(0o777)).expect("chmod");
        path
    }
}

/// Builds `facts.c` with such flags behind it.
fn build(folder: &Folder, name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/permissions/facts.c");
    GCC.build_file(folder, &source, name, flags)
}

/// Runs the program natively and recorded; both must be the same to the byte.
#[track_caller]
fn same(prepare: impl Fn(bool) -> Command) -> Output {
    let native = prepare(false).output().expect("native run");
    let recorded = prepare(true).output().expect("recorded run");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&recorded.stdout), text(&native.stdout), "stdout");
    assert_eq!(text(&recorded.stderr), text(&native.stderr), "stderr");
    assert_eq!(recorded.status, native.status);
    assert_eq!(native.status.code(), Some(3), "{native:?}");
    recorded
}

fn mode(path: &Path) -> u32 {
    let found = fs::symlink_metadata(path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    found.mode() & 0o7777
}

/// What lies in a folder, by name.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("list").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| String::from_utf8_lossy(entry.file_name().as_bytes()).into_owned())
        .collect();
    names.sort();
    names
}

/// Whether root runs the tests; if not, what that leaves out is said.
fn is_root(folder: &Folder, what: &str) -> bool {
    let is_root = folder.is_root();
    if !is_root {
        println!("SKIPPED {what}: needs root");
    }
    is_root
}
