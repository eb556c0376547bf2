//! A filter as a script in bytehound's words. What these cannot say is handed over as it
//! is, to `filter`.

mod words;

use memlog_answers::Of;
use memlog_query::Expr;

use words::calls;

/// A script, in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// What comes before.
    pub prologue: String,
    /// One expression: a list.
    pub code: String,
}

/// What chooses the same blocks, or the same mappings. `custom` is a script that gives the
/// list of which they are chosen; else it is all.
pub fn filter_to_script(filter: &Expr, of: Of, custom: Option<&str>) -> Code {
    let (prologue, source) = match custom {
        Some(custom) => {
            let lines = custom.lines().map(|line| format!("    {line}\n"));
            let body: String = lines.collect();
            let prologue =
                format!("fn custom_filter() {{\n{body}}}\n\nlet filtered = custom_filter();\n");
            (prologue, "filtered")
        }
        None => (
            String::new(),
            match of {
                Of::Blocks => "allocations()",
                Of::Mappings => "maps()",
            },
        ),
    };
    let parts = match filter {
        Expr::And(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut code = format!("{source}\n");
    for part in parts {
        for call in calls(part, of).unwrap_or_else(|| vec![as_it_is(part)]) {
            code.push_str(&format!("  .{call}\n"));
        }
    }
    Code { prologue, code }
}

fn as_it_is(part: &Expr) -> String {
    format!("filter({})", quoted(&part.to_string()))
}

/// A text as the language writes it.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            letter if letter.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use memlog_query::parse;

    use super::*;

    fn code(text: &str) -> String {
        let filter = parse(text).expect("a filter");
        filter_to_script(&filter, Of::Blocks, None).code
    }

    #[test]
    fn filters_are_said_in_old_words() {
        for (text, calls) in [
            ("all", ""),
            ("size >= 1KiB", ".only_larger_or_equal(1024)"),
            (
                "size in 16..32",
                ".only_larger_or_equal(16) .only_smaller_or_equal(32)",
            ),
            ("depth > 100", ".only_backtrace_length_at_least(101)"),
            (
                "leaked and function ~ \"a.b\"",
                ".only_leaked() .only_passing_through_function(\"a.b\")",
            ),
            ("not leaked", ".only_temporary()"),
            (
                "not file ~ '\\.rs$'",
                ".only_not_passing_through_source(\"\\\\.rs$\")",
            ),
            (
                "leaked or died > 2s",
                ".only_leaked_or_deallocated_after(s(2))",
            ),
            (
                "born >= 20%",
                ".only_allocated_after_at_least(data().runtime() * 0.2)",
            ),
            ("alive at 1500ms", ".only_alive_at([s(1) + ms(500)])"),
            (
                "group-leaked >= 50%",
                ".only_group_leaked_allocations_at_least(0.5)",
            ),
            (
                "group-leaked >= 100%",
                ".only_group_leaked_allocations_at_least(1.0)",
            ),
            (
                "stack = 7 or stack = 9",
                ".only_matching_backtraces([7, 9])",
            ),
            ("not stack = 7", ".only_not_matching_backtraces([7])"),
            ("map = 3", ".only_from_maps([3])"),
            ("last-mark = load", ".only_with_marker(\"load\")"),
            ("mmapped", ".only_ptmalloc_mmaped()"),
            ("not kind ~ \"^(_rjem|je)_\"", ".only_not_jemalloc()"),
            ("thread = main", ".filter(\"thread = \\\"main\\\"\")"),
            ("born >= heap-peak", ".filter(\"born >= heap-peak\")"),
            ("died > 2s", ".filter(\"died > 2s\")"),
            ("leaked or size > 5", ".filter(\"leaked or size > 5\")"),
        ] {
            let found = code(text).split_whitespace().collect::<Vec<_>>().join(" ");
            let expected = format!("allocations() {calls}");
            assert_eq!(found, expected.trim_end(), "{text}");
        }
    }

    #[test]
    fn maps_and_custom_scripts_are_sources() {
        let filter = parse("executable and size > 1").expect("a filter");
        let maps = filter_to_script(&filter, Of::Mappings, None);
        assert_eq!(
            maps.code,
            "maps()\n  .only_executable()\n  .only_larger(1)\n"
        );
        let custom = filter_to_script(&filter, Of::Mappings, Some("maps()\n"));
        assert!(custom.code.starts_with("filtered\n"), "{}", custom.code);
        assert_eq!(
            custom.prologue,
            "fn custom_filter() {\n    maps()\n}\n\nlet filtered = custom_filter();\n"
        );
    }
}
