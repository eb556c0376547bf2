//! A page on one screen: where not all fits, lines of the heading give way, lists have
//! fewer rows, the hint on names goes, then the list of calls, for what the peak
//! consists of tells more.

mod room;

use super::{briefly, heading, next, notes, places, text_of};
use crate::page::places::{PlaceList, What};
use crate::page::{Page, Part};
use crate::screen::Screen;
use room::{Below, Places, Room};

/// As it is printed.
pub fn of(page: &Page, screen: &Screen) -> String {
    let lists = Lists::of(page);
    let (mut text, below) = above(page, &lists, screen);
    let room = Room::left(screen, screen.rows_of(&text), below);
    for part in &page.parts {
        text += &match part {
            Part::Places(list) => match list.what {
                What::Held | What::Grown => places::of(list, room.held, screen),
                What::Mapped if below.mapped.is_some() => places::of(list, room.mapped, screen),
                What::Calls if below.calls.is_some() => places::of(list, room.calls, screen),
                What::Mapped | What::Calls => String::new(),
            },
            Part::Next(next) => next::of(next, room.steps, screen),
            other => text_of(other, page, screen),
        };
    }
    text
}

fn list_of(part: &Part) -> Option<&PlaceList> {
    match part {
        Part::Places(list) => Some(list),
        _ => None,
    }
}

/// The lists of a page.
struct Lists<'p> {
    held: Option<&'p PlaceList>,
    mapped: Option<&'p PlaceList>,
    calls: Option<&'p PlaceList>,
}

impl<'p> Lists<'p> {
    fn of(page: &'p Page) -> Self {
        let lists = || page.parts.iter().filter_map(list_of);
        let list = |what| lists().find(|list| list.what == what && list.is_told);
        Self {
            held: list(What::Held),
            mapped: list(What::Mapped),
            calls: list(What::Calls),
        }
    }

    fn below(&self, screen: &Screen) -> Below {
        let lines = |list: &PlaceList| places::through(list, screen).len();
        let rows = |list: Option<&PlaceList>| list.map_or(0, |list| list.rows.len());
        let bytes = |list: Option<&PlaceList>| list.map_or(0, |list| list.total.bytes);
        Below {
            held: self.held.map_or(0, lines),
            mapped: self.mapped.map(lines),
            calls: self.calls.map(lines),
            is_mostly_mapped: bytes(self.mapped) > bytes(self.held),
            places: Places {
                held: rows(self.held),
                mapped: rows(self.mapped),
                calls: rows(self.calls),
            },
        }
    }
}

/// What stands above the lists, and what is below then.
fn above(page: &Page, lists: &Lists, screen: &Screen) -> (String, Below) {
    let all = lists.below(screen);
    let usual = notes(&page.notes, screen) + &briefly(&page.on_names, screen);
    let hinted = usual.clone() + &notes(&page.on_names.hint, screen);
    let with = |notes: &str, below: Below| {
        let rows = below.rows_above(screen);
        heading::within(&page.heading, notes, screen, rows)
    };
    if let (text, true) = with(&hinted, all) {
        return (text, all);
    }
    let text = match with(&usual, all) {
        (text, true) => return (text, all),
        (text, false) => text,
    };
    let fewer = Below { calls: None, ..all };
    match with(&usual, fewer) {
        (text, true) => (text, fewer),
        (_, false) => (text, all),
    }
}
