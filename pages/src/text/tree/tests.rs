use clap::Parser;
use memlog_analysis::Least;

use super::*;
use crate::names::Name;
use crate::page::tree::By;
use crate::screen::Look;

#[derive(Parser)]
struct Options {
    #[command(flatten)]
    look: Look,
}

/// What is counted, and whether each place has a row.
type Form = (By, bool);

const FOLDED: Form = (By::Live, false);
const FULL: Form = (By::Live, true);

fn printed((by, no_fold): Form, direction: Direction, paths: Vec<(&'static [u8], Held)>) -> String {
    let step = |path: &'static [u8]| {
        let (&label, rest) = path.split_first()?;
        Some((u32::from(label - b'a'), rest))
    };
    let texts = ["make [a.c:1]", "take [b.c:2]", "main [a.c:9]", "run"];
    let name = |text: &str| Name {
        function: text.split(' ').next().unwrap_or_default().into(),
        location: text
            .split_once(" [")
            .map(|(_, place)| place.replace(']', "")),
        module: None,
    };
    let measure = by.measure();
    let total: u64 = paths.iter().map(|path| path.1.by(measure)).sum();
    let least = Least {
        measure,
        amount: total.div_ceil(100),
    };
    let tree = Tree {
        title: "maximum".to_owned(),
        by,
        moment: None,
        snapshot: None,
        direction,
        unfiltered: Held::default(),
        threshold: 1.0,
        asked_threshold: 1.0,
        no_fold,
        branches: CallTree::grow(paths, least, 10_000, step).expect("a small one"),
        has_counts: true,
        most: 10_000,
        names: texts.map(name).into(),
        graph: None,
        times: Vec::new(),
    };
    let screen = Screen::new(&Options::parse_from(["x", "--color", "never"]).look);
    of(&tree, &screen)
}

fn held(bytes: u64, blocks: u64) -> Held {
    Held { bytes, blocks }
}

#[test]
fn the_tree_has_its_form() {
    let paths: Vec<(&[u8], _)> = vec![
        (b"ac", held(6000, 1)),
        (b"ad", held(2192, 1)),
        (b"b", held(768, 3)),
        (b"x", held(20, 1)),
        (b"y", held(20, 1)),
    ];
    let expected = "
maximum: 9,000B in 7 blocks
->91.02% (8,192B, 2x): make [a.c:1]
| ->66.67% (6,000B, 1x): main [a.c:9]
| ->24.36% (2,192B, 1x): run
->8.53% (768B, 3x): take [b.c:2]
->0.44% (40B, 2x): in 2 places, all below the 1.00% threshold
";
    assert_eq!(printed(FOLDED, Direction::BottomUp, paths), expected);
}

/// The same as in the first place: without figures, and not farther right.
#[test]
fn only_callers_stand_below_each_other() {
    let paths: Vec<(&[u8], _)> = vec![
        (b"abcd", held(6000, 1)),
        (b"abdc", held(2000, 2)),
        (b"bcd", held(2000, 3)),
    ];
    let expected = "
maximum: 10,000B in 6 blocks
->80.00% (8,000B, 3x): make [a.c:1]
| <- take [b.c:2]
| ->60.00% (6,000B, 1x): main [a.c:9]
| | <- run
| ->20.00% (2,000B, 2x): run
|   <- main [a.c:9]
->20.00% (2,000B, 3x): take [b.c:2]
  <- main [a.c:9] <- run
";
    assert_eq!(
        printed(FOLDED, Direction::BottomUp, paths.clone()),
        expected
    );
    let expected = "
maximum: 10,000B in 6 blocks
->80.00% (8,000B, 3x): make [a.c:1]
| ->80.00% (8,000B, 3x): take [b.c:2]
|   ->60.00% (6,000B, 1x): main [a.c:9]
|   | ->60.00% (6,000B, 1x): run
|   ->20.00% (2,000B, 2x): run
|     ->20.00% (2,000B, 2x): main [a.c:9]
->20.00% (2,000B, 3x): take [b.c:2]
  ->20.00% (2,000B, 3x): main [a.c:9]
    ->20.00% (2,000B, 3x): run
";
    assert_eq!(printed(FULL, Direction::BottomUp, paths), expected);
}

/// Sums of what is small within a branch, and what it allocated itself.
#[test]
fn rows_of_nothing_are_left_out_and_summed_up() {
    let paths: Vec<(&[u8], _)> = vec![
        (b"cda", held(600_000, 1)),
        (b"cd", held(10, 2)),
        (b"cb", held(400_000, 1)),
        (b"ca", held(4, 3)),
        (b"a", held(6, 5)),
    ];
    let expected = "
maximum: 1,000,020B in 12 blocks
->100.00% (1,000,014B, 7x): main [a.c:9]
| ->60.00% (600,010B, 3x): run
| | ->60.00% (600,000B, 1x): make [a.c:1]
| ->40.00% (400,000B, 1x): take [b.c:2]
->0.00% (6B, 5x): in 1 place below the 1.00% threshold
2 rows of 0.00% are left out: 14B in 5 blocks
";
    assert_eq!(printed(FOLDED, Direction::TopDown, paths.clone()), expected);
    let full = printed(FULL, Direction::TopDown, paths);
    assert!(full.contains("\n| | ->0.00% (10B, 2x): allocated here itself\n"));
    assert!(full.contains("\n| ->0.00% (4B, 3x): in 1 place below the 1.00% threshold\n"));
}

/// Blocks of no bytes have no share, and are not left out for that.
#[test]
fn nothing_of_nothing_is_shown() {
    let paths: Vec<(&[u8], _)> = vec![(b"ca", held(0, 3)), (b"cb", held(0, 2))];
    let expected = "
maximum: 0B in 5 blocks
->0.00% (0B, 5x): main [a.c:9]
  ->0.00% (0B, 3x): make [a.c:1]
  ->0.00% (0B, 2x): take [b.c:2]
";
    assert_eq!(printed(FOLDED, Direction::TopDown, paths), expected);
}

/// Shares and order are of the number of calls.
#[test]
fn calls_are_counted_where_they_are_asked_for() {
    let form = (By::Count, false);
    let paths: Vec<(&[u8], _)> = vec![(b"ac", held(6000, 1)), (b"bc", held(30, 3))];
    let expected = "
maximum: 6,030B in 4 allocations
->75.00% (30B, 3x): take [b.c:2]
| <- main [a.c:9]
->25.00% (6,000B, 1x): make [a.c:1]
  <- main [a.c:9]
";
    assert_eq!(printed(form, Direction::BottomUp, paths), expected);
}

/// `run` and `main` call each other 15 times, and `run` makes two blocks.
#[test]
fn recursion_is_a_line_that_loses_nothing() {
    let path: &'static [u8] = Box::leak(b"dc".repeat(15).into_boxed_slice());
    let paths = vec![
        (path, held(9700, 1)),
        (&path[..9], held(200, 1)),
        (&path[..11], held(100, 2)),
    ];
    let full = "
maximum: 10,000B in 4 blocks
->100.00% (10,000B, 4x): run
  ->100.00% (10,000B, 4x): main [a.c:9]
    ->100.00% (10,000B, 4x): run
      ->100.00% (10,000B, 4x): 27 more of these 2 in turn, levels 4 to 30
";
    let folded = "
maximum: 10,000B in 4 blocks
->100.00% (10,000B, 4x): run
  -> main [a.c:9] -> run -> 27 more of these 2 in turn, levels 4 to 30
";
    let down = |form, paths| printed(form, Direction::TopDown, paths);
    assert_eq!(down(FULL, paths.clone()), full);
    assert_eq!(down(FOLDED, paths.clone()), folded);
    let mut paths = paths;
    let made: &'static [u8] = Box::leak([path, b"a"].concat().into_boxed_slice());
    paths[0].0 = made;
    let last = "        ->97.00% (9,700B, 1x): make [a.c:1]
        ->3.00% (300B, 3x): allocated here itself
";
    assert_eq!(down(FULL, paths.clone()), full.to_owned() + last);
    let last = last.replace("        ->", "  ->");
    assert_eq!(down(FOLDED, paths), folded.to_owned() + &last);
}

/// What is deeper than guides go has the number of its level.
#[test]
fn deep_levels_have_numbers() {
    // No part of this repeats itself.
    let path = (0..150u32).map(|level| b"abcd"[level.count_ones() as usize % 4]);
    let path: &'static [u8] = Box::leak(path.collect());
    let paths = vec![(path, held(100, 1))];
    let text = printed(FULL, Direction::BottomUp, paths.clone());
    let lines: Vec<_> = text.lines().skip(2).collect();
    assert!(lines[100].starts_with(&format!("{:200}->100.00%", "")));
    assert!(lines[101].starts_with("[102]->100.00%"), "{}", lines[101]);
    let text = printed(FOLDED, Direction::BottomUp, paths);
    let lines: Vec<_> = text.lines().skip(3).collect();
    assert!(lines.iter().all(|line| line.starts_with("  <- ")), "{text}");
    assert!(lines.iter().all(|line| line.len() <= 100), "{text}");
    assert_eq!(text.matches(" <- ").count(), 149);
}

#[test]
fn from_main_down_everything_adds_up() {
    let paths: Vec<(&[u8], _)> = vec![
        (b"cda", held(6000, 1)),
        (b"cd", held(1000, 2)),
        (b"cb", held(2000, 1)),
    ];
    let expected = "
maximum: 9,000B in 4 blocks
->100.00% (9,000B, 4x): main [a.c:9]
  ->77.78% (7,000B, 3x): run
  | ->66.67% (6,000B, 1x): make [a.c:1]
  | ->11.11% (1,000B, 2x): allocated here itself
  ->22.22% (2,000B, 1x): take [b.c:2]
";
    assert_eq!(printed(FOLDED, Direction::TopDown, paths), expected);
}
