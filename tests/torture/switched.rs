//! The same programs while recording goes on and off at any moment: they behave as without
//! memlog, and of each thread the log has what the second recorder has, in as many pieces as
//! there were windows.

use super::case::Case;
use super::common::compare::by_thread;
use super::common::pairs::Family;
use super::common::tools::{Random, is_long, seed};
use super::common::windows::{outside, pieces};
use super::sample::{Native, sample};
use super::{MOST_COMPARED, judge, run};

/// What all of them came to.
#[derive(Default)]
struct Board {
    ran: usize,
    behave: usize,
    asked: u64,
    recorded: usize,
    seen: usize,
    unlogged: usize,
    wrong: Vec<String>,
}

#[test]
fn programs_behave_while_recording_goes_on_and_off() {
    let mut random = Random::new(seed());
    let mut board = Board::default();
    for native in sample(&mut random, |_| true) {
        let is_off = random.below(2) == 1;
        board.take(&native, is_off, &mut random);
    }
    println!(
        "SCORE programs that behave as native while they are switched {}/{}: asked {} times, \
         {} of {} events recorded, {} images without a log",
        board.behave, board.ran, board.asked, board.recorded, board.seen, board.unlogged
    );
    board.judge();
}

/// What memlog maps when recording goes on must lie in no hole that the program made.
#[test]
fn holes_are_the_program_s() {
    let mut random = Random::new(seed());
    let mut board = Board::default();
    for native in sample(&mut random, |case| case.name == "unmap_twice") {
        board.take(&native, true, &mut random);
    }
    board.judge();
}

impl Board {
    fn judge(&self) {
        assert_eq!(self.wrong, [] as [String; 0]);
        assert!(self.ran > 0 && self.asked > 0);
    }

    fn take(&mut self, native: &Native, is_off: bool, random: &mut Random) {
        let (case, most) = (&native.case, native.most);
        let numbers = random.below(u64::MAX);
        let (output, family, asked) = run::switched(case, &native.program, most, is_off, numbers);
        let mut said = judge::same(&native.output, &output);
        said.extend(in_windows(&family, case, is_off));
        for pair in &family.pairs {
            self.recorded += pair.ours.heap.len();
            self.seen += pair.gold.heap.len();
        }
        self.unlogged += family.only_gold.len();
        self.ran += 1;
        self.behave += usize::from(said.is_empty());
        self.asked += asked;
        let verdict = if said.is_empty() {
            "as native"
        } else {
            "WRONG"
        };
        let first = if is_off { "off" } else { "on" };
        println!(
            "{:28} {first} at first, asked {asked:5} times  {verdict}",
            case.name
        );
        let named = said.into_iter();
        let named = named.map(|line| format!("{}, {first} at first: {line}", case.name));
        self.wrong.extend(named);
    }
}

/// What is wrong with the logs.
fn in_windows(family: &Family, case: &Case, is_off: bool) -> Vec<String> {
    let mut said = family.problems.clone();
    for pair in &family.pairs {
        let name = pair.ours.name();
        let mut add = |line: String| said.push(format!("{name}: {line}"));
        if !case.may_lose {
            let is_late =
                |line: &String| case.may_begin_late && line.contains("counter lost_no_stream ");
            let complaints = pair.ours.complaints().into_iter();
            complaints.filter(|line| !is_late(line)).for_each(&mut add);
        }
        if pair.gold.heap.len() as u64 > MOST_COMPARED && !is_long() {
            continue;
        }
        let most = pair.ours.switches + 1;
        for (ours, gold) in [
            (&pair.ours.heap, &pair.gold.heap),
            (&pair.ours.mappings, &pair.gold.mappings),
        ] {
            let mut gold = by_thread(gold);
            for (tid, ours) in by_thread(ours) {
                let gold = gold.remove(&tid).unwrap_or_default();
                if let Err(place) = pieces(&ours, &gold, most) {
                    let wrong = outside(&ours, &gold, most, place);
                    add(format!("thread {tid}: {wrong}"));
                }
            }
        }
    }
    // Whose recording is off may end before it has a log, and a child may in any case.
    let logs = family.only_gold.iter();
    for gold in logs.filter(|gold| !is_off && gold.parent.is_none() && !gold.heap.is_empty()) {
        let (name, count) = (gold.name(), gold.heap.len());
        said.push(format!("{name}: {count} events, and no log"));
    }
    for log in family.only_ours.iter().filter(|log| !log.heap.is_empty()) {
        let (name, count) = (log.name(), log.heap.len());
        said.push(format!("{name}: {count} events that gold has not"));
    }
    said
}
