//! The user's terminal: lent while the view is shown, and given back as it was, however it ends.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use memlog_pages::live::Target;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGTSTP};
use signal_hook::flag;
use signal_hook::low_level::emulate_default_handler;

use crate::Args;
use crate::app::{Act, App};
use crate::draw::draw;
use crate::reader::Reader;

/// So long a key may wait for its answer.
const PATIENCE: Duration = Duration::from_millis(80);

/// Signals that end the view.
pub struct Signals {
    end: Arc<AtomicBool>,
    stop: Arc<AtomicBool>,
}

impl Signals {
    /// From now on they are noted.
    pub fn catch() -> io::Result<Self> {
        let end = Arc::<AtomicBool>::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            flag::register(signal, Arc::clone(&end))?;
        }
        Ok(Self {
            end,
            stop: Arc::default(),
        })
    }

    fn catch_stops(&self) -> io::Result<()> {
        flag::register(SIGTSTP, Arc::clone(&self.stop))?;
        Ok(())
    }

    /// Whether one of those that end it came.
    pub fn came(&self) -> bool {
        self.end.load(Ordering::Relaxed)
    }
}

/// Shows the view until the user ends it.
pub fn run(args: &Args, target: Target, delay: Duration) -> anyhow::Result<ExitCode> {
    let is_folder = matches!(target, Target::Several(_));
    let signals = Signals::catch()?;
    signals.catch_stops()?;
    let reader = Reader::start(target, &args.symbol_files, delay)?;
    let mut app = App::new(is_folder);
    // A panic gives the terminal back too.
    let mut terminal = ratatui::try_init()?;
    let shown = show(&mut terminal, &mut app, &reader, &signals);
    let restored = ratatui::try_restore();
    shown?;
    restored?;
    Ok(ExitCode::SUCCESS)
}

fn show(
    terminal: &mut DefaultTerminal,
    app: &mut App,
    reader: &Reader,
    signals: &Signals,
) -> io::Result<()> {
    let mut is_old = true;
    while !signals.came() {
        if let Some(view) = reader.views.try_iter().last() {
            app.take(view);
            is_old = true;
        }
        if signals.stop.swap(false, Ordering::Relaxed) {
            suspend(terminal)?;
            is_old = true;
        }
        if std::mem::take(&mut is_old) {
            terminal.draw(|frame| draw(app, frame))?;
        }
        match event::poll(PATIENCE) {
            Ok(false) => continue,
            Ok(true) => {}
            // A signal came.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        is_old = true;
        let Event::Key(key) = event::read()? else {
            continue;
        };
        if key.kind == KeyEventKind::Release {
            continue;
        }
        match app.press(key) {
            Act::Nothing => {}
            Act::Quit => return Ok(()),
            Act::Suspend => suspend(terminal)?,
            // The reader ends only with this one.
            Act::Ask(request) => drop(reader.requests.send(request)),
        }
    }
    Ok(())
}

/// Gives the terminal to the shell, and takes it again when the shell lets this go on.
fn suspend(terminal: &mut DefaultTerminal) -> io::Result<()> {
    terminal.show_cursor()?;
    ratatui::try_restore()?;
    emulate_default_handler(SIGTSTP)?;
    // The other screen is empty. To clear it would ask where the cursor is, which not every
    // terminal answers.
    *terminal = ratatui::try_init()?;
    Ok(())
}
