//! Both sides as one flame graph.

use memlog_analysis::{END, Held, Measure, Name};
use memlog_answers::{Difference, changed_lines};
use memlog_export::flame::{Flame, Label, Metric, Node, Series};

use super::side::Taken;
use super::{notes, remarks};
use crate::page::tree::NO_FRAMES;
use crate::words::Sizes;

/// What is live after, compared with what is live before: of all stacks, so that widths are
/// those of the logs.
pub fn flame(sides: &[Taken; 2], found: Difference, filter: Option<String>) -> Flame {
    let mut rows = found.rows;
    rows.extend(found.still);
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    let known = changed_lines(&rows);
    let mut names = known.names;
    let nodes = known.lines.iter().skip(1).map(|line| Node {
        label: Label::Named(line.label),
        caller: (line.callers != END).then(|| line.callers - 1),
    });
    let mut nodes: Vec<Node> = nodes.collect();
    // What has no stack stands in a place of its own.
    nodes.push(Node {
        label: Label::Named(names.len() as u32),
        caller: None,
    });
    names.push(Name {
        function: NO_FRAMES.to_owned(),
        location: None,
        module: None,
    });
    let series = [1, 0].map(|side: usize| {
        let mut own = vec![Held::default(); nodes.len()];
        for (row, end) in rows.iter().zip(&known.ends) {
            let place = end
                .checked_sub(1)
                .map_or(nodes.len() - 1, |end| end as usize);
            own[place] = own[place].plus(row.held[side]);
        }
        Series {
            thing: "block",
            own,
        }
    });
    let metric = |key, side: usize| Metric {
        key,
        name: format!("live {key}, {}", sides[side].moment()),
        series: 1 - side,
        measure: Measure::Bytes,
    };
    let mut notes = notes(sides);
    notes.extend(filter.map(|filter| format!("only blocks where {filter}")));
    notes.extend(remarks(sides));
    let mut heading = super::heading(sides, Sizes::Rounded).lines_told();
    // What changed is the title.
    heading.rotate_right(1);
    Flame {
        heading,
        notes,
        names,
        nodes,
        series: series.to_vec(),
        metrics: vec![metric("after", 1), metric("before", 0)],
        shown: 0,
        other: Some(1),
        lacks_counts: sides.iter().any(|side| !side.knows("counts")),
        scoped: Vec::new(),
    }
}
