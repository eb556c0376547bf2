//! An app as cells of a screen. Nothing is said by colour alone.

mod tables;
mod words;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph, Sparkline, Widget};

use crate::app::{App, Table};
use crate::view::Detail;
use words::size;

/// On lower screens the curves are left out, and what is above the table.
const LOW: u16 = 12;

/// Draws all of it.
pub fn draw(app: &App, frame: &mut Frame) {
    let area = frame.area();
    if area.width < 2 || area.height < 2 {
        return;
    }
    let is_low = area.height < LOW;
    let is_folder = app.table == Table::Logs;
    let head = match (is_folder, is_low) {
        (true, _) | (false, true) => 1,
        (false, false) => 5,
    };
    let [top, table, foot] = Layout::vertical([
        Constraint::Length(head),
        Constraint::Min(1),
        Constraint::Length(1),
    ])
    .areas(area);
    match (&app.view.detail, is_folder) {
        (_, true) => line(frame, top, folder(app)),
        (Some(detail), false) => heading(frame, top, app, detail),
        (None, false) => line(frame, top, Line::from("memlog top: reading the log ...")),
    }
    tables::draw(app, frame, table);
    line(frame, foot, keys(app, foot.width));
    if app.shows_help {
        help(frame, area);
    }
}

fn line(frame: &mut Frame, area: Rect, line: Line) {
    let area = Rect {
        height: area.height.min(1),
        ..area
    };
    frame.render_widget(line, area);
}

fn bold(text: impl Into<String>) -> Span<'static> {
    Span::styled(text.into(), Style::new().add_modifier(Modifier::BOLD))
}

/// What stands above the logs of a folder.
fn folder(app: &App) -> Line<'static> {
    let all = app.view.logs.as_deref().unwrap_or_default();
    let running = all
        .iter()
        .filter(|log| log.life == memlog_pages::Life::Running);
    let bytes = all
        .iter()
        .map(|log| log.live.bytes)
        .fold(0, u64::saturating_add);
    let mut words = vec![
        bold(memlog_pages::counted(all.len() as u64, "log")),
        format!(", {} running, {} live in all", running.count(), size(bytes)).into(),
    ];
    if app.view.left_out > 0 {
        words.push(format!("; {} more are not shown", app.view.left_out).into());
    }
    words.extend(paused(app));
    Line::from(words)
}

fn paused(app: &App) -> Option<Span<'static>> {
    let style = Style::new().add_modifier(Modifier::BOLD | Modifier::REVERSED);
    app.is_paused.then(|| Span::styled(" PAUSED ", style))
}

fn heading(frame: &mut Frame, area: Rect, app: &App, detail: &Detail) {
    let seen = &detail.seen;
    let mut words = vec![bold(seen.program.clone())];
    if let Some(name) = &seen.started_as {
        words.push(format!(" ({name})").into());
    }
    words.push(
        format!(
            "  pid {} on {}  {}  {} ",
            seen.pid,
            seen.host,
            memlog_pages::lasted(detail.look.program_seconds),
            seen.word(&detail.life),
        )
        .into(),
    );
    words.extend(paused(app));
    line(frame, area, Line::from(words));
    if area.height < 5 {
        return;
    }
    let [_, heap, resident, rates, _] = Layout::vertical([Constraint::Length(1); 5]).areas(area);
    let look = &detail.look;
    let peak = format!(
        "heap {:>10}  peak {:>10} at {:.1} s",
        size(look.live.bytes),
        size(look.heap_peak.0),
        look.heap_peak.1
    );
    curve(frame, heap, peak, &detail.heap);
    let told = match seen.resident {
        Some(now) => format!(
            "RSS  {:>10}  peak {:>10}",
            size(now.bytes),
            size(seen.resident_peak_bytes)
        ),
        None => "RSS   not read yet".into(),
    };
    curve(frame, resident, told, &detail.resident);
    line(frame, rates, Line::from(figures(detail)));
}

fn figures(detail: &Detail) -> String {
    let (look, seen) = (&detail.look, &detail.seen);
    let seconds = look.seconds.max(1e-3);
    let rate = |count: u64| memlog_pages::grouped((count as f64 / seconds).round() as u64);
    let mut text = format!(
        "{} blocks; {} allocations/s of {}/s, {} frees/s",
        memlog_pages::grouped(look.live.blocks),
        rate(look.came.blocks),
        size((look.came.bytes as f64 / seconds) as u64),
        rate(look.releases),
    );
    if seen.lost_events > 0 {
        text += &format!("; {} EVENTS LOST", memlog_pages::grouped(seen.lost_events));
    }
    if seen.damages > 0 {
        text += "; PARTS OF THE LOG ARE DAMAGED";
    }
    if let Some((tick, mark)) = &seen.mark {
        let at = *tick as f64 * seen.tick_ns as f64 / 1e9;
        text += &format!("; mark {mark} at {at:.1} s");
    }
    text
}

/// Words, and what is left of the line for a curve of the last looks.
fn curve(frame: &mut Frame, area: Rect, words: String, values: &std::collections::VecDeque<u64>) {
    const WORDS: u16 = 46;
    let [left, right] =
        Layout::horizontal([Constraint::Length(WORDS), Constraint::Min(0)]).areas(area);
    frame.render_widget(Line::from(words), left);
    let skip = values.len().saturating_sub(right.width.into());
    let shown: Vec<u64> = values.iter().skip(skip).copied().collect();
    // From the least to the most: small changes of much are seen.
    let (low, high) = (shown.iter().min().copied(), shown.iter().max().copied());
    if let (Some(low), Some(high)) = (low, high) {
        let steps = shown.iter().map(|value| match high - low {
            0 => 1,
            span => 1 + ((value - low) as u128 * 7 / u128::from(span)) as u64,
        });
        let steps: Vec<u64> = steps.collect();
        Sparkline::default()
            .data(&steps)
            .max(8)
            .render(right, frame.buffer_mut());
    }
}

fn keys(app: &App, width: u16) -> Line<'static> {
    if app.is_typing {
        return Line::from(vec![bold("filter: "), format!("{}_", app.filter).into()]);
    }
    if let Some(error) = &app.view.error {
        return Line::from(bold(error.clone()));
    }
    let mut text = match app.table {
        Table::Stacks(_) => "Esc back  up/down scroll  p pause  ? help  q quit".to_owned(),
        _ => "Enter in  s sort  / filter  Tab threads  p pause  ? help  q quit".to_owned(),
    };
    if !app.has_cursor {
        text.clear();
    }
    if !app.filter.is_empty() {
        text = format!("filter: {}  (Esc clears it)  {text}", app.filter);
    }
    // What does not fit is told by ?.
    if width < 40 && app.has_cursor {
        text = "? help  q quit".into();
    }
    Line::from(text)
}

const HELP: [&str; 14] = [
    "up down PgUp PgDn Home End   choose a line",
    "Enter     a process: its functions;",
    "          a function: its stacks",
    "Esc       back",
    "s S       sort by the next, the last column",
    "r         turn the order around",
    "/         filter by a part of a name",
    "Tab       functions or threads",
    "p         pause: the program runs on",
    "Ctrl-Z    stop this view, fg shows it again",
    "q Ctrl-C  quit",
    "",
    "growth: since the last look; since: since",
    "the first. temp: freed before the next one",
];

fn help(frame: &mut Frame, area: Rect) {
    let width = HELP.iter().map(|line| line.len() as u16).max().unwrap_or(0) + 4;
    let (width, height) = (
        width.min(area.width),
        (HELP.len() as u16 + 2).min(area.height),
    );
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    };
    frame.render_widget(Clear, place);
    let lines: Vec<Line> = HELP.iter().map(|text| Line::from(*text)).collect();
    let block = ratatui::widgets::Block::bordered().title(" keys ");
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
