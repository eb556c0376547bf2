//! Whether a program will load an allocator whose C++ operators do not end in
//! malloc: an object that defines both. The program's own loader says which
//! objects it will load; nothing of the program is run for that.

use object::Endianness;
use object::elf::{FileHeader64, SHT_DYNSYM, SectionType, Sym64};
use object::read::ReadCache;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A loader takes milliseconds; on a network's disk it may take more.
const PATIENCE: Duration = Duration::from_secs(5);

/// No name that is looked for is longer.
const LONGEST: usize = 1024;

/// Whether the program loads such an allocator, one of these objects. What cannot
/// be found out is answered by no: the run matters more.
pub fn is_among(objects: &[PathBuf], program: &Path) -> bool {
    let own = defined(program).unwrap_or_default();
    !own.malloc && objects.iter().any(|path| is_one(path))
}

fn is_one(path: &Path) -> bool {
    defined(path).is_some_and(|defined| defined.malloc && defined.operator_new)
}

/// What the loader says that it will load; nothing if it cannot say.
pub fn objects(program: &Path, loader: &Path) -> Vec<PathBuf> {
    let mut command = Command::new(loader);
    command
        .arg("--list")
        .arg(program)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let text = command.spawn().ok().and_then(read_for_a_while);
    text.unwrap_or_default()
        .lines()
        .filter_map(path_in)
        .collect()
}

fn read_for_a_while(mut child: Child) -> Option<String> {
    let mut output = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        if output.read_to_end(&mut text).is_ok() {
            // Nobody listens any more: then nobody needs it.
            let _ = sender.send(text);
        }
    });
    let text = receiver.recv_timeout(PATIENCE).ok();
    if text.is_none() {
        // It may have ended by itself just now.
        let _ = child.kill();
    }
    child.wait().ok()?;
    Some(String::from_utf8_lossy(&text?).into_owned())
}

/// `NAME => PATH (0xADDRESS)`, or without the arrow.
fn path_in(line: &str) -> Option<PathBuf> {
    let (object, _) = line.rsplit_once(" (0x")?;
    let path = object.split_once(" => ").map_or(object, |(_, path)| path);
    let path = Path::new(path.trim());
    path.is_absolute().then(|| path.to_owned())
}

/// What an object defines for everybody.
#[derive(Default)]
struct Defined {
    malloc: bool,
    operator_new: bool,
}

fn defined(path: &Path) -> Option<Defined> {
    let mut found = Defined::default();
    each_symbol(path, SHT_DYNSYM, |name, is_defined| {
        found.malloc |= is_defined && name == b"malloc";
        found.operator_new |= is_defined && name == b"_Znwm";
    })?;
    Some(found)
}

/// Runs over the symbols of a table, with whether the object defines them.
///
/// Symbols and their names are read as two pieces: a reading for each name is
/// two system calls, and pandoc has 200,000.
pub fn each_symbol(path: &Path, kind: SectionType, mut see: impl FnMut(&[u8], bool)) -> Option<()> {
    let file = ReadCache::new(File::open(path).ok()?);
    let header = FileHeader64::<Endianness>::parse(&file).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, &file).ok()?;
    let mut tables = sections.iter();
    let table = tables.find(|section| section.sh_type(endian) == kind)?;
    let symbols: &[Sym64<Endianness>] = table.data_as_array(endian, &file).ok()?;
    let strings = sections.section(table.link(endian)).ok()?;
    let names = strings.data(endian, &file).ok()?;
    for symbol in symbols {
        let rest = names.get(symbol.st_name(endian) as usize..).unwrap_or(&[]);
        let length = rest.iter().take(LONGEST).position(|&byte| byte == 0);
        if let Some(name) = length.and_then(|length| rest.get(..length)) {
            see(name, !symbol.is_undefined(endian));
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_s_lines_are_read() {
        let of = |line: &str| path_in(line).map(|path| path.display().to_string());
        assert_eq!(of("\tlinux-vdso.so.1 (0x00007ffd)"), None);
        assert_eq!(of("\tliba.so => not found"), None);
        assert_eq!(
            of("\tlibc.so.6 => /lib/x/libc.so.6 (0x00007f12)"),
            Some("/lib/x/libc.so.6".into())
        );
        assert_eq!(
            of("\t/my dir/libb.so (0x00007f12)"),
            Some("/my dir/libb.so".into())
        );
    }

    #[test]
    fn what_an_object_defines_is_found() {
        let libc = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6"];
        if let Some(libc) = libc.iter().find(|path| Path::new(path).exists()) {
            let found = defined(Path::new(libc)).expect(libc);
            assert!(found.malloc && !found.operator_new);
        }
        assert!(defined(Path::new("/proc/self/exe")).is_some_and(|own| !own.operator_new));
    }

    #[test]
    fn a_loader_that_cannot_say_is_no_obstacle() {
        for loader in ["/nonexistent", "/bin/false"] {
            let found = objects(Path::new("/bin/sh"), Path::new(loader));
            assert_eq!(found, [] as [PathBuf; 0]);
            assert!(!is_among(&found, Path::new("/bin/sh")));
        }
    }
}
