//! The lines at the top: broken between their parts, and fewer where there is no
//! room for all.

use crate::page::heading::{Heading, Line, Says};
use crate::screen::{Role, Screen, wrapped};
use crate::text::curve;

/// Lines that have a choice are no wider where there is no terminal.
const COLUMNS: usize = 100;

/// What gives way first where there is no room for all: the report has it.
const LEAST_TELLING: [&str; 10] = [
    OVER_TIME,
    "log",
    "by thread",
    "mapped",
    "coverage",
    "events",
    "by scope",
    PARTS,
    "heap peak",
    "program",
];
/// The line below the RSS peak has no name.
const PARTS: &str = "";
const OVER_TIME: &str = "over time";
/// Rows that places have besides the least of them where there is a curve.
const PLACES: usize = 6;

/// A line as it is printed, which may be broken into several.
struct Drawn {
    /// Nothing where it may not give way.
    name: Option<&'static str>,
    text: String,
}

/// All lines but the curve: that is for who looks at one screen.
pub fn whole(heading: &Heading, screen: &Screen) -> String {
    let lines = drawn(heading, screen).into_iter();
    let lines = lines.filter(|line| line.name != Some(OVER_TIME));
    lines.map(|line| line.text + "\n").collect()
}

/// Those that fit into so many rows with the sentences below them, which all stay;
/// and whether they do, and keep what the RSS peak consists of.
pub fn within(heading: &Heading, notes: &str, screen: &Screen, rows: usize) -> (String, bool) {
    let lines = drawn(heading, screen);
    let shown = |left_out: &[&str]| {
        let stays = |line: &&Drawn| line.name.is_none_or(|name| !left_out.contains(&name));
        lines.iter().filter(stays).collect::<Vec<_>>()
    };
    let fits = |left_out: &[&str]| {
        let rows_of = |line: &&Drawn| screen.rows_of(&line.text);
        let needed: usize = shown(left_out).iter().map(rows_of).sum();
        // Rows of places tell more than a curve.
        let has_curve = !left_out.contains(&OVER_TIME);
        needed + screen.rows_of(notes) <= rows.saturating_sub(if has_curve { PLACES } else { 0 })
    };
    let left_out = giving_way(fits);
    let shown = shown(&left_out).into_iter();
    let text: String = shown.map(|line| line.text.clone() + "\n").collect();
    let has_parts = lines.iter().any(|line| line.name == Some(PARTS));
    let is_whole = fits(&left_out) && !(has_parts && left_out.contains(&PARTS));
    (text + notes, is_whole)
}

/// What is left out, as little as will do: one that gave way in vain, for a
/// longer one that is gone as well, comes back.
fn giving_way(fits: impl Fn(&[&str]) -> bool) -> Vec<&'static str> {
    let count = (0..LEAST_TELLING.len()).find(|&count| fits(&LEAST_TELLING[..count]));
    let mut left_out = LEAST_TELLING[..count.unwrap_or(LEAST_TELLING.len())].to_vec();
    for name in left_out.clone().into_iter().rev() {
        let fewer: Vec<_> = left_out
            .iter()
            .copied()
            .filter(|one| *one != name)
            .collect();
        if fits(&fewer) {
            left_out = fewer;
        }
    }
    left_out
}

fn drawn(heading: &Heading, screen: &Screen) -> Vec<Drawn> {
    let lines = heading.lines.iter();
    let lines = lines.filter_map(|line| {
        Some(Drawn {
            name: (!line.is_alarm).then_some(line.name),
            text: text_of(line, heading.indent, screen)?,
        })
    });
    lines.collect()
}

fn text_of(line: &Line, indent: usize, screen: &Screen) -> Option<String> {
    let role = match line.is_alarm {
        true => Role::Alarm,
        false => Role::Title,
    };
    let name = match line.name {
        PARTS => format!("{:indent$}", ""),
        name => {
            let blanks = indent.saturating_sub(name.len() + 1).max(1);
            format!("{}:{:blanks$}", screen.colours.paint(role, name), "")
        }
    };
    let said = match &line.says {
        Says::Parts(parts) => {
            let columns = screen.columns().map(|columns| columns.max(40));
            // The longest names stand in its way.
            let begin = indent.max(line.name.len() + ": ".len());
            folded(parts, begin, indent, columns)
        }
        Says::Curves(history) => {
            let room = screen.columns().unwrap_or(COLUMNS);
            let room = room.saturating_sub(indent + 1);
            let curves = curve::lines(history, room, screen.sizes);
            let apart = format!("\n{:indent$}", "");
            (!curves.is_empty()).then(|| curves.join(&apart))?
        }
    };
    Some(name + &said)
}

/// Broken between the parts, and on a terminal within what is wider than it.
fn folded(parts: &[String], begin: usize, indent: usize, terminal: Option<usize>) -> String {
    let columns = terminal.unwrap_or(COLUMNS);
    let mut text = String::new();
    let mut column = begin;
    for (index, part) in parts.iter().enumerate() {
        let width = part.chars().count();
        if index > 0 && column + 3 + width > columns {
            text.push_str(&format!(",\n{:indent$}", ""));
            column = indent;
        } else if index > 0 {
            text.push_str(", ");
            column += 2;
        }
        // A comma may follow.
        match terminal.map(|columns| columns - 1) {
            Some(columns) if column + width > columns => {
                let part = wrapped(part, column, columns, indent);
                let last = part.rsplit('\n').next().unwrap_or_default().chars().count();
                column = match part.contains('\n') {
                    true => last,
                    false => column + last,
                };
                text.push_str(&part);
            }
            _ => {
                text.push_str(part);
                column += width;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDENT: usize = 11;

    #[test]
    fn lines_are_broken_between_parts() {
        let parts = ["a".repeat(60), "b".repeat(26), "c".repeat(40)];
        let [a, b, c] = &parts;
        let text = folded(&parts, INDENT, INDENT, None);
        assert_eq!(text, format!("{a}, {b},\n           {c}"));
        let widest = text.lines().next().map(|line| line.len() + INDENT);
        assert_eq!(widest, Some(COLUMNS));
        let parts = ["a long part of some words".repeat(3), "/path".repeat(20)];
        for columns in 40..120 {
            for begin in [INDENT, INDENT + 7] {
                let text = folded(&parts, begin, INDENT, Some(columns));
                let text = format!("{:begin$}{text}", "");
                let widest = text.lines().map(|line| line.chars().count()).max();
                assert!(widest <= Some(columns), "{columns}: {text}");
            }
        }
    }

    /// Rows that each takes, where so many are to be left out.
    fn gave_way(rows: &[(&str, usize)], room: usize) -> Vec<&'static str> {
        giving_way(|left_out| {
            let stay = rows.iter().filter(|(name, _)| !left_out.contains(name));
            stay.map(|(_, rows)| rows).sum::<usize>() <= room
        })
    }

    #[test]
    fn no_more_gives_way_than_has_to() {
        let rows = [(OVER_TIME, 2), ("log", 1), ("by thread", 1), (PARTS, 4)];
        assert!(gave_way(&rows, 8).is_empty());
        assert_eq!(gave_way(&rows, 6), [OVER_TIME]);
        // All but the parts went for nothing, and the parts go.
        let wide = [("log", 1), ("by thread", 1), (PARTS, 9), ("program", 1)];
        let left_out = gave_way(&wide, 3);
        assert!(left_out.contains(&PARTS) && !left_out.contains(&"log"));
    }
}
