//! Scripts without an end, without measure, and out of their folder: each ends with a
//! sentence, and nothing is changed.

use std::fs;
use std::os::unix::fs::symlink;

use crate::Leaky;
use crate::sites::said;

#[test]
fn what_has_no_end_is_ended() {
    let leaky = Leaky::get();
    for code in [
        "loop {}",
        "try { loop {} } catch { }",
        "let x = 0; while true { x += 1; }",
    ] {
        let why = leaky.refuses(code);
        assert!(
            why.contains("it took longer than 2 seconds"),
            "{code}: {why}"
        );
    }
    let why = leaky.refuses("sleep(1000)");
    assert!(why.contains("do not sleep"), "{why}");
}

#[test]
fn what_has_no_measure_is_refused() {
    let leaky = Leaky::get();
    for (code, sentence) in [
        ("let s = \"x\"; loop { s += s; }", "grows larger"),
        ("let s = \"x\"; s.pad(1000000000, \"y\"); s", "grows larger"),
        ("let s = blob(10000000000); s", "grows larger"),
        ("let a = []; a.pad(1000000000, 1); a", "grows larger"),
        (
            "fn f(n) { f(n + 1) } f(0)",
            "too many functions call each other",
        ),
        (
            "let f = |f| f.call(f); loop { try { f.call(f) } catch { } }",
            "too many functions call each other",
        ),
        (
            "fn f(n) { g(n) } fn g(n) { f(n) } f(0)",
            "too many functions call each other",
        ),
        ("import \"x\" as y;", "import"),
        ("eval(\"1\")", "eval"),
        (
            "let l = allocations(); loop { l = (l - maps_none()); } fn maps_none() { allocations().only_larger(1) }",
            "at most",
        ),
        (
            "let l = allocations().only_larger(1); loop { l = l & allocations().only_larger(2); }",
            "2000 filters at most",
        ),
        (
            "let n = 0; loop { allocations().only_passing_through_function(\"a\" + n); n += 1; }",
            "1000 different regular expressions",
        ),
        (
            "graph().add(allocations()).with_gradient_color_scheme(\"reddish\", \"blue\")",
            "no colour",
        ),
        ("allocations().only_alive_at([1])", "durations"),
        ("allocations().only_larger(-1)", "0 or more"),
        ("allocations()[1000000]", "there is no place"),
        ("allocations().filter(\"size >\")", "expected a size"),
        (
            "allocations().only_passing_through_function(\"(\")",
            "no regular expression",
        ),
        ("let x = ;", "Syntax error"),
        (
            "graph().add(allocations()).show_rss()",
            "this graph is of allocations",
        ),
        (
            "graph().add(maps().only_leaked()).show_rss().save()",
            "nobody recorded",
        ),
        ("println(\"{} {}\", 1)", "there is no value"),
    ] {
        let why = leaky.refuses(code);
        assert!(why.contains(sentence), "{code}: {why}");
        assert!(why.starts_with("(standard input):1:"), "{code}: {why}");
    }
    let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
    let why = leaky.refuses(&deep);
    assert!(why.contains("complex"), "{why}");
    let large = " ".repeat((1 << 20) + 1);
    let output = leaky.runs(&large, leaky.folder.root(), &[]);
    assert!(said(&output).contains("1 MiB"), "{}", said(&output));
}

/// What stands in the folder is not touched, and nothing outside of it.
#[test]
fn pictures_stay_in_their_folder() {
    let leaky = Leaky::get();
    let pictures = leaky.folder.folder("pictures");
    let outside = leaky.folder.folder("outside");
    symlink(&outside, pictures.join("link")).expect("a link");
    let victim = leaky.folder.path("victim.svg");
    fs::write(&victim, "mine").expect("it is written");
    symlink(&victim, pictures.join("linked.svg")).expect("a link");
    symlink("/nowhere/at/all.svg", pictures.join("dangling.svg")).expect("a link");
    fs::hard_link(&victim, pictures.join("second.svg")).expect("a name");
    fs::create_dir(pictures.join("folder.svg")).expect("a folder");
    for (name, sentence) in [
        ("../x.svg", "`..`"),
        ("a/../../x.svg", "`..`"),
        ("/tmp/x.svg", "do not begin with /"),
        ("link/x.svg", "link"),
        ("linked.svg", "it is a link"),
        ("dangling.svg", "it is a link"),
        ("second.svg", "another name"),
        ("folder.svg", "no file"),
        ("missing/x.svg", "No such file"),
        ("", "1 to 1024 bytes"),
        ("a\\nb.svg", "control characters"),
        ("a\\u0000b.svg", "control characters"),
    ] {
        let code = format!("allocations().save_as_graph(\"{name}\")");
        let output = leaky.runs(&code, &pictures, &[]);
        let why = said(&output);
        assert_eq!(output.status.code(), Some(2), "{name}: {why}");
        assert!(why.contains(sentence), "{name}: {why}");
    }
    for code in [
        "mkdir_p(\"link/a\")",
        "chdir(\"link\")",
        "chdir(\"..\")",
        "mkdir_p(\"../a\")",
    ] {
        let output = leaky.runs(code, &pictures, &[]);
        assert_eq!(output.status.code(), Some(2), "{code}: {}", said(&output));
    }
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "mine");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 0);
    // What may be written is written, and again; nothing else is left.
    let code = "mkdir_p(\"a/b\"); chdir(\"a\"); allocations().save_as_graph(\"b/c\"); chdir(\"b\"); \
                allocations().only_leaked().save_as_graph(\"c.svg\");";
    let output = leaky.runs(code, &pictures, &[]);
    assert!(output.status.success(), "{}", said(&output));
    let left = fs::read_dir(pictures.join("a/b")).expect("a folder");
    let left: Vec<_> = left
        .map(|entry| entry.expect("an entry").file_name())
        .collect();
    assert_eq!(left, ["c.svg"]);
    let leftover = fs::read_dir(&pictures).expect("a folder").count();
    assert_eq!(leftover, 6, "what was there, and a");
}

/// No terminal obeys what comes from a log or a script.
#[test]
fn control_characters_are_not_printed() {
    let leaky = Leaky::get();
    let said = leaky.says("println(\"a\\x1b[31mb\\u0007\\tc\\nd\");");
    assert_eq!(said, "a [31mb \tc\nd\n");
}

#[test]
fn who_has_heard_enough_is_no_error() {
    let leaky = Leaky::get();
    let log = leaky.log.to_str().expect("a name");
    let script = leaky.folder.path("talks.rhai");
    fs::write(&script, "loop { println(\"again\"); }").expect("it is written");
    let mut command = leaky
        .folder
        .memlog(&["script", script.to_str().expect("a name"), log]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    drop(child.stdout.take());
    assert!(child.wait().expect("it ends").success());
}
