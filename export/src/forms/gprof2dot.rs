//! Chains of calls and what each of them costs, which memtrail wrote too:
//!
//! ```text
//! {"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}],
//!  "functions": [{"name": "main", "module": "/bin/server"}, ...],
//!  "events": [{"callchain": [1, 0], "cost": [4096]}, ...]}      from the innermost out
//! ```

use std::collections::HashMap;

use memlog_analysis::{Measure, Name};
use serde_json::json;

use super::Stacks;
use crate::flame::{Flame, module_of};

/// The stacks of what is counted first.
pub fn gprof2dot(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let measure = flame
        .first()
        .map_or(Measure::Bytes, |(metric, _)| metric.measure);
    let ends = stacks.ends().map(|(end, held)| {
        let chain = stacks.chain(end);
        (chain.map(|(_, node)| stacks.name(node)), held.by(measure))
    });
    of_chains(ends, measure)
}

/// What each chain costs, from the innermost place out; one without a name is of no stack.
/// Functions of the same name and module are one, as they are to gprof2dot.
pub fn of_chains<'n>(
    chains: impl Iterator<Item = (impl Iterator<Item = Option<&'n Name>>, u64)>,
    measure: Measure,
) -> String {
    const NO_FRAMES: &str = "(no stack)";
    let (mut functions, mut known) = (Vec::new(), HashMap::new());
    let mut events = Vec::new();
    // An empty chain, and a cost of none, gprof2dot does not take.
    for (chain, cost) in chains.filter(|(_, cost)| *cost > 0) {
        let chain: Vec<usize> = chain
            .map(|name| {
                let key = name.map(|name| (name.function.as_str(), module_of(name)));
                let key = key.unwrap_or((NO_FRAMES, None));
                *known.entry(key).or_insert_with(|| {
                    let (name, module) = key;
                    functions.push(json!({"name": name, "module": module.unwrap_or_default()}));
                    functions.len() - 1
                })
            })
            .collect();
        events.push(json!({"callchain": chain, "cost": [cost]}));
    }
    let unit = match measure {
        Measure::Bytes => json!({"description": "Memory", "unit": "bytes"}),
        Measure::Blocks => json!({"description": "Allocations", "unit": "calls"}),
    };
    let whole = json!({
        "version": 0,
        "costs": [unit],
        "functions": functions,
        "events": events,
    });
    format!("{whole}\n")
}
