//! `memlog rss`: whose resident memory is, mapping by mapping and block by block.

use std::collections::HashMap;

use memlog_analysis::Coverage;
use memlog_answers::{Purpose, ResidentRow, Residents, Then, World, residents};
use memlog_format::meta::Key;
use memlog_format::resident::{Census, CensusWhy, Mapped};
use memlog_read::{Log, Resident};
use memlog_table::Table;
use serde_json::{Map, Value, json};

use super::listed::Listed;
use super::{Answer, Ask, Failure, Question, Told};
use crate::facts::log_name;
use crate::moment::At;
use crate::page::Page;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::rests::Rests;
use crate::words::{Advice, clean, grouped};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-rss-1";

/// Say what each resident byte is for, at the RSS peak.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    listed: Listed,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(true).on_mappings()
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        answer(told, self)
    }
}

/// A reading, mapping by mapping, and when it was taken.
struct Reading<'a> {
    resident: &'a Resident<'a>,
    event: u64,
}

impl Reading<'_> {
    /// What the program had, in kilobytes.
    fn program_kb(&self) -> u64 {
        let census = &self.resident.census;
        census.resident_kb.saturating_sub(census.own_kb)
    }
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Failure> {
    let world = told.world;
    let readings = readings(told.log(), world);
    let chosen = match &args.question.at {
        None | Some(At::RSS_PEAK) => readings.iter().max_by_key(|reading| reading.program_kb()),
        Some(at) => {
            let event = told.event(at)?;
            let before = readings.iter().rfind(|reading| reading.event <= event);
            before.or(readings.first())
        }
    };
    let Some(chosen) = chosen else {
        return Err(Failure::Said(none_taken(told.log())));
    };
    let mappings = told.name_mappings()?;
    let census = &chosen.resident.census;
    let found = residents(
        (world, told.filtered),
        mappings,
        &Then {
            mapped: &chosen.resident.mapped,
            event: chosen.event,
            mapped_event: event_of(mappings.table, &events_by_stamp(mappings.table), census),
            page_bytes: told.page_bytes,
            log_name: log_name(told.log()),
            resident: census.resident_kb.saturating_mul(1024),
            own: census.own_kb.saturating_mul(1024),
            is_counted: census.is_counted,
        },
        args.listed.by,
    )?;
    let coverage = coverage(&found, told.started_with);
    let mut rows = pages(told, args, &found, chosen, &coverage).into_iter();
    Ok(Answer {
        figures: figures(told, args, &found, chosen, &readings),
        rows: rows.next().unwrap_or_default(),
        more: rows.collect(),
        explains_little: coverage.is_low(),
        ..Answer::default()
    })
}

/// All readings of the log, with the events that they stand behind.
fn readings<'a>(log: &'a Log, world: &World) -> Vec<Reading<'a>> {
    let of = events_by_stamp(world.table);
    let readings = log.censuses().iter().map(|resident| Reading {
        resident,
        event: event_of(world.table, &of, &resident.census),
    });
    readings.collect()
}

/// After how many events readings were taken, by their stamps.
fn events_by_stamp(table: &Table) -> HashMap<u64, u64> {
    let readings = table.readings().iter();
    readings
        .map(|reading| (reading.stamp, reading.event))
        .collect()
}

fn event_of(table: &Table, of: &HashMap<u64, u64>, census: &Census) -> u64 {
    // The reading itself may be lost, or overwritten.
    let event = of.get(&census.stamp).copied();
    event.unwrap_or_else(|| table.steps().event_at(census.tick))
}

/// Why there is nothing to show.
fn none_taken(log: &Log) -> anyhow::Error {
    let is_off = |text: &[u8]| text == b"MEMLOG_RSS_DETAIL=off";
    if log.texts(Key::Setting).any(is_off) {
        return Advice::error(
            "the log does not say what was resident in which mapping: MEMLOG_RSS_DETAIL was off",
            "record again without it",
        );
    }
    Advice::error(
        "the log does not say what was resident in which mapping: the program was too small or \
         too short for a reading that costs little, its end was not recorded, or memlog is older",
        "record again with `memlog record --rss-detail always`",
    )
}

/// What of the growth since the start the recorded calls explain.
fn coverage(found: &Residents, started_with: u64) -> Coverage {
    use Purpose::{Freed, Huge, Live, Never, Own, Rounding};
    let heap = [Live, Rounding, Freed, Never, Huge];
    let grown = found.sum() - found.of(Own);
    Coverage {
        growth_bytes: grown.saturating_sub(started_with),
        heap_bytes: heap
            .into_iter()
            .fold(0, |sum, purpose| sum.saturating_add(found.of(purpose))),
        mapped_bytes: found.of(Purpose::Mapped),
    }
}

/// What a purpose is called, in words and as a key.
fn words(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Live => ("live blocks", "live"),
        Purpose::Rounding => ("malloc's rounding and headers", "rounding"),
        Purpose::Freed => ("freed, kept by malloc", "freed"),
        Purpose::Never => ("malloc's own, not given out while recorded", "allocator"),
        Purpose::Huge => ("huge pages beyond what was given out", "huge_pages"),
        Purpose::Mapped => ("mapped by the program itself", "mapped"),
        Purpose::Stacks => ("stacks of threads", "stacks"),
        Purpose::Code => ("code", "code"),
        Purpose::Variables => ("variables of programs and libraries", "variables"),
        Purpose::Files => ("other files", "files"),
        Purpose::Shared => ("shared memory", "shared"),
        Purpose::Own => ("memlog's own", "own"),
        Purpose::Unexplained => ("NOT EXPLAINED", "unexplained"),
    }
}

fn why(census: CensusWhy) -> &'static str {
    match census {
        CensusWhy::Grown => "grown",
        CensusWhy::Full => "full",
        CensusWhy::End => "end",
    }
}

/// A mapping in one word: its file, or what it is.
fn name_of(mapped: &Mapped) -> String {
    let is_named = !mapped.path.is_empty();
    match () {
        () if is_named => clean(mapped.path),
        () if mapped.is(Mapped::SHARED) => "shared".into(),
        () => "anonymous".into(),
    }
}

fn address(mapped: &Mapped) -> u64 {
    mapped.low_kb.saturating_mul(1024)
}

fn figures(
    told: &Told,
    args: &Args,
    found: &Residents,
    chosen: &Reading,
    readings: &[Reading],
) -> Map<String, Value> {
    let kb = |kb: u64| kb.saturating_mul(1024);
    let rows = |rows: &[ResidentRow], count: &str| {
        let rows = rows.iter().map(|row| {
            let mut figures = Page::keyed([
                ("name", row.name.clone().into()),
                ("bytes", row.resident.into()),
                ("live_bytes", row.live.into()),
            ]);
            figures.insert(count.to_owned(), row.blocks.into());
            Value::Object(figures)
        });
        rows.collect::<Vec<_>>()
    };
    let purposes = Purpose::ALL
        .into_iter()
        .map(|purpose| json!({ "name": words(purpose).1, "bytes": found.of(purpose) }));
    let parts = found.parts.iter().map(|part| {
        let mapped = &chosen.resident.mapped[part.place];
        json!({
            "purpose": words(part.purpose).1,
            "bytes": part.bytes,
            "name": name_of(mapped),
            "address": format!("{:#x}", part.range.map_or(address(mapped), |range| range.0)),
            "mapping_bytes": kb(mapped.length_kb),
            "mapping_resident_bytes": kb(mapped.resident_kb),
            "mapping_huge_bytes": kb(mapped.huge_kb),
            "mapping_swapped_bytes": kb(mapped.swapped_kb),
        })
    });
    let all = readings.iter().map(|reading| {
        let census = &reading.resident.census;
        json!({
            "seconds": told.log().seconds(census.tick),
            "rss_bytes": kb(census.resident_kb),
            "own_bytes": kb(census.own_kb),
            "why": why(census.why),
            "cost_seconds": census.cost_us as f64 / 1e6,
            "whole": census.is_whole,
            "counted_by_kernel": census.is_counted,
        })
    });
    let census = &chosen.resident.census;
    Page::keyed([
        ("by", args.listed.by.word().into()),
        ("seconds", told.log().seconds(census.tick).into()),
        ("why", why(census.why).into()),
        ("whole", census.is_whole.into()),
        ("rss_bytes", kb(census.resident_kb).into()),
        ("bytes", found.sum().into()),
        ("purposes", purposes.collect::<Vec<_>>().into()),
        ("rows", rows(&found.blocks, "blocks").into()),
        ("mapped", rows(&found.mapped, "mappings").into()),
        ("parts", parts.collect::<Vec<_>>().into()),
        ("readings", all.collect::<Vec<_>>().into()),
    ])
}

fn pages(
    told: &Told,
    args: &Args,
    found: &Residents,
    chosen: &Reading,
    coverage: &Coverage,
) -> Vec<Rows> {
    let mut pages = vec![by_purpose(told, args, found, chosen, coverage)];
    let by = args.listed.by.word();
    let blocks: Vec<_> = found.blocks.iter().filter(|row| row.live > 0).collect();
    if !blocks.is_empty() {
        let title = format!(
            "live blocks{}, by {by}: what of them was resident, and all of it:",
            told.about_filter
        );
        pages.push(by_holder(told, args, title, "blocks", &blocks));
    }
    let mapped: Vec<_> = found.mapped.iter().filter(|row| row.resident > 0).collect();
    if !mapped.is_empty() {
        let title = format!("mapped by the program itself, by {by}:");
        pages.push(by_holder(told, args, title, "mappings", &mapped));
    }
    pages.extend(by_mapping(told, args, found, chosen));
    pages
}

fn by_purpose(
    told: &Told,
    args: &Args,
    found: &Residents,
    chosen: &Reading,
    coverage: &Coverage,
) -> Rows {
    let sizes = told.sizes;
    let sum = found.sum();
    let some = Purpose::ALL.into_iter().filter(|&one| found.of(one) > 0);
    let cells = some.map(|purpose| {
        let bytes = found.of(purpose);
        vec![
            sizes.of(bytes),
            format!("{:.1}%", 100.0 * bytes as f64 / sum.max(1) as f64),
            words(purpose).0.to_owned(),
        ]
    });
    let census = &chosen.resident.census;
    let mut rest: Vec<Rest> = Vec::new();
    let peak = told.world.moments.rss_peak_bytes;
    let then = census.resident_kb.saturating_mul(1024);
    let far = then.saturating_add(then / 50);
    let is_of_peak = matches!(args.question.at, None | Some(At::RSS_PEAK));
    if is_of_peak && peak > far {
        let sentence = format!(
            "the RSS peak is {}: no reading of all mappings was nearer to it",
            sizes.of(peak)
        );
        rest.push(sentence.into());
    }
    if let Some(at) = &args.question.at
        && !is_of_peak
        && let Ok(event) = told.event(at)
    {
        if event < chosen.event {
            let sentence = format!("no reading came before {at}: this is the first");
            rest.push(sentence.into());
        }
        if event > chosen.event {
            let sentence = format!(
                "this is the last reading before {at}: {} events came in between",
                grouped(event - chosen.event)
            );
            rest.push(sentence.into());
        }
    }
    if sum > far {
        let sentence = format!(
            "the kernel counts {}: pages of zeros that were only read are among the others",
            sizes.of(then)
        );
        rest.push(sentence.into());
    }
    if !census.is_whole {
        let sentence = "not all mappings could be read, or written down: the rest is not explained";
        rest.push(sentence.to_owned().into());
    }
    if coverage.is_told() {
        let sentence = format!(
            "recorded calls explain {} % of {} that RSS had grown by since the start",
            coverage.whole_percent(),
            sizes.of(coverage.growth_bytes)
        );
        rest.push(sentence.into());
    }
    Rows {
        title: format!(
            "what {} of resident memory were for, {:.3} s after the start:",
            sizes.of(sum),
            told.log().seconds(census.tick)
        ),
        last: Last::Text,
        columns: titles(&["bytes", "share", "for"]),
        gives_way: Vec::new(),
        rows: cells.collect(),
        rest,
    }
}

fn by_holder(
    told: &Told,
    args: &Args,
    title: String,
    count: &str,
    holders: &[&ResidentRow],
) -> Rows {
    let cells = holders[..args.listed.shown(holders.len())]
        .iter()
        .map(|row| {
            vec![
                told.sizes.of(row.resident),
                told.sizes.of(row.live),
                grouped(row.blocks),
                row.name.clone(),
            ]
        });
    let whole = if count == "blocks" { "live" } else { "mapped" };
    Rows {
        title,
        last: Last::of(args.listed.by),
        columns: titles(&["resident", whole, count, args.listed.by.word()]),
        gives_way: vec!["blocks", "mappings"],
        rows: cells.collect(),
        rest: args.listed.rest(holders.len()).into_iter().collect(),
    }
}

/// Mappings of what no call explains, of the same name and purpose as one.
fn by_mapping(told: &Told, args: &Args, found: &Residents, chosen: &Reading) -> Option<Rows> {
    use Purpose::*;
    let is_told = |purpose| {
        matches!(
            purpose,
            Stacks | Code | Variables | Files | Shared | Unexplained
        )
    };
    let mut sums: Vec<(u64, Purpose, String, u64)> = Vec::new();
    let mut places = HashMap::new();
    for part in found.parts.iter().filter(|part| is_told(part.purpose)) {
        let mapped = &chosen.resident.mapped[part.place];
        let mut name = name_of(mapped);
        if let Some((from, to)) = part.range {
            // Each for itself: whoever looks for it needs the address.
            name = format!("{name} {from:x}-{to:x}");
        }
        let place = *places
            .entry((part.purpose, name.clone()))
            .or_insert(sums.len());
        if place == sums.len() {
            sums.push((0, part.purpose, name, 0));
        }
        sums[place].0 += part.bytes;
        sums[place].3 += 1;
    }
    sums.sort_by(|one, other| {
        (other.1 == Unexplained, other.0).cmp(&(one.1 == Unexplained, one.0))
    });
    let cells = sums[..args.listed.shown(sums.len())].iter();
    let cells = cells.map(|(bytes, purpose, name, count)| {
        vec![
            told.sizes.of(*bytes),
            words(*purpose).0.to_owned(),
            grouped(*count),
            name.clone(),
        ]
    });
    (!sums.is_empty()).then(|| Rows {
        title: "what recorded calls do not explain, by mapping:".into(),
        last: Last::Path,
        columns: titles(&["bytes", "for", "mappings", "mapping"]),
        gives_way: vec!["mappings"],
        rows: cells.collect(),
        rest: args.listed.rest(sums.len()).into_iter().collect(),
    })
}
