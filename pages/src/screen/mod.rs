//! How what is printed reaches people: coloured and cut to the width of a
//! terminal, through a pager where it is longer than the screen, and whole and
//! plain everywhere else.

mod colour;
mod pager;

use std::io::{self, BufWriter, IsTerminal, StdoutLock, Write};

use memlog_analysis::brief_path;
use terminal_size::{Height, Width, terminal_size_of};

use crate::open::Interrupt;
use crate::system;
use crate::words::Sizes;
pub use colour::{Colours, Role, fit, fit_place, lines, width, wrapped};
use pager::Pager;

/// What a command is asked about its looks.
#[derive(Clone, Copy, clap::Args)]
pub struct Look {
    /// Colours: auto (on a terminal only), always or never; NO_COLOR and CLICOLOR_FORCE are obeyed
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: colour::Choice,
    /// Print at once what is longer than the screen; else it goes through $MEMLOG_PAGER, $PAGER
    /// (words between blanks, not a line for a shell) or less
    #[arg(long)]
    no_pager: bool,
    /// Print sizes in bytes, not as 27.6 MiB; trees and JSON always have bytes
    #[arg(long)]
    bytes: bool,
}

impl Look {
    /// Of what is not for a screen.
    pub fn plain() -> Self {
        Self {
            color: colour::Choice::Never,
            no_pager: true,
            bytes: false,
        }
    }
}

/// Where output goes, and what may be done there.
pub struct Screen {
    /// Which are used, if any.
    pub colours: Colours,
    /// How sizes are told.
    pub sizes: Sizes,
    /// Of a terminal, or else COLUMNS.
    columns: Option<usize>,
    /// Of a terminal.
    rows: Option<usize>,
    may_page: bool,
    /// Where the user is: files below it are told from here.
    folder: String,
}

impl Screen {
    /// stdout, and what was asked for.
    pub fn new(look: &Look) -> Self {
        let stdout = io::stdout();
        let size = terminal_size_of(&stdout);
        let is_terminal = stdout.is_terminal();
        let folder = std::env::current_dir().unwrap_or_default();
        Self {
            colours: Colours::chosen(look.color, is_terminal, |name| std::env::var_os(name)),
            sizes: match look.bytes {
                true => Sizes::Exact,
                false => Sizes::Rounded,
            },
            columns: match size {
                Some((Width(columns), _)) => Some(columns.into()),
                None => asked_columns(),
            },
            rows: size.map(|(_, Height(rows))| rows.into()),
            may_page: is_terminal && !look.no_pager,
            folder: folder.to_string_lossy().into_owned(),
        }
    }

    /// No terminal: lines of any width, without colours, at once.
    pub fn plain() -> Self {
        Self {
            colours: Colours::none(),
            sizes: Sizes::Rounded,
            columns: None,
            rows: None,
            may_page: false,
            folder: String::new(),
        }
    }

    /// How wide lines should be; nothing where they may have any width.
    pub fn columns(&self) -> Option<usize> {
        self.columns.filter(|&columns| columns > 0)
    }

    /// A source file as the user would call it here.
    pub fn path<'p>(&self, path: &'p str) -> &'p str {
        let below = path.strip_prefix(self.folder.as_str());
        match below.and_then(|below| below.strip_prefix('/')) {
            Some(below) if !below.is_empty() => below,
            _ => brief_path(path),
        }
    }

    /// How many lines a page has.
    pub fn rows(&self) -> Option<usize> {
        self.rows.filter(|&rows| rows > 0)
    }

    /// Prints a page.
    pub fn show(&self, page: &str, interrupt: Option<Interrupt>) -> io::Result<()> {
        let pager = match self.may_page && self.is_longer(page) {
            true => Pager::chosen(|name| std::env::var_os(name)),
            false => None,
        };
        if let Some(pager) = pager {
            // The pager answers to the keyboard from now on.
            if let Some(interrupt) = &interrupt {
                interrupt.ignore();
            }
            if pager.show(page.as_bytes())? {
                return Ok(());
            }
        }
        let mut out = out();
        out.write_all(page.as_bytes())?;
        out.flush()
    }

    /// Whether a page does not fit, the shell's next line included.
    fn is_longer(&self, page: &str) -> bool {
        self.rows().is_some_and(|rows| self.rows_of(page) >= rows)
    }

    /// How many lines a text takes here.
    pub fn rows_of(&self, text: &str) -> usize {
        let columns = self.columns().unwrap_or(usize::MAX);
        let rows = text
            .lines()
            .map(|line| width(line).div_ceil(columns).max(1));
        rows.sum()
    }

    /// `note: SENTENCE`
    pub fn note(&self, sentence: &str) -> String {
        const NAME: &str = "note:";
        let note = self.colours.paint(Role::Note, NAME);
        let indent = NAME.len() + 1;
        match self.columns() {
            Some(columns) => format!("{note} {}", wrapped(sentence, indent, columns, indent)),
            None => format!("{note} {sentence}"),
        }
    }
}

/// What a user asks for where there is no terminal.
fn asked_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.trim().parse().ok()
}

/// stdout, whose errors say that it was stdout.
pub fn out() -> BufWriter<Out> {
    BufWriter::new(Out::new())
}

/// See [`out`].
pub struct Out(StdoutLock<'static>);

impl Out {
    /// Not buffered beyond a line.
    pub fn new() -> Self {
        Self(io::stdout().lock())
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        open_stdout()?;
        self.0.write(bytes).map_err(of_stdout)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(of_stdout)
    }
}

/// Whether there is a stdout at all.
pub fn open_stdout() -> io::Result<()> {
    match system::is_without_stdout() {
        true => Err(of_stdout(io::Error::new(
            io::ErrorKind::NotConnected,
            "it is closed",
        ))),
        false => Ok(()),
    }
}

/// What went wrong with the output.
pub fn of_stdout(error: io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("cannot write to standard output: {error}"),
    )
}
