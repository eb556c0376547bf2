//! A row for each stack: what it holds, and its functions from the outermost in.

use std::fmt::Write;

use memlog_analysis::Held;

use super::Stacks;
use crate::flame::{Flame, module_of};
use crate::shown::clean;

/// With a head. A field with a comma or a quote stands in quotes.
pub fn csv(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let blocks = |held: Held| match flame.lacks_counts {
        true => String::new(),
        false => held.blocks.to_string(),
    };
    let mut text = "bytes,blocks,function,location,module,stack\n".to_owned();
    for (end, held) in stacks.ends() {
        let mut functions: Vec<String> = stacks
            .chain(end)
            .map(|(_, node)| stacks.function(node).replace(';', ":"))
            .collect();
        functions.reverse();
        let name = stacks
            .chain(end)
            .next()
            .and_then(|(_, node)| stacks.name(node));
        let part = |text: Option<&str>| field(&clean(text.unwrap_or_default().as_bytes()));
        // A String takes everything.
        let _ = writeln!(
            text,
            "{},{},{},{},{},{}",
            held.bytes,
            blocks(held),
            part(name.map(|name| name.function.as_str())),
            part(name.and_then(|name| name.location.as_deref())),
            part(name.and_then(module_of)),
            field(&functions.join(";")),
        );
    }
    text
}

fn field(text: &str) -> String {
    // A spreadsheet takes what begins so for a formula.
    let is_formula = text.starts_with(['=', '+', '-', '@']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    match text.contains([',', '"', '\'']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}
