//! Packed logs: each page is the same, byte for byte, where no file is that has the names;
//! what is to be hidden is nowhere; what is damaged is told.

mod hostile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sites::build::{GXX, RUSTC};
use crate::sites::{Folder, said};
use crate::{built, number, recorded};

/// A log, and the same packed in a folder of its own, as on another machine.
struct Case {
    folder: Folder,
    log: PathBuf,
    packed: PathBuf,
}

impl Case {
    fn new(folder: Folder, log: PathBuf, options: &[&str]) -> Self {
        // Pages say how to ask for others: its name is the same.
        let name = log.file_name().expect("a name");
        let packed = folder.folder("elsewhere").join(name);
        let words = [&["pack"], options, &["-o", text(&packed), text(&log)]];
        folder.says(&words.concat());
        Self {
            folder,
            log,
            packed,
        }
    }

    /// What a command prints of a log, in the log's folder. Nothing is looked up: another
    /// root has no file.
    #[track_caller]
    fn says(&self, command: &str, log: &Path, is_here: bool) -> String {
        let name = Path::new(log.file_name().expect("a name"));
        let words = command.split(' ').chain([text(name)]);
        let mut run = self.folder.memlog(&words.collect::<Vec<_>>());
        run.current_dir(log.parent().expect("a folder"));
        if !is_here {
            run.env("MEMLOG_SYSROOT", self.folder.folder("nothing"));
        }
        let output = run.output().expect("it runs");
        let told = said(&output);
        assert!(output.status.success(), "{command}: {told}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        printed + &String::from_utf8_lossy(&output.stderr)
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a name")
}

const PAGES: &[&str] = &[
    "summary",
    "report",
    "report --show-leaks --no-fold --show-below-main",
    "tree --top-down --no-fold",
    "table --by line",
    "table --by module --json",
    "table --by type",
    "leaks --json",
    "stats --json",
    "dump",
    "function main",
    "export folded -o -",
    "export json -o -",
    "export pprof -o -",
    "export heaptrack -o -",
];

/// The program, its libraries' debug information, and the log itself are not there.
#[test]
fn pages_are_the_same_elsewhere() {
    for name in ["c", "cpp"] {
        let folder = Folder::new(&format!("answers-packed-{name}"));
        let (log, program) = match name {
            "c" => (recorded(&folder, &[], "many 2000").0, folder.path("known")),
            _ => {
                let program = built(&folder, &GXX, "known.cpp", "known_cpp");
                let log = folder.path("cpp.memlog");
                folder.says(&["record", "-o", text(&log), text(&program)]);
                (log, program)
            }
        };
        let case = Case::new(folder, log, &[]);
        let before: Vec<_> = PAGES
            .iter()
            .map(|page| case.says(page, &case.log, true))
            .collect();
        fs::remove_file(program).expect("the program goes");
        for (page, before) in PAGES.iter().zip(before) {
            let after = case.says(page, &case.packed, false);
            assert!(
                !before.is_empty() && after == before,
                "{name}: {page}\n{before}\n{after}"
            );
        }
        // What comes out of it is such a log as well.
        let out = case.folder.path("out");
        case.folder
            .says(&["extract", "-o", text(&out), text(&case.packed)]);
        let name = case.log.file_name().expect("a name");
        let extracted = out.join(name);
        let (one, other) = (
            case.says("report", &extracted, false),
            case.says("report", &case.packed, false),
        );
        assert_eq!(one, other);
        // And can be packed again.
        let again = case.folder.path("again.tar.zst");
        case.folder
            .says(&["pack", "-o", text(&again), text(&case.packed)]);
        assert_eq!(case.says("report", &again, false), other);
        assert!(case.says("info", &again, false).contains("packed"));
        // No command is a report.
        let mut bare = case.folder.memlog(&[text(&again)]);
        let output = bare
            .env("MEMLOG_SYSROOT", case.folder.path("nothing"))
            .output();
        let output = output.expect("it runs");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            other,
            "{}",
            said(&output)
        );
    }
}

#[test]
fn a_childs_packed_log_has_its_parents() {
    let folder = Folder::new("answers-packed-fork");
    let (parent, _) = recorded(&folder, &[], "fork");
    let is_heir = |log: &PathBuf| {
        let stats = crate::ask(&folder, log, "stats");
        number(&stats, "inherited_blocks") > 0
    };
    let child = folder.logs("").into_iter().find(is_heir).expect("a child");
    let case = Case::new(folder, child, &[]);
    let pages = ["stats --json", "report --show-leaks", "table --by line"];
    let before = pages.map(|page| case.says(page, &case.log, true));
    fs::remove_file(parent).expect("the parent goes");
    for (page, before) in pages.iter().zip(before) {
        assert_eq!(case.says(page, &case.packed, false), before, "{page}");
    }
    let out = case.folder.path("out");
    case.folder
        .says(&["extract", "-o", text(&out), text(&case.packed)]);
    assert_eq!(case.folder.logs("out").len(), 2);
    // Without it that is told, and packed all the same.
    let output = case
        .folder
        .run(&["pack", "-o", "alone.tar.zst", text(&case.log)]);
    assert!(
        output.status.success() && said(&output).contains("was not found"),
        "{}",
        said(&output)
    );
}

/// What stacks hold: how deep they are, and the figure, whatever the names.
fn shape(folded: &str) -> Vec<(usize, String)> {
    let lines = folded.lines().filter_map(|line| line.rsplit_once(' '));
    let mut shape: Vec<_> = lines
        .map(|(stack, bytes)| (stack.split(';').count(), bytes.to_owned()))
        .collect();
    shape.sort();
    shape
}

/// All that a log of ours tells: where it was made, by whom, of what.
#[test]
fn what_is_hidden_is_nowhere() {
    let folder = Folder::new("answers-packed-hidden");
    let home = folder.folder("home/alice/secret_project");
    let program = built(
        &folder,
        &GXX,
        "known.cpp",
        "home/alice/secret_project/private_name",
    );
    let log = folder.path("home/alice/secret_project/run.memlog");
    let mut record = folder.memlog(&["record", "-o", text(&log), "--", text(&program)]);
    let output = record.current_dir(&home).output().expect("it runs");
    assert!(log.exists(), "{}", said(&output));
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let partly = ["/home/", "alice", "secret_project", host.trim()];
    // Two letters are in any long file.
    let partly = partly.into_iter().filter(|secret| secret.len() > 4);
    let fully = ["private_name", "known.cpp", "uniques", "deep::Inner"];
    for how in ["partial", "full"] {
        let packed = folder.path(&format!("{how}.tar.zst"));
        folder.says(&["pack", "--anonymize", how, "-o", text(&packed), text(&log)]);
        let out = folder.folder(how);
        folder.says(&["extract", "-o", text(&out), text(&packed)]);
        let hidden = folder.logs(how).remove(0);
        // A page has the host of the machine that shows it nowhere either.
        let case = Case {
            folder: Folder::new(&format!("answers-packed-{how}")),
            log: log.clone(),
            packed: hidden.clone(),
        };
        let folded = "export folded -o - --show-below-main";
        let [before, after] =
            [(&log, true), (&hidden, false)].map(|(log, here)| case.says(folded, log, here));
        assert_eq!(shape(&before), shape(&after), "{how}\n{before}\n{after}");
        let mut bytes = fs::read(&hidden).expect("a log");
        bytes.extend(hidden.file_name().expect("a name").as_encoded_bytes());
        let has = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
        for secret in partly.clone() {
            assert!(!has(secret), "{how}: {secret}");
        }
        assert_eq!(
            fully.iter().all(|secret| !has(secret)),
            how == "full",
            "{how}"
        );
        if how == "partial" {
            assert!(has("private_name") && has("known.cpp"));
            assert_eq!(before, after);
        }
        let [before, after] = [&log, &hidden].map(|log| crate::ask(&folder, log, "stats"));
        let figures = before
            .as_object()
            .expect("figures")
            .iter()
            .filter(|(_, it)| it.is_number());
        for (name, figure) in figures.filter(|(name, _)| *name != "job") {
            assert_eq!(after.get(name), Some(figure), "{how}: {name}");
        }
    }
}

/// A log that was packed alone is read as it is, and so is another tool's file: small ones,
/// and such that a packer's window does not hold.
#[test]
fn gzip_and_zstd_are_read() {
    let folder = Folder::new("answers-packed-alone");
    for (words, least) in [("many 2000", 0), ("mix 7 90000 2", 128 << 10)] {
        let (log, _) = recorded(&folder, &[], words);
        let form = folder.path("it.heaptrack");
        let export = ["export", "heaptrack", "-q", "-o", text(&form), text(&log)];
        folder.says(&export);
        for packer in ["gzip", "zstd"] {
            for file in [&log, &form] {
                is_read_packed(&folder, packer, file, least);
            }
        }
        fs::remove_file(&log).expect("a log");
    }
}

fn is_read_packed(folder: &Folder, packer: &str, file: &Path, least: usize) {
    let before = crate::ask(folder, file, "stats");
    let name = format!("packed.{packer}");
    let path = folder.path(&name);
    let run = Command::new(packer).arg("-c").arg(file).output();
    let Ok(run) = run else {
        println!("SKIPPED there is no {packer}");
        return;
    };
    let packed = run.stdout;
    assert!(packed.len() >= least, "{} are few", packed.len());
    fs::write(&path, &packed).expect("written");
    let after = crate::ask(folder, &path, "stats");
    let is_log = before["imported"].is_null();
    match is_log {
        true => assert_eq!(after, before, "{name}"),
        false => assert_eq!(after["total_bytes"], before["total_bytes"], "{name}"),
    }
    let report = folder.says(&[text(&path)]);
    assert!(report.contains("RSS peak"), "{name}: {report}");
    // A log of which the end is missing is told as one.
    if is_log {
        fs::write(&path, &packed[..packed.len() - 1]).expect("written");
        let output = folder.run(&["stats", text(&path)]);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {told}");
        assert!(told.contains("cut short or damaged"), "{name}: {told}");
    }
}

/// What is there stays, unless it is a log and `--force` is given.
#[test]
fn a_log_that_is_there_stays() {
    let folder = Folder::new("answers-packed-there");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let log = fs::read(golden.join("v1/tiny.memlog")).expect("a log");
    fs::write(folder.path("a.memlog"), &log).expect("a file");
    folder.says(&["pack", "-q", "-o", "a.tar.zst", "a.memlog"]);
    fs::copy(golden.join("imports/gperftools.heap"), folder.path("a")).expect("a copy");
    let other = fs::read(golden.join("v2/tiny.memlog")).unwrap_or_else(|_| log.clone());
    for words in [&["extract", "a.tar.zst"][..], &["import", "a"]] {
        for content in [&other[..], b"text", b""] {
            fs::write(folder.path("a.memlog"), content).expect("a file");
            let output = folder.run(words);
            let told = said(&output);
            assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
            assert!(
                told.contains("a.memlog is there already") && told.contains("--force"),
                "{words:?}: {told}"
            );
            assert_eq!(fs::read(folder.path("a.memlog")).expect("a file"), content);
            let output = folder.run(&[words, &["--force"]].concat());
            let told = said(&output);
            let is_log = content != b"text";
            let code = if is_log { 0 } else { 2 };
            assert_eq!(output.status.code(), Some(code), "{words:?}: {told}");
            let now = fs::read(folder.path("a.memlog")).expect("a file");
            assert_eq!(now != content, is_log, "{words:?}");
        }
        let hidden = fs::read_dir(folder.root())
            .expect("a folder")
            .filter(|entry| {
                let name = entry.as_ref().expect("an entry").file_name();
                name.to_string_lossy().starts_with('.')
            });
        assert_eq!(hidden.count(), 0);
    }
}

const SECRET_CPP: &str = r#"
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <string>
#include <vector>
namespace hush_space { struct HushArena { char pad[64]; }; struct HushItem { long value[9]; }; }
void *operator new(std::size_t size, hush_space::HushArena &) { return std::malloc(size); }
struct HushClass {
    static void *operator new(std::size_t size) { return std::malloc(size + 7); }
    long value[3];
};
template <class T> struct HushBox { std::vector<T> all; void hush_grow() { all.resize(40); } };
extern "C" void *hush_c_function(std::size_t size) { return std::malloc(size); }
extern "C" void *__rust_hush_function(std::size_t size) { return std::malloc(size); }
static void *hush_start(void *) { pthread_setname_np(pthread_self(), "hush-thread"); return hush_c_function(33); }
int main(int count, char **words) {
    hush_space::HushArena arena;
    void *kept[4] = { new (arena) hush_space::HushItem, new HushClass, hush_c_function(11), __rust_hush_function(5) };
    auto *box = new HushBox<hush_space::HushItem>;
    box->hush_grow();
    pthread_t thread;
    pthread_create(&thread, nullptr, hush_start, nullptr);
    pthread_join(thread, nullptr);
    return kept[0] == nullptr || count > 9 || words == nullptr;
}
"#;

const SECRET_RUST: &str = r#"
mod hush_module {
    pub struct HushThing { pub all: Vec<[u64; 5]> }
    pub trait HushTrait { fn hush_method(&mut self); }
    impl HushTrait for HushThing { #[inline(never)] fn hush_method(&mut self) { self.all.reserve(100); } }
    #[inline(never)] pub fn hush_generic<T: Clone>(one: T) -> Vec<T> { vec![one; 50] }
}
use hush_module::{HushThing, HushTrait};
#[derive(Clone)] struct HushValue(#[allow(dead_code)] u64);
fn main() {
    let mut thing = Box::new(HushThing { all: Vec::new() });
    thing.hush_method();
    let many = hush_module::hush_generic(HushValue(3));
    let worker = std::thread::Builder::new().name("hush-worker".into()).spawn(|| vec![1_u8; 77]);
    let made = worker.unwrap().join().unwrap();
    std::mem::forget((thing, many, made));
}
"#;

/// What is the user's own is in no byte where all names are hidden: each secret has the one
/// word that is looked for.
#[test]
fn no_name_of_the_user_stays() {
    let mut tried = 0;
    for (name, text_of, compiler) in [
        ("hush_main.cpp", SECRET_CPP, &GXX),
        ("hush_main.rs", SECRET_RUST, &RUSTC),
    ] {
        if !compiler.is_here(&format!("what is hidden of {name}")) {
            continue;
        }
        tried += 1;
        let folder = Folder::new(&format!("answers-packed-{}", name.replace('.', "-")));
        // As a build service has it, with a copy of the library's folders.
        let home = folder.folder("build/hush_build/include/c++/12");
        let source = home.join(name);
        fs::write(&source, text_of).expect("a source");
        let options: &[&str] = match name.ends_with("cpp") {
            true => &["-g", "-O1", "-pthread"],
            false => &["-g", "-O"],
        };
        let program = compiler.build_file(&folder, &source, "hush_program", options);
        let log = folder.path("hush_log.memlog");
        let mut record = folder.memlog(&["record", "--keep-environment", "-o", text(&log), "--"]);
        let output = record
            .args([text(&program), "--hush-argument=/hush/path"])
            .env("HUSH_VARIABLE", "hush_value")
            .env("MEMLOG_JOB", "hush_job")
            .current_dir(&home)
            .output()
            .expect("it runs");
        assert!(log.exists(), "{}", said(&output));
        let packed = folder.path("out.tar.zst");
        folder.says(&[
            "pack",
            "--anonymize",
            "full",
            "-o",
            text(&packed),
            text(&log),
        ]);
        let out = folder.folder("out");
        folder.says(&["extract", "-o", text(&out), text(&packed)]);
        let hidden = folder.logs("out").remove(0);
        let found = |path: &Path| {
            let mut bytes = fs::read(path).expect("a log");
            bytes.extend(path.file_name().expect("a name").as_encoded_bytes());
            bytes.make_ascii_lowercase();
            let texts = bytes.split(|byte| !(b' '..=b'~').contains(byte));
            let texts = texts.filter(|text| text.windows(4).any(|it| it == b"hush"));
            let texts = texts.map(|text| String::from_utf8_lossy(text).into_owned());
            texts.collect::<Vec<_>>()
        };
        // The log itself has them, so that the test can see them.
        assert!(!found(&log).is_empty());
        let named = folder.path("named.tar.zst");
        folder.says(&["pack", "-o", text(&named), text(&log)]);
        folder.says(&["extract", "-o", text(&folder.folder("named")), text(&named)]);
        assert!(found(&folder.logs("named").remove(0)).len() > 10);
        assert_eq!(found(&hidden), Vec::<String>::new(), "{name}");
    }
    if tried == 0 {
        println!("SKIPPED packed: no compiler");
    }
}
