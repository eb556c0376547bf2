//! How much of a page is shown, so that all fits on the screen.

use crate::screen::Screen;

/// The lists below a heading: of each how many lines say what was passed over,
/// or nothing where it is not shown.
#[derive(Clone, Copy)]
pub struct Below {
    pub held: usize,
    pub mapped: Option<usize>,
    pub calls: Option<usize>,
    /// Whether more was mapped than held: that list comes first then.
    pub is_mostly_mapped: bool,
    /// Places that there are of each.
    pub places: Places,
}

/// How many places there are to show.
#[derive(Clone, Copy)]
pub struct Places {
    pub held: usize,
    pub mapped: usize,
    pub calls: usize,
}

impl Below {
    /// Lines of a list that are no places: a blank one, the title, the sum.
    const OF_LIST: usize = 3;
    /// A blank line before what to run next, and the shell's own.
    const OTHERS: usize = 2;

    /// The lines that are no places and no steps.
    fn fixed(&self) -> usize {
        let lists = [Some(self.held), self.mapped, self.calls];
        let lists = lists.into_iter().flatten();
        Self::OTHERS + lists.map(|lines| Self::OF_LIST + lines).sum::<usize>()
    }

    /// With the least of all places.
    fn least(&self) -> usize {
        let mapped = self.mapped.map_or(0, |_| Room::LEAST.mapped);
        let calls = self.calls.map_or(0, |_| Room::LEAST.calls);
        self.fixed() + Room::LEAST.held + mapped + calls + Room::LEAST.steps
    }

    /// Rows of the least of the lists and of their sums that short ones leave.
    fn spare(&self) -> usize {
        let left = |least: usize, places: usize| (least + 1).saturating_sub(places);
        let mapped = self
            .mapped
            .map_or(0, |_| left(Room::LEAST.mapped, self.places.mapped));
        let calls = self
            .calls
            .map_or(0, |_| left(Room::LEAST.calls, self.places.calls));
        left(Room::LEAST.held, self.places.held) + mapped + calls
    }

    /// What may stand above where that is to fit.
    pub fn rows_above(&self, screen: &Screen) -> usize {
        let least = self.least().saturating_sub(self.spare());
        screen
            .rows()
            .map_or(usize::MAX, |rows| rows.saturating_sub(least))
    }
}

/// How much is shown. On a screen so small that the least of it does not fit
/// the page goes through the pager, as others do.
pub struct Room {
    /// Places by bytes.
    pub held: usize,
    /// Places by bytes mapped.
    pub mapped: usize,
    /// Places by calls.
    pub calls: usize,
    /// What to run next.
    pub steps: usize,
}

impl Room {
    const MOST: Self = Self {
        held: super::places::MOST,
        mapped: 5,
        calls: 5,
        steps: 4,
    };
    const LEAST: Self = Self {
        held: 2,
        mapped: 1,
        calls: 1,
        steps: 1,
    };

    /// Where so many lines are above.
    pub fn left(screen: &Screen, above: usize, below: Below) -> Self {
        let room = match screen.rows() {
            Some(rows) => Self::within(rows.saturating_sub(above + below.fixed()), below),
            None => Self::MOST,
        };
        let is_swapped = below.is_mostly_mapped && below.mapped.is_some();
        let (held, mapped) = match is_swapped {
            true => (room.mapped, room.held),
            false => (room.held, room.mapped),
        };
        Self {
            held,
            mapped,
            ..room
        }
    }

    /// With the larger list for what is held.
    fn within(lines: usize, below: Below) -> Self {
        let steps = match lines < 8 {
            true => Self::LEAST.steps,
            false => Self::MOST.steps,
        };
        let left = lines.saturating_sub(steps);
        let of_bytes = match below.calls {
            Some(_) => left * 2 / 3,
            None => left,
        };
        let held = of_bytes.clamp(Self::LEAST.held, Self::MOST.held);
        let mapped = match below.mapped {
            Some(_) => (left / 3).clamp(Self::LEAST.mapped, Self::MOST.mapped),
            None => 0,
        };
        let held = held.saturating_sub(mapped).max(Self::LEAST.held);
        let calls = left.saturating_sub(held + mapped);
        Self {
            held,
            mapped,
            calls: calls.clamp(Self::LEAST.calls, Self::MOST.calls),
            steps,
        }
    }
}
