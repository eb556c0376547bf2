//! The lists of a summary, and what they say of functions passed over.

use std::io::{Result, Write};

use memlog_analysis::Held;
use memlog_export::brief;

use super::sites::{Site, Sites, Through};
use crate::names::Name;
use crate::open::{counted, grouped};
use crate::report::named;
use crate::screen::{Role, Screen};

/// A page that lists are put on.
pub struct Lists<'a> {
    pub page: &'a mut Vec<u8>,
    pub screen: &'a Screen,
    pub names: &'a [Name],
}

impl Lists<'_> {
    /// Below the first of the titles that fits, or else the last.
    pub fn print(&mut self, titles: &[String], sites: &Sites, most: usize) -> Result<()> {
        if sites.list.is_empty() {
            return Ok(());
        }
        let columns = self.screen.columns().unwrap_or(usize::MAX);
        let fits = |title: &&String| title.chars().count() < columns;
        let title = titles.iter().find(fits).or(titles.last());
        let title = title.map_or("", String::as_str);
        let title = self.screen.colours.paint(Role::Title, title);
        writeln!(self.page, "\n{title}:")?;
        for line in through(sites, self.screen) {
            writeln!(self.page, "{line}")?;
        }
        let widths = self.widths(sites.total);
        let shown = sites.list.len().min(most);
        for site in &sites.list[..shown] {
            self.site(site, widths)?;
        }
        let rest = &sites.list[shown..];
        if let Some(last) = rest.last() {
            let held = rest.iter().fold(Held::default(), |sum, site| Held {
                bytes: sum.bytes + site.held.bytes,
                blocks: sum.blocks + site.held.blocks,
            });
            let share = rest.iter().map(|site| site.share).sum();
            let (figures, _) = self.figures(Role::Guide, share, last.sum, held, widths);
            let others = counted(rest.len() as u64, "other place");
            writeln!(self.page, "{figures}in {others}")?;
        }
        Ok(())
    }

    fn site(&mut self, site: &Site, widths: (usize, usize)) -> Result<()> {
        let role = Role::Share(site.share);
        let (figures, long) = self.figures(role, site.share, site.sum, site.held, widths);
        let name = named(self.screen, &self.names[site.label as usize], long);
        writeln!(self.page, "{figures}{name}")
    }

    /// Of bytes and blocks; where columns are few no more than these take.
    fn widths(&self, most: Held) -> (usize, usize) {
        const USUAL: (usize, usize) = (14, 11);
        const FEW: usize = 100;
        match self.screen.columns() {
            Some(..FEW) => (grouped(most.bytes).len(), grouped(most.blocks).len()),
            _ => USUAL,
        }
    }

    /// The columns before a name, and how wide they are.
    fn figures(
        &self,
        role: Role,
        share: f64,
        sum: f64,
        held: Held,
        (bytes, blocks): (usize, usize),
    ) -> (String, usize) {
        let share_text = format!("{share:5.1}%");
        let rest = format!(
            " {sum:5.1}% {:>bytes$}B {:>blocks$}x  ",
            grouped(held.bytes),
            grouped(held.blocks)
        );
        let long = share_text.len() + rest.len();
        let share = self.screen.colours.paint(role, share_text);
        (format!("{share}{rest}"), long)
    }
}

/// What was passed over, a line each.
pub fn through(sites: &Sites, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    if sites.past_library.blocks > 0 {
        lines.push("  by who called the libraries of C++, Fortran or Rust".to_owned());
    }
    let is_told = |step: &&Vec<Through>| step.iter().any(|one| one.share >= LEAST_PERCENT);
    let told: Vec<_> = sites.through.iter().filter(is_told).collect();
    if !told.is_empty() {
        let columns = screen.columns().unwrap_or(usize::MAX);
        lines.push(passed_over(&told, columns));
    }
    lines
}

/// What passes on less, in percent, is not worth its name.
const LEAST_PERCENT: f64 = 1.0;

/// How many names stand for the functions of a step, and how wide they may be.
const FORMS: [(usize, usize); 9] = [
    (3, 60),
    (3, 40),
    (3, 24),
    (2, 40),
    (2, 24),
    (1, 60),
    (1, 40),
    (1, 24),
    (1, 16),
];

/// From the callers in; where that does not fit only who was called first, for
/// the rest follows from it.
fn passed_over(steps: &[&Vec<Through>], columns: usize) -> String {
    let begin = "  by who called ";
    let room = columns.saturating_sub(begin.len());
    let whole = FORMS.iter().map(|&form| calls(steps, form));
    let outermost = &steps[steps.len().saturating_sub(1)..];
    let short = FORMS.iter().map(|&form| calls(outermost, form));
    let fits = |line: &String| line.chars().count() <= room;
    let line = whole.chain(short).find(fits);
    // One name, if need be a piece of it.
    let line = line.unwrap_or_else(|| {
        let first = outermost.first().and_then(|step| step.first());
        first.map_or(String::new(), |one| brief(&one.function, room.max(1)))
    });
    begin.to_owned() + &line
}

/// `a or b, which calls …, which calls c`
fn calls(steps: &[&Vec<Through>], form: (usize, usize)) -> String {
    let mut steps: Vec<_> = steps.iter().map(|step| either(step, form)).collect();
    // Those between only pass on as well; the line has an end.
    if steps.len() > 2 {
        steps.splice(1..steps.len() - 1, ["…".into()]);
    }
    steps.reverse();
    steps.join(", which calls ")
}

/// `a, b or others`.
fn either(functions: &[Through], (most, widest): (usize, usize)) -> String {
    let told = functions.iter().take(most).enumerate();
    let told = told.filter(|(index, one)| *index == 0 || one.share >= LEAST_PERCENT);
    let mut names: Vec<_> = told.map(|(_, one)| brief(&one.function, widest)).collect();
    if names.len() < functions.len() {
        names.push("others".into());
    }
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => names.concat(),
    }
}
