//! Frames as plain text: for pipes, logs and who has no terminal.

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use memlog_pages::live::Target;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

use crate::Args;
use crate::app::App;
use crate::draw::draw;
use crate::reader::Reader;
use crate::terminal::Signals;

/// Where nobody says how wide.
const WIDTH: u16 = 100;
/// A log may be without events so many looks.
const PATIENCE: u64 = 10;

/// Prints frames until there are enough, or nothing more comes.
pub fn run(
    args: &Args,
    target: Target,
    delay: Duration,
    most: Option<u64>,
) -> anyhow::Result<ExitCode> {
    let is_folder = matches!(target, Target::Several(_));
    let signals = Signals::catch()?;
    let reader = Reader::start(target, &args.symbol_files, delay)?;
    let width = std::env::var("COLUMNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let (mut app, mut count, mut empty) = (App::new(is_folder), 0, 0);
    app.has_cursor = false;
    while !signals.came() {
        let view = match reader.views.recv_timeout(Duration::from_millis(100)) {
            Ok(view) => view,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => continue,
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        };
        if let (Some(error), None, None) = (&view.error, &view.detail, &view.logs) {
            anyhow::bail!("{error}");
        }
        let is_over = match (&view.detail, &view.logs) {
            (Some(detail), _) => detail.is_over,
            (None, Some(logs)) => logs.iter().all(|log| log.is_over),
            (None, None) => false,
        };
        if view.detail.is_none() && view.logs.as_ref().is_none_or(Vec::is_empty) {
            empty += 1;
            if empty >= PATIENCE {
                anyhow::bail!("there are no events yet; begin when the program runs");
            }
            continue;
        }
        app.take(view);
        let text = text(
            &app,
            width.unwrap_or(WIDTH).clamp(20, 500),
            args.lines.max(6),
        );
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        count += 1;
        if is_over || most.is_some_and(|most| count >= most) {
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One frame, without the blanks at the ends of lines, and a line that parts it from the next.
pub fn text(app: &App, width: u16, height: u16) -> String {
    let Ok(mut terminal) = Terminal::new(TestBackend::new(width, height));
    let Ok(_) = terminal.draw(|frame| draw(app, frame));
    let buffer = terminal.backend().buffer();
    let mut text = String::new();
    let mut blank = 0;
    for y in 0..height {
        let mut line = String::new();
        let mut x = 0;
        while x < width {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            // A wide letter takes the next cell as well.
            x += memlog_pages::width(symbol).max(1) as u16;
        }
        let line = line.trim_end();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        text.extend(std::iter::repeat_n('\n', blank));
        blank = 0;
        text.push_str(line);
        text.push('\n');
    }
    text + "\n"
}
