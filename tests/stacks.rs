//! memlog's call stacks against libunwind's, frame by frame.
//!
//! The second recorder takes every Nth allocation's stack by libunwind, inside
//! the allocator's own call. The first frame is the caller of malloc, the last
//! one the function whose rules say that nobody called it.

mod common;

use common::pairs::{self, command};
use common::stacks::Outcome;
use common::tools::{Folder, is_long, skip, tools};

/// A victim, its arguments, and every how many allocations are walked. A
/// coroutine's stack must have room for libunwind.
const CASES: &[(&str, &[&str], u32)] = &[
    ("churn", &["60000"], 16),
    ("churn", &["8000", "8"], 16),
    ("threads8", &["2000"], 16),
    ("crossfree", &["4000"], 16),
    ("realloc_race", &["1000"], 16),
    ("forker", &["3"], 8),
    ("execer", &["3"], 4),
    ("vforker", &["5"], 1),
    ("api", &["20"], 1),
    ("dlopen_plugin", &["20"], 1),
    ("signals", &["200"], 8),
    ("siglongjmp", &["200"], 8),
    ("throw", &["100"], 2),
    ("coroutines", &["4000", "65536"], 8),
    ("qsort_cb", &["500"], 8),
    ("deep", &["900"], 1),
    ("stackfuzz", &["1", "20000", FUZZED], 8),
    ("stackfuzz", &["2", "20000", FUZZED], 8),
    ("only_new", &[], 64),
    ("sites", &[], 64),
    ("sites_cpp", &[], 64),
    ("sites_f90", &[], 1),
    ("sites_rs", &[], 16),
    ("rust_staticlib", &[], 1),
];

/// All but code made at run time, whose tables libunwind wants by a call of its
/// own instead of `__register_frame`.
const FUZZED: &str = "alloca,vla,realigned,aligned,framepointer,registers,tail,pushing,twice,cold,\
    rbx,r12,rbp,late,moves,sway,jump,cleanup,catch,rethrow,qsort,bsearch,twalk,files,once,\
    mapped,block,own,threads,raise,alternate,step,plugins";

#[test]
fn stacks_are_libunwind_s() {
    let Some(gold) = &tools().gold_stacks else {
        return skip("stacks: libunwind-dev is not installed, so there is nothing to compare with");
    };
    let mut total = Outcome::default();
    for (victim, args, every) in CASES {
        let Some(program) = tools().victim(victim) else {
            skip(&format!("{victim}: no compiler for it"));
            continue;
        };
        let every = if is_long() {
            (every / 8).max(1)
        } else {
            *every
        };
        let folder = Folder::new(victim);
        let mut command = command(&program, &folder, gold);
        command.env("GOLD_STACKS_EVERY", every.to_string());
        let status = command.args(*args).status().expect("the program starts");
        assert!(status.success(), "{victim}: {status}");
        let mut outcome = Outcome::default();
        for pair in &pairs::collect(&folder).pairs {
            outcome.take(pair);
        }
        println!(
            "{victim:14} {:>7} stacks, {:>8} frames, {} kinds of difference, cut {:?}, \
             unmatched {}, libunwind's errors {:?}",
            outcome.compared,
            outcome.frames,
            outcome.differences.len(),
            outcome.cut,
            outcome.unmatched,
            outcome.unwind_errors,
        );
        for (kind, (count, first)) in &outcome.differences {
            println!("   {count} x {kind}\n{first}");
        }
        total.add(outcome);
    }
    println!("{} stacks, {} frames", total.compared, total.frames);
    let differing: u64 = total.differences.values().map(|(count, _)| count).sum();
    assert_eq!(differing, 0, "stacks differ from libunwind's");
    assert_eq!(
        total.unmatched, 0,
        "allocations without an event of memlog's"
    );
}
