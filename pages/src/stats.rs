//! `memlog stats`: the figures of a log, for people or as JSON.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Map, Value};

use crate::choose::chosen;
use crate::figures::figures;
use crate::open::{Files, Watch};
use crate::screen::out;

/// Print the figures of a log.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Print them as JSON, schema memlog-stats-1
    #[arg(long)]
    json: bool,
}

/// Prints the figures.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = chosen(&args.file)?;
    let watch = Watch::begin();
    let files = Files::load(&file)?;
    let family = files.family()?;
    let analysis = family.analyse(None, &watch);
    let figures = figures(&family, &analysis);
    watch.end();
    let mut out = out();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &figures).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        print(&mut out, "", &figures)?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// One line a figure, names of nested ones joined by dots.
fn print(out: &mut impl Write, prefix: &str, figures: &Map<String, Value>) -> std::io::Result<()> {
    for (name, value) in figures {
        let name = format!("{prefix}{name}");
        match value {
            Value::Object(inner) => print(out, &format!("{name}."), inner)?,
            Value::String(text) => writeln!(out, "{name:<40} {text}")?,
            Value::Array(list) => {
                for value in list {
                    let text = value.as_str().map_or(value.to_string(), str::to_owned);
                    writeln!(out, "{name:<40} {text}")?;
                }
            }
            value => writeln!(out, "{name:<40} {value}")?,
        }
    }
    Ok(())
}
