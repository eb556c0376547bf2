//! Logs of which blocks are not what they were: zeros or older bytes after a
//! crash of the machine, pages that changed places.
//!
//! Whatever is still read was in the whole log, and what is not is told. But
//! for pages that changed places: then bytes stand where others stood, and
//! where no checksum was made yet the reader cannot know.

use memlog_format::chunk::{Header, Kind, checksum};
use memlog_read::Log;

use crate::common::tools::{Folder, Random, is_long};
use crate::material::{log_of, snapshots_of};
use crate::readers::Readings;
use crate::whole::{Rule, Whole};

/// What many damages came to.
#[derive(Default)]
struct Board {
    tried: usize,
    /// Less was read, and the reader did not say so.
    untold: usize,
    /// The zeros began inside the very last record of a stream.
    blind: usize,
    problems: Vec<String>,
}

/// Whether the last record of a chunk that is not sealed was whole, and now
/// ends in zeros with the chunk's committed part: that cannot be known.
fn is_last_record_hit(whole: &[u8], broken: &[u8]) -> bool {
    const LONGEST: usize = 40;
    whole
        .chunks(65_536)
        .zip(broken.chunks(65_536))
        .any(|(whole, broken)| {
            let Ok(Some(header)) = Header::decode(whole) else {
                return false;
            };
            let end = header.committed as usize;
            let last = end - LONGEST.min(end)..end;
            let is_hit = header.kind == Kind::Events && !header.is_sealed();
            is_hit && broken[end - 1] == 0 && whole[last.clone()] != broken[last]
        })
}

/// Whether all of a chunk became zeros.
fn is_chunk_gone(whole: &[u8], broken: &[u8]) -> bool {
    let mut both = whole.chunks(65_536).zip(broken.chunks(65_536));
    both.any(|(whole, broken)| whole[0] != 0 && broken.iter().all(|&byte| byte == 0))
}

impl Board {
    fn one(&mut self, whole: &Whole, bytes: &[u8], what: &str) {
        self.tried += 1;
        match whole.judge(bytes, Rule::Subset) {
            // Nothing follows the last record, and nothing sums it up yet.
            Err(_) if is_last_record_hit(whole.bytes, bytes) => self.blind += 1,
            Err(wrong) => self.problems.push(format!("{what}: {wrong}")),
            // Whatever was hit, the rest can be read.
            Ok(Err(error)) => self.problems.push(format!("{what}: {error}")),
            Ok(Ok(reading)) => {
                let is_silent = reading.lacks && !reading.told;
                self.untold += usize::from(is_silent);
                // An empty chunk is also what a race for one leaves.
                if is_silent && !is_chunk_gone(whole.bytes, bytes) {
                    let items = reading.items;
                    let problem =
                        format!("{what}: {items} of {} items, and not a word", whole.items);
                    self.problems.push(problem);
                }
            }
        }
    }

    fn tell(&self, what: &str) {
        let fine = self.tried - self.problems.len();
        println!(
            "SCORE {what} {fine}/{}: {} with events missing untold, {} hit \
             in the last record of a stream, which cannot be known",
            self.tried, self.untold, self.blind
        );
        for problem in self.problems.iter().take(20) {
            println!("    {problem}");
        }
    }

    fn judged(&self, what: &str) {
        self.tell(what);
        assert!(self.problems.is_empty(), "{} problems", self.problems.len());
    }
}

const BLOCKS: [usize; 3] = [512, 4096, 65_536];

/// One block of every size at every place of small logs.
#[test]
fn small_logs_with_zeros_at_every_place() {
    let mut board = Board::default();
    for (victim, args) in [
        ("dlopen_plugin", ["12", ""]),
        ("churn", ["3000", "2"]),
        ("realloc_race", ["150", ""]),
        ("forker", ["1", ""]),
    ] {
        let bytes = log_of(victim, &args);
        let whole = Whole::read(&bytes);
        let mut broken = bytes.clone();
        for block in BLOCKS {
            let step = match (is_long(), block) {
                (true, _) | (_, 65_536) => block,
                _ => 37 * block,
            };
            for at in (0..bytes.len()).step_by(step) {
                let end = (at + block).min(bytes.len());
                broken[at..end].fill(0);
                let what = format!("{victim}: {block} zeros at {at:#x}");
                board.one(&whole, &broken, &what);
                broken[at..end].copy_from_slice(&bytes[at..end]);
            }
        }
    }
    board.judged("zeroed blocks, one in a small log");
}

/// Several at once, in a log of megabytes.
#[test]
fn big_logs_with_zeros_at_random() {
    let mut board = Board::default();
    let bytes = log_of("crossfree", &["20000"]);
    let whole = Whole::read(&bytes);
    let mut random = Random::new(11);
    for turn in 0..if is_long() { 2000 } else { 5 } {
        let mut broken = bytes.clone();
        let block = BLOCKS[turn % 3];
        for _ in 0..1 << random.below(5) {
            let at = random.below((bytes.len() / block) as u64) as usize * block;
            broken[at..at + block].fill(0);
        }
        board.one(&whole, &broken, &format!("turn {turn}, blocks of {block}"));
    }
    board.judged("zeroed blocks, several in a big log");
}

/// Pages as they were when the file was younger.
#[test]
fn pages_of_an_older_version() {
    let mut board = Board::default();
    let (older, bytes) = snapshots_of("churn", &["200000", "3"]);
    let whole = Whole::read(&bytes);
    let mut random = Random::new(12);
    for turn in 0..if is_long() { 2000 } else { 5 } {
        let mut broken = bytes.clone();
        for _ in 0..1 << random.below(5) {
            let old = &older[random.below(older.len() as u64) as usize];
            let at = random.below((bytes.len() / 4096) as u64) as usize * 4096;
            let page = &mut broken[at..at + 4096];
            page.fill(0);
            let there = old.get(at..).unwrap_or(&[]);
            let there = &there[..there.len().min(4096)];
            page[..there.len()].copy_from_slice(there);
        }
        board.one(&whole, &broken, &format!("turn {turn}"));
    }
    board.judged("pages of an older version");
}

/// Pages that changed places. What stands where others stood may read as
/// anything; the reader must end, and where a checksum was made say that it is
/// not so.
#[test]
fn pages_that_changed_places() {
    let bytes = log_of("churn", &["20000", "8"]);
    let mut random = Random::new(13);
    let (turns, mut silent) = (if is_long() { 2000 } else { 5 }, 0);
    for turn in 0..turns {
        let mut broken = bytes.clone();
        let page = |random: &mut Random| 1 + random.below((bytes.len() / 4096 - 1) as u64) as usize;
        let (one, other) = (page(&mut random) * 4096, page(&mut random) * 4096);
        broken[one..one + 4096].copy_from_slice(&bytes[other..other + 4096]);
        broken[other..other + 4096].copy_from_slice(&bytes[one..one + 4096]);
        let log = Log::open(&broken).expect("the first page is as it was");
        let mut events = log.events();
        let count = events.by_ref().count();
        let (at_open, later) = (log.findings(), events.findings());
        let is_told = at_open.count() + later.count() + later.order_gaps + later.order_breaks > 0;
        silent += usize::from(!is_told);
        let chunk = |at: usize| &broken[at / 65_536 * 65_536..][..65_536];
        let sealed = [one, other].into_iter().any(|at| is_spoilt(chunk(at)));
        assert!(
            is_told || !sealed,
            "turn {turn}: a checksum is wrong, and not a word"
        );
        assert!(count <= bytes.len(), "turn {turn}");
    }
    println!(
        "SCORE pages in other places {turns}/{turns}: {silent} changed nothing that can be seen"
    );
}

/// Whether a chunk of events has not the checksum that it was sealed with.
fn is_spoilt(chunk: &[u8]) -> bool {
    let Ok(Some(header)) = Header::decode(chunk) else {
        return false;
    };
    let body = &chunk[64..header.committed as usize];
    header.kind == Kind::Events && header.is_sealed() && checksum(body) != header.checksum
}

/// The same through the commands: cut, with zeros, with pages elsewhere.
#[test]
fn commands_read_what_is_left() {
    let bytes = log_of("forker", &["1"]);
    let folder = Folder::new("left");
    let mut random = Random::new(14);
    let mut readings = Readings {
        are_damaged: true,
        ..Readings::default()
    };
    let (turns, mut fine) = (if is_long() { 300 } else { 3 }, 0);
    for turn in 0..turns {
        let mut broken = bytes.clone();
        let block = BLOCKS[turn / 3 % 3];
        let at = random.below((bytes.len() / block) as u64) as usize * block;
        match turn % 3 {
            0 => broken.truncate(random.below(bytes.len() as u64) as usize),
            1 => broken[at..at + block].fill(0),
            _ => broken.copy_within(at..at + block, bytes.len() - block),
        }
        std::fs::write(folder.path().join("left.memlog"), broken).expect("a log");
        let before = readings.problems.len();
        readings.take(folder.path(), 1);
        fine += usize::from(readings.problems.len() == before);
    }
    println!("SCORE damaged logs {fine}/{turns}: read by each of 4 commands");
    assert_eq!(readings.problems, [] as [String; 0]);
}
