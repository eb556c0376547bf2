//! The examples of doc/BYTEHOUND.md do what they say.

use super::Served;

const DOCUMENT: &str = include_str!("../../../doc/BYTEHOUND.md");

/// The addresses in its lines of curl.
fn examples() -> Vec<&'static str> {
    let mut parts = DOCUMENT.split("\"$SERVER");
    parts.next();
    let ends = parts.map(|part| part.split('"').next());
    ends.map(|path| path.expect("an address")).collect()
}

#[test]
fn examples_are_answered() {
    let examples = examples();
    assert_eq!(examples.len(), DOCUMENT.matches("curl -H").count());
    assert!(examples.len() >= 10);
    let served = Served::new("examples", 100);
    for path in examples {
        let answer = served.server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(!answer.body.is_empty(), "{path}");
    }
}

/// Each route that the document has is there, and none of the others.
#[test]
fn the_document_has_all_routes() {
    let served = Served::new("routes", 10);
    let words = DOCUMENT.split('`').skip(1).step_by(2);
    let routes = words.filter_map(|word| word.strip_prefix("/data/{id}/"));
    let is_there = |route: &&str| !route.contains("script");
    let mut count = 0;
    for route in routes.filter(is_there) {
        let route = route.replace("[/{file}]", "");
        let id = "allocations?count=1";
        let block = served.asks(id)["allocations"][0]["backtrace_id"].to_string();
        let route = route.replace("{backtrace_id}", &block);
        let answer = served.server.get(&format!("/data/last/{route}"));
        assert_eq!(answer.status, 200, "{route}: {}", answer.text());
        count += 1;
    }
    assert!(count >= 20, "{count} routes");
}
