//! Mappings, regions, mallopt, static initialisers.

use serde_json::Value;

use super::{Served, list, ns, ns_of, number};

#[test]
fn maps_are_those_of_the_list() {
    let served = Served::new("maps", 10);
    let at_end = served.says(&["maps", "--list", "--at", "end"]);
    let answer = served.asks("maps?with_regions=true&with_usage_history=true");
    let maps = list(&answer, "maps");
    assert_eq!(number(&answer, "total_count"), maps.len() as u64);
    // What is left of each at the end, whose parts the command puts together.
    let mut left: Vec<(u64, u64)> = Vec::new();
    for map in maps {
        let mut regions: Vec<_> = list(map, "regions").iter().collect();
        regions.retain(|region| region["deallocation"].is_null());
        let mut end = 0;
        for region in regions {
            let (address, size) = (number(region, "address"), number(region, "size"));
            match left.last_mut().filter(|_| end == address) {
                Some((_, bytes)) => *bytes += size,
                None => left.push((address, size)),
            }
            end = address + size;
        }
        let all: u64 = list(map, "regions")
            .iter()
            .map(|region| number(region, "size"))
            .sum();
        assert_eq!(all, number(map, "size"));
        assert!(!list(&map["source"], "backtrace").is_empty());
        assert_eq!(list(map, "usage_history").len(), 0);
        assert!(map["peak_rss"].is_null());
    }
    let rows = list(&at_end, "list");
    let mut expected: Vec<(u64, u64)> = rows
        .iter()
        .map(|row| (address(row), number(row, "bytes")))
        .collect();
    left.sort_unstable();
    expected.sort_unstable();
    assert_eq!(left, expected);
    for row in rows {
        let id = number(row, "number");
        let one = served.asks(&format!("maps?id={id}"));
        let map = &one["maps"][0];
        let may = row["protection"].as_str().expect("letters").as_bytes();
        for (key, letter) in [
            ("is_readable", b'r'),
            ("is_writable", b'w'),
            ("is_executable", b'x'),
        ] {
            assert_eq!(map[key], may.contains(&letter), "{key} of {row:#}");
        }
        assert_eq!(map["is_shared"], row["shared"]);
        assert_eq!(
            ns(&map["timestamp_relative"]),
            ns_of(&row["mapped_seconds"])
        );
    }
    let some = served.asks("maps?executable=only_true");
    assert!(
        list(&some, "maps")
            .iter()
            .all(|map| map["is_executable"] == true)
    );
    assert!(number(&some, "total_count") > 0);
    let by_size = served.asks("maps?sort_by=size&order=dsc&skip=1&count=2");
    assert!(list(&by_size, "maps").is_sorted_by_key(|map| std::cmp::Reverse(number(map, "size"))));
    assert_eq!(by_size["total_count"], answer["total_count"]);
}

/// As text in hex.
#[track_caller]
fn address(row: &Value) -> u64 {
    let text = row["address"]
        .as_str()
        .and_then(|text| text.strip_prefix("0x"));
    u64::from_str_radix(text.expect("an address"), 16).expect("a number")
}

#[test]
fn regions_hold_all_blocks() {
    let served = Served::new("regions", 400);
    let answer = served.asks("regions");
    let regions: Vec<(u64, u64)> = list(&answer, "regions")
        .iter()
        .map(|range| {
            (
                range[0].as_u64().expect("a start"),
                range[1].as_u64().expect("an end"),
            )
        })
        .collect();
    assert!(regions.is_sorted_by(|one, next| one.1 < next.0));
    let all = served.says(&["table", "--list", "--top", "0"]);
    for row in list(&all, "list") {
        let (start, end) = (address(row), address(row) + number(row, "usable_bytes"));
        let holds = |range: &(u64, u64)| range.0 < start && end <= range.1;
        assert!(regions.iter().any(holds), "{row:#}");
    }
    let few = served.asks("regions?size_min=100000");
    assert_eq!(list(&few, "regions").len(), 1);
}

/// The kernel is asked for all mappings where there is much to ask for.
#[test]
fn the_main_heap_is_where_brk_is() {
    let served = Served::new("main-heap", 400_000);
    let answer = served.asks("regions");
    let (start, end) = (
        number(&answer, "main_heap_start"),
        number(&answer, "main_heap_end"),
    );
    let first = &answer["regions"][0];
    let (low, high) = (first[0].as_u64(), first[1].as_u64());
    assert!(low.is_some_and(|low| start <= low), "{answer:.500}");
    assert!(high.is_some_and(|high| start < high && high <= end));
    assert_eq!(answer["main_heap_start_s"], start.to_string());
    assert_eq!(answer["main_heap_end_s"], end.to_string());
}

#[test]
fn calls_of_mallopt_are_told() {
    let served = Served::new("mallopts", 10);
    let info = served.says(&["info"]);
    let expected = list(&info, "mallopts");
    let answer = served.asks("mallopts");
    let calls = answer.as_array().expect("a list");
    assert_eq!((calls.len(), expected.len()), (3, 3));
    let start_ns = number(&info, "start_unix_ns");
    for (call, known) in calls.iter().zip(expected) {
        assert_eq!(call["raw_param"], known["parameter"]);
        assert_eq!(call["param"], known["name"]);
        assert_eq!(call["value"], known["value"]);
        assert_eq!(call["thread"], known["thread"]);
        assert_eq!(number(call, "result") != 0, known["is_taken"] == true);
        assert_eq!(ns(&call["timestamp"]), start_ns + ns_of(&known["seconds"]));
        let functions = |list: &[Value]| {
            list.iter()
                .filter_map(|frame| frame["function"].as_str())
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let mut stack = functions(list(known, "stack"));
        stack.reverse();
        assert_eq!(functions(list(call, "backtrace")), stack);
    }
}

#[test]
fn static_initialisers_are_told_by_line() {
    let served = Served::new("statics", 10);
    let leaks = served.says(&["leaks", "--by", "static-init", "--where", "static-init"]);
    let answer = served.asks("dynamic_statics/statics.json");
    let constants = served.asks("dynamic_constants");
    let mut seen = 0;
    for row in list(&leaks, "rows") {
        let name = row["name"].as_str().expect("a name");
        let Some((file, line)) = name.rsplit_once(':') else {
            continue;
        };
        let given = number(row, "bytes") + number(row, "waste_bytes");
        let of = |answer: &Value| {
            answer["per_file"][file]["per_line"][line]["size"]
                .as_u64()
                .unwrap_or(0)
        };
        assert_eq!(of(&answer) + of(&constants), given, "{name}");
        seen += given;
    }
    assert_eq!(number(&answer, "size") + number(&constants, "size"), seen);
    assert!(seen > 1000, "{leaks:#}");
    let text = served
        .server
        .text("/data/last/dynamic_statics_ascii_tree/statics.txt");
    assert!(
        text.starts_with("SIZE") && text.contains("served.cpp:"),
        "{text}"
    );
    let text = served
        .server
        .text("/data/last/dynamic_constants_ascii_tree");
    assert!(text.starts_with("SIZE"), "{text}");
}
