//! The list of logs, and figures over time.

use serde_json::Value;

use super::{Served, list, ns, ns_of, number};

#[test]
fn the_list_has_the_figures_of_each_log() {
    let served = Served::new("list", 100);
    let stats = served.says(&["stats"]);
    let all = served.server.json("/list");
    let [one] = all.as_array().expect("a list").as_slice() else {
        panic!("one log: {all:#}");
    };
    assert_eq!(one["id"], "1");
    for (key, other) in [
        ("executable", "executable"),
        ("final_allocated", "end_live_bytes"),
        ("final_allocated_count", "end_live_blocks"),
        ("unique_backtrace_count", "distinct_stacks"),
    ] {
        assert_eq!(one[key], stats[other], "{key}");
    }
    assert!(
        one["cmdline"]
            .as_str()
            .is_some_and(|line| line.ends_with("served 100"))
    );
    assert_eq!(one["architecture"], std::env::consts::ARCH);
    assert_eq!(ns(&one["timestamp"]), number(&stats, "start_unix_ns"));
    assert_eq!(ns(&one["runtime"]), ns_of(&stats["duration_seconds"]));
    let deepest = number(one, "maximum_backtrace_depth");
    let at = |depth: u64| {
        let depth = format!("depth >= {depth}");
        number(
            &served.says(&["table", "--by", "size", "--where", &depth]),
            "blocks",
        )
    };
    assert!(at(deepest) > 0 && at(deepest + 1) == 0);
}

#[track_caller]
fn same_course(answer: &Value, timeline: &Value, start_ns: u64) {
    let points = list(timeline, "points");
    for (key, other) in [
        ("allocated_size", "heap_bytes"),
        ("allocated_count", "heap_blocks"),
        ("allocations", "allocations"),
        ("deallocations", "releases"),
    ] {
        let expected: Vec<_> = points.iter().map(|point| &point[other]).collect();
        assert_eq!(
            list(answer, key).iter().collect::<Vec<_>>(),
            expected,
            "{key}"
        );
    }
    let (mut size, mut count) = (0, 0);
    for place in 0..points.len() {
        let at = |key: &str| answer[key][place].as_i64().expect("a number");
        size += at("size_delta");
        count += at("count_delta");
        assert_eq!((size, count), (at("allocated_size"), at("allocated_count")));
        let ms = (start_ns + ns_of(&points[place]["seconds"])) / 1_000_000;
        assert_eq!(answer["xs"][place], ms);
    }
}

#[test]
fn courses_are_those_of_the_timeline() {
    let served = Served::new("course", 3000);
    let stats = served.says(&["stats"]);
    let start_ns = number(&stats, "start_unix_ns");
    for (route, filter) in [
        ("timeline", "all"),
        ("timeline_leaked", "leaked"),
        ("timeline?size_min=30", "size >= 30"),
    ] {
        let timeline = served.says(&["timeline", "--points", "1000", "--where", filter]);
        same_course(&served.asks(route), &timeline, start_ns);
    }
    let timeline = served.says(&["timeline", "--points", "1000"]);
    let maps = served.asks("timeline_maps");
    for (key, other) in [("address_space", "mapped_bytes"), ("rss", "rss_bytes")] {
        let points = list(&timeline, "points").iter();
        let expected: Vec<_> = points.map(|point| &point[other]).collect();
        assert_eq!(
            list(&maps, key).iter().collect::<Vec<_>>(),
            expected,
            "{key}"
        );
    }
    for key in ["anonymous", "dirty", "clean", "swap"] {
        let unknown = list(&maps, key);
        assert_eq!(unknown.len(), list(&maps, "xs").len());
        assert!(unknown.iter().all(Value::is_null));
    }
}
