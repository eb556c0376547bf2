//! The file of valgrind's DHAT, which dh_view.html opens: places that allocate, with all
//! that is known of the lives of their blocks.

use std::collections::HashMap;

use memlog_analysis::{Held, Name};
use serde_json::{Map, Value, json};

use crate::flame::module_of;
use crate::shown::clean;

/// The version of the form.
const VERSION: u32 = 2;
/// A block that lives shorter is said to be short-lived, as DHAT has it.
const SHORT_US: u64 = 500;

/// All of it.
#[derive(Debug)]
pub struct Dhat<'a> {
    /// The command line.
    pub command: &'a str,
    /// Of the process.
    pub pid: u64,
    /// When the heap was biggest, in microseconds.
    pub peak_us: u64,
    /// When the log ends.
    pub end_us: u64,
    /// Whether it is known when single blocks came and went.
    pub has_lifetimes: bool,
    /// Places that allocate.
    pub points: Vec<Point<'a>>,
}

/// One of them.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    /// The functions from who called the allocator out.
    pub frames: Vec<&'a Name>,
    /// All blocks.
    pub all: Held,
    /// How long they lived in all.
    pub lifetime_us: u64,
    /// Live when it held most.
    pub most: Held,
    /// Live at the heap peak.
    pub at_peak: Held,
    /// Never released.
    pub at_end: Held,
}

/// A function as DHAT tells it.
pub fn told(name: &Name) -> String {
    let place = match (&name.location, module_of(name)) {
        (Some(location), _) => location.clone(),
        (None, Some(module)) => format!("in {module}"),
        (None, None) => "in ???".to_owned(),
    };
    clean(format!("{} ({place})", name.function).as_bytes())
}

/// Points are told apart by what their functions are called: no two have the same frames.
pub fn dhat(dhat: &Dhat) -> String {
    let mut frames = Frames::default();
    let points = dhat.points.iter().map(|point| {
        let places = point.frames.iter().map(|name| frames.place(told(name)));
        let mut places: Vec<usize> = places.collect();
        if places.is_empty() {
            places.push(frames.place("(no stack)".to_owned()));
        }
        let mut told = Map::new();
        let mut tell = |key: &str, value: u64| told.insert(key.to_owned(), value.into());
        tell("tb", point.all.bytes);
        tell("tbk", point.all.blocks);
        // Its page has none of these where lifetimes are not known.
        if dhat.has_lifetimes {
            tell("tl", point.lifetime_us);
            tell("mb", point.most.bytes);
            tell("mbk", point.most.blocks);
            tell("gb", point.at_peak.bytes);
            tell("gbk", point.at_peak.blocks);
            tell("eb", point.at_end.bytes);
            tell("ebk", point.at_end.blocks);
        }
        told.insert("fs".to_owned(), places.into());
        told.into()
    });
    let points: Vec<Value> = points.collect();
    let mut whole = json!({
        "dhatFileVersion": VERSION,
        "mode": "heap",
        "verb": "Allocated",
        // Whether lifetimes are known, and whether accesses are: no.
        "bklt": dhat.has_lifetimes,
        "bkacc": false,
        "tu": "us",
        "Mtu": "s",
        "cmd": clean(dhat.command.as_bytes()),
        "pid": dhat.pid,
        "te": dhat.end_us,
        "pps": points,
        "ftbl": frames.list,
    });
    if dhat.has_lifetimes {
        whole["tg"] = dhat.peak_us.into();
        whole["tuth"] = SHORT_US.into();
    }
    format!("{whole}\n")
}

/// Functions by their numbers; 0 is the root of all.
struct Frames {
    list: Vec<String>,
    index: HashMap<String, usize>,
}

impl Default for Frames {
    fn default() -> Self {
        Self {
            list: vec!["[root]".to_owned()],
            index: HashMap::new(),
        }
    }
}

impl Frames {
    fn place(&mut self, told: String) -> usize {
        let next = self.list.len();
        let place = *self.index.entry(told.clone()).or_insert(next);
        if place == next {
            self.list.push(told);
        }
        place
    }
}
