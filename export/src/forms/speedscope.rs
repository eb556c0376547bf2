//! A profile of bytes and one of blocks, whose samples are stacks.

use memlog_analysis::Measure;
use serde_json::{Value, json};

use super::{Stacks, file_and_line};
use crate::flame::{Flame, Label, module_of};
use crate::shown::clean;

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Frames are the names of the tree, by their numbers.
pub fn speedscope(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let frames = flame.names.iter().map(|name| {
        let mut frame = json!({"name": clean(name.function.as_bytes())});
        if let Some(location) = &name.location {
            let (file, line) = file_and_line(location);
            frame["file"] = file.into();
            if let Some(line) = line {
                frame["line"] = line.into();
            }
        } else if let Some(module) = module_of(name) {
            frame["file"] = clean(module.as_bytes()).into();
        }
        frame
    });
    let what = flame.first().map_or("", |(metric, _)| metric.name.as_str());
    let profile = |measure: Measure, unit: &str| {
        let ends = stacks.ends().filter(|(_, held)| held.by(measure) > 0);
        let (mut samples, mut weights, mut sum) = (Vec::new(), Vec::new(), 0u64);
        for (end, held) in ends {
            let mut sample: Vec<u32> = stacks
                .chain(end)
                .filter_map(|(_, node)| match node.label {
                    Label::Named(name) => Some(name),
                    Label::Lesser(_) => None,
                })
                .collect();
            sample.reverse();
            samples.push(sample);
            weights.push(held.by(measure));
            sum = sum.saturating_add(held.by(measure));
        }
        let of = match measure {
            Measure::Bytes => "bytes",
            Measure::Blocks => "blocks",
        };
        json!({
            "type": "sampled",
            "name": format!("{what}, {of}"),
            "unit": unit,
            "startValue": 0,
            "endValue": sum,
            "samples": samples,
            "weights": weights,
        })
    };
    let shown = flame
        .first()
        .map_or(Measure::Bytes, |(metric, _)| metric.measure);
    let mut profiles = vec![profile(Measure::Bytes, "bytes")];
    if !flame.lacks_counts {
        profiles.push(profile(Measure::Blocks, "none"));
    }
    let whole = json!({
        "$schema": SCHEMA,
        "name": clean(flame.title().as_bytes()),
        "activeProfileIndex": usize::from(shown == Measure::Blocks),
        "exporter": concat!("memlog@", env!("CARGO_PKG_VERSION")),
        "shared": {"frames": frames.collect::<Vec<Value>>()},
        "profiles": profiles,
    });
    format!("{whole}\n")
}
