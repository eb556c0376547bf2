//! Stacks end at main, or at a thread's first function, and figures stay.

use crate::sites::Folder;
use crate::sites::tree::{Node, Tree};

const PROGRAM: &str = "#include <pthread.h>\n\
    #include <stdlib.h>\n\
    void *volatile kept;\n\
    __attribute__((constructor)) static void before(void) { kept = malloc(1000); }\n\
    static void *work(void *none) { kept = malloc(200000); return none; }\n\
    int main(void) {\n\
        pthread_t thread;\n\
        kept = malloc(30000);\n\
        return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);\n\
    }\n";

fn root<'t>(tree: &'t Tree, function: &str) -> &'t Node {
    let mut roots = tree.roots.iter();
    let root = roots.find(|root| root.function == function);
    root.unwrap_or_else(|| panic!("no {function}: {tree:?}"))
}

/// The last of its callers.
fn outermost<'t>(tree: &'t Tree, function: &str) -> &'t str {
    let mut node = root(tree, function);
    while let Some(caller) = node.callers.first() {
        node = caller;
    }
    &node.function
}

#[test]
fn what_starts_a_program_is_left_out_unless_asked_for() {
    let folder = Folder::new("show-below-main");
    std::fs::write(folder.path("starts.c"), PROGRAM).expect("write");
    let mut gcc = folder.command("gcc");
    gcc.args(["-g", "-O0", "-pthread", "-o", "starts", "starts.c"]);
    assert!(gcc.status().expect("gcc").success());
    folder.says(&["record", "-o", "starts.memlog", "./starts"]);
    let says = |more: &[&str]| {
        let words = ["--no-fold", "-t", "0", "starts.memlog"];
        folder.says(&[&["report", "--leaks"], more, &words].concat())
    };
    let (page, all) = (says(&[]), says(&["--show-below-main"]));
    let (shown, whole) = (Tree::read(&page), Tree::read(&all));
    for (function, bytes) in [("main", 30_000), ("work", 200_000), ("before", 1_000)] {
        assert_eq!(root(&shown, function).held.bytes, bytes, "{page}");
        assert_eq!(root(&whole, function).held.bytes, bytes, "{all}");
    }
    assert_eq!(outermost(&shown, "main"), "main", "{page}");
    assert_eq!(outermost(&shown, "work"), "work", "{page}");
    assert_eq!(outermost(&whole, "main"), "_start", "{all}");
    assert_ne!(outermost(&whole, "work"), "work", "{all}");
    // What runs before main is not main's.
    assert_eq!(outermost(&shown, "before"), "_start", "{page}");
    assert_eq!(shown.total, whole.total);
    let names = |more: &[&str]| {
        let words = ["flamegraph", "--all", "-o", "-", "starts.memlog"];
        let page = folder.says(&[&words[..], more].concat());
        let (_, names) = page.split_once("\"names\":[").expect("names");
        names.split(']').next().unwrap_or_default().to_owned()
    };
    assert!(!names(&["-x", "^before$"]).contains("\"_start\""));
    assert!(names(&["-x", "^before$", "--show-below-main"]).contains("\"_start\""));
    // Filters and programs have all of every stack.
    let main = Tree::read(&says(&["-i", "^_start$", "-x", "^before$"]));
    assert_eq!(root(&main, "main").held.bytes, 30_000);
    let has = |function| main.roots.iter().any(|root| root.function == function);
    assert!(!has("work") && !has("before"), "{main:?}");
    let json = folder.says(&["tree", "--leaks", "--json", "starts.memlog"]);
    assert!(json.contains("\"_start\""), "{json}");
}
