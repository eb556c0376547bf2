//! What a report looks like elsewhere: graphs, text, pictures.
//!
//! It is handed tables and names and gives bytes; it opens no file and starts
//! no program.
//!
//! * `ask`: what people ask for
//! * `brief`: names and paths as people say them
//! * `callgraph`: the places of a moment, and what each holds
//! * `legend`: the heading of a page
//! * `library`: whose a place is, the user's or a standard library's
//! * `graph`: what a picture shows
//! * `layout`, `draw`: the picture without Graphviz: places, then SVG, PostScript and PDF
//! * `curves`: figures over time, as a picture
//! * `stacked`: series upon each other over time, as a picture
//! * `dataset`: tables of many processes for data engines
//! * `flame`: a flame graph, as a picture and as a page
//! * `forms`: a tree of calls as other tools read it
//! * `sheet`: what both have in common
//! * `dot`, `text`: the page in Graphviz's language, and as text
//! * `shown`: names as they may be shown
//! * `digest`: by which a page says what may run in it
//! * `size`: numbers as the pages show them
#![forbid(unsafe_code)]

mod ask;
mod callgraph;
pub mod curves;
pub mod dataset;
pub mod digest;
mod dot;
pub mod draw;
pub mod flame;
pub mod forms;
mod graph;
pub mod layout;
mod legend;
pub mod numbers;
mod sheet;
mod shown;
pub mod stacked;
mod text;

pub use ask::{When, percent};
pub use callgraph::{Call, CallGraph, Entry, Named, Picture, Place, is_part_of_allocator, picture};
pub use dot::dot;
pub use graph::{Edge, Graph, Node};
pub use legend::{Subject, legend};
pub use shown::{clean, quoted, shown, word};
pub use text::{Told, text};
