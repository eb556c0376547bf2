//! massif.out.

use memlog_import::Lack;

use super::{golden, seen, sentence, total, within};

const HEAD: &str = "desc: (none)\ncmd: ./v a\ntime_unit: ms\n";

fn moment(number: u64, time: u64, bytes: u64, tree: &str) -> String {
    let line = "#-----------\n";
    let kind = if tree.is_empty() { "empty" } else { "detailed" };
    format!(
        "{line}snapshot={number}\n{line}time={time}\nmem_heap_B={bytes}\n\
         mem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree={kind}\n{tree}"
    )
}

fn file(moments: &[String]) -> Vec<u8> {
    [HEAD, &moments.concat()].concat().into_bytes()
}

/// Each moment's sum is that of its line mem_heap_B, as ms_print shows it.
#[test]
fn each_moment_has_its_sum() {
    let file = golden("massif.out");
    let text = String::from_utf8(file.clone()).expect("text");
    let values = |key: &str| -> Vec<u64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(key));
        lines
            .map(|value| value.parse().expect("a number"))
            .collect()
    };
    let (made, seen) = seen(&file);
    let (times, bytes) = (values("time="), values("mem_heap_B="));
    assert_eq!(times.len(), 61);
    for (time, bytes) in times.iter().zip(&bytes) {
        let until = seen.curve.range(..=time).next_back();
        assert_eq!(until.map_or(0, |(_, &sum)| sum), *bytes, "at {time}");
    }
    // The last moment is a little before the end.
    assert_eq!(total(&seen.live).1, 138_811);
    // It has no tree, and none before it is as large as what is live in between.
    let peak: Vec<_> = seen.peak.keys().collect();
    assert_eq!(peak, ["(massif wrote the sum and no tree)"]);
    let remark = "massif wrote no tree of its largest moment, snapshot 60 with 138811 bytes; its \
                  largest tree is that of snapshot 7 with 102000 bytes";
    assert_eq!(made.remarks, [remark]);
    assert!(within(&seen.came, "read_table").1 > 100_000);
    assert!(made.lacks.contains(&Lack::Counts) && made.lacks.contains(&Lack::Times));
    assert!(made.lacks.contains(&Lack::Gone));
}

#[test]
fn a_tree_is_read_by_its_depths() {
    let tree = "n3: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n\
                \x20n2: 700 0x10: f(int) (a b.c:5)\n\
                \x20 n0: 400 0x20: main (a b.c:9)\n\
                \x20 n1: 200 0x30: g (in /lib/x.so)\n\
                \x20  n0: 200 0x20: main (a b.c:9)\n\
                \x20n0: 250 in 3 places, all below massif's threshold (1.00%)\n\
                \x20n0: 50 0x40: ???\n";
    let (_, seen) = seen(&file(&[moment(1, 2, 1000, tree)]));
    let live: Vec<_> = seen
        .live
        .iter()
        .map(|(stack, sum)| (&**stack, sum.1))
        .collect();
    let expected = [
        ("(in 3 places, all below massif's threshold (1.00%))", 250),
        ("0x40", 50),
        // What its callers leave over.
        ("f(int)", 100),
        ("f(int) < g < main", 200),
        ("f(int) < main", 400),
    ];
    assert_eq!(live, expected);
    assert_eq!(seen.curve.keys().next_back(), Some(&2));
}

#[test]
fn without_a_tree_only_the_sum_is_known() {
    let tree = "n1: 100 (heap)\n n0: 100 0x10: f (a.c:5)\n";
    let moments = [
        moment(1, 1, 40, ""),
        moment(2, 2, 100, tree),
        moment(3, 3, 130, ""),
        moment(4, 4, 130, ""),
        moment(5, 5, 90, ""),
        moment(6, 6, 0, ""),
        moment(7, 7, 100, tree),
    ];
    let (made, seen) = seen(&file(&moments));
    let sums: Vec<_> = seen.curve.into_iter().collect();
    let expected = [(1, 40), (2, 100), (3, 130), (5, 90), (6, 0), (7, 100)];
    assert_eq!(sums, expected);
    let peak: Vec<_> = seen
        .peak
        .iter()
        .map(|(stack, sum)| (&**stack, sum.1))
        .collect();
    let more = "(more than in massif's tree of snapshot 2)";
    assert_eq!(peak, [(more, 30), ("f", 100)]);
    let came: Vec<_> = seen.came.keys().map(|stack| &**stack).collect();
    assert_eq!(came, ["(massif wrote the sum and no tree)", more, "f"]);
    assert!(!made.lacks.contains(&Lack::Times));
}

#[test]
fn what_contradicts_itself_is_an_error() {
    let wrong = |tree: &str| sentence(&file(&[moment(1, 1, 100, tree)]));
    let more = wrong("n1: 100 (heap)\n n0: 101 0x10: f (a.c:5)\n");
    assert_eq!(
        more,
        "line 13: expected callers of 100 bytes together, found ' n0: 101 0x10: f (a.c:5)'"
    );
    let root = wrong("n1: 101 (heap)\n n0: 101 0x10: f (a.c:5)\n");
    assert_eq!(
        root,
        "line 13: expected a tree of 100 bytes, as mem_heap_B says, found '101'"
    );
    let deep = wrong("n1: 100 (heap)\n   n0: 100 0x10: f (a.c:5)\n");
    assert!(
        deep.starts_with("line 13: expected a node of a tree at depth 1"),
        "{deep}"
    );
    assert!(wrong("n0 100\n").starts_with("line 12: expected a node"));
    let none = sentence(HEAD.as_bytes());
    assert_eq!(none, "line 4: expected a snapshot, found nothing");
    let unit = sentence(HEAD.replace("ms", "s").as_bytes());
    assert_eq!(
        unit,
        "line 3: expected time_unit: i, ms or B, found 'time_unit: s'"
    );
}

/// A tree that is cut off is left out, and what came before counts.
#[test]
fn a_cut_tree_is_left_out() {
    let tree = "n1: 100 (heap)\n n0: 100 0x10: f (a.c:5)\n";
    let file = file(&[
        moment(1, 1, 100, tree),
        moment(2, 2, 200, "n1: 200 (heap)\n"),
    ]);
    let (made, seen) = seen(&file);
    assert_eq!(total(&seen.live), (1, 100));
    let remark = "the file ends in the tree of snapshot 2, which is left out";
    assert_eq!(made.remarks, [remark]);
}

/// Blanks pack to nothing, and a stack of each depth is as many places.
#[test]
fn a_tree_is_no_deeper_than_valgrinds() {
    let tree = |depth: usize| {
        let lines =
            (0..depth).map(|at| format!("{}n1: {} 0x10: f (a.c:1)\n", " ".repeat(at), depth - at));
        let last = format!("{}n0: 0 0x10: f (a.c:1)\n", " ".repeat(depth));
        let tree = lines.collect::<String>() + &last;
        file(&[moment(0, 1, depth as u64, &tree)])
    };
    let (made, _) = seen(&tree(1000));
    assert_eq!(made.live, (1000, 1000));
    let sentence = sentence(&tree(1001));
    assert!(
        sentence.contains("a node of a tree at depth 1001"),
        "{sentence}"
    );
}
