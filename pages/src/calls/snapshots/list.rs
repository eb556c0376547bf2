//! Snapshots as a list, for people and for programs.

use memlog_analysis::{Every, Held, Snapshot};
use serde_json::{Value, json};

use super::{Taken, mark};
use crate::calls::title::of_chosen;
use crate::moment::snapshots::typed;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::words::{counted, grouped};

/// The column of a row that has the mark's name.
const MARK: usize = 7;

impl Taken<'_, '_> {
    pub(super) fn row(
        &self,
        index: usize,
        one: &Snapshot,
        [live, came, went, forgotten]: [Held; 4],
    ) -> Vec<String> {
        let sizes = self.subject.sizes;
        let change = match came.bytes >= went.bytes {
            true => format!("+{}", sizes.of(came.bytes - went.bytes)),
            false => format!("-{}", sizes.of(went.bytes - came.bytes)),
        };
        vec![
            index.to_string(),
            format!("{:.3}", self.subject.family.own().seconds(one.tick)),
            sizes.of(live.bytes),
            grouped(live.blocks),
            sizes.of(came.bytes),
            sizes.of(went.minus(forgotten).bytes),
            change,
            mark(one).unwrap_or_default(),
        ]
    }

    pub(super) fn figures(
        &self,
        index: usize,
        one: &Snapshot,
        [live, came, went, forgotten]: [Held; 4],
        unfiltered: Held,
    ) -> Value {
        let freed = went.minus(forgotten);
        json!({
            "label": format!("snapshot-{index}"),
            "mark": mark(one),
            "seconds": self.subject.family.own().seconds(one.tick),
            "events": one.event,
            "churn_bytes": one.churn(),
            "bytes": live.bytes,
            "blocks": live.blocks,
            "unfiltered_bytes": unfiltered.bytes,
            "unfiltered_blocks": unfiltered.blocks,
            "allocated_bytes": came.bytes,
            "allocations": came.blocks,
            "freed_bytes": freed.bytes,
            "releases": freed.blocks,
            "forgotten_bytes": forgotten.bytes,
            "forgotten_blocks": forgotten.blocks,
        })
    }

    pub(super) fn list(&self, rows: Vec<Vec<String>>, forgotten: Held) -> Rows {
        let every = self.args.every;
        let unfreed = || {
            let (blocks, bytes) = (counted(forgotten.blocks, "block"), forgotten.bytes);
            Rest::Sentence(format!(
                "{blocks} ({}) left the heap and were not freed: recording was off, and they are not \
                 followed any further",
                self.subject.sizes.of(bytes)
            ))
        };
        let last = match rows.iter().any(|row| !row[MARK].is_empty()) {
            true => "mark",
            false => "",
        };
        let title = match (rows.len(), every) {
            (0, None) => "no snapshot: the program set no marks".to_owned(),
            (0, Some(Every::Ns(ns))) => {
                format!("no snapshot: the log ends before {}", typed(Every::Ns(ns)))
            }
            (0, Some(every)) => format!("no snapshot: less than {} came and went", typed(every)),
            (count, every) => {
                let count = counted(count as u64, "snapshot");
                let every = match every {
                    None => "at the program's marks".to_owned(),
                    Some(Every::Ns(ns)) => format!("one every {}", typed(Every::Ns(ns))),
                    Some(every) => {
                        format!("one each time that {} came and went", typed(every))
                    }
                };
                let filter = match self.shape.filter.is_none() {
                    true => "",
                    false => " of the stacks that the filter let through",
                };
                let chosen = of_chosen(self.subject);
                format!(
                    "{count}, {every}; the live heap{chosen}{filter}, and what was allocated and freed \
                     since the one before:"
                )
            }
        };
        Rows {
            title,
            last: Last::Text,
            columns: titles(&[
                "snapshot",
                "seconds",
                "heap",
                "blocks",
                "allocated",
                "freed",
                "change",
                last,
            ]),
            gives_way: vec!["freed", "allocated", "blocks"],
            rows,
            rest: (forgotten.blocks > 0).then(unfreed).into_iter().collect(),
        }
    }
}
