//! `memlog diff`: printed, or drawn into a file.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_export::flame::{Least, View, html, svg};
use memlog_pages::blocks::diff::{Args, draw, run as print};
use memlog_pages::{Advice, choose, shown};
use memlog2dot::OneFile;

const ELSEWHERE: &str = "give another name: memlog diff OLD NEW -o OUT.html";
/// Of a picture, in pixels.
const WIDTH: f64 = 1200.0;
/// Of a page what is less than so many percent is summed up.
const LEAST: Least = Least {
    percent: 0.01,
    most_nodes: 100_000,
};

/// Prints it or draws it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(path) = &args.output else {
        return print(args);
    };
    let is_svg = is_svg(path)?;
    // What cannot be written is told before the logs are gone through.
    let log = choose(args.before(), |_: &str| {})?;
    let file = OneFile::prepare(path, &log, ELSEWHERE)?;
    let exit = draw(args, |flame| {
        let text = match is_svg {
            true => svg(flame, View::default(), WIDTH),
            false => html(flame, View::default(), Some(LEAST)),
        };
        file.write(text.as_bytes())
    })?;
    // Who hears it may go away: the file is what was asked for.
    let _ = writeln!(io::stdout().lock(), "Creating {}", shown(path));
    Ok(exit)
}

fn is_svg(path: &Path) -> anyhow::Result<bool> {
    let ending = path.extension().unwrap_or_default();
    let is = |known: &str| ending.eq_ignore_ascii_case(known);
    match (is("svg"), is("html") || is("htm")) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => Err(Advice::error(
            format!("{} ends neither in .html nor in .svg", shown(path)),
            ELSEWHERE,
        )),
    }
}
