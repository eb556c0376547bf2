//! Rows of an answer: numbers on the right of their columns, names at the end.

use crate::page::rows::Rows;
use crate::screen::{Role, Screen, fit, width, wrapped};

/// Names have so much room, however few columns there are.
const LEAST: usize = 20;

/// A title, the titles of the columns, the rows, and what was left out.
pub fn of(list: &Rows, screen: &Screen) -> String {
    let told = |sentence: &str| match screen.columns() {
        Some(columns) => wrapped(sentence, 0, columns, 0),
        None => sentence.to_owned(),
    };
    let title = screen.colours.paint(Role::Title, told(&list.title));
    let mut text = format!("\n{title}\n");
    if !list.rows.is_empty() {
        text += &table(list, screen);
    }
    for line in &list.rest {
        text += &told(line);
        text.push('\n');
    }
    text
}

fn table(list: &Rows, screen: &Screen) -> String {
    let titles: Vec<String> = list
        .columns
        .iter()
        .map(|title| (*title).to_owned())
        .collect();
    let numbers = titles.len().saturating_sub(1);
    // A column that is empty in each row tells nothing.
    let is_told = |at: usize| list.rows.iter().any(|row| !row[at].is_empty());
    let told: Vec<usize> = (0..numbers).filter(|&at| is_told(at)).collect();
    let all = || std::iter::once(&titles).chain(&list.rows);
    let widest = |at: usize| all().map(|row| width(&row[at])).max().unwrap_or(0);
    let widths: Vec<(usize, usize)> = told.iter().map(|&at| (at, widest(at))).collect();
    let used: usize = widths.iter().map(|(_, width)| width + 2).sum();
    let lines = all().map(|row| {
        let cells = widths
            .iter()
            .map(|&(at, width)| format!("{:>width$}  ", row[at]));
        let cells: String = cells.collect();
        let name = row.last().map_or("", String::as_str);
        let room = screen
            .columns()
            .map(|columns| columns.saturating_sub(used + 1).max(LEAST));
        let name = room.map_or(name.to_owned(), |room| match list.is_of_names {
            true => fit(name, "", room).0,
            false => cut(name, room),
        });
        format!("{cells}{name}").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// Its beginning, where it has more letters than there is room for.
fn cut(text: &str, room: usize) -> String {
    match text.char_indices().nth(room) {
        None => text.to_owned(),
        Some(_) => {
            let letters = text.chars().take(room.saturating_sub(1));
            letters.chain(std::iter::once('\u{2026}')).collect()
        }
    }
}
