//! What was killed while recording went on and off: of each thread the log has what the second
//! recorder has, in as many pieces as there were windows, but for the call that it was inside.

use crate::common::Event;
use crate::common::compare::by_thread;
use crate::common::pairs::{self, Pair};
use crate::common::tools::{Folder, is_long};
use crate::common::windows::{outside, pieces};
use crate::judge::{Findings, is_one_call};

/// Threads of more events are compared in the long runs only: what does the same a million
/// times may lie anywhere.
const MOST_COMPARED: usize = 50_000;

/// What all kills came to.
#[derive(Default)]
pub struct Windows {
    /// Processes, or images of one, with a log.
    pub images: u64,
    /// How often recording went on or off in them.
    pub switches: usize,
    /// Events in their logs, and those that the second recorder saw.
    pub events: usize,
    pub seen: usize,
    pieces: usize,
    unlogged: u64,
    left_out: u64,
}

impl Windows {
    /// Takes in what a run left behind; what is wrong with it.
    pub fn take(&mut self, folder: &Folder) -> Vec<String> {
        let family = pairs::collect(folder);
        let mut said = family.problems;
        for pair in &family.pairs {
            let name = pair.ours.name();
            let wrong = self.take_pair(pair).into_iter();
            said.extend(wrong.map(|line| format!("{name}: {line}")));
        }
        for gold in &family.only_gold {
            self.unlogged += 1;
            // A child whose recording is off has its log some time later.
            if gold.parent.is_none() && !gold.heap.is_empty() {
                let (name, count) = (gold.name(), gold.heap.len());
                said.push(format!("{name}: no log, and {count} events"));
            }
        }
        for log in family.only_ours.iter().filter(|log| log.heap.len() > 1) {
            let (name, count) = (log.name(), log.heap.len());
            said.push(format!("{name}: {count} events that gold has not"));
        }
        said
    }

    fn take_pair(&mut self, pair: &Pair) -> Vec<String> {
        let (ours, gold) = (&pair.ours, &pair.gold);
        self.images += 1;
        self.switches += ours.switches;
        let most = ours.switches + 1;
        let mut said = self.take_threads("", &ours.heap, &gold.heap, most);
        said.extend(self.take_threads("mappings of ", &ours.mappings, &gold.mappings, most));
        said.extend(Findings::of(pair).wrong);
        if ours.announced_losses != 0 {
            said.push(format!("{} events are lost", ours.announced_losses));
        }
        said
    }

    fn take_threads(
        &mut self,
        what: &str,
        ours: &[Event],
        gold: &[Event],
        most: usize,
    ) -> Vec<String> {
        (self.events, self.seen) = (self.events + ours.len(), self.seen + gold.len());
        let mut gold = by_thread(gold);
        let mut said = Vec::new();
        for (tid, ours) in by_thread(ours) {
            let gold = gold.remove(&tid).unwrap_or_default();
            if gold.len() > MOST_COMPARED && !is_long() {
                self.left_out += 1;
                continue;
            }
            match pieces(&ours, &gold, most) {
                Ok(count) => self.pieces += count,
                // The call that it was inside is at the end.
                Err(place) if is_one_call(&ours[place..]) => self.pieces += most,
                Err(place) => {
                    let wrong = outside(&ours, &gold, most, place);
                    said.push(format!("{what}thread {tid}: {wrong}"));
                }
            }
        }
        said
    }

    /// The figures.
    pub fn tell(&self) {
        println!(
            "{} processes, switched {} times: {} of {} events in {} pieces; {} children without a log; {} threads of many events not compared",
            self.images,
            self.switches,
            self.events,
            self.seen,
            self.pieces,
            self.unlogged,
            self.left_out
        );
    }
}

#[test]
fn an_event_that_is_missing_is_a_piece_more() {
    let event = |number: u64| Event {
        address: number % 7,
        size: number,
        usable: number,
        tid: 1,
        api: 0,
        is_release: number % 2 == 1,
        is_fixed: false,
        mark: 0,
    };
    let gold: Vec<Event> = (0..1000).map(event).collect();
    let window = |from: usize, to: usize| gold[from..to].to_vec();
    let ours = [window(10, 300), window(310, 500), window(900, 1000)].concat();
    assert_eq!(pieces(&ours, &gold, 3), Ok(3));
    assert_eq!(pieces(&ours, &gold, 2), Err(290 + 190));
    let mut lacks = ours.clone();
    lacks.remove(100);
    assert_eq!(pieces(&lacks, &gold, 3), Err(289 + 190));
    assert_eq!(pieces(&lacks, &gold, 4), Ok(4));
    let mut swapped = ours.clone();
    swapped.swap(50, 51);
    assert!(pieces(&swapped, &gold, 3).is_err());
    let mut invented = ours;
    invented.insert(7, event(5000));
    assert_eq!(pieces(&invented, &gold, 1000), Err(7));
    // What is done again and again lies everywhere, and is one piece all the same.
    let again: Vec<Event> = (0..3000).map(|number| event(number % 3)).collect();
    assert_eq!(pieces(&again[900..1700], &again, 5), Ok(1));
    let twice = [&again[900..1700], &again[2002..2900]].concat();
    assert_eq!(pieces(&twice, &again, 2), Ok(2));
    assert_eq!(pieces(&twice, &again, 1), Err(800));
    assert_eq!(pieces(&[], &gold, 0), Ok(0));
}
