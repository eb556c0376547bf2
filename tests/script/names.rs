//! All of bytehound's words are there, by their names.

use crate::Leaky;

/// What stands alone (BH-S01).
const GLOBALS: &[&str] = &[
    "allocations()",
    "maps()",
    "data()",
    "graph()",
    "println()",
    "println(1)",
    "println(\"{}\", 1)",
    "println(\"{}{}\", 1, 2)",
    "println(\"{}{}{}\", 1, 2, 3)",
    "info(\"a\")",
    "h(1)",
    "m(1)",
    "s(1)",
    "ms(1)",
    "us(1)",
    "h(0.5)",
    "m(0.5)",
    "s(0.5)",
    "ms(0.5)",
    "us(0.5)",
    "kb(1)",
    "mb(1)",
    "gb(1)",
    "argv()",
    "dirname(\"a/b\")",
    "mkdir_p(\"made/here\")",
    "chdir(\".\")",
];

/// What lists of both kinds have (BH-S02, BH-S05).
const OF_LISTS: &[&str] = &[
    "len()",
    "only_leaked()",
    "only_temporary()",
    "only_larger(1)",
    "only_larger_or_equal(1)",
    "only_smaller(1)",
    "only_smaller_or_equal(1)",
    "only_address_at_least(1)",
    "only_address_at_most(1)",
    "only_alive_at([s(1)])",
    "only_alive_for_at_least(s(1))",
    "only_alive_for_at_most(s(1))",
    "only_allocated_after_at_least(s(1))",
    "only_allocated_until_at_most(s(1))",
    "only_deallocated_after_at_least(s(1))",
    "only_deallocated_until_at_most(s(1))",
    "only_leaked_or_deallocated_after(s(1))",
    "only_backtrace_length_at_least(1)",
    "only_backtrace_length_at_most(1)",
    "only_matching_backtraces([1])",
    "only_not_matching_backtraces([1])",
    "only_matching_deallocation_backtraces([1])",
    "only_not_matching_deallocation_backtraces([1])",
    "only_passing_through_function(\"a\")",
    "only_not_passing_through_function(\"a\")",
    "only_passing_through_source(\"a\")",
    "only_not_passing_through_source(\"a\")",
    "only_jemalloc()",
    "only_not_jemalloc()",
];

/// What lists of allocations have besides.
const OF_ALLOCATIONS: &[&str] = &[
    "only_chain_leaked()",
    "only_first_size_larger(1)",
    "only_first_size_larger_or_equal(1)",
    "only_first_size_smaller(1)",
    "only_first_size_smaller_or_equal(1)",
    "only_last_size_larger(1)",
    "only_last_size_larger_or_equal(1)",
    "only_last_size_smaller(1)",
    "only_last_size_smaller_or_equal(1)",
    "only_chain_alive_for_at_least(s(1))",
    "only_chain_alive_for_at_most(s(1))",
    "only_chain_length_at_least(1)",
    "only_chain_length_at_most(1)",
    "only_position_in_chain_at_least(1)",
    "only_position_in_chain_at_most(1)",
    "only_group_allocations_at_least(1)",
    "only_group_allocations_at_most(1)",
    "only_group_interval_at_least(s(1))",
    "only_group_interval_at_most(s(1))",
    "only_group_leaked_allocations_at_least(1)",
    "only_group_leaked_allocations_at_least(0.5)",
    "only_group_leaked_allocations_at_most(1)",
    "only_group_leaked_allocations_at_most(0.5)",
    "only_group_max_total_usage_first_seen_at_least(s(1))",
    "only_group_max_total_usage_first_seen_at_most(s(1))",
    "only_from_maps(maps())",
    "only_ptmalloc_mmaped()",
    "only_ptmalloc_not_mmaped()",
    "only_ptmalloc_from_main_arena()",
    "only_ptmalloc_not_from_main_arena()",
    "only_with_marker(1)",
    "group_by_backtrace()",
    "save_as_flamegraph()",
    "save_as_flamegraph(\"a.svg\")",
    "save_as_graph()",
    "save_as_graph(\"a.svg\")",
];

/// What lists of maps have besides (BH-S05). What was resident of a mapping is not known:
/// the words are there, and say so.
const OF_MAPS: &[&str] = &[
    "only_bytehound()",
    "only_not_bytehound()",
    "only_readable()",
    "only_not_readable()",
    "only_writable()",
    "only_not_writable()",
    "only_executable()",
    "only_not_executable()",
];

/// Groups, single blocks and maps, stacks, logs (BH-S03, BH-S04).
const OF_OTHERS: &[&str] = &[
    "allocations().group_by_backtrace().len()",
    "allocations().group_by_backtrace()[0]",
    "allocations().group_by_backtrace().only_all_leaked()",
    "allocations().group_by_backtrace().only_count_at_least(2)",
    "allocations().group_by_backtrace().sort_by_size()",
    "allocations().group_by_backtrace().sort_by_size_ascending()",
    "allocations().group_by_backtrace().sort_by_size_descending()",
    "allocations().group_by_backtrace().sort_by_count()",
    "allocations().group_by_backtrace().sort_by_count_ascending()",
    "allocations().group_by_backtrace().sort_by_count_descending()",
    "allocations().group_by_backtrace().take(2)",
    "allocations().group_by_backtrace().ungroup()",
    "allocations()[0].allocated_at()",
    "allocations()[0].deallocated_at()",
    "allocations()[0].backtrace()",
    "allocations()[0].backtrace().strip()",
    "maps()[0].allocated_at()",
    "maps()[0].deallocated_at()",
    "maps()[0].backtrace()",
    "data().allocations()",
    "data().maps()",
    "data().runtime()",
    "s(1) + s(2)",
    "s(2) - s(1)",
    "s(1) * 2",
    "2 * s(1)",
    "s(1) * 0.5",
    "0.5 * s(1)",
    "allocations() + allocations()",
    "allocations() - allocations()",
    "allocations() & allocations()",
    "maps() + maps()",
    "maps() - maps()",
    "maps() & maps()",
];

/// What graphs of allocations have (BH-S06).
const OF_GRAPHS: &[&str] = &[
    "add(allocations())",
    "add(\"a\", allocations())",
    "add(allocations().group_by_backtrace())",
    "trim()",
    "trim_left()",
    "trim_right()",
    "start_at(s(0))",
    "end_at(s(1))",
    "only_non_empty_series()",
    "without_legend()",
    "without_axes()",
    "without_grid()",
    "with_gradient_color_scheme(\"red\", \"#00f\")",
    "show_memory_usage()",
    "show_live_allocations()",
    "show_new_allocations()",
    "show_deallocations()",
    "save()",
    "save(\"b.svg\")",
    "save_each_series_as_graph()",
    "save_each_series_as_graph(\"graphs\")",
    "save_each_series_as_flamegraph()",
    "save_each_series_as_flamegraph(\"flames\")",
];

#[test]
fn every_word_is_there() {
    let leaky = Leaky::get();
    let mut code = String::new();
    let mut add = |receiver: &str, words: &[&str]| {
        for word in words {
            code.push_str(&format!("{receiver}{word};\n"));
        }
    };
    add("", GLOBALS);
    add("allocations().", OF_LISTS);
    add("maps().", OF_LISTS);
    add("allocations().", OF_ALLOCATIONS);
    add("maps().", OF_MAPS);
    add("", OF_OTHERS);
    add("graph().add(allocations()).", OF_GRAPHS);
    add(
        "graph().add(\"a\", maps()).",
        &["show_address_space().save()", "add(maps())"],
    );
    add("graph().add(maps()).", &["show_rss().save()"]);
    leaky.says(&code);
    leaky.says("for group in allocations().group_by_backtrace() { group.len(); }");
    for word in ["at_least", "at_most"] {
        let why = leaky.refuses(&format!("maps().only_peak_rss_{word}(1)"));
        assert!(why.contains("memlog rss"), "{why}");
    }
    let missing = leaky.refuses("allocations().only_blue()");
    assert!(missing.contains("there is no `only_blue`"), "{missing}");
}

/// 66 filters of allocations, as many as bytehound has.
#[test]
fn no_filter_is_missing() {
    let all = OF_LISTS.iter().chain(OF_ALLOCATIONS);
    let mut names: Vec<&str> = all
        .filter_map(|word| word.split('(').next())
        .filter(|name| name.starts_with("only_"))
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 28 + 29, "{names:?}");
}

#[test]
fn a_script_has_words_and_an_end() {
    let leaky = Leaky::get();
    let run = |code: &str| leaky.runs(code, leaky.folder.root(), &[]).status.code();
    assert_eq!(run("exit(3)"), Some(3));
    assert_eq!(run("exit()"), Some(0));
    assert_eq!(run("try { exit(4) } catch { exit(5) }"), Some(4));
    assert_eq!(run("throw \"no\""), Some(2));
    assert_eq!(run(""), Some(0));
    let script = leaky.folder.path("words.rhai");
    let code = "#!/usr/bin/env -S memlog script\nprintln(argv()[0] + argv()[1]);\n";
    std::fs::write(&script, code).expect("it is written");
    let (script, log) = (
        script.to_str().expect("a name"),
        leaky.log.to_str().expect("a name"),
    );
    let words = leaky.folder.says(&["script", script, log, "a", "--b"]);
    assert_eq!(words, "a--b\n");
    let words = leaky.folder.says(&["script", "-d", log, script, "a", "b"]);
    assert_eq!(words, "ab\n");
}
