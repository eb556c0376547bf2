//! `memlog import`: another tool's file as a log.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_format::meta::Lack;
use memlog_pages::{
    Advice, Made, Watch, counted, form_of, grouped, has_magic, import, is_packed, lacks, shown,
    sized,
};

use crate::output::Output;
use crate::record::replace;

/// Make a log of another tool's file
#[derive(clap::Args)]
pub struct Args {
    /// The file, packed by gzip or zstd or not; what it is its content tells
    file: PathBuf,
    /// Write the log there; - is standard output [default: FILE with the ending .memlog, in the
    /// current folder]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Of a file that has sums only, leave out the blocks that came and went
    #[arg(long)]
    held_only: bool,
    /// Replace a log of that name that is there
    #[arg(long)]
    force: bool,
    /// Say nothing of what is written
    #[arg(short, long)]
    quiet: bool,
}

const ELSEWHERE: &str = "give another name: memlog import FILE -o OUT.memlog";

/// Makes it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let output = Output {
        path: args.output.as_deref(),
        is_quiet: args.quiet,
        elsewhere: ELSEWHERE,
    };
    let is_log = has_magic(&args.file) || is_packed(&args.file);
    if form_of(&args.file).is_none() && is_log {
        return Err(Advice::error(
            format!("{} is a log already", shown(&args.file)),
            "every command reads it as it is",
        ));
    }
    // It is told before the file is read.
    output.check_log(&args.file, named, args.force.then_some(replace::check))?;
    let watch = Watch::interruptible();
    let (made, bytes) = import(&args.file, args.held_only, &watch)?;
    watch.end();
    let (exit, _) = output.write_log(
        &args.file,
        named,
        args.force.then_some(replace::check),
        |out| {
            out.write_all(&bytes)?;
            Ok(ExitCode::SUCCESS)
        },
    )?;
    output.say(&format!("It was a {} file: {}", made.tool, content(&made)));
    let words: Vec<_> = made.lacks.iter().map(|lack| lacks(*lack)).collect();
    if !words.is_empty() {
        output.say(&format!("It does not know {}", words.join(", ")));
    }
    let of_one = |count: u64, one: &str, many: &str| match count {
        0 => {}
        1 => output.say(&format!("1 {one}")),
        _ => output.say(&format!("{} {many}", grouped(count))),
    };
    of_one(
        made.left_out,
        "line or record was not understood and is left out",
        "lines or records were not understood and are left out",
    );
    of_one(
        made.unknown_releases,
        "release was of a block that it does not have and is left out",
        "releases were of blocks that it does not have and are left out",
    );
    of_one(
        made.replaced,
        "block came where another was live, which counts as gone",
        "blocks came where others were live, which count as gone",
    );
    of_one(
        made.times_back,
        "time went back and counts as the one before",
        "times went back and count as those before",
    );
    made.remarks.iter().for_each(|remark| output.say(remark));
    Ok(exit)
}

/// `heaptrack.app.1.zst` becomes `heaptrack.app.1.memlog`.
fn named(file: &str) -> String {
    let path = Path::new(file);
    let is_packed = path
        .extension()
        .is_some_and(|ending| ["gz", "zst"].iter().any(|packed| ending == *packed));
    let name = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some(stem) if is_packed => stem,
        _ => file,
    };
    format!("{name}.memlog")
}

/// What was in it, as far as it knew.
fn content(made: &Made) -> String {
    let knows = |lack| !made.lacks.contains(&lack);
    let mut told = String::new();
    if knows(Lack::Gone) && knows(Lack::Counts) {
        let allocations = counted(made.allocations, "allocation");
        told += &format!("{allocations} and {}, ", counted(made.releases, "release"));
    }
    if knows(Lack::Counts) {
        told += &format!("{} of ", counted(made.live.0, "block"));
    }
    let end = match knows(Lack::End) {
        true => "never released",
        false => "live at its end",
    };
    format!("{told}{} {end}", sized(made.live.1))
}
