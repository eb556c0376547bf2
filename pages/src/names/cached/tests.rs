//! Names come from the cache as they came from the files, and from nowhere else.

use super::*;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

const PROGRAM: &str = "
#include <stdlib.h>
static inline __attribute__((always_inline)) void *grab(size_t n) { return malloc(n + 1); }
__attribute__((noinline)) void *twice(int n) { free(grab(n)); return grab(n * 2); }
int main(int argc, char **argv) { return twice(argc) == argv; }
";

/// A folder with a program in it, and one for names.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("memlog-names-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).expect("a folder");
        let folder = Self(path.canonicalize().expect("a path"));
        fs::write(folder.0.join("victim.c"), PROGRAM).expect("a file");
        folder.run("cc -O2 -g -Wl,--build-id -o victim victim.c");
        folder
    }

    fn run(&self, line: &str) {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().expect("a program"));
        let status = command.args(words).current_dir(&self.0).status();
        assert!(status.is_ok_and(|status| status.success()), "{line}");
    }

    fn keeping(&self) -> Keeping {
        Keeping {
            folder: Some(self.0.join("cache/names")),
            from_bytes: 0,
        }
    }

    /// The one file of names.
    fn file(&self) -> PathBuf {
        let mut files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("cache/names"));
        let paths = entries.into_iter().flatten().flatten().map(|it| it.path());
        paths.collect()
    }

    /// All that is known of the program.
    fn names(&self, keeping: &Keeping) -> Vec<Lookup> {
        self.names_with(keeping, Options::default())
    }

    fn names_with(&self, keeping: &Keeping, options: Options) -> Vec<Lookup> {
        let options = Options {
            system_debug_dir: None,
            ..options
        };
        let path = self.0.join("victim");
        let store = Store::new();
        let mut symbols = CachedSymbols::new(&store, options, keeping.clone());
        let module = symbols.add_module(&ModuleSpec {
            build_id: build_id(&path),
            path: path.into_os_string().into_encoded_bytes(),
        });
        assert!(matches!(symbols.status(module), ModuleStatus::Ok(loaded) if loaded.verified));
        let questions: Vec<_> = (0x1000..0x1400).map(|at| (module, at)).collect();
        let answers = symbols.lookup_batch(&questions, || false);
        answers.into_iter().flatten().collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn build_id(path: &Path) -> Vec<u8> {
    use object::read::Object;
    let bytes = fs::read(path).expect("a program");
    let elf = object::File::parse(&*bytes).expect("an ELF file");
    elf.build_id().expect("notes").expect("a build-id").to_vec()
}

const NOWHERE: Keeping = Keeping {
    folder: None,
    from_bytes: 0,
};

fn lines(names: &[Lookup]) -> usize {
    let frames = names.iter().flat_map(|lookup| &lookup.frames);
    frames.filter(|frame| frame.line.is_some()).count()
}

fn number(path: &Path) -> u64 {
    fs::metadata(path).expect("a file").ino()
}

#[test]
fn warm_is_as_cold() {
    let folder = Folder::new();
    let cold = folder.names(&NOWHERE);
    assert!(folder.files().is_empty());
    assert!(cold.iter().any(|lookup| lookup.frames.len() > 1) && lines(&cold) > 20);
    assert_eq!(folder.names(&folder.keeping()), cold);
    let file = folder.file();
    let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
    assert_eq!(mode(&file), 0o600);
    assert_eq!(mode(&folder.0.join("cache/names")), 0o700);
    // What is all known is not written again.
    let before = number(&file);
    assert_eq!(folder.names(&folder.keeping()), cold);
    assert_eq!(number(&file), before);
    // And it is the cache that answers: another function is in the place of this one.
    let told = fs::read(&file).expect("a file");
    let key_end = HEAD + 4 + u32::from_le_bytes(*told[HEAD..].first_chunk().expect("4")) as usize;
    let at = told[key_end..].windows(5).position(|it| it == b"twice");
    let mut learned = told[key_end..].to_vec();
    learned[at.expect("the name")..][..5].copy_from_slice(b"TWICE");
    let other = sealed(&told[HEAD + 4..key_end], &learned);
    fs::write(&file, other).expect("a file");
    let names = folder.names(&folder.keeping());
    let is_told = |lookup: &Lookup| {
        let mut names = lookup.frames.iter().flat_map(|it| &it.function);
        names.any(|name| **name == *"TWICE")
    };
    assert!(names.iter().any(is_told));
    // As long as nobody else may write it.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("a mode");
    assert_eq!(folder.names(&folder.keeping()), cold);
}

#[test]
fn a_damaged_file_is_made_anew() {
    let folder = Folder::new();
    let cold = folder.names(&folder.keeping());
    let file = folder.file();
    let whole = fs::read(&file).expect("a file");
    let key_length = u32::from_le_bytes(*whole[HEAD..].first_chunk().expect("4")) as usize;
    let key = &whole[HEAD + 4..HEAD + 4 + key_length];
    assert!(found(&file, key).is_some());
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(unsealed(damaged, key).is_none(), "byte {at}");
        assert!(unsealed(whole[..at].to_vec(), key).is_none(), "cut at {at}");
    }
    // With a checksum that is right, whatever it says is no worse than a wrong name.
    for at in (HEAD..whole.len()).step_by(61) {
        let mut made = whole.clone();
        made[at] = 0xff;
        let sum = checksum(&made[HEAD..]);
        made[MAGIC.len()..HEAD].copy_from_slice(&sum.to_le_bytes());
        fs::write(&file, made).expect("a file");
        assert_eq!(folder.names(&folder.keeping()).len(), cold.len());
    }
    for length in [0, 7, HEAD, HEAD + 4, whole.len() - 1] {
        fs::write(&file, &whole[..length]).expect("a file");
        assert_eq!(folder.names(&folder.keeping()), cold);
        assert!(fs::read(&file).expect("a file") == whole, "cut at {length}");
    }
}

#[test]
fn another_build_has_other_names() {
    let folder = Folder::new();
    folder.names(&folder.keeping());
    let first = folder.file();
    let source = PROGRAM.replace("twice", "thrice");
    fs::write(folder.0.join("victim.c"), source).expect("a file");
    folder.run("cc -O2 -g -Wl,--build-id -o victim victim.c");
    let cold = folder.names(&NOWHERE);
    assert_eq!(folder.names(&folder.keeping()), cold);
    let mut files = folder.files();
    files.retain(|file| *file != first);
    // Not even under the name of this one's.
    fs::copy(&first, &files[0]).expect("a copy");
    assert_eq!(folder.names(&folder.keeping()), cold);
}

#[test]
fn a_debug_file_may_come_later_and_change() {
    let folder = Folder::new();
    folder.run("objcopy --only-keep-debug victim debug");
    folder.run("strip -g victim");
    let bare = folder.names(&folder.keeping());
    assert_eq!(lines(&bare), 0);
    assert_eq!(folder.names(&folder.keeping()), bare);
    let options = || Options {
        debug_files: vec![folder.0.join("victim.debug")],
        ..Options::default()
    };
    fs::copy(folder.0.join("debug"), folder.0.join("victim.debug")).expect("a copy");
    let good = folder.names_with(&folder.keeping(), options());
    assert!(lines(&good) > 20);
    assert_eq!(good, folder.names_with(&NOWHERE, options()));
    assert_eq!(good, folder.names_with(&folder.keeping(), options()));
    // In place, of the same length and time.
    let debug = folder.0.join("victim.debug");
    let mut bytes = fs::read(&debug).expect("a file");
    let time = fs::metadata(&debug).and_then(|file| file.modified());
    let at = bytes
        .windows(8)
        .position(|it| it == b"victim.c")
        .expect("a name");
    let last = bytes
        .windows(8)
        .rposition(|it| it == b"victim.c")
        .expect("a name");
    for at in [at, last] {
        bytes[at..at + 8].copy_from_slice(b"author.c");
    }
    fs::write(&debug, bytes).expect("a file");
    let file = File::options().write(true).open(&debug).expect("a file");
    file.set_modified(time.expect("a time")).expect("a time");
    let other = folder.names_with(&folder.keeping(), options());
    assert_eq!(other, folder.names_with(&NOWHERE, options()));
    assert_ne!(other, good);
}

/// Also while others remove it and read it.
#[test]
fn two_write_at_once() {
    let folder = Folder::new();
    let cold = folder.names(&NOWHERE);
    thread::scope(|scope| {
        for number in 0..4 {
            let (folder, cold) = (&folder, &cold);
            scope.spawn(move || {
                for _ in 0..50 {
                    assert_eq!(folder.names(&folder.keeping()), *cold);
                    if number == 0 {
                        folder
                            .files()
                            .iter()
                            .for_each(|file| drop(fs::remove_file(file)));
                    }
                }
            });
        }
    });
    assert_eq!(folder.names(&folder.keeping()), cold);
    assert!(fs::metadata(folder.file()).is_ok_and(|file| file.len() > 1000));
}

#[test]
fn without_a_folder_there_is_no_cache() {
    let folder = Folder::new();
    let cold = folder.names(&NOWHERE);
    fs::write(folder.0.join("cache"), "no folder").expect("a file");
    for place in ["/dev/null/names", "/proc/names", "cache/names"] {
        let keeping = Keeping {
            folder: Some(folder.0.join(place)),
            from_bytes: 0,
        };
        assert_eq!(folder.names(&keeping), cold, "{place}");
    }
    let small = Keeping {
        from_bytes: 1 << 20,
        ..folder.keeping()
    };
    fs::remove_file(folder.0.join("cache")).expect("the file");
    assert_eq!(folder.names(&small), cold);
    assert!(folder.files().is_empty());
}

#[test]
fn the_oldest_go() {
    let folder = Folder::new();
    for (name, age, length) in [("a.names", 3, 10), ("b.names", 9, 20), ("c.names", 1, 30)] {
        let path = folder.0.join(name);
        fs::write(&path, vec![0; length]).expect("a file");
        let file = File::options().write(true).open(&path).expect("a file");
        let time = SystemTime::now() - std::time::Duration::from_secs(age);
        file.set_modified(time).expect("a time");
    }
    let left = |bytes, most| {
        make_room(&folder.0, bytes, most);
        let names = ["a.names", "b.names", "c.names", "victim"];
        names.map(|name| folder.0.join(name).exists())
    };
    assert_eq!(left(0, 60), [true, true, true, true]);
    assert_eq!(left(1, 60), [true, false, true, true]);
    assert_eq!(left(10, 41), [false, false, true, true]);
    assert_eq!(left(100, 50), [false, false, false, true]);
}
