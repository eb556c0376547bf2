//! DHAT's profiles: of each stack what came in all, what was live when the heap was largest
//! and what at the end. They are JSON, as the tool's viewer reads it.

use std::io::BufRead;

use memlog_format::meta::Lack;
use memlog_format::table::StackId;
use serde::Deserialize;

use super::command;
use super::valgrind::{Frame, Frames};
use crate::error::{At, Error};
use crate::writer::LogWriter;

/// The one version that is known.
const VERSION: u64 = 2;

pub(super) fn is(head: &[u8]) -> bool {
    let key = b"\"dhatFileVersion\"";
    head.trim_ascii_start().starts_with(b"{") && head.windows(key.len()).any(|part| part == key)
}

#[derive(Deserialize)]
struct Profile {
    #[serde(rename = "dhatFileVersion")]
    version: u64,
    mode: String,
    /// Whether lifetimes are known, and with them what was live.
    bklt: bool,
    /// The unit of times.
    tu: String,
    cmd: String,
    pid: u32,
    /// When the heap was largest, and the end.
    #[serde(default)]
    tg: u64,
    te: u64,
    pps: Vec<Point>,
    ftbl: Vec<String>,
}

/// Bytes and blocks of one stack.
#[derive(Deserialize)]
struct Point {
    tb: u64,
    tbk: u64,
    #[serde(default)]
    gb: u64,
    #[serde(default)]
    gbk: u64,
    #[serde(default)]
    eb: u64,
    #[serde(default)]
    ebk: u64,
    /// The innermost first.
    fs: Vec<usize>,
}

pub(super) fn read(input: &mut dyn BufRead, log: &mut LogWriter) -> Result<(), Error> {
    let profile: Profile = serde_json::from_reader(input).map_err(of_json)?;
    profile.check()?;
    for lack in [
        Lack::Addresses,
        Lack::Lifetimes,
        Lack::Order,
        Lack::Course,
        Lack::Threads,
        Lack::Functions,
        Lack::Reallocs,
    ] {
        log.lacks(lack);
    }
    let ns_of_unit = profile.ns_of_unit(log);
    log.start().tick_ns = ns_of_unit;
    log.start().pid = profile.pid;
    command(log, profile.cmd.as_bytes());
    let mut frames = Frames::default();
    let mut spans = Vec::new();
    for (index, point) in profile.pps.iter().enumerate() {
        let stack = profile.stack(log, &mut frames, index)?;
        let span = Spans::of(point).ok_or_else(|| {
            let found = format!("pps[{index}]");
            let expected = "sums that do not contradict each other";
            Error::malformed(At::Line(1), expected, found.as_bytes())
        })?;
        spans.push((stack, span));
    }
    for &(stack, Spans { neither, .. }) in &spans {
        log.came_and_went(stack, neither.blocks, neither.bytes);
    }
    log.time(profile.tg.saturating_mul(ns_of_unit));
    let hold = |log: &mut LogWriter, stack, Sum { blocks, bytes }| log.hold(stack, blocks, bytes);
    for &(stack, Spans { both, .. }) in &spans {
        let _ = hold(log, stack, both);
    }
    let gone = |&(stack, Spans { peak, .. }): &(_, Spans)| (stack, peak);
    let gone: Vec<_> = spans.iter().map(gone).collect();
    let gone: Vec<_> = gone
        .into_iter()
        .map(|(stack, sum)| hold(log, stack, sum))
        .collect();
    log.time(profile.te.saturating_mul(ns_of_unit));
    gone.into_iter().for_each(|held| log.let_go(held));
    for &(stack, Spans { end, .. }) in &spans {
        let _ = hold(log, stack, end);
    }
    Ok(())
}

fn of_json(error: serde_json::Error) -> Error {
    if error.is_io() {
        return Error::Read(error.into());
    }
    let at = At::Line(error.line() as u64);
    Error::malformed(
        at,
        "a profile as DHAT writes it",
        error.to_string().as_bytes(),
    )
}

impl Profile {
    fn check(&self) -> Result<(), Error> {
        let malformed = |expected: &str, found: &str| {
            Err(Error::malformed(At::Line(1), expected, found.as_bytes()))
        };
        match (self.version, &*self.mode, self.bklt) {
            (VERSION, "heap", true) => Ok(()),
            (VERSION, "heap", false) => malformed("a profile with lifetimes", "\"bklt\":false"),
            (VERSION, mode, _) => malformed("a profile of the mode heap", mode),
            (0..VERSION, ..) => malformed("version 2 of DHAT's form", &self.version.to_string()),
            (found, ..) => Err(Error::Version {
                tool: "DHAT",
                found,
                known: VERSION,
            }),
        }
    }

    fn ns_of_unit(&self, log: &mut LogWriter) -> u64 {
        match &*self.tu {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            // Instructions, or bytes.
            _ => {
                log.lacks(Lack::Times);
                1
            }
        }
    }

    /// The stack of a point, without the frames of the tool itself.
    fn stack(
        &self,
        log: &mut LogWriter,
        frames: &mut Frames,
        index: usize,
    ) -> Result<StackId, Error> {
        let fs = &self.pps[index].fs;
        let mut texts = Vec::with_capacity(fs.len());
        for &frame in fs {
            let text = self.ftbl.get(frame).ok_or_else(|| {
                let expected = format!("a number below {} in pps[{index}]", self.ftbl.len());
                Error::malformed(At::Line(1), expected, frame.to_string().as_bytes())
            })?;
            texts.push(text.as_bytes());
        }
        let own = texts
            .iter()
            .take_while(|text| Frame::parse(text).is_tools_own());
        let own = own.count().min(texts.len().saturating_sub(1));
        Ok(texts[own..]
            .iter()
            .rev()
            .fold(StackId::COMPLETE, |caller, text| {
                let place = frames.place(log, text);
                log.stack(caller, place)
            }))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sum {
    blocks: u64,
    bytes: u64,
}

/// A point's blocks by when they were live.
///
/// How many of those that were live at the peak still are at the end is not written. Here
/// they are as many as can be: most programs keep what they have. They cannot be more than
/// either has, nor fewer than what all that came leaves over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Spans {
    both: Sum,
    peak: Sum,
    end: Sum,
    neither: Sum,
}

impl Spans {
    fn of(point: &Point) -> Option<Self> {
        let &Point {
            tb,
            tbk,
            gb,
            gbk,
            eb,
            ebk,
            ..
        } = point;
        let least = |peak: u64, end: u64, all: u64| {
            let sum = u128::from(peak) + u128::from(end);
            u64::try_from(sum.saturating_sub(all.into())).ok()
        };
        let (fewest, most) = (least(gbk, ebk, tbk)?, gbk.min(ebk));
        let (least, largest) = (least(gb, eb, tb)?, gb.min(eb));
        if gbk.max(ebk) > tbk || gb.max(eb) > tb {
            return None;
        }
        // Only at the ends of the range may a group have no block and thus no byte.
        let tries = [
            most,
            most.saturating_sub(1),
            fewest.saturating_add(1),
            fewest,
        ];
        let mut tries = tries
            .into_iter()
            .filter(|both| (fewest..=most).contains(both));
        tries.find_map(|both| {
            let even = |bytes: u64, blocks: u64| {
                let share = u128::from(bytes) * u128::from(both) / u128::from(blocks.max(1));
                share as u64
            };
            let bytes = match () {
                () if both == 0 => 0,
                () if both == gbk => gb,
                () if both == ebk => eb,
                () if both == fewest => least,
                () => even(gb, gbk).min(even(eb, ebk)).clamp(least, largest),
            };
            let group = |blocks: u64, of: u64| {
                let sum = Sum {
                    blocks,
                    bytes: of.checked_sub(bytes)?,
                };
                (sum.blocks > 0 || sum.bytes == 0).then_some(sum)
            };
            let peak = group(gbk - both, gb)?;
            let end = group(ebk - both, eb)?;
            let blocks = tbk - (gbk - both) - ebk;
            let left = tb.checked_sub(peak.bytes)?.checked_sub(eb)?;
            let neither = group(blocks, left.checked_add(bytes)?)?;
            Some(Self {
                both: Sum {
                    blocks: both,
                    bytes,
                },
                peak,
                end,
                neither,
            })
        })
    }
}
