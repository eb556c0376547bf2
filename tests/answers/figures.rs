//! What the commands say of all blocks, against the twin and `memlog stats`.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::sites::Folder;
use crate::twin::{Block, Twin, ns};
use crate::{ask, ask_where, first_seed, is_long, number, pair, recorded, rows, sum, total, twin};

/// Each takes the twin a look at all blocks.
const MOST_POINTS: usize = 500;

/// A log with its twin.
pub struct Case<'f> {
    folder: &'f Folder,
    log: &'f Path,
    twin: Twin,
    stats: Value,
}

impl<'f> Case<'f> {
    pub fn new(folder: &'f Folder, log: &'f Path) -> Self {
        Self {
            folder,
            log,
            twin: twin(folder, log),
            stats: ask(folder, log, "stats"),
        }
    }

    #[track_caller]
    fn ask(&self, question: &str) -> Value {
        ask(self.folder, self.log, question)
    }

    fn told(&self, name: &str) -> (u64, u64) {
        let key = |of: &str| format!("{name}_{of}");
        (
            number(&self.stats, &key("bytes")),
            number(&self.stats, &key("blocks")),
        )
    }

    pub fn judge(&self) {
        self.judge_groups();
        self.judge_moments();
        self.judge_histograms();
        self.judge_grid();
        self.judge_timeline();
        self.judge_threads();
        self.judge_addresses();
    }

    fn judge_groups(&self) {
        let all = self.twin.sum(|_| true);
        assert_eq!(all.0, number(&self.stats, "total_bytes"));
        for by in [
            "size", "thread", "kind", "stack", "function", "type", "module",
        ] {
            let answer = self.ask(&format!("table --by {by}"));
            assert_eq!(total(&answer), all, "by {by}");
            let waste: u64 = rows(&answer)
                .iter()
                .map(|row| number(row, "waste_bytes"))
                .sum();
            let usable = number(&self.stats, "usable_total_bytes");
            assert_eq!(waste, usable - all.0, "waste by {by}");
        }
        let mut by_size: BTreeMap<u64, Vec<&Block>> = BTreeMap::new();
        for block in &self.twin.blocks {
            by_size.entry(block.size).or_default().push(block);
        }
        let answer = self.ask("table --by size --sort name");
        assert_eq!(rows(&answer).len(), by_size.len());
        // All are counted where a few are shown.
        let few = self.ask("table --by size --top 1");
        assert_eq!(
            (rows(&few).len(), number(&few, "groups")),
            (1, by_size.len() as u64)
        );
        for row in rows(&answer) {
            let size = row["name"].as_str().expect("a name").parse();
            judge_size(row, &by_size[&size.expect("a size")]);
        }
        let gone = |block: &Block| block.died.is_some();
        assert_eq!(
            total(&self.ask("leaks")),
            self.twin.sum(|block| !gone(block))
        );
        let temporary = total(&self.ask("temporary"));
        assert_eq!(temporary, self.twin.sum(|block| block.is_temporary));
        assert_eq!(temporary.1, number(&self.stats, "temporary_allocations"));
    }

    fn judge_moments(&self) {
        let at = |moment: &str| total(&self.ask(&format!("table --by size --at {moment}")));
        assert_eq!(at("end"), self.told("end_live"));
        assert_eq!(at("end"), self.twin.sum(|block| block.died.is_none()));
        assert_eq!(at("heap-peak"), self.told("heap_peak"));
        let (bytes, blocks, event) = self.twin.peak;
        assert_eq!(at("heap-peak"), (bytes, blocks), "after event {event}");
        assert_eq!(
            at("heap-peak"),
            self.twin.sum(|block| block.is_live_after(event))
        );
        assert_eq!(at("rss-peak"), self.told("rss_peak_live"));
        let end = self.twin.end.0;
        for part in 0..=10 {
            let moment = end * part / 10;
            let found = at(&format!("{:.9}", moment as f64 / 1e9));
            let expected = self.twin.sum(|block| block.is_live_at(moment));
            assert_eq!(found, expected, "at {moment} ns of {end}");
        }
    }

    fn judge_histograms(&self) {
        let answer = self.ask("histogram size");
        assert_eq!(total(&answer), self.twin.sum(|_| true));
        for row in rows(&answer) {
            let range = number(row, "from_bytes")..=number(row, "to_bytes");
            let expected = self.twin.sum(|block| range.contains(&block.size));
            assert_eq!(pair(row), expected, "{range:?}");
        }
        let answer = self.ask("histogram lifetime-events");
        assert_eq!(total(&answer), self.twin.sum(|_| true));
        for row in rows(&answer) {
            let is_in = |block: &Block| match block.died {
                None => row["to_events"].is_null(),
                Some(died) => {
                    let range = row["from_events"].as_u64()..=row["to_events"].as_u64();
                    range.contains(&Some(died.1 - block.born.1)) && range.start().is_some()
                }
            };
            assert_eq!(pair(row), self.twin.sum(is_in), "{row}");
        }
        let answer = self.ask("histogram lifetime");
        assert_eq!(total(&answer), self.twin.sum(|_| true));
        for row in rows(&answer) {
            let Some(to) = row["to_seconds"].as_f64() else {
                let leaked = self.twin.sum(|block| block.died.is_none());
                assert_eq!(pair(row), leaked, "{row}");
                continue;
            };
            let from = row["from_seconds"].as_f64().expect("a time");
            let range = (from * 1e9).round() as u64..(to * 1e9).round() as u64;
            let lived = |block: &Block| Some(block.died?.0 - block.born.0);
            let is_in = |block: &Block| lived(block).is_some_and(|ns| range.contains(&ns));
            assert_eq!(pair(row), self.twin.sum(is_in), "{row}");
        }
    }

    /// Each cell is the twin's, and each sum is a class of the other two.
    fn judge_grid(&self) {
        let grid = self.ask("histogram size-lifetime");
        assert_eq!(total(&grid), self.twin.sum(|_| true));
        for row in rows(&grid) {
            let bytes = number(row, "from_bytes")..=number(row, "to_bytes");
            let expected = match row["to_seconds"].as_f64() {
                None => self
                    .twin
                    .sum(|block| bytes.contains(&block.size) && block.died.is_none()),
                Some(to) => {
                    let from = row["from_seconds"].as_f64().expect("a time");
                    let range = (from * 1e9).round() as u64..(to * 1e9).round() as u64;
                    self.twin.sum(|block| {
                        let lived = block.died.map(|died| died.0 - block.born.0);
                        bytes.contains(&block.size) && lived.is_some_and(|ns| range.contains(&ns))
                    })
                }
            };
            assert_eq!(pair(row), expected, "{row}");
            assert!(pair(row).1 > 0, "{row}");
        }
        for (other, keys) in [
            ("size", ["from_bytes", "to_bytes"]),
            ("lifetime", ["from_seconds", "to_seconds"]),
        ] {
            let other = self.ask(&format!("histogram {other}"));
            let of = |row: &Value| keys.map(|key| row[key].to_string());
            for class in rows(&other) {
                let cells = rows(&grid).iter().filter(|row| of(row) == of(class));
                let sum = cells.map(pair);
                let sum = sum.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
                assert_eq!(sum, pair(class), "{class}");
            }
        }
    }

    fn judge_timeline(&self) {
        for (question, most) in [
            ("timeline", 10_000),
            ("timeline --points 7", 7),
            ("timeline --points 2", 2),
            ("timeline --points 0", 2),
            ("timeline --points 1000000", 1_000_000),
        ] {
            judge_points(&self.ask(question), &self.stats, &self.twin, most);
        }
        let some = self.ask("timeline --where size>=1000");
        let points = some["points"].as_array().expect("points");
        let came: u64 = points
            .iter()
            .map(|point| number(point, "allocations"))
            .sum();
        assert_eq!(came, self.twin.sum(|block| block.size >= 1000).1);
        let plain = |point: &&Value| point["moments"] == Value::Array(vec![]);
        let step = points.len() / MOST_POINTS + 1;
        for point in points.iter().filter(plain).step_by(step) {
            let time = ns(&point["seconds"].to_string());
            let live = |block: &Block| block.size >= 1000 && block.is_live_at(time);
            let found = (number(point, "heap_bytes"), number(point, "heap_blocks"));
            assert_eq!(found, self.twin.sum(live), "{point}");
        }
    }

    fn judge_threads(&self) {
        let answer = self.ask("threads");
        assert_eq!(sum(&answer), self.twin.sum(|_| true));
        for row in rows(&answer) {
            let tid = number(row, "tid") as u32;
            assert_eq!(pair(row), self.twin.sum(|block| block.tid == tid), "{row}");
            let freed = (number(row, "freed_bytes"), number(row, "freed_blocks"));
            let expected = self.twin.sum(|block| block.freed_by == Some(tid));
            assert_eq!(freed, expected, "{row}");
            let name = self.twin.names.get(&tid).map_or("", String::as_str);
            assert_eq!(row["thread"], name, "{row}");
        }
        let freed = answer["freed"].as_array().expect("a matrix");
        for one in freed {
            let tid = |key: &str| number(one, key) as u32;
            let (from, to) = (tid("allocated_by"), tid("freed_by"));
            let is = |block: &Block| block.tid == from && block.freed_by == Some(to);
            assert_eq!(pair(one), self.twin.sum(is), "{one}");
        }
        let blocks: u64 = freed.iter().map(|one| pair(one).1).sum();
        assert_eq!(blocks, self.twin.releases);
    }

    fn judge_addresses(&self) {
        let count = self.twin.blocks.len();
        let some = (0..5).map(|part| &self.twin.blocks[(count - 1) * part / 4]);
        let empty = self.twin.blocks.iter().filter(|block| block.size == 0);
        let mut addresses = vec![0, 1, u64::MAX];
        for block in some.chain(empty.take(1)) {
            let (start, size) = (block.address, block.size);
            addresses.extend([start, start + size / 2, start + size, start - 1]);
        }
        // Two steps of the clock, or of fine time.
        let info = self
            .folder
            .says(&["info", self.log.to_str().expect("a name")]);
        let is_fine = info.contains("MEMLOG_FINE_TIME=1");
        let widest = if is_fine { 20 } else { 20_000_000 };
        for address in addresses {
            let answer = ask_where(self.folder, self.log, address);
            let holders = |block: &&Block| block.contains(address);
            let holders: Vec<_> = self.twin.blocks.iter().filter(holders).collect();
            assert_eq!(
                number(&answer, "blocks"),
                holders.len() as u64,
                "{address:#x}"
            );
            for (row, block) in rows(&answer).iter().zip(&holders) {
                assert_eq!(number(row, "bytes"), block.size);
                assert_eq!(row["address"], format!("{:#x}", block.address));
                assert_eq!(number(row, "offset"), address - block.address);
                assert_eq!(row["freed_seconds"].is_null(), block.died.is_none());
                let born = ns(&row["allocated_seconds"].to_string());
                assert_eq!(born, block.born.0, "{row}");
                let events = block.died.map(|died| died.1 - block.born.1);
                assert_eq!(row["lifetime_events"].as_u64(), events, "{row}");
                let Some(died) = block.died else {
                    assert!(row["lifetime_least_seconds"].is_null(), "{row}");
                    continue;
                };
                let bound = |key: &str| ns(&row[key].to_string());
                let least = bound("lifetime_least_seconds");
                let most = bound("lifetime_most_seconds");
                assert!(most - least <= widest, "{row}");
                let range = least..=most;
                assert!(range.contains(&(died.0 - block.born.0)), "{row}");
            }
        }
    }
}

fn judge_size(row: &Value, blocks: &[&Block]) {
    let size = blocks[0].size;
    let count = |is: fn(&&&Block) -> bool| blocks.iter().filter(is).count() as u64;
    assert_eq!(pair(row), (size * blocks.len() as u64, blocks.len() as u64));
    let (leaked, temporary) = (count(|b| b.died.is_none()), count(|b| b.is_temporary));
    for (key, expected) in [
        ("smallest_bytes", size),
        ("largest_bytes", size),
        ("leaked_blocks", leaked),
        ("leaked_bytes", leaked * size),
        ("temporary_blocks", temporary),
    ] {
        assert_eq!(number(row, key), expected, "{key} of {row}");
    }
    for (key, block) in [
        ("first_seconds", blocks.first()),
        ("last_seconds", blocks.last()),
    ] {
        let born = block.expect("a block").born.0;
        assert_eq!(ns(&row[key].to_string()), born, "{key} of {row}");
    }
}

/// Both peaks and the end are among the points, which lose nothing by being few.
pub fn judge_points(answer: &Value, stats: &Value, twin: &Twin, most: usize) {
    let points = answer["points"].as_array().expect("points");
    assert!(points.len() <= most + 3, "{} for {most}", points.len());
    let heap = |point: &Value| (number(point, "heap_bytes"), number(point, "heap_blocks"));
    let told = |name: &str| {
        let key = |of: &str| format!("{name}_{of}");
        (number(stats, &key("bytes")), number(stats, &key("blocks")))
    };
    let seconds: Vec<f64> = points
        .iter()
        .map(|point| point["seconds"].as_f64().expect("a time"))
        .collect();
    assert!(seconds.is_sorted(), "{seconds:?}");
    let last = points.last().expect("a point");
    assert_eq!(heap(last), told("end_live"));
    let highest = points.iter().map(|point| heap(point).0).max();
    assert_eq!(highest, Some(told("heap_peak").0));
    for (name, key) in [("heap-peak", "heap_peak"), ("rss-peak", "rss_peak_live")] {
        let is = |point: &&Value| {
            let moments = point["moments"].as_array().expect("moments");
            moments.iter().any(|moment| moment == name)
        };
        let found: Vec<_> = points.iter().filter(is).collect();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(heap(found[0]), told(key), "{name}");
        if name == "rss-peak" && number(stats, "rss_peak_bytes") > 0 {
            assert_eq!(
                number(found[0], "rss_bytes"),
                number(stats, "rss_peak_bytes")
            );
        }
    }
    let all = |key: &str| points.iter().map(|point| number(point, key)).sum::<u64>();
    assert_eq!(
        (all("allocated_bytes"), all("allocations")),
        twin.sum(|_| true)
    );
    assert_eq!(all("releases"), twin.releases);
}

/// A sentence is not a number, but a page says the same in words.
fn speaks(folder: &Folder, log: &Path) {
    let log = log.to_str().expect("a name");
    for command in crate::COMMANDS {
        let words: Vec<_> = command.split(' ').chain([log]).collect();
        assert!(!folder.says(&words).is_empty(), "{command}");
    }
}

#[test]
fn all_figures_are_the_twins() {
    let seeds = if is_long() { 30 } else { 1 };
    for seed in first_seed()..first_seed() + seeds {
        for (options, words) in [
            (&[][..], format!("mix {seed} 1500 1")),
            (&["--free-stacks"][..], format!("mix {seed} 600 4")),
            (&["--fine-time"][..], format!("mix {seed} 600 3")),
        ] {
            let folder = Folder::new("answers-figures");
            let (log, _) = recorded(&folder, options, &words);
            Case::new(&folder, &log).judge();
            speaks(&folder, &log);
        }
    }
}
