//! A program run natively and recorded: nobody can tell the difference.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::build::GCC;
use super::{Folder, Stats, said};

/// The recorder's only line, where no log can be made at all.
const LINE: &str = "memlog: no log of process ";

/// Both ways in which a log reaches its file.
pub const SINKS: &[&str] = &["mapped", "written"];

/// `noisy.c` and the recorder to preload.
pub struct Noisy {
    pub program: PathBuf,
    pub library: PathBuf,
}

impl Noisy {
    pub fn new(folder: &Folder) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sites/noisy.c");
        let options: &[&str] = &["-Wl,--build-id"];
        Self {
            program: GCC.build_file(folder, &source, "noisy", options),
            library: folder.recorder().join("libmemlog.so"),
        }
    }

    /// Through a shell, so that it can set limits and close files before:
    /// `before` is shell text, `after` redirections.
    pub fn shell(&self, folder: &Folder, before: &str, words: &[&str], after: &str) -> Command {
        let mut command = folder.command("sh");
        let script =
            format!("{before}; exec env ${{PRELOAD:+LD_PRELOAD=$PRELOAD}} \"$0\" \"$@\" {after}");
        command.args(["-c", &script]).arg(&self.program).args(words);
        command
    }

    /// With so many blocks, and if recorded into `log`, a value of MEMLOG_OUTPUT.
    pub fn logging(&self, folder: &Folder, blocks: u64, log: &Path) -> Command {
        let mut command = self.shell(folder, ":", &[&blocks.to_string()], "");
        command.env("MEMLOG_OUTPUT", log);
        command
    }

    /// Recorded, it does as it does natively, and says that there is no log.
    #[track_caller]
    pub fn goes_without(&self, prepare: impl Fn() -> Command) {
        let said = said(&self.same(prepare, true));
        let mut lines = said.lines().filter(|line| line.starts_with("memlog"));
        let (line, more) = (lines.next(), lines.next());
        let is_it = line.is_some_and(|line| line.starts_with(LINE) && line.contains("MEMLOG_DIR"));
        assert!(is_it && more.is_none(), "{said}");
    }

    /// Runs it natively and recorded and compares; the recorded run.
    #[track_caller]
    pub fn same(&self, prepare: impl Fn() -> Command, may_lack_log: bool) -> Output {
        let native = prepare().output().expect("native run");
        let mut command = prepare();
        let recorded = command.env("PRELOAD", &self.library).output();
        let recorded = recorded.expect("recorded run");
        assert_same(&native, &recorded, may_lack_log);
        recorded
    }
}

/// Same status, stdout and stderr, but for the recorder's line.
#[track_caller]
pub fn assert_same(native: &Output, recorded: &Output, may_lack_log: bool) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (expected, mut stderr) = (text(&native.stderr), text(&recorded.stderr));
    if may_lack_log && stderr.starts_with(LINE) {
        stderr = match stderr.split_once('\n') {
            Some((_, rest)) => rest.to_owned(),
            None => panic!("the recorder's line has no end: {stderr}"),
        };
    }
    assert_eq!(stderr, expected, "stderr");
    assert_eq!(recorded.status, native.status, "status; stderr: {stderr}");
    assert_eq!(text(&recorded.stdout), text(&native.stdout), "stdout");
}

/// Every event of `noisy` with so many blocks stands in the log or is counted
/// as lost, and at least so many stand there.
#[track_caller]
pub fn accounted(stats: &Stats, blocks: u64, at_least: u64) {
    let (came, went) = (stats.number("allocations"), stats.number("releases"));
    let lost = stats.number("lost_events");
    assert_eq!(
        came + went + lost,
        2 * blocks,
        "{came} allocations, {went} releases, {lost} lost"
    );
    assert!(
        came + went >= at_least,
        "only {came} allocations and {went} releases"
    );
    assert_eq!(stats.number("allocations_of_live_addresses"), 0);
}
