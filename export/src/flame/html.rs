//! The page: everything is in it, and a browser is told to load nothing and to
//! run this one script only.

use std::collections::BTreeMap;

use memlog_analysis::{Brief, Measure};

use super::colours::{MODULES, Modules, NONE, OTHERS, SHADES};
use super::json::Object;
use super::lesser::Omitted;
use super::{Flame, Label, Least, View};
use crate::digest::source;
use crate::draw::{Colour, Escaped, Hex};
use crate::layout::text;
use crate::numbers::counted;

const PAGE: &str = include_str!("page.html");
pub(super) const STYLE: &str = include_str!("page.css");
/// One function, so that nothing of it is known outside.
pub(super) const SCRIPT: &str = concat!(
    "'use strict';\n(() => {\n",
    include_str!("script/tree.js"),
    include_str!("script/frames.js"),
    include_str!("script/draw.js"),
    include_str!("script/controls.js"),
    "})();\n"
);

/// What a name is shortened to where a frame has no room for it.
const SHORT: usize = 32;

/// The tree by all its metrics. What is less than `least` is summed up, if
/// anything is to be.
pub fn html(flame: &Flame, view: View, least: Option<Least>) -> String {
    let (kept, omitted) = flame.without_lesser(least);
    let mut notes = flame.notes.clone();
    notes.extend(told(omitted));
    let data = data(&kept, view, &Modules::of(flame));
    filled(PAGE, |key| match key {
        "policy" => format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'",
            source(SCRIPT),
            source(STYLE)
        ),
        "title" => Escaped(&text::clean(flame.title())).to_string(),
        "heading" => lines(flame.heading.get(1..).unwrap_or_default(), "p"),
        "notes" => lines(&notes, "li"),
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "data" => data.clone(),
        _ => String::new(),
    })
}

fn told(omitted: Omitted) -> Option<String> {
    let places = counted(omitted.places, "place");
    (omitted.places > 0).then(|| {
        format!(
            "{places} with less than {} % of every metric: summed up as \"N more\"; --all keeps them",
            omitted.percent
        )
    })
}

/// Each sentence in an element.
fn lines(sentences: &[String], element: &str) -> String {
    let lines = sentences.iter().map(|line| {
        let line = text::clean(line);
        format!("<{element}>{}</{element}>\n", Escaped(&line))
    });
    lines.collect()
}

/// A template whose `{{keys}}` are given values, which are not looked at.
fn filled(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (key, after) = after.split_once("}}").unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&value(key));
        rest = after;
    }
    out + rest
}

/// Texts, each once, by number.
#[derive(Default)]
struct Strings {
    numbers: BTreeMap<String, usize>,
    list: Vec<String>,
}

impl Strings {
    fn number(&mut self, text: Option<&str>) -> usize {
        let Some(text) = text else {
            return 0;
        };
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.list.len());
        self.list.len()
    }
}

/// Behind the text of number 0, which is none.
fn with_none(list: &[String]) -> impl Iterator<Item = &str> {
    std::iter::once("").chain(list.iter().map(String::as_str))
}

/// What `script/tree.js` reads. Node 0 stands for everything, so the first of the lists
/// is 1; `label` has a function's index, or below 0 how many are summed up.
fn data(flame: &Flame, view: View, modules: &Modules) -> String {
    // Only names that are in the tree, in their order.
    let mut used = vec![false; flame.names.len()];
    for node in &flame.nodes {
        if let Label::Named(name) = node.label {
            used[name as usize] = true;
        }
    }
    let mut number = vec![0; used.len()];
    let names: Vec<usize> = (0..used.len()).filter(|&name| used[name]).collect();
    for (new, &old) in names.iter().enumerate() {
        number[old] = new;
    }
    let mut object = Object::default();
    put_names(&mut object, flame, &names, modules);
    put_colours(&mut object);
    object.numbers(
        "label",
        flame.nodes.iter().map(|node| match node.label {
            Label::Named(name) => number[name as usize] as i64,
            Label::Lesser(count) => -(count as i64),
        }),
    );
    let callers = (1..).zip(&flame.nodes);
    // How far before it its caller stands: mostly 1.
    let callers = callers.map(|(at, node): (u32, _)| at - node.caller.map_or(0, |at| at + 1));
    object.numbers("caller", callers);
    for (index, series) in flame.series.iter().enumerate() {
        let own = (1u64..).zip(&series.own);
        let own = own.filter(|(_, held)| held.blocks > 0);
        let mut last = 0;
        let own = own.flat_map(|(at, held)| {
            let step = at - std::mem::replace(&mut last, at);
            [step, held.bytes, held.blocks]
        });
        object.numbers(&format!("own{index}"), own);
    }
    object.texts("things", flame.series.iter().map(|series| series.thing));
    object.texts("keys", flame.metrics.iter().map(|metric| metric.key));
    object.texts("metrics", flame.metrics.iter().map(|metric| &metric.name));
    object.numbers("series", flame.metrics.iter().map(|metric| metric.series));
    let by_blocks = flame.metrics.iter();
    let by_blocks = by_blocks.map(|metric| u8::from(metric.measure == Measure::Blocks));
    object.numbers("byBlocks", by_blocks);
    object.number("shown", flame.shown);
    // None has this number.
    object.number("with", flame.other.unwrap_or(flame.metrics.len()));
    object.number("reversed", u8::from(view.is_reversed));
    object.number("inverted", u8::from(view.is_inverted));
    object.end()
}

fn put_names(object: &mut Object, flame: &Flame, names: &[usize], modules: &Modules) {
    let name = |at: &usize| &flame.names[*at];
    object.texts("names", names.iter().map(|at| &name(at).function));
    object.texts(
        "short",
        names.iter().map(|at| {
            let whole = &name(at).function;
            let short = Brief::of(whole).within(SHORT);
            if short == *whole {
                String::new()
            } else {
                short
            }
        }),
    );
    let mut places = Strings::default();
    let numbers = names
        .iter()
        .map(|at| places.number(name(at).location.as_deref()));
    object.numbers("place", numbers.collect::<Vec<_>>());
    object.texts("places", with_none(&places.list));
    let module = |at: &usize| modules.of_name.get(*at).copied().flatten();
    let numbers = names.iter().map(|at| module(at).map_or(0, |at| at + 1));
    object.numbers("module", numbers);
    object.texts("modules", with_none(&modules.names));
}

fn put_colours(object: &mut Object) {
    let hex = |colour: Colour| Hex(colour).to_string();
    object.texts("colours", MODULES.map(hex));
    object.texts("plain", [OTHERS, NONE].map(hex));
    object.number("shades", SHADES);
}
