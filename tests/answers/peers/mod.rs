//! heaptrack, massif and DHAT on programs that do the same in every run: memlog says to
//! the byte what they say, except where a difference is named here.
//!
//! * A block is temporary to heaptrack if the event before its release is an allocation of
//!   the same size and stack, whether that was this block or another.
//! * heaptrack does not see memalign; its library brings libstdc++ and that its reserve;
//!   and at the end it has the C library free its own.
//! * valgrind counts a byte for a block of none.
//! * The C library's table for a new thread has 16 bytes for each library with
//!   thread-local storage, as every recorder is.

mod told;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::sites::build::{GCC, GXX};
use crate::sites::{Folder, said, victim};
use crate::twin::Twin;
use crate::{ask, number, pair, rows, total, twin};
use told::{Asked, Functions, Heaptrack, Told, Unseen};

/// Of a thread's table, what one more library takes.
const SLOT: u64 = 16;
/// libstdc++'s reserve for exceptions, where it is loaded.
const RESERVE: u64 = 72_704;

/// A program, its log, and whom a new thread's table is counted to.
struct Case {
    folder: Folder,
    program: PathBuf,
    log: PathBuf,
    functions: Functions,
    twin: Twin,
    /// Blocks of no byte, by function.
    empty: BTreeMap<String, u64>,
    /// Who starts threads, and how many of their tables are made.
    starts: &'static str,
    tables: u64,
}

impl Case {
    fn new(peer: &str, source: &Path, starts: &'static str, tables: u64) -> Option<Self> {
        Self::with(peer, source, starts, tables, &[])
    }

    fn with(
        peer: &str,
        source: &Path,
        starts: &'static str,
        tables: u64,
        options: &[&str],
    ) -> Option<Self> {
        let is_c = source.extension().is_some_and(|ending| ending == "c");
        let compiler = if is_c { &GCC } else { &GXX };
        let name = source.file_stem()?.to_str()?;
        if !compiler.is_here(&format!("{name} beside {peer}")) {
            return None;
        }
        let folder = Folder::new(&format!("answers-{peer}-{}-{name}", compiler.name));
        let program = compiler.build_file(&folder, source, name, options);
        let log = folder.path("it.memlog");
        let mut command = folder.memlog(&["record", "-o"]);
        let output = command.arg(&log).arg(&program).output().expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        let functions = Functions::of(source);
        let chosen = |filter| told::chosen(&folder, &log, &functions, filter);
        let empty = chosen("size = 0");
        Some(Self {
            twin: twin(&folder, &log),
            folder,
            program,
            log,
            functions,
            empty,
            starts,
            tables,
        })
    }

    fn ask(&self, question: &str) -> Value {
        ask(&self.folder, &self.log, question)
    }

    fn told(&self) -> Told {
        told::by_memlog(&self.folder, &self.log, &self.functions)
    }

    fn empty_of(&self, name: &str) -> u64 {
        self.empty.get(name).copied().unwrap_or(0)
    }

    /// As valgrind has it.
    fn as_valgrind(&self) -> Told {
        let mut told = self.told();
        for (name, asked) in &mut told {
            asked.temporary = 0;
            asked.all.0 += self.empty_of(name);
            if name == self.starts {
                for moment in [&mut asked.all, &mut asked.peak, &mut asked.end] {
                    moment.0 -= self.tables * SLOT;
                }
            }
        }
        told
    }

    fn judge_by_valgrind(&self) {
        let expected = self.as_valgrind();
        let points = told::points_of_dhat(&self.folder, &[self.program.clone().into()]);
        assert_eq!(expected, told::by_dhat(&points, &self.functions), "DHAT");
        self.judge_rows_by_function(&expected);
        self.judge_threads(&points);
        let (mut massif, most) = told::by_massif(
            &self.folder,
            &[self.program.clone().into()],
            &self.functions,
        );
        massif.retain(|_, asked| asked.peak.0 > 0);
        let of_peak = expected.iter().filter(|(_, asked)| asked.peak.0 > 0);
        let of_peak = of_peak.map(|(name, asked)| {
            let peak = (asked.peak.0, 0);
            (
                name.clone(),
                Asked {
                    peak,
                    ..Asked::default()
                },
            )
        });
        assert_eq!(of_peak.collect::<Told>(), massif, "massif");
        let peak = expected.values().map(|asked| asked.peak.0).sum::<u64>();
        assert_eq!(peak, most, "massif's highest snapshot");
        let answer = self.ask("timeline");
        let points = answer["points"].as_array().expect("points").iter();
        let highest = points.map(|point| number(point, "heap_bytes")).max();
        let ours = peak + self.tables * SLOT;
        assert_eq!(highest, Some(ours), "the timeline");
        assert_eq!(number(&self.ask("stats"), "heap_peak_bytes"), ours);
    }

    /// A function that calls no other of them has a row with all that is its own.
    fn judge_rows_by_function(&self, expected: &Told) {
        let mut judged = 0;
        for row in rows(&self.ask("table")) {
            let name = row["name"].as_str().expect("a name");
            let name = self.functions.first(std::iter::once(name));
            if ["", "main", self.starts].contains(&name.as_str()) {
                continue;
            }
            let (bytes, blocks) = expected[&name].all;
            assert_eq!(pair(row), (bytes - self.empty_of(&name), blocks), "{row}");
            judged += 1;
        }
        assert!(judged >= 5, "{judged} rows");
    }

    /// A thread that runs one function of the program's asked for what DHAT has below it.
    fn judge_threads(&self, points: &[told::Point]) {
        let mut by_first: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for point in points {
            let outwards = point.frames.iter().rev().map(String::as_str);
            let sum = by_first.entry(self.functions.first(outwards)).or_default();
            *sum = (sum.0 + point.asked.all.0, sum.1 + point.asked.all.1);
        }
        // What came before main is the main thread's.
        let before = by_first.remove("").unwrap_or_default();
        let main = by_first.get_mut("main").expect("main asked for memory");
        let empty = self.empty.values().sum::<u64>();
        *main = (
            main.0 + before.0 + self.tables * SLOT - empty,
            main.1 + before.1,
        );
        let mut expected: Vec<_> = by_first.into_values().collect();
        let answer = self.ask("threads");
        let mut found: Vec<_> = rows(&answer).iter().map(pair).collect();
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{answer:#}");
    }

    fn judge_by_heaptrack(&self, has_reserve: bool, unseen: &[Unseen]) {
        let heaptrack = Heaptrack::record(&self.folder, &self.program);
        let mut found = heaptrack.told(&self.functions);
        let mut expected = self.told();
        let temporary =
            told::temporary_to_heaptrack(&self.folder, &self.log, &self.functions, unseen);
        for (name, asked) in &mut expected {
            asked.temporary = temporary.get(name).copied().unwrap_or(0);
            // It tells bytes of moments, and numbers of the run.
            (asked.all.0, asked.peak.1, asked.end.1) = (0, 0, 0);
        }
        for Unseen(name, blocks, bytes, at_end) in unseen {
            let asked = expected.get_mut(*name).expect("a function");
            asked.all.1 -= blocks;
            asked.peak.0 -= bytes;
            asked.end.0 -= at_end;
        }
        expected.retain(|_, asked| *asked != Asked::default());
        // Before main: nothing, but the reserve, which it frees in the end.
        let before = found.remove("").expect("libstdc++ is there");
        assert_eq!((before.all.1, before.peak.0, before.end.0), (1, RESERVE, 0));
        let ours = expected.remove("").unwrap_or_default();
        assert_eq!(
            (ours.all.1, ours.peak.0),
            (has_reserve.into(), u64::from(has_reserve) * RESERVE)
        );
        if self.tables > 0 {
            // Its own libraries have thread-local storage too. Whether a table came before
            // the new thread's first release nobody has recorded.
            let of = |told: &mut Told| {
                let asked = told.get_mut(self.starts).expect("threads");
                (asked.end.0, asked.temporary) = (0, 0);
                std::mem::take(&mut asked.peak.0)
            };
            let (ours, its) = (of(&mut expected), of(&mut found));
            let longer = its.abs_diff(ours);
            assert!(longer % SLOT == 0 && longer <= 4 * SLOT, "{its} for {ours}");
        }
        assert_eq!(expected, found, "heaptrack");
        self.judge_sizes(&heaptrack, has_reserve, unseen);
    }

    fn judge_sizes(&self, heaptrack: &Heaptrack, has_reserve: bool, unseen: &[Unseen]) {
        let mut sizes = heaptrack.sizes();
        if !has_reserve {
            sizes.remove(&RESERVE);
        }
        for Unseen(_, blocks, bytes, _) in unseen {
            *sizes.entry(bytes / blocks).or_default() += blocks;
        }
        // The table of a thread is another length with each; the program asks for none
        // that is near.
        let is_table = |size: u64| self.tables > 0 && (256..400).contains(&size);
        let count = |sizes: &BTreeMap<u64, u64>, range: std::ops::RangeInclusive<u64>| {
            let of = sizes.iter().filter(|(size, _)| range.contains(size));
            of.map(|(_, count)| count).sum::<u64>()
        };
        let mut own = BTreeMap::new();
        for block in &self.twin.blocks {
            *own.entry(block.size).or_default() += 1;
        }
        assert_eq!(sizes.values().sum::<u64>(), own.values().sum::<u64>());
        for row in rows(&self.ask("table --by size")) {
            let size = row["name"]
                .as_str()
                .expect("a size")
                .parse()
                .expect("a size");
            if !is_table(size) {
                assert_eq!(sizes.get(&size), Some(&pair(row).1), "{size}");
            }
        }
        let answer = self.ask("histogram size");
        assert_eq!(total(&answer).1, sizes.values().sum::<u64>());
        for row in rows(&answer) {
            let range = number(row, "from_bytes")..=number(row, "to_bytes");
            if !is_table(*range.start()) {
                assert_eq!(pair(row).1, count(&sizes, range), "{row}");
            }
        }
    }
}

/// Whether a profiler is installed; if not, that is said.
fn has(program: &str, package: &str) -> bool {
    let mut command = std::process::Command::new(program);
    command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let is_here = command.status().is_ok_and(|status| status.success());
    if !is_here {
        println!(
            "SKIPPED {program} beside memlog: it is not installed (as root: apt-get install {package})"
        );
    }
    is_here
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/answers")
        .join(name)
}

#[test]
fn valgrind_says_the_same() {
    if !has("valgrind", "valgrind") {
        return;
    }
    for (source, starts, tables) in [
        (source("asks.c"), "runs", 1),
        (source("asks.cpp"), "main", 1),
        (victim("sites.c"), "main", 0),
        (victim("sites.cpp"), "main", 0),
    ] {
        if let Some(case) = Case::new("valgrind", &source, starts, tables) {
            case.judge_by_valgrind();
        }
    }
}

/// Other people's programs of one thread that do the same in each run.
const PROGRAMS: &[(&str, &[&str])] = &[
    (
        "sqlite3",
        &[
            ":memory:",
            "create table t(a integer primary key, b text);
            with recursive n(i) as (select 1 union all select i + 1 from n where i < 5000)
            insert into t select i, hex(i * 7919 % 65537) from n;
            create index ib on t(b); select count(*) from t where b like '1%';",
        ],
    ),
    (
        "jq",
        &[
            "-n",
            "[range(2000) | {id: ., at: \"x\\(. % 9)\"}] | group_by(.at) | length",
        ],
    ),
    ("xz", &["-T1", "-1", "-c", "/bin/ls"]),
];

/// Numbers and bytes of the run, the peak and the end.
#[test]
fn dhat_says_the_same_of_programs() {
    if !has("valgrind", "valgrind") {
        return;
    }
    for (name, words) in PROGRAMS.iter().filter(|(name, _)| has(name, name)) {
        let folder = Folder::new(&format!("answers-dhat-{name}"));
        let line: Vec<_> = [name]
            .into_iter()
            .chain(*words)
            .map(OsString::from)
            .collect();
        let log = folder.path("it.memlog");
        let mut command = folder.memlog(&["record", "-o"]);
        let output = command.arg(&log).arg("--").args(&line).output();
        let output = output.expect("it runs");
        assert!(output.status.success(), "{}", said(&output));
        // Blocks of none have a byte.
        let of = |question: &str| {
            let (bytes, blocks) = pair(&ask(&folder, &log, question));
            let none = format!("{question} --where size=0");
            (bytes + pair(&ask(&folder, &log, &none)).1, blocks)
        };
        let points = told::points_of_dhat(&folder, &line);
        let sum = |of: fn(&Asked) -> (u64, u64)| {
            let all = points.iter().map(|point| of(&point.asked));
            all.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        assert_eq!(of("table --by size"), sum(|asked| asked.all), "{name}");
        let peak = of("table --by size --at heap-peak");
        assert_eq!(peak, sum(|asked| asked.peak), "{name}");
        assert_eq!(of("leaks --by size"), sum(|asked| asked.end), "{name}");
        assert!(peak.1 > 100, "{name}: {peak:?}");
    }
}

/// Of small blocks memlog does not know the order between threads, even of those that
/// wait for each other, and tells how far its peak may be off.
#[test]
fn a_peak_of_threads_is_as_near_as_it_is_told() {
    if !has("valgrind", "valgrind") {
        return;
    }
    let source = source("asks.cpp");
    for _ in 0..3 {
        let Some(case) = Case::with("massif", &source, "main", 1, &["-DNO_ORDER"]) else {
            return;
        };
        let (_, most) = told::by_massif(
            &case.folder,
            &[case.program.clone().into()],
            &case.functions,
        );
        let stats = case.ask("stats");
        let found = number(&stats, "heap_peak_bytes") - SLOT;
        let bound = number(&stats, "heap_peak_error_bytes");
        assert!(
            found.abs_diff(most) <= bound,
            "{found} for {most}, off by {bound}"
        );
        // Whole sums need no order.
        assert_eq!(
            case.told()
                .values()
                .map(|asked| asked.all)
                .fold((0, 0), |sum, one| { (sum.0 + one.0, sum.1 + one.1) }),
            case.twin.sum(|_| true)
        );
    }
}

#[test]
fn heaptrack_says_the_same() {
    if !has("heaptrack", "heaptrack") {
        return;
    }
    let memalign = [Unseen("aligns", 1, 1001, 0)];
    let epsilons = [Unseen("epsilon", 32, 32 * 65536, 32 * 65536)];
    for (source, starts, tables, unseen) in [
        (source("asks.c"), "runs", 1, &memalign[..]),
        (source("asks.cpp"), "main", 1, &[]),
        (victim("sites.c"), "main", 0, &epsilons),
        (victim("sites.cpp"), "main", 0, &[]),
    ] {
        let is_cxx = source.extension().is_some_and(|ending| ending == "cpp");
        if let Some(case) = Case::new("heaptrack", &source, starts, tables) {
            case.judge_by_heaptrack(is_cxx, unseen);
        }
    }
}
