//! Forms of other tools that need the lives of single blocks.

mod dhat;
mod firefox;
mod massif;

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use memlog_answers::Of;
use memlog_format::meta::Key;

use super::{Failure, Question, Told, answered};
use crate::facts::command_line;
use crate::names::SymbolFiles;
use crate::screen::Look;
use crate::shown::Asked;
use crate::world::Where;

pub use dhat::dhat;
pub use firefox::firefox;
pub use massif::massif;

/// Of which log, named by which files, and which blocks.
pub struct Chosen<'a> {
    /// The log.
    pub file: &'a Path,
    /// Where the names are.
    pub symbol_files: &'a SymbolFiles,
    /// Which blocks count.
    pub blocks: &'a Where,
}

/// What was made of the log is written; on Ctrl-C, of what was read of it.
fn write<E: Into<Failure>>(
    chosen: &Chosen,
    made: impl Fn(&Told) -> Result<String, E>,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let out = RefCell::new(out);
    let question = Question {
        blocks: chosen.blocks.clone(),
        at: None,
        json: false,
        asked: Asked {
            file: chosen.file.to_owned(),
            symbol_files: chosen.symbol_files.clone(),
            look: Look::plain(),
        },
    };
    answered((Of::Blocks, &question), true, made, |text, around| {
        // From now on Ctrl-C is no concern of what read the log.
        if let Some(interrupt) = &around.interrupt {
            interrupt.ignore();
        }
        Ok(out.borrow_mut().write_all(text.as_bytes())?)
    })
}

/// How the program was started.
fn command(told: &Told) -> String {
    let words = told.log.text(Key::CommandLine);
    let words = words.or(told.log.text(Key::Executable));
    words.map_or_else(|| "?".to_owned(), command_line)
}
