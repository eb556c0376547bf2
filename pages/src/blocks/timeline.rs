//! `memlog timeline`: the heap and resident memory over time.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use memlog_answers::{Damaged, Of, Point, World, mapped_over_time, timeline};
use memlog_export::curves::{CurvePoint, Curves, svg};
use memlog_format::meta::Lack;
use serde_json::{Value, json};

use super::ask::answered;
use super::{Answer, Ask, Failure, Question, Told};
use crate::facts::is_unknown;
use crate::page::Page;
use crate::page::rows::{Last, Rows, titles};
use crate::rests::Rests;
use crate::words::{clean, grouped, percentage};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-timeline-1";

/// As many marks are named in a row.
const MARKS: usize = 3;

/// Show the heap and resident memory over time.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// How many points at most, each the largest heap of its stretch
    /// [default: 40, in JSON 10000]
    #[arg(long, value_name = "N")]
    points: Option<usize>,
    /// Draw it there, as SVG: the heap, resident memory, live blocks, and allocations a
    /// second; - is standard output [--points: 2000]
    #[arg(short, long, value_name = "OUT.svg", conflicts_with = "json")]
    pub output: Option<PathBuf>,
}

impl Args {
    /// The log that was asked for.
    pub fn file(&self) -> &Path {
        &self.question.asked.file
    }
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        rests()
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        let usual = if self.question.json { 10_000 } else { 40 };
        Ok(answer(told, self.points.unwrap_or(usual))?)
    }
}

/// The picture of them, and whether all of the log was read. `write` is told of the
/// log that was chosen.
pub fn draw(args: &Args, write: impl Fn(&str) -> anyhow::Result<()>) -> anyhow::Result<ExitCode> {
    let most = args.points.unwrap_or(2_000);
    answered(
        (Of::Blocks, &args.question),
        rests().on(&[Lack::Times]),
        |told| curves(told, most),
        |curves, around| {
            let mut heading = around.kept.heading().told();
            let title = match heading.first() {
                Some(program) => format!("{}: {program}", curves.heading.concat()),
                None => curves.heading.concat(),
            };
            heading.splice(..heading.len().min(1), [title]);
            let mut notes = around.kept.notes.clone();
            notes.extend(around.on_names.remarks);
            let picture = svg(&Curves {
                heading,
                notes,
                ..curves
            });
            // From now on Ctrl-C is no concern of what read the log.
            if let Some(interrupt) = &around.interrupt {
                interrupt.ignore();
            }
            write(&picture)
        },
    )
}

/// The picture of chosen blocks of a log that is open.
pub fn picture(told: &Told, most: usize) -> Result<String, Damaged> {
    Ok(svg(&curves(told, most)?))
}

fn rests() -> Rests {
    Rests::from(false).on(&[Lack::Course, Lack::Live])
}

fn curves(told: &Told, most: usize) -> Result<Curves, Damaged> {
    let (world, points) = (told.world, timeline(told.world, told.choice, most)?);
    let drawn = points.iter().map(|point| CurvePoint {
        seconds: world.seconds(point.tick),
        heap_bytes: point.live.bytes,
        blocks: point.live.blocks,
        rss_bytes: point.resident,
        allocations: point.came.blocks,
    });
    let at = |event: u64| points.iter().find(|point| point.event == event);
    // Of chosen blocks it need not be the peak.
    let heap_peak = match told.about {
        "" => "heap peak",
        _ => "these at the heap peak",
    };
    let heap = at(world.moments.heap_peak).map(|point| {
        let (name, seconds) = (heap_peak.to_owned(), world.seconds(point.tick));
        (name, seconds, point.live.bytes)
    });
    let resident = at(world.moments.rss_peak).and_then(|point| {
        let (name, seconds) = ("RSS peak".to_owned(), world.seconds(point.tick));
        Some((name, seconds, point.resident?))
    });
    let marks = world.table.marks().iter();
    let marks = marks.map(|mark| (clean(&mark.name), world.seconds(mark.tick)));
    Ok(Curves {
        heading: vec![format!("Memory over time{}", told.about)],
        points: drawn.collect(),
        is_highest_rss: is_highest(told),
        end_seconds: world.seconds(world.table.end_tick()),
        peaks: heap.into_iter().chain(resident).collect(),
        marks: marks.collect(),
        notes: Vec::new(),
    })
}

/// Whether the kernel told only how much was resident at most until then. In a log of both
/// kinds of readings the most so far is told when it rises, and was resident then.
fn is_highest(told: &Told) -> bool {
    let readings = told.world.table.readings();
    !readings.is_empty() && readings.iter().all(|reading| reading.is_mark)
}

fn answer(told: &Told, most: usize) -> Result<Answer, Damaged> {
    let points = timeline(told.world, told.choice, most)?;
    let world = told.world;
    let mappings = World::nameless(told.mappings(), Of::Mappings, world.moments, world.tick_ns);
    let mapped = mapped_over_time(&mappings)?;
    let mapped = |tick: u64| {
        mapped
            .range(..=tick)
            .next_back()
            .map_or(0, |(_, bytes)| *bytes)
    };
    let marks = told.world.table.marks().iter().map(|mark| {
        json!({
            "seconds": told.world.seconds(mark.tick),
            "name": clean(&mark.name),
        })
    });
    let figures = Page::keyed([
        (
            "points",
            points
                .iter()
                .map(|point| json_of(told, point, mapped(point.tick)))
                .collect::<Vec<_>>()
                .into(),
        ),
        ("marks", marks.collect::<Vec<_>>().into()),
    ]);
    Ok(Answer {
        figures,
        rows: rows_of(told, &points),
        ..Answer::default()
    })
}

/// The words of those peaks that a point is.
fn known_peaks<'n>(told: &Told, point: &Point, [heap, resident]: [&'n str; 2]) -> Vec<&'n str> {
    let moments = &told.world.moments;
    let is_read = point.resident.is_some();
    let peaks = [
        (point.event == moments.heap_peak, heap),
        (point.event == moments.rss_peak && is_read, resident),
    ];
    let peaks = peaks.into_iter().filter(|(is_it, _)| *is_it);
    peaks.map(|(_, word)| word).collect()
}

fn json_of(told: &Told, point: &Point, mapped_bytes: u64) -> Value {
    let peaks = known_peaks(told, point, ["heap-peak", "rss-peak"]);
    json!({
        "seconds": told.world.seconds(point.tick),
        "heap_bytes": point.live.bytes,
        "heap_blocks": point.live.blocks,
        "rss_bytes": point.resident,
        "mapped_bytes": mapped_bytes,
        "allocations": point.came.blocks,
        "allocated_bytes": point.came.bytes,
        "releases": point.released,
        "moments": peaks,
    })
}

fn rows_of(told: &Told, points: &[Point]) -> Rows {
    let largest = points
        .iter()
        .map(|point| point.live.bytes)
        .max()
        .unwrap_or(0);
    let bar = |bytes: u64| {
        const WIDEST: f64 = 20.0;
        "#".repeat((bytes as f64 / largest.max(1) as f64 * WIDEST).round() as usize)
    };
    // Of chosen blocks it need not be the largest.
    let heap_peak = match told.about {
        "" => " heap peak",
        _ => " heap peak of all blocks",
    };
    let mut marks = told.world.table.marks().iter().peekable();
    // The last row has the marks behind it as well.
    let last_event = points.last().map_or(0, |point| point.event);
    let mut remark = |point: &Point| {
        let mut words: Vec<String> = known_peaks(told, point, [heap_peak, " RSS peak"])
            .into_iter()
            .map(str::to_owned)
            .collect();
        let until = match point.event == last_event {
            true => u64::MAX,
            false => point.event,
        };
        let mut names = Vec::new();
        while let Some(mark) = marks.next_if(|mark| mark.event <= until) {
            names.push(clean(&mark.name));
        }
        words.extend(names.iter().take(MARKS).map(|name| format!(" mark {name}")));
        if let Some(more) = names.len().checked_sub(MARKS).filter(|more| *more > 0) {
            words.push(format!(" {more} more marks"));
        }
        words.join(",")
    };
    // Where times are not known only their order is, and so how far the run was.
    let has_times = !is_unknown(told.log(), Lack::Times);
    let end_tick = told.world.table.end_tick();
    let when = |tick: u64| match has_times {
        true => format!("{:.3}", told.world.seconds(tick)),
        false => format!("{:.1}%", percentage(tick, end_tick)),
    };
    let rows = points.iter().map(|point| {
        vec![
            when(point.tick),
            told.sizes.of(point.live.bytes),
            grouped(point.live.blocks),
            point
                .resident
                .map_or(String::new(), |bytes| told.sizes.of(bytes)),
            match point.came.blocks {
                0 => String::new(),
                count => grouped(count),
            },
            format!("{}{}", bar(point.live.bytes), remark(point)),
        ]
    });
    Rows {
        title: format!("live heap{} and resident memory over time:", told.about),
        last: Last::Bar,
        columns: titles(&[
            if has_times { "seconds" } else { "of run" },
            "heap",
            "blocks",
            if is_highest(told) {
                "RSS so far"
            } else {
                "RSS"
            },
            "allocations",
            "",
        ]),
        gives_way: vec!["allocations", "blocks"],
        rows: rows.collect(),
        rest: Vec::new(),
    }
}
