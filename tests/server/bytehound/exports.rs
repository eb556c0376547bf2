//! Forms of other programs.

use std::fs;

use super::{Served, number};

impl Served {
    /// What `memlog export` writes.
    #[track_caller]
    fn exports(&self, words: &[&str]) -> Vec<u8> {
        let out = self.folder.path("exported");
        let log = self.log.to_str().expect("a name");
        let _ = fs::remove_file(&out);
        let to = ["-o", out.to_str().expect("a name")];
        self.folder
            .says(&[&["export"], words, &[log], &to].concat());
        fs::read(out).expect("a file")
    }
}

#[test]
fn files_are_those_of_the_command() {
    let served = Served::new("exports", 2000);
    for (route, words) in [
        ("heaptrack/app.dat", vec!["heaptrack"]),
        (
            "heaptrack?size_min=50",
            vec!["heaptrack", "--where", "size >= 50"],
        ),
        ("replay", vec!["replay"]),
    ] {
        let answer = served.server.get(&format!("/data/1/export/{route}"));
        assert_eq!(answer.status, 200, "{route}: {}", answer.text());
        assert!(
            answer.body == served.exports(&words),
            "{route} is another file"
        );
    }
    // Chosen blocks alone are replayed.
    let file = served.folder.path("some.operations");
    let answer = served
        .server
        .get("/data/1/export/replay/some?size_min=50&where=not+temporary");
    assert_eq!(answer.status, 200, "{}", answer.text());
    fs::write(&file, &answer.body).expect("it is written");
    let words = ["replay", "--json", file.to_str().expect("a name")];
    let replayed: serde_json::Value =
        serde_json::from_str(&served.folder.says(&words)).expect("JSON");
    let table = served.says(&[
        "table",
        "--by",
        "size",
        "--where",
        "size >= 50 and not temporary",
    ]);
    let done = &replayed["operations"];
    assert_eq!(done["allocations"], table["blocks"], "{replayed:#}");
}

#[test]
fn flame_graphs_have_all_bytes() {
    let served = Served::new("flames", 400);
    let table = served.says(&["table", "--by", "size", "--where", "size >= 20"]);
    let lines = served
        .server
        .text("/data/1/export/flamegraph.pl/x.txt?size_min=20");
    let sum: u64 = lines
        .lines()
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok())
        .sum();
    assert_eq!(sum, number(&table, "bytes"));
    let picture = served.server.get("/data/1/export/flamegraph/flame.svg");
    assert_eq!(picture.status, 200);
    let head = picture.head.to_lowercase();
    assert!(head.contains("content-type: image/svg+xml"), "{head}");
    assert!(
        head.contains(
            "content-security-policy: sandbox; default-src 'none'; style-src 'unsafe-inline'"
        ),
        "{head}"
    );
    // The victim's name stands there as text.
    let text = String::from_utf8(picture.body).expect("UTF-8");
    assert!(
        text.contains("&lt;/script&gt;&lt;script&gt;alert(1)"),
        "{text:.2000}"
    );
    assert!(!text.to_lowercase().contains("<script"), "it has a script");
    let is_text = |sign: char| sign >= ' ' || sign == '\n' || sign == '\t';
    assert!(text.chars().all(is_text), "it has control characters");
}
