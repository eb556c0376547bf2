//! Attacks the language of filters: texts, and names of bytehound's with a value.
//! The first byte says which name, 0 is a text.
//!
//! It fails where one panics, takes long, or more memory than its regular
//! expressions may; where what a filter prints parses to another; and where an
//! error is not on one line, or its place is not in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memlog_fuzz::{Counting, Limit, limited};
use memlog_query::{Expr, MAX_TEXT, OLD_NAMES, ParseError, from_old, parse};

#[global_allocator]
static MEMORY: Counting = Counting;

/// `a~\w{9}` is short, and compiled as large as allowed; there are two trees.
const LIMIT: Limit = Limit {
    per_byte: 256 << 10,
    besides: 8 << 20,
};

fuzz_target!(|input: &[u8]| {
    let Some((&which, bytes)) = input.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(bytes);
    let old = usize::from(which)
        .checked_sub(1)
        .and_then(|which| OLD_NAMES.get(which));
    limited(text.len(), LIMIT, || {
        let found = match old {
            Some(old) => from_old(old.name, &text),
            None => parse(&text),
        };
        match found {
            Ok(expr) => prints_itself(&expr),
            Err(error) => tells_where(&error, &text),
        }
    });
});

fn prints_itself(expr: &Expr) {
    let printed = expr.to_string();
    if printed.len() <= MAX_TEXT {
        assert!(parse(&printed).as_ref() == Ok(expr), "{printed}");
    }
}

fn tells_where(error: &ParseError, text: &str) {
    assert!(!error.to_string().contains(char::is_control));
    assert!((1..=text.chars().count() + 1).contains(&error.column()));
    let caret = error.caret();
    assert!(caret.ends_with('^') && caret.lines().count() == 2);
}
