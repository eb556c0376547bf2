//! What the tests share: compilers run in a folder of their own, and binutils as the oracle.
#![allow(dead_code, reason = "each test file uses a part")]

pub mod compare;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use memlog_symbols::{
    Bytes, FileSource, Lookup, ModuleHandle, ModuleSpec, ModuleStatus, Options, Symbolizer,
};

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("memlog-symbols-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Who was killed has left his, and his process number comes again.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs a command line in the folder; false if there is no such program.
    pub fn try_run(&self, line: &str) -> bool {
        let mut words = line.split_whitespace();
        let program = words.next().unwrap();
        let output = Command::new(program)
            .args(words)
            .current_dir(&self.0)
            .output();
        match output {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => panic!("{line}: {error}"),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{line}: {said}");
                true
            }
        }
    }

    pub fn run(&self, line: &str) {
        assert!(self.try_run(line), "no such program: {line}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The ordinary file system.
pub fn disk(path: &[u8]) -> io::Result<Bytes> {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    Ok(Arc::new(std::fs::read(path)?))
}

/// Options that see nothing of this machine's debug files.
pub fn alone() -> Options {
    Options {
        system_debug_dir: None,
        ..Options::default()
    }
}

pub fn spec(path: &Path) -> ModuleSpec {
    ModuleSpec {
        path: path.as_os_str().as_bytes().to_vec(),
        build_id: Vec::new(),
    }
}

pub fn loaded(status: &ModuleStatus) -> &memlog_symbols::Loaded {
    match status {
        ModuleStatus::Ok(loaded) => loaded,
        other => panic!("{other:?}"),
    }
}

/// Many addresses of a module.
pub fn all<S: FileSource + Sync>(
    symbols: &Symbolizer<'_, S>,
    module: ModuleHandle,
    addresses: &[u64],
) -> Vec<Lookup> {
    let questions: Vec<_> = addresses.iter().map(|&svma| (module, svma)).collect();
    let answers = symbols.lookup_batch(&questions, || false);
    answers.into_iter().map(|it| it.unwrap()).collect()
}

/// The build-id as `readelf` has it.
pub fn build_id(file: &Path) -> Vec<u8> {
    let output = Command::new("readelf")
        .arg("-n")
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let hex = text.split("Build ID: ").nth(1).unwrap();
    let hex = hex.split_whitespace().next().unwrap().as_bytes();
    hex.chunks(2)
        .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
        .collect()
}

/// A function symbol as `nm` has it.
#[derive(Debug)]
pub struct Symbol {
    pub begin: u64,
    pub size: u64,
    pub name: String,
}

/// The sized functions of a file.
pub fn functions(file: &Path) -> Vec<Symbol> {
    let output = Command::new("nm")
        .args(["-S", "--defined-only"])
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        if let [begin, size, "t" | "T" | "w" | "W", name] = words[..] {
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            let (begin, size) = (number(begin), number(size));
            found.push(Symbol {
                begin,
                size,
                name: name.to_owned(),
            });
        }
    }
    found
}

/// The address ranges of the sections with such names.
pub fn sections(file: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<std::ops::Range<u64>> {
    let output = Command::new("readelf")
        .arg("-SW")
        .arg(file)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = Vec::new();
    for line in text.lines() {
        let Some((_, line)) = line.split_once("] ") else {
            continue;
        };
        let words: Vec<_> = line.split_whitespace().collect();
        let number = |at: usize| {
            words
                .get(at)
                .and_then(|word| u64::from_str_radix(word, 16).ok())
        };
        if let (Some(begin), Some(size)) = (number(2), number(4))
            && is_wanted(words[0])
        {
            found.push(begin..begin + size);
        }
    }
    found
}

/// Start, end, and every few bytes between, of every function.
pub fn probes(file: &Path) -> Vec<u64> {
    let mut list = Vec::new();
    for symbol in functions(file) {
        let step = (symbol.size / 24).max(3) as usize;
        list.extend((symbol.begin..symbol.begin + symbol.size).step_by(step));
        list.push(symbol.begin + symbol.size - 1);
    }
    list.sort_unstable();
    list.dedup();
    list
}

/// A frame as binutils has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
}

/// What a program makes of each line.
pub fn filter<'a>(program: &str, lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let output = piped(Command::new(program), lines);
    output.lines().map(str::to_owned).collect()
}

/// What a program says that reads these lines.
fn piped<'a>(mut program: Command, lines: impl Iterator<Item = &'a str>) -> String {
    let mut child = program
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = lines.fold(String::new(), |text, line| text + line + "\n");
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = io::read_to_string(child.stdout.take().unwrap()).unwrap();
    writer.join().unwrap().unwrap();
    assert!(child.wait().unwrap().success());
    output
}

/// What `addr2line -i -f` says of each address; names as they stand in the file.
pub fn oracle(tools: &str, file: &Path, addresses: &[u64]) -> Vec<Vec<Expected>> {
    let mut program = Command::new(format!("{tools}addr2line"));
    program.args(["-a", "-i", "-f", "-e"]).arg(file);
    asked(program, addresses)
}

/// The same of LLVM, if it is here.
pub fn llvm(file: &Path, addresses: &[u64]) -> Option<Vec<Vec<Expected>>> {
    Command::new("llvm-symbolizer")
        .arg("--version")
        .output()
        .ok()?;
    let mut program = Command::new("llvm-symbolizer");
    program.args(["--output-style=GNU", "--functions=linkage", "--no-demangle"]);
    program.args(["-a", "-i", "-e"]).arg(file);
    Some(asked(program, addresses))
}

/// What a program says as addr2line does.
fn asked(program: Command, addresses: &[u64]) -> Vec<Vec<Expected>> {
    let addresses: Vec<_> = addresses.iter().map(|it| format!("{it:#x}")).collect();
    let text = piped(program, addresses.iter().map(String::as_str));
    let mut all: Vec<Vec<Expected>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            all.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap();
        let place = place.split(" (discriminator").next().unwrap();
        let (file, number) = place.rsplit_once(':').unwrap();
        let known = |text: &str| (text != "??").then(|| text.to_owned());
        all.last_mut().unwrap().push(Expected {
            function: known(line),
            file: known(file),
            line: number.parse().ok().filter(|line| *line > 0),
        });
    }
    assert_eq!(all.len(), addresses.len());
    all
}
