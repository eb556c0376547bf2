//! Logs that were made by hand, so that all is known: names that an enemy chose, stacks of a
//! thousand frames, logs with nothing in them. Each form is read by somebody else's reader or
//! by a plain one, and has the sums that were put in.

use std::fs::{self, File};
use std::process::Command;

use memlog_format::meta::{CodeName, Record};
use memlog_format::table::StackId;
use serde_json::Value;

use super::{Case, Held, list, of_json, of_speedscope, python, sum, text, whole};
use crate::ask;
use crate::recipe::{PROGRAM, Recipe};
use crate::sites::{Folder, said};

/// Code of no file, which has names in the log.
const MADE: u64 = 0x1000_0000;
const NAMES: [&[u8]; 17] = [
    b"plain",
    b"a;b",
    b"quote\"s 'and' \\ back",
    b"new\nline",
    b"nul\0byte",
    b"bad\xff\xfeutf8",
    b"tab\there",
    b"<b>&amp; 100%",
    b"</script><img src=x>",
    b"sp ace",
    b"",
    b"(1) fn=x",
    b"\x1b[31mred",
    b"%s {0} $x `y`",
    b"'); DROP TABLE sites; --",
    "h\u{202e}idden \u{1F600}".as_bytes(),
    b"]]> -->",
];

/// What was put into a log.
#[derive(Default)]
struct Truth {
    allocated: (u64, u64),
    peak: (u64, u64),
    end: (u64, u64),
    /// Stacks that hold something at the peak.
    stacks: usize,
    /// Of the frames of one.
    depth: usize,
}

fn case(name: &str, recipe: &Recipe) -> Case {
    let folder = Folder::new(&format!("answers-exports-made-{name}"));
    let log = folder.path("made.memlog");
    fs::write(&log, recipe.log()).expect("written");
    let stats = ask(&folder, &log, "stats");
    Case { folder, log, stats }
}

/// Three blocks by each name, of which one goes.
fn hostile() -> (Recipe, Truth) {
    let mut recipe = Recipe::new(b"/nowhere/lib\"x'y\n;.so");
    let name = |recipe: &mut Recipe, address: u64, name: &'static [u8]| {
        recipe.say(Record::CodeName(CodeName {
            // What a return address is looked up by.
            address: address - 1,
            line: 3,
            file: b"f;i'l\"e\n\xff.c",
            name,
        }));
    };
    name(&mut recipe, MADE + 0x10, b"main");
    let main = recipe.stack(StackId::COMPLETE, &[MADE + 0x10]);
    let (mut truth, mut blocks) = (Truth::default(), Vec::new());
    for (at, &own) in (0..).zip(&NAMES) {
        let address = MADE + 0x100 * (at + 1);
        name(&mut recipe, address, own);
        let stack = recipe.stack(main, &[address]);
        let size = 1000 + at;
        blocks.push(recipe.allocate(stack, 3, size));
        recipe.time(10 * at + 1);
        truth.peak = (truth.peak.0 + 3 * size, truth.peak.1 + 3);
        truth.end = (truth.end.0 + 2 * size, truth.end.1 + 2);
    }
    recipe.read_rss(5000);
    blocks
        .iter()
        .for_each(|blocks| recipe.release(&blocks[..1]));
    recipe.time(400);
    truth.allocated = truth.peak;
    (truth.stacks, truth.depth) = (NAMES.len(), 2);
    (recipe, truth)
}

/// A thousand frames, of as many functions or of a few that call each other.
fn deep(functions: u64) -> (Recipe, Truth) {
    let mut recipe = Recipe::new(b"/nowhere/lib.so");
    let frames: Vec<u64> = (0..1000)
        .map(|at| PROGRAM + 0x20 * (at % functions + 1))
        .collect();
    let stack = recipe.stack(StackId::COMPLETE, &frames);
    let blocks = recipe.allocate(stack, 5, 777);
    recipe.time(5);
    recipe.read_rss(4000);
    recipe.release(&blocks[..2]);
    recipe.time(9);
    let truth = Truth {
        allocated: (5 * 777, 5),
        peak: (5 * 777, 5),
        end: (3 * 777, 3),
        stacks: 1,
        depth: 1000,
    };
    (recipe, truth)
}

#[test]
fn each_form_has_what_was_put_in() {
    let mut nothing = Recipe::new(b"/nowhere/lib.so");
    nothing.time(7);
    let mut stackless = Recipe::new(b"/nowhere/lib.so");
    let blocks = stackless.allocate(StackId::COMPLETE, 4, 100);
    stackless.release(&blocks);
    let gone = Truth {
        allocated: (400, 4),
        peak: (400, 4),
        stacks: 1,
        ..Truth::default()
    };
    for (name, (recipe, truth)) in [
        ("names", hostile()),
        ("deep", deep(1000)),
        ("recursive", deep(3)),
        ("nothing", (nothing, Truth::default())),
        ("stackless", (stackless, gone)),
    ] {
        let case = case(name, &recipe);
        for options in [&[][..], &["--where", "size >= 0"]] {
            stacks(&case, &truth, options);
            lives(&case, &truth, options);
            traces(&case, &truth, options);
            database(&case, &truth, options);
        }
    }
}

fn is_held(held: &Held, truth: &Truth, form: &str) {
    assert_eq!(
        (sum(held), held.len()),
        (truth.peak, truth.stacks),
        "{form}"
    );
    if truth.depth > 0 {
        assert!(
            held.keys().all(|stack| stack.len() == truth.depth),
            "{form}"
        );
    }
    let is_clean = |name: &String| !name.contains(|c: char| c.is_control());
    assert!(held.keys().flatten().all(is_clean), "{form}: {held:?}");
}

/// The forms that have stacks and sums.
fn stacks(case: &Case, truth: &Truth, options: &[&str]) {
    let options = [&["--at", "heap-peak"], options].concat();
    if truth.stacks > 0 {
        let speedscope = of_speedscope(&case.json("speedscope", &options));
        is_held(&speedscope, truth, "speedscope");
        let json = of_json(&case.json("json", &options), ["heap-peak", ""]);
        assert_eq!(json.len(), truth.stacks);
        let folded = fs::read_to_string(case.export("folded", &options)).expect("UTF-8");
        let mut bytes = 0;
        for line in folded.lines() {
            let (stack, value) = line.rsplit_once(' ').expect("a stack and a number");
            assert_eq!(stack.split(';').count(), truth.depth.max(1), "{line}");
            bytes += value.parse::<u64>().expect("a number");
        }
        assert_eq!(bytes, truth.peak.0);
    }
    let rows = fs::read_to_string(case.export("csv", &options)).expect("UTF-8");
    assert_eq!(rows.lines().count(), 1 + truth.stacks, "{rows}");
    let graph = case.json("gprof2dot", &options);
    let costs = list(&graph["events"])
        .iter()
        .map(|one| whole(&one["cost"][0]));
    assert_eq!(costs.sum::<u64>(), truth.peak.0);
}

/// massif's and DHAT's forms, and heaptrack's, which its own program reads.
fn lives(case: &Case, truth: &Truth, options: &[&str]) {
    let massif = fs::read_to_string(case.export("massif", options)).expect("UTF-8");
    let heap = massif
        .lines()
        .filter_map(|line| line.strip_prefix("mem_heap_B="));
    let most = heap
        .map(|bytes| bytes.parse::<u64>().expect("a number"))
        .max();
    assert_eq!(most.unwrap_or(0), truth.peak.0);
    let dhat = case.json("dhat", options);
    let of = |key: &str| {
        list(&dhat["pps"])
            .iter()
            .map(|place| whole(&place[key]))
            .sum::<u64>()
    };
    assert_eq!((of("tb"), of("tbk")), truth.allocated);
    assert_eq!((of("gb"), of("gbk")), truth.peak);
    assert_eq!((of("eb"), of("ebk")), truth.end);
    let form = case.export("heaptrack", options);
    match Command::new("heaptrack_print").arg(form).output() {
        Err(_) => println!("SKIPPED exports: there is no heaptrack_print"),
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stdout);
            let calls = format!("calls to allocation functions: {}", truth.allocated.1);
            assert!(output.status.success(), "{}", said(&output));
            assert!(told.contains(&calls), "{calls}: {told}");
        }
    }
}

/// The forms of browsers.
fn traces(case: &Case, truth: &Truth, options: &[&str]) {
    let firefox = case.json("firefox", options);
    let mut live = 0;
    for thread in list(&firefox["threads"]) {
        let weights = thread["nativeAllocations"]["weight"].as_array();
        let weights = weights.into_iter().flatten();
        live += weights
            .map(|weight| weight.as_i64().expect("bytes"))
            .sum::<i64>();
    }
    assert_eq!(live, truth.end.0 as i64);
    let reader = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/answers/exports/read_perfetto.py"
    );
    let trace = case.export("perfetto", options);
    let output = Command::new(python()).arg(reader).arg(trace).output();
    let output = output.expect("python3 runs");
    if output.status.code() == Some(77) {
        println!(
            "SKIPPED exports: {}",
            String::from_utf8_lossy(&output.stdout).trim()
        );
        return;
    }
    assert!(output.status.success(), "{}", said(&output));
    let trace: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let rows = list(&trace["dumps"]).last().map(|dump| list(&dump["rows"]));
    let rows = rows.unwrap_or_default();
    let of = |at: usize| rows.iter().map(|row| whole(&row[at])).sum::<u64>();
    assert_eq!((of(1), of(2)), truth.allocated);
    assert_eq!((of(1) - of(3), of(2) - of(4)), truth.end);
    assert!(
        rows.iter()
            .all(|row| list(&row[0]).len() == truth.depth.max(1)),
        "{rows:?}"
    );
    // A picture and a page are no program of whoever chose the names.
    for file in ["made.html", "made.svg"] {
        let log = case.log.to_str().expect("a name");
        let words = ["flamegraph", "-q", "--at", "heap-peak", "-o", file, log];
        case.folder.says(&[&words[..], options].concat());
        let drawn = fs::read_to_string(case.folder.path(file)).expect("UTF-8");
        assert!(!drawn.contains("</script><img"), "{file}: a name is markup");
    }
}

/// The tables of SQLite.
fn database(case: &Case, truth: &Truth, options: &[&str]) {
    let statements = case.export("sqlite", options);
    let database = case.folder.path("made.db");
    let _ = fs::remove_file(&database);
    let mut command = Command::new("sqlite3");
    command.args(["-bail", "-batch"]).arg(&database);
    let Ok(output) = command
        .stdin(File::open(statements).expect("statements"))
        .output()
    else {
        println!("SKIPPED exports: there is no sqlite3");
        return;
    };
    assert!(
        output.status.success() && said(&output).is_empty(),
        "{}",
        said(&output)
    );
    let query = "SELECT ifnull(sum(allocated_bytes), 0) a, ifnull(sum(allocations), 0) b,
        ifnull(sum(heap_peak_bytes), 0) c, ifnull(sum(end_bytes), 0) d, ifnull(sum(end_blocks), 0) e,
        (SELECT count(*) FROM stacks) f FROM sites";
    let output = Command::new("sqlite3")
        .args(["-json"])
        .arg(&database)
        .arg(query)
        .output();
    let row: Value = serde_json::from_slice(&output.expect("sqlite3").stdout).expect("JSON");
    let of = |key: &str| whole(&row[0][key]);
    assert_eq!((of("a"), of("b")), truth.allocated);
    assert_eq!(
        (of("c"), of("d"), of("e")),
        (truth.peak.0, truth.end.0, truth.end.1)
    );
    let frames = truth.stacks * truth.depth.max(1);
    assert_eq!(of("f"), frames as u64);
    assert!(text(&case.stats["executable"]).starts_with('/'));
}
