//! Where to look for the files with the names: what the options and the
//! environment say, and which machine's files they have to be.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Once;

use memlog_format::meta::Start;
use memlog_symbols::{Machine, Options};

use super::debuginfod::{self, Missing};
use crate::words::{Advice, shown, tell_note, typed};

/// What every command is asked that shows names: files of another machine, or
/// moved since.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SymbolFiles {
    /// Folder below which the files of the machine that ran the program lie as they lay there;
    /// also $MEMLOG_SYSROOT
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// Folder to look in for programs, libraries and their debug files, by build-id, path and
    /// name, or one such file; may be given again; also $MEMLOG_DEBUG_SYMBOLS, with colons
    #[arg(long, value_name = "DIR|FILE")]
    pub debug_symbols: Vec<PathBuf>,
    /// Ask the servers of $DEBUGINFOD_URLS for debug files that are not here, by
    /// debuginfod-find; also MEMLOG_DEBUGINFOD=1
    #[arg(long)]
    pub debuginfod: bool,
}

/// Looked at before a log is read, so that a word mistyped is told at once.
pub fn options(asked: &SymbolFiles) -> anyhow::Result<Options> {
    static ONCE: Once = Once::new();
    let note = |sentence: &str| ONCE.call_once(|| tell_note(sentence));
    options_in(asked, |name| std::env::var_os(name), note)
}

fn options_in(
    asked: &SymbolFiles,
    environment: impl Fn(&str) -> Option<OsString>,
    note: impl Fn(&str),
) -> anyhow::Result<Options> {
    let mut options = Options::default();
    let value = |name| environment(name).filter(|value| !value.is_empty());
    options.sysroot = match (&asked.sysroot, value("MEMLOG_SYSROOT")) {
        (Some(folder), _) => Some(folder_of(folder, "--sysroot")?),
        (None, Some(folder)) => Some(folder_of(folder.as_ref(), "MEMLOG_SYSROOT")?),
        (None, None) => None,
    };
    options.last_dir = match (asked.debuginfod, value("MEMLOG_DEBUGINFOD")) {
        (true, _) => Some(debuginfod::cache(&environment).map_err(|why| why.error())?),
        // As with folders there, what cannot be had is passed over.
        (false, Some(word)) if word == "1" => {
            let cache = debuginfod::cache(&environment);
            let no_server = |why: &Missing| {
                note(&format!(
                    "MEMLOG_DEBUGINFOD=1 does nothing: {}",
                    why.sentence()
                ));
            };
            cache.inspect_err(no_server).ok()
        }
        (false, Some(word)) if word != "0" => {
            let word = shown(Path::new(&word)).to_string();
            note(&format!(
                "MEMLOG_DEBUGINFOD={word} does nothing: 1 asks the servers of $DEBUGINFOD_URLS"
            ));
            None
        }
        (false, _) => None,
    };
    for path in &asked.debug_symbols {
        take(&mut options, path).map_err(|error| {
            Advice::error(
                format!("--debug-symbols {} cannot be used: {error}", shown(path)),
                "give a folder, or a program, a library or a debug file",
            )
        })?;
    }
    let paths = value("MEMLOG_DEBUG_SYMBOLS").unwrap_or_default();
    for path in std::env::split_paths(&paths).filter(|path| !path.as_os_str().is_empty()) {
        // As in PATH, a folder need not be there.
        let _ = take(&mut options, &path);
    }
    Ok(options)
}

/// The same options to be typed again, with a blank behind each.
pub fn words(asked: &SymbolFiles) -> String {
    let folders = asked.sysroot.iter().map(|path| ("--sysroot", path));
    let files = asked.debug_symbols.iter();
    let all = folders.chain(files.map(|path| ("--debug-symbols", path)));
    let words = all.map(|(option, path)| format!("{option} {} ", typed(path)));
    let last = asked.debuginfod.then(|| "--debuginfod ".to_owned());
    words.chain(last).collect()
}

/// A folder, as long as it is one.
fn folder_of(folder: &Path, asked_by: &str) -> anyhow::Result<PathBuf> {
    match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(folder.to_owned()),
        Ok(_) => Err("it is not a folder".to_owned()),
        Err(error) => Err(error.to_string()),
    }
    .map_err(|error| {
        Advice::error(
            format!("{asked_by} {} cannot be used: {error}", shown(folder)),
            "give the folder that stands for / of the machine that ran the program",
        )
    })
}

fn take(options: &mut Options, path: &Path) -> io::Result<()> {
    let metadata = path.metadata()?;
    if metadata.is_dir() {
        options.debug_dirs.push(path.to_owned());
        return Ok(());
    }
    let wrong = |what| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if !metadata.is_file() {
        return wrong("it is neither a file nor a folder");
    }
    let mut start = [0; 4];
    match File::open(path)?.read_exact(&mut start) {
        Ok(()) if start == *b"\x7fELF" => options.debug_files.push(path.to_owned()),
        _ => return wrong("it is not an ELF file"),
    }
    Ok(())
}

/// The machine that a log is of.
pub fn machine(start: &Start) -> Machine {
    Machine {
        number: start.machine,
        is_big_endian: start.big_endian,
        pointer_bytes: start.pointer_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(sysroot: Option<&str>, debug_symbols: &[&str]) -> SymbolFiles {
        SymbolFiles {
            sysroot: sysroot.map(PathBuf::from),
            debug_symbols: debug_symbols.iter().map(PathBuf::from).collect(),
            debuginfod: false,
        }
    }

    #[test]
    fn options_can_be_typed_again() {
        assert_eq!(words(&asked(None, &[])), "");
        let both = words(&asked(Some("/mnt/their root"), &["/a/b", "c"]));
        let wanted = "--sysroot '/mnt/their root' --debug-symbols /a/b --debug-symbols c ";
        assert_eq!(both, wanted);
        let asked = SymbolFiles {
            debuginfod: true,
            ..asked(None, &["a"])
        };
        assert_eq!(words(&asked), "--debug-symbols a --debuginfod ");
    }

    #[test]
    fn debuginfod_is_for_who_asks() {
        let folder = |name: &str, path: &str, asked_by: &str| {
            let environment = |wanted: &str| match wanted {
                "PATH" => Some(path.into()),
                "HOME" => Some("/home/me".into()),
                "DEBUGINFOD_URLS" => Some("http://nowhere".into()),
                wanted => (wanted == name || wanted == asked_by).then(|| "1".into()),
            };
            let options = options_in(&asked(None, &[]), environment, |_| {}).expect("options");
            options.last_dir
        };
        assert_eq!(folder("", "/usr/bin:/bin", ""), None);
        assert_eq!(folder("", "/nowhere", "MEMLOG_DEBUGINFOD"), None);
        let asked = SymbolFiles {
            debuginfod: true,
            ..asked(None, &[])
        };
        for (variables, expected) in [
            (&[][..], "$DEBUGINFOD_URLS names no server"),
            (
                &[("DEBUGINFOD_URLS", "x"), ("PATH", "/nowhere")],
                "there is no debuginfod-find in PATH",
            ),
        ] {
            let environment = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| value.into())
            };
            let error = options_in(&asked, environment, |_| {}).expect_err(expected);
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    /// What the environment asks for and cannot have is told once.
    #[test]
    fn what_does_nothing_is_told() {
        for (word, servers, expected) in [
            (
                "1",
                "",
                "MEMLOG_DEBUGINFOD=1 does nothing: $DEBUGINFOD_URLS names no server",
            ),
            ("yes", "x", "MEMLOG_DEBUGINFOD=yes does nothing: 1 asks"),
            ("0", "", ""),
            ("", "", ""),
        ] {
            let environment = |name: &str| match name {
                "MEMLOG_DEBUGINFOD" => Some(word.into()),
                "DEBUGINFOD_URLS" => Some(servers.into()),
                _ => None,
            };
            let told = std::cell::RefCell::new(Vec::new());
            let note = |sentence: &str| told.borrow_mut().push(sentence.to_owned());
            let options = options_in(&asked(None, &[]), environment, note).expect("options");
            assert_eq!(options.last_dir, None);
            let told = told.into_inner();
            assert_eq!(told.len(), usize::from(!expected.is_empty()), "{told:?}");
            assert!(
                told.iter().all(|told| told.starts_with(expected)),
                "{told:?}"
            );
        }
    }

    #[test]
    fn options_go_before_the_environment() {
        let program = std::env::current_exe().expect("a program");
        let program = program.to_str().expect("text");
        let environment = |name: &str| {
            Some(match name {
                "MEMLOG_SYSROOT" => "/usr".into(),
                _ => format!("/nowhere::{program}:/usr").into(),
            })
        };
        let found = options_in(&asked(Some("/"), &["/etc"]), environment, |_| {}).expect("options");
        assert_eq!(found.sysroot, Some("/".into()));
        assert_eq!(found.debug_dirs, [Path::new("/etc"), Path::new("/usr")]);
        assert_eq!(found.debug_files, [Path::new(program)]);
        let found = options_in(&asked(None, &[]), environment, |_| {}).expect("options");
        assert_eq!(found.sysroot, Some("/usr".into()));
        let found =
            options_in(&asked(None, &[]), |_| Some(OsString::new()), |_| {}).expect("options");
        assert!(found.sysroot.is_none() && found.debug_dirs.is_empty());
    }

    #[test]
    fn what_is_not_there_is_told() {
        for (asked, expected) in [
            (
                asked(Some("/nowhere"), &[]),
                "--sysroot /nowhere cannot be used: No such file",
            ),
            (
                asked(Some("/dev/null"), &[]),
                "--sysroot /dev/null cannot be used: it is not a folder",
            ),
            (
                asked(None, &["/nowhere"]),
                "--debug-symbols /nowhere cannot be used: No such file",
            ),
            (
                asked(None, &["/dev/null"]),
                "--debug-symbols /dev/null cannot be used: it is neither",
            ),
            (
                asked(None, &["Cargo.toml"]),
                "--debug-symbols Cargo.toml cannot be used: it is not an ELF",
            ),
        ] {
            let error = options_in(&asked, |_| None, |_| {})
                .expect_err(expected)
                .to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
