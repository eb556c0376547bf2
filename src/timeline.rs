//! `memlog timeline`: printed, or drawn into a file.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_pages::blocks::ask;
use memlog_pages::blocks::timeline::{Args, draw};
use memlog_pages::{Advice, choose, out, shown};
use memlog2dot::OneFile;

const ELSEWHERE: &str = "give another name: memlog timeline FILE -o OUT.svg";

/// Prints it or draws it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let Some(path) = &args.output else {
        return ask(args);
    };
    if path == Path::new("-") {
        return draw(args, |picture| {
            let mut out = out();
            out.write_all(picture.as_bytes())?;
            Ok(out.flush()?)
        });
    }
    let is_svg = |ending: &std::ffi::OsStr| ending.eq_ignore_ascii_case("svg");
    if !path.extension().is_some_and(is_svg) {
        return Err(Advice::error(
            format!("{} does not end in .svg", shown(path)),
            ELSEWHERE,
        ));
    }
    // What cannot be written is told before the log is gone through.
    let log = choose(args.file(), |_: &str| {})?;
    let file = OneFile::prepare(path, &log, ELSEWHERE)?;
    let exit = draw(args, |picture| file.write(picture.as_bytes()))?;
    // Who hears it may go away: the file is what was asked for.
    let _ = writeln!(io::stdout().lock(), "Creating {}", shown(path));
    Ok(exit)
}
