//! One run of a program in a folder of its own, and all that can be seen of it.

use super::case::Case;
use super::common::pairs::{self, Family};
use super::common::switcher::Switcher;
use super::common::tools::{Folder, tools};
use super::own_time::OwnTime;
use super::signals;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// No native run takes longer.
const LONGEST: Duration = Duration::from_secs(60);

/// What a run showed.
pub struct RunOutput {
    /// Its exit code.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub out: Vec<u8>,
    /// Its standard error.
    pub err: Vec<u8>,
    /// What it left in its folder: mode and bytes.
    pub files: BTreeMap<PathBuf, (u32, Vec<u8>)>,
    /// How long it took, the load not counted.
    pub took: Duration,
    /// Whether it had to be ended.
    pub hung: bool,
}

/// By itself.
pub fn native(case: &Case, program: &Path) -> RunOutput {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("MEMLOG_") {
            command.env_remove(name);
        }
    }
    watch(case, command.stdin(Stdio::null()), LONGEST)
}

/// Under memlog; its logs are in the folder.
pub fn recorded(case: &Case, program: &Path, most: Duration) -> (RunOutput, Folder) {
    let logs = Folder::new(&case.name);
    let mut command = pairs::command(program, &logs, Path::new(""));
    command
        .env("LD_PRELOAD", &tools().memlog)
        .env_remove("GOLD_OUT");
    (watch(case, &mut command, most), logs)
}

/// Under memlog, with these settings, and the second recorder below it.
pub fn twice(
    case: &Case,
    program: &Path,
    most: Duration,
    settings: &[(&str, &str)],
) -> (RunOutput, Family) {
    let logs = Folder::new(&case.name);
    let mut command = pairs::command(program, &logs, &tools().gold);
    command.envs(settings.iter().copied());
    let output = watch(case, &mut command, most);
    (output, pairs::collect(&logs))
}

/// The same while recording goes on and off, from these random numbers, and perhaps begins
/// with off; how often it was asked to.
pub fn switched(
    case: &Case,
    program: &Path,
    most: Duration,
    is_off: bool,
    seed: u64,
) -> (RunOutput, Family, u64) {
    let logs = Folder::new(&case.name);
    let mut command = pairs::command(program, &logs, &tools().gold);
    if is_off {
        command.env("MEMLOG_START_DISABLED", "1");
    }
    let switcher = Switcher::start(logs.path(), seed);
    let output = watch(case, &mut command, most);
    let asked = switcher.end();
    (output, pairs::collect(&logs), asked)
}

fn watch(case: &Case, command: &mut Command, most: Duration) -> RunOutput {
    let (here, output) = (Folder::new(&case.name), Folder::new("output"));
    let place = |name| output.path().join(name);
    let file = |name| File::create(place(name)).expect("a file for output");
    let mut time = OwnTime::start();
    command.args(&case.args).current_dir(here.path());
    command.env("TORTURE", program_folder()).process_group(0);
    // Some of them look.
    signals::usual(command);
    let mut child = command
        .stdout(file("out"))
        .stderr(file("err"))
        .spawn()
        .expect("it starts");
    let mut hung = false;
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if time.spent() > most && !hung {
            hung = true;
            // SAFETY: the group of the child, which was not waited for yet.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let took = time.spent();
    // What it left behind in its group must not outlive the test.
    // SAFETY: a group that this test made; if it is empty nothing happens.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let mut files = BTreeMap::new();
    collect(here.path(), here.path(), &mut files);
    RunOutput {
        code: status.code(),
        signal: status.signal(),
        out: fs::read(place("out")).unwrap_or_default(),
        err: fs::read(place("err")).unwrap_or_default(),
        files,
        took,
        hung,
    }
}

/// Where programs find those that are built beside them.
fn program_folder() -> PathBuf {
    tools().victim("torture").unwrap_or_default()
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, (u32, Vec<u8>)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(about) = fs::symlink_metadata(&path) else {
            continue;
        };
        let name = path.strip_prefix(root).expect("inside").to_owned();
        let bytes = match about.is_file() {
            true => fs::read(&path).unwrap_or_default(),
            false => Vec::new(),
        };
        files.insert(name, (about.mode(), bytes));
        if about.is_dir() {
            collect(root, &path, files);
        }
    }
}
