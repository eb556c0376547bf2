//! The memo: whoever reads it in a generation reads what was found out in that
//! generation, whatever writers and whoever empties it do meanwhile.

use super::with_preemptions;
use crate::memo::Memo;
use crate::sync::AtomicU64;
use loom::thread;

const KEY: u64 = 3;

/// What is found out about a key in a generation.
const fn word(key: u64, generation: u64) -> u64 {
    key << 8 | generation
}

/// loom counts what a model makes, and what it leaks is nobody's.
fn memo(pairs: usize) -> Memo {
    let words = (0..Memo::words(pairs)).map(|_| AtomicU64::new(0));
    let words: &'static [AtomicU64] = Box::leak(words.collect());
    let memo = Memo::new(words);
    memo.open(1);
    memo
}

/// As the recorder does it.
fn renew(memo: Memo, generation: u64) -> bool {
    let is_free = memo.close();
    if is_free {
        memo.clear();
        memo.open(generation);
    }
    is_free
}

#[test]
fn what_is_told_is_read_or_nothing() {
    with_preemptions(3, || {
        let memo = memo(2);
        let writer = thread::spawn(move || memo.put(KEY, word(KEY, 1), 1));
        let found = memo.get(KEY, 1);
        assert!(found.is_none_or(|found| found == word(KEY, 1)));
        writer.join().unwrap();
        assert_eq!(memo.get(KEY, 1), Some(word(KEY, 1)));
        assert_eq!(memo.get(KEY, 2), None);
    });
}

#[test]
fn two_writers_of_different_keys_are_both_found() {
    with_preemptions(3, || {
        let memo = memo(2);
        let writer = thread::spawn(move || memo.put(1, word(1, 1), 1));
        memo.put(2, word(2, 1), 1);
        writer.join().unwrap();
        for key in [1, 2] {
            assert_eq!(memo.get(key, 1), Some(word(key, 1)));
        }
    });
}

/// A writer of the generation before is never read in the next one.
#[test]
fn a_late_writer_is_not_believed() {
    with_preemptions(3, || {
        let memo = memo(1);
        let late = thread::spawn(move || memo.put(KEY, word(KEY, 1), 1));
        let is_renewed = renew(memo, 2);
        assert_eq!(memo.get(KEY, 2), None);
        late.join().unwrap();
        assert_eq!(memo.get(KEY, 2), None);
        if is_renewed {
            memo.put(KEY, word(KEY, 2), 2);
            assert_eq!(memo.get(KEY, 2), Some(word(KEY, 2)));
        }
    });
}

/// A reader whose place is emptied and taken by another key meanwhile reads
/// neither that key's word nor a later generation's.
#[test]
fn a_reader_sees_its_own_generation_and_key() {
    with_preemptions(3, || {
        let memo = memo(1);
        memo.put(KEY, word(KEY, 1), 1);
        let reader = thread::spawn(move || memo.get(KEY, 1));
        assert!(renew(memo, 2));
        memo.put(KEY + 1, word(KEY + 1, 2), 2);
        let found = reader.join().unwrap();
        assert!(found.is_none_or(|found| found == word(KEY, 1)));
    });
}

/// Two changes, and one writer who is late for both: his word of the first
/// generation is read in none, and what he is counted by stays right.
#[test]
fn a_slow_writer_is_counted_for_as_long_as_he_writes() {
    with_preemptions(3, || {
        let memo = memo(1);
        let slow = thread::spawn(move || memo.put(KEY, word(KEY, 1), 1));
        for generation in [2, 3] {
            if renew(memo, generation) {
                memo.put(KEY + 1, word(KEY + 1, generation), generation);
            }
            for key in [KEY, KEY + 1] {
                let found = memo.get(key, generation);
                assert!(found.is_none_or(|found| found == word(key, generation)));
            }
        }
        slow.join().unwrap();
        assert!(memo.is_at_rest());
        assert_eq!(memo.get(KEY, 3), None);
    });
}

/// Reader, late writer and change of generation at once.
#[test]
fn nobody_reads_what_a_change_left_behind() {
    with_preemptions(2, || {
        let memo = memo(1);
        let late = thread::spawn(move || memo.put(KEY, word(KEY, 1), 1));
        let reader = thread::spawn(move || memo.get(KEY, 2));
        renew(memo, 2);
        assert!(reader.join().unwrap().is_none());
        late.join().unwrap();
    });
}
