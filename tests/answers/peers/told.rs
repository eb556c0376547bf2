//! What each profiler says of one program, in one shape.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::sites::{Folder, said};
use crate::{ask, ask_words, number, rows};

/// Bytes and blocks.
pub type Pair = (u64, u64);

/// What a function asked for. What a profiler does not tell is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    pub all: Pair,
    pub peak: Pair,
    pub end: Pair,
    pub temporary: u64,
}

/// By function; what none of the program's functions asked for is without a name.
pub type Told = BTreeMap<String, Asked>;

/// The functions of a program's source that are never inlined.
pub struct Functions(Vec<String>);

impl Functions {
    /// Those that are marked in the source, and `main`.
    pub fn of(source: &Path) -> Self {
        let text = fs::read_to_string(source).expect("a source");
        let marked = text.lines().filter(|line| line.starts_with("SITE "));
        let names = marked.filter_map(|line| {
            let (declared, _) = line.split_once('(')?;
            Some(declared.rsplit([' ', '*']).next()?.to_owned())
        });
        let mut names: Vec<_> = names.collect();
        assert!(!names.is_empty(), "{}", source.display());
        names.push("main".to_owned());
        Self(names)
    }

    /// The first frame that is one of them.
    pub fn first<'f>(&self, frames: impl Iterator<Item = &'f str>) -> String {
        let mut names = frames.map(|frame| frame.split('(').next().unwrap_or_default().trim());
        // As `memlog dump` has those of C++.
        let mangled =
            |known: &str| ["_Z", "_ZL"].map(|start| format!("{start}{}{known}", known.len()));
        let is = |name: &str, known: &str| {
            name == known || mangled(known).iter().any(|known| name.starts_with(known))
        };
        let found = names.find_map(|name| self.0.iter().find(|known| is(name, known)));
        found.cloned().unwrap_or_default()
    }
}

/// memlog's rows by stack.
pub fn by_memlog(folder: &Folder, log: &Path, functions: &Functions) -> Told {
    let mut told = Told::new();
    for (question, take) in [
        ("table --by stack", 0),
        ("table --by stack --at heap-peak", 1),
        ("leaks --by stack", 2),
    ] {
        for row in rows(&ask(folder, log, question)) {
            let asked = told.entry(functions.first(frames(row))).or_default();
            let pair = match take {
                0 => &mut asked.all,
                1 => &mut asked.peak,
                _ => &mut asked.end,
            };
            pair.0 += number(row, "bytes");
            pair.1 += number(row, "blocks");
            if take == 0 {
                asked.temporary += number(row, "temporary_blocks");
            }
        }
    }
    told
}

/// How many blocks a filter chooses, by function.
pub fn chosen(
    folder: &Folder,
    log: &Path,
    functions: &Functions,
    filter: &str,
) -> BTreeMap<String, u64> {
    let mut chosen = BTreeMap::new();
    let question = ["table", "--by", "stack", "--where", filter];
    for row in rows(&ask_words(folder, log, &question)) {
        *chosen.entry(functions.first(frames(row))).or_default() += number(row, "blocks");
    }
    chosen
}

/// Blocks that a function asked heaptrack's way past: how many, bytes of all of them, and
/// of those at the end.
pub struct Unseen(pub &'static str, pub u64, pub u64, pub u64);

/// Blocks that are temporary to heaptrack, by function, out of `memlog dump`. Only of
/// threads that never run side by side a thread's next line is what happened next.
pub fn temporary_to_heaptrack(
    folder: &Folder,
    log: &Path,
    functions: &Functions,
    unseen: &[Unseen],
) -> BTreeMap<String, u64> {
    let dump = folder.says(&["dump", log.to_str().expect("a name")]);
    let name_of = |stack: &str| {
        // PATH (SYMBOL+0xOFFSET) [...
        let name = |frame: &'_ str| -> Option<String> {
            let symbol = frame.split(") [").next()?.rsplit_once(" (")?.1;
            Some(symbol.split('+').next()?.to_owned())
        };
        let names: Vec<_> = stack.split('\t').filter_map(name).collect();
        functions.first(names.iter().map(String::as_str))
    };
    let mut temporary = BTreeMap::new();
    // By address: the thread, and size and stack.
    let mut live = BTreeMap::new();
    let mut last = BTreeMap::new();
    for line in dump.lines() {
        let (of, columns) = line.split_once('\t').expect("columns");
        let (times, stack) = columns.split_once('\t').unwrap_or((columns, ""));
        let tid = times.split(' ').nth(2).expect("a thread");
        match of.split(' ').collect::<Vec<_>>()[..] {
            ["M:", size, address] => {
                let is_of =
                    |of: &Unseen| size == (of.2 / of.1).to_string() && name_of(stack) == of.0;
                if !unseen.iter().any(is_of) {
                    live.insert(address, (tid, (size, stack)));
                    last.insert(tid, (size, stack));
                }
            }
            ["F:", address] => {
                let Some((whose, kind)) = live.remove(address) else {
                    continue;
                };
                if [whose, tid].iter().any(|tid| last.get(tid) == Some(&kind)) {
                    *temporary.entry(name_of(kind.1)).or_default() += 1;
                    last.remove(whose);
                }
                last.remove(tid);
            }
            _ => panic!("{line}"),
        }
    }
    temporary
}

/// Names of functions, the innermost first.
fn frames(row: &Value) -> impl Iterator<Item = &str> {
    let frames = row["stack"].as_array().expect("frames").iter();
    frames.map(|frame| frame["function"].as_str().expect("a name"))
}

fn under_valgrind(folder: &Folder, program: &[OsString], options: &[&str]) {
    let mut command = folder.command("valgrind");
    // What the C library frees at the end for a checker's sake is still there.
    command.args(["-q", "--run-libc-freeres=no", "--run-cxx-freeres=no"]);
    let output = command.args(options).args(program).output();
    let output = output.expect("valgrind runs");
    assert!(output.status.success(), "{options:?}: {}", said(&output));
}

/// A program point of DHAT's, innermost frame first.
pub struct Point {
    pub frames: Vec<String>,
    pub asked: Asked,
}

pub fn points_of_dhat(folder: &Folder, program: &[OsString]) -> Vec<Point> {
    under_valgrind(
        folder,
        program,
        &["--tool=dhat", "--dhat-out-file=dhat", "--num-callers=60"],
    );
    let text = fs::read_to_string(folder.path("dhat")).expect("DHAT's file");
    let page: Value = serde_json::from_str(&text).expect("JSON");
    let frames = page["ftbl"].as_array().expect("frames");
    let frame = |index: &Value| {
        let index = index.as_u64().expect("an index") as usize;
        let text = frames[index].as_str().expect("a frame");
        // 0x109417: name (file:line)
        text.split_once(": ")
            .map_or(text, |(_, name)| name)
            .to_owned()
    };
    let points = page["pps"].as_array().expect("points").iter();
    let points = points.map(|point| {
        let pair = |bytes, blocks| (number(point, bytes), number(point, blocks));
        Point {
            frames: point["fs"]
                .as_array()
                .expect("a stack")
                .iter()
                .map(frame)
                .collect(),
            asked: Asked {
                all: pair("tb", "tbk"),
                peak: pair("gb", "gbk"),
                end: pair("eb", "ebk"),
                temporary: 0,
            },
        }
    });
    points.collect()
}

pub fn by_dhat(points: &[Point], functions: &Functions) -> Told {
    let mut told = Told::new();
    for point in points {
        let frames = point.frames.iter().map(String::as_str);
        let asked = told.entry(functions.first(frames)).or_default();
        for (sum, one) in [
            (&mut asked.all, point.asked.all),
            (&mut asked.peak, point.asked.peak),
            (&mut asked.end, point.asked.end),
        ] {
            *sum = (sum.0 + one.0, sum.1 + one.1);
        }
    }
    told
}

/// The tree of massif's peak: bytes only. And the most that it saw at any time.
pub fn by_massif(folder: &Folder, program: &[OsString], functions: &Functions) -> (Told, u64) {
    under_valgrind(
        folder,
        program,
        &[
            "--tool=massif",
            "--massif-out-file=massif",
            "--stacks=no",
            "--threshold=0",
            "--peak-inaccuracy=0",
            "--depth=60",
        ],
    );
    let text = fs::read_to_string(folder.path("massif")).expect("massif's file");
    let heaps = text
        .lines()
        .filter_map(|line| line.strip_prefix("mem_heap_B="));
    let most = heaps.map(|number| number.parse().expect("bytes")).max();
    let (_, tree) = text.split_once("heap_tree=peak\n").expect("a peak");
    let mut told = Told::new();
    let mut path: Vec<String> = Vec::new();
    for line in tree.lines().take_while(|line| !line.starts_with('#')) {
        let depth = line.len() - line.trim_start().len();
        // n2: 4096 0x109417: name (file:line)
        let mut parts = line.trim_start().splitn(3, ": ");
        let callers = parts.next().expect("callers");
        let (bytes, _) = parts
            .next()
            .and_then(|part| part.split_once(' '))
            .expect("bytes");
        path.truncate(depth);
        path.push(parts.next().unwrap_or_default().to_owned());
        if callers == "n0" {
            let name = functions.first(path.iter().map(String::as_str));
            told.entry(name).or_default().peak.0 += bytes.parse::<u64>().expect("bytes");
        }
    }
    (told, most.expect("a snapshot"))
}

/// heaptrack's data.
pub struct Heaptrack<'f> {
    folder: &'f Folder,
    data: std::path::PathBuf,
}

impl<'f> Heaptrack<'f> {
    pub fn record(folder: &'f Folder, program: &Path) -> Self {
        let mut command = folder.command("heaptrack");
        let output = command.args(["-o", "heaptrack"]).arg(program).output();
        let output = output.expect("heaptrack runs");
        assert!(output.status.success(), "{}", said(&output));
        let names = ["heaptrack.zst", "heaptrack.gz"].map(|name| folder.path(name));
        let data = names.into_iter().find(|path| path.exists());
        let data = data.expect("heaptrack's data");
        Self { folder, data }
    }

    /// The file that an option has heaptrack_print write.
    fn printed(&self, options: &[&str]) -> String {
        let mut command = self.folder.command("heaptrack_print");
        command
            .arg("-f")
            .arg(&self.data)
            .args(["-p0", "-a0", "-T0"]);
        let output = command.args(options).arg("printed").output();
        let output = output.expect("heaptrack_print runs");
        assert!(output.status.success(), "{}", said(&output));
        fs::read_to_string(self.folder.path("printed")).expect("what it wrote")
    }

    /// Exact, which its pages are not: allocations, those that are temporary, and bytes
    /// at the peak and at the end.
    pub fn told(&self, functions: &Functions) -> Told {
        let mut told = Told::new();
        for cost in ["allocations", "temporary", "peak", "leaked"] {
            for line in self
                .printed(&["--flamegraph-cost-type", cost, "-F"])
                .lines()
            {
                let (stack, count) = line.rsplit_once(' ').expect("a cost");
                let count: u64 = count.parse().expect("a number");
                // The outermost frame is the first.
                let asked = told.entry(functions.first(stack.rsplit(';'))).or_default();
                match cost {
                    "allocations" => asked.all.1 += count,
                    "temporary" => asked.temporary += count,
                    "peak" => asked.peak.0 += count,
                    _ => asked.end.0 += count,
                }
            }
        }
        told
    }

    /// How many blocks it saw of each size.
    pub fn sizes(&self) -> BTreeMap<u64, u64> {
        let text = self.printed(&["-H"]);
        let lines = text.lines().map(|line| {
            let (size, count) = line.split_once('\t').expect("a size and a count");
            (
                size.parse().expect("a size"),
                count.parse().expect("a count"),
            )
        });
        lines.collect()
    }
}
