//! Forms of other tools that need the lives of single blocks.

mod dhat;
mod firefox;
mod flame;
mod heaptrack;
mod massif;
mod perfetto;

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use memlog_answers::{Of, Point, World};
use memlog_export::forms::{Counter, Process};
use memlog_format::meta::{Key, Lack};

use super::{Failure, Question, Told, answered};
use crate::facts::command_line;
use crate::names::SymbolFiles;
use crate::rests::Rests;
use crate::screen::Look;
use crate::shown::Asked;
use crate::world::Where;

pub use dhat::dhat;
pub use firefox::firefox;
pub(super) use flame::allocated;
pub use flame::{flame_svg, folded};
pub use heaptrack::heaptrack;
pub use massif::massif;
pub use perfetto::perfetto;

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
fn write<A: AsRef<[u8]>, E: Into<Failure>>(
    chosen: &Chosen,
    rests_on: &[Lack],
    made: impl Fn(&Told) -> Result<A, E>,
    out: &mut dyn Write,
) -> anyhow::Result<ExitCode> {
    let out = RefCell::new(out);
    asked(chosen, Rests::from(true).on(rests_on), made, |made| {
        Ok(out.borrow_mut().write_all(made.as_ref())?)
    })
}

/// Something is made of the blocks that were chosen, and shown.
fn asked<A, E: Into<Failure>>(
    chosen: &Chosen,
    rests: Rests,
    made: impl Fn(&Told) -> Result<A, E>,
    show: impl Fn(A) -> anyhow::Result<()>,
) -> anyhow::Result<ExitCode> {
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
    let of = (Of::Blocks, &question);
    answered(of, rests, made, |made, around| {
        // From now on Ctrl-C is no concern of what read the log.
        if let Some(interrupt) = &around.interrupt {
            interrupt.ignore();
        }
        show(made)
    })
}

/// How the program was started.
fn command(told: &Told) -> String {
    let words = told.log().text(Key::CommandLine);
    let words = words.or(told.log().text(Key::Executable));
    words.map_or_else(|| "?".to_owned(), command_line)
}

/// Whose log it is.
fn process<'t>(told: &'t Told) -> Process<'t> {
    let (world, start) = (told.world, told.log().start());
    Process {
        name: world.program.as_deref().unwrap_or("?"),
        pid: start.map_or(0, |start| start.pid),
        start_unix_ns: told.start_unix_ns,
        end_ns: world.table.end_tick().saturating_mul(world.tick_ns),
    }
}

/// The heap and resident memory over time.
fn counters(world: &World, points: &[Point]) -> [Counter; 2] {
    let ns = |point: &Point| point.tick.saturating_mul(world.tick_ns);
    let heap = points.iter().map(|point| (ns(point), point.live.bytes));
    let resident = points
        .iter()
        .filter_map(|point| Some((ns(point), point.resident?)));
    [
        Counter {
            name: "heap",
            about: "Bytes asked for that are live",
            points: heap.collect(),
        },
        Counter {
            name: "RSS",
            about: "Resident memory",
            points: resident.collect(),
        },
    ]
}
