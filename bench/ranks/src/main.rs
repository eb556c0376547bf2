//! Logs of the ranks of a job, as the recorder writes them, of a program whose memory is a
//! formula; and the truth about them, by the same formula.
//!
//! A rank allocates the same number of blocks by each of its stacks, says that its memory is
//! largest, and frees every second block. One rank in a thousand holds one large block more.
//! Its code lies elsewhere in each process.

mod log;

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::ExitCode;

/// Places that allocate, each by one stack.
pub const STACKS: u64 = 500;
/// Blocks of each.
pub const BLOCKS: u64 = 6;
const RANKS_OF_A_NODE: u64 = 64;
const LARGE: u64 = 64 << 20;

/// Bytes of a block of a rank by a stack.
pub fn size(rank: u64, stack: u64) -> u64 {
    64 + 16 * (stack % 97) + 16 * ((31 * rank + stack) % 17)
}

/// The large block of some ranks, by the first stack.
pub fn large(rank: u64) -> u64 {
    match rank % 1000 {
        7 => LARGE,
        _ => 0,
    }
}

fn held(rank: u64, stack: u64) -> u64 {
    let large = if stack == 0 { large(rank) } else { 0 };
    BLOCKS * size(rank, stack) + large
}

/// What the kernel says of a rank at its peak.
pub fn rss_kb(rank: u64) -> u64 {
    let heap: u64 = (0..STACKS).map(|stack| held(rank, stack)).sum();
    2048 + heap / 1024
}

pub fn node(rank: u64) -> String {
    format!("n{:04}", rank / RANKS_OF_A_NODE)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize| words.get(at).and_then(|word| word.parse::<u64>().ok());
    let done = match (words.get(1).map(String::as_str), number(2), number(3)) {
        (Some("truth"), Some(ranks), None) => truth(ranks),
        (Some(folder), Some(first), Some(end)) => write(Path::new(folder), first, end),
        _ => {
            eprintln!("made-ranks FOLDER FIRST END    logs of these ranks, a folder for each node");
            eprintln!(
                "made-ranks truth RANKS         by stack: bytes, least, mean, most, its rank"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("made-ranks: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Holes stay holes: a chunk is written as far as it is used.
fn write(folder: &Path, first: u64, end: u64) -> io::Result<()> {
    for rank in first..end {
        let node = folder.join(node(rank));
        fs::create_dir_all(&node)?;
        let file = File::create(node.join(format!("{rank}.memlog")))?;
        let mut at = 0;
        for chunk in log::chunks(rank) {
            file.write_all_at(&chunk, at)?;
            at += memlog_format::chunk::CHUNK_SIZE as u64;
        }
        file.set_len(at)?;
    }
    Ok(())
}

fn truth(ranks: u64) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for stack in 0..STACKS {
        let all = || (0..ranks).map(|rank| (held(rank, stack), rank));
        let sum: u64 = all().map(|(bytes, _)| bytes).sum();
        let least = all().map(|(bytes, _)| bytes).min().unwrap_or(0);
        let most = all().max_by_key(|(bytes, rank)| (*bytes, std::cmp::Reverse(*rank)));
        let (most, of_rank) = most.unwrap_or((0, 0));
        let mean = sum / ranks.max(1);
        writeln!(
            out,
            "{:#x}\t{sum}\t{least}\t{mean}\t{most}\t{of_rank}",
            log::offset(stack)
        )?;
    }
    out.flush()
}
