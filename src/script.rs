//! `memlog script`: a script in Rhai asks a log, by bytehound's words.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use memlog_pages::{Advice, SymbolFiles, clean, shown};
use memlog_script::{Asked, End, Host, Limits, OpenLog, run as run_script};

use crate::folder::Folder;

/// Run a script that asks a log: lists, groups, graphs, by bytehound's words
#[derive(clap::Args)]
pub struct Args {
    /// The script, in Rhai; - is standard input
    script: PathBuf,
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    log: Option<OsString>,
    /// What the script has from argv()
    #[arg(allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<OsString>,
    /// The log; then all words behind the script are for argv()
    #[arg(short, long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Pictures go into this folder, and nowhere else
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    output: PathBuf,
    /// End it after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    timeout: Option<u64>,
    /// Do not say which pictures are written
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    symbol_files: SymbolFiles,
}

/// Bytes of a script, at most.
const MOST_CODE: u64 = 1 << 20;
/// Nobody but the user reads what is of no log.
const PRIVATE: u32 = 0o600;

/// Runs it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (name, code) = script_of(&args.script)?;
    let (log, first) = match &args.data {
        Some(data) => (Some(data.clone()), args.log.as_ref()),
        None => (args.log.as_ref().map(PathBuf::from), None),
    };
    let words = first.into_iter().chain(&args.words);
    let words: Vec<String> = words
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let terminal = Arc::new(Terminal {
        log,
        opened: OnceLock::new(),
        symbol_files: args.symbol_files.clone(),
        folder: Folder::open(&args.output)?,
        is_quiet: args.quiet,
        is_gone: AtomicBool::new(false),
    });
    let limits = Limits {
        time: args.timeout.map(Duration::from_secs),
        ..Limits::USERS
    };
    let host: Arc<dyn Host> = terminal.clone();
    let outcome = run_script(&code, host, &words, &limits);
    // Who read what it printed has had enough.
    if terminal.is_gone.load(Ordering::Relaxed) {
        return Ok(ExitCode::SUCCESS);
    }
    Ok(match outcome.end {
        End::Done => ExitCode::SUCCESS,
        // As the system would cut it.
        End::Exit(code) => ExitCode::from(code as u8),
        End::Failed(fault) => {
            let _ = writeln!(io::stderr().lock(), "{}", fault.told(&name, &code));
            ExitCode::from(2)
        }
    })
}

/// A script's name for messages, and its text. A first line for the kernel is a remark.
fn script_of(path: &Path) -> anyhow::Result<(String, String)> {
    let mut bytes = Vec::new();
    let (name, read) = match path == Path::new("-") {
        true => {
            let read = io::stdin()
                .lock()
                .take(MOST_CODE + 1)
                .read_to_end(&mut bytes);
            ("(standard input)".to_owned(), read)
        }
        false => {
            let file = std::fs::File::open(path);
            let read = file.and_then(|file| file.take(MOST_CODE + 1).read_to_end(&mut bytes));
            (shown(path), read)
        }
    };
    let wrong = |why: &str| {
        let advice = "a script is text in Rhai: doc/SCRIPTS.md has the words";
        Advice::error(format!("{name}: {why}"), advice)
    };
    read.map_err(|error| wrong(&error.to_string()))?;
    if bytes.len() as u64 > MOST_CODE {
        return Err(wrong("it is larger than a script may be, 1 MiB"));
    }
    let mut code = String::from_utf8(bytes).map_err(|_| wrong("it is no text in UTF-8"))?;
    if code.starts_with("#!") {
        code.replace_range(..2, "//");
    }
    Ok((name, code))
}

/// Lines go to standard output, pictures into a folder, remarks to standard error.
struct Terminal {
    log: Option<PathBuf>,
    opened: OnceLock<Result<Arc<dyn Asked>, String>>,
    symbol_files: SymbolFiles,
    folder: Folder,
    is_quiet: bool,
    /// Whether nobody reads the lines any more.
    is_gone: AtomicBool,
}

impl Terminal {
    fn open(&self, path: &Path) -> Result<Arc<dyn Asked>, String> {
        let log = OpenLog::new(path.to_owned(), self.symbol_files.clone())?;
        Ok(Arc::new(log))
    }

    /// Who may read the log may read pictures of it.
    fn mode(&self) -> u32 {
        let log = self.log.as_ref().and_then(|log| log.metadata().ok());
        match log.filter(|log| log.is_file()) {
            Some(log) => log.permissions().mode(),
            None => PRIVATE,
        }
    }
}

impl Host for Terminal {
    fn log(&self) -> Result<Arc<dyn Asked>, String> {
        let opened = self.opened.get_or_init(|| match &self.log {
            Some(log) => self.open(log),
            None => Err("no log was given: memlog script FILE.rhai LOG".to_owned()),
        });
        opened.clone()
    }

    fn load(&self, path: &str) -> Result<Arc<dyn Asked>, String> {
        self.open(Path::new(path))
    }

    fn println(&self, line: &str) -> Result<(), String> {
        let mut out = io::stdout().lock();
        let line = clean_lines(line);
        let written = writeln!(out, "{line}").and_then(|()| out.flush());
        written.map_err(|error| {
            let is_gone = error.kind() == io::ErrorKind::BrokenPipe;
            self.is_gone.fetch_or(is_gone, Ordering::Relaxed);
            format!("standard output: {error}")
        })
    }

    fn note(&self, line: &str) -> Result<(), String> {
        let line = clean(line.as_bytes());
        let _ = writeln!(io::stderr().lock(), "memlog: {line}");
        Ok(())
    }

    fn make_folder(&self, path: &Path) -> Result<(), String> {
        self.folder.make(path)
    }

    fn has_folder(&self, path: &Path) -> bool {
        self.folder.has(path)
    }

    fn write(&self, path: &Path, svg: &str) -> Result<(), String> {
        self.folder.write(path, svg.as_bytes(), self.mode())?;
        if !self.is_quiet {
            let line = format!("memlog: Creating {}", self.folder.told(path));
            let _ = writeln!(io::stderr().lock(), "{line}");
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_gone.load(Ordering::Relaxed)
    }
}

/// What a script prints may come from a log: no terminal is to obey it. Its line ends and
/// tabs stay.
fn clean_lines(text: &str) -> String {
    let plain = |letter: char| match letter {
        '\n' | '\t' => letter,
        letter if letter.is_control() => ' ',
        letter => letter,
    };
    text.chars().map(plain).collect()
}
