//! Packed logs: each page is the same, byte for byte, where no file is that has the names;
//! what is to be hidden is nowhere; what is damaged is told.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sites::build::GXX;
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

/// A damaged file is told as one, with status 2 and no log left behind.
#[test]
fn damage_is_told() {
    let folder = Folder::new("answers-packed-damaged");
    let (log, _) = recorded(&folder, &[], "many 2000");
    let case = Case::new(folder, log, &[]);
    let whole = fs::read(&case.packed).expect("a file");
    let mut bent = whole.clone();
    bent[whole.len() / 2] ^= 0x10;
    let wrong = case.folder.path("wrong.tar.zst");
    for bytes in [
        &whole[..4],
        &whole[..whole.len() / 2],
        &whole[..whole.len() - 1],
        &bent,
    ] {
        fs::write(&wrong, bytes).expect("written");
        for command in ["report", "stats", "extract -o out", "pack -o again", "info"] {
            let words: Vec<_> = command.split(' ').chain([text(&wrong)]).collect();
            let output = case.folder.run(&words);
            let told = said(&output);
            assert_eq!(output.status.code(), Some(2), "{command}: {told}");
            assert!(told.starts_with("memlog: error: "), "{command}: {told}");
        }
        assert!(case.folder.logs("out").is_empty());
    }
    let output = case.folder.run(&["extract", text(&case.log)]);
    assert!(
        said(&output).contains("is no packed log"),
        "{}",
        said(&output)
    );
    assert_eq!(output.status.code(), Some(2));
    // No room to unpack it in.
    let mut command = case.folder.memlog(&["report", text(&case.packed)]);
    let output = command.env("TMPDIR", "/nowhere").output().expect("it runs");
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("unpack it in /nowhere"),
        "{}",
        said(&output)
    );
}
