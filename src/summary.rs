//! `memlog summary`: on one screen what there is to know first.

mod askers;
mod sites;
#[cfg(test)]
mod tests;
mod wrappers;

use std::io::{Result, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::{Held, Moment};
use memlog_export::brief;
use memlog_format::meta::Key;
use serde_json::{Value, json};

use crate::names::Name;
use crate::open::{clean, counted, grouped};
use crate::report::{Labels, Subject, json_page, named, print_heading, show};
use crate::screen::{Look, Role, Screen};
use crate::words::{percentage, typed};
use sites::{List, Site, Sites, Through};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-summary-1";

/// Say on one screen what there is to know first.
#[derive(clap::Args)]
pub struct Args {
    /// The log; or a folder or a quoted pattern: of its logs, the one with the highest RSS peak
    file: PathBuf,
    /// Print it as JSON, schema memlog-summary-1, with all places
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    look: Look,
}

/// Prints the heading, who held most, who asked most often, and what is next.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    show(&args.file, None, &args.look, |subject, labels| {
        let fold = &subject.analysis.fold;
        let held = List {
            stacks: fold.held(Moment::RssPeak).collect(),
            weight: |held| held.bytes,
        };
        let calls = List {
            stacks: fold.allocated().collect(),
            weight: |held| held.blocks,
        };
        let program = program(subject);
        let [held, calls] = Sites::of(&[held, calls], program.as_deref(), labels);
        match args.json {
            true => as_json(subject, labels, &held, &calls),
            false => as_text(subject, labels, &held, &calls),
        }
    })
}

/// The program's file as its places have it, without its folder.
fn program(subject: &Subject) -> Option<String> {
    let path = subject.family.own().text(Key::Executable)?;
    let name = path.rsplit(|&byte| byte == b'/').next();
    Some(clean(name.unwrap_or(path)))
}

fn as_text(subject: &Subject, labels: &Labels, held: &Sites, calls: &Sites) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    print_heading(&mut page, subject)?;
    let nameless = labels.remarks().count() as u64;
    if nameless > 0 {
        let note = subject.screen.colours.paint(Role::Note, "note:");
        let files = counted(nameless, "file");
        writeln!(
            page,
            "{note} {files} of names gone or rebuilt; memlog report says which"
        )?;
    }
    if let Some(sentence) = labels.cut_short() {
        let note = subject.screen.colours.paint(Role::Note, "note:");
        writeln!(page, "{note} {sentence}")?;
    }
    let below_titles = through(held).len() + through(calls).len();
    let room = Room::left(subject, &page, below_titles);
    let mut lists = Lists {
        page: &mut page,
        screen: subject.screen,
        names: labels.names(),
    };
    let moment = match subject.analysis.summary.rss_peak_bytes {
        0 => "at the heap's maximum",
        _ => "at the RSS peak",
    };
    let bytes = grouped(held.total.bytes);
    let title = format!("{bytes}B live {moment}, by place (share, sum so far, bytes, blocks)");
    lists.print(&title, held, room.held)?;
    let totals = &subject.analysis.summary.totals;
    let title = format!(
        "{} ({:.1} % released before their thread's next one), by place",
        counted(calls.total.blocks, "allocation"),
        percentage(totals.temporary, totals.allocations)
    );
    lists.print(&title, calls, room.calls)?;
    next(&mut page, subject, room.steps)?;
    Ok(page)
}

/// How much is shown, so that all fits on the screen.
struct Room {
    /// Places by bytes.
    held: usize,
    /// Places by calls.
    calls: usize,
    /// What to run next.
    steps: usize,
}

impl Room {
    const MOST: Self = Self {
        held: 10,
        calls: 5,
        steps: 3,
    };
    /// Lines that are none of these nor above: two titles, two sums, blank
    /// lines, and the shell's own.
    const OTHERS: usize = 8;

    fn left(subject: &Subject, above: &[u8], below_titles: usize) -> Self {
        let used = above.iter().filter(|&&byte| byte == b'\n').count() + below_titles;
        let Some(rows) = subject.screen.rows() else {
            return Self::MOST;
        };
        let left = rows.saturating_sub(used + Self::OTHERS);
        let steps = if left < 8 { 1 } else { Self::MOST.steps };
        let left = left.saturating_sub(steps);
        let held = (left * 2 / 3).clamp(2, Self::MOST.held);
        Self {
            held,
            calls: left.saturating_sub(held).clamp(1, Self::MOST.calls),
            steps,
        }
    }
}

struct Lists<'a> {
    page: &'a mut Vec<u8>,
    screen: &'a Screen,
    names: &'a [Name],
}

impl Lists<'_> {
    fn print(&mut self, title: &str, sites: &Sites, most: usize) -> Result<()> {
        if sites.list.is_empty() {
            return Ok(());
        }
        let title = self.screen.colours.paint(Role::Title, title);
        writeln!(self.page, "\n{title}:")?;
        for line in through(sites) {
            writeln!(self.page, "  by who called {line}")?;
        }
        let shown = sites.list.len().min(most);
        for site in &sites.list[..shown] {
            self.site(site)?;
        }
        let rest = &sites.list[shown..];
        if let Some(last) = rest.last() {
            let held = rest.iter().fold(Held::default(), |sum, site| Held {
                bytes: sum.bytes + site.held.bytes,
                blocks: sum.blocks + site.held.blocks,
            });
            let share = rest.iter().map(|site| site.share).sum();
            let (figures, _) = self.figures(Role::Guide, share, last.sum, held);
            let others = counted(rest.len() as u64, "other place");
            writeln!(self.page, "{figures}in {others}")?;
        }
        Ok(())
    }

    fn site(&mut self, site: &Site) -> Result<()> {
        let (figures, long) =
            self.figures(Role::Share(site.share), site.share, site.sum, site.held);
        let name = named(self.screen, &self.names[site.label as usize], long);
        writeln!(self.page, "{figures}{name}")
    }

    /// The columns before a name, and how wide they are.
    fn figures(&self, role: Role, share: f64, sum: f64, held: Held) -> (String, usize) {
        let share_text = format!("{share:5.1}%");
        let rest = format!(
            " {sum:5.1}% {:>14}B {:>11}x  ",
            grouped(held.bytes),
            grouped(held.blocks)
        );
        let long = share_text.len() + rest.len();
        let share = self.screen.colours.paint(role, share_text);
        (format!("{share}{rest}"), long)
    }
}

/// What was passed over, a line each.
fn through(sites: &Sites) -> Vec<String> {
    let mut lines = Vec::new();
    if sites.past_library.blocks > 0 {
        lines.push("the libraries of C++, Fortran or Rust".to_owned());
    }
    let is_told = |step: &&Vec<Through>| step.iter().any(|one| one.share >= LEAST_PERCENT);
    let told = sites.through.iter().filter(is_told);
    let mut steps: Vec<_> = told.map(|step| either(step)).collect();
    // Those between only pass on as well; the line has an end.
    if steps.len() > 2 {
        steps.splice(1..steps.len() - 1, ["…".into()]);
    }
    steps.reverse();
    if !steps.is_empty() {
        lines.push(steps.join(", which calls "));
    }
    lines
}

/// What passes on less, in percent, is not worth its name.
const LEAST_PERCENT: f64 = 1.0;

/// `a, b or others`.
fn either(functions: &[Through]) -> String {
    const MOST: usize = 3;
    const WIDEST: usize = 60;
    let told = functions.iter().take(MOST).enumerate();
    let told = told.filter(|(index, one)| *index == 0 || one.share >= LEAST_PERCENT);
    let mut names: Vec<_> = told.map(|(_, one)| brief(&one.function, WIDEST)).collect();
    if names.len() < functions.len() {
        names.push("others".into());
    }
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}

fn next(page: &mut Vec<u8>, subject: &Subject, most: usize) -> Result<()> {
    let log = typed(subject.file);
    let mut steps = vec![
        (format!("memlog report {log}"), "who called these places"),
        (
            format!("memlog tree --top-down {log}"),
            "the same from main down",
        ),
        (
            format!("memlog report --show-leaks {log}"),
            "what was live at the end",
        ),
    ];
    if subject.analysis.summary.totals.allocations == 0 {
        steps = vec![(
            format!("memlog info {log}"),
            "what the log is of, and what it lacks",
        )];
    }
    steps.truncate(most);
    writeln!(page)?;
    let widest = steps
        .iter()
        .map(|(command, _)| command.chars().count())
        .max();
    let widest = widest.unwrap_or(0);
    for (index, (command, what)) in steps.iter().enumerate() {
        let name = match index {
            0 => subject.screen.colours.paint(Role::Title, "next") + ":",
            _ => "     ".into(),
        };
        writeln!(page, "{name} {command:widest$}  {what}")?;
    }
    Ok(())
}

fn as_json(subject: &Subject, labels: &Labels, held: &Sites, calls: &Sites) -> Result<Vec<u8>> {
    let list = |sites: &Sites, blocks: &str| -> Vec<Value> {
        let sites = sites.list.iter();
        let sites = sites.map(|site| {
            let name = &labels.names()[site.label as usize];
            json!({
                "function": name.function,
                "location": name.location,
                "module": name.module,
                "bytes": site.held.bytes,
                blocks: site.held.blocks,
                "share_percent": site.share,
                "sum_percent": site.sum,
            })
        });
        sites.collect()
    };
    let through = |sites: &Sites| -> Vec<Value> {
        let functions = sites.through.iter().flatten();
        functions.map(|one| one.function.as_str().into()).collect()
    };
    let mut page = subject.as_json(SCHEMA, labels);
    page.insert("held_through".into(), through(held).into());
    page.insert("allocated_through".into(), through(calls).into());
    let past = (held.past_library.bytes, calls.past_library.blocks);
    page.insert("held_past_libraries".into(), past.0.into());
    page.insert("allocated_past_libraries".into(), past.1.into());
    page.insert("held".into(), list(held, "blocks").into());
    page.insert("allocated".into(), list(calls, "allocations").into());
    json_page(&page)
}
