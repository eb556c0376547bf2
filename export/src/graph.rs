//! What a picture shows, before anybody knows where it will stand: boxes for
//! places in the program, arrows from callers to what they called.

/// A graph of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    /// The heading, a line each; the first is the title.
    pub legend: Vec<String>,
    /// How it is to be read, below that; who has text needs none of it.
    pub key: Vec<String>,
    /// The places, in the order in which they are to be named.
    pub nodes: Vec<Node>,
    /// The calls.
    pub edges: Vec<Edge>,
}

impl Graph {
    /// Everything that is said above the boxes.
    pub fn heading(&self) -> impl Iterator<Item = &String> {
        self.legend.iter().chain(&self.key)
    }
}

/// A place in the program, or a run of places that are drawn as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The text of the box, a line each: function, file and line, module, sizes.
    pub lines: Vec<String>,
    /// So many lines at the beginning are functions, callers above callees.
    pub names: usize,
    /// The places of a run, all of them and in full; empty if it is one place.
    pub run: Vec<String>,
    /// What it and its callees hold, as a part of the whole, 0 to 1.
    pub share: f64,
    /// What it holds by calling the allocator itself, as a part of the whole.
    pub own_share: f64,
    /// It stands for what the program mapped itself.
    pub is_mapped: bool,
    /// Points.
    pub font_size: f64,
}

/// Calls from one place into another.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The caller, by its index in the nodes.
    pub from: usize,
    /// The callee; the same as `from` where a function calls itself.
    pub to: usize,
    /// What stands beside the arrow.
    pub label: String,
    /// What it carries, as a part of the whole.
    pub share: f64,
    /// Points.
    pub width: f64,
    /// Points.
    pub font_size: f64,
    /// Whether the one calls the other; else there are places between them.
    pub is_call: bool,
    /// Whether it is to be drawn upwards.
    pub leads_back: bool,
}
