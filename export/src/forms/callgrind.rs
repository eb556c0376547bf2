//! What each function holds itself, and what the functions that it calls do:
//!
//! ```text
//! fl=(1) server.c
//! fn=(2) handle
//! 12 4096 1             line, bytes and blocks of its own
//! cfn=(3) read_all
//! calls=1 7             the callee's line
//! 14 8192 2             the line of the call, and what is held below it
//! ```

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write;

use memlog_analysis::{Held, Name};

use super::{Stacks, file_and_line};
use crate::flame::{Flame, module_of};
use crate::shown::clean;

/// A function: its file, its name, its module.
type Function = (String, String, String);
/// Of a function by the lines in it: what ends there, and by callee what is below.
#[derive(Default)]
struct Costs {
    own: BTreeMap<u32, Held>,
    calls: BTreeMap<(u32, usize, u32), Held>,
}

/// All of it is of what is counted first.
pub fn callgrind(flame: &Flame) -> String {
    let stacks = Stacks::first(flame);
    let mut functions = Functions::default();
    let known: Vec<(usize, u32)> = flame
        .nodes
        .iter()
        .map(|node| functions.place(stacks.name(node)))
        .collect();
    let mut costs: Vec<Costs> = Vec::new();
    costs.resize_with(functions.list.len(), Costs::default);
    for (end, held) in stacks.ends() {
        let (function, line) = known[end as usize];
        let own = costs[function].own.entry(line).or_default();
        *own = own.plus(held);
        // A call that recurs counts what is below it once.
        let mut seen = HashSet::new();
        let chain: Vec<u32> = stacks.chain(end).map(|(place, _)| place).collect();
        for pair in chain.windows(2) {
            let [callee, caller] = [pair[0], pair[1]].map(|place| known[place as usize]);
            if seen.insert((caller.0, callee.0)) {
                let call = (caller.1, callee.0, callee.1);
                let below = costs[caller.0].calls.entry(call).or_default();
                *below = below.plus(held);
            }
        }
    }
    let mut out = Out {
        lacks_counts: flame.lacks_counts,
        ..Out::default()
    };
    out.head(flame, &stacks);
    for (at, costs) in costs.iter().enumerate() {
        out.function(&functions, at, costs);
    }
    out.text
}

/// Functions by their numbers.
#[derive(Default)]
struct Functions {
    list: Vec<Function>,
    index: HashMap<Function, usize>,
}

impl Functions {
    /// The function of a place, and the line in it; 0 where that is not known.
    fn place(&mut self, name: Option<&Name>) -> (usize, u32) {
        let text = |text: &str| clean(text.as_bytes());
        let (file, line) = match name.and_then(|name| name.location.as_deref()) {
            Some(location) => file_and_line(location),
            None => ("???", None),
        };
        let function = name.map_or("(no stack)".to_owned(), |name| text(&name.function));
        let module = name.and_then(module_of);
        let key = (text(file), function, text(module.unwrap_or("???")));
        let next = self.list.len();
        let at = *self.index.entry(key.clone()).or_insert(next);
        if at == next {
            self.list.push(key);
        }
        (at, line.unwrap_or(0))
    }
}

/// What is written, with names in full at first and by their numbers then.
#[derive(Default)]
struct Out {
    text: String,
    files: HashMap<String, usize>,
    objects: HashMap<String, usize>,
    named: HashSet<usize>,
    lacks_counts: bool,
}

impl Out {
    fn head(&mut self, flame: &Flame, stacks: &Stacks) {
        let all = stacks
            .ends()
            .fold(Held::default(), |sum, (_, held)| sum.plus(held));
        let what = flame.first().map_or("", |(metric, _)| metric.name.as_str());
        self.line(format_args!("# callgrind format"));
        self.line(format_args!("version: 1"));
        self.line(format_args!(
            "creator: memlog {}",
            env!("CARGO_PKG_VERSION")
        ));
        self.line(format_args!("cmd: {}", clean(flame.title().as_bytes())));
        self.line(format_args!("desc: Trigger: {}", clean(what.as_bytes())));
        self.line(format_args!("positions: line"));
        self.line(format_args!("event: Bytes"));
        if self.lacks_counts {
            self.line(format_args!("events: Bytes"));
        } else {
            self.line(format_args!("event: Blocks"));
            self.line(format_args!("events: Bytes Blocks"));
        }
        let summary = self.costs(all);
        self.line(format_args!("summary: {summary}"));
    }

    fn function(&mut self, functions: &Functions, at: usize, costs: &Costs) {
        if costs.own.is_empty() && costs.calls.is_empty() {
            return;
        }
        self.line(format_args!(""));
        self.place(functions, at, "");
        for (line, own) in &costs.own {
            let own = self.costs(*own);
            self.line(format_args!("{line} {own}"));
        }
        for (&(line, callee, callee_line), below) in &costs.calls {
            self.place(functions, callee, "c");
            self.line(format_args!("calls=1 {callee_line}"));
            let below = self.costs(*below);
            self.line(format_args!("{line} {below}"));
        }
    }

    /// One for each event.
    fn costs(&self, held: Held) -> String {
        match self.lacks_counts {
            true => held.bytes.to_string(),
            false => format!("{} {}", held.bytes, held.blocks),
        }
    }

    /// Its module, its file and its name.
    fn place(&mut self, functions: &Functions, at: usize, of: &str) {
        let (file, function, module) = &functions.list[at];
        let object = compressed(&mut self.objects, module);
        let file = compressed(&mut self.files, file);
        let name = match self.named.insert(at) {
            true => format!("({at}) {function}"),
            false => format!("({at})"),
        };
        // Of a callee the file is called so.
        let kind = if of.is_empty() { "fl" } else { "cfi" };
        self.line(format_args!("{of}ob={object}"));
        self.line(format_args!("{kind}={file}"));
        self.line(format_args!("{of}fn={name}"));
    }

    fn line(&mut self, line: std::fmt::Arguments) {
        // A String takes everything.
        let _ = writeln!(self.text, "{line}");
    }
}

fn compressed(known: &mut HashMap<String, usize>, text: &str) -> String {
    let next = known.len() + 1;
    match known.get(text) {
        Some(number) => format!("({number})"),
        None => {
            known.insert(text.to_owned(), next);
            format!("({next}) {text}")
        }
    }
}
