//! `memlog summary`: on one screen what there is to know first.

mod room;

use std::io::{Result, Write};
use std::process::ExitCode;

use memlog_analysis::{List, Moment, Sites, Summary};
use serde_json::Value;

use crate::facts::program;
use crate::heading::print_heading_within;
use crate::names::{Labels, Name, symbol_words};
use crate::places::{Lists, places, through, without_names};
use crate::screen::Role;
use crate::shown::{Asked, json_page, json_start, show};
use crate::subject::Subject;
use crate::words::{Sizes, counted, percentage, typed};
use room::{Below, Places, Room};

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

/// Prints the heading, who held most, who asked most often, and what is next.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    show(&args.asked, None, |subject, labels| {
        let fold = &subject.analysis.fold;
        let held = List {
            stacks: fold.held(Moment::RssPeak).collect(),
            weight: |held| held.bytes,
        };
        let calls = List {
            stacks: fold.allocated().collect(),
            weight: |held| held.blocks,
        };
        let mapped = List {
            stacks: fold.held_mapped(Moment::RssPeak).collect(),
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
        match args.json {
            true => as_json(subject, labels, &found),
            false => as_text(subject, labels, &found),
        }
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

/// What stands above the lists: the heading, and what there is to say. Where
/// not all fits the hint on names gives way, then the list of calls, for what
/// the peak consists of tells more.
fn above(subject: &Subject, labels: &Labels, found: &Found) -> Result<(Vec<u8>, Below)> {
    let screen = subject.screen;
    let mut notes = Vec::new();
    subject.count_remarks(&mut notes, labels)?;
    if let Some(sentence) = labels.cut_short() {
        writeln!(notes, "{}", screen.note(sentence))?;
    }
    let mut hint = Vec::new();
    if labels.remarks().next().is_none()
        && let Some(sentence) = found.without_names(labels.names(), screen.sizes)
    {
        writeln!(hint, "{}", screen.note(&sentence))?;
    }
    let lines = |sites: &Sites| through(sites, screen).len();
    let all = Below {
        held: lines(&found.held),
        mapped: found
            .shows_mapped(&subject.analysis.summary)
            .then(|| lines(&found.mapped)),
        calls: Some(lines(&found.calls)),
        is_mostly_mapped: found.is_mostly_mapped(),
        places: Places {
            held: found.held.list.len(),
            mapped: found.mapped.list.len(),
            calls: found.calls.list.len(),
        },
    };
    let page = |notes: &[u8], below: Below| -> Result<(Vec<u8>, bool)> {
        let rows = below
            .rows_above(screen)
            .saturating_sub(screen.rows_of(notes));
        let mut page = Vec::new();
        let fits = print_heading_within(&mut page, subject, rows)?;
        page.extend(notes);
        Ok((page, fits))
    };
    if let (page, true) = page(&[&notes[..], &hint].concat(), all)? {
        return Ok((page, all));
    }
    let usual = match page(&notes, all)? {
        (page, true) => return Ok((page, all)),
        (page, false) => page,
    };
    let fewer = Below { calls: None, ..all };
    Ok(match page(&notes, fewer)? {
        (page, true) => (page, fewer),
        (_, false) => (usual, all),
    })
}

fn as_text(subject: &Subject, labels: &Labels, found: &Found) -> Result<Vec<u8>> {
    let screen = subject.screen;
    let summary = &subject.analysis.summary;
    let (mut page, below) = above(subject, labels, found)?;
    let room = Room::left(screen, screen.rows_of(&page), below);
    let mut lists = Lists {
        page: &mut page,
        screen,
        names: labels.names(),
    };
    let moment = match (summary.shows_rss_peak(), summary.window) {
        (true, _) => "at the RSS peak",
        (false, None) => "at the heap's maximum",
        (false, Some(_)) => "at the largest heap of the window",
    };
    let live = format!("{} live {moment}", screen.sizes.of(found.held.total.bytes));
    let held = titled(live + ", by place", "blocks");
    let held = (held, &found.held, room.held);
    let bytes = screen.sizes.of(found.mapped.total.bytes);
    let caller = "by the call that made it map more";
    let long = format!(
        "{bytes} mapped by the program itself about the RSS peak, touched or not, {caller}"
    );
    let mut titles = titled(long, "mappings");
    titles.push(format!("{bytes} mapped by the program itself, {caller}"));
    titles.push(format!("{bytes} mapped, {caller}"));
    let mapped = (titles, &found.mapped, room.mapped);
    let both = match (below.mapped, found.is_mostly_mapped()) {
        (None, _) => vec![held],
        (Some(_), false) => vec![held, mapped],
        (Some(_), true) => vec![mapped, held],
    };
    for (titles, sites, most) in both {
        lists.print(&titles, sites, most)?;
    }
    if below.calls.is_some() {
        lists.print(&calls_titles(subject, found), &found.calls, room.calls)?;
    }
    next(
        &mut page,
        subject,
        room.steps,
        below.mapped.is_some().then_some(found),
    )?;
    Ok(page)
}

/// With how many were temporary.
fn calls_titles(subject: &Subject, found: &Found) -> [String; 2] {
    let temporary = subject.analysis.fold.temporaries();
    let temporary = temporary.fold(0u64, |sum, (_, held)| sum.saturating_add(held.blocks));
    let percent = percentage(temporary, found.calls.total.blocks);
    let among = match subject.analysis.summary.window {
        None => "",
        Some(_) => " of the window",
    };
    let count = counted(found.calls.total.blocks, "allocation") + among;
    [
        format!("{count} ({percent:.1} % temporary: freed before the thread's next one), by place"),
        format!("{count} ({percent:.1} % temporary), by place"),
    ]
}

/// A title with what the columns are, and one without where those are few.
fn titled(title: String, blocks: &str) -> Vec<String> {
    vec![
        format!("{title} (share, sum so far, bytes, {blocks})"),
        title,
    ]
}

/// What to run next. Where columns are few without what it is for, and where
/// not even the log's name fits with FILE in its place, for a piece of a command
/// is none.
fn next(page: &mut Vec<u8>, subject: &Subject, most: usize, mapped: Option<&Found>) -> Result<()> {
    const NAME: &str = "next: ";
    let columns = subject.screen.columns().unwrap_or(usize::MAX);
    let steps = steps(subject, most, mapped);
    let of = |log: &str, is_told: bool| typed_out(&steps, log, is_told);
    let names = symbol_words(subject.symbol_files);
    let (log, file) = (names.clone() + &typed(subject.file), names + "FILE");
    let forms = [of(&log, true), of(&log, false), of(&file, true)];
    let is_wide = |line: &String| NAME.len() + line.chars().count() > columns;
    let fitting = forms.into_iter().find(|lines| !lines.iter().any(is_wide));
    let lines = fitting.unwrap_or_else(|| of(&file, false));
    writeln!(page)?;
    for (index, line) in lines.iter().enumerate() {
        let name = match index {
            0 => subject.screen.colours.paint(Role::Title, "next") + ": ",
            _ => " ".repeat(NAME.len()),
        };
        writeln!(page, "{name}{line}")?;
    }
    Ok(())
}

/// A command, and what it is for.
type Next = (&'static str, &'static str);

/// The first of what can be done; `mapped` is what was found where a list of
/// what was mapped is shown.
fn steps(subject: &Subject, most: usize, mapped: Option<&Found>) -> Vec<Next> {
    const CALLERS: Next = ("report", "who called these places");
    const BY_COUNT: Next = ("report --by count", "who allocates most often");
    const PICTURE: Next = ("dot", "a picture, with what was mapped");
    let live = match subject.is_running {
        true => "what is live now",
        false => "what was live at the end",
    };
    let leaks = ("report --show-leaks", live);
    let steps = match mapped {
        _ if subject.analysis.summary.totals.allocations == 0 => {
            vec![("info", "what the log is of, and what it lacks")]
        }
        None => {
            let whole = ("tree --top-down", "the same from main down");
            vec![CALLERS, BY_COUNT, whole, leaks]
        }
        Some(found) if found.is_mostly_mapped() => {
            let mapped = ("report --mapped", "who called for what is mapped");
            let heap = ("report", "who called for the live heap");
            vec![mapped, heap, PICTURE, leaks]
        }
        Some(_) => vec![CALLERS, BY_COUNT, PICTURE, leaks],
    };
    steps.into_iter().take(most).collect()
}

/// With the log, and with what each is for.
fn typed_out(steps: &[Next], log: &str, is_told: bool) -> Vec<String> {
    let steps = steps.iter();
    let steps = steps.map(|(command, what)| (format!("memlog {command} {log}"), what));
    let steps: Vec<_> = steps.collect();
    let widest = steps.iter().map(|(command, _)| command.chars().count());
    let widest = widest.max().unwrap_or(0);
    let lines = steps.into_iter().map(|(command, what)| match is_told {
        true => format!("{command:widest$}  {what}"),
        false => command,
    });
    lines.collect()
}

fn as_json(subject: &Subject, labels: &Labels, found: &Found) -> Result<Vec<u8>> {
    let through = |sites: &Sites| -> Vec<Value> {
        let functions = sites.through.iter().flatten();
        functions.map(|one| one.function.as_str().into()).collect()
    };
    let Found {
        held,
        calls,
        mapped,
    } = found;
    let mut page = json_start(subject, SCHEMA, labels);
    page.insert("held_through".into(), through(held).into());
    page.insert("allocated_through".into(), through(calls).into());
    page.insert("mapped_through".into(), through(mapped).into());
    let past = (held.past_library.bytes, calls.past_library.blocks);
    page.insert("held_past_libraries".into(), past.0.into());
    page.insert("allocated_past_libraries".into(), past.1.into());
    page.insert("held".into(), places(held, labels, "blocks").into());
    page.insert(
        "allocated".into(),
        places(calls, labels, "allocations").into(),
    );
    page.insert("mapped".into(), places(mapped, labels, "mappings").into());
    json_page(&page)
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
