//! `memlog summary`: on one screen what there is to know first.

use std::process::ExitCode;

use memlog_analysis::{List, Moment, Sites, Summary};
use memlog_format::meta::Lack;
use memlog_read::Log;
use serde_json::{Map, Value};

use crate::facts::{is_temporary_guessed, is_unknown, program, when_biggest};
use crate::names::{Labels, Name, symbol_words};
use crate::page::others::Next;
use crate::page::places::{PlaceList, What};
use crate::page::tree::By;
use crate::page::{Page, Part};
use crate::places::{list, without_names};
use crate::rests::Rests;
use crate::shown::{self, Asked, show};
use crate::subject::Subject;
use crate::words::{Sizes, counted, percentage};
use crate::world::Where;

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-summary-1";

/// Say on one screen what there is to know first.
#[derive(clap::Args)]
pub struct Args {
    /// Print it as JSON, schema memlog-summary-1, with all places
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    asked: Asked,
}

/// Shows the heading, who held most, who asked most often, and what is next.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let all = Where::default();
    show(&args.asked, &all, None, args.json, |subject, labels, _| {
        let tally = &subject.analysis.tally;
        let held = List {
            stacks: tally.held(Moment::RssPeak).collect(),
            weight: |held| held.bytes,
        };
        let calls = List {
            stacks: tally.allocated().collect(),
            weight: |held| held.blocks,
        };
        let mapped = List {
            stacks: tally.held_mapped(Moment::RssPeak).collect(),
            weight: |held| held.bytes,
        };
        let program = program(subject.family.own());
        let [held, calls] = Sites::of(&[held, calls], program.as_deref(), labels);
        let [mapped] = Sites::of(&[mapped], program.as_deref(), labels);
        let found = Found {
            held,
            calls,
            mapped,
        };
        page(subject, labels, found)
    })
}

/// The places that a page shows.
struct Found {
    /// By bytes live at the peak.
    held: Sites,
    /// By calls.
    calls: Sites,
    /// By bytes that the program itself had mapped at the peak.
    mapped: Sites,
}

impl Found {
    /// Whether what was mapped is worth a list: it may be what the process is
    /// big by.
    fn shows_mapped(&self, summary: &Summary) -> bool {
        let (mapped, held) = (self.mapped.total.bytes, self.held.total.bytes);
        summary.shows_rss_peak() && mapped > 0 && mapped >= held / 10
    }

    fn is_mostly_mapped(&self) -> bool {
        self.mapped.total.bytes > self.held.total.bytes
    }

    /// What to do where most of the larger of both is of places without names.
    fn without_names(&self, names: &[Name], sizes: Sizes) -> Option<String> {
        match self.is_mostly_mapped() {
            true => without_names(&self.mapped, "mapped is asked for", names, sizes),
            false => without_names(&self.held, "live heap is held", names, sizes),
        }
    }
}

fn page(subject: &Subject, labels: &Labels, found: Found) -> Page {
    let next = Next {
        list: steps(subject, &found),
        options: symbol_words(subject.symbol_files),
        file: subject.file.to_owned(),
    };
    let hint = match labels.remarks().next() {
        Some(_) => None,
        None => found.without_names(labels.names(), subject.sizes),
    };
    let mut figures = figures(&found);
    let log = subject.family.own();
    for (what, key) in [(What::Held, "held"), (What::Calls, "allocated")] {
        if !is_known(log, what) {
            figures.insert(key.into(), Value::Null);
        }
    }
    let mut parts = lists(subject, labels.names(), found);
    parts.push(Part::Next(next));
    let mut page = shown::page(subject, SCHEMA, labels, parts);
    page.is_screenful = true;
    page.on_names.is_brief = true;
    page.on_names.hint = hint;
    page.figures.extend(figures);
    page
}

/// The lists, the larger of both by bytes first.
fn lists(subject: &Subject, names: &[Name], found: Found) -> Vec<Part> {
    let summary = &subject.analysis.summary;
    let shows_mapped = found.shows_mapped(summary);
    let is_mostly_mapped = found.is_mostly_mapped();
    let calls_titles = calls_titles(subject, &found);
    let log = subject.family.own();
    let moment = when_biggest(log, summary);
    let live = format!("{} live {moment}", subject.sizes.of(found.held.total.bytes));
    let titles = match is_unknown(log, Lack::Counts) {
        true => vec![live.clone() + ", by place (share, sum so far, bytes)", live],
        false => titled(live + ", by place", "blocks"),
    };
    let held = list((What::Held, titles), found.held, names);
    let bytes = subject.sizes.of(found.mapped.total.bytes);
    let caller = "by the call that made it map more";
    let long = format!(
        "{bytes} mapped by the program itself about the RSS peak, touched or not, {caller}"
    );
    let mut titles = titled(long, "mappings");
    titles.push(format!("{bytes} mapped by the program itself, {caller}"));
    titles.push(format!("{bytes} mapped, {caller}"));
    let mapped = PlaceList {
        is_told: shows_mapped,
        ..list((What::Mapped, titles), found.mapped, names)
    };
    let calls = list((What::Calls, calls_titles), found.calls, names);
    let lists = match shows_mapped && is_mostly_mapped {
        true => [mapped, held, calls],
        false => [held, mapped, calls],
    };
    let lists = lists.into_iter().filter(|list| is_known(log, list.what));
    lists.map(Part::Places).collect()
}

/// Whether what the log was made of knew it: of sums of what was live there are no calls.
fn is_known(log: &Log, what: What) -> bool {
    let rests = match what {
        What::Calls => Rests::default().counting(By::Count),
        _ => Rests::default().on(&[Lack::Live]),
    };
    rests.check(log).is_ok()
}

/// With how many were temporary.
fn calls_titles(subject: &Subject, found: &Found) -> Vec<String> {
    let temporary = subject.analysis.tally.temporaries();
    let temporary = temporary.fold(0u64, |sum, (_, held)| sum.saturating_add(held.blocks));
    let percent = percentage(temporary, found.calls.total.blocks);
    let among = match subject.analysis.summary.window {
        None => "",
        Some(_) => " of the window",
    };
    let count = counted(found.calls.total.blocks, "allocation") + among;
    if is_unknown(subject.family.own(), Lack::Order) {
        return vec![format!("{count}, by place")];
    }
    let about = match is_temporary_guessed(subject.family.own()) {
        true => "about ",
        false => "",
    };
    let temporary = format!("{about}{percent:.1} % temporary");
    vec![
        format!("{count} ({temporary}: freed before the thread's next one), by place"),
        format!("{count} ({temporary}), by place"),
    ]
}

/// A title with what the columns are, and one without where those are few.
fn titled(title: String, blocks: &str) -> Vec<String> {
    vec![
        format!("{title} (share, sum so far, bytes, {blocks})"),
        title,
    ]
}

/// A command, and what it is for.
type Step = (&'static str, &'static str);

/// What to run next.
fn steps(subject: &Subject, found: &Found) -> Vec<Step> {
    const CALLERS: Step = ("report", "who called these places");
    const BY_COUNT: Step = ("report --by count", "who allocates most often");
    const PICTURE: Step = ("dot", "a picture, with what was mapped");
    const SCOPES: Step = ("table --by scope --at rss-peak", "what each scope held");
    let live = match subject.is_running {
        true => "what is live now",
        false => "what was live at the end",
    };
    let leaks = ("report --show-leaks", live);
    let log = subject.family.own();
    if is_unknown(log, Lack::Live) {
        return vec![("report --by allocated", "who allocated most"), BY_COUNT];
    }
    let summary = &subject.analysis.summary;
    let is_empty = summary.totals.allocations == 0;
    let mut steps = match found.shows_mapped(summary) {
        _ if is_empty => vec![("info", "what the log is of, and what it lacks")],
        false => {
            let whole = ("tree --top-down", "the same from main down");
            let mut steps = vec![CALLERS, BY_COUNT, whole, leaks];
            steps.retain(|step| match *step {
                BY_COUNT => is_known(log, What::Calls),
                step if step == leaks => !is_unknown(log, Lack::End),
                _ => true,
            });
            steps
        }
        true if found.is_mostly_mapped() => {
            let mapped = ("report --mapped", "who called for what is mapped");
            let heap = ("report", "who called for the live heap");
            vec![mapped, heap, PICTURE, leaks]
        }
        true => vec![CALLERS, BY_COUNT, PICTURE, leaks],
    };
    if subject.analysis.tally.scopes() > 0 {
        steps.insert(1, SCOPES);
    }
    steps
}

/// What only programs are told: what was passed over.
fn figures(found: &Found) -> Map<String, Value> {
    let through = |sites: &Sites| -> Value {
        let functions = sites.through.iter().flatten();
        functions.map(|one| one.function.as_str()).collect()
    };
    let Found {
        held,
        calls,
        mapped,
    } = found;
    Page::keyed([
        ("held_through", through(held)),
        ("allocated_through", through(calls)),
        ("mapped_through", through(mapped)),
        ("held_past_libraries", held.past_library.bytes.into()),
        ("allocated_past_libraries", calls.past_library.blocks.into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use memlog_analysis::{AskingSite, Held};

    /// Places of so many bytes each, by the number of their name.
    fn sites(list: &[(u32, u64)]) -> Sites {
        let held = |bytes| Held { bytes, blocks: 1 };
        let total = list.iter().map(|(_, bytes)| bytes).sum();
        let list = list.iter().map(|&(label, bytes)| AskingSite {
            label,
            held: held(bytes),
            share: percentage(bytes, total),
            sum: 100.0,
            caller: None,
        });
        Sites {
            list: list.collect(),
            total: held(total),
            ..Sites::default()
        }
    }

    /// php's heap has names, and its mappings, larger than that, have none.
    #[test]
    fn what_is_said_of_names_is_of_the_larger_ledger() {
        let names = ["php+0x2d3b58", "init", "php+0x100"].map(|function| Name {
            function: function.to_owned(),
            location: None,
            module: None,
        });
        let mut found = Found {
            held: sites(&[(1, 2 << 20), (2, 1 << 20)]),
            calls: Sites::default(),
            mapped: sites(&[(0, 6 << 20)]),
        };
        let begin = "100 % of the 6.0 MiB mapped is asked for by code without names, most in php: ";
        let said = found.without_names(&names, Sizes::Rounded).expect("one");
        assert!(said.starts_with(begin), "{said}");
        found.mapped = Sites::default();
        assert_eq!(found.without_names(&names, Sizes::Rounded), None);
    }
}
