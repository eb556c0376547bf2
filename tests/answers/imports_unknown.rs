//! What another tool's file does not know is said to be unknown, and is never shown as 0.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ask;
use crate::sites::{Folder, said};

fn golden(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join("golden/imports").join(name)
}

/// Two blocks of 100 bytes in heaptrack's form, both of which go.
const FREED: &str = "v 10400 3\nX app\ns 4 main\ns 3 app\ni 1000 2 1\nt 1 0\na 64 1\n\
                     + 0\n- 0\n+ 0\n- 0\n";

fn checked(folder: &Folder, file: &Path) -> (Option<i32>, String) {
    let name = file.to_str().expect("a name");
    let output = folder.run(&["check", "--max-leaked", "0", "--max-peak", "1GiB", name]);
    let told = String::from_utf8_lossy(&output.stdout);
    (output.status.code(), format!("{told}{}", said(&output)))
}

/// Limits that a file keeps only because it ends too early, or is of one moment, are not
/// proven to be kept.
#[test]
fn a_part_of_a_run_keeps_no_limit() {
    let folder = Folder::new("answers-imports-part");
    let file = folder.path("it.heaptrack");
    fs::write(&file, FREED).expect("a file");
    let (code, told) = checked(&folder, &file);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(ask(&folder, &file, "stats")["ended"], true);
    // In the middle of the last line, and with a line that nobody understands.
    for content in [&FREED[..FREED.len() - 1], &format!("{FREED}- 77\n")] {
        fs::write(&file, content).expect("a file");
        let (code, told) = checked(&folder, &file);
        assert_eq!(code, Some(1), "{told}");
        assert_eq!(told.matches("UNPROVEN").count(), 2, "{told}");
    }
    let names = [
        "go.pb.gz",
        "gperftools.heap",
        "gperftools.pb.gz",
        "jemalloc.heap",
        "massif.out",
    ];
    for name in names {
        let (code, told) = checked(&folder, &golden(name));
        assert_eq!(code, Some(1), "{name}: {told}");
        assert!(told.contains("UNPROVEN"), "{name}: {told}");
        assert!(!told.contains("BROKEN"), "{name}: {told}");
        let stats = ask(&folder, &golden(name), "stats");
        assert_eq!(stats["ended"], false, "{name}");
        let unknown = stats["imported"]["unknown"].as_array().expect("a list");
        assert!(unknown.contains(&"end".into()), "{name}: {stats}");
    }
    for name in ["dhat.json", "bytehound.dat", "memtrail.data"] {
        assert_eq!(
            ask(&folder, &golden(name), "stats")["ended"],
            true,
            "{name}"
        );
    }
}

/// Packed files too: what is behind the cut is not taken for the end.
#[test]
fn a_cut_packed_file_is_cut() {
    let folder = Folder::new("answers-imports-cut");
    let pack = |tool: &str, name: &str| {
        let file = folder.path("it.heaptrack");
        fs::write(&file, FREED).expect("a file");
        let packed = folder.path(name);
        let mut command = folder.command(tool);
        let output = command.args(["-c", "-q"]).arg(&file).output();
        let Ok(output) = output else {
            println!("SKIPPED imports: no {tool}");
            return;
        };
        let whole = output.stdout;
        assert!(!whole.is_empty(), "{name}");
        fs::write(&packed, &whole).expect("a file");
        let (code, told) = checked(&folder, &packed);
        assert_eq!(code, Some(0), "{name}: {told}");
        for length in whole.len() / 2..whole.len() {
            fs::write(&packed, &whole[..length]).expect("a file");
            let (code, told) = checked(&folder, &packed);
            assert!(matches!(code, Some(1 | 2)), "{name} {length}: {told}");
        }
    };
    pack("gzip", "it.gz");
    pack("zstd", "it.zst");
}
