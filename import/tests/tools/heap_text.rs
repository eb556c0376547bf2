//! Heap profiles of jemalloc and gperftools.

use memlog_import::Lack;

use super::{golden, seen, sentence, total};

/// gperftools' heap profiler has every block: its first line has the sums.
#[test]
fn gperftools_sums_are_those_of_its_first_line() {
    let file = golden("gperftools.heap");
    let first = String::from_utf8(file.clone()).expect("text");
    let first = first.lines().next().expect("a line");
    let numbers = first
        .split(|at: char| !at.is_ascii_digit())
        .filter(|word| !word.is_empty());
    let numbers: Vec<u64> = numbers
        .map(|word| word.parse().expect("a number"))
        .collect();
    let (made, seen) = seen(&file);
    let (live, came) = (total(&seen.live), total(&seen.came));
    assert_eq!(numbers, [live.0, live.1, came.0, came.1]);
    assert_eq!(live, (101, 156_811));
    assert!(!made.lacks.contains(&Lack::Exactness) && !made.lacks.contains(&Lack::Gone));
}

/// Code is found in its module's file, whose first byte lies at the bias.
#[test]
fn addresses_are_those_of_their_files() {
    for file in ["gperftools.heap", "jemalloc.heap"] {
        let (_, seen) = seen(&golden(file));
        let stacks: Vec<_> = seen.live.keys().collect();
        let first = |stack: &str| stack.starts_with("tables+12") || stack.starts_with("tables+13");
        assert!(stacks.iter().any(|stack| first(stack)), "{stacks:?}");
        // The allocator's own frames did not ask for memory.
        let own = |stack: &str| stack.starts_with("libjemalloc") || stack.starts_with("libtc");
        assert!(!stacks.iter().any(|stack| own(stack)), "{stacks:?}");
    }
}

/// jeprof's own figures of the same file, undone by the same law: 97 samples of 512 bytes.
#[test]
fn samples_stand_for_more() {
    let (made, seen) = seen(&golden("jemalloc.heap"));
    let estimate = |blocks: f64, bytes: f64| {
        let scale = 1.0 / (1.0 - (-(bytes / blocks) / 512.0).exp());
        (
            (blocks * scale).round() as u64,
            (bytes * scale).round() as u64,
        )
    };
    let churn = estimate(752.0, 595_247.0);
    assert!(
        seen.came.values().any(|&sum| sum == churn),
        "{churn:?}: {:?}",
        seen.came
    );
    let copies = estimate(4.0, 128.0);
    assert!(seen.live.values().any(|&sum| sum == copies), "{copies:?}");
    assert!(made.lacks.contains(&Lack::Exactness) && !made.lacks.contains(&Lack::Gone));
}

#[test]
fn each_way_to_sample_is_undone() {
    let live = |head: &str, row: &str| total(&seen(format!("{head}\n{row}\n").as_bytes()).1.live);
    let flat = "2: 100 [ 2: 100] @ 0x10 0x20";
    let of = |kind: &str| live(&format!("heap profile: 2: 100 [ 2: 100]{kind}"), flat);
    assert_eq!(of(" @ heapprofile"), (2, 100));
    assert_eq!(of(" @ heap_v2/1"), (2, 100));
    // 1 / (1 - exp(-50 / 50)) = 1.582
    assert_eq!(of(" @ heap_v2/50"), (3, 158));
    // A mean period of 100, of which 50 bytes are half.
    assert_eq!(of(" @ heap/200"), (4, 200));
    assert_eq!(of(" @ heap/50"), (2, 100));
    // 131072 / 50
    assert_eq!(of(""), (5243, 262_144));
    let threaded = |rate: u64| {
        let row = "  t*: 9: 9 [0: 0]\n@ 0x10 0x20\n  t*: 2: 100 [0: 0]\n  t0: 2: 100 [0: 0]";
        live(&format!("heap_v2/{rate}"), row)
    };
    assert_eq!(threaded(50), (3, 158));
    assert_eq!(threaded(0), (2, 100));
}

#[test]
fn what_is_no_heap_profile_is_an_error() {
    let growth = "heap profile: 2: 100 [ 2: 100] @ growthz\n";
    assert!(sentence(growth.as_bytes()).starts_with("line 1: expected the first line of"));
    assert!(sentence(b"heap_v2/x\n").starts_with("line 1: expected the first line of"));
    let row = "heap profile: 2: 100 [ 2: 100] @ heapprofile\n2: 100 [ 2: 1OO] @ 0x1\n";
    let said = sentence(row.as_bytes());
    assert_eq!(
        said,
        "line 2: expected BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESSES, found '2: 100 [ 2: 1OO] @ 0x1'"
    );
    let threaded = sentence(b"heap_v2/5\n@ 0x1 zz\n");
    assert_eq!(
        threaded,
        "line 2: expected a stack or the blocks of one, found '@ 0x1 zz'"
    );
}
