//! Trees and pictures of the blocks that `--where` chooses, and moments in all their forms.

use std::path::Path;

use serde_json::Value;

use crate::filters::expression;
use crate::sites::{Folder, said};
use crate::twin::{Block, Twin};
use crate::{Random, ask, ask_words, first_seed, is_long, number, recorded, total, twin};

/// What can be asked of trees, of each moment and of the run.
const TREES: &[&str] = &[
    "report --show-maximum --show-leaks --at 50%",
    "report",
    "report --at 0.01s",
    "tree --by allocated",
    "tree --by count -i main",
    "tree --by temporary",
    "tree --top-down --leaks --show-below-main",
];

/// A filter that is true of every block changes no figure.
#[track_caller]
pub fn all_is_as_none(folder: &Folder, log: &Path) {
    for question in TREES {
        let name = log.to_str().expect("a name");
        let words: Vec<&str> = question.split(' ').chain(["--json", name]).collect();
        if !folder.run(&words).status.success() {
            // A time that the log does not have.
            let told = said(&folder.run(&[&words[..], &["-w", "all"]].concat()));
            assert!(told.starts_with("memlog: error: --at "), "{told}");
            continue;
        }
        let none = ask(folder, log, question);
        // Or by a name: stacks are named for the filter too then.
        let filter = match question.len() % 2 {
            0 => "all",
            _ => "function ~ '' or not function ~ ''",
        };
        let words: Vec<&str> = question.split(' ').chain(["--where", filter]).collect();
        let mut every = ask_words(folder, log, &words);
        let object = every.as_object_mut().expect("an object");
        assert!(object.remove("where").is_some_and(|text| text.is_string()));
        assert_eq!(every, none, "{question} of {}", log.display());
    }
}

/// Bytes and blocks of a tree, by its nodes and as told.
#[track_caller]
fn of_tree(tree: &Value) -> (u64, u64) {
    let sum = |key: &str| {
        let nodes = tree["nodes"].as_array().expect("nodes").iter();
        nodes.map(|node| number(node, key)).sum::<u64>()
    };
    let told = (number(tree, "bytes"), number(tree, "blocks"));
    assert_eq!((sum("own_bytes"), sum("own_blocks")), told);
    told
}

/// What a tree counts of a chosen block, if it does.
type Counts = Box<dyn Fn(&Block) -> bool>;

/// A question to `tree`, and what it counts.
fn questions(twin: &Twin, random: &mut Random) -> Vec<(String, Counts)> {
    let percent = random.below(101);
    let part = twin.end.0 * percent / 100;
    let ns = random.below(twin.end.0);
    let peak = twin.peak.2;
    vec![
        ("--leaks".into(), Box::new(|block| block.died.is_none())),
        ("--by allocated".into(), Box::new(|_| true)),
        (
            "--by temporary".into(),
            Box::new(|block| block.is_temporary),
        ),
        (
            "--at heap-peak".into(),
            Box::new(move |block| block.is_live_after(peak)),
        ),
        (
            format!("--at {percent}%"),
            Box::new(move |block| block.is_live_at(part)),
        ),
        (
            format!("--top-down --at {ns}ns"),
            Box::new(move |block| block.is_live_at(ns)),
        ),
        ("--at start".into(), Box::new(|block| block.is_live_at(0))),
    ]
}

#[test]
fn trees_count_the_twins_blocks() {
    for seed in first_seed()..first_seed() + if is_long() { 10 } else { 1 } {
        let folder = Folder::new("answers-trees");
        let (log, _) = recorded(&folder, &[], &format!("mix {seed} 900 3"));
        let twin: &'static Twin = Box::leak(Box::new(twin(&folder, &log)));
        let mut random = Random::new(seed);
        for _ in 0..if is_long() { 200 } else { 12 } {
            let filter = expression(twin, &mut random, 2);
            let text = filter.text();
            for (question, counts) in questions(twin, &mut random) {
                let words: Vec<&str> = question.split(' ').collect();
                let of = |command: &str| {
                    let command: Vec<&str> = command.split(' ').collect();
                    let words = [&command[..], &words, &["--where", &text]].concat();
                    ask_words(&folder, &log, &words)
                };
                let expected = twin.sum(|block| counts(block) && filter.passes(block));
                let tree = of("tree -t 0");
                assert_eq!(of_tree(&tree), expected, "seed {seed}: {question}: {text}");
                let whole = twin.sum(|block| counts(block));
                let unfiltered = ["unfiltered_bytes", "unfiltered_blocks"];
                assert_eq!(
                    unfiltered.map(|key| number(&tree, key)),
                    [whole.0, whole.1],
                    "{question}"
                );
                // One meaning of a moment for all commands.
                if let Some(at) = question.split_once("--at ") {
                    let words = ["table", "--by", "size", "--at", at.1, "--where", &text];
                    assert_eq!(total(&ask_words(&folder, &log, &words)), expected);
                }
            }
        }
    }
}

/// The whole text of a file that a command wrote.
#[track_caller]
fn written(folder: &Folder, words: &[&str], file: &str) -> String {
    let output = folder.run(words);
    assert!(output.status.success(), "{words:?}: {}", said(&output));
    std::fs::read_to_string(folder.path(file)).expect("what was written")
}

#[test]
fn pictures_are_of_chosen_blocks() {
    let folder = Folder::new("answers-pictures");
    let (log, _) = recorded(&folder, &[], "mix 9 900 2");
    let twin = twin(&folder, &log);
    let name = log.to_str().expect("a name");
    let filter = "size in 1000..5000";
    let (bytes, blocks) =
        twin.sum(|block| block.died.is_none() && (1000..=5000).contains(&block.size));
    assert!(blocks > 10, "{blocks}");
    let dot = [
        "dot", "-q", "--leaks", "--format", "txt,dot", name, "-w", filter,
    ];
    let stem = log.file_name().expect("a name").to_str().expect("text");
    let text = written(&folder, &dot, &format!("{stem}.txt"));
    let commas = |number: u64| {
        let digits = number.to_string();
        let groups = digits.as_bytes().rchunks(3).rev();
        let groups = groups.map(|group| String::from_utf8_lossy(group).into_owned());
        groups.collect::<Vec<_>>().join(",")
    };
    let heap = format!("({}B) in {} blocks", commas(bytes), commas(blocks));
    assert!(text.contains(&heap), "{heap}: {text}");
    let told = "only blocks where size in 1000..5000";
    assert!(text.contains(told), "{text}");
    let picture = written(&folder, &dot, &format!("{stem}.dot"));
    assert!(picture.contains(told), "{picture}");
    let flame = [
        "flamegraph",
        "-q",
        "--leaks",
        "-o",
        "out.svg",
        name,
        "-w",
        filter,
    ];
    let flame = written(&folder, &flame, "out.svg");
    assert!(flame.contains(told), "{flame}");
    assert!(flame.contains(&commas(blocks)), "{flame}");
    let nothing = ["flamegraph", "-q", "-o", "none.svg", name, "-w", "size < 0"];
    written(&folder, &nothing, "none.svg");
}

#[test]
fn what_is_no_block_cannot_be_chosen() {
    let folder = Folder::new("answers-mapped");
    let (log, _) = recorded(&folder, &[], "mix 9 90 1");
    let name = log.to_str().expect("a name");
    for (words, told) in [
        (
            &["tree", "--mapped", "-w", "all", name][..],
            "--mapped shows no blocks",
        ),
        (&["report", "-w", "siez > 3", name], "siez"),
        (&["tree", "--at", "mark nothing", name], "no mark"),
        (&["table", "--at", "mark nothing", name], "no mark"),
        (&["dot", "--at", "unix 5s", name], "before recording began"),
        (&["flamegraph", "--at", "101%", name], "a part of the run"),
    ] {
        let output = folder.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(said(&output).contains(told), "{}", said(&output));
    }
}
