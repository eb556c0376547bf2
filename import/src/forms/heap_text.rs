//! Heap profiles as text: jemalloc's, and gperftools', from which they come.
//!
//! ```text
//! heap_v2/524288                                      the bytes between two samples
//!   t*: 28106: 56637512 [0: 0]                        all; and t0, t1, ... of threads
//! @ 0x563a6d54d285 0x7f1d9664524a                     a stack, the innermost first
//!   t*: 1: 5120 [0: 0]                                live blocks: bytes [all that came]
//!
//! heap profile:     63:     5730 [   106:   166220] @ heapprofile
//!      1:     5000 [     1:     5000] @ 0x55b136819285 0x7f2bb6c4524a
//!
//! MAPPED_LIBRARIES:                                   behind both
//! 563a6d54d000-563a6d54e000 r-xp 00001000 fe:00 10117807   /opt/v
//! ```
//!
//! Where blocks were sampled, each stands for more: of blocks of `s` bytes, sampled every
//! `r` bytes, one in `1 / (1 - exp(-s / r))` was.

use std::io::BufRead;

use memlog_format::meta::Lack;

use super::maps::{Maps, hex};
use super::{digits, split};
use crate::error::{At, Error};
use crate::lines::Lines;
use crate::writer::LogWriter;

/// Without a number of its own a profile of the first form has this one.
const FIRST_RATE: f64 = 131_072.0;

pub(super) fn is_jemalloc(head: &[u8]) -> bool {
    head.starts_with(b"heap_v2/")
}

pub(super) fn is_gperftools(head: &[u8]) -> bool {
    head.starts_with(b"heap profile:")
}

/// How samples stand for all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sampled {
    /// All blocks are there.
    No,
    /// By a period that is as likely to end at any byte: gperftools' first form.
    Evenly(f64),
    /// So many bytes between two samples on average.
    Poisson(f64),
}

/// Blocks and bytes.
type Sums = [u64; 2];

/// A stack, innermost first, with what is live of it and what came.
struct Row {
    addresses: Vec<u64>,
    live: Sums,
    came: Sums,
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let mut lines = Lines::new(input);
    let first = lines.next()?.unwrap_or_default();
    let is_threaded = is_jemalloc(first);
    let sampled = Sampled::of(first)?;
    let mut rows = Vec::new();
    let mut addresses = Vec::new();
    loop {
        let at = lines.next_at();
        let Some(line) = lines.next()? else { break };
        let line = line.trim_ascii();
        if line == b"MAPPED_LIBRARIES:" || line.starts_with(b"--- Memory map:") {
            break;
        }
        match is_threaded {
            true => threaded(line, at, &mut addresses, &mut rows)?,
            false => rows.extend(flat(line, at)?),
        }
    }
    let mut maps = Maps::default();
    while let Some(line) = lines.next()? {
        maps.line(line);
    }
    if let Some(cut) = lines.cut() {
        log.cut_off(cut);
    }
    write(log, sampled, &mut maps, &rows);
    Ok(())
}

impl Sampled {
    fn of(first: &[u8]) -> Result<Self, Error> {
        let wrong = || {
            let expected = "the first line of a profile of jemalloc's or gperftools' heap";
            Error::malformed(At::Line(1), expected, first)
        };
        let rate = |text: &[u8]| digits(text.trim_ascii()).map(|rate| rate as f64);
        if let Some(text) = first.strip_prefix(b"heap_v2/") {
            return Ok(Self::Poisson(rate(text).ok_or_else(wrong)?));
        }
        let (sums, kind) = split(first, b'@').unwrap_or((first, b""));
        let (_, sums) = split(sums, b':').ok_or_else(wrong)?;
        let (live, came) = sums_of(sums).ok_or_else(wrong)?;
        let (kind, text) = split(kind.trim_ascii(), b'/').unwrap_or((kind.trim_ascii(), b""));
        let has = |part: &[u8]| kind.windows(part.len()).any(|found| found == part);
        Ok(match () {
            () if has(b"growth") => return Err(wrong()),
            // Older than its kinds: only what was sampled has twice the same sums.
            () if kind.is_empty() && live == came => Self::Evenly(FIRST_RATE),
            () if kind == b"heapprofile" || !has(b"heap") => Self::No,
            () if has(b"_v2") => Self::Poisson(rate(text).unwrap_or(FIRST_RATE)),
            () => Self::Evenly(rate(text).map_or(FIRST_RATE, |rate| rate / 2.0)),
        })
    }

    /// What a sum of samples stands for.
    fn undo(self, [blocks, bytes]: Sums) -> Sums {
        if blocks == 0 {
            return [blocks, bytes];
        }
        let ratio = |rate: f64| bytes as f64 / blocks as f64 / rate;
        let scale = match self {
            Self::No => return [blocks, bytes],
            Self::Evenly(rate) => 1.0 / ratio(rate).min(1.0),
            Self::Poisson(rate) => 1.0 / -(-ratio(rate)).exp_m1(),
        };
        match scale.is_finite() {
            true => [blocks, bytes].map(|sum| (sum as f64 * scale).round() as u64),
            // Blocks of no bytes, or all were sampled.
            false => [blocks, bytes],
        }
    }
}

/// A line of jemalloc's.
fn threaded(
    line: &[u8],
    at: At,
    addresses: &mut Vec<u64>,
    rows: &mut Vec<Row>,
) -> Result<(), Error> {
    let wrong = || Error::malformed(at, "a stack or the blocks of one", line);
    if let Some(text) = line.strip_prefix(b"@") {
        *addresses = addresses_of(text).ok_or_else(wrong)?;
    } else if let Some(sums) = line.strip_prefix(b"t*:") {
        let (live, came) = sums_of(sums).ok_or_else(wrong)?;
        // The first of a file is of all stacks together.
        if !addresses.is_empty() {
            rows.push(Row {
                addresses: std::mem::take(addresses),
                live,
                came,
            });
        }
    } else if !line.is_empty() && !line.starts_with(b"t") {
        return Err(wrong());
    }
    Ok(())
}

/// A line of gperftools'.
fn flat(line: &[u8], at: At) -> Result<Option<Row>, Error> {
    if line.is_empty() {
        return Ok(None);
    }
    let parse = || {
        let (sums, addresses) = split(line, b'@')?;
        let (live, came) = sums_of(sums)?;
        Some(Row {
            addresses: addresses_of(addresses)?,
            live,
            came,
        })
    };
    let expected = "BLOCKS: BYTES [BLOCKS: BYTES] @ ADDRESSES";
    parse()
        .map(Some)
        .ok_or_else(|| Error::malformed(at, expected, line))
}

/// `1: 5000 [1: 5000]`
fn sums_of(text: &[u8]) -> Option<(Sums, Sums)> {
    let (live, came) = split(text, b'[')?;
    let pair = |text: &[u8]| {
        let (blocks, bytes) = split(text, b':')?;
        Some([digits(blocks.trim_ascii())?, digits(bytes.trim_ascii())?])
    };
    Some((pair(live)?, pair(came.trim_ascii().strip_suffix(b"]")?)?))
}

fn addresses_of(text: &[u8]) -> Option<Vec<u64>> {
    let words = text
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    words.map(hex).collect()
}

fn write(log: &mut LogWriter, sampled: Sampled, maps: &mut Maps, rows: &[Row]) {
    super::lacks_of_one_moment(log);
    let is_exact = match sampled {
        Sampled::No => true,
        Sampled::Evenly(rate) | Sampled::Poisson(rate) => rate <= 1.0,
    };
    if !is_exact {
        log.lacks(Lack::Exactness);
    }
    // jemalloc counts what came only if it is told to (prof_accum).
    if rows.iter().all(|row| row.came == [0, 0]) {
        log.lacks(Lack::Gone);
    }
    let mut held = Vec::new();
    for row in rows {
        let [live, came] = [row.live, row.came].map(|sums| sampled.undo(sums));
        let stack = maps.stack(log, &row.addresses);
        let [blocks, bytes] = [0, 1].map(|at| came[at].saturating_sub(live[at]));
        log.came_and_went(stack, blocks, bytes);
        held.push((stack, live));
    }
    for (stack, [blocks, bytes]) in held {
        let _ = log.hold(stack, blocks, bytes);
    }
}
