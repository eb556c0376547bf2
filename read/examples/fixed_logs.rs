//! Writes logs that are the same on each machine, for `bench/read` to count what reading
//! them takes: `fixed_logs FOLDER EVENTS`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::Path;

use support::bulk::{Life, record, tables};

fn main() -> std::io::Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(folder), Some(Ok(events))) = (words.next(), words.next().map(|word| word.parse()))
    else {
        return Err(std::io::Error::other("fixed_logs FOLDER EVENTS"));
    };
    let one = Life {
        threads: 1,
        events,
        window: 20_000,
        cross: 0,
        stacks: 16,
    };
    let many = Life {
        stacks: 60_000,
        ..one
    };
    let threads = Life {
        threads: 4,
        window: 5_000,
        cross: 10,
        ..one
    };
    for (name, life) in [
        ("few-stacks", one),
        ("many-stacks", many),
        ("threads", threads),
    ] {
        let mut bytes = record(life).finish(&[]);
        bytes.extend(tables(life.stacks));
        std::fs::write(Path::new(&folder).join(format!("{name}.memlog")), &bytes)?;
    }
    Ok(())
}
