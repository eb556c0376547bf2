//! Each word that chooses is a filter: it chooses what the filter chooses.

use crate::Leaky;

/// What is called on allocations(), and the filter that it is.
const OF_BLOCKS: &[(&str, &str)] = &[
    ("only_leaked()", "leaked"),
    ("only_temporary()", "not leaked"),
    ("only_chain_leaked()", "chain-leaked"),
    ("only_larger(100)", "size > 100"),
    ("only_larger_or_equal(100)", "size >= 100"),
    ("only_smaller(100)", "size < 100"),
    ("only_smaller_or_equal(100)", "size <= 100"),
    ("only_first_size_larger(64)", "first-size > 64"),
    ("only_first_size_larger_or_equal(64)", "first-size >= 64"),
    ("only_first_size_smaller(64)", "first-size < 64"),
    ("only_first_size_smaller_or_equal(64)", "first-size <= 64"),
    ("only_last_size_larger(mb(1))", "last-size > 1000000"),
    (
        "only_last_size_larger_or_equal(1048576)",
        "last-size >= 1MiB",
    ),
    ("only_last_size_smaller(200)", "last-size < 200"),
    ("only_last_size_smaller_or_equal(200)", "last-size <= 200"),
    ("only_address_at_least(0)", "address >= 0"),
    (
        "only_address_at_most(0x7f0000000000)",
        "address <= 0x7f0000000000",
    ),
    ("only_alive_at([ms(500)])", "alive at 500ms"),
    (
        "only_alive_at([ms(500), s(1)])",
        "alive at 500ms and alive at 1s",
    ),
    ("only_alive_for_at_least(ms(100))", "lifetime >= 100ms"),
    ("only_alive_for_at_most(ms(100))", "lifetime <= 100ms"),
    ("only_allocated_after_at_least(s(0.5))", "born >= 500ms"),
    (
        "only_allocated_after_at_least(data().runtime() * 0.25)",
        "born >= 25%",
    ),
    ("only_allocated_until_at_most(s(1))", "born <= 1s"),
    (
        "only_deallocated_after_at_least(us(700000))",
        "died >= 700ms",
    ),
    ("only_deallocated_until_at_most(m(1))", "died <= 1m"),
    (
        "only_leaked_or_deallocated_after(s(1))",
        "leaked or died > 1s",
    ),
    ("only_backtrace_length_at_least(3)", "depth >= 3"),
    ("only_backtrace_length_at_most(5)", "depth <= 5"),
    (
        "only_chain_alive_for_at_least(ms(200))",
        "chain-lifetime >= 200ms",
    ),
    (
        "only_chain_alive_for_at_most(ms(200))",
        "chain-lifetime <= 200ms",
    ),
    ("only_chain_length_at_least(2)", "chain-length >= 2"),
    ("only_chain_length_at_most(2)", "chain-length <= 2"),
    ("only_position_in_chain_at_least(1)", "chain-position >= 1"),
    ("only_position_in_chain_at_most(3)", "chain-position <= 3"),
    (
        "only_group_allocations_at_least(100)",
        "group-allocations >= 100",
    ),
    (
        "only_group_allocations_at_most(100)",
        "group-allocations <= 100",
    ),
    (
        "only_group_interval_at_least(ms(500))",
        "group-interval >= 500ms",
    ),
    (
        "only_group_interval_at_most(ms(500))",
        "group-interval <= 500ms",
    ),
    (
        "only_group_leaked_allocations_at_least(40)",
        "group-leaked >= 40",
    ),
    (
        "only_group_leaked_allocations_at_least(0.5)",
        "group-leaked >= 50%",
    ),
    (
        "only_group_leaked_allocations_at_most(40)",
        "group-leaked <= 40",
    ),
    (
        "only_group_leaked_allocations_at_most(0.01)",
        "group-leaked <= 1%",
    ),
    (
        "only_group_max_total_usage_first_seen_at_least(s(1))",
        "group-peak >= 1s",
    ),
    (
        "only_group_max_total_usage_first_seen_at_most(s(1))",
        "group-peak <= 1s",
    ),
    (
        "only_passing_through_function(\"leak$\")",
        "function ~ \"leak$\"",
    ),
    (
        "only_not_passing_through_function(\"leak$\")",
        "not function ~ \"leak$\"",
    ),
    (
        "only_passing_through_source(\"leaky\\\\.c\")",
        "file ~ \"leaky\\.c\"",
    ),
    (
        "only_not_passing_through_source(\"leaky\\\\.c\")",
        "not file ~ \"leaky\\.c\"",
    ),
    ("only_jemalloc()", "kind ~ \"^(_rjem|je)_\""),
    ("only_not_jemalloc()", "not kind ~ \"^(_rjem|je)_\""),
    ("only_ptmalloc_mmaped()", "mmapped"),
    (
        "only_ptmalloc_not_mmaped()",
        "not mmapped and not kind ~ \"^(_rjem|je)_\"",
    ),
    ("only_with_marker(7)", "last-mark = \"7\""),
    ("only_from_maps(maps())", "map >= 0"),
    ("only_from_maps([1, 2])", "map = 1 or map = 2"),
    (
        "filter(\"size in 30..60 and not leaked\")",
        "size in 30..60 and not leaked",
    ),
    // Several, and lists of lists.
    ("only_leaked().only_larger(50)", "leaked and size > 50"),
    (
        "only_leaked() + allocations().only_larger(500)",
        "leaked or size > 500",
    ),
    (
        "only_leaked() - allocations().only_larger(200)",
        "leaked and not size > 200",
    ),
    (
        "only_larger(50) & allocations().only_smaller(200) & allocations().only_temporary()",
        "size > 50 and size < 200 and not leaked",
    ),
    (
        "only_matching_backtraces(allocations().only_passing_through_function(\"^both$\"))",
        "function ~ \"^both$\"",
    ),
    (
        "only_not_matching_backtraces(allocations().only_leaked().group_by_backtrace())",
        "not group-leaked >= 1",
    ),
    (
        "only_matching_backtraces([allocations().only_leaked()[0], allocations().only_leaked()[0].backtrace()])",
        "function ~ \"^linear_leak$\"",
    ),
    ("group_by_backtrace().ungroup()", "all"),
    (
        "group_by_backtrace().only_all_leaked().ungroup()",
        "group-all-leaked",
    ),
    (
        "group_by_backtrace().only_count_at_least(1000).ungroup()",
        "group-allocations >= 1000",
    ),
];

/// The same of maps().
const OF_MAPS: &[(&str, &str)] = &[
    ("only_leaked()", "leaked"),
    ("only_temporary()", "not leaked"),
    ("only_larger(65536)", "size > 64K"),
    ("only_larger_or_equal(65536)", "size >= 64K"),
    ("only_smaller(65536)", "size < 64K"),
    ("only_smaller_or_equal(65536)", "size <= 64K"),
    ("only_readable()", "readable"),
    ("only_not_readable()", "not readable"),
    ("only_writable()", "writable"),
    ("only_not_writable()", "not writable"),
    ("only_executable()", "executable"),
    ("only_not_executable()", "not executable"),
    ("only_bytehound()", "not all"),
    ("only_not_bytehound()", "all"),
    ("only_jemalloc()", "kind ~ \"^(_rjem|je)_\""),
    ("only_not_jemalloc()", "all"),
    ("only_alive_at([ms(500)])", "alive at 500ms"),
    ("only_allocated_until_at_most(s(1))", "born <= 1s"),
    ("only_deallocated_until_at_most(s(1))", "died <= 1s"),
    (
        "only_passing_through_function(\"^mapped$\")",
        "function ~ \"^mapped$\"",
    ),
    (
        "only_matching_backtraces(maps()[0])",
        "function ~ \"^mapped$\" and size = 64K",
    ),
    (
        "only_leaked() - maps().only_writable()",
        "leaked and not writable",
    ),
];

#[test]
fn words_choose_what_filters_choose() {
    let leaky = Leaky::get();
    let lines = OF_BLOCKS.iter().map(|(word, _)| {
        // `a + b` is to be one list.
        format!(
            "let list = allocations().{word}; println(\"{{}} {{}}\", list.len(), list.size());\n"
        )
    });
    let said = leaky.says(&lines.collect::<String>());
    assert_eq!(said.lines().count(), OF_BLOCKS.len());
    let mut chosen = 0;
    for ((word, filter), line) in OF_BLOCKS.iter().zip(said.lines()) {
        let (blocks, bytes) = leaky.table(filter);
        assert_eq!(line, format!("{blocks} {bytes}"), "{word}");
        chosen += usize::from(blocks > 0);
    }
    // A test of nothing but empty lists would be none.
    assert!(chosen > OF_BLOCKS.len() * 3 / 4, "{chosen}");
}

#[test]
fn words_choose_mappings_too() {
    let leaky = Leaky::get();
    let lines = OF_MAPS
        .iter()
        .map(|(word, _)| format!("println((maps().{word}).len());\n"));
    let said = leaky.says(&lines.collect::<String>());
    for ((word, filter), line) in OF_MAPS.iter().zip(said.lines()) {
        let page = leaky.asked(&["maps", "--where", filter]);
        let rows = page["rows"].as_array().expect("rows").iter();
        let calls: u64 = rows
            .map(|row| row["calls"].as_u64().expect("a number"))
            .sum();
        assert_eq!(line, calls.to_string(), "{word}");
    }
    assert_eq!(leaky.says("println(maps().len());"), "4\n");
}

/// Lists of lists of lists, at random, and the same as one filter.
#[test]
fn lists_of_lists_choose_what_filters_choose() {
    let leaky = Leaky::get();
    let mut state = 7u64;
    let mut below = |end: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % end
    };
    // Each of these alone is one call.
    let words = &OF_BLOCKS[..48];
    let mut cases = Vec::new();
    for _ in 0..25 {
        let (word, filter) = words[below(words.len())];
        let (mut code, mut text) = (format!("allocations().{word}"), format!("({filter})"));
        for _ in 0..1 + below(4) {
            let (word, filter) = words[below(words.len())];
            let (operator, joined) = [("+", "or"), ("-", "and not"), ("&", "and")][below(3)];
            code = format!("({code} {operator} allocations().{word})");
            text = format!("({text} {joined} ({filter}))");
        }
        cases.push((code, text));
    }
    let lines = cases.iter().map(|(code, _)| {
        format!("let list = {code}; println(\"{{}} {{}}\", list.len(), list.size());\n")
    });
    let said = leaky.says(&lines.collect::<String>());
    for ((code, text), line) in cases.iter().zip(said.lines()) {
        let (blocks, bytes) = leaky.table(text);
        assert_eq!(line, format!("{blocks} {bytes}"), "{code}");
    }
}

/// One by one they are those that `table --list` has.
#[test]
fn single_blocks_are_those_of_the_list() {
    let leaky = Leaky::get();
    let filter = "function ~ \"^(linear_leak|grow)$\"";
    let page = leaky.asked(&[
        "table", "--list", "--sort", "born", "--where", filter, "--top", "0",
    ]);
    let listed = page["list"].as_array().expect("a list");
    assert!(listed.len() > 1500);
    let said = leaky.says(
        "for one in allocations().only_passing_through_function(\"^(linear_leak|grow)$\") {\n\
             let died = one.deallocated_at();\n\
             let died = if died == () { -1.0 } else { died.seconds() };\n\
             println(`${one.address()} ${one.size()} ${one.allocated_at().seconds()} ${died} \
                      ${one.backtrace().number()} ${one.thread_name()}`);\n\
         }",
    );
    assert_eq!(said.lines().count(), listed.len());
    for (line, one) in said.lines().zip(listed) {
        let words: Vec<&str> = line.splitn(6, ' ').collect();
        let address = one["address"].as_str().expect("an address");
        let address = u64::from_str_radix(&address[2..], 16).expect("hexadecimal");
        assert_eq!(words[0], address.to_string());
        assert_eq!(words[1], one["bytes"].to_string());
        let seconds = |word: &str| word.parse::<f64>().expect("seconds");
        assert_eq!(Some(seconds(words[2])), one["allocated_seconds"].as_f64());
        let died = Some(seconds(words[3])).filter(|died| *died >= 0.0);
        assert_eq!(died, one["freed_seconds"].as_f64());
        assert_eq!(words[4], one["stack_number"].to_string());
        assert_eq!(Some(words[5]), one["thread"].as_str());
    }
    // The same by their places, from both ends.
    let said = leaky.says(
        "let list = allocations().only_passing_through_function(\"^linear_leak$\");\n\
         println(\"{} {} {}\", list[0].size(), list[1000].size(), list[-1].size());",
    );
    assert_eq!(
        said,
        format!("{} {} {}\n", 200, 200 + 1000 % 32, 200 + 1499 % 32)
    );
}

#[test]
fn groups_are_those_of_the_table() {
    let leaky = Leaky::get();
    let said = leaky.says(
        "let groups = allocations().only_leaked().group_by_backtrace();\n\
         for by in [groups.sort_by_size(), groups.sort_by_count_ascending()] {\n\
             for group in by { println(\"{} {}\", group.len(), group.size()); }\n\
         }\n\
         println(groups.take(1).len());\n\
         println(groups.sort_by_size()[0].len());",
    );
    let sorted: Vec<(u64, u64)> = ["linear_leak", "bounded_leak", "both"]
        .map(|function| leaky.leaked(function))
        .into_iter()
        .collect();
    let mut expected: Vec<String> = Vec::new();
    let mut by_size = sorted.clone();
    by_size.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let mut by_count = sorted;
    by_count.sort_unstable();
    for (blocks, bytes) in by_size.iter().chain(&by_count) {
        expected.push(format!("{blocks} {bytes}"));
    }
    expected.push("1".into());
    expected.push(by_size[0].0.to_string());
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn other_logs_are_loaded() {
    let leaky = Leaky::get();
    let log = leaky.log.to_str().expect("a name");
    let said = leaky.says(&format!(
        "let other = load({log:?});\n\
         println(other.allocations().len() == allocations().len());\n\
         println(other.runtime() == data().runtime());\n\
         println(other.maps().len());"
    ));
    assert_eq!(said, "true\ntrue\n4\n");
    let why = leaky.refuses(&format!("allocations() + load({log:?}).allocations()"));
    assert!(why.contains("different logs"), "{why}");
}
