//! Who asked, on stacks made by hand.

mod allocators;

use std::collections::HashMap;

use super::{List, Sites, Stacks};
use crate::{Held, Name};

/// Stacks as lists of labels, the innermost first.
struct GivenStacks {
    names: Vec<Name>,
    stacks: Vec<Vec<u32>>,
}

impl Stacks for GivenStacks {
    type Cursor = (u32, usize);

    fn start(&mut self, stack: u32) -> (u32, usize) {
        (stack, 0)
    }

    fn step(&mut self, (stack, at): (u32, usize)) -> Option<(u32, (u32, usize))> {
        let label = *self.stacks[stack as usize].get(at)?;
        Some((label, (stack, at + 1)))
    }

    fn name(&self, label: u32) -> &Name {
        &self.names[label as usize]
    }
}

/// `function@file` separated by ` < `, the innermost first, and its bytes.
fn given(stacks: &[(&str, u64)]) -> (GivenStacks, Vec<(u32, Held)>) {
    let mut given = GivenStacks {
        names: Vec::new(),
        stacks: Vec::new(),
    };
    let mut held = Vec::new();
    for (number, &(text, bytes)) in stacks.iter().enumerate() {
        let mut labels = Vec::new();
        for text in text.split(" < ").filter(|text| !text.is_empty()) {
            let (function, file) = text.split_once('@').unwrap_or((text, ""));
            let name = Name {
                function: function.into(),
                location: (!file.is_empty()).then(|| file.into()),
                module: Some(
                    if function.starts_with("libc_") || function.starts_with("__GI_") {
                        "libc.so.6"
                    } else {
                        "prog"
                    }
                    .into(),
                ),
            };
            let known = given.names.iter().position(|known| *known == name);
            labels.push(known.unwrap_or(given.names.len()) as u32);
            if known.is_none() {
                given.names.push(name);
            }
        }
        given.stacks.push(labels);
        held.push((number as u32, Held { bytes, blocks: 1 }));
    }
    (given, held)
}

fn sites(given: &mut GivenStacks, held: &[(u32, Held)]) -> Sites {
    let list = List {
        stacks: held.to_vec(),
        weight: |held| held.bytes,
    };
    let [sites] = Sites::of(&[list], None, given);
    sites
}

/// The places with their bytes, and what was passed over.
fn asked(stacks: &[(&str, u64)]) -> (Vec<(String, u64)>, Vec<Vec<String>>) {
    let (mut given, held) = given(stacks);
    let sites = sites(&mut given, &held);
    let name = |label: u32| given.names[label as usize].function.clone();
    let list = sites
        .list
        .iter()
        .map(|site| (name(site.label), site.held.bytes));
    let through = sites.through.iter().map(|step| {
        let names = step.iter().map(|one| one.function.clone());
        names.collect()
    });
    (list.collect(), through.collect())
}

fn places(stacks: &[(&str, u64)]) -> Vec<(String, u64)> {
    asked(stacks).0
}

fn list(places: &[(&str, u64)]) -> Vec<(String, u64)> {
    places
        .iter()
        .map(|&(name, bytes)| (name.to_owned(), bytes))
        .collect()
}

/// Python's arenas: of functions that no name tells of, inside an allocator.
#[test]
fn what_an_allocator_maps_is_for_who_called_it() {
    let arena = "ArenaMmap@o.c:1 < new_arena@o.c:2 < _PyObject_Malloc@o.c:3";
    let (mut given, stacks) = given(&[
        (&format!("{arena} < list_resize@l.c:1 < main@m.c:1"), 8),
        (&format!("{arena} < PyUnicode_New@u.c:1 < main@m.c:2"), 4),
        ("grid@g.c:1 < main@m.c:3", 2),
    ]);
    let list = List {
        stacks,
        weight: |held| held.bytes,
    };
    let [sites] = Sites::of(&[list], None, &mut given);
    let name = |label: u32| given.names[label as usize].function.as_str();
    let found: Vec<_> = sites
        .list
        .iter()
        .map(|site| (name(site.label), site.held.bytes))
        .collect();
    let expected = [("list_resize", 8), ("PyUnicode_New", 4), ("grid", 2)];
    assert_eq!(found, expected);
    let through = sites.through.iter().flatten();
    let through: Vec<_> = through.map(|one| one.function.as_str()).collect();
    assert_eq!(through, ["ArenaMmap", "new_arena", "_PyObject_Malloc"]);
}

/// A place of another file than the program's says for whom most of it was.
#[test]
fn a_librarys_place_has_the_programs_own() {
    let (mut given, stacks) = given(&[
        ("libc_text < load@l.c:1 < main@m.c:1", 8),
        ("libc_text < save@l.c:2 < main@m.c:2", 90),
        ("libc_text < main@m.c:3", 1),
        ("libc_name < load@l.c:1 < main@m.c:1", 10),
        ("libc_name < main@m.c:3", 90),
        ("grid@g.c:1 < load@l.c:1", 2),
    ]);
    let list = List {
        stacks,
        weight: |held| held.bytes,
    };
    let [sites] = Sites::of(&[list], Some("prog"), &mut given);
    let name = |label: u32| given.names[label as usize].function.as_str();
    let found = sites.list.iter();
    let found: Vec<_> = found
        .map(|site| (name(site.label), site.caller.map(name)))
        .collect();
    let expected = [
        ("libc_name", None),
        ("libc_text", Some("save")),
        ("grid", None),
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_library_asks_for_its_caller() {
    const NEW: &str = "std::__new_allocator<A>::allocate(unsigned long)@/usr/include/c++/12/a.h:1";
    const PUSH: &str = "std::vector<my::A>::push_back(my::A)@/usr/include/c++/12/b.h:2";
    const SORT: &str = "void std::__sort<my::A*, my::Less>(my::A*)@/usr/include/c++/12/c.h:3";
    const RUN: &str =
        "std::thread::_State_impl<my::f()::{lambda()#1}>::_M_run()@/usr/include/c++/12/t:1";
    let found = places(&[
        (
            &format!("{NEW} < {PUSH} < my::fill(std::vector<my::A>&)@a.cc:1 < main@a.cc:9"),
            8,
        ),
        // Called by the library, the user's own.
        (
            &format!("my::Less::operator()(my::A)@a.cc:2 < {SORT} < main@a.cc:10"),
            4,
        ),
        (
            &format!(
                "{NEW} < std::hash<my::A>::operator()(my::A) const@my.h:3 < {PUSH} < main@a.cc:9"
            ),
            2,
        ),
        (
            &format!(
                "{NEW} < my::f()::{{lambda()#1}}::operator()()@a.cc:4 < {RUN} < start_thread < clone3"
            ),
            1,
        ),
    ]);
    let expected = [
        ("my::fill(std::vector<my::A>&)", 8),
        ("my::Less::operator()(my::A)", 4),
        ("std::hash<my::A>::operator()(my::A) const", 2),
        ("my::f()::{lambda()#1}::operator()()", 1),
    ];
    assert_eq!(found, list(&expected));
}

#[test]
fn a_stack_of_a_library_alone_keeps_its_innermost_place() {
    let found = places(&[
        (
            "std::string::_M_create(unsigned long) < std::f() < libc_init < _start",
            4,
        ),
        (
            "alloc::vec::Vec<T>::push < std::rt::init < std::rt::lang_start_internal < main < _start",
            2,
        ),
        ("std::g() < (stack cut: too deep)", 1),
    ]);
    let expected = [
        ("std::string::_M_create(unsigned long)", 4),
        ("alloc::vec::Vec<T>::push", 2),
        ("std::g()", 1),
    ];
    assert_eq!(found, list(&expected));
    // A C library that asks by itself says what for.
    assert_eq!(
        places(&[("libc_getline < main", 5)]),
        list(&[("libc_getline", 5)])
    );
    // Nothing is known: nothing is made up, and nothing is lost.
    assert_eq!(places(&[("(no stack)", 5)]), list(&[("(no stack)", 5)]));
}

/// Both are told as `f(A)`.
/// What the C library only hands out is asked for by who gets it, also where it
/// was the C library that passed it on; by nobody else, it is its own.
#[test]
fn what_is_handed_out_is_the_callers() {
    let stacks = [
        ("__GI___strdup < copy_name < main", 5),
        ("__GI_calloc < libc_dlopen < load < main", 4),
        ("__GI___strdup < libc_init < _start", 3),
        ("strdup < mine < main", 2),
    ];
    let (places, through) = asked(&stacks);
    let expected = [
        ("copy_name", 5),
        ("load", 4),
        ("__GI___strdup", 3),
        ("strdup", 2),
    ];
    assert_eq!(places, list(&expected));
    assert_eq!(through, [["strdup", "calloc"]]);
}

#[test]
fn names_that_look_alike_stay_apart() {
    let found = places(&[("int f(A) < main", 5), ("char f(A) < main", 3)]);
    assert_eq!(found, list(&[("int f(A)", 5), ("char f(A)", 3)]));
}

#[test]
fn a_pair_of_wrappers_is_passed_over() {
    let (found, through) = asked(&[
        ("my_malloc < heap_alloc < parse < main", 40),
        ("my_malloc < heap_alloc < read_line < main", 15),
        ("my_realloc < grow < main", 35),
        ("my_realloc < read_line < main", 5),
        ("other < main", 5),
    ]);
    let expected = [("parse", 40), ("grow", 35), ("read_line", 20), ("other", 5)];
    assert_eq!(found, list(&expected));
    assert_eq!(
        through,
        [vec!["my_malloc", "my_realloc"], vec!["heap_alloc"]]
    );
}

#[test]
fn a_wrapper_without_a_name_must_be_divided() {
    let divided = [
        ("get < a < main", 40),
        ("get < b < main", 45),
        ("c < main", 15),
    ];
    assert_eq!(places(&divided), list(&[("b", 45), ("a", 40), ("c", 15)]));
    let many = |name| ["a", "b", "c", "d"].map(|caller| format!("{name} < {caller} < main"));
    let stacks: Vec<String> = many("get").into_iter().chain(many("set")).collect();
    let stacks: Vec<(&str, u64)> = stacks.iter().map(|stack| (stack.as_str(), 10)).collect();
    assert_eq!(
        places(&stacks),
        list(&[("a", 20), ("b", 20), ("c", 20), ("d", 20)])
    );
}

#[test]
fn the_answer_is_not_passed_over() {
    // One site, called from one place, whatever its name.
    assert_eq!(places(&[("grid < main", 99), ("x < main", 1)])[0].0, "grid");
    assert_eq!(
        places(&[("alloc_grid < main", 99), ("x < main", 1)])[0].0,
        "alloc_grid"
    );
    // From another line of the same function.
    let lines = [("grid < main@a.c:1", 50), ("grid < main@a.c:2", 50)];
    assert_eq!(places(&lines), list(&[("grid", 100)]));
    // One caller has nearly all of it.
    let one = [("grid < a < main", 95), ("grid < b < main", 5)];
    assert_eq!(places(&one), list(&[("grid", 100)]));
    // Two sites, each with few callers.
    let two = [
        ("node < a < main", 40),
        ("edge < a < main", 40),
        ("edge < b < main", 20),
    ];
    assert_eq!(places(&two), list(&[("edge", 60), ("node", 40)]));
    // It calls itself.
    let itself = [
        ("tree_alloc < tree_alloc < main", 60),
        ("tree_alloc < main", 40),
    ];
    assert_eq!(places(&itself), list(&[("tree_alloc", 100)]));
    // Called by nobody.
    assert_eq!(places(&[("alloc", 7)]), list(&[("alloc", 7)]));
}

#[test]
fn an_allocator_by_name_serves_several() {
    // However little it is.
    let (found, through) = asked(&[("xmalloc < a < main", 5), ("grid < main", 95)]);
    assert_eq!(found, list(&[("grid", 95), ("a", 5)]));
    assert_eq!(through, [vec!["xmalloc"]]);
    // One caller has nearly all of it.
    for name in ["alloc_table", "findAllOccurrences", "GlobalLock"] {
        let (a, b) = (format!("{name} < a < main"), format!("{name} < b < main"));
        assert_eq!(places(&[(&a, 95), (&b, 5)]), list(&[(name, 100)]));
    }
    // Of a chain of such the outermost is left.
    let chain = [
        ("mem_alloc < page_alloc < fetch < main", 97),
        ("mem_alloc < other < main", 3),
    ];
    assert_eq!(places(&chain), list(&[("page_alloc", 97), ("other", 3)]));
}

/// By bytes, and by calls of which each has ten bytes.
fn by_both(stacks: &[(&str, u64, u64)]) -> [Vec<(String, u64)>; 2] {
    let texts: Vec<_> = stacks.iter().map(|&(text, ..)| (text, 0)).collect();
    let (mut given, _) = given(&texts);
    let numbered = (0..).zip(stacks);
    let held = numbered.map(|(stack, &(_, bytes, blocks))| (stack, Held { bytes, blocks }));
    let stacks: Vec<_> = held.collect();
    let bytes = List {
        stacks: stacks.clone(),
        weight: |held| held.bytes,
    };
    let calls = List {
        stacks,
        weight: |held| held.blocks,
    };
    let lists = Sites::of(&[bytes, calls], None, &mut given);
    lists.map(|sites| {
        let name = |label: u32| given.names[label as usize].function.clone();
        let places = sites.list.iter();
        let mut places: Vec<_> = places
            .map(|site| (name(site.label), site.held.bytes))
            .collect();
        places.sort();
        places
    })
}

#[test]
fn lists_pass_over_the_same() {
    let apart = [
        ("get < a < main", 60, 1),
        ("get < b < main", 40, 1),
        ("c < main", 1, 90),
        ("d < main", 1, 90),
    ];
    let [bytes, calls] = by_both(&apart);
    assert_eq!(bytes, list(&[("a", 60), ("b", 40), ("c", 1), ("d", 1)]));
    assert_eq!(bytes, calls);
    // An allocator divided by bytes, of whose calls one caller has nearly all.
    let jq = [
        ("mem_alloc < array < main", 45, 10),
        ("mem_alloc < object < main", 35, 9),
        ("mem_alloc < string < main", 20, 81),
    ];
    let [bytes, calls] = by_both(&jq);
    assert_eq!(
        bytes,
        list(&[("array", 45), ("object", 35), ("string", 20)])
    );
    assert_eq!(bytes, calls);
    // Divided by calls alone, and the answer by bytes.
    for name in ["alloc_all", "get"] {
        let (a, b) = (format!("{name} < a < main"), format!("{name} < b < main"));
        let [bytes, calls] = by_both(&[(&a, 95, 1), (&b, 5, 1)]);
        assert_eq!(bytes, list(&[(name, 100)]));
        assert_eq!(bytes, calls);
    }
}

#[test]
fn the_program_is_no_library() {
    for program in ["ld-tool", "libc.so.6", "libstdc++.so.6"] {
        let (mut given, held) = given(&[("make < run < main", 5)]);
        for name in &mut given.names {
            name.module = Some(program.into());
        }
        let list = List {
            stacks: held,
            weight: |held| held.bytes,
        };
        let [sites] = Sites::of(&[list], Some(program), &mut given);
        let given = &given.names[sites.list[0].label as usize];
        assert_eq!(
            (given.function.as_str(), sites.past_library.bytes),
            ("make", 0)
        );
    }
}

/// As it is said, without numbers, steps or shares: by the wrappers found.
fn naive(given: &GivenStacks, held: &[(u32, Held)], passed: &[String]) -> HashMap<u32, u64> {
    let mut sums = HashMap::new();
    for (stack, one) in held {
        let labels = &given.stacks[*stack as usize];
        let is_std = |label: &&u32| given.names[**label as usize].function.starts_with("std::");
        let is_user = |label: &&u32| !is_std(label);
        let is_passed = |name: &String| passed.contains(name) || is_malloc(name, given, held);
        let is_left =
            |label: &&u32| is_user(label) && !is_passed(&given.names[**label as usize].function);
        let found = labels.iter().find(is_left);
        let found = found
            .or_else(|| labels.iter().find(is_user))
            .or(labels.first());
        if let Some(label) = found {
            *sums.entry(*label).or_insert(0) += one.bytes;
        }
    }
    sums
}

/// Whether something else calls this in any stack, libraries left out.
fn is_malloc(name: &str, given: &GivenStacks, held: &[(u32, Held)]) -> bool {
    let is_called = |(stack, held): &(u32, Held)| {
        let names = given.stacks[*stack as usize].iter();
        let names = names.map(|label| given.names[*label as usize].function.as_str());
        let mut names = names.filter(|name| !name.starts_with("std::"));
        let is_there = names.any(|one| one == name);
        held.bytes > 0 && is_there && names.any(|one| one != name)
    };
    name.starts_with('x') && held.iter().any(is_called)
}

#[test]
fn nothing_is_lost_and_the_twin_agrees() {
    let names = [
        "std::f()", "std::g()", "xmalloc", "xrealloc", "get", "a", "b", "main",
    ];
    let mut state = 1u64;
    let mut below = |limit: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % limit
    };
    let mut were_passed = 0;
    for _ in 0..3000 {
        let count = below(12);
        let mut stack = || {
            let deep = 1 + below(5);
            let names: Vec<&str> = (0..deep).map(|_| names[below(8) as usize]).collect();
            (names.join(" < "), below(100))
        };
        let texts: Vec<(String, u64)> = (0..count).map(|_| stack()).collect();
        let borrowed = texts.iter().map(|(text, bytes)| (text.as_str(), *bytes));
        let (mut given, held) = given(&borrowed.collect::<Vec<_>>());
        let sites = sites(&mut given, &held);
        let bytes: u64 = texts.iter().map(|(_, bytes)| bytes).sum();
        let blocks = texts.len() as u64;
        assert_eq!(sites.total, Held { bytes, blocks });
        let list = sites.list.iter();
        let found: HashMap<u32, u64> = list.map(|site| (site.label, site.held.bytes)).collect();
        assert_eq!(found.values().sum::<u64>(), bytes);
        were_passed += sites.passed.len();
        assert_eq!(found, naive(&given, &held, &sites.passed), "{texts:?}");
    }
    assert!(were_passed > 100, "{were_passed}");
}
