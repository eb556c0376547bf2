//! Colours, and what fits into a line.

use std::ffi::OsString;
use std::fmt::Display;

use clap::ValueEnum;
use memlog_analysis::brief;

/// When there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// On a terminal, if its owner does not refuse them.
    Auto,
    /// Also where output is piped.
    Always,
    /// Nowhere.
    Never,
}

/// What a piece of text is.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// What a line or a tree is about.
    Title,
    /// Something is missing.
    Alarm,
    /// A remark.
    Note,
    /// So many percent.
    Share(f64),
    /// A function.
    Function,
    /// Its file and line.
    Place,
    /// The lines of a tree.
    Guide,
    /// There is more of it.
    Grew,
    /// There is less.
    Shrank,
}

impl Role {
    fn code(self) -> &'static str {
        match self {
            Role::Title => "1",
            Role::Alarm => "1;31",
            Role::Note => "33",
            Role::Share(percent) if percent >= 20.0 => "1;31",
            Role::Share(percent) if percent >= 5.0 => "33",
            Role::Share(_) | Role::Guide => "2",
            Role::Function => "1",
            Role::Place => "36",
            Role::Grew => "31",
            Role::Shrank => "32",
        }
    }
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours(bool);

impl Colours {
    /// No colour.
    pub fn none() -> Self {
        Self(false)
    }

    /// The option counts first, then NO_COLOR, then CLICOLOR_FORCE, then where
    /// it is that output goes.
    pub fn chosen(
        choice: Choice,
        is_terminal: bool,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Self {
        let is_set = |name| variable(name).is_some_and(|value| !value.is_empty());
        let is_on = |name| variable(name).is_some_and(|value| !value.is_empty() && value != "0");
        Self(match choice {
            Choice::Always => true,
            Choice::Never => false,
            Choice::Auto if is_set("NO_COLOR") => false,
            Choice::Auto if is_on("CLICOLOR_FORCE") => true,
            Choice::Auto => is_terminal && variable("TERM").is_none_or(|term| term != "dumb"),
        })
    }

    /// The text as it is printed.
    pub fn paint(self, role: Role, text: impl Display) -> String {
        match self.0 {
            true => format!("\x1b[{}m{text}\x1b[m", role.code()),
            false => text.to_string(),
        }
    }
}

/// Columns that a text takes, its colours left out.
pub fn width(text: &str) -> usize {
    let mut is_colour = false;
    let is_shown = |c: &char| {
        let was_colour = is_colour;
        is_colour = match c {
            '\x1b' => true,
            'm' => false,
            _ => is_colour,
        };
        !was_colour && !is_colour
    };
    text.chars().filter(is_shown).count()
}

/// A function and its place cut to so many columns, of which `[]` and a blank
/// are three: the function is said shortly, of the place the folders go, and
/// where next to nothing is left all of it.
pub fn fit(function: &str, place: &str, columns: usize) -> (String, String) {
    let columns = columns.max(LEAST);
    let long = |text: &str| text.chars().count();
    let is_whole = long(function) + long(place) + BRACKETS <= columns;
    if place.is_empty() || columns < LEAST_OF_BOTH && !is_whole {
        return (brief(function, columns), String::new());
    }
    let columns = columns - BRACKETS;
    let short = long(&brief(function, columns));
    let place = match short + long(place) > columns {
        true => without_folders(place, columns - short.min(columns / 2)),
        false => place.to_owned(),
    };
    (brief(function, columns - long(&place)), place)
}

const BRACKETS: usize = 3;
/// However narrow the terminal and deep the tree, so much is shown.
const LEAST: usize = 8;
const LEAST_OF_BOTH: usize = 20;

/// A place cut to so many columns: its folders go first.
pub fn fit_place(place: &str, columns: usize) -> String {
    without_folders(place, columns.max(LEAST))
}

/// The file's end and its line stay whatever their length.
fn without_folders(place: &str, columns: usize) -> String {
    let mut rest = place;
    while 2 + rest.chars().count() > columns {
        match rest.trim_start_matches('/').split_once('/') {
            Some((_, shorter)) => rest = shorter,
            None => break,
        }
    }
    let is_whole = rest.len() == place.len() || place.chars().count() <= columns;
    let told = match is_whole {
        true => place.to_owned(),
        false => format!("…/{rest}"),
    };
    match told.chars().count() <= columns {
        true => told,
        false => end_of(rest, columns),
    }
}

/// What is too long loses its begin, as a path.
fn end_of(text: &str, columns: usize) -> String {
    let long = text.chars().count();
    match long <= columns {
        true => text.to_owned(),
        false => {
            let kept = text.chars().skip(long - columns.saturating_sub(1));
            "…".chars().chain(kept).collect()
        }
    }
}

/// A text that begins in some column, in lines of so many: broken between
/// words, the lines after the first indented.
pub fn wrapped(text: &str, begin: usize, columns: usize, indent: usize) -> String {
    let mut lines = String::new();
    let mut column = begin;
    for (index, word) in text.split(' ').enumerate() {
        let word = end_of(word, columns.saturating_sub(indent).max(LEAST));
        let long = word.chars().count();
        if index > 0 && column + 1 + long > columns {
            lines.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        } else if index > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(&word);
        column += long;
    }
    lines
}

/// The same for texts that nobody sees on a screen.
pub fn lines(text: &str) -> Vec<String> {
    const COLUMNS: usize = 100;
    let lines = wrapped(text, 0, COLUMNS, 0);
    lines.lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let chosen = |choice, is_terminal, set: &[(&str, &str)]| {
            let variable = |name: &str| {
                let found = set.iter().find(|(other, _)| *other == name);
                found.map(|(_, value)| OsString::from(value))
            };
            Colours::chosen(choice, is_terminal, variable).0
        };
        use Choice::{Always, Auto, Never};
        assert!(chosen(Auto, true, &[]));
        assert!(!chosen(Auto, false, &[]));
        assert!(!chosen(Auto, true, &[("NO_COLOR", "1")]));
        assert!(chosen(Auto, true, &[("NO_COLOR", "")]));
        assert!(!chosen(Auto, true, &[("TERM", "dumb")]));
        assert!(chosen(Auto, false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!chosen(Auto, false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!chosen(
            Auto,
            true,
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]
        ));
        assert!(chosen(Always, false, &[("NO_COLOR", "1")]));
        assert!(!chosen(Never, true, &[("CLICOLOR_FORCE", "1")]));
    }

    #[test]
    fn colours_take_no_room() {
        let text = Colours(true).paint(Role::Title, "memory") + " at";
        assert!(text.starts_with("\x1b["));
        assert_eq!(width(&text), 9);
        assert_eq!(Colours(false).paint(Role::Title, "memory"), "memory");
    }

    #[test]
    fn long_names_and_places_give_way() {
        let fitted = |function: &str, place: &str, columns| {
            let (function, place) = fit(function, place, columns);
            (function, place)
        };
        let owned = |one: &str, other: &str| (one.to_owned(), other.to_owned());
        assert_eq!(fitted("main", "a.c:1", 40), owned("main", "a.c:1"));
        let long = "std::vector<std::string>::emplace_back(char const*)";
        let (function, place) = fitted(long, "src/deep/inside/list.cpp:1234", 50);
        assert_eq!(place, "…/inside/list.cpp:1234");
        assert_eq!(function, "std::vector::emplace_back");
        assert!(width(&function) + width(&place) + 3 <= 50);
        let (function, place) = fitted("f", "src/deep/inside/list.cpp:1234", 32);
        assert_eq!(
            (function.as_str(), place.as_str()),
            ("f", "…/deep/inside/list.cpp:1234")
        );
        let (function, place) = fitted(long, "a.cpp:1", 1);
        assert_eq!(function.chars().count(), LEAST);
        assert_eq!(place, "");
    }

    /// However long they are.
    #[test]
    fn nothing_is_wider_than_it_may_be() {
        let places = [
            "",
            "a.c:1",
            "d/a.c:1",
            "a_file_of_a_very_long_name.cpp:12345",
        ];
        let deep = "a/path/of/many/folders/that/goes/on/and/on/x.rs:1";
        for place in places.into_iter().chain([deep]) {
            for function in ["f", "std::vector<std::string>::emplace_back(char const*)"] {
                for columns in LEAST..80 {
                    let (function, place) = fit(function, place, columns);
                    let brackets = if place.is_empty() { 0 } else { BRACKETS };
                    let long = width(&function) + width(&place) + brackets;
                    assert!(long <= columns, "{columns}: {function} [{place}]");
                }
            }
        }
        let file = fit("f", places[3], 24).1;
        assert_eq!(file, "…long_name.cpp:12345");
    }

    #[test]
    fn sentences_are_broken_between_words() {
        let text = wrapped("one two three /a/very/long/path", 4, 12, 2);
        assert_eq!(text, "one two\n  three\n  …long/path");
    }
}
