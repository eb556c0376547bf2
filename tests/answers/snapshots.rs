//! `memlog report --every`: each snapshot, what came between two, and pmem's form,
//! against a twin that goes through the lines of `memlog dump` and copies what is live.

pub mod twin;

use std::path::Path;

use serde_json::Value;

use crate::sites::Folder;
use crate::sites::build::optioned;
use crate::twin::ns;
use crate::{Random, ask, ask_words, built, first_seed, is_long, number, pair, recorded};
use twin::{Block, ByPath, ByStack, Every, Snapshot, Twin, plus, sum};

const SHOW: &str = " --show-snapshots --show-snapshot-deltas --show-cumulative-snapshot-delta";

/// What ends at each node of a tree, by its functions in the program.
pub fn tree_by_path(tree: &Value) -> ByPath {
    let nodes = tree["nodes"].as_array().expect("nodes");
    let mut paths: Vec<Vec<String>> = Vec::new();
    let mut found = ByPath::new();
    for node in nodes {
        let parent = node["parent"].as_u64();
        let mut path = parent.map_or(Vec::new(), |parent| paths[parent as usize].clone());
        if node["module"] == "known" {
            path.push(node["function"].as_str().expect("a name").to_owned());
        }
        assert_eq!(node["folded"], Value::Null, "-t 0 shows all");
        let own = (
            number(node, "own_bytes") as i64,
            number(node, "own_blocks") as i64,
        );
        if own != (0, 0) {
            let sum = found.entry(path.clone()).or_default();
            *sum = plus(*sum, own);
        }
        paths.push(path);
    }
    found
}

/// More and less of each stack, bytes and blocks each for themselves.
fn differences(then: &ByStack, now: &ByStack) -> [ByStack; 2] {
    let held = |of: &ByStack, stack| of.get(stack).copied().unwrap_or_default();
    let stacks = then.keys().chain(now.keys());
    let (mut grew, mut shrank) = (ByStack::new(), ByStack::new());
    for stack in stacks {
        let (then, now) = (held(then, stack), held(now, stack));
        let difference = (now.0 - then.0, now.1 - then.1);
        grew.insert(*stack, (difference.0.max(0), difference.1.max(0)));
        shrank.insert(*stack, ((-difference.0).max(0), (-difference.1).max(0)));
    }
    [grew, shrank]
}

pub struct Case {
    pub folder: Folder,
    pub log: std::path::PathBuf,
    pub twin: Twin,
}

impl Case {
    pub fn new(name: &str, words: &str) -> Self {
        let folder = Folder::new(name);
        // What is inlined is a function of a tree, and none of a line of the dump.
        let options = &["-std=gnu11", "-O1", "-fno-inline", "-g", "-pthread"];
        built(&folder, &optioned("gcc", options), "known.c", "known");
        let (log, _) = recorded(&folder, &[], words);
        let twin = Twin::of(&folder, &log);
        Self { folder, log, twin }
    }

    fn ask(&self, every: Every, more: &str) -> Value {
        let question = format!("report --every {} -t 0{more}", every.words());
        ask(&self.folder, &self.log, &question)
    }

    fn judge_list(&self, answer: &Value, every: Every) -> usize {
        self.judge_snapshots(answer, self.twin.snapshots(every), every)
    }

    fn judge_snapshots(&self, answer: &Value, expected: Vec<Snapshot>, every: Every) -> usize {
        let list = answer["snapshots"].as_array().expect("snapshots");
        assert_eq!(list.len() + 1, expected.len(), "{}", every.words());
        for (index, (told, expected)) in list.iter().zip(&expected).enumerate() {
            assert_eq!(told["label"], format!("snapshot-{index}"));
            assert_eq!(told["mark"], Value::Null);
            let ns = ns(&told["seconds"].to_string());
            // A time within a step of the clock is told as its beginning.
            let of_time = matches!(every, Every::Ns(_));
            let expected_ns = expected.ns.expect("no end");
            assert!(ns == expected_ns || of_time && ns < expected_ns, "{told}");
            let all = [
                ("events", expected.events as i64),
                ("churn_bytes", expected.churn as i64),
                ("bytes", sum(&expected.live).0),
                ("blocks", sum(&expected.live).1),
                ("unfiltered_bytes", expected.all.0),
                ("unfiltered_blocks", expected.all.1),
                ("allocated_bytes", sum(&expected.came).0),
                ("allocations", sum(&expected.came).1),
                ("freed_bytes", sum(&expected.went).0),
                ("releases", sum(&expected.went).1),
            ];
            for (key, expected) in all {
                assert_eq!(number(told, key) as i64, expected, "{key} of {told}");
            }
        }
        list.len()
    }

    /// The trees of all snapshots, stack by stack.
    fn judge_trees(&self, every: Every, with: Option<&str>) {
        let filter = with.map_or(String::new(), |name| format!(" -i ^{name}$"));
        let answer = self.ask(every, &format!("{SHOW}{filter}"));
        self.judge_trees_of(&answer, self.twin.snapshots(every), with, |one| &one.live);
    }

    /// Of what the snapshots say as `of` does.
    fn judge_trees_of(
        &self,
        answer: &Value,
        mut expected: Vec<Snapshot>,
        with: Option<&str>,
        amounts: impl Fn(&Snapshot) -> &ByStack,
    ) {
        expected.pop();
        let trees = answer["trees"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |label: &str, change: Option<&str>| {
            let is_it = |tree: &&Value| tree["label"] == label && tree["change"].as_str() == change;
            let mut found = trees.iter().filter(is_it);
            let tree = found.next();
            assert!(found.next().is_none(), "{label} {change:?} twice");
            let Some(tree) = tree else {
                return ByPath::new();
            };
            let by_path = tree_by_path(tree);
            let total = by_path.values().copied().fold((0, 0), plus);
            assert_eq!((total.0 as u64, total.1 as u64), pair(tree), "{label}");
            by_path
        };
        let changes = |label: &str, then: &ByStack, now: &ByStack| {
            for (what, expected) in ["grew", "shrank"].into_iter().zip(differences(then, now)) {
                let expected = self.twin.by_path(&expected, with);
                assert_eq!(of(label, Some(what)), expected, "{label} {what}");
            }
        };
        for (index, one) in expected.iter().enumerate() {
            let label = format!("snapshot-{index}");
            let live = self.twin.by_path(amounts(one), with);
            assert_eq!(of(&label, None), live, "{label}");
            if index > 0 {
                let before = &expected[index - 1];
                changes(&format!("{label}-delta"), amounts(before), amounts(one));
            }
        }
        if let [first, .., last] = &expected[..] {
            changes("cum-snapshot-delta", amounts(first), amounts(last));
        }
        let all = trees.iter().filter(|tree| tree["change"].is_null());
        assert_eq!(all.count(), expected.len());
    }

    /// pmem's form, byte by byte; its stacks stood in any order.
    fn judge_pmem(&self, distance: u64) {
        self.judge_pmem_of(distance, "all", &|_| true);
        self.judge_pmem_of(distance, "size > 99 and leaked", &|block| {
            block.size > 99 && block.is_leaked
        });
    }

    fn judge_pmem_of(&self, distance: u64, filter: &str, passes: &dyn Fn(&Block) -> bool) {
        let every = format!("{distance}B");
        let log = self.log.to_str().expect("a name");
        let words = ["report", "--as", "pmem", "--every", &every, "-w", filter];
        let text = self.folder.says(&[&words[..], &[log]].concat());
        let (first, rest) = text.split_at(1);
        assert_eq!(first, "\n");
        let found: Vec<&str> = rest.split("\n\n[").collect();
        let expected = self.twin.snapshots_of(Every::Churn(distance), passes);
        assert_eq!(found.len(), expected.len(), "snapshots each {every}");
        for (index, (found, one)) in found.iter().zip(&expected).enumerate() {
            let mut found: Vec<&str> = found.trim_end().split("\n\n").collect();
            let head = format!(
                "{index:3}]=========================================================\nchurn={}/{distance}",
                one.churn
            );
            assert_eq!(found.remove(0).trim_start_matches('['), head);
            let held = |of: &ByStack, stack| of.get(stack).copied().unwrap_or_default();
            let active = one.live.keys().filter(|stack| {
                let is_active = one.came.contains_key(stack) || one.went.contains_key(stack);
                held(&one.live, stack).1 > 0 && is_active
            });
            let lines = active.map(|stack| {
                let of = |of| held(of, stack).0;
                format!(
                    "{{{:x}}} live:{}, alloc:{}/{}, free:{}/{}\n{}",
                    self.twin.stacks[*stack].id,
                    of(&one.live),
                    of(&one.came),
                    of(&one.came_ever),
                    of(&one.went),
                    of(&one.went_ever),
                    self.twin.stacks[*stack].lines.trim_end(),
                )
            });
            let mut lines: Vec<String> = lines.collect();
            lines.sort();
            found.sort_unstable();
            assert_eq!(found, lines, "snapshot {index} each {every}");
        }
    }
}

#[test]
fn snapshots_by_bytes_are_the_twins() {
    for (seed, threads) in [(1, 1), (2, 4)] {
        let case = Case::new(
            &format!("answers-snapshots-{threads}"),
            &format!("mix {seed} 500 {threads}"),
        );
        let churn = case.twin.churn();
        let mut random = Random::new(first_seed() + threads);
        let mut most = 0;
        // Of one byte each event with bytes is a snapshot.
        for distance in [1, 1 + random.below(5000), churn / 50, 10 * churn] {
            let every = Every::Churn(distance);
            most = most.max(case.judge_list(&case.ask(every, ""), every));
        }
        assert!(most > 500, "{most}");
        for _ in 0..if is_long() { 50 } else { 1 } {
            let distance = churn / 40 + random.below(churn);
            case.judge_trees(Every::Churn(distance), None);
            case.judge_trees(Every::Churn(distance), Some("change"));
            case.judge_pmem(distance);
        }
        case.judge_pmem(churn / 200);
    }
}

#[test]
fn snapshots_in_time_are_the_twins() {
    let case = Case::new("answers-snapshots-time", "mix 3 3000 1");
    let tick = number(&ask(&case.folder, &case.log, "info"), "tick_ns");
    for part in [3, 10, 40] {
        let distance = (case.twin.end_ns / part).max(tick);
        let every = Every::Ns(distance);
        assert!(case.judge_list(&case.ask(every, ""), every) > 0);
        case.judge_trees(every, None);
    }
    // A step of the clock is the least.
    let every = Every::Ns(tick);
    case.judge_list(&case.ask(every, ""), every);
}

/// Chosen blocks, and sums of what was allocated up to each snapshot.
#[test]
fn snapshots_of_chosen_blocks_are_the_twins() {
    for (seed, threads) in [(first_seed() + 3, 1), (first_seed() + 4, 3)] {
        let case = Case::new(
            &format!("answers-snapshots-chosen-{threads}"),
            &format!("mix {seed} 500 {threads}"),
        );
        let mut random = Random::new(seed);
        let churn = case.twin.churn();
        for _ in 0..if is_long() { 30 } else { 1 } {
            let size = random.below(3000) as i64;
            let small = move |block: &Block| block.size <= size;
            let lost = move |block: &Block| block.size > size / 4 && block.is_leaked;
            type Passes = Box<dyn Fn(&Block) -> bool>;
            let filters: [(String, Passes); 3] = [
                (format!("size <= {size}"), Box::new(small)),
                (format!("leaked and size > {}", size / 4), Box::new(lost)),
                ("size < 0".into(), Box::new(|_| false)),
            ];
            let distance = churn / 40 + random.below(churn);
            let times = case.twin.end_ns / (2 + random.below(20)) / 4_000_000 * 4_000_000;
            let times = Every::Ns(times.max(4_000_000));
            for (filter, passes) in &filters {
                for every in [Every::Churn(distance), times] {
                    judge_chosen(&case, every, filter, passes);
                }
            }
        }
    }
}

fn judge_chosen(case: &Case, every: Every, filter: &str, passes: &dyn Fn(&Block) -> bool) {
    let question = format!("report --every {} -t 0{SHOW}", every.words());
    let of = |more: &[&str]| {
        let words: Vec<&str> = question.split(' ').chain(more.iter().copied()).collect();
        ask_words(&case.folder, &case.log, &words)
    };
    let twin = || case.twin.snapshots_of(every, passes);
    let answer = of(&["--where", filter]);
    case.judge_snapshots(&answer, twin(), every);
    case.judge_trees_of(&answer, twin(), None, |one| &one.live);
    let whole = case.twin.snapshots(every);
    let trees = answer["trees"].as_array().map_or(&[][..], Vec::as_slice);
    let live = trees.iter().filter(|tree| tree["change"].is_null());
    for (tree, one) in live.zip(&whole) {
        assert_eq!(
            number(tree, "unfiltered_bytes") as i64,
            one.all.0,
            "{filter}"
        );
    }
    for by in ["allocated", "count"] {
        let answer = of(&["--by", by, "-i", "^change$", "--where", filter]);
        case.judge_trees_of(&answer, twin(), Some("change"), |one| &one.came_ever);
    }
    let answer = of(&["--by", "allocated"]);
    case.judge_list(&answer, every);
    case.judge_trees_of(&answer, whole, None, |one| &one.came_ever);
}

/// What `--at` says of such a moment, which is found in another way.
#[track_caller]
fn as_at(folder: &Folder, log: &Path, filter: &str) -> usize {
    let info = ask(folder, log, "info");
    let stats = ask(folder, log, "stats");
    let (tick, end) = (
        number(&info, "tick_ns"),
        ns(&stats["duration_seconds"].to_string()),
    );
    let every = (end / 7 / tick).max(1) * tick;
    let question = format!("report --every {every}ns --show-snapshots -t 0{filter}");
    let answer = ask(folder, log, &question);
    let list = answer["snapshots"].as_array().expect("snapshots");
    let trees = answer["trees"].as_array().map_or(&[][..], Vec::as_slice);
    assert_eq!(list.len(), trees.len());
    for (one, tree) in list.iter().zip(trees) {
        let question = format!("report --at {} -t 0{filter}", one["seconds"]);
        let at = ask(folder, log, &question);
        for key in [
            "bytes",
            "blocks",
            "unfiltered_bytes",
            "unfiltered_blocks",
            "nodes",
        ] {
            assert_eq!(
                tree[key], at["trees"][0][key],
                "{key} at {}",
                one["seconds"]
            );
        }
    }
    // What was live before the first is what it began with.
    let mut live = [
        number(&stats, "inherited_bytes") as i64,
        number(&stats, "inherited_blocks") as i64,
    ];
    if stats["flight_recorder"].is_null() && filter.is_empty() {
        for one in list {
            live[0] += number(one, "allocated_bytes") as i64 - number(one, "freed_bytes") as i64;
            live[1] += number(one, "allocations") as i64 - number(one, "releases") as i64;
            assert_eq!(
                live,
                [number(one, "bytes") as i64, number(one, "blocks") as i64]
            );
        }
    }
    list.len()
}

#[test]
fn odd_logs_have_snapshots() {
    let folder = Folder::new("answers-snapshots-odd");
    let mut snapshots = 0;
    for (options, words) in [
        (&[][..], "fork"),
        (&["--flight-recorder=512K"][..], "many 60000"),
        (&["--flight-recorder=512K"][..], "mix 5 3000 3"),
        (&[][..], "killed 3 800"),
        (&[][..], "mix 4 900 3"),
        (&["--fine-time"][..], "mix 6 900 3"),
    ] {
        let (log, _) = recorded(&folder, options, words);
        snapshots += as_at(&folder, &log, "");
        as_at(&folder, &log, " -x ^make$");
        as_at(&folder, &log, " --where size>200");
        as_at(&folder, &log, " -i ^main$ --where size<=200");
        if words == "mix 4 900 3" {
            let bytes = std::fs::read(&log).expect("the log");
            let cut = folder.path("cut.memlog");
            std::fs::write(&cut, &bytes[..bytes.len() - 70_000]).expect("write");
            snapshots += as_at(&folder, &cut, "");
        }
    }
    assert!(snapshots > 20, "{snapshots}");
    let children = folder.logs("").into_iter();
    let inherited =
        |log: &std::path::PathBuf| number(&ask(&folder, log, "stats"), "inherited_blocks") > 0;
    let children: Vec<_> = children.filter(inherited).collect();
    assert_eq!(children.len(), 1);
    let answer = ask(
        &folder,
        &children[0],
        "report --every 1B --show-cumulative-snapshot-delta",
    );
    assert!(
        answer["snapshots"]
            .as_array()
            .is_some_and(|list| list.len() > 40)
    );
    as_at(&folder, &children[0], "");
    as_at(&folder, &children[0], " --where leaked");
}
