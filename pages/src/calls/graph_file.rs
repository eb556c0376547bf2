//! A tree's stacks in the form of gprof2dot, which memtrail wrote:
//!
//! ```text
//! {"version": 0, "costs": [{"description": "Memory", "unit": "bytes"}],
//!  "functions": [{"name": "main", "module": "/bin/server"}, ...],
//!  "events": [{"callchain": [1, 0], "cost": [4096]}, ...]}      from the innermost out
//! ```

use std::collections::HashMap;

use memlog_analysis::{Held, Measure, Name, step};
use serde_json::{Value, json};

use super::paths::Line;
use crate::page::tree::NO_FRAMES;

/// What ends at each line. Functions of the same name and module are one, as they are to
/// gprof2dot.
pub fn graph(lines: &[Line], names: &[Name], held: &[Held], measure: Measure) -> String {
    let (mut functions, mut known) = (Vec::new(), HashMap::new());
    let mut function = |label: u32| {
        let name = names.get(label as usize);
        let key = name.map(|name| (name.function.as_str(), name.module.as_deref()));
        let key = key.unwrap_or((NO_FRAMES, None));
        *known.entry(key).or_insert_with(|| {
            let (name, module) = key;
            functions.push(json!({"name": name, "module": module.unwrap_or_default()}));
            functions.len() - 1
        })
    };
    let ends = (0u32..).zip(held).filter(|(_, held)| held.by(measure) > 0);
    let events: Vec<Value> = ends
        .map(|(line, held)| {
            let mut next = line;
            let labels = std::iter::from_fn(|| {
                let (label, callers) = step(lines, next)?;
                next = callers;
                Some(label)
            });
            let chain: Vec<usize> = labels.map(&mut function).collect();
            json!({"callchain": chain, "cost": [held.by(measure)]})
        })
        .collect();
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
