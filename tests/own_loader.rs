//! A library that the program maps and unmaps by itself, of which no loader tells.

mod sites;

use sites::Folder;
use sites::build::GCC;

/// Where a library's function begins, by nm.
fn offset_of(folder: &Folder, library: &std::path::Path, function: &str) -> String {
    let said = folder.command("nm").arg(library).output().expect("nm");
    let text = String::from_utf8(said.stdout).expect("text");
    let line = text
        .lines()
        .find(|line| line.ends_with(&format!(" T {function}")));
    let offset = line.and_then(|line| line.split_whitespace().next());
    offset.expect("the function").to_owned()
}

/// Its tables are read without a lock, and are gone while other code stands where it
/// stood.
#[test]
fn a_library_that_the_program_unmaps_is_not_believed() {
    if std::env::consts::ARCH != "x86_64" {
        println!("SKIPPED own_loader: it makes code of another machine");
        return;
    }
    let folder = Folder::new("own_loader");
    let flags = ["-shared", "-fPIC", "-nostdlib"];
    let library = GCC.build(&folder, "own_loaded.c", "own_loaded.so", &flags);
    let program = GCC.build::<&str>(&folder, "own_loader.c", "own_loader", &[]);
    let offset = offset_of(&folder, &library, "call");
    for run in 0..3 {
        let log = folder.path(&format!("{run}.memlog"));
        let words = [
            "record".as_ref(),
            "-o".as_ref(),
            log.as_os_str(),
            program.as_os_str(),
            library.as_os_str(),
            offset.as_ref(),
        ];
        assert_eq!(folder.says(&words).trim(), "survived");
        let stats = folder.stats(&log);
        assert_eq!(stats.number("lost_events"), 0);
        assert!(stats.number("allocations") >= 6);
    }
}
