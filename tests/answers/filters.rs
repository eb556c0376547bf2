//! Expressions made at random, printed as text, and judged block by block.

use std::collections::BTreeMap;

use crate::sites::Folder;
use crate::twin::{Block, Twin};
use crate::{Random, ask_words, first_seed, is_long, number, pair, recorded, rows, total, twin};

/// Whether a block passes.
pub type Passes = Box<dyn Fn(&Block) -> bool>;

/// What the twin knows of a filter.
pub enum Expr {
    Test(String, Passes),
    Not(Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
}

impl Expr {
    pub fn passes(&self, block: &Block) -> bool {
        match self {
            Expr::Test(_, test) => test(block),
            Expr::Not(one) => !one.passes(block),
            Expr::And(list) => list.iter().all(|one| one.passes(block)),
            Expr::Or(list) => list.iter().any(|one| one.passes(block)),
        }
    }

    pub fn text(&self) -> String {
        let joined = |list: &[Expr], word: &str| {
            let parts: Vec<_> = list.iter().map(|one| format!("({})", one.text())).collect();
            parts.join(word)
        };
        match self {
            Expr::Test(text, _) => text.clone(),
            Expr::Not(one) => format!("not ({})", one.text()),
            Expr::And(list) => joined(list, " and "),
            Expr::Or(list) => joined(list, " or "),
        }
    }
}

/// Something about a block that is a number.
type Value = fn(&Block, &Twin) -> Option<u64>;

/// Fields with a number, the unit that its text has, and whose number it is.
const NUMBERS: &[(&str, &str, Value)] = &[
    ("size", "", |block, _| Some(block.size)),
    ("address", "", |block, _| Some(block.address)),
    ("lifetime", "ns", |block, twin| {
        Some(block.died.map_or(twin.end.0, |died| died.0) - block.born.0)
    }),
    ("lifetime-events", "", |block, twin| {
        Some(block.died.unwrap_or(twin.end).1 - block.born.1)
    }),
    ("born", "ns", |block, _| Some(block.born.0)),
    ("died", "ns", |block, _| Some(block.died?.0)),
    ("tid", "", |block, _| Some(block.tid.into())),
    ("freed-by-tid", "", |block, _| Some(block.freed_by?.into())),
];

/// A test of a number, close to where the answer changes.
fn of_number(twin: &'static Twin, random: &mut Random) -> Expr {
    let (field, unit, value) = NUMBERS[random.below(NUMBERS.len() as u64) as usize];
    let mut near = || {
        let block = &twin.blocks[random.below(twin.blocks.len() as u64) as usize];
        let number = value(block, twin).unwrap_or(0);
        (number + random.below(3)).saturating_sub(1)
    };
    let (mut from, mut to) = (near(), near());
    if from > to {
        (from, to) = (to, from);
    }
    let is = move |test: fn(u64, u64, u64) -> bool| -> Passes {
        Box::new(move |block| value(block, twin).is_some_and(|number| test(number, from, to)))
    };
    let (words, test) = match random.below(7) {
        0 => (
            format!("< {from}{unit}"),
            is(|number, from, _| number < from),
        ),
        1 => (
            format!("<= {from}{unit}"),
            is(|number, from, _| number <= from),
        ),
        2 => (
            format!("> {from}{unit}"),
            is(|number, from, _| number > from),
        ),
        3 => (
            format!(">= {from}{unit}"),
            is(|number, from, _| number >= from),
        ),
        4 => (
            format!("= {from}{unit}"),
            is(|number, from, _| number == from),
        ),
        5 => {
            // A field without a value differs from every value.
            let differs = move |block: &Block| value(block, twin) != Some(from);
            (format!("!= {from}{unit}"), Box::new(differs) as _)
        }
        _ => {
            let words = format!("in {from}{unit}..{to}{unit}");
            (words, is(|number, from, to| (from..=to).contains(&number)))
        }
    };
    Expr::Test(format!("{field} {words}"), test)
}

/// A part of the run, as whole percents.
fn of_share(twin: &'static Twin, random: &mut Random) -> Expr {
    let percent = random.below(101);
    let at = twin.end.0 * percent / 100;
    type Is = fn(&Block, u64, &Twin) -> bool;
    let all: [(&str, Is); 4] = [
        ("born >= ", |block, at, _| block.born.0 >= at),
        ("died < ", |block, at, _| {
            block.died.is_some_and(|died| died.0 < at)
        }),
        ("alive at ", |block, at, _| block.is_live_at(at)),
        ("lifetime <= ", |block, at, twin| {
            block.died.map_or(twin.end.0, |died| died.0) - block.born.0 <= at
        }),
    ];
    let (words, is) = all[random.below(4) as usize];
    let test = move |block: &Block| is(block, at, twin);
    Expr::Test(format!("{words}{percent}%"), Box::new(test))
}

fn of_others(twin: &'static Twin, random: &mut Random) -> Expr {
    let block = &twin.blocks[random.below(twin.blocks.len() as u64) as usize];
    let named = |tid: Option<u32>| tid.and_then(|tid| twin.names.get(&tid)).cloned();
    let (text, test): (String, Passes) = match random.below(9) {
        0 => ("leaked".into(), Box::new(|block| block.died.is_none())),
        1 => ("temporary".into(), Box::new(|block| block.is_temporary)),
        2 => {
            let address = block.address + random.below(block.size + 2);
            let test = move |block: &Block| block.contains(address);
            (format!("contains = {address:#x}"), Box::new(test))
        }
        3 => {
            let name = named(Some(block.tid)).unwrap_or_default();
            let text = format!("thread = \"{name}\"");
            let test = move |block: &Block| named(Some(block.tid)).is_some_and(|it| it == name);
            (text, Box::new(test))
        }
        4 => {
            let name = named(block.freed_by).unwrap_or_else(|| "nobody".into());
            let text = format!("freed-by ~ \"^{name}$\"");
            let test = move |block: &Block| named(block.freed_by).is_some_and(|it| it == name);
            (text, Box::new(test))
        }
        5 => {
            let tid = block.tid;
            let test = move |block: &Block| block.tid == tid;
            (format!("thread = {tid}"), Box::new(test))
        }
        6 => {
            let (bytes, blocks, event) = twin.peak;
            assert!(bytes >= blocks);
            let test = move |block: &Block| block.is_live_after(event);
            ("alive at heap-peak".into(), Box::new(test))
        }
        7 => {
            let (from, to) = (block.born.0, block.born.0 + twin.end.0 / 9);
            let test = move |block: &Block| {
                block.born.0 <= from && block.died.is_none_or(|died| to < died.0)
            };
            (format!("alive in {from}ns..{to}ns"), Box::new(test))
        }
        _ => ("all".into(), Box::new(|_| true)),
    };
    Expr::Test(text, test)
}

pub fn expression(twin: &'static Twin, random: &mut Random, depth: u64) -> Expr {
    if depth == 0 || random.below(4) == 0 {
        return match random.below(5) {
            0..3 => of_number(twin, random),
            3 => of_share(twin, random),
            _ => of_others(twin, random),
        };
    }
    let kind = random.below(3);
    let parts = if kind == 0 { 1 } else { 2 + random.below(2) };
    let mut list: Vec<_> = (0..parts)
        .map(|_| expression(twin, random, depth - 1))
        .collect();
    match kind {
        0 => Expr::Not(Box::new(list.remove(0))),
        1 => Expr::And(list),
        _ => Expr::Or(list),
    }
}

#[test]
fn random_filters_choose_the_twins_blocks() {
    for seed in first_seed()..first_seed() + if is_long() { 10 } else { 2 } {
        let folder = Folder::new("answers-filters");
        // By steps of milliseconds, and by a time of each event's own.
        let options = &["--fine-time"][..usize::from(seed % 2 == 0)];
        let (log, _) = recorded(&folder, options, &format!("mix {seed} 900 3"));
        let twin: &'static Twin = Box::leak(Box::new(twin(&folder, &log)));
        let mut random = Random::new(seed);
        for _ in 0..if is_long() { 2000 } else { 40 } {
            let filter = expression(twin, &mut random, 3);
            let text = filter.text();
            let answer = ask_words(&folder, &log, &["table", "--by", "size", "--where", &text]);
            let mut by_size: BTreeMap<u64, u64> = BTreeMap::new();
            for block in twin.blocks.iter().filter(|block| filter.passes(block)) {
                *by_size.entry(block.size).or_default() += 1;
            }
            let size = |name: &serde_json::Value| name.as_str()?.parse().ok();
            let found = rows(&answer).iter().map(|row| {
                let size: u64 = size(&row["name"]).expect("a size");
                assert_eq!(number(row, "bytes"), size * number(row, "blocks"));
                (size, number(row, "blocks"))
            });
            let found: BTreeMap<u64, u64> = found.collect();
            assert_eq!(found, by_size, "seed {seed}: {text}");
        }
    }
}

/// Those that the twin knows nothing of as well.
const ANY: &[&str] = &[
    "waste > 8",
    "usable in 24..40",
    "moved",
    "mmapped",
    "alignment = 64",
    "kind = calloc",
    "kind ~ realloc",
    "function ~ change",
    "leaf = make",
    "module ~ known",
    "file ~ known",
    "line > 60",
    "depth > 3",
    "stack > 2",
    "freed-function ~ mix",
    "last-mark = x",
    "chain-length > 1",
    "chain-position = 0",
    "chain-lifetime > 1ms",
    "first-size < 20",
    "last-size > 20",
    "chain-leaked",
    "group-allocations > 50",
    "group-bytes > 10K",
    "group-leaked >= 10%",
    "group-leaked > 10",
    "group-all-leaked",
    "group-first > 10%",
    "group-last < 90%",
    "group-interval > 5ms",
    "group-peak > heap-peak",
    "born > rss-peak",
    "died <= heap-peak",
    "alive at end",
    "alive at start",
    "first-match(-function ~ make, +function ~ mix)",
    "born >= unix 1700000000s",
    "size_min = 64 and only_leaked",
];

/// A filter and its opposite are all; `not (A and B)` is `not A or not B`.
#[test]
fn opposites_are_all_blocks() {
    let folder = Folder::new("answers-opposites");
    let (log, _) = recorded(&folder, &["--free-stacks"], "mix 5 900 2");
    let of = |filter: &str| {
        total(&ask_words(
            &folder,
            &log,
            &["table", "--by", "size", "--where", filter],
        ))
    };
    let all = of("all");
    let name = log.to_str().expect("a name");
    // Only the log knows that the first end comes last, or that it was before.
    for empty in [
        "alive in end..start",
        "alive at unix 0s",
        "died in end..start",
        "born <= unix 5s",
    ] {
        assert_eq!(of(empty), (0, 0), "{empty}");
    }
    let mut random = Random::new(first_seed());
    let known: Vec<&str> = ANY
        .iter()
        .copied()
        .filter(|filter| {
            folder
                .run(&["threads", name, "--where", filter])
                .status
                .success()
        })
        .collect();
    assert!(known.len() + 3 > ANY.len(), "{known:?}");
    let mut some = 0;
    for one in &known {
        let (is, is_not) = (of(one), of(&format!("not ({one})")));
        assert_eq!((is.0 + is_not.0, is.1 + is_not.1), all, "{one}");
        some += usize::from(is.1 > 0 && is_not.1 > 0);
        let other = known[random.below(known.len() as u64) as usize];
        let left = of(&format!("not (({one}) and ({other}))"));
        let right = of(&format!("not ({one}) or not ({other})"));
        assert_eq!(left, right, "{one}; {other}");
        let (union, both) = (
            of(&format!("({one}) or ({other})")),
            of(&format!("({one}) and ({other})")),
        );
        assert_eq!(union.1 + both.1, is.1 + of(other).1, "{one}; {other}");
    }
    assert!(some > 20, "only {some} filters choose a part");
}

/// Whichever command is asked, a filter chooses the same blocks.
#[test]
fn all_commands_choose_the_same() {
    let folder = Folder::new("answers-same");
    let (log, _) = recorded(&folder, &[], "mix 6 900 2");
    for filter in [
        "size > 50",
        "leaked or temporary",
        "lifetime > 20%",
        "size < 0",
    ] {
        let of = |question: &[&str]| {
            ask_words(&folder, &log, &[question, &["--where", filter]].concat())
        };
        let all = pair(&of(&["table", "--by", "size"]));
        for question in [
            &["histogram", "size"][..],
            &["histogram", "lifetime"],
            &["table", "--by", "kind"],
        ] {
            assert_eq!(total(&of(question)), all, "{question:?} of {filter}");
        }
        assert_eq!(crate::sum(&of(&["threads"])), all, "threads of {filter}");
        let leaked = total(&of(&["leaks", "--by", "size"]));
        let both = format!("({filter}) and leaked");
        let table = ask_words(&folder, &log, &["table", "--by", "size", "--where", &both]);
        assert_eq!(leaked, total(&table), "leaks of {filter}");
    }
}
