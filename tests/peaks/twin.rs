//! The same question of programs that nobody here wrote. They do not know the
//! truth; `readings.c` does, a recorder that has no log and no tables whose
//! pages could move the peak. It counts bytes as the allocator gave them.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::list::{PROGRAMS, Program};
use crate::sites::build::GCC;
use crate::sites::{Folder, Stats};
use crate::{Said, Verdict};

/// Programs that do the same in each run, the quick ones first; threads, as of
/// node and python3, do not.
const STEADY: &[&str] = &["sqlite3", "perl", "jq", "git", "cc1plus"];
const QUICK: usize = 3;

/// Of what is resident so much may be told wrongly, half the grain: two
/// recorders look at different moments within it, and on a busy machine at fewer.
/// cc1plus has 326 MB of mappings and a heap that rises and falls by .7 MB below
/// them; sqlite3 is off by 29 kB of 20 MB, and once, at load 9, by more than 40.
const PART: u64 = 200;

/// A program in its folder, run in the same way each time.
struct Run<'a> {
    folder: &'a Folder,
    place: PathBuf,
    program: &'a Program,
    words: Vec<OsString>,
}

impl<'a> Run<'a> {
    fn new(folder: &'a Folder, program: &'a Program) -> Result<Self, String> {
        let place = folder.folder(program.name);
        let (path, args) = (program.prepare)(&place)?;
        let words = [vec![path.into_os_string()], args].concat();
        Ok(Self {
            folder,
            place,
            program,
            words,
        })
    }

    /// The program behind words that run it.
    fn of(&self, mut command: Command) {
        let input = std::fs::File::open(self.place.join("stdin"));
        command
            .args(&self.words)
            .current_dir(&self.place)
            .env("HOME", &self.place)
            .env("PERL_HASH_SEED", "0")
            .env("PYTHONHASHSEED", "0")
            .envs(self.program.environment.iter().copied())
            .stdin(input.map_or_else(|_| std::process::Stdio::null(), Into::into));
        let output = command.output().expect("it runs");
        assert!(output.status.success(), "{command:?}: {output:?}");
        // git's does not begin where there is one already.
        let _ = std::fs::remove_dir_all(self.place.join("repository"));
    }

    /// Of its biggest process.
    fn truth(&self, twin: &Path) -> Said {
        let readings = self.folder.folder("readings");
        let mut command = self.folder.command("env");
        command.env("READINGS_OUT", readings.join(self.program.name));
        let mut preload = OsString::from("LD_PRELOAD=");
        preload.push(twin);
        command.arg(preload);
        self.of(command);
        let files = std::fs::read_dir(&readings).expect("readings").flatten();
        let said = files.map(|file| {
            Said::read(&std::fs::read_to_string(file.path()).expect("what the twin wrote"))
        });
        let biggest = said.max_by_key(|said| said.peak_kb).expect("a process");
        std::fs::remove_dir_all(readings).expect("they are read");
        biggest
    }

    /// What memlog says of the process that was biggest.
    fn stats(&self) -> Stats {
        let logs = self.folder.path(&format!("{}-logs/", self.program.name));
        let mut command = self
            .folder
            .memlog(&["record".as_ref(), "-o".as_ref(), logs.as_os_str()]);
        command.arg("--");
        self.of(command);
        self.folder.stats(&logs)
    }
}

#[test]
fn of_real_programs() {
    let folder = Folder::new("peaks-real");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peaks/readings.c");
    let twin = GCC.build_file(&folder, &source, "libreadings.so", &["-shared", "-fPIC"]);
    let by_name: HashMap<_, _> = PROGRAMS.iter().map(|one| (one.name, one)).collect();
    let mut wrong = Vec::new();
    let most = match std::env::var_os("MEMLOG_LONG") {
        Some(_) => STEADY.len(),
        None => QUICK,
    };
    for name in &STEADY[..most] {
        let run = match Run::new(&folder, by_name[name]) {
            Ok(run) => run,
            Err(reason) => {
                println!("SKIPPED the peak of {name}: {reason}");
                continue;
            }
        };
        let truth = run.truth(&twin);
        let stats = run.stats();
        let live_bytes = stats.number("usable_rss_peak_live_bytes");
        let step_bytes = truth.peak_kb * 1024 / PART;
        wrong.extend(Verdict::new(name, &truth, &stats, live_bytes, step_bytes).if_wrong());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
