//! The tables: logs, functions, threads, stacks.

use memlog_pages::live::around;
use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Row, Table as Widget, TableState};

use super::words::{signed as growth, size};
use crate::app::{App, Key, Table};
use crate::reader::short;
use crate::view::StackView;

/// Draws the one that is looked at.
pub fn draw(app: &App, frame: &mut Frame, area: Rect) {
    match app.table {
        Table::Logs => logs(app, frame, area),
        Table::Sites => sites(app, frame, area),
        Table::Threads => threads(app, frame, area),
        Table::Stacks(label) => stacks(app, label, frame, area),
    }
}

/// A column: its title, what sorts by it, and its width; the last has what is left.
struct Column(&'static str, Option<Key>, u16);

/// Narrow screens have the first of these columns only, and the name.
fn table(app: &App, frame: &mut Frame, area: Rect, columns: &[Column], rows: Vec<Vec<String>>) {
    const NAME: u16 = 20;
    let mut room = area.width.saturating_sub(NAME.min(area.width / 3) + 2);
    let mut shown = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let is_last = index + 1 == columns.len();
        if is_last || column.2 < room {
            shown.push(index);
            room = room.saturating_sub(column.2 + 1);
        }
    }
    let widths = shown.iter().map(|&index| match index + 1 == columns.len() {
        true => Constraint::Min(8),
        false => Constraint::Length(columns[index].2),
    });
    let header = shown.iter().map(|&index| {
        let Column(title, key, _) = &columns[index];
        // What it is sorted by is marked by a sign, for who sees no underlining.
        let mark = if app.is_reversed { "^" } else { "*" };
        let title = match key.is_some_and(|key| key == app.key) {
            true => format!("{mark}{title}"),
            false => (*title).to_owned(),
        };
        cell(title, index + 1 == columns.len())
    });
    let header = Row::new(header).style(Style::new().add_modifier(Modifier::BOLD));
    let count = rows.len();
    let rows = rows.into_iter().map(|row| {
        let cells = shown.iter().map(|&index| {
            let text = row.get(index).cloned().unwrap_or_default();
            cell(text, index + 1 == columns.len())
        });
        Row::new(cells)
    });
    let widget = Widget::new(rows, widths)
        .header(header)
        .column_spacing(1)
        .highlight_symbol(if app.has_cursor { ">" } else { "" })
        .row_highlight_style(match app.has_cursor {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        });
    let selected = (app.has_cursor && count > 0).then(|| app.selected.min(count - 1));
    let mut state = TableState::new().with_selected(selected);
    frame.render_stateful_widget(widget, area, &mut state);
}

fn cell(text: String, is_name: bool) -> Cell<'static> {
    match is_name {
        true => Cell::from(text),
        false => Cell::from(Text::from(text).right_aligned()),
    }
}

fn logs(app: &App, frame: &mut Frame, area: Rect) {
    let columns = [
        Column("live", Some(Key::Live), 10),
        Column("growth", Some(Key::Grown), 11),
        Column("RSS", None, 10),
        Column("blocks", Some(Key::Blocks), 11),
        Column("allocs/s", Some(Key::Rate), 10),
        Column("process", Some(Key::Name), 0),
    ];
    let rows = app.logs().into_iter().map(|log| {
        let seen = &log.seen;
        let resident = seen.resident.map_or("-".into(), |now| size(now.bytes));
        let state = match &log.error {
            Some(error) => error.clone(),
            None => seen.word(&log.life),
        };
        vec![
            size(log.live.bytes),
            growth(log.grown),
            resident,
            memlog_pages::grouped(log.live.blocks),
            memlog_pages::grouped(log.rate.round() as u64),
            format!(
                "{} {} on {}, {state}: {}",
                seen.program,
                seen.pid,
                seen.host,
                short(&log.path)
            ),
        ]
    });
    table(app, frame, area, &columns, rows.collect());
}

fn sites(app: &App, frame: &mut Frame, area: Rect) {
    let columns = [
        Column("live", Some(Key::Live), 10),
        Column("growth", Some(Key::Grown), 11),
        Column("blocks", Some(Key::Blocks), 9),
        Column("since", Some(Key::SinceFirst), 11),
        Column("allocs/s", Some(Key::Rate), 9),
        Column("temp", Some(Key::Temporary), 5),
        Column("function", Some(Key::Name), 0),
    ];
    let Some(detail) = &app.view.detail else {
        return;
    };
    let seconds = detail.look.seconds.max(1e-3);
    let rows = app.sites().into_iter().map(|(site, index)| {
        let name = &detail.names[index];
        let place = match &name.location {
            Some(location) => format!("{} [{}]", name.function, tail(location)),
            None => name.function.clone(),
        };
        let temporary = match site.allocated.blocks {
            0 => "-".into(),
            all => format!("{:.0}%", site.temporary.blocks as f64 * 100.0 / all as f64),
        };
        vec![
            size(site.live.bytes),
            growth(site.grown),
            memlog_pages::grouped(site.live.blocks),
            growth(site.grown_since_first),
            memlog_pages::grouped((site.came.blocks as f64 / seconds).round() as u64),
            temporary,
            place,
        ]
    });
    table(app, frame, area, &columns, rows.collect());
}

/// A path's last part: the line is what is looked for.
fn tail(location: &str) -> &str {
    location.rsplit('/').next().unwrap_or(location)
}

fn threads(app: &App, frame: &mut Frame, area: Rect) {
    let columns = [
        Column("live", Some(Key::Live), 10),
        Column("growth", Some(Key::Grown), 11),
        Column("blocks", Some(Key::Blocks), 11),
        Column("thread", Some(Key::Name), 0),
    ];
    let rows = app.threads().into_iter().map(|thread| {
        vec![
            size(thread.live.bytes),
            growth(thread.grown),
            memlog_pages::grouped(thread.live.blocks),
            format!("{} {}", thread.tid, thread.name),
        ]
    });
    table(app, frame, area, &columns, rows.collect());
}

fn stacks(app: &App, label: u32, frame: &mut Frame, area: Rect) {
    let detail = app.view.detail.as_ref();
    let known = detail.and_then(|detail| detail.stacks.as_ref());
    let Some((_, stacks)) = known.filter(|(known, _)| *known == label) else {
        frame.render_widget(Line::from("looking for its stacks ..."), area);
        return;
    };
    let mut lines = Vec::new();
    for stack in stacks {
        stack_lines(stack, &mut lines);
    }
    if lines.is_empty() {
        lines.push(Line::from("nothing of it is live"));
    }
    let last = (lines.len() as u16).saturating_sub(area.height.min(5));
    frame.render_widget(
        Paragraph::new(lines).scroll((app.scroll.min(last), 0)),
        area,
    );
}

/// So many lines of the source before and behind one.
const AROUND: u32 = 1;

fn stack_lines(stack: &StackView, lines: &mut Vec<Line<'static>>) {
    let strong = Style::new().add_modifier(Modifier::BOLD);
    let blocks = memlog_pages::counted(stack.held.blocks, "block");
    let title = format!("{} in {blocks}", size(stack.held.bytes));
    lines.push(Line::styled(title, strong));
    for (index, frame) in stack.frames.iter().enumerate() {
        let place = match &frame.location {
            Some(location) => format!("  {} at {location}", frame.function),
            None => match &frame.module {
                Some(module) => format!("  {} ({module})", frame.function),
                None => format!("  {}", frame.function),
            },
        };
        lines.push(Line::from(place));
        let location = frame.location.as_deref().filter(|_| index == 0);
        for (number, text) in location.map_or_else(Vec::new, |at| around(at, AROUND)) {
            let is_it = location.is_some_and(|at| at.ends_with(&format!(":{number}")));
            let mark = if is_it { '>' } else { ' ' };
            lines.push(Line::from(format!("    {mark}{number:5} {text}")));
        }
    }
    lines.push(Line::default());
}
