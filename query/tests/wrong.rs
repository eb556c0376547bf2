//! What is said of a text that is no filter, and where.

use memlog_query::{Kind, MAX_DEPTH, MAX_PATTERNS, MAX_TEXT, Problem, parse};

#[track_caller]
fn says(text: &str, sentence: &str) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.to_string(), sentence, "{text}");
}

#[test]
fn fields() {
    says(
        "sise > 5",
        "column 1: nothing is called `sise`; did you mean size?",
    );
    says(
        "szie > 5",
        "column 1: nothing is called `szie`; did you mean size?",
    );
    says(
        "leaked and chain_lenght > 3",
        "column 12: nothing is called `chain_lenght`; did you mean chain-length?",
    );
    says(
        "group-las > 3",
        "column 1: nothing is called `group-las`; did you mean group-last?",
    );
    says(
        "colour = red",
        "column 1: nothing is called `colour`; doc/FILTERS.md has all names",
    );
    says(
        "\"size\" > 5",
        "column 1: expected a field such as size, `not` or `(`, found `\"size\"`",
    );
    says(
        "leaked and",
        "column 11: expected a field such as size, `not` or `(`, and the text ends",
    );
    says(
        "and leaked",
        "column 1: expected a field such as size, `not` or `(`, found `and`",
    );
}

#[test]
fn comparisons() {
    says(
        "size ~ \"x\"",
        "column 6: `size` is a size: compare it with =, !=, <, <=, >, >= or in, not `~`",
    );
    says(
        "born !~ x",
        "column 6: `born` is a moment: compare it with =, !=, <, <=, >, >= or in, not `!~`",
    );
    says(
        "function > \"x\"",
        "column 10: `function` is a text: compare it with =, !=, ~ or !~, not `>`",
    );
    says(
        "thread in 1..2",
        "column 8: `thread` is a text: compare it with =, !=, ~ or !~, not `in`",
    );
    says(
        "leaked = yes",
        "column 8: `leaked` is not compared: `=` cannot follow it",
    );
    says(
        "contains > 5",
        "column 10: `contains` is an address: compare it with = or !=, not `>`",
    );
    says(
        "size 5",
        "column 6: expected a comparison such as = or >=, or `in`, found `5`",
    );
    says(
        "function",
        "column 9: expected =, !=, ~ or !~, and the text ends",
    );
    says(
        "alive",
        "column 6: expected `at` and a moment, or `in` and a range, and the text ends",
    );
    says(
        "size_min > 5",
        "column 10: expected `=`, for this is a name of bytehound's, found `>`",
    );
    says(
        "leaked & moved",
        "column 8: expected `&&` or `||`, found `&`",
    );
}

#[test]
fn values() {
    says(
        "size > big",
        "column 8: expected a size such as 4096, 64K or 1.5MiB, found `big`",
    );
    says(
        "size > 1.5",
        "column 8: expected a size such as 4096, 64K or 1.5MiB, found `1.5`",
    );
    says(
        "size > 5X",
        "column 8: `X` is no unit of a size; there are K, M, G or T, with or without iB",
    );
    says(
        "lifetime > 5fortnights",
        "column 12: `fortnights` is no unit of a duration; there are ns, us, ms, s, m or h",
    );
    says(
        "size > 99999999999T",
        "column 8: `99999999999T` is too large: it does not fit into 64 bits",
    );
    says(
        "depth > 5K",
        "column 9: expected a whole number such as 12, 1_000 or 1e6, found `5K`",
    );
    says(
        "born > 101%",
        "column 8: expected a moment such as 12.5s, 20%, start, end, rss-peak, heap-peak or mark \"name\", found `101%`",
    );
    says(
        "born > unix 20%",
        "column 13: expected a time since 1970 such as 1700000000s, found `20%`",
    );
    says(
        "address > 0xyz",
        "column 11: expected an address such as 0x7f0010, found `0xyz`",
    );
    says(
        "group-leaked > half",
        "column 16: expected a whole number or a share from 0% to 100%, found `half`",
    );
    says(
        "thread = and",
        "column 10: expected a text such as \"name\", found `and`",
    );
    says(
        "size >",
        "column 7: expected a size such as 4096, 64K or 1.5MiB, and the text ends",
    );
    says(
        "size in 5",
        "column 10: expected `..` and the end of the range, and the text ends",
    );
    says(
        "size in ..",
        "column 11: expected a size such as 4096, 64K or 1.5MiB, and the text ends",
    );
    says(
        "size in 5..3",
        "column 9: the range is empty, for its first end is larger than its last",
    );
    says(
        "alive in 50%..20%",
        "column 10: the range is empty, for its first end is larger than its last",
    );
    assert!(parse("born in 50%..2s").is_ok(), "only the log knows");
}

#[test]
fn texts() {
    says(
        "function ~ \"parse",
        "column 12: the quote that begins here has no end",
    );
    says(
        "function ~ \"a(b\"",
        "column 12: this is no regular expression: unclosed group",
    );
    says(
        "function_regex = \"[\"",
        "column 18: this is no regular expression: unclosed character class",
    );
    says(
        "function ~ \"(\\w{99}){99}\"",
        "column 12: this is no regular expression: it is too large",
    );
}

#[test]
fn the_whole() {
    says(
        "leaked moved",
        "column 8: expected `and`, `or` or the end, found `moved`",
    );
    says(
        "leaked)",
        "column 7: expected `and`, `or` or the end, found `)`",
    );
    says(
        "(leaked moved)",
        "column 9: expected `and`, `or` or `)`, found `moved`",
    );
    says(
        "(leaked",
        "column 8: expected `and`, `or` or `)`, and the text ends",
    );
    says(
        "first-match(+function ~ x,)",
        "column 27: expected +function, -function, +module or -module, found `)`",
    );
    says(
        "first-match(function ~ x)",
        "column 13: expected +function, -function, +module or -module, found `function`",
    );
    says(
        "first-match(+function = x)",
        "column 23: expected `~`, found `=`",
    );
    says(
        "first-match(+function ~ x",
        "column 26: expected `,` or `)`, and the text ends",
    );
    says(
        "first-match +function",
        "column 13: expected `(` and rules such as +function ~ \"parse\", found `+function`",
    );
    says(
        "custom_filter = \"x\"",
        "column 17: there is no `custom_filter`: it is a script, and scripts are run by `memlog script`; most that such scripts ask can be said in this language",
    );
}

#[test]
fn limits() {
    let nested = |count: usize| "(".repeat(count) + "leaked" + &")".repeat(count);
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    let error = parse(&nested(MAX_DEPTH + 1)).expect_err("too deep");
    assert_eq!(error.problem(), &Problem::TooDeep(MAX_DEPTH));
    assert_eq!(error.column(), MAX_DEPTH + 1);

    // `!=` is a `not` of its own, and what is printed must be taken again.
    let denied = |count: usize| "!".repeat(count) + "size != 5";
    assert!(parse(&denied(MAX_DEPTH - 1)).is_ok());
    let error = parse(&denied(MAX_DEPTH)).expect_err("too deep");
    assert_eq!(error.column(), MAX_DEPTH + 1);

    let long = " ".repeat(MAX_TEXT + 1);
    assert_eq!(
        parse(&long).expect_err("too long").problem(),
        &Problem::TooLong(MAX_TEXT)
    );
    let many = vec!["function ~ a"; MAX_PATTERNS + 1].join(" or ");
    let error = parse(&many).expect_err("too many");
    assert_eq!(error.problem(), &Problem::TooManyPatterns(MAX_PATTERNS));
    let large = vec![r"function ~ '\w{9}'"; MAX_PATTERNS / 5].join(" or ");
    assert!(parse(&large).is_ok());
    assert!(parse(&(large + " or function ~ a")).is_err());
    let old = vec!["function_regex = a"; MAX_PATTERNS + 1].join(" or ");
    let error = parse(&old).expect_err("too many");
    assert_eq!(error.problem(), &Problem::TooManyPatterns(MAX_PATTERNS));
}

#[test]
fn the_place_is_shown() {
    let error = parse("thread = \"\u{e9}\" and\nsise > 5").expect_err("no field");
    assert_eq!(error.column(), 18);
    assert_eq!(
        error.caret(),
        "thread = \"\u{e9}\" and sise > 5\n                 ^"
    );
    let long = "leaked and ".repeat(100) + "size > 5X" + &" and leaked".repeat(100);
    let error = parse(&long).expect_err("no unit");
    let caret = error.caret();
    let (line, below) = caret.split_once('\n').expect("two lines");
    assert!(line.len() <= 120 && line[below.len() - 1..].starts_with("5X and"));
    let kind = Kind::Size;
    assert_eq!(
        error.problem(),
        &Problem::UnknownUnit {
            unit: "X".into(),
            kind
        }
    );
}
