//! Processes that did little, as most of those that a build starts: what they
//! were and did together, a line for each program.

use std::collections::BTreeMap;

use crate::open::FEW_EVENTS;
use crate::words::{counted, grouped, sized};

/// So many are listed sooner than summed.
pub const LISTED: usize = 10;

/// A process that did little.
pub struct Little {
    pub program: String,
    pub events: u64,
    /// Of its log.
    pub bytes: u64,
    /// 0 where it is not known.
    pub rss_peak_bytes: u64,
}

/// Some of them together.
#[derive(Default)]
struct Sum {
    count: u64,
    events: u64,
    bytes: u64,
    rss_peak_bytes: u64,
}

impl Sum {
    fn add(&mut self, one: &Little) {
        self.count += 1;
        self.events = self.events.saturating_add(one.events);
        self.bytes = self.bytes.saturating_add(one.bytes);
        self.rss_peak_bytes = self.rss_peak_bytes.max(one.rss_peak_bytes);
    }

    fn told(&self) -> String {
        format!(
            "{}, {} of logs, RSS at most {}",
            counted(self.events, "event"),
            sized(self.bytes),
            sized(self.rss_peak_bytes)
        )
    }
}

/// What they did, the most frequent program first.
pub fn lines(all: &[Little]) -> Vec<String> {
    let (mut total, mut programs) = (Sum::default(), BTreeMap::<&str, Sum>::new());
    for one in all {
        total.add(one);
        programs.entry(&one.program).or_default().add(one);
    }
    let mut programs: Vec<_> = programs.into_iter().collect();
    programs.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.count));
    let mut lines = vec![format!(
        "\n{} more processes had fewer than {FEW_EVENTS} events each (--all lists them): {}",
        grouped(total.count),
        total.told()
    )];
    let counts: Vec<String> = programs.iter().map(|(_, sum)| grouped(sum.count)).collect();
    let width = counts.iter().map(String::len).max().unwrap_or(0);
    let programs = programs.iter().zip(&counts);
    lines.extend(
        programs.map(|((program, sum), count)| {
            format!("  {count:>width$} of {program}: {}", sum.told())
        }),
    );
    lines
}
