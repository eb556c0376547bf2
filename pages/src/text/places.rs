//! A list of places, and what it says of functions passed over.

use memlog_analysis::{Held, Through, brief, nameless_in};

use super::tree::named;
use crate::page::places::{PlaceList, PlaceRow};
use crate::screen::{Role, Screen, width};
use crate::words::{Sizes, counted, grouped};

/// Rows of a list where nobody has to save room.
pub const MOST: usize = 10;

/// A list of so many rows at most, below the first of its titles that fits, or else
/// the last.
pub fn of(list: &PlaceList, most: usize, screen: &Screen) -> String {
    if list.rows.is_empty() {
        return String::new();
    }
    let columns = screen.columns().unwrap_or(usize::MAX);
    let fits = |title: &&String| title.chars().count() < columns;
    let title = list.titles.iter().find(fits).or(list.titles.last());
    let title = title.map_or("", String::as_str);
    let title = screen.colours.paint(Role::Title, title);
    let mut lines = vec![format!("\n{title}:")];
    lines.extend(through(list, screen));
    let columns = Columns::of(screen, list);
    let told = list.rows.iter();
    let told = told.take_while(|row| row.share >= LEAST_SHARE).count();
    let all = list.rows.len();
    // A last one takes no more room than a row that says there is one.
    let shown = match told == all && all == most + 1 {
        true => all,
        false => told.clamp(1, most.max(1)).min(all),
    };
    let (shown, rest) = list.rows.split_at(shown);
    lines.extend(shown.iter().map(|row| columns.place(row)));
    let share = rest.iter().map(|row| row.share).sum();
    if let Some(last) = rest.last().filter(|_| share >= LEAST_SHARE) {
        let held = rest.iter().map(|row| row.held);
        let held = held.fold(Held::default(), Held::plus);
        let (figures, _) = columns.figures(Role::Guide, share, last.sum, held);
        let others = counted(rest.len() as u64, "other place");
        lines.push(format!("{figures}in {others}"));
    }
    lines.join("\n") + "\n"
}

/// How wide the columns before a name are.
struct Columns<'s> {
    screen: &'s Screen,
    bytes: usize,
    /// Nothing where it is not known how many they are.
    blocks: Option<usize>,
}

impl<'s> Columns<'s> {
    /// Where columns are few no more than the largest figures take.
    fn of(screen: &'s Screen, list: &PlaceList) -> Self {
        let most = list.total;
        const FEW: usize = 100;
        const ROUNDED: usize = "1023.9 MiB".len();
        const USUAL: (usize, usize) = (15, 11);
        let is_narrow = screen.columns().is_some_and(|columns| columns < FEW);
        let bytes = match screen.sizes {
            Sizes::Rounded => ROUNDED,
            exact if is_narrow => exact.of(most.bytes).len(),
            Sizes::Exact => USUAL.0,
        };
        let blocks = match is_narrow {
            true => grouped(most.blocks).len(),
            false => USUAL.1,
        };
        Self {
            screen,
            bytes,
            blocks: list.has_counts.then_some(blocks),
        }
    }

    fn place(&self, row: &PlaceRow) -> String {
        let role = Role::Share(row.share);
        let (figures, long) = self.figures(role, row.share, row.sum, row.held);
        let name = named(self.screen, &row.name, long);
        let caller = self.caller(row, long + width(&name));
        format!("{figures}{name}{caller}")
    }

    /// Whose own code a library's place was for, where there is room for that.
    fn caller(&self, row: &PlaceRow, used: usize) -> String {
        const BEGIN: &str = "  for ";
        const LEAST: usize = 12;
        let used = used + BEGIN.len();
        let columns = self.screen.columns();
        let has_room = columns.is_none_or(|columns| used + LEAST <= columns);
        let caller = row.caller.as_ref().filter(|_| has_room);
        caller.map_or(String::new(), |name| {
            let name = named(self.screen, name, used);
            format!("{BEGIN}{name}")
        })
    }

    /// The columns before a name, and how wide they are.
    fn figures(&self, role: Role, share: f64, sum: f64, held: Held) -> (String, usize) {
        let Self { bytes, blocks, .. } = *self;
        let share_text = format!("{share:5.1}%");
        let blocks = blocks.map_or_else(String::new, |width| {
            format!(" {:>width$}x", grouped(held.blocks))
        });
        let rest = format!(
            " {sum:5.1}% {:>bytes$}{blocks}  ",
            self.screen.sizes.of(held.bytes)
        );
        let long = share_text.len() + rest.len();
        let share = self.screen.colours.paint(role, share_text);
        (format!("{share}{rest}"), long)
    }
}

/// What was passed over, a line each.
pub fn through(list: &PlaceList, screen: &Screen) -> Vec<String> {
    let mut lines = Vec::new();
    if list.is_past_library {
        lines.push("  skipped: the standard libraries of C++, Fortran or Rust".to_owned());
    }
    let is_told = |step: &&Vec<Through>| step.iter().any(|one| one.share >= LEAST_PERCENT);
    let told: Vec<_> = list.through.iter().filter(is_told).collect();
    if !told.is_empty() {
        let columns = screen.columns().unwrap_or(usize::MAX);
        lines.push(passed_over(&told, columns));
    }
    lines
}

/// What has a smaller share, in percent, would be shown as 0.0 %.
const LEAST_SHARE: f64 = 0.05;

/// What passes on less, in percent, is not worth its name.
const LEAST_PERCENT: f64 = 1.0;

/// How wide a name is at most, the widest first.
const WIDEST: [usize; 4] = [60, 40, 24, 16];

/// `  wrappers skipped: xmalloc, xcalloc (2 more)`: as many as fit, those with
/// names before the others, then those that most came through first.
fn passed_over(steps: &[&Vec<Through>], columns: usize) -> String {
    const BEGIN: &str = "  wrappers skipped: ";
    const MOST_NAMED: usize = 4;
    let steps = steps.iter().rev();
    let mut functions: Vec<&Through> = steps.copied().flatten().collect();
    // A place without a name tells little, and least what is innermost.
    functions.sort_by(|one, other| {
        let is_last = |one: &Through| {
            (
                one.share < LEAST_PERCENT,
                nameless_in(&one.function).is_some(),
            )
        };
        let by_share = other.share.total_cmp(&one.share);
        is_last(one).cmp(&is_last(other)).then(by_share)
    });
    let told = functions.iter().take(MOST_NAMED);
    let told = told.take_while(|one| one.share >= LEAST_PERCENT).count();
    let line = |count: usize, widest: usize| {
        let names = functions[..count].iter();
        let names: Vec<_> = names.map(|one| brief(&one.function, widest)).collect();
        let more = match functions.len() - count {
            0 => String::new(),
            more => format!(" ({more} more)"),
        };
        format!("{BEGIN}{}{more}", names.join(", "))
    };
    let fits = |line: &String| line.chars().count() <= columns;
    let forms = (1..=told).rev();
    let mut forms = forms.flat_map(|count| WIDEST.iter().map(move |&widest| (count, widest)));
    let form = forms.find(|&(count, widest)| fits(&line(count, widest)));
    // One name, if need be a piece of it.
    let (count, widest) = form.unwrap_or((1, columns.saturating_sub(BEGIN.len()).max(1)));
    line(count.min(functions.len()), widest)
}
