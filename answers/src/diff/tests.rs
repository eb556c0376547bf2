//! What one row is, case by case; `twin` compares made-up logs with a plain twin.

mod twin;

use memlog_analysis::{END, Held, Line, Name};

use super::side::{Module, Part, Side};
use super::{Change, diff};
use crate::keys::By;

/// A stack as it is written here, the outermost function first, and what it holds. The
/// last function is the one that it was for.
type Stack<'s> = (&'s str, u64, u64);

fn held(bytes: u64, blocks: u64) -> Held {
    Held { bytes, blocks }
}

/// Functions are `name`, `name@file:line` or `module+0x12`.
fn side(by: By, stacks: &[Stack]) -> Side {
    let mut side = Side {
        by,
        lines: vec![Line {
            label: u32::MAX,
            callers: END,
        }],
        names: Vec::new(),
        modules: Vec::new(),
        program: None,
        ends: Vec::new(),
        parts: Vec::new(),
        total: Held::default(),
    };
    for (text, bytes, blocks) in stacks {
        let (mut line, mut owner) = (END, None);
        for word in text.split_whitespace() {
            let (function, location) = match word.split_once('@') {
                Some((function, location)) => (function, Some(location.to_owned())),
                None => (word, None),
            };
            let name = Name {
                function: function.to_owned(),
                location,
                module: (!word.contains("+0x")).then(|| "program".to_owned()),
            };
            let known = side.names.iter().position(|known| *known == name);
            let label = known.unwrap_or(side.names.len()) as u32;
            if known.is_none() {
                side.names.push(name);
            }
            owner = Some(label);
            let next = Line {
                label,
                callers: line,
            };
            let known = side.lines.iter().position(|known| *known == next);
            line = known.unwrap_or(side.lines.len()) as u32;
            if known.is_none() {
                side.lines.push(next);
            }
        }
        side.ends.push(line);
        // Stacks of nothing were seen in the run and hold nothing now.
        if *blocks > 0 {
            side.parts.push(Part {
                line,
                owner,
                text: None,
                held: held(*bytes, *blocks),
            });
            side.total = side.total.plus(held(*bytes, *blocks));
        }
    }
    side
}

/// The rows by name: before and after, in bytes.
fn changes(by: By, before: &[Stack], after: &[Stack]) -> Vec<String> {
    let found = diff([&side(by, before), &side(by, after)]);
    let row = |row: &Change| {
        let [before, after] = row.held.map(|held| held.bytes);
        match &row.before_name {
            Some(name) => format!("{} ({name}): {before} {after}", row.name),
            None => format!("{}: {before} {after}", row.name),
        }
    };
    let mut rows: Vec<String> = found.rows.iter().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn what_did_not_change_has_no_row() {
    let stacks = [("main load take", 5, 1), ("main keep", 7, 2)];
    for by in [By::Function, By::Stack, By::Line, By::File, By::Module] {
        assert_eq!(changes(by, &stacks, &stacks), [""; 0], "{by:?}");
    }
    assert_eq!(changes(By::Stack, &[], &[]), [""; 0]);
}

#[test]
fn a_function_that_was_inlined_is_no_change() {
    let before = [
        ("main load take", 5, 1),
        ("main load keep", 4, 1),
        ("main store put", 1, 1),
    ];
    let after = [("main load", 9, 2), ("main store put", 1, 1)];
    for by in [By::Function, By::Stack, By::Line] {
        assert_eq!(changes(by, &before, &after), [""; 0], "{by:?}");
        assert_eq!(changes(by, &after, &before), [""; 0], "{by:?}");
    }
    // Into one that asks for memory itself.
    let before = [("main take", 5, 1), ("main", 4, 1)];
    assert_eq!(changes(By::Function, &before, &[("main", 9, 2)]), [""; 0]);
    // Amid the stack, and all the way up.
    let before = [("main run step load take", 5, 1)];
    for after in ["main take", "main run take", "main step load take", "main"] {
        assert_eq!(
            changes(By::Stack, &before, &[(after, 5, 1)]),
            [""; 0],
            "{after}"
        );
    }
}

#[test]
fn a_new_function_is_not_taken_for_one_that_was_inlined() {
    let before = [("main load take", 5, 1), ("main", 10, 1)];
    let after = [
        ("main load take", 5, 1),
        ("main", 9, 1),
        ("main plant", 80, 1),
    ];
    assert_eq!(
        changes(By::Function, &before, &after),
        ["main: 10 9", "plant: 0 80"]
    );
    // The other log has seen it ask for memory, called by main: it was not inlined there.
    let before = [("main take", 50, 1), ("main", 10, 1)];
    let after = [("main take", 0, 0), ("main", 60, 2)];
    assert_eq!(
        changes(By::Function, &before, &after),
        ["main: 10 60", "take: 50 0"]
    );
    // Called for something else, it may be in part.
    let after = [("main take other", 0, 0), ("main", 60, 2)];
    assert_eq!(changes(By::Function, &before, &after), [""; 0]);
    // Two names are two functions.
    assert_eq!(
        changes(By::Stack, &[("main foo1", 5, 1)], &[("main foo2", 6, 1)]),
        ["foo1 < main: 5 0", "foo2 < main: 0 6"]
    );
    // Each lacks a frame of the other; as much as that nothing else holds.
    let before = [("main run jumped take", 700, 3), ("main run", 5, 1)];
    let after = [("main run called take", 700, 3), ("main run", 6, 1)];
    for by in [By::Function, By::Stack] {
        assert_eq!(changes(by, &before, &after).len(), 1, "{by:?}");
    }
}

#[test]
fn growth_of_an_inlined_function_is_one_row() {
    let before = [("main load take", 5, 1), ("main load", 1, 1)];
    assert_eq!(
        changes(By::Function, &before, &[("main load", 106, 2)]),
        ["load: 6 106"]
    );
    assert_eq!(
        changes(By::Stack, &before, &[("main load", 106, 2)]),
        ["load < main (take < load < main): 6 106"]
    );
}

#[test]
fn recursion_is_one_stack_however_deep() {
    let before = [("main walk walk walk take", 5, 1), ("main walk take", 4, 1)];
    let after = [("main walk walk take", 10, 2)];
    assert_eq!(
        changes(By::Stack, &before, &after),
        ["take < walk < walk < main (take < walk < walk < walk < main): 9 10"]
    );
}

/// In one log a function passes on for several, in the other for one.
#[test]
fn who_only_passes_on_in_one_log_does_so_in_both() {
    let mut before = side(By::Function, &[("main load xmalloc", 5, 1)]);
    let after = side(By::Function, &[("main load xmalloc", 7, 1)]);
    let load = before.names.iter().position(|name| name.function == "load");
    before.parts[0].owner = load.map(|label| label as u32);
    for (sides, expected) in [([&before, &after], [5, 7]), ([&after, &before], [7, 5])] {
        let rows = diff(sides).rows;
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].name, "load");
        assert_eq!(rows[0].held.map(|held| held.bytes), expected);
    }
}

#[test]
fn lines_and_folders_may_have_moved() {
    let before = [
        ("main@/old/a.c:9 take@/old/a.c:20", 5, 1),
        ("main@/old/a.c:8 take@/old/a.c:25", 6, 1),
    ];
    let after = [
        ("main@/new/a.c:9 take@/new/a.c:23", 5, 1),
        ("main@/new/a.c:8 take@/new/a.c:28", 9, 1),
    ];
    assert_eq!(
        changes(By::Line, &before, &after),
        ["/new/a.c:28 (/old/a.c:25): 6 9"]
    );
    assert_eq!(
        changes(By::File, &before, &after),
        ["/new/a.c (/old/a.c): 11 14"]
    );
    // A new line does not take the place of another.
    let after = [
        ("main@/old/a.c:9 take@/old/a.c:20", 5, 1),
        ("main@/old/a.c:8 take@/old/a.c:22", 50, 1),
        ("main@/old/a.c:8 take@/old/a.c:25", 6, 1),
    ];
    assert_eq!(changes(By::Line, &before, &after), ["/old/a.c:22: 0 50"]);
}

#[test]
fn code_without_names_is_one_place_of_its_module() {
    let module = |build: u8| Module {
        path: "/lib/libx.so.1".into(),
        build_id: vec![build],
    };
    let mut before = side(
        By::Function,
        &[("main libx.so.1+0x10", 5, 1), ("main libx.so.1+0x20", 5, 1)],
    );
    let mut after = side(By::Function, &[("main libx.so.1+0x18", 11, 2)]);
    let rows = |before: &Side, after: &Side| {
        let mut rows: Vec<_> = diff([before, after]).rows;
        rows.sort_by(|one, other| one.name.cmp(&other.name));
        let rows = rows
            .into_iter()
            .map(|row| (row.name, row.held.map(|held| held.bytes)));
        rows.collect::<Vec<_>>()
    };
    (before.modules, after.modules) = (vec![module(1)], vec![module(2)]);
    let found = diff([&before, &after]).rows;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].held.map(|held| held.bytes), [10, 11]);
    assert_eq!(found[0].before_name.as_deref(), Some("unknown in libx.so"));
    // The same build: its addresses are places.
    after.modules = vec![module(1)];
    let expected = [("+0x10", [5, 0]), ("+0x18", [0, 11]), ("+0x20", [5, 0])];
    let expected = expected.map(|(offset, held)| (format!("libx.so.1{offset}"), held));
    assert_eq!(rows(&before, &after), expected);
}

#[test]
fn libraries_of_two_versions_are_one_and_two_at_once_are_two() {
    let of = |stacks: &[Stack], files: &[&str]| {
        let mut side = side(By::Module, stacks);
        for name in &mut side.names {
            let file = name
                .function
                .split_once('.')
                .map(|(_, file)| file.to_owned());
            name.module = file.or_else(|| name.module.take());
        }
        let modules = files.iter().map(|file| Module {
            path: format!("/lib/{file}"),
            build_id: Vec::new(),
        });
        side.modules = modules.collect();
        side.program = Some("program".into());
        side
    };
    let before = of(&[("main take.libx.so.1.2", 5, 1)], &["libx.so.1.2"]);
    let after = of(&[("main take.libx.so.1.3", 8, 1)], &["libx.so.1.3"]);
    let rows = diff([&before, &after]).rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].name, "libx.so.1.3");
    assert_eq!(rows[0].before_name.as_deref(), Some("libx.so.1.2"));
    let after = of(
        &[("main take.libx.so.1.3", 8, 1)],
        &["libx.so.1.3", "libx.so.2"],
    );
    assert_eq!(diff([&before, &after]).rows.len(), 2);
    // Programs of two names are one.
    let mut renamed = of(&[("main", 8, 1)], &[]);
    renamed.program = Some("program-2".into());
    renamed.names[0].module = Some("program-2".into());
    let rows = diff([&of(&[("main", 5, 1)], &[]), &renamed]).rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].name, "program-2");
}

#[test]
fn debug_information_may_not_know_parameters() {
    let inlined = [("main (anonymous_ns)::run load", 5, 1)];
    let whole = [("main (anonymous_ns)::run load(int)", 6, 1)];
    assert_eq!(
        changes(By::Function, &inlined, &whole),
        ["load(int) (load): 5 6"]
    );
    // Which of both it is nobody knows.
    let two = [("main run load(int)", 6, 1), ("main run load(char)", 6, 1)];
    assert_eq!(
        changes(By::Function, &[("main run load", 5, 1)], &two).len(),
        3
    );
    // One log has both: they are two.
    let both = [("main run load(int)", 6, 1), ("main run load", 5, 1)];
    assert_eq!(
        changes(By::Function, &[("main run load", 5, 1)], &both),
        ["load(int): 0 6"]
    );
}

#[test]
fn threads_are_the_same_by_name() {
    let of = |program: &str, threads: &[(&str, u64)]| {
        let mut side = side(By::Thread, &[]);
        side.program = Some(program.to_owned());
        let parts = threads.iter().map(|(text, bytes)| Part {
            text: Some((*text).to_owned()),
            held: held(*bytes, 1),
            ..Part::default()
        });
        side.parts = parts.collect();
        side
    };
    let before = of(
        "server_of_old_times",
        &[("server_of_old_t (7)", 5), ("io (8)", 3), ("9", 1)],
    );
    let after = of(
        "server",
        &[
            ("server (70)", 5),
            ("io (80)", 2),
            ("io (81)", 2),
            ("90", 1),
        ],
    );
    let rows = diff([&before, &after]).rows;
    assert_eq!(rows.len(), 1);
    assert_eq!(
        (rows[0].name.as_str(), rows[0].held),
        ("io", [held(3, 1), held(4, 2)])
    );
}
