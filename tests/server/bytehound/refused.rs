//! What is asked wrongly, or with bad intent: a sentence, and the server lives on.

use super::{Served, number};

#[test]
fn what_is_wrong_gets_a_sentence() {
    let served = Served::new("refused", 10);
    let deep = format!("allocations?where={}", "(".repeat(30_000));
    for (path, status) in [
        ("allocations?skip=-1", 400),
        ("allocations?count=-1", 400),
        ("allocations?count=1.5", 400),
        ("allocations?skip=99999999999999999999999999", 400),
        ("allocations?size_min=-5", 400),
        ("allocations?size_min=99999999999999999999999999", 400),
        ("allocations?size_min=", 400),
        ("allocations?address_min=0xzz", 400),
        ("allocations?backtraces=-1", 400),
        ("allocations?lifetime=for_ever", 400),
        ("allocations?lifetime_min=long", 400),
        ("allocations?alive_at=tomorrow", 400),
        ("allocations?function_regex=(", 400),
        ("allocations?source_regex=[", 400),
        ("allocations?negative_function_regex=%28%3F%3C", 400),
        ("allocations?sort_by=colour", 400),
        ("allocations?order=sideways", 400),
        ("allocations?strip_template_args=perhaps", 400),
        ("allocations?colour=red", 400),
        ("allocations?size_min=1&size_min=2", 400),
        ("allocations?where=size+%3E", 400),
        ("allocations?where=%00%ff", 400),
        ("allocations?custom_filter=allocations(", 400),
        ("allocations?readable=only_true", 400),
        ("allocations?arena=main", 422),
        ("allocations?alive_at=mark", 400),
        (deep.as_str(), 400),
        ("raw_allocations?skip=x", 400),
        ("allocation_groups?sort_by=size", 400),
        ("allocation_groups?sort_by=all.colour", 400),
        ("allocation_groups?generate_graphs=2", 400),
        ("maps?sort_by=peak_rss", 400),
        ("maps?peak_rss_min=1", 400),
        ("maps?id=x", 400),
        ("maps?first_size_min=1", 400),
        ("maps?lifetime=only_chain_leaked", 422),
        ("backtraces?backtrace_depth_min=x", 400),
        ("backtrace/x", 400),
        ("backtrace/-1", 400),
        ("backtrace/4294967295", 404),
        ("backtrace/99999999999999", 400),
        ("tree?size_min=x", 400),
        ("allocation_ascii_tree?order_by=x", 400),
        ("regions?from=x", 400),
        ("mallopts?x=y", 400),
        ("timeline?to=x", 400),
        ("timeline_leaked?to=x", 400),
        ("timeline_maps?to=x", 400),
        ("dynamic_statics/x?size_min=x", 400),
        ("export/flamegraph?size_min=x", 400),
        ("export/flamegraph.pl?size_min=x", 400),
        ("export/heaptrack?function_regex=(", 400),
        ("export/replay?function_regex=(", 400),
        ("graph/group/x.svg", 400),
    ] {
        let (found, sentence) = served.server.refuses(&format!("/data/1/{path}"));
        assert_eq!(found, status, "{path:.100}: {sentence}");
    }
    for id in ["0", "2", "-1", "x", "99999999999", "%2e%2e", "last%00"] {
        let (status, _) = served.server.refuses(&format!("/data/{id}/timeline"));
        assert_eq!(status, 404, "{id}");
    }
    // No address is as long as this: whoever sends it is sent away before it is looked at.
    let long = format!("/data/1/allocations?function_regex={}", "a".repeat(100_000));
    assert_eq!(served.server.get(&long).status, 414);
    // What is large and right is no fault.
    let far = served.asks("allocations?skip=18446744073709551615&count=18446744073709551615");
    assert_eq!(far["allocations"].as_array().map(Vec::len), Some(0));
    assert!(number(&far, "total_count") > 0);
    for route in ["allocation_groups", "maps"] {
        let far = served.asks(&format!("{route}?skip=18446744073709551615"));
        assert!(number(&far, "total_count") > 0);
    }
    let none = served.asks("allocations?size_min=1000000000000");
    assert_eq!(number(&none, "total_count"), 0);
    for route in [
        "tree",
        "regions",
        "allocation_groups",
        "backtraces",
        "timeline",
    ] {
        served.asks(&format!("{route}?size_min=1000000000000"));
    }
    let picture = served
        .server
        .get("/data/1/export/flamegraph?size_min=1000000000000");
    assert_eq!(picture.status, 200);
}

/// No page of another origin is let in, and none of the routes says that it may be.
#[test]
fn no_route_is_for_other_pages() {
    let served = Served::new("origin", 10);
    let answer = served.server.get("/list");
    assert!(
        !answer.head.to_lowercase().contains("access-control"),
        "{}",
        answer.head
    );
    let other = "Origin: http://localhost:1234\r\n";
    let answer = served.server.request("GET", "/list", other);
    assert_eq!(answer.status, 403);
}
