//! `memlog postmortem`: how a program died, what its memory was at that
//! moment, and what had grown just before.
//!
//! * [`fate`]: how it ended, as far as log and kernel tell
//! * [`last`]: a first look at the log, for its end, its limits, its last event

mod fate;
mod last;

use std::collections::HashMap;
use std::process::ExitCode;

use memlog_analysis::{Held, List, Moment, Sites};
use memlog_export::When;
use memlog_format::meta::Lack;

use crate::facts::program;
use crate::names::{Labels, symbol_words};
use crate::page::heading::Heading;
use crate::page::others::Next;
use crate::page::places::What;
use crate::page::{Page, Part};
use crate::places::list;
use crate::rests::Rests;
use crate::shown::{self, Asked, show_after};
use crate::subject::Subject;
use crate::words::{counted, lasted, sized};
use crate::world::Where;
use fate::Fate;
use last::{Last, limit_line};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-postmortem-1";
/// What grew is looked for in so many seconds, or a third of a shorter run.
const USUAL_SECONDS: f64 = 10.0;
/// Where what a line says begins.
const INDENT: usize = 9;

/// Say how a program died, and what its memory was doing.
#[derive(clap::Args)]
pub struct Args {
    /// What grew in so many seconds before the end [default: 10, or a third of a shorter run]
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    last: Option<f64>,
    /// Print it as JSON, schema memlog-postmortem-1
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>();
    let seconds = seconds
        .ok()
        .filter(|seconds| seconds.is_finite() && *seconds > 0.0);
    seconds.ok_or_else(|| "expected a number of seconds such as 10 or 0.5".into())
}

/// Shows it.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    show_after(
        (&args.asked, (&Where::default()).into()),
        |family, watch| {
            Rests::default()
                .on(&[Lack::Course, Lack::Times])
                .check(family.own())?;
            Ok(Last::of(family, watch))
        },
        |last| Some(When::Seconds(last.before_end(args.last))),
        args.json,
        |subject, labels, last| Found::of(args, subject, labels, last).page(subject, labels),
    )
}

/// All that is told.
struct Found<'a> {
    last: &'a Last,
    fate: Fate,
    /// The seconds before the end in which things may have grown.
    window: f64,
    /// By place, at the end.
    held: Sites,
    /// By place, what the end had more than the beginning of the window.
    grown: Sites,
    /// Where the last allocation was asked for, if it is live still.
    newest: Sites,
}

impl<'a> Found<'a> {
    fn of(args: &Args, subject: &Subject, labels: &mut Labels, last: &'a Last) -> Self {
        let tally = &subject.analysis.tally;
        let at_end: Vec<(u32, Held)> = tally.held(Moment::End).collect();
        let before: HashMap<u32, Held> = tally.held(Moment::Chosen).collect();
        let grown = at_end.iter().filter_map(|&(stack, now)| {
            let then = before.get(&stack).copied().unwrap_or_default();
            let more = Held {
                bytes: now.bytes.checked_sub(then.bytes)?,
                blocks: now.blocks.saturating_sub(then.blocks),
            };
            (more.bytes > 0).then_some((stack, more))
        });
        let newest = last.alloc.iter().filter_map(|alloc| {
            let block = tally.blocks().get(alloc.address)?;
            Some((
                block.stack,
                Held {
                    bytes: 1,
                    blocks: 1,
                },
            ))
        });
        let lists = [at_end.clone(), grown.collect(), newest.collect()].map(|stacks| List {
            stacks,
            weight: |held| held.bytes,
        });
        let program = program(subject.family.own());
        let [held, grown, newest] = Sites::of(&lists, program.as_deref(), labels);
        Self {
            last,
            fate: Fate::of(subject.family.own(), last),
            window: last.end_seconds - last.before_end(args.last),
            held,
            grown,
            newest,
        }
    }

    fn page(self, subject: &Subject, labels: &Labels) -> Page {
        let log = subject.family.own();
        let heading = self.heading(subject, labels);
        let (at_end, before_end) = match subject.is_running {
            true => ("now", "ago"),
            false => ("at the end", "before the end"),
        };
        let live = format!(
            "{} live {at_end}, by place",
            subject.sizes.of(self.held.total.bytes)
        );
        let long = format!("{live} (share, sum so far, bytes, blocks)");
        let grown = format!(
            "{} more than {} {before_end}, by place",
            subject.sizes.of(self.grown.total.bytes),
            lasted(self.window)
        );
        let limits = self.last.limits.iter().map(last::limit_json);
        let figures = Page::keyed([
            ("death", self.fate.as_json(log, self.last)),
            ("limits", limits.collect()),
            ("window_seconds", self.window.into()),
        ]);
        let names = labels.names();
        let parts = vec![
            Part::Places(list((What::Held, vec![long, live]), self.held, names)),
            Part::Places(list((What::Grown, vec![grown]), self.grown, names)),
            Part::Next(Next {
                list: vec![("report --show-leaks", "who called these places")],
                options: symbol_words(subject.symbol_files),
                file: subject.file.to_owned(),
            }),
        ];
        let mut page = shown::page(subject, SCHEMA, labels, parts);
        page.heading = heading;
        page.on_names.is_brief = true;
        page.figures.extend(figures);
        page
    }

    fn heading(&self, subject: &Subject, labels: &Labels) -> Heading {
        let log = subject.family.own();
        let mut heading = Heading {
            indent: INDENT,
            ..Heading::default()
        };
        let lines = [
            ("program", last::program(log)),
            ("death", self.fate.sentences(log, self.last)),
            ("memory", self.memory(subject)),
            ("growth", self.growth()),
            ("limits", self.limits()),
            ("last", self.last_event(subject, labels)),
        ];
        for (name, parts) in lines {
            if !parts.is_empty() {
                heading.line(name, parts);
            }
        }
        heading
    }

    /// Where memory stood.
    fn memory(&self, subject: &Subject) -> Vec<String> {
        let live = self.held.total;
        let mut parts = vec![format!(
            "{} live in {}",
            subject.sizes.of(live.bytes),
            counted(live.blocks, "block")
        )];
        let summary = &subject.analysis.summary;
        if summary.rss_peak_bytes > 0 {
            let more = if summary.unread.is_some() {
                " or more"
            } else {
                ""
            };
            parts.push(format!(
                "RSS peak {}{more}",
                subject.sizes.of(summary.rss_peak_bytes)
            ));
        }
        // While it grows only the peak is read, and an old figure misleads.
        let peak_seconds = subject.family.own().seconds(summary.rss_peak.tick);
        let resident = self.last.resident;
        if let Some((kb, seconds)) = resident.filter(|(_, seconds)| *seconds >= peak_seconds) {
            let resident = sized(kb.saturating_mul(1024));
            parts.push(format!(
                "{resident} resident when last read at {seconds:.3} s"
            ));
        }
        if summary.mapped.calls > 0 {
            let mapped = sized(summary.mapped.live_bytes);
            parts.push(format!("{mapped} in mappings of its own, touched or not"));
        }
        parts
    }

    fn growth(&self) -> Vec<String> {
        let bytes = self.grown.total.bytes;
        if bytes == 0 || self.window <= 0.0 {
            return Vec::new();
        }
        let each_second = (bytes as f64 / self.window) as u64;
        vec![format!(
            "{} came in the last {} at the places that grew, {} a second",
            sized(bytes),
            lasted(self.window),
            sized(each_second)
        )]
    }

    fn limits(&self) -> Vec<String> {
        if self.last.limits.is_empty() {
            return vec!["not watched: record with --oom-guard PCT".into()];
        }
        self.last.limits.iter().map(limit_line).collect()
    }

    fn last_event(&self, subject: &Subject, labels: &Labels) -> Vec<String> {
        let Some(last) = &self.last.alloc else {
            return Vec::new();
        };
        let log = subject.family.own();
        let mut parts = vec![
            format!(
                "{} asked for at {:.3} s",
                subject.sizes.of(last.size),
                log.seconds(last.tick)
            ),
            format!("by thread {}", last.tid),
        ];
        if let Some(site) = self.newest.list.first() {
            let name = &labels.names()[site.label as usize];
            let place = name
                .place()
                .map_or(String::new(), |place| format!(" [{place}]"));
            parts.push(format!("in {}{place}", name.function));
        }
        parts
    }
}
