//! Long answers, and those who read them slowly or not at all.

use std::io::Read;
use std::time::{Duration, Instant};

use super::{Served, list, number};
use crate::client::Reply;

/// Each has a few kilobytes.
const BLOCKS: u32 = 20_000;
/// What nobody reads may take: a few pieces of it, and what their text is made of.
const ROOM_BYTES: u64 = 24 << 20;

#[test]
fn a_long_answer_is_whole() {
    let served = Served::new("long", BLOCKS);
    let all = served.says(&["table", "--by", "size"]);
    for (order, key) in [
        ("timestamp", "id"),
        ("address", "address"),
        ("size", "size"),
    ] {
        let answer = served.asks(&format!(
            "allocations?sort_by={order}&strip_template_args=1"
        ));
        let blocks = list(&answer, "allocations");
        assert_eq!(blocks.len() as u64, number(&all, "blocks"));
        assert_eq!(answer["total_count"], all["blocks"]);
        let bytes: u64 = blocks.iter().map(|block| number(block, "size")).sum();
        assert_eq!(bytes, number(&all, "bytes"));
        assert!(
            blocks.is_sorted_by_key(|block| number(block, key)),
            "{order}"
        );
    }
    let raw = served.asks("raw_allocations");
    assert_eq!(
        raw.as_array().map(Vec::len),
        Some(number(&all, "blocks") as usize)
    );
}

/// Those who read nothing hold neither the desk nor the memory of their answers; they get
/// all of it once they do.
#[test]
fn slow_readers_are_in_nobodys_way() {
    let served = Served::new("slow", BLOCKS);
    let all = served.says(&["table", "--by", "size"]);
    served.asks("allocations?count=1");
    let whole = served.server.get("/data/1/allocations").body.len() as u64;
    let before = served.server.resident_bytes();
    let slow: Vec<_> = (0..6)
        .map(|_| served.server.open("/data/1/allocations"))
        .collect();
    std::thread::sleep(Duration::from_secs(2));
    let began = Instant::now();
    for _ in 0..20 {
        served.asks("timeline");
        served.asks("allocations?count=5&order=dsc");
    }
    assert!(began.elapsed() < Duration::from_secs(20), "others wait");
    let grown = served.server.resident_bytes().saturating_sub(before);
    let readers = slow.len() as u64;
    assert!(
        whole > 20 << 20,
        "the answer is too short for this: {whole}"
    );
    assert!(
        grown < readers * ROOM_BYTES,
        "{grown} bytes for {readers} readers"
    );
    for stream in slow {
        let answer = Reply::read(stream).json();
        assert_eq!(
            list(&answer, "allocations").len() as u64,
            number(&all, "blocks")
        );
    }
}

/// Nothing is made for those who went away.
#[test]
fn who_goes_away_ends_the_work() {
    let served = Served::new("gone", BLOCKS);
    for route in [
        "allocations",
        "raw_allocations",
        "export/heaptrack",
        "export/replay",
    ] {
        for _ in 0..8 {
            let mut stream = served.server.open(&format!("/data/1/{route}"));
            let mut some = [0; 1000];
            stream.read_exact(&mut some).expect("its beginning");
        }
    }
    std::thread::sleep(Duration::from_secs(2));
    let busy = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", served.server.id()));
        let stat = stat.expect("it runs");
        let words = stat.rsplit_once(')').expect("a name").1.split_whitespace();
        let times = words
            .skip(11)
            .take(2)
            .filter_map(|word| word.parse::<u64>().ok());
        times.sum::<u64>()
    };
    let before = busy();
    std::thread::sleep(Duration::from_secs(2));
    // Hundredths of a second; looking at files takes some.
    assert!(busy() - before < 50, "it works on for nobody");
    assert_eq!(
        served.asks("allocations?count=1")["allocations"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
