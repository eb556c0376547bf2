//! doc/FILTERS.md has each name, and no other.

use memlog_query::{
    Compared, FIELDS, Field, Kind, MAX_DEPTH, MAX_PATTERNS, MAX_TEXT, OLD_NAMES, Problem, from_old,
    parse,
};

const PAGE: &str = include_str!("../../doc/FILTERS.md");

/// The rows of tables below a heading, up to the next one of its rank.
fn rows(heading: &str) -> Vec<Vec<String>> {
    let (_, part) = PAGE
        .split_once(&format!("\n## {heading}\n"))
        .expect(heading);
    let part = part.split_once("\n## ").map_or(part, |(part, _)| part);
    let rows = part.lines().filter(|line| line.starts_with("| `"));
    // A bar inside a cell is written with a backslash.
    let cells = |row: &str| {
        let row = row.replace("\\|", "\u{0}");
        let cells = row.trim_matches('|').split(" | ");
        cells
            .map(|cell| cell.trim().replace('\u{0}', "|"))
            .collect()
    };
    rows.map(cells).collect()
}

fn kind(field: Field) -> &'static str {
    match field.compared() {
        Compared::Text => "text",
        Compared::Same(kind) | Compared::Ordered(kind) => match kind {
            Kind::Size => "size",
            Kind::Count => "number",
            Kind::Duration => "duration",
            Kind::Moment => "moment",
            Kind::Address => "address",
            Kind::Amount => "number or share",
            Kind::Text => "text",
        },
        Compared::Not => match field {
            Field::Alive => "`at` a moment, `in` a range",
            Field::FirstMatch => "rules",
            _ => "flag",
        },
    }
}

#[test]
fn each_field_is_in_the_table() {
    let told = rows("All fields");
    let known = FIELDS.map(|entry| {
        let (name, example) = (format!("`{}`", entry.name), format!("`{}`", entry.example));
        vec![
            name,
            kind(entry.field).into(),
            entry.meaning.into(),
            example,
        ]
    });
    assert_eq!(told, known);
}

#[test]
fn each_example_is_a_filter_with_its_field() {
    for entry in &FIELDS {
        let tree =
            parse(entry.example).unwrap_or_else(|error| panic!("{}: {error}", entry.example));
        // A number of a thread is asked for by another name.
        assert!(
            tree.to_string().contains(entry.name),
            "{}: {tree}",
            entry.name
        );
    }
}

#[test]
fn each_name_of_bytehound_is_in_the_table() {
    let told = rows("bytehound's names");
    let known = OLD_NAMES.map(|old| {
        let now = match old.now {
            "" => "not there".into(),
            now => format!("`{now}`"),
        };
        vec![format!("`{}`", old.name), now]
    });
    assert_eq!(told, known);
}

/// The column of today's words says what `from_old` does.
#[test]
fn what_is_told_of_an_old_name_is_what_becomes_of_it() {
    for old in OLD_NAMES.iter().filter(|old| old.now.contains('V')) {
        let value = ["20%", "0x7f", "7"]
            .into_iter()
            .find(|value| from_old(old.name, value).is_ok());
        let value = value.expect(old.name);
        let now = parse(&old.now.replace('V', value));
        let now = now.or_else(|_| parse(&old.now.replace('V', &format!("\"{value}\""))));
        assert_eq!(from_old(old.name, value), now, "{}", old.name);
    }
}

/// Of some words one: an error has them in the order of what they stand for, and the
/// page has them too.
#[test]
fn what_is_told_of_old_words_is_what_becomes_of_them() {
    let mut count = 0;
    for old in &OLD_NAMES {
        let error = from_old(old.name, "?").err();
        let Some(Problem::Unexpected { expected, .. }) = error.as_ref().map(|e| e.problem()) else {
            continue;
        };
        let expected = expected.replace(" or ", ", ");
        let words: Vec<&str> = expected.split(", ").collect();
        let now: Vec<&str> = old.now.split("; ").collect();
        assert_eq!(words.len(), now.len(), "{}", old.name);
        for (word, now) in words.into_iter().zip(now) {
            assert_eq!(from_old(old.name, word), parse(now), "{} {word}", old.name);
            assert!(PAGE.contains(&format!("`{word}`")), "{word}");
        }
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn the_names_of_memtrail_are_filters() {
    let told = rows("memtrail's names");
    for row in &told {
        let now = row[1].trim_matches('`');
        assert!(parse(now).is_ok(), "{now}");
    }
    assert_eq!(told.len(), 6);
}

#[test]
fn the_limits_are_told() {
    let page = PAGE.replace('\n', " ");
    let limits = format!(
        "at most {} KiB, {MAX_PATTERNS} regular expressions (a large one counts as five), and {MAX_DEPTH} parentheses",
        MAX_TEXT >> 10
    );
    assert!(page.contains(&limits), "{limits}");
}

/// Lines four blanks in are filters.
#[test]
fn all_that_is_quoted_is_understood() {
    let quoted = PAGE.lines().filter_map(|line| line.strip_prefix("    "));
    let mut count = 0;
    for text in quoted.filter(|text| !text.starts_with("memlog")) {
        parse(text).unwrap_or_else(|error| panic!("{error}\n{}", error.caret()));
        count += 1;
    }
    assert!(count > 5);
}
