//! Finds a program as execvp would, and says before it is run why it could not
//! be recorded: a run without a log is time lost, and silence about it is worse.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use memlog_export::quoted;
use memlog_pages::{Advice, shown, typed};
use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::ReadCache;
use object::read::elf::{Dyn, FileHeader, ProgramHeader};

use super::{allocator, bytes_of};
use crate::{os, peers, recorder, verbs};

/// How many `#!` lines the kernel follows.
const DEEPEST_SCRIPT: u32 = 5;
/// How much of a `#!` line it reads.
const SCRIPT_LINE_BYTES: usize = 256;

/// A program that can be run, and as far as can be seen, recorded.
pub struct Program {
    file: PathBuf,
    runner: Runner,
    image: Option<ElfProgram>,
}

/// The ELF file that the kernel maps in the end, and the loader it asks for.
struct ElfProgram {
    file: PathBuf,
    loader: PathBuf,
}

/// What carries the program out.
#[derive(PartialEq)]
enum Runner {
    /// The kernel, for ELF files and scripts with a `#!` line.
    Kernel,
    /// A shell, for a text without one, as execvp does.
    Shell,
    /// The kernel too, but the file may not be read, so nothing is known of it.
    Unreadable,
}

impl Program {
    /// Looks the name up and checks what it finds. Behind an option that may do
    /// without its size, a size is taken for a program.
    pub fn find(name: &OsStr, may_be_size: bool) -> anyhow::Result<Self> {
        let file = search(name).map_err(|error| match name.to_str() {
            Some(size) if may_be_size && bytes_of(size).is_ok() => Advice::error(
                error.to_string(),
                format!("a size stands behind a =: --flight-recorder={size}"),
            ),
            _ => error,
        })?;
        let (runner, image) = check(&file, 0)?;
        Ok(Self {
            file,
            runner,
            image,
        })
    }

    /// The objects that its loader says it will load.
    pub fn objects(&self) -> Vec<PathBuf> {
        let image = self.image.as_ref();
        let objects = image.map(|image| allocator::objects(&image.file, &image.loader));
        objects.unwrap_or_default()
    }

    /// The ELF file that the kernel maps in the end, if it is known.
    pub fn image(&self) -> Option<&Path> {
        self.image.as_ref().map(|image| image.file.as_path())
    }

    /// Whether one of them is an allocator whose C++ operators do not end in
    /// malloc.
    pub fn loads_own_operators(&self, objects: &[PathBuf]) -> bool {
        let image = self.image.as_ref();
        image.is_some_and(|image| allocator::is_among(objects, &image.file))
    }

    /// Why the program could not be checked, if so.
    pub fn unchecked(&self) -> Option<String> {
        let unreadable = self.runner == Runner::Unreadable;
        unreadable.then(|| {
            format!(
                "{} may not be read, so memlog cannot tell whether it can be recorded",
                shown(&self.file)
            )
        })
    }

    /// The program with its arguments, ready for an environment.
    pub fn command(&self, words: &[OsString]) -> Command {
        let mut command = match self.runner {
            Runner::Kernel | Runner::Unreadable => Command::new(&self.file),
            Runner::Shell => {
                let mut shell = Command::new("/bin/sh");
                shell.arg(&self.file);
                shell
            }
        };
        command.args(words);
        command
    }
}

/// The file that a name means: itself if it has a slash, else by PATH.
pub fn search(name: &OsStr) -> anyhow::Result<PathBuf> {
    if name.is_empty() {
        return Err(Advice::error(
            "the name of the program is empty",
            "memlog record PROG ARGS",
        ));
    }
    if name.as_bytes().contains(&b'/') {
        let file = PathBuf::from(name);
        runnable(&file)?;
        return Ok(file);
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let mut first_refusal = None;
    for folder in std::env::split_paths(&path) {
        let folder = if folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            folder
        };
        let file = folder.join(name);
        match runnable(&file) {
            Ok(()) => return Ok(file),
            Err(error) if fs::metadata(&file).is_ok_and(|found| found.is_file()) => {
                first_refusal.get_or_insert(error);
            }
            Err(_) => {}
        }
    }
    Err(first_refusal.unwrap_or_else(|| {
        let wrong = format!("no program '{}' was found in PATH", shown(name));
        Advice::error(wrong, hint_for(name))
    }))
}

/// For a name that is no program's: what may have been meant.
fn hint_for(name: &OsStr) -> String {
    let name = Path::new(name);
    if let Some(hint) = name.to_str().and_then(peers::hint) {
        return hint.into();
    }
    if let Some(command) = name.to_str().and_then(verbs::nearest) {
        return format!("did you mean `memlog {command}`? see `memlog --help`");
    }
    if name.is_file() {
        let here = Path::new(".").join(name);
        return format!(
            "of the file in this folder: memlog record {}",
            quoted(&here)
        );
    }
    "give the path of the program, or see `memlog --help` for memlog's own commands".into()
}

fn runnable(file: &Path) -> anyhow::Result<()> {
    let shown = shown(file);
    let found = fs::metadata(file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Advice::error(
            format!("there is no file {shown}"),
            "check the path of the program",
        ),
        _ => Advice::error(
            format!("{shown} cannot be reached: {error}"),
            "check the permissions of the folders on its path",
        ),
    })?;
    if found.is_dir() {
        return Err(Advice::error(
            format!("{shown} is a folder, not a program"),
            format!(
                "name the program in it; or, of a folder of logs: memlog report {}",
                typed(file)
            ),
        ));
    }
    if !found.is_file() {
        return Err(Advice::error(
            format!("{shown} is a pipe or a device, not a program"),
            "check the path of the program",
        ));
    }
    if !os::is_executable(file) {
        let typed = typed(file);
        let hint =
            format!("chmod +x {typed}, or name its interpreter: memlog record INTERPRETER {typed}");
        return Err(Advice::error(format!("{shown} is not executable"), hint));
    }
    Ok(())
}

/// Follows `#!` lines to the ELF file that will be run, and checks that.
fn check(file: &Path, depth: u32) -> anyhow::Result<(Runner, Option<ElfProgram>)> {
    let mut opened = match File::open(file) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Ok((Runner::Unreadable, None));
        }
        Err(error) => {
            return Err(Advice::error(
                format!("{} cannot be opened: {error}", shown(file)),
                "check the path",
            ));
        }
        Ok(opened) => opened,
    };
    let mut start = Vec::new();
    (&mut opened)
        .take(SCRIPT_LINE_BYTES as u64)
        .read_to_end(&mut start)?;
    if start.starts_with(&elf::ELFMAG) {
        refuse_if_privileged(file, &opened.metadata()?)?;
        let loader = refuse_if_unfit(file, &start, opened)?;
        let file = file.to_owned();
        let image = loader.map(|loader| ElfProgram { file, loader });
        return Ok((Runner::Kernel, image));
    }
    let Some(interpreter) = interpreter_of(&start) else {
        return Ok((Runner::Shell, None));
    };
    if depth == DEEPEST_SCRIPT {
        let wrong = format!(
            "{} names an interpreter that is a script itself, too many times over",
            shown(file)
        );
        return Err(Advice::error(wrong, "name a program after #!"));
    }
    let blame = |error: anyhow::Error| {
        error.context(format!(
            "{} is a script for {}",
            shown(file),
            shown(interpreter)
        ))
    };
    runnable(interpreter).map_err(blame)?;
    let (_, image) = check(interpreter, depth + 1).map_err(blame)?;
    Ok((Runner::Kernel, image))
}

/// The interpreter in a `#!` line, without its argument.
fn interpreter_of(start: &[u8]) -> Option<&Path> {
    let line = start
        .strip_prefix(b"#!")?
        .split(|&byte| byte == b'\n')
        .next()?;
    let mut words = line
        .split(|byte| b" \t".contains(byte))
        .filter(|word| !word.is_empty());
    Some(Path::new(OsStr::from_bytes(words.next()?)))
}

/// The loader ignores LD_PRELOAD where the kernel raises privileges.
fn refuse_if_privileged(file: &Path, found: &Metadata) -> anyhow::Result<()> {
    const SETUID: u32 = 0o4000;
    const SETGID_AND_RUN_BY_GROUP: u32 = 0o2010;
    let (user, group) = os::real_ids();
    if os::mount_flags(file).is_ok_and(|flags| flags.no_suid) {
        return Ok(());
    }
    // Without new privileges the bits count for nothing. Capabilities are then
    // not given either, but the kernel still tells the loader to be careful.
    let bits_count = !os::has_no_new_privileges();
    let raises_user = bits_count && found.mode() & SETUID != 0 && found.uid() != user;
    let raises_group = bits_count
        && found.mode() & SETGID_AND_RUN_BY_GROUP == SETGID_AND_RUN_BY_GROUP
        && found.gid() != group;
    let has_capabilities = user != 0 && os::has_capabilities(file);
    let reason = match (raises_user, raises_group, has_capabilities) {
        (true, _, _) => "is setuid",
        (_, true, _) => "is setgid",
        (_, _, true) => "has file capabilities",
        _ => return Ok(()),
    };
    Err(Advice::error(
        format!(
            "{} {reason}: the system loads no recorder into a program that gains privileges",
            shown(file)
        ),
        "record a copy of it, which has none (cp FILE .), or run memlog itself with those privileges (sudo memlog record ...)",
    ))
}

/// What the headers of an ELF file say about recording it.
struct Headers {
    loader: Option<Vec<u8>>,
    is_library: bool,
    /// Whether the recorder is linked into it.
    has_recorder: bool,
}

/// The note of a program with the recorder inside: its name and its type.
const INSIDE: (&[u8], u32) = (b"memlog", 1);

/// The loader that the program asks for, if it does.
fn refuse_if_unfit(file: &Path, start: &[u8], opened: File) -> anyhow::Result<Option<PathBuf>> {
    let name = shown(file);
    let ours = recorder::SHARED.bytes;
    let kind = |bytes: &[u8]| Some((bytes.get(4..6)?.to_vec(), bytes.get(18..20)?.to_vec()));
    if kind(start) != kind(ours) {
        let width = |bytes: &[u8]| {
            if bytes.get(4) == Some(&elf::ELFCLASS32.0) {
                "32-bit"
            } else {
                "64-bit"
            }
        };
        let (its, own) = (width(start), width(ours));
        return Err(match its == own {
            true => Advice::error(
                format!("{name} is for another kind of machine than this memlog"),
                "build the recorder for that machine with ppc64-cross/build, in memlog's sources (doc/HPC.md, Other processors)",
            ),
            false => Advice::error(
                format!("{name} is a {its} program and this memlog records {own} ones"),
                "use a memlog built for that kind of program",
            ),
        });
    }
    let cache = ReadCache::new(opened);
    let headers = match start.get(4) {
        Some(&class) if class == elf::ELFCLASS32.0 => headers::<FileHeader32<Endianness>>(&cache),
        _ => headers::<FileHeader64<Endianness>>(&cache),
    };
    let headers = headers.map_err(|error| {
        Advice::error(
            format!("{name} is not a valid ELF program: {error}"),
            "build or install it again",
        )
    })?;
    match headers.loader {
        None if headers.is_library || headers.has_recorder => Ok(None),
        None => Err(Advice::error(
            format!("{name} is statically linked: no recorder can be loaded into it"),
            "link it with the recorder inside, and record it then: cc -static ... $(memlog ldflags --static)",
        )),
        Some(loader) => {
            let loader = Path::new(OsStr::from_bytes(&loader));
            let there = loader.exists();
            match there {
                true => Ok(Some(loader.to_owned())),
                false => Err(Advice::error(
                    format!(
                        "{name} needs the loader {}, which is not there",
                        shown(loader)
                    ),
                    "install the C library that it was built for",
                )),
            }
        }
    }
}

/// No loader is asked for by static programs, and by the loader itself, which
/// is a library and does preload when it is run with a program as argument.
fn headers<Elf: FileHeader<Endian = Endianness>>(
    file: &ReadCache<File>,
) -> object::read::Result<Headers> {
    let header = Elf::parse(file)?;
    let endian = header.endian()?;
    let mut answer = Headers {
        loader: None,
        is_library: false,
        has_recorder: false,
    };
    for segment in header.program_headers(endian, file)? {
        if let Some(loader) = segment.interpreter(endian, file)? {
            answer.loader = Some(loader.to_vec());
        }
        if let Some(mut notes) = segment.notes(endian, file)? {
            // Notes that are damaged are none of ours.
            while let Ok(Some(note)) = notes.next() {
                answer.has_recorder |= (note.name(), note.n_type(endian).0) == INSIDE;
            }
        }
        let Some(dynamic) = segment.dynamic(endian, file)? else {
            continue;
        };
        let flags = dynamic
            .iter()
            .find(|entry| entry.tag(endian) == elf::DT_FLAGS_1);
        let flags = flags.map_or(0, |entry| entry.val(endian));
        // musl's loader has no name of its own, but is no program either.
        answer.is_library |= flags & elf::DF_1_PIE.0 == 0;
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_lines_are_read_as_the_kernel_does() {
        let of = |line: &str| {
            interpreter_of(line.as_bytes()).map(|path| path.to_str().expect("text").to_string())
        };
        assert_eq!(of("#!/bin/sh\n"), Some("/bin/sh".into()));
        assert_eq!(
            of("#! \t/usr/bin/env python3\nx"),
            Some("/usr/bin/env".into())
        );
        assert_eq!(of("#!/bin/sh"), Some("/bin/sh".into()));
        assert_eq!(of("#!\n/bin/sh"), None);
        assert_eq!(of("echo"), None);
    }
}
