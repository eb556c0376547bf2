//! The recorders and the victims, built once for a run of the tests.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use memlog_format::counter::{AREA_END, Counter};

/// Whether the long runs are asked for.
pub fn is_long() -> bool {
    std::env::var_os("MEMLOG_LONG").is_some_and(|value| value == "1")
}

/// The number that a setting of the tests has, if it is set.
pub fn number_from(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// What a run's random numbers begin with; whoever sees it can repeat the run.
pub fn seed() -> u64 {
    let seed = number_from("MEMLOG_SEED").unwrap_or(std::process::id().into());
    println!("MEMLOG_SEED={seed}");
    seed
}

/// Says why something was not tested; `ci/check` counts these lines.
pub fn skip(reason: &str) {
    println!("SKIPPED {reason}");
}

/// What the tests run.
pub struct Tools {
    /// memlog's recorder.
    pub memlog: PathBuf,
    /// The second recorder.
    pub gold: PathBuf,
    /// One that notes what realloc gave up too late, as a recorder must not.
    pub gold_wrong: PathBuf,
    /// The one that takes stacks as well, where libunwind is there to build it.
    pub gold_stacks: Option<PathBuf>,
    victims: PathBuf,
}

impl Tools {
    /// A victim, if there was a compiler for it.
    pub fn victim(&self, name: &str) -> Option<PathBuf> {
        let path = self.victims.join(name);
        path.exists().then_some(path)
    }
}

/// Builds everything at the first call.
pub fn tools() -> &'static Tools {
    static TOOLS: OnceLock<Tools> = OnceLock::new();
    TOOLS.get_or_init(build)
}

fn build() -> Tools {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential");
    std::fs::create_dir_all(&out).expect("a folder for the recorders");
    let written = Command::new(env!("CARGO_BIN_EXE_memlog"))
        .arg("artefacts")
        .arg(&out)
        .status();
    assert!(written.expect("memlog runs").success(), "memlog artefacts");
    make(&root.join("tests/gold"), &out, "all").expect("the second recorder");
    let victims = out.join("victims");
    make(&root.join("victims"), &victims, "all").expect("the victims");
    let gold_stacks = match make(&root.join("tests/gold"), &out, "stacks") {
        Ok(()) => Some(out.join("libgold_stacks.so")),
        Err(_) => None,
    };
    Tools {
        memlog: out.join("libmemlog.so"),
        gold: out.join("libgold.so"),
        gold_wrong: out.join("libgold_wrong.so"),
        gold_stacks,
        victims,
    }
}

fn make(folder: &Path, out: &Path, target: &str) -> Result<(), String> {
    let mut command = Command::new("make");
    command.arg("-s").arg("-C").arg(folder).arg(target);
    command.arg(format!("OUT={}", out.display()));
    // An outer make's options are not for this one.
    for name in ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"] {
        command.env_remove(name);
    }
    let output = command.output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// A folder of one run's own, gone when it ends. `MEMLOG_KEEP=1` keeps it.
pub struct Folder(PathBuf);

impl Folder {
    /// A new one. Who was killed has left his, and his process number comes
    /// again, soon in a container: a name that is there is somebody else's.
    pub fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("memlog-{}-{number}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match std::fs::create_dir(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                made => {
                    made.expect("a folder for the run");
                    return Self(path);
                }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::env::var_os("MEMLOG_KEEP").is_none() {
            // What is left behind harms no later run.
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }
}

/// A log without what its file is longer ahead of its use. Of what was given out
/// much may never have been written, and is a hole.
pub fn read_log(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    use std::os::unix::fs::FileExt;
    // What may stand behind a log that was cut to its length.
    const EPILOGUE: u64 = 4 << 20;
    let file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    let mut start = [0; AREA_END];
    let given = match file.read_exact_at(&mut start, 0) {
        Ok(()) => Counter::Chunks.read(&start) << 16,
        Err(_) => length,
    };
    let is_ahead = length > given + EPILOGUE;
    let mut bytes = Vec::new();
    file.take(if is_ahead { given } else { length })
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Numbers that look random and are the same for the same seed.
pub struct Random(u64);

impl Random {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}
