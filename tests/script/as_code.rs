//! A filter as a script chooses what the filter chooses.

use memlog_answers::Of;
use memlog_query::parse;
use memlog_script::filter_to_script;

use crate::Leaky;

const FILTERS: &[&str] = &[
    "all",
    "leaked",
    "not leaked",
    "size >= 64 and size < 200",
    "size in 40..48 and not leaked",
    "depth > 3",
    "lifetime > 100ms",
    "lifetime >= 10%",
    "born >= 25% and born <= 75%",
    "died > 50%",
    "leaked or died > 1s",
    "alive at 500ms",
    "alive in 200ms..500ms",
    "chain-length >= 3 and last-size >= 1K",
    "group-leaked >= 50%",
    "group-leaked in 10..50",
    "function ~ \"leak$\" and not function ~ \"linear\"",
    "file ~ \"leaky\\.c\"",
    "not (size > 100 or leaked)",
    "leaked and (size = 200 or size = 201)",
    "thread ~ \"leaky\"",
    "first-match(+function ~ \"both\", -function ~ \"main\")",
    "map >= 0",
    "mmapped",
    "born >= heap-peak",
];

#[test]
fn scripts_of_filters_choose_the_same() {
    let leaky = Leaky::get();
    let lists = FILTERS.iter().map(|text| {
        let filter = parse(text).expect("a filter");
        let code = filter_to_script(&filter, Of::Blocks, None);
        assert_eq!(code.prologue, "");
        format!(
            "let list = {};\nprintln(\"{{}} {{}}\", list.len(), list.size());\n",
            code.code
        )
    });
    let said = leaky.says(&lists.collect::<String>());
    for (filter, line) in FILTERS.iter().zip(said.lines()) {
        let (blocks, bytes) = leaky.table(filter);
        assert_eq!(line, format!("{blocks} {bytes}"), "{filter}");
    }
}

#[test]
fn scripts_of_filters_have_a_prologue() {
    let leaky = Leaky::get();
    let filter = parse("size >= 210").expect("a filter");
    let code = filter_to_script(&filter, Of::Blocks, Some("allocations().only_leaked()"));
    let said = leaky.says(&format!("{}println(({}).len());", code.prologue, code.code));
    let (blocks, _) = leaky.table("leaked and size >= 210");
    assert_eq!(said, format!("{blocks}\n"));
}
