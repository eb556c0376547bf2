//! `memlog html`: the answers in it are those of the command line, and nothing else can
//! come into it.

use std::fs;

use serde_json::Value;

use crate::client::word;
use crate::sites::{Folder, victim};
use crate::{log_of, recorded};

fn data_of(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"memlog-data\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

#[test]
fn the_file_has_the_answers() {
    let folder = Folder::new("server-html");
    let log = recorded(&folder);
    folder.says(&["html", "-o", "out.html", word(&log)]);
    let html = fs::read_to_string(folder.path("out.html")).expect("a file");
    let data = data_of(&html);
    let told = |words: &[&str]| {
        let words = [words, &["--json", word(&log)]].concat();
        let mut told: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
        told.as_object_mut().expect("an object").remove("stats");
        // The page draws bytes only.
        let rows = told.get_mut("rows").and_then(Value::as_array_mut);
        for row in rows.into_iter().flatten() {
            row.as_object_mut().expect("a row").remove("live_blocks");
        }
        told
    };
    let table = [
        "table", "--by", "line", "--curve", "--at", "rss-peak", "--top", "1000",
    ];
    assert_eq!(
        data["logs/1/table?by=line&curve=1&at=rss-peak&top=1000"],
        told(&table)
    );
    assert_eq!(
        data["logs/1/timeline?points=4000"],
        told(&["timeline", "--points", "4000"])
    );
    let leaks = ["leaks", "--by", "function", "--growing", "--top", "1000"];
    assert_eq!(
        data["logs/1/leaks?by=function&growing=1&top=1000"],
        told(&leaks)
    );
    // By itself: nothing is fetched, and nothing runs but what is known.
    let (head, _) = html.split_once("<style>").expect("a head");
    assert!(head.contains("default-src 'none'") && head.contains("script-src 'sha256-"));
    assert!(!head.contains("unsafe") && !html.contains(" src=") && !html.contains("<link"));
    assert_eq!(html.matches("<script").count(), 2);
}

/// As many stacks as a program may have: the file stays small, and says what it lacks.
#[test]
fn a_large_log_makes_no_large_file() {
    let folder = Folder::new("server-html-large");
    let source = folder.path("many.c");
    fs::write(&source, MANY).expect("a source");
    let log = log_of(&folder, &source, &[]);
    folder.says(&["html", "-o", "out.html", word(&log)]);
    let html = fs::read_to_string(folder.path("out.html")).expect("a file");
    assert!(html.len() < 10 << 20, "{}", html.len());
    let data = data_of(&html);
    let notes = data["logs/1"]["notes"].to_string();
    assert!(notes.contains("this report has the"), "{notes}");
    let flame = &data["logs/1/flame?by=allocated&nodes=20000"];
    assert!(flame["left_out"]["nodes"].as_u64().expect("a number") > 0);
    let table: Value =
        serde_json::from_str(&folder.says(&["table", "--json", "--top", "1", word(&log)]))
            .expect("JSON");
    assert_eq!(flame["total_bytes"], table["bytes"]);
}

/// Each of 200,000 blocks is asked for by another way through eighteen calls.
const MANY: &str = r#"
#include <stdlib.h>
#define CALL(name) __attribute__((noinline)) void name(unsigned bits, int depth) \
    { walk(bits >> 1, depth - 1); __asm__ volatile(""); }
static void walk(unsigned bits, int depth);
CALL(left) CALL(right)
static __attribute__((noinline)) void walk(unsigned bits, int depth) {
    if (depth == 0) { *(volatile char *)malloc(64) = 1; return; }
    if (bits & 1) left(bits, depth); else right(bits, depth);
    __asm__ volatile("");
}
int main(void) {
    for (unsigned i = 0; i < 200000; i++) walk(i, 18);
    return 0;
}
"#;

#[test]
fn what_cannot_be_written_is_told_before() {
    let folder = Folder::new("server-html-none");
    let log = log_of(&folder, &victim("sites.c"), &[]);
    let refused = folder.run(&["html", "-o", "missing/out.html", word(&log)]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = folder.run(&["html", "--open", "-o", "-", word(&log)]);
    assert_eq!(refused.status.code(), Some(2));
}
