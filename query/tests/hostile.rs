//! Texts that are made to harm: none panics, takes long, or overflows the stack.

use std::time::{Duration, Instant};

use memlog_query::{MAX_TEXT, from_old, parse};

/// Far more than any takes, on a busy machine too.
const SLOW: Duration = Duration::from_secs(20);

fn survives(text: &str) {
    let began = Instant::now();
    if let Ok(expr) = parse(text) {
        let printed = expr.to_string();
        // `a!=b` is printed with more letters.
        if printed.len() <= MAX_TEXT {
            assert!(parse(&printed) == Ok(expr), "{printed}");
        }
    }
    let _ = from_old("function_regex", text);
    let lasted = began.elapsed();
    assert!(lasted < SLOW, "{lasted:?} for {} bytes", text.len());
}

#[test]
fn long_and_deep_texts() {
    for piece in [
        "(",
        "!",
        "not ",
        ")",
        "a(",
        "leaked and ",
        "leaked or (",
        "\"",
        "..",
        "first-match(",
        "size in 1..",
        "9",
        "_",
        "\u{6f22}",
    ] {
        for bytes in [1 << 20, MAX_TEXT] {
            survives(&piece.repeat(bytes / piece.len()));
        }
    }
}

#[test]
fn long_lists_are_filters() {
    let list = vec!["size != 1"; MAX_TEXT / 16].join(" and ");
    assert!(parse(&list).is_ok());
    survives(&list);
}

#[test]
fn costly_patterns() {
    survives(&vec![r"function ~ '\w{20}'"; 100].join(" or "));
    survives(&format!("function ~ '{}'", "(a|b)*?".repeat(5000)));
    survives(&format!("function ~ '{}'", "(".repeat(MAX_TEXT / 2)));
    survives("function ~ 'a{1000}{1000}{1000}'");
}

/// Numbers without a pattern, the same in each run.
#[test]
fn bytes_of_no_sense() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..5000 {
        let length = next() % 200;
        let bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        survives(&String::from_utf8_lossy(&bytes));
        let signs = b"()!=<>~&|,.\"'\\ %0aesx_+-";
        let signs = (0..length).map(|_| char::from(signs[next() as usize % signs.len()]));
        survives(&signs.collect::<String>());
    }
}
