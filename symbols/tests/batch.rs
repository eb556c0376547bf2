//! Many addresses at once: the answers are those of single questions, in the order of the
//! questions, whoever looks them up.

mod common;
#[path = "common/programs.rs"]
mod programs;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};

use common::{disk, probes, spec};
use memlog_symbols::{ModuleHandle, Options, Store, Symbolizer};

type Question = (ModuleHandle, u64);

/// This program with its inlined functions, and a small one: their addresses mixed, some of them
/// twice.
struct Mixed {
    folder: common::Folder,
    questions: Vec<(usize, u64)>,
}

fn mixed(count: usize) -> Mixed {
    let folder = common::Folder::new();
    folder.write("victim.c", programs::C);
    folder.run("cc -g -O2 -o victim victim.c");
    let own = probes(&std::env::current_exe().unwrap());
    let step = (own.len() / count).max(1);
    let own = own.into_iter().step_by(step).take(count);
    let mut questions: Vec<_> = own.map(|svma| (0, svma)).collect();
    let of_victim = probes(&folder.path("victim"));
    questions.extend(of_victim.into_iter().map(|svma| (1, svma)));
    // In no order at all, but in the same one each time.
    questions
        .sort_by_key(|(module, svma)| svma.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ *module as u64);
    questions.extend_from_within(..questions.len() / 10);
    Mixed { folder, questions }
}

impl Mixed {
    /// With both programs and all questions.
    fn asked<T>(
        &self,
        ask: impl Fn(
            &Symbolizer<'_, fn(&[u8]) -> std::io::Result<memlog_symbols::Bytes>>,
            &[Question],
        ) -> T,
    ) -> T {
        let store = Store::new();
        let options = Options::default();
        let mut symbols = Symbolizer::new(&store, disk as fn(&[u8]) -> _, options);
        let files = [std::env::current_exe().unwrap(), self.folder.path("victim")];
        let modules = files.map(|file| symbols.add_module(&spec(&file)));
        let questions = self.questions.iter().map(|&(at, svma)| (modules[at], svma));
        ask(&symbols, &questions.collect::<Vec<_>>())
    }
}

#[test]
fn answers_are_those_of_single_questions() {
    let mixed = mixed(6000);
    let single = mixed.asked(|symbols, questions| {
        let answers = questions
            .iter()
            .map(|&(module, svma)| symbols.lookup(module, svma));
        answers.collect::<Vec<_>>()
    });
    let inlined = single.iter().filter(|lookup| lookup.frames.len() > 1);
    assert!(inlined.count() > 1000);
    mixed.asked(|symbols, questions| {
        for time in ["first", "second"] {
            let batch = symbols.lookup_batch(questions, || false);
            assert!(
                batch.into_iter().eq(single.iter().cloned().map(Some)),
                "{time}"
            );
        }
        assert!(symbols.lookup_batch(&[], || false).is_empty());
    });
}

/// Who looks up is who asks whether it is over.
fn threads(mixed: &Mixed) -> HashSet<ThreadId> {
    let threads = Mutex::default();
    mixed.asked(|symbols, questions| {
        symbols.lookup_batch(questions, || {
            let threads: &Mutex<HashSet<_>> = &threads;
            threads.lock().unwrap().insert(thread::current().id());
            false
        })
    });
    threads.into_inner().unwrap()
}

#[test]
fn few_addresses_start_no_thread() {
    assert_eq!(
        threads(&mixed(500)),
        HashSet::from([thread::current().id()])
    );
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert_eq!(threads(&mixed(6000)).len(), cores.min(6));
}

#[test]
fn it_ends_when_it_is_over() {
    let asked = AtomicUsize::new(0);
    let is_over = || asked.fetch_add(1, Ordering::Relaxed) >= 100;
    let batch = mixed(2500).asked(|symbols, questions| {
        let batch = symbols.lookup_batch(questions, is_over);
        assert_eq!(batch.len(), questions.len());
        batch
    });
    let found = batch.iter().flatten().count();
    // Some questions come twice.
    assert!((100..=200).contains(&found), "{found}");
}
