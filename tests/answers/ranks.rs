//! `memlog ranks`: against a twin that adds up what `table` and `stats` say of each log by
//! itself; of answers of nodes that are merged; of folders with much that does not count.

mod made;
mod odd;
mod wrapped;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::sites::build::GCC;
use crate::sites::{Folder, said};
use crate::{ask, ask_words, built, number, rows};

/// A job of ranks, and its logs.
struct Job {
    folder: Folder,
    logs: Vec<PathBuf>,
}

const RANKS: u64 = 5;

/// The words of a rank: no two allocate the same.
fn words(rank: u64) -> [String; 4] {
    let steps = 120 + 90 * (rank % 3);
    [
        "mix".to_owned(),
        (rank + 31).to_string(),
        steps.to_string(),
        "2".to_owned(),
    ]
}

impl Job {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        built(&folder, &GCC, "known.c", "known");
        folder.folder("logs");
        let ranks = (0..RANKS).map(|rank| {
            let mut command = folder.memlog(&["record", "-o", "logs/%j.%r.memlog"]);
            command.arg("./known").args(words(rank));
            command
                .env("SLURM_JOB_ID", "77")
                .env("PMI_RANK", rank.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().expect("it runs")
        });
        let ranks: Vec<_> = ranks.collect();
        for rank in ranks {
            let output = rank.wait_with_output().expect("it ends");
            assert!(output.status.success(), "{}", said(&output));
        }
        let logs = (0..RANKS).map(|rank| folder.path(&format!("logs/77.{rank}.memlog")));
        let logs = logs.collect();
        Self { folder, logs }
    }

    #[track_caller]
    fn ranks(&self, words: &[&str]) -> Value {
        json(&self.folder, words)
    }
}

#[track_caller]
fn json(folder: &Folder, words: &[&str]) -> Value {
    let text = folder.says(&[&["ranks", "--json"], words].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn name(path: &Path) -> &str {
    path.to_str().expect("a name")
}

/// What a question says of each log, by name of its rows.
fn of_each(job: &Job, question: &[&str]) -> BTreeMap<String, BTreeMap<u64, (u64, u64)>> {
    let mut all: BTreeMap<String, BTreeMap<u64, (u64, u64)>> = BTreeMap::new();
    for (rank, log) in (0..).zip(&job.logs) {
        let table = ask_words(&job.folder, log, question);
        for row in rows(&table) {
            let name = row["name"].as_str().expect("a name").to_owned();
            let held = (number(row, "bytes"), number(row, "blocks"));
            let known = all.entry(name).or_default().insert(rank, held);
            assert_eq!(known, None);
        }
    }
    all
}

fn check_row(row: &Value, of_ranks: &BTreeMap<u64, (u64, u64)>) {
    let bytes = || of_ranks.values().map(|held| held.0);
    let sum: u64 = bytes().sum();
    assert_eq!(number(row, "ranks"), of_ranks.len() as u64, "{row}");
    assert_eq!(number(row, "bytes"), sum, "{row}");
    let blocks: u64 = of_ranks.values().map(|held| held.1).sum();
    assert_eq!(number(row, "blocks"), blocks, "{row}");
    let (most, least) = (bytes().max().expect("one"), bytes().min().expect("one"));
    let least = if of_ranks.len() as u64 == RANKS {
        least
    } else {
        0
    };
    assert_eq!(number(row, "least_bytes"), least, "{row}");
    assert_eq!(number(row, "mean_bytes"), sum / RANKS, "{row}");
    assert_eq!(number(row, "most_bytes"), most, "{row}");
    let first = of_ranks.iter().find(|(_, held)| held.0 == most);
    assert_eq!(number(row, "most_rank"), *first.expect("one").0, "{row}");
}

#[test]
fn rows_are_the_sums_of_tables() {
    let job = Job::new("answers-ranks");
    for question in [
        &["--by", "function"][..],
        &["--by", "line", "--at", "heap-peak"],
        &["--by", "module", "--at", "50%"],
        &["--by", "size", "--at", "end"],
        &[
            "--by",
            "type",
            "--at",
            "end",
            "--where",
            "size >= 64 and function ~ 'm'",
        ],
    ] {
        let has_moment = question.contains(&"--at");
        let table = [&["table"], question];
        let at: &[&str] = if has_moment {
            &[]
        } else {
            &["--at", "rss-peak"]
        };
        let expected = of_each(&job, &[&table.concat(), at].concat());
        let told = job.ranks(&[question, &["logs/"]].concat());
        assert_eq!(rows(&told).len(), expected.len(), "{question:?}");
        for row in rows(&told) {
            check_row(row, &expected[row["name"].as_str().expect("a name")]);
        }
        let sums = rows(&told).iter().map(|row| number(row, "bytes"));
        assert!(sums.is_sorted_by(|one, next| one >= next), "{question:?}");
        assert_eq!(
            crate::total(&told),
            (number(&told, "bytes"), number(&told, "blocks"))
        );
    }
}

/// Rows by stack are those of the data set: as many bytes as `table` says, in one row for
/// those whose functions differ in lines alone.
#[test]
fn stacks_are_whole_and_peaks_are_those_of_stats() {
    let job = Job::new("answers-ranks-stacks");
    let told = job.ranks(&["--by", "stack", "logs/"]);
    let tables = of_each(&job, &["table", "--at", "rss-peak", "--by", "stack"]);
    let sum = tables
        .values()
        .flat_map(BTreeMap::values)
        .map(|held| held.0);
    assert_eq!(crate::total(&told).0, sum.sum::<u64>());
    for row in rows(&told) {
        let frames = row["stack"].as_array().expect("frames");
        let names = frames
            .iter()
            .map(|frame| frame["function"].as_str().expect("a name"));
        assert_eq!(row["name"], names.collect::<Vec<_>>().join(" < "));
        assert!(row["stack_id"].is_i64(), "{row}");
    }
    for (of, key) in [
        ("rss_peak", "rss_peak_bytes"),
        ("heap_peak", "heap_peak_bytes"),
    ] {
        let stats = job
            .logs
            .iter()
            .map(|log| number(&ask(&job.folder, log, "stats"), key));
        let mut peaks: Vec<(u64, u64)> = stats.zip(0..).collect();
        peaks.sort_unstable();
        let spread = &told[of];
        let pair = |name: &str| {
            (
                number(spread, &format!("{name}_bytes")),
                number(spread, &format!("{name}_rank")),
            )
        };
        assert_eq!(
            (pair("least"), pair("median")),
            (peaks[0], peaks[2]),
            "{of}"
        );
        let highest = peaks[4].0;
        let most = peaks.iter().find(|peak| peak.0 == highest);
        assert_eq!(Some(&pair("most")), most, "{of}");
        let sum: u64 = peaks.iter().map(|peak| peak.0).sum();
        assert_eq!(number(spread, "sum_bytes"), sum);
        let imbalance = highest as f64 * RANKS as f64 / sum as f64;
        let told = spread["imbalance"].as_f64().expect("a number");
        assert!((told - imbalance).abs() < 1e-9, "{told} {imbalance}");
    }
}

/// Nodes answer for their ranks, and the merged answer is that of all at once.
#[test]
fn answers_of_nodes_are_merged() {
    let job = Job::new("answers-ranks-parts");
    let folder = &job.folder;
    for words in [
        &["--by", "stack"][..],
        &["--by", "line", "--at", "end", "--where", "size > 40"],
    ] {
        let whole = job.ranks(&[words, &["logs/"]].concat());
        for (part, logs) in ["a.ranks", "b.ranks", "c.ranks"]
            .iter()
            .zip(job.logs.chunks(2))
        {
            let logs: Vec<&str> = logs.iter().map(|log| name(log)).collect();
            let said = folder.says(&[&["ranks", "-o", part], words, &logs].concat());
            assert!(said.starts_with(&format!("Creating {part}: ")), "{said}");
        }
        assert_eq!(
            without_logs(job.ranks(&["c.ranks", "a.ranks", "b.ranks"])),
            without_logs(whole.clone())
        );
        // Of answers one, and a log itself.
        let last = name(&job.logs[4]);
        folder.says(&[&["ranks", "-o", "ab.ranks"], words, &["b.ranks", "a.ranks"]].concat());
        assert_eq!(
            without_logs(job.ranks(&["ab.ranks", last])),
            without_logs(whole.clone())
        );
        let refused = |words: &[&str], sentence: &str| {
            let output = folder.run(&[&["ranks"], words].concat());
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
            assert!(said.contains(sentence), "{words:?}: {said}");
        };
        refused(&["a.ranks", "ab.ranks"], "rank 0 is there twice");
        // A log that is in an answer counts there, and an answer once.
        fs::copy(folder.path("a.ranks"), folder.path("again.ranks")).expect("copied");
        let twice = ["c.ranks", "a.ranks", "again.ranks", "b.ranks"];
        let mut told = job.ranks(&[&twice[..], &[name(&job.logs[0])]].concat());
        let left_out = told["left_out"].take();
        let why: Vec<_> = left_out
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| &one["why"])
            .collect();
        let expected = [
            "counted in an answer that is given too",
            "the same answer as another file",
        ];
        assert_eq!(why, expected);
        let mut expected = whole.clone();
        expected["left_out"].take();
        assert_eq!(without_logs(told), without_logs(expected));
        refused(&["--by", "size", "a.ranks"], "and what is asked is by size");
    }
    hostile_answers(&job);
}

/// Whatever is in the file, it is an answer or a sentence.
fn hostile_answers(job: &Job) {
    let good = fs::read(job.folder.path("a.ranks")).expect("an answer");
    let magic = good.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    let mut random = crate::Random::new(crate::first_seed());
    for _ in 0..12 {
        let mut bytes = good.clone();
        match random.below(3) {
            0 => bytes.truncate(magic + random.below((good.len() - magic) as u64) as usize),
            1 => {
                let at = magic + random.below((good.len() - magic) as u64) as usize;
                bytes[at] = random.below(256) as u8;
            }
            _ => bytes
                .splice(magic.., *b"{\"ranks\":[[18446744073709551615]]}")
                .for_each(drop),
        }
        fs::write(job.folder.path("bad.ranks"), &bytes).expect("written");
        let output = job.folder.run(&["ranks", "bad.ranks"]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = output.status.code();
        assert!(
            code == Some(0) || code == Some(2) && said.contains("bad.ranks"),
            "{said}"
        );
    }
    fs::write(job.folder.path("bad.ranks"), "memlog-ranks-part-9\n{}").expect("written");
    let output = job.folder.run(&["ranks", "bad.ranks"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("another version of memlog"), "{said}");
}

/// Paths are as they were given.
fn without_logs(mut told: Value) -> Value {
    for outlier in told["outliers"].as_array_mut().into_iter().flatten() {
        outlier["log"].take();
    }
    told
}
