//! How fast ten million events are read. Run by hand:
//! `cargo test --release -p memlog-read --test speed -- --ignored --nocapture`;
//! with `MEMLOG_KEEP=DIR` the logs stay there as files.

mod support;

use std::collections::HashMap;
use std::time::Duration;

use memlog_read::{Kind, Log};

/// Processor time of this thread, which other programs do not disturb.
fn cpu_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let nanoseconds = text.split(' ').next().unwrap();
    Duration::from_nanos(nanoseconds.parse().unwrap())
}

fn measure(name: &str, threads: usize, cross: u64) {
    let mut bytes = support::bulk::churn(threads, 10_000_000, 100_000, cross).finish(&[]);
    bytes.extend(support::bulk::tables(support::bulk::STACKS));
    let log = Log::open(&bytes).unwrap();
    let start = cpu_time();
    let mut events = log.events();
    let survey = cpu_time() - start;
    let mut count = 0u64;
    let mut sum = 0u64;
    for item in events.by_ref() {
        count += 1;
        sum = sum.wrapping_add(item.tick);
    }
    let merge = cpu_time() - start;
    assert_eq!(events.findings().count(), 0);
    assert_eq!(events.findings().order_breaks, 0);
    let start = cpu_time();
    let mut live = HashMap::new();
    for item in log.events() {
        match item.kind {
            Kind::Alloc(alloc) => assert!(live.insert(alloc.address, alloc.size).is_none()),
            Kind::Release(release) => assert!(live.remove(&release.address).is_some()),
            _ => {}
        }
    }
    println!(
        "{name}: {count} items, {:.2} bytes each ({sum}); survey {survey:?}, with merge {merge:?}, \
         with a plain live map {:?}, {} blocks left",
        bytes.len() as f64 / count as f64,
        (cpu_time() - start),
        live.len()
    );
    if let Some(folder) = std::env::var_os("MEMLOG_KEEP") {
        let path = std::path::Path::new(&folder).join(format!("{name}.memlog"));
        std::fs::write(path, &bytes).unwrap();
    }
}

#[test]
#[ignore = "a measurement, for people"]
fn ten_million_events() {
    measure("one-thread", 1, 0);
    measure("eight-threads", 8, 0);
    measure("eight-threads-that-share", 8, 20);
    measure("eight-threads-that-share-all", 8, 1);
}
