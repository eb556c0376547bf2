//! Rows of an answer: numbers on the right of their columns, names at the end.

use super::tree::named;
use crate::page::rows::{GREW, Last, Rest, Rows};
use crate::screen::{Role, Screen, fit, fit_place, width, wrapped};

/// However few columns there are, so much of what stands last is shown.
const LEAST: usize = 8;
/// Columns give way until it has so much.
const WANTED: usize = 30;

/// A title, the titles of the columns, the rows, and what was left out.
pub fn of(list: &Rows, screen: &Screen) -> String {
    let told = |sentence: &str| match screen.columns() {
        Some(columns) => wrapped(sentence, 0, columns, 0),
        None => sentence.to_owned(),
    };
    let title = screen.colours.paint(Role::Title, told(&list.title));
    let mut text = format!("\n{title}\n");
    let mut left_out = Vec::new();
    if !list.rows.is_empty() {
        let columns = Columns::of(list, screen.columns());
        text += &columns.table(list, screen);
        left_out = columns.left_out;
    }
    for line in &list.rest {
        const INDENT: &str = "    ";
        text += &match line {
            Rest::Sentence(sentence) => told(sentence),
            Rest::Frame(name) => format!("{INDENT}{}", named(screen, name, INDENT.len())),
        };
        text.push('\n');
    }
    if !left_out.is_empty() {
        let names = left_out.join(", ");
        let sentence = format!("no room for: {names}; a wider terminal and --json have that");
        text += &screen.colours.paint(Role::Guide, told(&sentence));
        text.push('\n');
    }
    text
}

/// The columns before the last that are shown, and how wide they are.
struct Columns {
    shown: Vec<(usize, usize)>,
    /// What the last one may take.
    room: Option<usize>,
    left_out: Vec<&'static str>,
}

impl Columns {
    fn of(list: &Rows, columns: Option<usize>) -> Self {
        let widest = |at: usize| {
            let all = std::iter::once(&list.columns).chain(&list.rows);
            all.map(|row| width(&row[at])).max().unwrap_or(0)
        };
        let last = list.columns.len().saturating_sub(1);
        // A column that is empty in each row tells nothing.
        let is_told = |at: &usize| list.rows.iter().any(|row| !row[*at].is_empty());
        let mut shown: Vec<(usize, usize)> = (0..last)
            .filter(is_told)
            .map(|at| (at, widest(at)))
            .collect();
        let used = |shown: &[(usize, usize)]| {
            let widths = shown.iter().map(|(_, width)| width + GAP.len());
            widths.sum::<usize>()
        };
        let mut left_out = Vec::new();
        let wanted = widest(last).min(WANTED);
        for title in &list.gives_way {
            if columns.is_none_or(|columns| used(&shown) + wanted <= columns) {
                break;
            }
            let before = shown.len();
            shown.retain(|(at, _)| list.columns[*at] != *title);
            if shown.len() < before {
                left_out.push(*title);
            }
        }
        Self {
            room: columns.map(|columns| columns.saturating_sub(used(&shown)).max(LEAST)),
            shown,
            left_out,
        }
    }

    fn table(&self, list: &Rows, screen: &Screen) -> String {
        let lasts = |rows: &[Vec<String>]| -> Vec<String> {
            rows.iter().filter_map(|row| row.last().cloned()).collect()
        };
        let names = self.fitted(lasts(&list.rows), list.last);
        let title = self.fitted(lasts(std::slice::from_ref(&list.columns)), Last::Text);
        let rows = std::iter::once(&list.columns).chain(&list.rows);
        let lines = rows.zip(title.iter().chain(&names)).map(|(row, name)| {
            let cells = self.shown.iter();
            let cells = cells.map(|&(at, width)| {
                let cell = format!("{:>width$}", row[at]);
                let role = (list.columns[at] == GREW)
                    .then(|| role_of(&row[at]))
                    .flatten();
                role.map_or(cell.clone(), |role| screen.colours.paint(role, cell)) + GAP
            });
            let cells: String = cells.collect();
            format!("{cells}{name}").trim_end().to_owned() + "\n"
        });
        lines.collect()
    }

    /// Each as long as there is room for.
    fn fitted(&self, texts: Vec<String>, what: Last) -> Vec<String> {
        let Some(room) = self.room else {
            return texts;
        };
        if what == Last::Bar {
            return shorter_bars(&texts, room);
        }
        let fitted = texts.iter().map(|text| match what {
            Last::Name => fit(text, "", room).0,
            Last::Path if text.contains('/') => fit_place(text, room),
            Last::Path => fit(text, "", room).0,
            Last::Stack => cut(&short_names(text, room), room),
            Last::Text | Last::Bar => cut(text, room),
        });
        fitted.collect()
    }
}

/// Of a signed amount.
fn role_of(amount: &str) -> Option<Role> {
    match amount.as_bytes().first() {
        Some(b'+') => Some(Role::Grew),
        Some(b'-') => Some(Role::Shrank),
        _ => None,
    }
}

/// More of a stack is worth more than all of a name.
fn short_names(stack: &str, room: usize) -> String {
    const BETWEEN: &str = " < ";
    const NAME: usize = 30;
    if stack.chars().count() <= room {
        return stack.to_owned();
    }
    let names = stack.split(BETWEEN);
    let names: Vec<String> = names.map(|name| fit(name, "", NAME).0).collect();
    names.join(BETWEEN)
}

/// Between two columns.
const GAP: &str = "  ";

/// All by the same part, so that they compare.
fn shorter_bars(texts: &[String], room: usize) -> Vec<String> {
    let parted = texts.iter().map(|text| {
        let remark = text.trim_start_matches('#');
        (text.len() - remark.len(), remark)
    });
    let parted: Vec<(usize, &str)> = parted.collect();
    let longest = parted.iter().map(|(bar, _)| *bar).max().unwrap_or(0);
    let remark = parted.iter().map(|(_, remark)| width(remark)).max();
    let most = room.saturating_sub(remark.unwrap_or(0)).max(1);
    let scaled = parted.iter().map(|(bar, remark)| {
        let bar = match longest > most {
            true => (bar * most).div_ceil(longest),
            false => *bar,
        };
        format!("{}{remark}", "#".repeat(bar))
    });
    scaled.collect()
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
