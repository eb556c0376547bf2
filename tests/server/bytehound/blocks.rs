//! Single blocks, groups of them, and their stacks.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{HOSTILE, Served, list, ns, ns_of, number};

/// Each block of a route and of `memlog table --list`.
#[track_caller]
fn same_block(block: &Value, row: &Value) {
    let address = format!("{:#x}", number(block, "address"));
    assert_eq!(row["address"], address.as_str());
    let tid = format!("{}", number(block, "thread"));
    let thread = row["thread"].as_str().expect("a thread");
    assert!(thread.contains(&tid), "{thread} is not {tid}");
    for (key, other) in [
        ("id", "number"),
        ("size", "bytes"),
        ("position_in_chain", "chain_position"),
        ("backtrace_id", "stack_number"),
    ] {
        assert_eq!(block[key], row[other], "{key}: {block:#}\n{row:#}");
    }
    let given = number(block, "size") + number(block, "extra_space");
    assert_eq!(given, number(row, "usable_bytes"));
    let came_ns = ns(&block["timestamp_relative"]);
    assert_eq!(came_ns, ns_of(&row["allocated_seconds"]));
    match row["freed_seconds"].is_null() {
        true => assert!(block["deallocation"].is_null(), "{block:#}"),
        false => {
            let died = &block["deallocation"];
            let start_ns = ns(&block["timestamp"]) - came_ns;
            assert_eq!(
                ns(&died["timestamp"]) - start_ns,
                ns_of(&row["freed_seconds"])
            );
            assert_eq!(died["backtrace_id"], row["freed_stack_number"]);
            assert!(!list(died, "backtrace").is_empty());
        }
    }
}

#[test]
fn blocks_are_those_of_the_list() {
    let served = Served::new("blocks", 400);
    let all = served.says(&["table", "--list", "--sort", "born", "--top", "0"]);
    let answer = served.asks("allocations");
    let (blocks, rows) = (list(&answer, "allocations"), list(&all, "list"));
    assert_eq!(number(&answer, "total_count"), number(&all, "blocks"));
    assert_eq!(blocks.len(), rows.len());
    for (block, row) in blocks.iter().zip(rows) {
        same_block(block, row);
    }
    // A page of them, and backwards.
    let page = served.asks("allocations?skip=50&count=25");
    assert_eq!(list(&page, "allocations"), &blocks[50..75]);
    let page = served.asks("allocations?skip=50&count=25&order=dsc");
    let backwards: Vec<Value> = blocks.iter().rev().skip(50).take(25).cloned().collect();
    assert_eq!(list(&page, "allocations"), backwards);
    for (order, key) in [("size", "size"), ("address", "address")] {
        let page = served.asks(&format!("allocations?sort_by={order}&order=dsc&count=100"));
        let found: Vec<u64> = list(&page, "allocations")
            .iter()
            .map(|one| number(one, key))
            .collect();
        let mut expected: Vec<u64> = blocks.iter().map(|one| number(one, key)).collect();
        expected.sort_unstable_by(|one, other| other.cmp(one));
        assert_eq!(found, expected[..100], "{order}");
    }
    chains(blocks);
    let addresses = served.asks("raw_allocations");
    let addresses = addresses.as_array().expect("a list");
    assert_eq!(addresses.len(), blocks.len());
    for (raw, block) in addresses.iter().zip(blocks) {
        let frames = list(block, "backtrace").iter();
        let frames = frames.filter(|frame| frame["is_inline"] == false);
        let frames: Vec<_> = frames.map(|frame| &frame["address_s"]).collect();
        assert_eq!(list(raw, "backtrace").iter().collect::<Vec<_>>(), frames);
    }
}

/// The victim grows one block six times and frees it, and another once.
fn chains(blocks: &[Value]) {
    let sizes = |size: u64| {
        let found = blocks.iter().rfind(|block| number(block, "size") == size);
        found.expect("a block of the chain")
    };
    for (place, size) in (0..).zip([100, 200, 400, 800, 1600, 3200]) {
        let block = sizes(size);
        assert_eq!(number(block, "chain_length"), 6, "{block:#}");
        assert_eq!(number(block, "position_in_chain"), place);
        assert!(block["chain_lifetime"].is_object());
        assert_eq!(block["chain_deallocation"].is_object(), size < 3200);
    }
    let grown = sizes(70_000);
    assert_eq!(number(grown, "chain_length"), 2);
    assert_eq!(sizes(100_000)["is_mmaped"], true);
    assert_eq!(sizes(100)["is_mmaped"], false);
    assert!(grown["chain_lifetime"].is_null() && grown["deallocation"].is_null());
}

/// The same filter by its old name and in today's words.
#[test]
fn filters_choose_what_they_choose_elsewhere() {
    let served = Served::new("filters", 400);
    let number_of_stack = number(
        &served.asks("allocations?size_min=4321&size_max=4321")["allocations"][0],
        "backtrace_id",
    );
    let stack = format!("backtraces={number_of_stack}");
    let stack_now = format!("stack = {number_of_stack}");
    for (old, now) in [
        ("size_min=64&size_max=100", "size >= 64 and size <= 100"),
        ("lifetime=only_leaked", "leaked"),
        ("lifetime=only_temporary", "not leaked"),
        ("lifetime=only_chain_leaked", "chain-leaked"),
        ("lifetime=only_whole_group_leaked", "group-all-leaked"),
        ("function_regex=grown", "function ~ 'grown'"),
        ("negative_function_regex=made", "not function ~ 'made'"),
        ("backtrace_depth_min=6", "depth >= 6"),
        ("mmaped=yes", "mmapped"),
        (
            "chain_length_min=2&position_in_chain_min=1",
            "chain-length >= 2 and chain-position >= 1",
        ),
        (
            "first_size_min=100&last_size_max=3200",
            "first-size >= 100 and last-size <= 3200",
        ),
        ("group_allocations_min=100", "group-allocations >= 100"),
        ("group_leaked_allocations_min=50%25", "group-leaked >= 50%"),
        ("alive_at=100%25", "alive at 100%"),
        (stack.as_str(), stack_now.as_str()),
        ("where=size+%3E+100+or+leaked", "size > 100 or leaked"),
    ] {
        let answer = served.asks(&format!("allocations?count=1&{old}"));
        let expected = served.says(&["table", "--by", "size", "--where", now]);
        assert_eq!(answer["total_count"], expected["blocks"], "{old}");
        assert!(number(&expected, "blocks") > 0, "{old} chooses nothing");
    }
}

#[test]
fn groups_are_those_of_the_table() {
    let served = Served::new("groups", 400);
    let table = served.says(&["table", "--by", "stack", "--where", "size >= 20"]);
    let answer = served.asks(
        "allocation_groups?size_min=20&sort_by=only_matched.size&order=dsc&generate_graphs=1",
    );
    let groups = list(&answer, "allocations");
    assert_eq!(number(&answer, "total_count"), groups.len() as u64);
    // The table puts stacks together that differ in lines alone.
    let of_group: BTreeMap<u64, &Value> = groups
        .iter()
        .map(|group| (number(group, "backtrace_id"), group))
        .collect();
    let mut seen = 0;
    for row in list(&table, "rows") {
        let numbers = list(row, "stack_numbers").iter().filter_map(Value::as_u64);
        let own: Vec<_> = numbers.filter_map(|number| of_group.get(&number)).collect();
        seen += own.len();
        let sum = |block: &str, key: &str| -> u64 {
            own.iter().map(|group| number(&group[block], key)).sum()
        };
        assert_eq!(sum("only_matched", "size"), number(row, "bytes"));
        assert_eq!(
            sum("only_matched", "allocated_count"),
            number(row, "blocks")
        );
        assert_eq!(
            sum("only_matched", "leaked_count"),
            number(row, "leaked_blocks")
        );
        assert_eq!(sum("all", "size"), number(row, "all_bytes"));
        assert_eq!(sum("all", "allocated_count"), number(row, "all_blocks"));
        if let [group] = own[..] {
            let matched = &group["only_matched"];
            assert_eq!(matched["min_size"], row["smallest_bytes"]);
            assert_eq!(matched["max_size"], row["largest_bytes"]);
            let peak = &group["all"]["max_total_usage_first_seen_at_relative"];
            assert_eq!(ns(peak), ns_of(&row["peak_seconds"]));
        }
    }
    assert_eq!(seen, groups.len());
    assert!(
        groups.is_sorted_by_key(|group| std::cmp::Reverse(number(&group["only_matched"], "size")))
    );
    // A picture of each.
    let url = groups[0]["only_matched"]["graph_url"]
        .as_str()
        .expect("a picture");
    let picture = served.server.get(url);
    assert_eq!(picture.status, 200);
    assert!(picture.text().contains("<svg"));
    assert!(picture.head.contains("content-security-policy: sandbox;"));
    for key in [
        "only_matched.interval",
        "all.max_total_usage_first_seen_at",
        "all.leaked_count",
    ] {
        let answer = served.asks(&format!("allocation_groups?sort_by={key}&skip=2&count=3"));
        assert_eq!(list(&answer, "allocations").len(), 3, "{key}");
    }
}

#[test]
fn stacks_have_all_that_is_known() {
    let served = Served::new("stacks", 10);
    let stats = served.says(&["stats"]);
    let answer = served.asks("backtraces");
    assert_eq!(
        number(&answer, "total_count"),
        number(&stats, "distinct_stacks")
    );
    assert_eq!(
        list(&answer, "backtraces").len() as u64,
        number(&answer, "total_count")
    );
    let answer = served.asks("backtraces?function_regex=made");
    assert!(number(&answer, "total_count") < number(&stats, "distinct_stacks"));
    let block = &served.asks("allocations?function_regex=made%3Cint%3E")["allocations"][0];
    let one = served.asks(&format!("backtrace/{}", number(block, "backtrace_id")));
    assert_eq!(one["frames"], block["backtrace"]);
    let frames = list(&one, "frames");
    let last = frames.last().expect("a frame");
    assert_eq!(last["function"], "int* made<int>(int)");
    assert_eq!(last["raw_function"], "_Z4madeIiEPT_i");
    assert!(
        last["source"]
            .as_str()
            .is_some_and(|file| file.ends_with("served.cpp"))
    );
    assert!(
        last["library"]
            .as_str()
            .is_some_and(|file| file.ends_with("/served"))
    );
    let main = frames.iter().position(|frame| frame["function"] == "main");
    assert!(main.is_some_and(|main| main + 1 < frames.len()), "{one:#}");
    let short = served.asks(&format!(
        "backtrace/{}?strip_template_args=true",
        number(block, "backtrace_id")
    ));
    let last = list(&short, "frames").last().expect("a frame");
    assert_eq!(last["function"], "int* made<...>(int)");
    // A name is text, whatever it is.
    let hostile = &served.asks("allocations?size_min=4321&size_max=4321")["allocations"][0];
    let frames = list(hostile, "backtrace");
    let name = frames.last().expect("a frame")["function"]
        .as_str()
        .expect("a name");
    let text = std::str::from_utf8(&HOSTILE[..37]).expect("text");
    assert!(name.starts_with(text), "{name}");
}

#[test]
fn trees_are_all_blocks() {
    let served = Served::new("trees", 400);
    let table = served.says(&["table", "--by", "size", "--where", "size >= 20"]);
    let tree = served.asks("tree?size_min=20");
    let mut all = vec![&tree];
    while let Some(node) = all.pop() {
        let children = list(node, "children");
        let sum = |key: &str| children.iter().map(|child| number(child, key)).sum::<u64>();
        // What ends in a frame is its own.
        assert!(sum("size") <= number(node, "size") && sum("count") <= number(node, "count"));
        assert!(node["value"].is_object() || std::ptr::eq(node, &tree));
        all.extend(children);
    }
    assert_eq!(tree["size"], table["bytes"]);
    assert_eq!(tree["count"], table["blocks"]);
    let text = served
        .server
        .text("/data/1/allocation_ascii_tree?size_min=20");
    let mut lines = text.lines();
    assert!(lines.next().is_some_and(|line| {
        line.split_whitespace()
            .eq(["SIZE", "COUNT", "FIRST", "LAST", "SOURCE"])
    }));
    let root: Vec<&str> = lines.next().expect("a root").split_whitespace().collect();
    assert!(
        root.contains(&number(&table, "blocks").to_string().as_str()),
        "{root:?}"
    );
    assert!(text.contains("main [served.cpp:"), "{text}");
}
