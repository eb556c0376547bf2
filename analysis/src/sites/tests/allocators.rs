//! Programs' own allocators, whose functions have no names or only some have:
//! the shapes of real programs' stacks.

use super::{asked, given, list, places, sites};

/// sqlite3: what sqlite3Malloc calls is of it, and the page cache's one place is
/// the answer, though two places of one function call for it.
#[test]
fn what_malloc_by_another_name_is_made_of() {
    let cache = "db+0xa7504 < sqlite3Malloc < db+0xb786c < db+0xb8235 < db+0x38b54";
    let insert = "sqlite3BtreeInsert < sqlite3VdbeExec < main";
    let (found, through) = asked(&[
        (&format!("{cache} < db+0x3b50b < {insert}"), 45),
        (&format!("{cache} < db+0x3a203 < {insert}"), 44),
        ("db+0xa7504 < sqlite3Malloc < db+0xb786c < open < main", 1),
        ("db+0xa74b9 < sqlite3Realloc < sorter < main", 10),
    ]);
    assert_eq!(found, list(&[("db+0xb786c", 90), ("sorter", 10)]));
    let through: Vec<_> = through.into_iter().flatten().collect();
    let expected = [
        "db+0xa7504",
        "db+0xa74b9",
        "sqlite3Malloc",
        "sqlite3Realloc",
    ];
    assert_eq!(through, expected);
    // What main calls may be named so for what it tests.
    let test = [("grid < test_malloc < main", 9), ("grid < main", 1)];
    assert_eq!(places(&test), list(&[("grid", 10)]));
    // What malloc seldom calls is no part of it.
    let seldom = [
        ("xmalloc < a < main", 90),
        ("grid < collect < xmalloc < b < main", 10),
    ];
    assert_eq!(places(&seldom), list(&[("a", 90), ("grid", 10)]));
}

/// php's mappings: functions that one path names as an allocator's are so on
/// every path, and so are places in their midst that others call.
#[test]
fn an_allocator_is_one_on_every_path() {
    let map = "php+0x2d3b58 < php+0x2d3d02";
    let get = format!("{map} < php+0x2d4c28 < php+0x2d5012");
    let (found, _) = asked(&[
        (
            &format!("{get} < zend_hash_init < php+0x3519d8 < execute < main"),
            94,
        ),
        (
            &format!("{get} < _safe_malloc < php+0x267c50 < execute < main"),
            22,
        ),
        (&format!("{get} < _zend_new_array < execute < main"), 14),
        (&format!("{get} < php+0x32c450 < execute < main"), 8),
        (
            &format!("{map} < php+0x2d5163 < php+0x311b80 < lookup < execute < main"),
            20,
        ),
        (
            &format!("{map} < php+0x2d4c28 < php+0x2d4fbb < php+0x311b80 < lookup < main"),
            2,
        ),
    ]);
    let expected = [
        ("zend_hash_init", 94),
        ("php+0x267c50", 22),
        ("php+0x311b80", 22),
        ("_zend_new_array", 14),
        ("php+0x32c450", 8),
    ];
    assert_eq!(found, list(&expected));
}

/// git's xmalloc, xrealloc and xcalloc: one of them is known by its callers.
#[test]
fn an_allocator_of_a_stripped_program_has_several_places() {
    let family = |far: u64| -> Vec<(String, u64)> {
        let git = |offset: u64| format!("git+{offset:#x}");
        let [malloc, calloc, array] = [0x281bdc, 0x281c99, 0x281f2b].map(git);
        let callers = [0x1000, 0x2000, 0x3000, 0x4000].map(|at| git(0x281000 + at * far));
        let mut stacks = Vec::new();
        for (at, caller) in callers.iter().enumerate() {
            let weight = 30 - at as u64;
            stacks.push((format!("{malloc} < {caller} < main"), weight));
            stacks.push((format!("{calloc} < {caller} < main"), 4));
        }
        stacks.push((format!("{array} < {} < main", callers[0]), 5));
        stacks
    };
    let found = |stacks: &[(String, u64)]| {
        let stacks = stacks
            .iter()
            .map(|(stack, weight)| (stack.as_str(), *weight));
        places(&stacks.collect::<Vec<_>>())
    };
    let expected = [
        ("git+0x291000", 39),
        ("git+0x2a1000", 33),
        ("git+0x2b1000", 32),
        ("git+0x2c1000", 31),
    ];
    assert_eq!(found(&family(0x10)), list(&expected));
    // Of a small program all is near to all: who calls from there may hold it.
    let near = [
        "t+0x1100 < t+0x1400 < t+0x1010",
        "t+0x1100 < t+0x1500 < t+0x1010",
    ];
    let near = [(near[0], 45), (near[1], 45), ("t+0x1180 < t+0x1020", 10)];
    let expected = [("t+0x1400", 45), ("t+0x1500", 45), ("t+0x1180", 10)];
    assert_eq!(places(&near), list(&expected));
}

/// ImageMagick: nearly all is for one caller of the allocator, and the cache
/// behind that is for different ones.
#[test]
fn an_allocator_whose_callers_are_some_steps_away() {
    let cache = "AcquireAligned < im+0x50b75 < im+0x309a6 < im+0x53c4b";
    let rest = ("AcquireAligned < GetImage < main", 1);
    let gradient = format!("{cache} < gradient+0x1411 < ReadImage < main");
    let clone = format!("{cache} < CloneImage < ResizeImage < main");
    let found = places(&[(&gradient, 57), (&clone, 42), rest]);
    let expected = [("gradient+0x1411", 57), ("CloneImage", 42), ("GetImage", 1)];
    assert_eq!(found, list(&expected));
    // For one caller alone it is the answer, whoever calls that.
    let grid = [
        ("grid < load < read < main", 60),
        ("grid < load < fetch < main", 40),
    ];
    assert_eq!(places(&grid), list(&[("grid", 100)]));
    // What is farther than a few steps is the program's work.
    let far = format!("{cache} < im+0x60000 < im+0x70000");
    let (one, other) = (format!("{far} < a < main"), format!("{far} < b < main"));
    let found = places(&[(&one, 57), (&other, 42), rest]);
    assert_eq!(found, list(&[("AcquireAligned", 100)]));
}

/// A place without a name says for whom it is.
#[test]
fn a_place_without_a_name_has_the_next_with_one() {
    let (mut given, held) = given(&[
        ("db+0xb786c < db+0xb8235 < insert < run < main", 90),
        ("db+0xb786c < db+0xb8235 < main", 10),
        ("db+0x100 < main", 5),
    ]);
    let sites = sites(&mut given, &held);
    let name = |label: u32| given.names[label as usize].function.as_str();
    let found = sites.list.iter();
    let found: Vec<_> = found
        .map(|site| (name(site.label), site.caller.map(name)))
        .collect();
    let expected = [("db+0xb786c", Some("insert")), ("db+0x100", None)];
    assert_eq!(found, expected);
}

/// php's mappings have no names, and its heap has.
#[test]
fn places_without_names_are_told_by_their_file() {
    let (mut given, held) = given(&[
        ("php+0x2d3b58 < main", 6 << 20),
        ("init < main", 2 << 20),
        ("php+0x100 < main", 1 << 20),
    ]);
    let mut part = |stacks: &[usize]| {
        let stacks: Vec<_> = stacks.iter().map(|&stack| held[stack]).collect();
        sites(&mut given, &stacks)
    };
    let (heap, mapped, named) = (part(&[1, 2]), part(&[0]), part(&[1]));
    let php = |percent| Some((percent, "php".to_owned()));
    assert_eq!(mapped.without_names(&given.names), php(100.0));
    let (percent, _) = heap.without_names(&given.names).expect("a third");
    assert!((33.0..34.0).contains(&percent), "{percent}");
    assert_eq!(named.without_names(&given.names), None);
}
