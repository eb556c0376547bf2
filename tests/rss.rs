//! Who held the memory when the program was biggest: programs whose resident
//! memory has a known shape, compared with the kernel's VmHWM, which they print.
//!
//! The heap at the peak is exact where the peak stands alone. Three shapes get
//! a tolerance: `small`, for the kernel's own counting; `late_touch`, which
//! becomes big without any call of the allocator, so that the peak lies
//! somewhere between two readings and the report shows the largest heap between
//! them, here one block of 1 MiB more; and threads, whose own blocks, below
//! 1 KiB, are made by the C library.

mod sites;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sites::build::GCC;
use sites::tree::{Held, Tree, names};
use sites::{Folder, Stats};

const MIB: u64 = 1 << 20;
const VICTIM: &str = "rss_shapes.c";

/// The line that the victim prints.
struct Printed(HashMap<String, String>);

impl Printed {
    #[track_caller]
    fn read(stdout: &str) -> Self {
        let words = stdout.split_whitespace();
        let pairs = words.map(|word| word.split_once('=').expect("KEY=VALUE"));
        Self(
            pairs
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }

    #[track_caller]
    fn number(&self, key: &str) -> u64 {
        self.0[key].parse().expect("a number")
    }

    /// The function that makes the peak, or one of two equal ones.
    fn is_peak(&self, function: &str) -> bool {
        self.0["peak"].split('|').any(|peak| names(function, peak))
    }
}

/// A recorded shape.
struct Recorded {
    folder: Folder,
    printed: Printed,
    log: PathBuf,
    stats: Stats,
}

impl Recorded {
    /// The log that ended: a program that executes another leaves one as well.
    #[track_caller]
    fn new(shape: &str) -> Self {
        let folder = Folder::new(&format!("rss-{shape}"));
        let program = GCC.build::<&str>(&folder, VICTIM, "rss_shapes", &[]);
        let pattern = folder.path("it.memlog");
        let words = [pattern.as_os_str(), program.as_os_str(), shape.as_ref()];
        let stdout =
            folder.says(&[["record", "-o"].map(AsRef::as_ref).as_slice(), &words].concat());
        Self::of(folder, &stdout)
    }

    #[track_caller]
    fn of(folder: Folder, stdout: &str) -> Self {
        let logs = folder.logs("");
        let mut ended = logs.into_iter().map(|log| (folder.stats(&log), log));
        let (stats, log) = ended
            .find(|(stats, _)| stats.is("ended"))
            .expect("a log that ended");
        Self {
            printed: Printed::read(stdout),
            folder,
            log,
            stats,
        }
    }

    #[track_caller]
    fn report(&self, log: &Path) -> String {
        self.folder
            .says(&["report".as_ref(), "--no-fold".as_ref(), log.as_os_str()])
    }

    fn tree(&self) -> Tree {
        Tree::read(&self.report(&self.log))
    }

    /// Everything but the heap at the peak; `slack_bytes` are the C library's.
    #[track_caller]
    fn figures(&self, slack_bytes: u64) {
        let near = |name: &str, expected: u64, slack: u64| {
            let found = self.stats.number(name);
            let fits = (expected..=expected + slack).contains(&found);
            assert!(
                fits,
                "{name} is {found}, not {expected} and at most {slack} more"
            );
        };
        let kernel = self.printed.number("vmhwm_kb") * 1024;
        let found = self.stats.number("rss_peak_bytes");
        assert!(
            found.abs_diff(kernel) <= kernel / 100,
            "RSS peak {found}, the kernel's {kernel}"
        );
        near(
            "heap_peak_bytes",
            self.printed.number("heap_peak_bytes"),
            slack_bytes,
        );
        near(
            "end_live_bytes",
            self.printed.number("end_live_bytes"),
            slack_bytes,
        );
        near(
            "mapped_peak_bytes",
            self.printed.number("mapped_at_peak_bytes"),
            0,
        );
        assert_eq!(self.stats.number("mapped_end_bytes"), 0);
        assert_eq!(self.stats.number("lost_events"), 0);
    }

    /// The heap at the peak.
    #[track_caller]
    fn live(&self, slack_bytes: u64) {
        self.live_within(0, slack_bytes);
    }

    #[track_caller]
    fn live_within(&self, less_bytes: u64, slack_bytes: u64) {
        let (found, expected) = (
            self.stats.number("rss_peak_live_bytes"),
            self.printed.number("peak_live_bytes"),
        );
        assert!(
            (expected - less_bytes..=expected + slack_bytes).contains(&found),
            "live at the RSS peak: {found}, not {expected}; {}",
            self.report(&self.log)
        );
        assert_eq!(self.tree().total.bytes, found);
    }

    /// What falls is not called the most so far.
    #[track_caller]
    fn titled(&self) {
        let timeline = |word: &str| {
            let words = ["timeline", "--no-pager", word, "--points"].map(AsRef::as_ref);
            let rest = ["10000".as_ref(), self.log.as_os_str()];
            self.folder.says(&[words.as_slice(), &rest].concat())
        };
        let told: serde_json::Value = serde_json::from_str(&timeline("--json")).expect("JSON");
        let points = told["points"].as_array().expect("points");
        let resident = points
            .iter()
            .filter_map(|point| point["rss_bytes"].as_u64());
        let falls = !resident.is_sorted();
        let page = timeline("--color=never");
        assert!(!falls || !page.contains("RSS so far"), "{page}");
    }

    /// Whose blocks are most of it.
    #[track_caller]
    fn blames(&self) {
        let tree = self.tree();
        let top = tree.top().expect("a site");
        assert!(
            self.printed.is_peak(&top.function),
            "{}",
            self.report(&self.log)
        );
    }
}

/// A shape with nothing special about it.
#[track_caller]
fn exact(shape: &str) {
    let recorded = Recorded::new(shape);
    recorded.figures(0);
    recorded.live(0);
    recorded.blames();
    recorded.titled();
}

#[test]
fn ramp() {
    exact("ramp");
}

#[test]
fn spike() {
    exact("spike");
}

#[test]
fn two_peaks() {
    exact("two_peaks");
}

/// 2 GiB that were never touched and are gone take no blame.
#[test]
fn untouched() {
    exact("untouched");
}

/// Grows by less than the kernel counts at once: it adds up resident pages for
/// each processor and tells of them in batches, so that the last ones may come
/// without the peak rising.
#[test]
fn small() {
    const BATCH_PAGES: u64 = 32;
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let recorded = Recorded::new("small");
    recorded.figures(0);
    recorded.live_within(2 * cpus * BATCH_PAGES.max(2 * cpus) * 4096, 0);
    recorded.blames();
}

#[test]
fn between() {
    exact("between");
}

#[test]
fn realloc_grow() {
    exact("realloc_grow");
}

#[test]
fn staircase() {
    exact("staircase");
}

#[test]
fn exec_child() {
    exact("exec_child");
}

#[test]
fn late_touch() {
    let recorded = Recorded::new("late_touch");
    recorded.figures(0);
    recorded.live(MIB);
    recorded.blames();
    let bracket = recorded.stats.value("rss_peak_bracket");
    assert!(
        bracket["low_heap_bytes"].as_u64() <= Some(200 * MIB),
        "{bracket}"
    );
}

#[test]
fn thread() {
    let recorded = Recorded::new("thread");
    recorded.figures(1024);
    recorded.live(1024);
    recorded.blames();
    assert_eq!(recorded.stats.number("threads"), 2);
}

/// A thread that was busy looks at the clock seldom. What it does after a pause
/// is not told as from before it, where another's peak lies between, nor what
/// it does just before a peak as from after it.
#[test]
fn threads_that_pause() {
    for shape in ["paused", "in_step"] {
        let recorded = Recorded::new(shape);
        recorded.figures(1024);
        recorded.live(1024);
        recorded.blames();
    }
}

/// Behind a pause the first events may be told as from before it: of small
/// blocks a few, of no more than 8 KiB together.
#[test]
fn times_around_pauses() {
    let recorded = Recorded::new("pauses");
    let dump = recorded
        .folder
        .says(&["dump".as_ref(), recorded.log.as_os_str()]);
    let mut came: HashMap<&str, (u64, f64)> = HashMap::new();
    let mut early: HashMap<u64, u64> = HashMap::new();
    let mut gone = 0;
    for line in dump.lines() {
        let (event, rest) = line.split_once('\t').expect("an event");
        let seconds: f64 = rest
            .split_whitespace()
            .next()
            .unwrap()
            .parse()
            .expect("seconds");
        match event.split_whitespace().collect::<Vec<_>>()[..] {
            ["M:", size, block] => {
                came.insert(block, (size.parse().expect("bytes"), seconds));
            }
            ["F:", block] => {
                let (size, then) = came.remove(block).expect("a block");
                gone += 1;
                if seconds - then < 0.05 {
                    *early.entry(size).or_default() += size;
                }
            }
            _ => panic!("{line}"),
        }
    }
    assert!(gone >= 13 * 31, "{gone} releases");
    assert!(early.values().all(|&bytes| bytes <= 8192), "{early:?}");
}

/// 2 GiB that are live and were never touched stand at the top of the live
/// set, rightly; the report says that they are not resident.
#[test]
fn untouched_held() {
    let recorded = Recorded::new("untouched_held");
    recorded.figures(0);
    recorded.live(0);
    let tree = recorded.tree();
    assert_eq!(
        tree.of("touched_block"),
        Held {
            bytes: 50 * MIB,
            blocks: 50
        }
    );
    assert_eq!(
        tree.of("untouched_block"),
        Held {
            bytes: 2048 * MIB,
            blocks: 1
        }
    );
    assert!(
        recorded
            .report(&recorded.log)
            .contains("B or more of it not resident")
    );
}

#[test]
fn calloc_lazy() {
    let recorded = Recorded::new("calloc_lazy");
    recorded.figures(0);
    recorded.live(0);
    recorded.blames();
    assert!(
        recorded
            .report(&recorded.log)
            .contains("B or more of it not resident")
    );
}

/// What the program maps itself is in no heap and is told beside it.
#[test]
fn mapped() {
    let recorded = Recorded::new("mapped");
    recorded.figures(0);
    // The reading that shows the peak may come one block later: the page says so.
    recorded.live(MIB);
    assert_eq!(recorded.stats.number("mapped_total_bytes"), 150 * MIB);
    let report = recorded.report(&recorded.log);
    assert!(
        report.contains("mapped:    at most 150.0 MiB at a time"),
        "{report}"
    );
    let log = recorded.log.to_str().expect("a name");
    for (words, size) in [
        (&["summary", log][..], "150.0 MiB"),
        (&["summary", "--bytes", log], "157,286,400B"),
    ] {
        let page = recorded.folder.says(words);
        let title = format!("{size} mapped by the program itself about the RSS peak");
        let (_, below) = page.split_once(&title).expect(&page);
        let row = below.lines().nth(1).expect("a row");
        assert!(
            row.contains(size) && row.contains(" mapped_region ["),
            "{page}"
        );
        assert!(page.contains("\nover time: heap "), "{page}");
    }
    assert_eq!(
        recorded.tree().of("base_block"),
        Held {
            bytes: 10 * MIB,
            blocks: 10
        }
    );
}

/// The second image inherits a figure of 600 MiB, which says nothing of it.
/// The first has a log of its own, without an end: its last reading is from when
/// it executed the second.
#[test]
fn executed_by_a_large_parent() {
    let recorded = Recorded::new("exec");
    recorded.figures(0);
    recorded.live(0);
    recorded.blames();
    let counters = recorded.stats.value("counters");
    assert!(counters["maxrss_floor_kb"].as_u64() > Some(600 * 1024));
    let log = recorded.log.to_str().expect("a name");
    let dumped = recorded.folder.says(&["dump", "--no-symbols", log]);
    let told = dumped.lines().filter_map(|line| {
        let figures = line.split('\t').nth(1)?;
        figures.split(' ').nth(1)?.parse::<u64>().ok()
    });
    let highest_kb = told.max().expect("an event");
    assert!(highest_kb > 0 && highest_kb < 500 * 1024, "{highest_kb}");
    let logs = recorded.folder.logs("");
    let parent = logs.iter().find(|log| **log != recorded.log);
    let parent = parent.expect("the parent's log");
    let stats = recorded.folder.stats(parent);
    assert_eq!(stats.number("heap_peak_bytes"), 600 * MIB);
    for (name, slack) in [("rss_peak_live_bytes", 0), ("rss_peak_bytes", 6 * MIB)] {
        let found = stats.number(name);
        let fits = (600 * MIB..=600 * MIB + slack).contains(&found);
        assert!(fits, "{name} is {found}");
    }
    let tree = Tree::read(&recorded.report(parent));
    assert_eq!(tree.of("parent_block"), tree.total);
}

/// A static program reads the same figures; its C library keeps some blocks.
#[test]
fn of_static_programs() {
    for shape in ["spike", "untouched", "mapped", "exec"] {
        let folder = Folder::new(&format!("rss-static-{shape}"));
        let file = format!("@{}/memlog_s_ld_cmds", folder.recorder().display());
        let program = GCC.build(&folder, VICTIM, "rss_shapes", &["-static", &file]);
        let mut command = folder.command(program);
        let output = command
            .arg(shape)
            .env("MEMLOG_OUTPUT", "it.memlog")
            .output();
        let stdout = String::from_utf8(output.expect("it runs").stdout).expect("text");
        let recorded = Recorded::of(folder, &stdout);
        recorded.figures(4096);
        recorded.live(4096);
        if shape != "mapped" {
            recorded.blames();
        }
    }
}
