//! `memlog report`: printed, and written for gprof2dot.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use memlog_pages::report::{Args, run as print};
use memlog_pages::{Advice, shown};
use memlog2dot::OneFile;

const ELSEWHERE: &str = "give another folder: memlog report --output-graphs=DIR FILE";

/// Prints it, and writes what it is asked for.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let folder = args.output_graphs.as_deref().unwrap_or(Path::new("."));
    print(args, |log, label, graph| {
        let Some(name) = log.file_name() else {
            return Err(Advice::error(
                format!("{} has no file name", shown(log)),
                "give the .memlog file that `memlog record` named",
            ));
        };
        let mut name = name.to_owned();
        name.push(format!(".{label}.json"));
        let path = folder.join(name);
        OneFile::prepare(&path, log, ELSEWHERE)?.write(graph.as_bytes())?;
        // Who hears it may go away: the file is what was asked for.
        let _ = writeln!(io::stderr().lock(), "memlog: Creating {}", shown(&path));
        Ok(())
    })
}
