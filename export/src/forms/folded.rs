//! A line for each stack: its functions from the outermost in, and a number.

use std::collections::BTreeMap;
use std::fmt::Write;

use memlog_analysis::Measure;

use super::Stacks;
use crate::flame::Flame;

/// Functions of one name are one, whichever their lines.
pub fn folded(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let measure = flame
        .first()
        .map_or(Measure::Bytes, |(metric, _)| metric.measure);
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    for (end, held) in stacks.ends().filter(|(_, held)| held.by(measure) > 0) {
        let mut functions: Vec<String> = stacks
            .chain(end)
            .map(|(_, node)| stacks.function(node).replace(';', ":"))
            .collect();
        functions.reverse();
        let sum = lines.entry(functions.join(";")).or_default();
        *sum = sum.saturating_add(held.by(measure));
    }
    let mut text = String::new();
    for (line, sum) in lines {
        // A String takes everything.
        let _ = writeln!(text, "{line} {sum}");
    }
    text
}
