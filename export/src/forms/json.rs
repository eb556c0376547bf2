//! All that was counted, by stack: names once, and each stack by their numbers.

use memlog_analysis::Measure;
use serde_json::{Map, Value, json};

use super::{Stacks, file_and_line};
use crate::flame::{Flame, Label, module_of};
use crate::shown::clean;

const SCHEMA: &str = "memlog-stacks-1";

/// `stacks` are from the innermost place out. Of a metric there is a list beside them, in
/// their order.
pub fn json(flame: &Flame) -> String {
    let frames = flame.names.iter().map(|name| {
        let (file, line) = match &name.location {
            Some(location) => file_and_line(location),
            None => ("", None),
        };
        json!({
            "function": clean(name.function.as_bytes()),
            "file": Some(clean(file.as_bytes())).filter(|file| !file.is_empty()),
            "line": line,
            "module": module_of(name).map(|module| clean(module.as_bytes())),
        })
    });
    let ends = flame.ends(flame.series.iter().map(|series| &series.own[..]));
    let chains = Stacks::first(flame);
    let stacks = ends.iter().map(|end| {
        let labels = chains.chain(*end).filter_map(|(_, node)| match node.label {
            Label::Named(name) => Some(name),
            Label::Lesser(_) => None,
        });
        labels.collect::<Vec<u32>>()
    });
    let metrics = flame.metrics.iter();
    let metrics = metrics.filter(|metric| !flame.lacks_counts || metric.measure == Measure::Bytes);
    let metrics = metrics.filter_map(|metric| {
        let series = flame.series.get(metric.series)?;
        let values = ends.iter().map(|end| {
            let held = series.own.get(*end as usize).copied().unwrap_or_default();
            held.by(metric.measure)
        });
        Some(json!({
            "name": metric.key,
            "of": metric.name,
            "unit": match metric.measure {
                Measure::Bytes => "bytes",
                Measure::Blocks => "blocks",
            },
            "values": values.collect::<Vec<u64>>(),
        }))
    });
    let mut whole = Map::new();
    whole.insert("schema".to_owned(), SCHEMA.into());
    whole.insert("of".to_owned(), clean(flame.title().as_bytes()).into());
    whole.insert("frames".to_owned(), frames.collect::<Vec<Value>>().into());
    whole.insert("stacks".to_owned(), stacks.collect::<Vec<_>>().into());
    whole.insert("metrics".to_owned(), metrics.collect::<Vec<Value>>().into());
    format!("{}\n", Value::Object(whole))
}
