//! `memlog replay`: a log's calls, under other allocators.
//!
//! * [`allocators`]: which, and where they lie
//! * [`child`]: a run of the replayer under one of them

mod allocators;
mod child;

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_pages::events::{Recorded, is_operations, operations};
use memlog_pages::replay::{Replayed, Row, Run, show};
use memlog_pages::{Advice, Look, choose, shown, unnamed};

use allocators::{Allocator, Found};
use child::Replayer;

/// Execute a log's calls under other allocators
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak;
    /// or what `memlog export replay` wrote
    file: PathBuf,
    /// Under this one: glibc, musl, jemalloc, mimalloc, tcmalloc or the path of a library,
    /// with settings behind it as glibc:MALLOC_ARENA_MAX=1. Any number of times [default: each
    /// that is on this machine]
    #[arg(long, value_name = "NAME", value_parser = Allocator::asked)]
    allocator: Vec<Allocator>,
    /// So many runs under each: figures are those in the middle
    #[arg(long, value_name = "N", default_value = "3", value_parser = clap::value_parser!(u8).range(1..))]
    repeat: u8,
    /// Print it as JSON, schema memlog-replay-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: Look,
}

/// However little a program took, so much may be touched where it is free.
const LEAST_LIMIT: u64 = 64 << 20;

/// Replays it and shows what came of that.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let replayer = Replayer::find()?;
    let found = Found::look(&args.allocator, &replayer)?;
    let file = opened(&args.file)?;
    let recorded = Recorded::of(&file)?;
    let limit_bytes = limit(&recorded);
    let (all, has_own) = found.with_own(&recorded);
    let mut rows = rows(&replayer, &file, &all)?;
    // Each once, then each again: what else the machine does is no one's alone.
    for _ in 0..args.repeat {
        for (row, allocator) in rows.iter_mut().zip(&all) {
            if row.failed.is_none() {
                one_run(&replayer, &file, allocator, limit_bytes, row)?;
            }
        }
    }
    if rows.iter().all(|row| row.failed.is_some()) {
        let failed = rows.into_iter().filter_map(|row| row.failed).next();
        let failed = failed.unwrap_or_default();
        return Err(Advice::error(
            format!("no allocator could be tried: {failed}"),
            "see whether this machine has room for what the program took",
        ));
    }
    let replayed = Replayed {
        recorded,
        rows,
        has_own,
        limit_bytes,
        absent: found.absent,
    };
    show(&replayed, &args.look, args.json)?;
    Ok(ExitCode::SUCCESS)
}

/// A row for each, with what the replayer takes by itself under its C library.
fn rows(replayer: &Replayer, file: &File, all: &[Allocator]) -> anyhow::Result<Vec<Row>> {
    let mut known: Vec<(Option<&Path>, Run)> = Vec::new();
    let rows = all.iter().map(|allocator| {
        let loader = allocator.loader();
        let own = known.iter().find(|(other, _)| *other == loader);
        let own = match own {
            Some((_, own)) => own.clone(),
            None => {
                let own = replayer.dry(file, allocator)?;
                known.push((loader, own.clone()));
                own
            }
        };
        Ok(allocator.row(own))
    });
    rows.collect()
}

fn one_run(
    replayer: &Replayer,
    file: &File,
    allocator: &Allocator,
    limit_bytes: u64,
    row: &mut Row,
) -> anyhow::Result<()> {
    match replayer.run(file, allocator, (limit_bytes, row.own.end_bytes()))? {
        Ok((library, run)) => {
            row.library = library;
            row.runs.push(run);
        }
        Err(reason) => row.failed = Some(reason),
    }
    Ok(())
}

/// The operations, in a file that goes with this process.
fn opened(name: &Path) -> anyhow::Result<File> {
    if is_operations(name) {
        return Ok(File::open(name)?);
    }
    let log = choose(name, memlog_pages::tell_note)?;
    written(&log)
}

/// The operations of a log, in a file without a name.
pub fn written(log: &Path) -> anyhow::Result<File> {
    let folder = std::env::temp_dir();
    let refused = |what: &str, error: &io::Error| {
        Advice::error(
            format!("{what} {}: {error}", shown(&folder)),
            "set TMPDIR to a folder with room for 5 bytes for each event",
        )
    };
    let mut file = unnamed(&folder).map_err(|error| refused("no file can be made in", &error))?;
    operations(log, &mut file).map_err(|error| match error.downcast_ref::<io::Error>() {
        Some(full) if is_full(full) => refused("the log's calls cannot be written to", full),
        _ => error,
    })?;
    file.rewind()?;
    Ok(file)
}

fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// How much may be touched at a time: half more than the program had, [`LEAST_LIMIT`] at
/// least, 4/5 of what is free here at most.
fn limit(recorded: &Recorded) -> u64 {
    let head = &recorded.head;
    let known = match head.peak_bytes {
        0 => head.heap_peak_bytes,
        peak => peak,
    };
    let wanted = known.saturating_add(known / 2).max(LEAST_LIMIT);
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kb = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kb.map_or(wanted, |kb| wanted.min(kb.saturating_mul(1024) / 5 * 4))
}
